use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Sum;
use crate::account::Durable;
use crate::privacy::{Additive, Measure, checked};

impl<Me> Durable for Sum<Me>
where
    Me: Additive + Serialize + DeserializeOwned,
    <Me as Measure>::Loss: Serialize + DeserializeOwned,
{
    const NAME: &'static str = "Sum";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.measure.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Me::deserialize(deserializer).map(Self::new)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.total.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let total = Me::Loss::deserialize(deserializer)?;
        let total = checked(&self.measure, total).map_err(D::Error::custom)?;
        let measure = self.measure.clone();
        Ok(Self { measure, total })
    }
}
