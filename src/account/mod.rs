//! How losses add up: accumulators G, which say what has been spent, and continuation rules F,
//! which say whether to go on. One file per theorem.
//!
//! | accumulator | measure | valid for | source |
//! |---|---|---|---|
//! | [`Sum`] | [`PureDp`](crate::privacy::PureDp), [`ApproxDp`](crate::privacy::ApproxDp) | interleaved children | Rogers et al. 3.3 with Haney et al. 1.20 |
//! | [`Sum`] | [`Rdp`](crate::privacy::Rdp), [`RdpGrid`](crate::privacy::RdpGrid) | interleaved children | Haney et al. 4.6, 4.9 |
//! | [`Sum`] | [`ZCdp`](crate::privacy::ZCdp) | interleaved children | Haney et al. 4.10, 4.11 |
//! | [`Sum`] | [`ApproxZCdp`](crate::privacy::ApproxZCdp) | sequential children | Whitehouse et al. Thm 1 |
//! | [`Sum`] | [`ApproxRdp`](crate::privacy::ApproxRdp) | sequential children | Whitehouse et al. Thm 1, at one order |
//! | [`Sum`] | [`ProbabilisticDp`](crate::privacy::ProbabilisticDp) | non-interactive children | Rogers et al. 3.3 |
//! | [`RestartedFilters`] | [`Rdp`](crate::privacy::Rdp) | interleaved children | Feldman and Zrnic Alg 5 |
//! | [`RootSumSquares`] | [`Gdp`](crate::privacy::Gdp) | interleaved children | Tran et al. 2.11 with Haney et al. 1.21 |
//!
//! An accumulator becomes a rule by [`Accumulator::capped`], and a rule of that form an
//! accumulator by [`Capped::uncapped`] (Haney et al. Lemma 2.19).
//!
//! Odometers that bound the *realised* loss instead, with high probability and at all times at
//! once, are in [`time_uniform`]; the games that tell valid ones from naive ones in [`games`].

mod capped;
pub mod games;
mod restarted;
mod root_sum_squares;
mod sum;
pub mod time_uniform;

pub use capped::Capped;
pub use restarted::{RestartError, RestartedFilters};
pub use root_sum_squares::RootSumSquares;
pub use sum::Sum;

use std::fmt::Debug;

use thiserror::Error;

use crate::privacy::{Measure, Overflow, UnknownLoss};

/// The loss of a measure, for short.
pub type LossOf<T> = <<T as Accounting>::Measure as Measure>::Loss;

/// What accumulators and rules have in common.
pub trait Accounting: Clone + Debug + Send + Sync + 'static {
    /// In which losses are measured.
    type Measure: Measure;

    /// The measure.
    fn measure(&self) -> &Self::Measure;
}

/// A privacy-loss accumulator G: a sequence of losses in, a bound on the whole out
/// (Haney et al. 2.12, 2.14). Its state does not grow.
///
/// # Guarantee
///
/// For every threshold `d`, the view of an adversary against the odometer built on it, truncated
/// where the total exceeds `d`, is `d`-private, at least for non-interactive mechanisms. For
/// interactive ones see [`ValidSequentially`] and [`ValidConcurrently`].
///
/// [`Sum`] has an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not bound the loss of a truncated view",
    note = "a time-uniform odometer bounds the realised loss instead: use \
            `TimeUniform::noninteractive`"
)]
pub trait Accumulator: Accounting {
    /// Whether the theorem speaks of launches with this loss at all; usually it does.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`], which says why not.
    fn covers(&self, _loss: &LossOf<Self>) -> Result<(), UnknownLoss> {
        Ok(())
    }

    /// Counts one more loss.
    ///
    /// # Errors
    ///
    /// [`Overflow`] if the total can no longer be held, or if the loss is not
    /// [covered](Self::covers); nothing has changed then.
    fn add(&mut self, loss: &LossOf<Self>) -> Result<(), Overflow>;

    /// The bound on everything counted so far, rounded up.
    fn total(&self) -> LossOf<Self>;

    /// Whether the exact total is at most `limit`.
    fn is_within(&self, limit: &LossOf<Self>) -> bool {
        self.total() <= *limit
    }

    /// A loss such that one more launch of it, or of anything less, stays within `limit`.
    fn headroom(&self, limit: &LossOf<Self>) -> LossOf<Self>;

    /// The rule that goes on while the total is at most `limit` (Haney et al. Lemma 2.19).
    fn capped(self, limit: LossOf<Self>) -> Capped<Self> {
        Capped::new(self, limit)
    }
}

/// A continuation rule F: the losses so far and one more in, go on or not out
/// (Haney et al. 2.6, 2.8). Its state does not grow.
///
/// # Guarantee
///
/// The interaction with a filter built on it is [`limit`](Self::limit)-private, at least for
/// non-interactive mechanisms. For interactive ones see [`ValidSequentially`] and
/// [`ValidConcurrently`].
///
/// [`Capped`] has an example.
pub trait ContinuationRule: Accounting {
    /// The budget.
    fn limit(&self) -> &LossOf<Self>;

    /// A bound on everything counted so far.
    fn spent(&self) -> LossOf<Self>;

    /// A loss that would be admitted, as would anything less. For losses that are one number it
    /// is the largest.
    fn remaining(&self) -> LossOf<Self>;

    /// Counts one more loss, if the rule says to go on.
    ///
    /// # Errors
    ///
    /// [`Exceeded`]; nothing has changed then.
    fn charge(&mut self, loss: &LossOf<Self>) -> Result<(), Exceeded>;
}

/// The rule says not to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the budget would be exceeded")]
pub struct Exceeded;

/// A rule or accumulator that holds for interactive mechanisms used one after the other.
#[diagnostic::on_unimplemented(
    message = "no theorem lets interactive children be launched under `{Self}`",
    note = "probabilistic DP is not closed under postprocessing (Whitehouse et al., App. F): \
            use `Filter::noninteractive` or `Odometer::noninteractive`"
)]
pub trait ValidSequentially: Accounting {}

/// A rule or accumulator that holds for interactive mechanisms used in any order.
///
/// For (ε, δ) and f-DP every one that holds for non-interactive mechanisms does (Haney et al.
/// 1.20, 1.21, for children with finite communication), for Rényi privacy of a fixed order and
/// for zCDP adding up does (4.6, 4.10). For approximate zCDP and approximate Rényi privacy nothing
/// is known.
#[diagnostic::on_unimplemented(
    message = "no theorem lets children be interleaved under `{Self}`",
    note = "concurrent composition is proved for pure DP, (ε, δ)-DP, f-DP and GDP, Rényi DP of \
            fixed orders and zCDP; for approximate zCDP and approximate Rényi DP it is an open \
            question",
    note = "use `Filter::sequential` or `Odometer::sequential`: a launch freezes earlier children"
)]
pub trait ValidConcurrently: ValidSequentially {}

/// A measure with an accumulator that needs no further parameters.
pub trait Accounted: Measure {
    /// The accumulator.
    type Accumulator: Accumulator<Measure = Self>;

    /// An accumulator that has counted nothing.
    fn accumulator(&self) -> Self::Accumulator;
}
