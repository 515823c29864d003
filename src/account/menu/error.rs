//! Why a menu cannot be used.

use thiserror::Error;

use crate::number::{Delta, Epsilon};

/// Why a menu, or a filter on it, cannot be built.
///
/// Example: [`TwoPriceListFilter`](crate::account::menu::TwoPriceListFilter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum MenuError {
    /// A menu without entries admits nothing.
    #[error("the menu is empty: give it at least one entry")]
    Empty,
    /// Such an entry could be launched without end.
    #[error("entry {entry} costs nothing: give it a cost of at least 1, or leave it out")]
    CostsNothing {
        /// Which one, counted from 0.
        entry: usize,
    },
    /// An entry without loss is not needed on a menu.
    #[error("entry {entry} loses nothing: leave it out, such launches are always admitted")]
    LosesNothing {
        /// Which one, counted from 0.
        entry: usize,
    },
    /// A loss between two entries is charged as the larger one, so that one must not cost less.
    #[error(
        "entry {entry} does not lose more than the one before it, or costs less: sort the menu by loss, with costs that never fall"
    )]
    NotRising {
        /// Which one, counted from 0.
        entry: usize,
    },
    /// The lattice needs a step.
    #[error("the lattice step is 0: choose one that divides the losses")]
    NoStep,
    /// Too many lattice points.
    #[error("a step of {step} makes too many lattice points: choose a larger one")]
    StepTooFine {
        /// What was asked for.
        step: Epsilon,
    },
    /// The chords of an entry add more than they may.
    #[error("a step of {step} is too coarse for a loss of {loss}: choose a smaller step")]
    StepTooCoarse {
        /// What was asked for.
        step: Epsilon,
        /// The loss that is less than one step.
        loss: Epsilon,
    },
    /// The dearest entry looks back too far.
    #[error("the costs are too large to be kept in memory: divide them, or choose a larger step")]
    TooLarge,
    /// The budget is never reached.
    #[error("the budget is not reached within a million states: make the costs smaller")]
    Endless,
    /// Nothing is left for the menu's δ.
    #[error("this filter needs a slack δ′ > 0: pay for it out of δ")]
    NoSlack,
    /// The slack is paid for out of δ.
    #[error("the slack {slack} is more than the budget's δ = {delta}")]
    SlackTooLarge {
        /// What was asked for.
        slack: Delta,
        /// What there is.
        delta: Delta,
    },
    /// The worst case of what was asked for.
    #[error("the worst case has δ = {delta}, more than the {limit} that the budget has")]
    OverBudget {
        /// What the worst case needs, rounded up.
        delta: Delta,
        /// What there is.
        limit: Delta,
    },
    /// The budget's ε is zero or not much more.
    #[error("the budget's ε = {epsilon} is less than a lattice step: choose a smaller step")]
    BudgetTooSmall {
        /// The budget's ε.
        epsilon: Epsilon,
    },
    /// A number that a menu is built from is out of range.
    #[error("{what} is out of range: {advice}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
}
