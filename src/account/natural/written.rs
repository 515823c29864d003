use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BlackwellChain, NaturalFilter};
use crate::account::{Accounting, Capped, Durable};
use crate::privacy::EpsilonDelta;

#[derive(Serialize)]
struct Parameters<'a, C> {
    limit: EpsilonDelta,
    chain: &'a C,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read<C> {
    limit: EpsilonDelta,
    chain: C,
}

/// The largest member of the chain is computed again, as are the readings.
impl<C> Durable for NaturalFilter<C>
where
    C: BlackwellChain + Serialize + DeserializeOwned,
    Capped<C::Accumulator>: Durable,
{
    const NAME: &'static str = "NaturalFilter";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            limit: self.limit,
            chain: self.children(),
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { limit, chain } = Read::deserialize(deserializer)?;
        Self::new(limit, chain).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rule.counts(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            limit: self.limit,
            rule: self.rule.resume(deserializer)?,
            readings: self.readings.clone(),
        })
    }
}
