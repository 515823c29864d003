use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TwoSums;
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    limit: EpsilonDelta,
    slack: Delta,
    step: Epsilon,
    entries: Vec<(Epsilon, [u64; 2])>,
    budgets: [u64; 2],
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    left: [Option<u64>; 2],
    epsilons: Epsilon,
    deltas: Delta,
}

impl Durable for TwoSums {
    const NAME: &'static str = "TwoSums";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = Parameters {
            limit: self.sums.limit,
            slack: self.sums.deltas.slack(),
            step: self.step,
            entries: self.entries.to_vec(),
            budgets: self.budgets,
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Parameters::deserialize(deserializer)?;
        let built = Self::new(
            read.limit,
            read.slack,
            read.step,
            &read.entries,
            read.budgets,
        );
        built.map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = Counts {
            left: self.left,
            epsilons: self.sums.epsilons,
            deltas: self.sums.deltas.children(),
        };
        counts.serialize(serializer)
    }

    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let Counts {
            left,
            epsilons,
            deltas,
        } = Counts::deserialize(deserializer)?;
        let sums = self.sums.resumed(epsilons, deltas);
        let sums = sums.ok_or_else(impossible::<D::Error>)?;
        let mut within = true;
        for (side, (left, budget)) in left.into_iter().zip(self.budgets).enumerate() {
            // A sum that is not over its budget has paid for everything that was launched.
            let Some(left) = left else { continue };
            let most = self.most_for(side, budget.saturating_sub(left));
            within &= left <= budget && epsilons <= most;
        }
        let basic = sums.are_within() && epsilons > Epsilon::ZERO;
        if !within || (left == [None; 2] && !basic) {
            return Err(impossible());
        }
        Ok(Self {
            sums,
            left,
            ..self.clone()
        })
    }
}

impl TwoSums {
    /// The largest sum of losses that costs no more than this on one side.
    fn most_for(&self, side: usize, cost: u64) -> Epsilon {
        let most = |(epsilon, costs): &(Epsilon, [u64; 2])| {
            let launches = cost / costs.get(side).copied().filter(|cost| *cost > 0)?;
            Some(epsilon.checked_mul(launches).unwrap_or(Epsilon::LARGEST))
        };
        // A mixture of entries is no better than the best alone, up to what is rounded down.
        let best = self.entries.iter().filter_map(most).max();
        let rest = self.entries.last().map(|(epsilon, _)| *epsilon);
        let rest = rest.filter(|_| cost > 0).unwrap_or_default();
        best.unwrap_or_default()
            .checked_add(rest)
            .unwrap_or(Epsilon::LARGEST)
    }
}
