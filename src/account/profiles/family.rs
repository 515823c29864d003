//! What a family of trade-off functions must know.

use crate::privacy::UnknownLoss;
use crate::privacy::fdp::{FdpError, Profile};
use std::fmt::Debug;

/// A family of trade-off functions with a theorem about adaptive composition. It is sealed, because
/// a filter on a family without one is not private.
///
/// Example: [`Menu`](crate::account::profiles::Menu).
///
/// # Guarantee
///
/// States are totally ordered, and a launch never leads to a smaller one. Whatever an adversary
/// launches, adaptively, as long as states stay at or below some state, its view is dominated by the
/// profile of that state, which rises with the state.
pub trait Family: sealed::Family {}

pub(super) mod sealed {
    use super::{Debug, FdpError, Profile, UnknownLoss};

    pub trait Family: Clone + Debug + Send + Sync + 'static {
        /// What was launched so far.
        type State: Clone + Debug + PartialEq + Send + Sync + 'static;

        /// The largest state that a budget allows.
        type Most: Clone + Debug + PartialEq + Send + Sync + 'static;

        /// Nothing was launched.
        fn nothing(&self) -> Self::State;

        /// Whether a launch of this loss has a price at all.
        fn covers(&self, loss: &Profile) -> Result<(), UnknownLoss>;

        /// The state after one more launch; `None` if this loss has no price here.
        fn after(&self, state: &Self::State, loss: &Profile) -> Option<Self::State>;

        /// At least the profile of everything up to this state.
        fn profile(&self, state: &Self::State) -> Profile;

        /// The largest state whose profile is certified to be within the limit.
        fn most(&self, limit: &Profile) -> Result<Self::Most, FdpError>;

        /// Whether a state is at most this one.
        fn is_within(&self, state: &Self::State, most: &Self::Most) -> bool;

        /// Whether [`profile`](Self::profile) of a state is that of one which is at most this one.
        fn reads_within(&self, state: &Self::State, most: &Self::Most) -> bool {
            self.is_within(state, most)
        }

        /// A loss that leads from a state to one that is at most another, like any smaller one.
        fn headroom(&self, state: &Self::State, most: &Self::Most) -> Profile;
    }
}

/// Why a launch has no price.
pub(super) const NO_PRICE: UnknownLoss = UnknownLoss(
    "no member of the family is known to be at least as bad as this trade-off function",
);

/// Whether it reveals nothing, by its parameters.
pub(super) fn is_nothing(loss: &Profile) -> bool {
    loss.is_known_below(&Profile::perfect())
}

/// The largest number below `end` that is certified to fit; zero if there is none.
///
/// Whether a number fits must not depend on larger ones: then each answer is a certificate of its
/// own, and a bound that decides nothing only costs some of the budget.
pub(super) fn largest(
    end: usize,
    mut fits: impl FnMut(usize) -> Result<bool, FdpError>,
) -> Result<usize, FdpError> {
    let (mut low, mut high) = (0, end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match fits(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(low)
}
