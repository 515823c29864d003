use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Boundary, VarianceOdometer};
use crate::account::Durable;
use crate::account::time_uniform::Slack;
use crate::account::time_uniform::spent::{Spent, SubGaussian};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters<M> {
    launches: M,
    slack: Slack,
    parameter: String,
}

impl<B, M> Durable for VarianceOdometer<B, M>
where
    B: Boundary,
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
