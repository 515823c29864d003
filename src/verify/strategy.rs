//! An adversary as a decision tree.

use std::fmt::{self, Debug};

use super::Interval;
use crate::machine::{Adversary, CoinSource, CoinsError, Fault};

/// A deterministic adversary against a pair of datasets: what it asks, and how it goes on after
/// each answer. It prints in readable form, and plays as an [`Adversary`].
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy<Q, A> {
    /// The mechanism may fail to start; the adversary sees whether it did.
    Start {
        /// How it goes on after each way to start.
        then: Vec<(Result<(), Fault>, Strategy<Q, A>)>,
    },
    /// Asks nothing more.
    Stop {
        /// The probability of coming here on each dataset.
        masses: [Interval; 2],
    },
    /// Asks this.
    Ask {
        /// What it asks.
        query: Q,
        /// How it goes on after each answer.
        then: Vec<(Result<A, Fault>, Strategy<Q, A>)>,
    },
    /// Continues, but is too long to be stored.
    More,
}

impl<Q, A> Strategy<Q, A> {
    /// The largest number of queries that it asks, as far as it is stored.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Stop { .. } | Self::More => 0,
            Self::Start { then } => then.iter().map(|(_, next)| next.depth()).max().unwrap_or(0),
            Self::Ask { then, .. } => {
                1 + then.iter().map(|(_, next)| next.depth()).max().unwrap_or(0)
            }
        }
    }
}

impl<Q, A> Strategy<Q, A> {
    /// Whether a view has probability zero on one dataset, as far as it is stored.
    pub(super) fn meets_zero(&self) -> bool {
        match self {
            Self::Stop { masses } => masses.iter().any(Interval::is_zero),
            Self::More => false,
            Self::Start { then } => then.iter().any(|(_, next)| next.meets_zero()),
            Self::Ask { then, .. } => then.iter().any(|(_, next)| next.meets_zero()),
        }
    }
}

impl<Q: Debug, A: Debug> fmt::Display for Strategy<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 1)
    }
}

impl<Q: Debug, A: Debug> Strategy<Q, A> {
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        match self {
            Self::Stop { masses: [p, q] } => {
                write!(f, "stop  (probability {p} and {q})")
            }
            Self::Start { then } => {
                f.write_str("start")?;
                for (start, next) in then {
                    write!(f, "\n{:width$}", "", width = 2 * indent)?;
                    match start {
                        Ok(()) => f.write_str("started: ")?,
                        Err(fault) => write!(f, "did not start, {fault}: ")?,
                    }
                    next.write(f, indent + 1)?;
                }
                Ok(())
            }
            Self::More => f.write_str("…"),
            Self::Ask { query, then } => {
                write!(f, "ask {query:?}")?;
                for (answer, next) in then {
                    write!(f, "\n{:width$}", "", width = 2 * indent)?;
                    match answer {
                        Ok(answer) => write!(f, "{answer:?}: ")?,
                        Err(fault) => write!(f, "{fault}: ")?,
                    }
                    next.write(f, indent + 1)?;
                }
                Ok(())
            }
        }
    }
}

struct Player<Q, A> {
    at: Option<Strategy<Q, A>>,
}

impl<Q: Clone, A: Clone + PartialEq> Strategy<Q, A> {
    /// This strategy as an adversary, which halts where the strategy is not stored.
    #[must_use]
    pub fn player(&self) -> impl Adversary<Query = Q, Answer = A> + use<Q, A> {
        // Nobody plays against a machine that did not start.
        let at = match self {
            Self::Start { then } => {
                let started = then.iter().find(|(start, _)| start.is_ok());
                started.map(|(_, next)| next)
            }
            _ => Some(self),
        };
        Player { at: at.cloned() }
    }
}

impl<Q: Clone, A: PartialEq> Adversary for Player<Q, A> {
    type Query = Q;
    type Answer = A;

    fn ask(
        &mut self,
        last: Option<&Result<A, Fault>>,
        _coins: &mut dyn CoinSource,
    ) -> Result<Option<Q>, CoinsError> {
        if let Some(last) = last {
            self.at = match self.at.take() {
                Some(Strategy::Ask { then, .. }) => {
                    let known = then.into_iter().find(|(answer, _)| answer == last);
                    known.map(|(_, next)| next)
                }
                stopped => stopped,
            };
        }
        Ok(match &self.at {
            Some(Strategy::Ask { query, .. }) => Some(query.clone()),
            _ => None,
        })
    }
}
