use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Rogers;
use crate::account::Durable;
use crate::account::deltas::Deltas;
use crate::account::durable::impossible;
use crate::number::{Delta, Epsilon, U256, Unit, units};
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    squares: U256,
    drift: Epsilon,
    deltas: Delta,
}

impl Durable for Rogers {
    const NAME: &'static str = "Rogers";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.limit.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(EpsilonDelta::deserialize(deserializer)?).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = Counts {
            squares: self.squares,
            drift: self.drift,
            deltas: self.deltas.children(),
        };
        counts.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let Counts {
            squares,
            drift,
            deltas,
        } = Counts::deserialize(deserializer)?;
        let nothing = squares == U256::default() && drift == Epsilon::ZERO;
        let bound = self.bound_at(drift, squares);
        let within = nothing || bound.is_some_and(|bound| bound <= self.limit.epsilon);
        // Each launch adds ε(e^ε − 1)/2, rounded up, which is at least ε²/2.
        let half = squares.half_in_units(units::Epsilon::DECIMALS);
        let drifted = half.is_some_and(|half| half <= drift.units());
        if !(within && drifted) {
            return Err(impossible());
        }
        let fresh = Deltas::new(self.deltas.slack());
        let deltas = fresh
            .charge(deltas, self.limit.delta)
            .ok_or_else(impossible)?;
        Ok(Self {
            squares,
            drift,
            deltas,
            ..*self
        })
    }
}
