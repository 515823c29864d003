//! How losses add up: accumulators G, which say what has been spent, and continuation rules F,
//! which say whether to go on. One file per theorem.
//!
//! | accumulator | children and whole | valid for | source |
//! |---|---|---|---|
//! | [`Sum`] | [`PureDp`](crate::privacy::PureDp), [`ApproxDp`](crate::privacy::ApproxDp) | interleaved children | Rogers et al. 3.3 with Haney et al. 1.20 |
//! | [`Sum`] | [`Rdp`](crate::privacy::Rdp), [`RdpGrid`](crate::privacy::RdpGrid) | interleaved children | Haney et al. 4.6, 4.9 |
//! | [`Sum`] | [`ZCdp`](crate::privacy::ZCdp) | interleaved children | Haney et al. 4.10, 4.11 |
//! | [`Sum`] | [`ApproxZCdp`](crate::privacy::ApproxZCdp) | sequential children | Whitehouse et al. Thm 1 |
//! | [`Sum`] | [`ApproxRdp`](crate::privacy::ApproxRdp) | sequential children | Whitehouse et al. Thm 1, at one order |
//! | [`Sum`] | [`ProbabilisticDp`](crate::privacy::ProbabilisticDp) | non-interactive children | Rogers et al. 3.3 |
//! | [`RestartedFilters`] | [`Rdp`](crate::privacy::Rdp) | interleaved children | Feldman and Zrnic Alg 5 with Haney et al. 4.9 |
//! | [`RootSumSquares`] | [`Gdp`](crate::privacy::Gdp) | interleaved children | Tran et al. 2.11 with Haney et al. 1.21 |
//! | [`AdvancedComposition`] | `ApproxDp` | interleaved children | Haney et al. 3.8, Whitehouse et al. Thm 2 |
//!
//! | rule | children | whole | valid for | source |
//! |---|---|---|---|---|
//! | [`ThroughZCdp::simple`] | `ApproxDp` | `ApproxDp` | interleaved children | Whitehouse et al. Thm 2, Haney et al. 3.7 |
//! | [`ThroughZCdp::tight`] | `ApproxDp` | `ApproxDp` | interleaved children | Feldman and Zrnic 4.7, Canonne et al. 2020 |
//! | [`ThroughZCdp::for_zcdp`] | `ZCdp` | `ApproxDp` | interleaved children | Haney et al. 4.10, 4.11, Canonne et al. 2020 |
//! | [`ThroughZCdp::for_zcdp_simple`] | `ZCdp` | `ApproxDp` | interleaved children | Haney et al. 4.10, 4.11, Bun and Steinke 2016 |
//! | [`ThroughRdp::at`], [`ThroughRdp::chosen_for`] | `ApproxDp` | `ApproxDp` | interleaved children | Whitehouse et al. Thm 1, Canonne et al. 2020 |
//! | [`ThroughRdp::on_grid_at`], [`ThroughRdp::on_grid_chosen_for`] | `RdpGrid` | `ApproxDp` | interleaved children | Haney et al. 4.6, 4.9, Canonne et al. 2020 |
//! | [`Rogers`] | `ApproxDp` | `ApproxDp` | interleaved children | Rogers et al. 5.1 |
//!
//! Children state their losses in one measure and the guarantee of the whole is stated in another
//! one ([`Accounting`]): a budget of (1, 1e-6) takes Gaussian counts at their ρ. What remains is
//! stated in the children's measure; what is spent and the limit are stated in that of the whole.
//!
//! An accumulator becomes a rule by [`Accumulator::capped`], and a rule of that form an
//! accumulator by [`Capped::uncapped`] (Haney et al. Lemma 2.19).

/// [`Accounting`] of a rule of this project that takes (ε, δ) children and bounds the whole by (ε, δ).
#[doc(hidden)]
#[macro_export]
macro_rules! approx_dp_in_and_out {
    ($rule:ty) => {
        impl $crate::account::Accounting for $rule {
            const REENTRANT: $crate::toolkit::privacy::Reentrant =
                $crate::toolkit::privacy::Reentrant(false);

            type Children = $crate::privacy::ApproxDp;
            type Whole = $crate::privacy::ApproxDp;

            fn children(&self) -> &$crate::privacy::ApproxDp {
                &$crate::privacy::ApproxDp
            }

            fn whole(&self) -> &$crate::privacy::ApproxDp {
                &$crate::privacy::ApproxDp
            }
        }
    };
}

