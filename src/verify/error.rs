//! Why there is no result.

use std::time::Duration;

use thiserror::Error;

/// Why an exploration gave no result. It never returns a partial result instead.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The depth is 0: no query is asked.
    #[error(
        "a depth of 0 asks nothing, so that every claim would hold: take a depth of at least 1"
    )]
    NoDepth,
    /// The menu offers no query at the start.
    #[error("the menu offers no query at the start, so that every claim would hold")]
    EmptyMenu,
    /// A [`ByRound`](super::ByRound) without rounds.
    #[error(
        "the menu has no rounds, so that every claim would hold: give it one list for each round"
    )]
    NoRounds,
    /// A [`Children`](super::Children) that offers no launch.
    #[error(
        "the menu offers no launch, so that there is no child to ask: give it mechanisms, and let \
         `at_most` be at least 1"
    )]
    NoLaunches,
    /// No query was ever answered, and the two datasets could not be told apart.
    #[error(
        "nothing on the menu was ever answered, so that the claim says nothing: are the queries \
         valid for this mechanism, and does it start?"
    )]
    NothingAnswered,
    /// Messages were answered, but no launch was ever admitted.
    #[error(
        "nothing on the menu was ever launched, so that the claim says nothing: does the budget \
         admit one of the launches?"
    )]
    NothingLaunched,
    /// Children were launched, and none ever answered a query.
    #[error(
        "no child that was launched ever answered, so that the claim says nothing: does the menu \
         ask them something, after the launch, and is the depth at least 2?"
    )]
    NoChildAnswered,
    /// The two datasets are equal.
    #[error("the two datasets are equal, so that every claim would hold: take two neighbours")]
    SameDataset,
    /// The claimed loss is not one of the measure, such as a curve of another grid.
    #[error(
        "the claimed loss does not belong to the measure, so that parts of it would not be checked: \
         state it for the same orders"
    )]
    OtherMeasure,
    /// The measure makes no [goal](super::Checkable::goals) of the claim.
    #[error("the measure makes no goal of this claim, so that nothing would be checked")]
    NoGoals,
    /// The claim is a δ of 1.
    #[error("a δ of 1 allows everything, so that every claim would hold: claim a smaller one")]
    ForbidsNothing,
    /// The menu is not a function of its state.
    #[error(
        "the menu offered other queries, or another order, for the same state: it must be a \
         function of its state, and the state must hash everything that it depends on"
    )]
    MenuDiverged,
    /// The same coins and the same queries led to another result than before.
    #[error(
        "a replay with the same coins and queries went differently: does every random choice come \
         from the coins, and is there no state outside the machine?"
    )]
    Diverged,
    /// The machine was run, or points of the conversation were explored, as often as the limit
    /// allows.
    #[error(
        "stopped after {limit} runs of the machine or points of the conversation: take a smaller \
         menu or depth, fewer coins for each answer, `by_state`, or a larger `limit`"
    )]
    Limit {
        /// The limit.
        limit: u64,
    },
    /// The exploration would exceed its memory limit.
    #[error(
        "stopped at {limit} bytes of memory: take a smaller menu or depth, fewer coins for each \
         answer, `by_state`, or a larger `memory`"
    )]
    Memory {
        /// The bound, in bytes.
        limit: u64,
    },
    /// The exploration exceeded its time limit.
    #[error(
        "stopped after {} s: take a smaller menu or depth, fewer coins for each answer, `by_state`, \
         or a larger `time`", .limit.as_secs_f64()
    )]
    Time {
        /// The bound.
        limit: Duration,
    },
    /// The time limit has passed, and a machine did not return.
    #[error(
        "a start or a step did not come back within {} s: does it loop without drawing? Its thread \
         is left behind", .limit.as_secs_f64()
    )]
    Stuck {
        /// The bound on the time of the whole exploration.
        limit: Duration,
    },
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// One draw has too many outcomes to follow each of them.
    #[error(
        "a draw has {outcomes} outcomes, more than {MOST_OUTCOMES}: take noise of a smaller scale, or \
         fewer candidates, or audit the mechanism instead"
    )]
    TooManyOutcomes {
        /// How many it has.
        outcomes: u64,
    },
    /// The machine drew a raw word.
    #[error(
        "the machine drew a raw word of 64 bits, as samplers of other libraries do: its 2^64 values \
         cannot all be followed, and the floating-point numbers that are made of them have no exact \
         law. Draw with `uniform`, `weighted` or a `Law`, or audit the mechanism instead"
    )]
    RawWord,
    /// The machine gave noise to other coins than those that drew it.
    #[error(
        "the machine drew noise from its coins, and released or compared it with others: give it to \
         the coins that drew it, in a wrapper by forwarding `noise`, `release` and `at_least`"
    )]
    OtherCoins,
    /// One answer took more draws than the limit: the machine may not terminate.
    #[error(
        "one answer took more than {MOST_DRAWS} draws: if it does come to an end, draw from a `Law` \
         that names its probabilities, which is one draw"
    )]
    TooManyDraws,
    /// The conversation is longer than can be explored.
    #[error(
        "a depth of {depth}: conversations of more than {MOST_ROUNDS} rounds are not explored: take a \
         smaller depth"
    )]
    TooDeep {
        /// The depth.
        depth: usize,
    },
    /// The system could not start a thread.
    #[error("the system gave no thread with a stack that is large enough")]
    NoThread,
    /// A number is too large to compute with.
    #[error("{0} is too large to compute with")]
    OutOfRange(&'static str),
}

