//! How near the numbers of a threshold histogram are to the counts.

use std::sync::Arc;

use super::{GaussianThresholdHistogram, ThresholdHistogram, laplace};
use crate::data::{Dataset, GroupKey};
#[cfg(doc)]
use crate::mechanisms::Accuracy;
use crate::mechanisms::least_loss::least_loss;
use crate::mechanisms::{AddedNoise, GaussianNoise, MechanismError, RowRelation, apart};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Delta};
use crate::privacy::facts::Gaussian;
use crate::privacy::{EpsilonDelta, RhoDelta};

/// How near the numbers of a [`ThresholdHistogram`] are to the counts, and which keys it finds. Each of
/// the two holds with the confidence, for one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThresholdAccuracy {
    /// A number that is released is at most this far from the count of the key.
    pub count: u128,
    /// A key with at least this number of rows is not left out.
    pub found: u64,
}

/// The least number of rows for which a key is left out with at most what is left.
pub(super) fn found(noise: Noise, threshold: u64, confidence: Confidence) -> u64 {
    // It falls with the number of rows.
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if left_out(noise, threshold, middle) <= confidence.failure() {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The probability that a key with this count is not released, rounded up.
pub(super) fn left_out(noise: Noise, threshold: u64, count: u64) -> Delta {
    if count == 0 {
        // Only keys that occur are compared with the threshold.
        return Delta::ONE;
    }
    match count.checked_sub(threshold) {
        // Noise is symmetric: less than the threshold is as likely as this far above.
        Some(above) => noise.at_least(u128::from(above) + 1),
        None => noise.less_than((threshold - count).into()),
    }
}

impl<D: Dataset + ?Sized, P: GroupKey, R: RowRelation> ThresholdHistogram<D, P, R> {
    /// The same with the smallest ε for which a number that is released is at most `within` away from
    /// the count, with at least this confidence ([`Accuracy`]). It is rounded up to six digits. The
    /// threshold is the least one for this ε and δ.
    ///
    /// ```
    /// use queryables::mechanisms::{Accuracy, ThresholdHistogram};
    /// use queryables::prelude::*;
    ///
    /// let word = |word: &String| word.clone();
    /// let (likely, delta) = ("0.95".parse()?, "1e-6".parse()?);
    /// let histogram =
    ///     ThresholdHistogram::<Vec<String>, _>::with_accuracy(AddRemove, "word", word, 30, likely, delta)?;
    /// let accuracy = histogram.accuracy(likely);
    /// assert_eq!(accuracy.count, 30);
    /// // A word that occurs that often is found.
    /// assert_eq!((histogram.threshold(), accuracy.found), (136, 159));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        within: u128,
        confidence: Confidence,
        delta: Delta,
    ) -> Result<Self, MechanismError> {
        let is_enough = |noise: &DiscreteLaplace| Noise::from(*noise).is_within(within, confidence);
        let (epsilon, _) = least_loss(laplace::<R>, is_enough)?;
        Self::new(relation, name, key, EpsilonDelta { epsilon, delta })
    }
}

impl<D: Dataset + ?Sized, P: GroupKey, R: RowRelation> GaussianThresholdHistogram<D, P, R> {
    /// The same with the smallest ρ for which a number that is released is at most `within` away from
    /// the count, with at least this confidence ([`Accuracy`]). It is rounded up to six digits. The
    /// threshold is the least one for this ρ and δ.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        within: u128,
        confidence: Confidence,
        delta: Delta,
    ) -> Result<Self, MechanismError> {
        let make = |rho| GaussianNoise::for_square(Gaussian::Rho(rho), apart::<R>().into());
        let is_enough =
            |made: &GaussianNoise| Noise::from(*made.law()).is_within(within, confidence);
        let (rho, _) = least_loss(make, is_enough)?;
        Self::new(relation, name, key, RhoDelta { rho, delta })
    }
}
