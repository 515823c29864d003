//! Noise that is added to a truth, and the sum released.

use std::fmt;

/// Noise that was drawn ([`Coins::noise`](super::Coins::noise)) and is not added to anything yet.
///
/// It can only be added to a truth, once, by [`Coins::release`](super::Coins::release), which says
/// what this promises. Nobody sees it before.
///
/// ```
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
/// use queryables::noise::DiscreteLaplace;
/// use queryables::number::Ratio;
///
/// let mut coins = NotPrivateSeededCoins::new(7);
/// let noise = coins.noise(&DiscreteLaplace::new(Ratio::from(2))?)?;
/// // The data is read here: whether the coins fail does not depend on it.
/// let truth = 1000;
/// let noisy = coins.release(truth, noise);
/// assert!((900..1100).contains(&noisy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "noise that is not released protects nobody"]
pub struct DrawnNoise {
    drawn: i128,
    /// Its number among the noise of a source that draws the sum only.
    #[cfg(feature = "verify")]
    number: Option<usize>,
}

impl DrawnNoise {
    pub(crate) fn new(drawn: i128) -> Self {
        Self {
            drawn,
            #[cfg(feature = "verify")]
            number: None,
        }
    }

    /// Noise that a source draws when it is released.
    #[cfg(feature = "verify")]
    pub(crate) fn later(number: usize) -> Self {
        Self {
            drawn: 0,
            number: Some(number),
        }
    }

    #[cfg(feature = "verify")]
    pub(crate) fn number(&self) -> Option<usize> {
        self.number
    }

    /// The sum.
    pub(crate) fn added_to(self, truth: i128) -> i128 {
        truth.saturating_add(self.drawn)
    }
}

impl fmt::Debug for DrawnNoise {
    /// Shows nothing of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DrawnNoise")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins};
    use crate::noise::DiscreteLaplace;
    use crate::number::Ratio;

    #[test]
    fn noise_is_drawn_as_ever_and_added() {
        let law = DiscreteLaplace::new(Ratio::from(5)).unwrap();
        for seed in 0..20 {
            let drawn = NotPrivateSeededCoins::new(seed).draw(&law).unwrap();
            let mut coins = NotPrivateSeededCoins::new(seed);
            let noise = coins.noise(&law).unwrap();
            assert_eq!(format!("{noise:?}"), "DrawnNoise");
            assert_eq!(coins.release(-3, noise), drawn - 3);
        }
    }

    #[test]
    fn what_cannot_be_held_is_clamped() {
        let mut coins = NotPrivateSeededCoins::new(0);
        assert_eq!(coins.release(i128::MAX, DrawnNoise::new(1)), i128::MAX);
        assert_eq!(coins.release(-2, DrawnNoise::new(i128::MIN)), i128::MIN);
    }
}
