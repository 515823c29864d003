use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RootSumSquares;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::number::{Mu, U256};
use crate::privacy::Gdp;

impl Durable for RootSumSquares {
    const NAME: &'static str = "RootSumSquares";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Gdp.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Gdp::deserialize(deserializer).map(|Gdp| Self::default())
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.squares.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let squares = U256::deserialize(deserializer)?;
        if squares > U256::of(Mu::LARGEST) {
            return Err(impossible());
        }
        Ok(Self { squares })
    }
}
