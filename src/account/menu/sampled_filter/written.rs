use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SampledGaussianFilter;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::account::menu::SampledGaussians;
use crate::account::menu::prices::Paid;
use crate::account::menu::sampled_menu::Plan;
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    limit: EpsilonDelta,
    menu: Plan,
}

/// The menu is composed again, and the recursion solved again, which takes as long as the first
/// time.
impl Durable for SampledGaussianFilter {
    const NAME: &'static str = "SampledGaussianFilter";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            limit: self.limit,
            menu: self.table.plan.clone(),
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters { limit, menu } = Parameters::deserialize(deserializer)?;
        let menu = SampledGaussians::planned(menu).map_err(D::Error::custom)?;
        menu.filter(limit).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Paid::into_parts(self.paid.clone()).serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let (cost, open) = Deserialize::deserialize(deserializer)?;
        let paid = self.table.prices.opened(cost, open);
        Ok(Self {
            paid: paid.ok_or_else(impossible)?,
            ..self.clone()
        })
    }
}
