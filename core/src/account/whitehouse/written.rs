use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Whitehouse, most_squares};
use crate::account::Durable;
use crate::account::deltas::Deltas;
use crate::account::durable::impossible;
use crate::number::{Delta, U256};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    squares: U256,
    deltas: Delta,
}

impl Durable for Whitehouse {
    const NAME: &'static str = "Whitehouse";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.deltas.slack().serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Delta::deserialize(deserializer)?).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = Counts {
            squares: self.squares,
            deltas: self.deltas.children(),
        };
        counts.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let Counts { squares, deltas } = Counts::deserialize(deserializer)?;
        if squares > most_squares() {
            return Err(impossible());
        }
        Ok(Self {
            squares,
            deltas: Deltas::new(self.deltas.slack()).plus(deltas),
            ..*self
        })
    }
}
