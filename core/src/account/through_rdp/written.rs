use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{LastPrice, ThroughRdp};
use crate::account::Durable;
use crate::number::{Delta, Order};
use crate::privacy::{EpsilonDelta, RdpGrid};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    order: Order,
    limit: EpsilonDelta,
    slack: Delta,
}

impl Durable for ThroughRdp {
    const NAME: &'static str = "ThroughRdp";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            order: self.order,
            limit: self.budget.limit,
            slack: self.budget.deltas.slack(),
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters {
            order,
            limit,
            slack,
        } = Parameters::deserialize(deserializer)?;
        Self::at(order, limit, slack).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.budget.counts(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        Ok(self.with(self.budget.resume(deserializer)?, LastPrice::default()))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OnGrid {
    grid: RdpGrid,
    order: Order,
    limit: EpsilonDelta,
}

impl Durable for ThroughRdp<RdpGrid> {
    const NAME: &'static str = "ThroughRdp on a grid";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = OnGrid {
            grid: self.children.clone(),
            order: self.order,
            limit: self.budget.limit,
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OnGrid { grid, order, limit } = OnGrid::deserialize(deserializer)?;
        Self::on_grid_at(grid, order, limit).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.budget.counts(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        Ok(self.with(self.budget.resume(deserializer)?, self.prices))
    }
}
