//! Randomized state machines, and the adversaries that query them.
//!
//! ```text
//! (state, query; coins) -> (state', answer)
//! ```
//!
//! A [`Machine`] answers queries, a [`Mechanism`] is its public description, [`Coins`] are the
//! source of every random choice, and an [`Adversary`] asks the queries. [`interact`] runs the two
//! against each other and returns the [`View`].

mod adversary;
mod answer_kind;
mod boxed;
mod coins;
pub(crate) mod conversation;
mod description;
pub(crate) mod guard;
mod inspect;
mod laws;
mod mechanism;
mod outages;
mod pair;
pub(crate) mod released;
mod releases_only;
mod seeded;
pub(crate) mod source;
mod stop;
mod system;
mod tape;
pub(crate) mod thread_context;
mod truncated;
mod withheld;
mod words;

pub use adversary::{Adversary, Script, View, interact};
pub use answer_kind::AnswerKind;
pub use boxed::BoxedMachine;
pub use coins::Coins;
pub(crate) use coins::Stops;
pub use description::Description;
pub(crate) use guard::{Quiet, caught};
pub use guard::{discard, guarded, silence_guarded_panics};
pub use inspect::{Inspect, StateKey};
pub use laws::Bernoulli;
pub use mechanism::{Answered, DomainMismatch, Mechanism, Public, PublicMetadata, Released};
pub(crate) use outages::{MOST_OUTAGES, Outages};
pub use pair::{Direction, Pair};
pub use released::DrawnNoise;
pub use releases_only::ReleasesOnly;
pub use seeded::NotPrivateSeededCoins;
#[cfg(test)]
pub(crate) use source::total_weight;
pub use source::{ClosedForm, CoinSource, CoinsError, Law};
pub use stop::{Stop, StopToken, Stopper};
pub use system::{SystemCoins, uniform_from_words};
pub use tape::{Recorder, Replay, Tape};
pub(crate) use thread_context::{Answering, CurrentToken};
pub use truncated::{Metered, truncated_view};
pub(crate) use withheld::Withheld;
pub(crate) use words::kept;

use thiserror::Error;

/// A randomized state machine: `(state, query; coins) -> (state', answer)` (Haney et al. 1.4).
///
/// The state is `self`, and the coins are an argument, so that the same code runs with the
/// operating system's randomness, replays from a [`Tape`], and can be enumerated exhaustively.
///
/// # What an implementer owes
///
/// - Every random choice comes from `coins`. A machine that takes randomness from elsewhere can be
///   neither replayed nor verified.
/// - The claim made by [`Private`](crate::privacy::Private) covers everything that the other side
///   can see: the answers, and also *whether* a step ends in a [`Fault`].
/// - An answer is a plain value. It must not be a handle, or anything else that can be queried: no
///   compositor would know of it, and none could stop it.
/// - A step communicates only with the code that called it. To query another machine before
///   answering, write a [`Middle`](crate::middle::Middle).
///
/// # What an implementer may assume
///
/// After a step that ended in [`Fault::Failed`] or in a panic, no further step is taken.
///
/// # Wrong and right
///
/// ```text
/// let lie = self.rng.random_bool(0.25);           // wrong: nobody can replay or verify it
/// let lie = coins.weighted(&[3, 1])? == 1;        // right
///
/// if self.rows.is_empty() {
///     return Err(Fault::InvalidQuery("no rows")); // wrong: the fault tells it without noise
/// }
/// if query > self.largest_query {
///     return Err(Fault::InvalidQuery("too big")); // right: both are public
/// }
/// ```
///
/// # Example
///
/// A machine that counts how often it was asked:
///
/// ```
/// use queryables::machine::{CoinSource, Coins, Fault, Machine, NotPrivateSeededCoins};
///
/// struct Counter(u64);
///
/// impl Machine for Counter {
///     type Query = ();
///     type Answer = u64;
///
///     fn step(&mut self, (): (), _coins: &mut Coins<'_>) -> Result<u64, Fault> {
///         self.0 += 1;
///         Ok(self.0)
///     }
/// }
///
/// let mut machine = Counter(0);
/// let mut source = NotPrivateSeededCoins::new(0);
/// let mut coins = source.coins();
/// assert_eq!(machine.step((), &mut coins), Ok(1));
/// assert_eq!(machine.step((), &mut coins), Ok(2));
/// ```
pub trait Machine {
    /// What it can be asked.
    type Query;
    /// What it answers.
    type Answer;

    /// Answers one query and moves to the next state.
    ///
    /// # Errors
    ///
    /// A [`Fault`] is as visible to the other side as an answer, and it is all that is visible.
    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault>;
}

/// How a step can end without an answer.
///
/// A fault is as visible as an answer, its text and its number included. The machines of this crate
/// put nothing into them that was computed from the data. A third-party machine could: it can build
/// a text from data and leak it. So the same rule holds for faults as for answers: the machine's
/// claim covers them, and `verify` compares them in full.
///
/// Example: [`Mechanism`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The machine does not understand the query. Its state has not changed and it can be asked
    /// again.
    #[error("invalid query: {0}")]
    InvalidQuery(&'static str),
    /// The machine has given all the answers that it had. Asking again gives this again.
    #[error("no answers are left")]
    Exhausted,
    /// A person in the middle asked the inner machine this often without giving an answer.
    #[error("the person in the middle gave no answer within {0} rounds")]
    RoundLimit(u32),
    /// The machine was stopped while it was answering. Asking again gives this again.
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// The engine that holds the data did not answer. The machine that asked it stays as it was and
    /// may be asked again; one around it, such as a middle, may have counted the query. At the third
    /// time in its life the machine is closed, because whether an engine answers may depend on the
    /// data. A start is tried three times, for one charge.
    #[error("the data could not be reached")]
    Unavailable,
    /// The machine failed. It is not asked again.
    #[error("the mechanism failed")]
    Failed,
}

impl Fault {
    /// Whether the machine can be asked again after this fault.
    #[must_use]
    pub fn is_recoverable(self) -> bool {
        match self {
            Self::InvalidQuery(_) | Self::Exhausted | Self::Stopped(_) | Self::Unavailable => true,
            Self::RoundLimit(_) | Self::Failed => false,
        }
    }
}

/// Coins that fail stop the machine: nothing may be released without randomness.
impl From<CoinsError> for Fault {
    fn from(_: CoinsError) -> Self {
        Self::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failure_ends_a_machine() {
        assert!(Fault::InvalidQuery("x").is_recoverable());
        assert!(Fault::Exhausted.is_recoverable());
        assert!(Fault::Unavailable.is_recoverable());
        assert!(Fault::Stopped(Stop::Frozen).is_recoverable());
        assert!(!Fault::RoundLimit(3).is_recoverable());
        assert!(!Fault::Failed.is_recoverable());
    }
}
