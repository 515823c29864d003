//! Noise that is added to a truth, and the sum released or compared.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::ClosedForm;
use super::{Inspect, StateKey};

/// Noise that was drawn ([`Coins::noise`](super::Coins::noise)) and is not added to anything yet.
///
/// It can be added to a truth, once, by [`Coins::release`](super::Coins::release), or two truths can
/// be compared with their noise, as often as one likes, by
/// [`Coins::at_least`](super::Coins::at_least). Nobody sees the noise itself: so all that a machine
/// knows of noise that it compares is how the comparisons came out.
///
/// ```
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
/// use queryables::noise::DiscreteLaplace;
/// use queryables::number::Ratio;
///
/// let mut coins = NotPrivateSeededCoins::new(7);
/// let law = DiscreteLaplace::new(Ratio::from(2))?;
/// let [noise, other] = [coins.noise(&law)?, coins.noise(&law)?];
/// // The data is read here: whether the coins fail does not depend on it.
/// let truth = 1000;
/// assert!(coins.at_least((truth, &noise), (0, &other)));
/// let noisy = coins.release(truth, noise);
/// assert!((900..1100).contains(&noisy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "noise that is not released protects nobody"]
pub struct DrawnNoise {
    drawn: i128,
    /// What a source knows of it that draws no more than it is asked for.
    later: Option<Arc<Later>>,
}

/// Noise that a source draws when it is released or compared.
#[derive(Debug)]
pub struct Later {
    /// Its law.
    pub law: ClosedForm,
    /// Its number among the noise of the source.
    pub number: usize,
    known: Mutex<Known>,
    /// Whether another source was given it, which knows nothing of it.
    misused: AtomicBool,
}

/// What is known of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// It is at least the first and at most the second, where there is one.
    Between(Option<i128>, Option<i128>),
    /// It is this.
    Drawn(i128),
    /// It is none of the values that the source lists.
    Beyond,
}

impl Later {
    /// Noise of which nothing is known yet.
    #[must_use]
    pub fn new(law: ClosedForm, number: usize) -> Self {
        Self {
            law,
            number,
            known: Mutex::new(Known::Between(None, None)),
            misused: AtomicBool::new(false),
        }
    }

    /// What is known of it.
    pub fn known(&self) -> Known {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, this is known of it.
    pub fn learn(&self, known: Known) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// Whether another source was given it.
    pub fn is_misused(&self) -> bool {
        self.misused.load(Ordering::Relaxed)
    }
}

impl DrawnNoise {
    pub(crate) fn new(drawn: i128) -> Self {
        Self { drawn, later: None }
    }

    /// Noise that a source draws when it is released or compared.
    pub(crate) fn later(later: &Arc<Later>) -> Self {
        Self {
            drawn: 0,
            later: Some(Arc::clone(later)),
        }
    }

    pub(crate) fn as_later(&self) -> Option<&Arc<Later>> {
        self.later.as_ref()
    }

    /// The sum.
    pub(crate) fn added_to(&self, truth: i128) -> i128 {
        // Another source than the one that knows it: there is nothing to add.
        if let Some(later) = &self.later {
            later.misused.store(true, Ordering::Relaxed);
        }
        truth.saturating_add(self.drawn)
    }
}

/// As a part of a machine's state: a machine may keep noise for later comparisons.
impl Inspect for DrawnNoise {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.drawn);
        // What is known of it, and the law of what is not.
        if let Some(later) = &self.later {
            key.write(&(&later.law, later.known()));
        }
    }
}

// Nothing of it.
crate::debug_fields!([] DrawnNoise, "DrawnNoise");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins};

    #[test]
    fn what_cannot_be_held_is_clamped() {
        let mut coins = NotPrivateSeededCoins::new(0);
        assert_eq!(coins.release(i128::MAX, DrawnNoise::new(1)), i128::MAX);
        assert_eq!(coins.release(-2, DrawnNoise::new(i128::MIN)), i128::MIN);
        let [most, least] = [i128::MAX, i128::MIN].map(DrawnNoise::new);
        assert!(coins.at_least((1, &most), (2, &most)));
        assert!(coins.at_least((-2, &least), (-1, &least)));
    }

    #[test]
    fn sums_are_compared() {
        let mut coins = NotPrivateSeededCoins::new(0);
        for (left, right) in [(3, 4), (4, 4), (5, 4)] {
            let (one, two) = (DrawnNoise::new(1), DrawnNoise::new(2));
            let found = coins.coins().at_least((left, &one), (right - 1, &two));
            assert_eq!(found, left >= right);
        }
    }
}
