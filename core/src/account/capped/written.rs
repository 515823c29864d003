use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Capped;
use crate::account::durable::{Parameters, impossible};
use crate::account::{Accumulator, Durable, WholeLoss};

#[derive(Serialize)]
struct Written<'a, G: Durable, L> {
    #[serde(serialize_with = "parameters")]
    of: &'a G,
    limit: &'a L,
}

fn parameters<G: Durable, S: Serializer>(of: &&G, serializer: S) -> Result<S::Ok, S::Error> {
    Parameters(*of).serialize(serializer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound = "G: Durable, L: Deserialize<'de>")]
struct Read<G, L> {
    #[serde(deserialize_with = "build")]
    of: G,
    limit: L,
}

fn build<'de, G: Durable, D: Deserializer<'de>>(deserializer: D) -> Result<G, D::Error> {
    G::build(deserializer)
}

impl<G: Accumulator + Durable + PartialEq> Durable for Capped<G>
where
    WholeLoss<G>: Serialize + DeserializeOwned,
{
    const NAME: &'static str = G::NAME;

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written {
            of: &self.accumulator,
            limit: &self.limit,
        };
        written.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { of, limit } = Read::<G, WholeLoss<G>>::deserialize(deserializer)?;
        Ok(Self::new(of, limit))
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.accumulator.counts(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let accumulator = self.accumulator.resume(deserializer)?;
        // One that has counted nothing may be over a limit that is less than its slack.
        if !(accumulator.is_within(&self.limit) || accumulator == self.accumulator) {
            return Err(impossible());
        }
        Ok(Self::new(accumulator, self.limit.clone()))
    }
}
