//! Filters with a price list, whose worst case over all adaptive adversaries is computed.
//!
//! | filter | children | what it is for |
//! |---|---|---|
//! | [`MenuFilter`] | (ε, δ) | launches of several sizes |
//! | [`TwoPriceListFilter`] | (ε, δ) | the same, with two price lists, one of which must have room |
//! | [`SampledGaussianFilter`] | Gaussians on samples, at one rate | training with noise that changes |
//!
//! `spec/menu_filter.md` has the theorem and its proof.

#[cfg(test)]
mod brute_force;
mod composed;
mod curve;
mod either;
mod either_filter;
mod entry;
mod error;
mod filter;
mod lattice;
mod launch;
mod presets;
mod prices;
mod sampled;
mod sampled_filter;
mod sampled_menu;
#[cfg(test)]
mod sampled_tests;
#[cfg(test)]
mod sampled_truth_tests;
mod sum;
mod sums;
#[cfg(test)]
mod tests;

pub(crate) use composed::composed_deltas;
pub use either_filter::TwoPriceListFilter;
pub use entry::MenuEntry;
pub use error::MenuError;
pub use filter::MenuFilter;
pub use sampled_filter::SampledGaussianFilter;
pub use sampled_menu::{Detail, SampledGaussians};

use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::convert::log_inverse;

/// How far to the left of zero and to the right of zero the curves are kept, for a worst case at
/// (ε, δ).
///
/// Any window gives an upper bound. Losses beyond ε have tails that fall like e^(−αs), where the
/// order α is about ln(1/δ)/ε or more; after 16 times its inverse hardly anything is left.
fn window(epsilon: Epsilon, delta: Delta) -> (Epsilon, Epsilon) {
    let log = log_inverse(delta)
        .unwrap_or(Interval::ONE)
        .max(Interval::exactly(4.0));
    let tail = Interval::from(epsilon) * Interval::exactly(16.0) / log;
    let tail: Epsilon = tail.up().unwrap_or(epsilon);
    (tail, epsilon.checked_add(tail).unwrap_or(epsilon))
}
