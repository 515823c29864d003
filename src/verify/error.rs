//! Why there is no result.

use thiserror::Error;

/// Why an exploration gave no result. It never gives a part of one instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The same coins and the same queries led to something else than before.
    #[error(
        "a replay with the same coins and queries went differently: does every random choice come \
         from the coins, and is there no state outside the machine?"
    )]
    Diverged,
    /// The machine was run, or points of the conversation were explored, as often as the limit
    /// allows.
    #[error(
        "stopped after {limit} runs of the machine or points of the conversation: take a smaller \
         menu or depth, let the machine show its state, or raise the limit"
    )]
    Limit {
        /// The limit.
        limit: u64,
    },
    /// One draw has too many outcomes to follow each of them.
    #[error("a draw has {outcomes} outcomes, more than {MOST_OUTCOMES}")]
    TooManyOutcomes {
        /// How many it has.
        outcomes: u64,
    },
    /// One answer took so many draws that the machine may never come to an end.
    #[error("one answer took more than {MOST_DRAWS} draws")]
    TooManyDraws,
    /// The conversation is longer than can be explored.
    #[error("a depth of {depth}: conversations of more than {MOST_ROUNDS} rounds are not explored")]
    TooDeep {
        /// The depth.
        depth: usize,
    },
    /// The system gave no thread to work on.
    #[error("the system gave no thread with a stack that is large enough")]
    NoThread,
    /// A number is too large to compute with.
    #[error("{0} is too large to compute with")]
    OutOfRange(&'static str),
}

/// How often machines are run, and how many points are explored, if nothing is said. A point that
/// is remembered takes about a kilobyte.
pub(super) const LIMIT: u64 = 2_000_000;

/// A draw with more outcomes than this is an error: listing them would not end in useful time.
pub(super) const MOST_OUTCOMES: u64 = 1 << 20;

/// An answer with more draws than this is an error.
pub(super) const MOST_DRAWS: usize = 10_000;

/// A conversation of more rounds than this is an error: recursion takes stack for each of them.
pub(super) const MOST_ROUNDS: usize = 1000;