mod advanced_composition;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod budget;
mod capped;
mod composes;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod deltas;
#[cfg(feature = "serde")]
pub(crate) mod durable;
pub(crate) mod left;
mod restarted;
pub(crate) mod rogers;
mod root_sum_squares;
#[cfg(test)]
mod spent_tests;
mod sum;
pub(crate) mod through_rdp;
pub(crate) mod through_zcdp;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod twice_rho;

pub use advanced_composition::AdvancedComposition;
pub use capped::Capped;
pub use composes::ComposesConcurrently;
#[cfg(feature = "serde")]
pub use durable::{Durable, SavedRule};
pub use left::LaunchesLeft;
pub(crate) use left::Repeats;
pub use restarted::RestartedFilters;
pub use rogers::Rogers;
pub use root_sum_squares::RootSumSquares;
pub use sum::{AddsUpConcurrently, AddsUpSequentially, Sum};
pub use through_rdp::ThroughRdp;
pub use through_zcdp::ThroughZCdp;

mod sealed {
    use crate::privacy::{ApproxDp, RdpGrid, ZCdp};

    /// Only this crate converts the losses of children.
    pub trait Converted {}

    impl Converted for ApproxDp {}
    impl Converted for RdpGrid {}
    impl Converted for ZCdp {}
}

use crate::privacy::Reentrant;
use std::fmt::Debug;

use thiserror::Error;

use crate::number::Delta;
use crate::privacy::{Measure, Overflow, UnknownLoss};

/// What a child loses, in the measure of children.
///
/// Example: [`ContinuationRule`].
pub type ChildLoss<T> = <<T as Accounting>::Children as Measure>::Loss;

/// What all children together lose, in the measure of the budget.
///
/// Example: [`ContinuationRule`].
pub type WholeLoss<T> = <<T as Accounting>::Whole as Measure>::Loss;

/// The shared part of accumulators and rules: two measures, which are often the same.
///
/// Example: [`ContinuationRule`].
pub trait Accounting: Clone + Debug + Send + Sync + 'static {
    /// Whether its code may call the compositor that uses it. Only the rules of this crate set this
    /// to `false`; they are then run under the compositor's lock.
    #[doc(hidden)]
    const REENTRANT: Reentrant = Reentrant(true);

    /// The measure in which children state their losses.
    type Children: Measure;
    /// The measure in which the guarantee of the whole is stated.
    type Whole: Measure;

    /// The measure of children.
    fn children(&self) -> &Self::Children;

    /// The measure of the whole.
    fn whole(&self) -> &Self::Whole;
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
    /// Whether the theorem covers launches with this loss; by default it does.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`], which says why not.
    fn covers(&self, _loss: &ChildLoss<Self>) -> Result<(), UnknownLoss> {
        Ok(())
    }

    /// The accumulator after one more loss. A pure function: it depends on nothing else and
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// [`Overflow`] if the total can no longer be held, or if the loss is not
    /// [covered](Self::covers).
    fn add(&self, loss: &ChildLoss<Self>) -> Result<Self, Overflow>;

    /// The bound on everything counted so far, rounded up.
    fn total(&self) -> WholeLoss<Self>;

    /// The part of the total that was there before anything was counted: a slack δ′, for example.
    /// By default nothing.
    fn set_aside(&self) -> WholeLoss<Self> {
        self.whole().zero()
    }

    /// Whether the exact total is at most `limit`.
    fn is_within(&self, limit: &WholeLoss<Self>) -> bool {
        self.total() <= *limit
    }

    /// The total; the limit where the exact total is within it and only its rounding is not.
    fn total_within(&self, limit: &WholeLoss<Self>) -> WholeLoss<Self> {
        let total = self.total();
        if total <= *limit || !self.is_within(limit) {
            return total;
        }
        limit.clone()
    }

    /// A loss such that one more launch of it, or of anything less, stays within `limit`, if what was
    /// counted so far is within it.
    fn headroom(&self, limit: &WholeLoss<Self>) -> ChildLoss<Self>;

    /// How many more launches of this loss stay within `limit`, by default counted one by one, up to
    /// 65 536.
    fn admits(&self, loss: &ChildLoss<Self>, limit: &WholeLoss<Self>) -> LaunchesLeft {
        LaunchesLeft::by_adding(self, loss, limit)
    }

    /// The rule that goes on while the total is at most `limit` (Haney et al. Lemma 2.19).
    fn capped(self, limit: WholeLoss<Self>) -> Capped<Self> {
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
    fn limit(&self) -> &WholeLoss<Self>;

    /// A bound on everything counted so far, with what was [set aside](Self::set_aside).
    fn spent(&self) -> WholeLoss<Self>;

    /// The part of [`spent`](Self::spent) that no launch has cost: the rule set it aside when it was
    /// built, such as the slack δ′ of an (ε, δ) rule. A rule that has counted nothing has spent this
    /// and no more. By default nothing. Does not affect admission.
    ///
    /// ```
    /// use queryables::account::{ContinuationRule, ThroughZCdp};
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let rule = ThroughZCdp::tight(EpsilonDelta::new("1", "1e-6")?, "5e-7".parse()?)?;
    /// assert_eq!(rule.spent(), EpsilonDelta::new("0", "5e-7")?);
    /// assert_eq!(rule.set_aside(), rule.spent());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn set_aside(&self) -> WholeLoss<Self> {
        self.whole().zero()
    }

    /// A loss of a child that would be admitted, like any smaller one. For losses that are one
    /// number it is the largest such loss. It is zero if nothing would be admitted. (An accumulator
    /// that was over the limit before it was capped does not even admit zero.)
    fn remaining(&self) -> ChildLoss<Self>;

    /// The rule after one more loss, if it says to go on. A pure function: it depends on nothing
    /// else and changes nothing, so asking does not charge.
    ///
    /// # Errors
    ///
    /// [`Exceeded`].
    fn charge(&self, loss: &ChildLoss<Self>) -> Result<Self, Exceeded>;

    /// How many launches of this loss it would admit from now on, one after the other. A pure
    /// function, too. [`LaunchesLeft`] has an example.
    ///
    /// By default it charges again and again, at most 65 536 times. The rules of this crate search
    /// for the number instead, wherever many equal losses can be charged at once.
    fn admits(&self, loss: &ChildLoss<Self>) -> LaunchesLeft {
        LaunchesLeft::by_charging(self, loss)
    }
}

