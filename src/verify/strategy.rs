//! An adversary, written down.

use std::fmt::{self, Debug};

use super::Interval;
use crate::machine::{Adversary, Coins, CoinsError, Fault};

/// A deterministic adversary against a pair of datasets: what it asks, and how it goes on after
/// each answer. It prints as a person would tell it, and plays as an [`Adversary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy<Q, A> {
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
}

impl<Q, A> Strategy<Q, A> {
    /// How many queries it asks at most.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Stop { .. } => 0,
            Self::Ask { then, .. } => {
                1 + then.iter().map(|(_, next)| next.depth()).max().unwrap_or(0)
            }
        }
    }

    fn masses(&self) -> [Interval; 2] {
        match self {
            Self::Stop { masses } => masses.clone(),
            Self::Ask { then, .. } => {
                let mut sum = [Interval::ZERO, Interval::ZERO];
                for (_, next) in then {
                    let [p, q] = next.masses();
                    sum = [sum[0].plus(&p), sum[1].plus(&q)];
                }
                sum
            }
        }
    }

    /// Whether both go on alike, whatever the probabilities.
    fn is_like(&self, other: &Self) -> bool
    where
        Q: Debug,
        A: PartialEq,
    {
        match (self, other) {
            (Self::Stop { .. }, Self::Stop { .. }) => true,
            (
                Self::Ask { query, then },
                Self::Ask {
                    query: other_query,
                    then: other_then,
                },
            ) => {
                format!("{query:?}") == format!("{other_query:?}")
                    && then.len() == other_then.len()
                    && then
                        .iter()
                        .zip(other_then)
                        .all(|((a, next), (b, other))| a == b && next.is_like(other))
            }
            _ => false,
        }
    }
}

/// A line of the printed strategy is no longer than it takes to tell it.
impl<Q: Debug, A: Debug + PartialEq> fmt::Display for Strategy<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl<Q: Debug, A: Debug + PartialEq> Strategy<Q, A> {
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let Self::Ask { query, then } = self else {
            let [p, q] = self.masses();
            return write!(f, "stop  (probability {p} and {q})");
        };
        write!(f, "ask {query:?}")?;
        // Answers after which it goes on in the same way, by more than stopping, share a line.
        let mut groups: Vec<(Vec<&Result<A, Fault>>, &Self)> = Vec::new();
        for (answer, next) in then {
            let alike = groups.iter_mut().find(|(_, other)| {
                matches!(next, Self::Ask { .. }) && next.is_like(other) && next.depth() < 2
            });
            match alike {
                Some((answers, _)) if false => answers.push(answer),
                _ => groups.push((vec![answer], next)),
            }
        }
        for (answers, next) in groups {
            write!(f, "\n{:width$}", "", width = 2 * (indent + 1))?;
            for (number, answer) in answers.iter().enumerate() {
                let or = if number > 0 { " or " } else { "" };
                match answer {
                    Ok(answer) => write!(f, "{or}{answer:?}")?,
                    Err(fault) => write!(f, "{or}{fault}")?,
                }
            }
            f.write_str(": ")?;
            next.write(f, indent + 1)?;
        }
        Ok(())
    }
}

/// Plays a [`Strategy`]; halts at an answer that the strategy does not know.
#[derive(Clone, Debug)]
pub struct Player<'a, Q, A> {
    at: Option<&'a Strategy<Q, A>>,
}

impl<Q, A> Strategy<Q, A> {
    /// This strategy as an adversary.
    #[must_use]
    pub fn player(&self) -> Player<'_, Q, A> {
        Player { at: Some(self) }
    }
}

impl<Q: Clone, A: PartialEq> Adversary for Player<'_, Q, A> {
    type Query = Q;
    type Answer = A;

    fn ask(
        &mut self,
        last: Option<&Result<A, Fault>>,
        _coins: &mut dyn Coins,
    ) -> Result<Option<Q>, CoinsError> {
        if let (Some(last), Some(Strategy::Ask { then, .. })) = (last, self.at) {
            let known = then.iter().find(|(answer, _)| answer == last);
            self.at = known.map(|(_, next)| next);
        }
        Ok(match self.at {
            Some(Strategy::Ask { query, .. }) => Some(query.clone()),
            _ => None,
        })
    }
}
