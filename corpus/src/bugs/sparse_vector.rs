//! The sparse vector technique, and what can be left out of it.

use std::sync::Arc;

use queryables::machine::{Coins, DrawnNoise, Fault, Inspect, Machine, Mechanism, StateKey};
use queryables::noise::DiscreteLaplace;
use queryables::number::Ratio;

/// Says which counts are above a threshold of 1. Counts may move by one, each in its own direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseVector {
    pub(crate) threshold_scale: u64,
    /// Zero for no noise.
    pub(crate) count_scale: u64,
    /// It ends after this number of counts that are above.
    pub(crate) hits: u32,
    /// Whether it tells the noisy value of a count that is above.
    pub(crate) tells: bool,
}

impl SparseVector {
    /// 3-DP: 1 for the threshold, and 2 for the one count that is above.
    pub(crate) const RIGHT: Self = Self {
        threshold_scale: 1,
        count_scale: 1,
        hits: 1,
        tells: false,
    };
}

pub(crate) struct Comparing {
    technique: SparseVector,
    counts: Arc<Vec<i64>>,
    threshold: Threshold,
    hits_left: u32,
}

enum Threshold {
    /// Compared with noisy counts.
    Noisy(DrawnNoise),
    /// Compared with counts themselves.
    Known(i128),
}

fn laplace(scale: u64) -> Result<DiscreteLaplace, Fault> {
    DiscreteLaplace::new(Ratio::from(scale)).map_err(|_| Fault::Failed)
}

impl Mechanism<Vec<i64>> for SparseVector {
    type Machine = Comparing;

    fn start(&self, data: &Arc<Vec<i64>>, coins: &mut Coins<'_>) -> Result<Comparing, Fault> {
        let law = laplace(self.threshold_scale)?;
        let threshold = match self.count_scale {
            0 => Threshold::Known(coins.draw(&law)? + 1),
            _ => Threshold::Noisy(coins.noise(&law)?),
        };
        Ok(Comparing {
            technique: *self,
            counts: Arc::clone(data),
            threshold,
            hits_left: self.hits,
        })
    }
}

/// Above or not, and the noisy value if it is told.
type Answer = (bool, Option<i128>);

impl Machine for Comparing {
    type Query = usize;
    type Answer = Answer;

    fn step(&mut self, which: usize, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        if self.hits_left == 0 {
            return Err(Fault::Exhausted);
        }
        let count = *self
            .counts
            .get(which)
            .ok_or(Fault::InvalidQuery("no such count"))?;
        let count = i128::from(count);
        let (above, noise) = match &self.threshold {
            Threshold::Known(threshold) => (count >= *threshold, None),
            Threshold::Noisy(threshold) => {
                let noise = coins.noise(&laplace(self.technique.count_scale)?)?;
                let above = coins.at_least((count, &noise), (1, threshold));
                (above, Some(noise))
            }
        };
        if !above {
            return Ok((false, None));
        }
        self.hits_left = self
            .hits_left
            .saturating_sub(u32::from(self.technique.hits < u32::MAX));
        let told = noise.filter(|_| self.technique.tells);
        let told = told.map(|noise| coins.release(count, noise));
        Ok((true, told))
    }
}

impl Inspect for Comparing {
    fn inspect(&self, key: &mut StateKey) {
        match &self.threshold {
            Threshold::Noisy(noise) => key.write(noise),
            Threshold::Known(threshold) => key.write(threshold),
        }
        key.write(&(&*self.counts, self.hits_left));
    }
}