/// The rule does not admit the launch.
///
/// Example: [`Capped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the budget would be exceeded")]
pub struct Exceeded;

/// Why a rule, an accumulator or a time-uniform odometer cannot be built.
///
/// Example: [`Rogers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The bounds grow without limit as the slack shrinks.
    #[error("this bound needs a slack δ′ > 0: pay for it out of δ")]
    NoSlack,
    /// The slack is paid for out of δ.
    #[error("the slack {slack} is more than the budget's δ = {delta}")]
    SlackTooLarge {
        /// The requested slack.
        slack: Delta,
        /// The δ of the budget.
        delta: Delta,
    },
    /// The order is too small for the budget.
    #[error("at this Rényi order the conversion to (ε, δ) leaves nothing: choose a larger order")]
    Order,
    /// A rule on a grid uses one order of the grid; this one, or the typical curve, is not on it.
    #[error("the order, or the typical curve, does not belong to the grid")]
    NotOnGrid,
    /// A number that it is built from.
    #[error("{what} is out of range: {advice}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The theorem's conditions.
    #[error("Rogers et al. Thm 5.1 needs ε > 0 and 0 < δ < 1/e")]
    Rogers,
}

/// A rule or accumulator that holds for interactive mechanisms used one after the other.
///
/// Theorems about mechanisms that answer once, each with a loss that may depend on the answers
/// before (Whitehouse et al. Thm 1), cover this, if the measure is closed under postprocessing. Fix
/// an adversary and its coins, on which the data has no influence. A launch freezes the earlier
/// children, so all queries to the i-th child and all its answers lie between two launches. Take
/// this whole exchange as the answer of one mechanism, which starts the child and plays the
/// adversary against it up to the next launch. Given all that was said before, its loss is that of
/// the child, because the child's loss is that of its view against every adversary (Haney et al.
/// 1.7). Which child is launched next, and at what loss, follows from the answers so far. So the
/// view of the compositor is the sequence of these answers, and a view that ends earlier is a
/// postprocessing of it.
///
/// Example: [`ContinuationRule`].
#[diagnostic::on_unimplemented(
    message = "no theorem lets interactive children be launched under `{Self}`",
    note = "probabilistic DP is not closed under postprocessing (Whitehouse et al., App. F): \
            use `Filter::noninteractive` or `Odometer::noninteractive`"
)]
pub trait ValidSequentially: Accounting {}

