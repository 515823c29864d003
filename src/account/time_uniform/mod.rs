//! Odometers that bound the *realised* loss, at all times at once.
//!
//! ```text
//! P( at some time, ln(p(all answers so far) / p'(all answers so far)) > reading ) ≤ δ
//! ```
//!
//! This is another promise than that of an [`Accumulator`](super::Accumulator), which is about the
//! distribution of a truncated view. So there is another trait, [`TimeUniformOdometer`], and
//! another kind of [`Reading`], and neither converts into the other. The theorems are about
//! *probabilistic* privacy, which postprocessing does not keep (Whitehouse et al. App. F): the
//! mechanisms must answer once, at their launch.
//!
//! All of them measure time by what was spent, `V = ε₁² + … + ε_n²` ([`Variance`]), and differ in
//! where they are tight:
//!
//! | odometer | tight | grows like | source |
//! |---|---|---|---|
//! | [`TangentOdometer`] | at one V chosen in advance | V | Whitehouse et al. Thm 3 |
//! | [`MixtureOdometer`] | around one V, gently worse elsewhere | √(V ln V) | Whitehouse et al. Thm 3 |
//! | [`StitchedOdometer`] | nowhere exactly, everywhere nearly | √(V ln ln V) | Whitehouse et al. Thm 3 |
//! | [`RogersOdometer`] | – | √(V ln V) | Rogers et al. 6.2, for comparison |
//!
//! Each of the first three has a constructor `tightest_at`, which tunes its parameter for the V at
//! which it will be read.

mod mixture;
mod reading;
mod rogers;
mod slack;
mod spent;
mod stitched;
mod tangent;
#[cfg(test)]
mod tests;

pub use mixture::MixtureOdometer;
pub use reading::Reading;
pub use rogers::RogersOdometer;
pub use slack::{ParameterError, Slack};
pub use spent::{Variance, VarianceUnit};
pub use stitched::StitchedOdometer;
pub use tangent::TangentOdometer;

use std::fmt::Debug;

use crate::privacy::{EpsilonDelta, Overflow};

/// An odometer for the realised loss of non-interactive, probabilistically private mechanisms.
/// Its state does not grow.
///
/// # Guarantee
///
/// Let each launched mechanism be (ε, δ)-probabilistically private given all answers before, for
/// the ε and δ that were counted before it ran. Then, for any two neighbouring datasets, the
/// probability that the log-ratio of the densities of the answers exceeds the reading *at any
/// time* is at most [`Reading::delta`] (Whitehouse et al. Def. 6).
///
/// [`MixtureOdometer`] has an example.
pub trait TimeUniformOdometer: Clone + Debug + Send + Sync + 'static {
    /// The odometer after one more launch. A pure function: it changes nothing.
    ///
    /// # Errors
    ///
    /// [`Overflow`] if the sum of squares can no longer be held.
    fn add(&self, loss: &EpsilonDelta) -> Result<Self, Overflow>;

    /// The bound on the loss realised so far, rounded up.
    fn reading(&self) -> Reading;
}
