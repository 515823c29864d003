//! Laplace noise for a given loss.

use std::num::NonZeroU64;

use super::{MechanismError, over};
use crate::machine::Description;
use crate::noise::DiscreteLaplace;
use crate::number::{Epsilon, Ratio};
use crate::privacy::facts::Laplace;

/// Noise for one answer, or for several that change together, and the loss that it was made for.
///
/// # Guarantee
///
/// With noise of scale Δ/ε on each, numbers that change by at most Δ together change the odds of any
/// answer by a factor of at most e^ε.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaplaceNoise {
    pub(super) fact: Laplace,
    pub(super) noise: DiscreteLaplace,
}

impl LaplaceNoise {
    /// For answers that change by at most `steps`: a scale of `steps / ε`.
    pub(super) fn new(steps: NonZeroU64, epsilon: Epsilon) -> Result<Self, MechanismError> {
        Ok(Self {
            fact: Laplace {
                steps,
                ..Laplace::of_count(epsilon)
            },
            noise: DiscreteLaplace::new(over(Ratio::from(steps.get()), epsilon)?)?,
        })
    }

    /// Adds the loss.
    pub(super) fn describe(&self, description: Description) -> Description {
        description.with("epsilon", self.fact.epsilon)
    }
}
