//! A draw that is explored, one outcome after the other.

use std::num::NonZeroU64;
use std::sync::Arc;

use super::error::MOST_OUTCOMES;
use super::laws::Listed;
use super::meter::{Held, Meter};
use super::{Interval, Rational, VerifyError};

/// One draw that was made on a path: what was asked for, as a hash, and what came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    pub(super) asked: u64,
    pub(super) outcome: i128,
}

/// All that a draw can come to. A run has many draws and a draw many outcomes, so that only those of
/// laws whose probabilities take long to compute are listed.
#[derive(Debug)]
pub(super) enum Outcomes {
    /// Every number below this.
    Uniform(NonZeroU64),
    /// Every index, but those without weight.
    Weighted {
        weights: Vec<u64>,
        total: NonZeroU64,
        _held: Held,
    },
    Listed(Arc<Listed>),
}

impl Outcomes {
    pub(super) fn uniform(below: NonZeroU64) -> Result<Self, VerifyError> {
        few(below.get())?;
        Ok(Self::Uniform(below))
    }

    /// These have been checked, and this is their sum.
    pub(super) fn weighted(
        weights: &[u64],
        total: NonZeroU64,
        meter: &Arc<Meter>,
    ) -> Result<Self, VerifyError> {
        few(weights.len() as u64)?;
        let held = Held::within(meter, size_of_val(weights))?;
        Ok(Self::Weighted {
            weights: weights.to_vec(),
            total,
            _held: held,
        })
    }

    /// The first outcome from this place on: its place, what it is, and its probability.
    fn from(&self, place: usize) -> Option<(usize, i128, Interval)> {
        let share = |weight: u64, total: &NonZeroU64| {
            Interval::exact(Rational::from_parts(weight.into(), total.get().into()))
        };
        match self {
            Self::Uniform(below) => {
                let is_below = (place as u64) < below.get();
                is_below.then(|| (place, place as i128, share(1, below)))
            }
            Self::Weighted { weights, total, .. } => {
                let mut rest = weights.iter().enumerate().skip(place);
                let (place, weight) = rest.find(|(_, weight)| **weight > 0)?;
                Some((place, place as i128, share(*weight, total)))
            }
            Self::Listed(listed) => {
                let (outcome, mass) = listed.branches.get(place)?;
                Some((place, *outcome, mass.clone()))
            }
        }
    }
}

/// So few that each of them can be followed.
fn few(outcomes: u64) -> Result<(), VerifyError> {
    if outcomes > MOST_OUTCOMES {
        return Err(VerifyError::TooManyOutcomes { outcomes });
    }
    Ok(())
}

/// A draw, and which of its outcomes is being followed.
#[derive(Debug)]
pub(super) struct Fork {
    outcomes: Outcomes,
    place: usize,
    pub(super) choice: Choice,
    mass: Interval,
}

impl Fork {
    /// At the first outcome; `None` if there is none.
    pub(super) fn new(asked: u64, outcomes: Outcomes) -> Option<Self> {
        let (place, outcome, mass) = outcomes.from(0)?;
        Some(Self {
            outcomes,
            place,
            choice: Choice { asked, outcome },
            mass,
        })
    }

    /// At the next outcome; `None` if there is no other.
    pub(super) fn next(self) -> Option<Self> {
        let (place, outcome, mass) = self.outcomes.from(self.place + 1)?;
        let choice = Choice {
            outcome,
            ..self.choice
        };
        Some(Self {
            place,
            choice,
            mass,
            ..self
        })
    }
}

/// The probability of the outcomes that are being followed.
pub(super) fn mass_of(forks: &[Fork]) -> Interval {
    let one = Interval::exact(Rational::ONE);
    forks
        .iter()
        .fold(one, |product, fork| product.times(&fork.mass))
}
