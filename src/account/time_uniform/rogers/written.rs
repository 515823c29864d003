use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RogersOdometer;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::account::time_uniform::spent::Spent;
use crate::number::{Delta, Epsilon, Unit, units};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    rows: u64,
    delta: Delta,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    spent: Spent,
    drift: Option<Epsilon>,
}

impl Durable for RogersOdometer {
    const NAME: &'static str = "RogersOdometer";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (rows, delta) = (self.rows, self.delta);
        Parameters { rows, delta }.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters { rows, delta } = Parameters::deserialize(deserializer)?;
        Self::new(rows, delta).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (spent, drift) = (self.spent, self.drift);
        Counts { spent, drift }.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let Counts { spent, drift } = Counts::deserialize(deserializer)?;
        // Each launch adds ε(e^ε − 1)/2, rounded up, which is at least ε²/2.
        let half = spent.squares().half_in_units(units::Epsilon::DECIMALS);
        let drifted = drift.is_none_or(|drift| half.is_some_and(|half| half <= drift.units()));
        if !drifted {
            return Err(impossible());
        }
        Ok(Self {
            spent,
            drift,
            ..*self
        })
    }
}