impl VerifyError {
    /// Whether the question asks nothing, so that every claim would hold. In a property test such a case
    /// is to be left out, and is no failure:
    ///
    /// ```
    /// use proptest::prelude::*;
    /// use queryables::privacy::PureDp;
    /// use queryables::verify::strategies::{epsilons, finite_mechanisms};
    /// use queryables::verify::{Children, Pair, Verifier};
    /// use queryables::compose::{Addressed, Filter};
    ///
    /// let cases = (finite_mechanisms(), epsilons("2".parse()?));
    /// proptest!(ProptestConfig::with_cases(5), |((mechanism, budget) in cases)| {
    ///     let filter = move || Addressed::new(Filter::concurrent(PureDp, budget));
    ///     let menu = Children::new(vec![mechanism.clone()], mechanism.queries()).at_most(2);
    ///     let verifier = Verifier::by_state(filter, &Pair::new(false, true), menu, 3).replays(1);
    ///     match verifier.check(&PureDp, &budget) {
    ///         // The budget admits no launch.
    ///         Err(error) if error.is_vacuous() => return Err(TestCaseError::reject("vacuous")),
    ///         verdict => prop_assert!(verdict?.holds()),
    ///     }
    /// });
    /// # Ok::<(), queryables::number::NumberError>(())
    /// ```
    #[must_use]
    pub fn is_vacuous(&self) -> bool {
        matches!(
            self,
            Self::NoDepth
                | Self::EmptyMenu
                | Self::NoRounds
                | Self::NoLaunches
                | Self::NothingAnswered
                | Self::NothingLaunched
                | Self::NoChildAnswered
                | Self::SameDataset
                | Self::NoGoals
                | Self::ForbidsNothing
        )
    }

    /// Whether a claim is undecided, and nothing worse, if the search for a better bound ends so: it
    /// took too much, or what it needs is too large to compute with.
    pub(super) fn leaves_undecided(&self) -> bool {
        matches!(
            self,
            Self::Limit { .. }
                | Self::Memory { .. }
                | Self::Time { .. }
                | Self::TooManyOutcomes { .. }
                | Self::TooManyDraws
                | Self::OutOfRange(_)
        )
    }
}

/// A draw with more outcomes than this is an error: listing them would take too long.
pub(super) const MOST_OUTCOMES: u64 = 1 << 20;

/// An answer with more draws than this is an error.
pub(super) const MOST_DRAWS: usize = 10_000;

/// A conversation of more rounds than this is an error: recursion takes stack for each of them.
pub(super) const MOST_ROUNDS: usize = 1000;
