use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RestartedFilters;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::number::Epsilon;
use crate::privacy::Rdp;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    measure: Rdp,
    step: Epsilon,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    total: Epsilon,
    left: Epsilon,
}

impl Durable for RestartedFilters {
    const NAME: &'static str = "RestartedFilters";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            measure: self.measure,
            step: self.step,
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters { measure, step } = Parameters::deserialize(deserializer)?;
        Self::new(measure, step).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = Counts {
            total: self.total,
            left: self.left,
        };
        counts.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let Counts { total, left } = Counts::deserialize(deserializer)?;
        // The total is a number of whole steps, and what is left belongs to the last of them, which
        // was begun by a launch that lost something.
        let whole = total.units().is_multiple_of(self.step.units());
        let begun = left < self.step && (left == Epsilon::ZERO || total >= self.step);
        if !(whole && begun) {
            return Err(impossible());
        }
        Ok(Self {
            total,
            left,
            ..*self
        })
    }
}
