use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Boundary, VarianceOdometer};
use crate::account::Durable;
use crate::account::time_uniform::Slack;
use crate::account::time_uniform::mixture::Mixture;
use crate::account::time_uniform::spent::{Spent, SubGaussian};
use crate::account::time_uniform::stitched::Stitched;
use crate::account::time_uniform::tangent::Tangent;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters<M> {
    launches: M,
    slack: Slack,
    parameter: String,
}

/// The bound of an odometer by its one parameter.
pub(crate) trait Parameter: Boundary {
    /// The odometer's name.
    const NAME: &'static str;

    /// The parameter, exactly.
    fn parameter(&self) -> String;

    /// With this parameter, if it is one.
    fn read(parameter: &str, slack: Slack) -> Option<Self>;
}

/// A positive float, exactly as it was written.
fn positive(parameter: &str) -> Option<f64> {
    let number = parameter.parse().ok();
    number.filter(|number: &f64| number.is_finite() && *number > 0.0)
}

impl Parameter for Tangent {
    const NAME: &'static str = "TangentOdometer";

    fn parameter(&self) -> String {
        format!("{:?}", self.tangent)
    }

    fn read(parameter: &str, slack: Slack) -> Option<Self> {
        positive(parameter).map(|tangent| Self::new(tangent, slack))
    }
}

impl Parameter for Mixture {
    const NAME: &'static str = "MixtureOdometer";

    fn parameter(&self) -> String {
        format!("{:?}", self.gamma)
    }

    fn read(parameter: &str, slack: Slack) -> Option<Self> {
        positive(parameter).map(|gamma| Self::new(gamma, slack))
    }
}

impl Parameter for Stitched {
    const NAME: &'static str = "StitchedOdometer";

    fn parameter(&self) -> String {
        self.start.to_string()
    }

    fn read(parameter: &str, slack: Slack) -> Option<Self> {
        let start = parameter.parse().ok()?;
        Some(Self::new(start, slack))
    }
}

impl<B, M> Durable for VarianceOdometer<B, M>
where
    B: Parameter,
    M: SubGaussian + Serialize + DeserializeOwned,
{
    const NAME: &'static str = B::NAME;

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            launches: self.launches.clone(),
            slack: self.slack,
            parameter: self.boundary.parameter(),
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters {
            launches,
            slack,
            parameter,
        } = Parameters::deserialize(deserializer)?;
        let boundary = B::read(&parameter, slack)
            .ok_or_else(|| D::Error::custom("the parameter must be a positive number"))?;
        Ok(Self {
            boundary,
            launches,
            slack,
            spent: Spent::default(),
        })
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spent.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            spent: Deserialize::deserialize(deserializer)?,
            ..self.clone()
        })
    }
}

/// Read as [`Slack::new`] builds it.
impl<'de> Deserialize<'de> for Slack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Read {
            stray: crate::number::Delta,
            launches: crate::number::Delta,
        }
        let Read { stray, launches } = Read::deserialize(deserializer)?;
        Self::new(stray, launches).map_err(D::Error::custom)
    }
}
