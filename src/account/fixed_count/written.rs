use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::FixedCount;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    limit: EpsilonDelta,
    each: EpsilonDelta,
    count: u64,
}

impl Durable for FixedCount {
    const NAME: &'static str = "FixedCount";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            limit: self.limit,
            each: self.each,
            count: self.count,
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters { limit, each, count } = Parameters::deserialize(deserializer)?;
        Self::new(limit, each, count).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.launched.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let launched = u64::deserialize(deserializer)?;
        if launched > self.count {
            return Err(impossible());
        }
        Ok(Self {
            launched,
            ..self.clone()
        })
    }
}
