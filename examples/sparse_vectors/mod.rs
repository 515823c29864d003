//! The six versions of the sparse vector technique that Lyu, Su and Li 2017 compare in their
//! Figure 1, each as published, with discrete noise. Two of them are private as claimed.

use std::sync::Arc;

use queryables::machine::{Coins, Fault, Machine, Mechanism};
use queryables::noise::DiscreteLaplace;
use queryables::number::Ratio;

/// A version, for counts that change by at most one.
#[derive(Clone, Debug)]
pub struct SparseVector {
    pub name: &'static str,
    threshold: i64,
    threshold_noise: DiscreteLaplace,
    count_noise: Option<DiscreteLaplace>,
    /// It stops after this number of hits; `None` means never.
    hits: Option<u32>,
    /// It reveals the noisy count that was compared.
    tells_count: bool,
    /// Each hit is followed by new noise on the threshold.
    renews_threshold: bool,
    /// The noise of the first count serves for all.
    reuses_count_noise: bool,
}

/// What is said about a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Below,
    Above,
    Count(i64),
}

/// All versions, claimed to be ε-private: whether they are, and what they are.
///
/// Those that stop do so after the first hit, but for the two for which it matters: two hits for
/// the one that renews its threshold, and three for the one whose noise should grow with them.
pub fn all(threshold: i64, epsilon: u128) -> Vec<(bool, SparseVector)> {
    let laplace = |numerator, denominator| {
        let scale = Ratio::new(numerator, denominator * epsilon).expect("ε is not zero");
        DiscreteLaplace::new(scale).expect("a small scale")
    };
    let first = SparseVector {
        name: "Algorithm 1: as it should be",
        threshold,
        threshold_noise: laplace(2, 1),
        count_noise: Some(laplace(4, 1)),
        hits: Some(1),
        tells_count: false,
        renews_threshold: false,
        reuses_count_noise: false,
    };
    // ε₁ = ε/2 for the threshold and ε₂ = ε/2 for the counts, but ε/4 and 3ε/4 in Algorithm 4.
    vec![
        (true, first.clone()),
        (
            true,
            SparseVector {
                name: "Algorithm 2 (Dwork and Roth 2014): new threshold after each hit",
                threshold_noise: laplace(4, 1),
                count_noise: Some(laplace(8, 1)),
                hits: Some(2),
                renews_threshold: true,
                ..first.clone()
            },
        ),
        (
            false,
            SparseVector {
                name: "Algorithm 3 (Roth 2011): tells the noisy count that was compared",
                count_noise: Some(laplace(2, 1)),
                tells_count: true,
                ..first.clone()
            },
        ),
        (
            false,
            SparseVector {
                name: "Algorithm 4 (Lee and Clifton 2014): noise that does not grow with the hits",
                threshold_noise: laplace(4, 1),
                count_noise: Some(laplace(4, 3)),
                hits: Some(3),
                ..first.clone()
            },
        ),
        (
            false,
            SparseVector {
                name: "Algorithm 5 (Stoddard et al. 2014): no noise on counts, never stops",
                count_noise: None,
                hits: None,
                ..first.clone()
            },
        ),
        (
            false,
            SparseVector {
                name: "Algorithm 6 (Chen et al. 2015): never stops",
                count_noise: Some(laplace(2, 1)),
                hits: None,
                ..first.clone()
            },
        ),
        (
            false,
            SparseVector {
                name: "not in the figure: the noise of the first count serves for all",
                reuses_count_noise: true,
                ..first
            },
        ),
    ]
}

/// A running version.
#[derive(Debug, Hash)]
pub struct Comparing {
    rows: Arc<Vec<u8>>,
    noisy_threshold: i128,
    threshold: i64,
    threshold_noise: DiscreteLaplace,
    count_noise: Option<DiscreteLaplace>,
    hits_left: Option<u32>,
    tells_count: bool,
    renews_threshold: bool,
    reuses_count_noise: bool,
    last_noise: Option<i128>,
}

impl Mechanism<Vec<u8>> for SparseVector {
    type Machine = Comparing;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Comparing, Fault> {
        Ok(Comparing {
            rows: Arc::clone(data),
            noisy_threshold: i128::from(self.threshold) + coins.draw(&self.threshold_noise)?,
            threshold: self.threshold,
            threshold_noise: self.threshold_noise,
            count_noise: self.count_noise,
            hits_left: self.hits,
            tells_count: self.tells_count,
            renews_threshold: self.renews_threshold,
            reuses_count_noise: self.reuses_count_noise,
            last_noise: None,
        })
    }
}

impl Machine for Comparing {
    type Query = u8;
    type Answer = Answer;

    /// Whether there are many rows with this value.
    fn step(&mut self, value: u8, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        if self.hits_left == Some(0) {
            return Err(Fault::Exhausted);
        }
        let noise = match (&self.count_noise, self.last_noise) {
            (None, _) => 0,
            (Some(_), Some(last)) if self.reuses_count_noise => last,
            (Some(law), _) => coins.draw(law)?,
        };
        if self.reuses_count_noise {
            self.last_noise = Some(noise);
        }
        let count = self.rows.iter().filter(|row| **row == value).count();
        let noisy = count as i128 + noise;
        if noisy < self.noisy_threshold {
            return Ok(Answer::Below);
        }
        self.hits_left = self.hits_left.map(|left| left - 1);
        if self.renews_threshold {
            let noise = coins.draw(&self.threshold_noise)?;
            self.noisy_threshold = i128::from(self.threshold) + noise;
        }
        Ok(if self.tells_count {
            Answer::Count(noisy as i64)
        } else {
            Answer::Above
        })
    }
}