/// A rule or accumulator that holds for interactive mechanisms used in any order.
///
/// For (ε, δ) and f-DP every one that holds for non-interactive mechanisms does (Haney et al.
/// 1.20, 1.21, for children with finite communication), for Rényi privacy of a fixed order, for
/// pure DP, which is that of every order, and for zCDP adding up does (4.6, 4.10). For approximate zCDP and approximate Rényi privacy nothing
/// is known.
///
/// Example: [`ContinuationRule`].
#[diagnostic::on_unimplemented(
    message = "no theorem lets children be interleaved under `{Self}`",
    note = "concurrent composition is proved for pure DP, (ε, δ)-DP, f-DP and GDP, Rényi DP of \
            fixed orders and zCDP; for approximate zCDP and approximate Rényi DP it is an open \
            question",
    note = "use `Filter::sequential` or `Odometer::sequential`: a launch freezes earlier children"
)]
pub trait ValidConcurrently: ValidSequentially {}

/// A measure with an accumulator that needs no further parameters.
///
/// Example: [`Durable`].
#[diagnostic::on_unimplemented(
    message = "choose a rule: the losses of `{Self}` have no accumulator of their own",
    note = "under f-DP, composing trade-off functions as they come until a budget is reached is not \
            private (Tran et al. 3.8): use `Filter::concurrent_with` and a family that has a theorem, \
            `Gaussians`, `Powers`, `Menu` or `List` of `account::profiles`",
    note = "for mechanisms that are started together use `ConcurrentComposition`"
)]
pub trait DefaultAccumulator: Measure {
    /// The accumulator.
    type Accumulator: Accumulator<Children = Self, Whole = Self>;

    /// An accumulator that has counted nothing.
    fn accumulator(&self) -> Self::Accumulator;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Epsilon, Mu, Rho};
    use crate::privacy::{
        ApproxDp, ApproxRdp, ApproxZCdp, EpsilonDelta, Gdp, ProbabilisticDp, PureDp, Rdp, RdpGrid,
        RhoDelta, ZCdp,
    };
    use proptest::prelude::*;

    /// A larger loss at one place never lowers the total, and neither does one more launch.
    fn rises<G: Accumulator>(nothing: &G, losses: &[ChildLoss<G>], at: usize, more: &ChildLoss<G>) {
        let total = |losses: &[ChildLoss<G>]| {
            let mut total = nothing.clone();
            for loss in losses {
                total = total.add(loss).unwrap();
            }
            total.total()
        };
        let before = total(losses);
        let join = nothing.children().join(&losses[at], more);
        let mut changed = losses.to_vec();
        changed[at] = join;
        assert!(before <= total(&changed));
        changed = losses.to_vec();
        changed.push(more.clone());
        assert!(before <= total(&changed));
    }

    proptest! {
        #[test]
        fn every_accumulator_rises_in_every_argument(
            units in proptest::collection::vec(0..10_u128.pow(30), 1..8),
            at in 0..8_usize, more in 0..10_u128.pow(31),
        ) {
            let at = at % units.len();
            let epsilon = |units: u128| Epsilon::from_units(units).unwrap();
            let rho = |units: u128| Rho::from_units(units).unwrap();
            let mu = |units: u128| Mu::from_units(units).unwrap();
            let delta = |units: u128| Delta::from_units(units).unwrap();
            let pair = |units: u128| EpsilonDelta { epsilon: epsilon(units), delta: delta(units) };
            let order = "2".parse().unwrap();
            let grid = RdpGrid::new([order]).unwrap();
            macro_rules! check {
                ($($nothing:expr, $loss:expr;)*) => {$(
                    let losses: Vec<_> = units.iter().copied().map($loss).collect();
                    rises(&$nothing, &losses, at, &$loss(more));
                )*};
            }
            check! {
                PureDp.accumulator(), epsilon;
                Rdp::new(order).accumulator(), epsilon;
                grid.accumulator(), |units| grid.curve([epsilon(units)]).unwrap();
                ZCdp.accumulator(), rho;
                Gdp.accumulator(), mu;
                ApproxDp.accumulator(), pair;
                ProbabilisticDp.accumulator(), pair;
                ApproxZCdp.accumulator(), |units| RhoDelta { rho: rho(units), delta: delta(units) };
                ApproxRdp::new(order).accumulator(), pair;
                AdvancedComposition::new("1e-6".parse().unwrap()).unwrap(), pair;
                RestartedFilters::new(Rdp::new(order), "1e4".parse().unwrap()).unwrap(), epsilon;
            }
        }
    }
}
