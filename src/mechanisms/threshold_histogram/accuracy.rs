//! How near the numbers of a threshold histogram are to the counts.

#[cfg(doc)]
use super::ThresholdHistogram;
use crate::mechanisms::least_loss::least;
use crate::noise::Noise;
use crate::number::{Confidence, Delta};

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
    least(0..=u64::MAX, |count| {
        left_out(noise, threshold, count) <= confidence.failure()
    })
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
