use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::FixedInAdvance;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    limit: EpsilonDelta,
    step: Epsilon,
    losses: Vec<EpsilonDelta>,
}

impl Durable for FixedInAdvance {
    const NAME: &'static str = "FixedInAdvance";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            limit: self.limit,
            step: self.step,
            losses: self.turns.iter().map(|(loss, _)| *loss).collect(),
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parameters {
            limit,
            step,
            losses,
        } = Parameters::deserialize(deserializer)?;
        Self::new(limit, step, losses).map_err(D::Error::custom)
    }

    /// How many turns were taken; the sums follow.
    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.next.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let next = usize::deserialize(deserializer)?;
        let taken = self.turns.get(..next).ok_or_else(impossible::<D::Error>)?;
        let mut sums = (Epsilon::ZERO, Delta::ZERO);
        for (loss, _) in taken {
            let epsilons = sums.0.checked_add(loss.epsilon);
            sums.0 = epsilons.unwrap_or(Epsilon::LARGEST);
            sums.1 = sums.1.saturating_add(loss.delta);
        }
        Ok(Self {
            next,
            epsilons: sums.0,
            deltas: sums.1,
            ..self.clone()
        })
    }
}
