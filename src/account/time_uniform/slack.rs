use thiserror::Error;

use crate::number::{Delta, Interval};
use crate::privacy::convert::log_inverse;

/// How the probability δ = δ' + δ'' of a wrong reading is divided: δ' for the probability that the
/// loss exceeds the bound, δ'' for the δ of the launched mechanisms.
///
/// Once the launches' own δ add up to more than δ'', there is no bound any more.
///
/// ```
/// use queryables::account::time_uniform::{ParameterError, Slack};
///
/// let slack = Slack::new("1e-6".parse()?, "1e-7".parse()?)?;
/// assert_eq!(slack.total(), "1.1e-6".parse()?);
/// assert_eq!(Slack::pure("0".parse()?), Err(ParameterError::NoSlack));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Slack {
    stray: Delta,
    launches: Delta,
}

impl Slack {
    /// δ' for the loss itself and δ'' for the launches.
    ///
    /// # Errors
    ///
    /// [`ParameterError::NoSlack`] if δ' is zero, [`ParameterError::AllSlack`] if δ' + δ'' is not
    /// less than 1.
    pub fn new(stray: Delta, launches: Delta) -> Result<Self, ParameterError> {
        if stray == Delta::ZERO {
            Err(ParameterError::NoSlack)
        } else if stray.saturating_add(launches) == Delta::ONE {
            Err(ParameterError::AllSlack)
        } else {
            Ok(Self { stray, launches })
        }
    }

    /// δ' alone: every launch must have δ = 0.
    ///
    /// # Errors
    ///
    /// As for [`Slack::new`].
    pub fn pure(stray: Delta) -> Result<Self, ParameterError> {
        Self::new(stray, Delta::ZERO)
    }

    /// δ'.
    #[must_use]
    pub fn stray(&self) -> Delta {
        self.stray
    }

    /// δ''.
    #[must_use]
    pub fn launches(&self) -> Delta {
        self.launches
    }

    /// δ' + δ''.
    #[must_use]
    pub fn total(&self) -> Delta {
        self.stray.saturating_add(self.launches)
    }

    /// `ln(1/δ')`, which is not negative.
    pub(super) fn log(&self) -> Interval {
        // δ' is not zero; if it were, nothing would be bounded.
        log_inverse(self.stray).unwrap_or(Interval::exactly(f64::INFINITY))
    }
}

/// Why a time-uniform odometer cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No bound holds with certainty.
    #[error("the slack delta' must be greater than 0")]
    NoSlack,
    /// A reading that may be wrong with probability 1 says nothing.
    #[error("the slacks delta' and delta'' must add up to less than 1")]
    AllSlack,
    /// The filter odometer is tangent at a target, which must be positive.
    #[error("the target epsilon must be greater than 0")]
    NoTarget,
    /// Rogers et al. 6.2 is proved for δ below 1/e.
    #[error("delta must be less than 1/e")]
    SlackAboveOneOverE,
    /// Rogers et al. 6.2 divides by the logarithm of the number of rows.
    #[error("at least two rows are needed")]
    TooFewRows,
}

/// Read as [`Slack::new`] builds it.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Slack {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Read {
            stray: Delta,
            launches: Delta,
        }
        let Read { stray, launches } = Read::deserialize(deserializer)?;
        Self::new(stray, launches).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_lies_strictly_between_nothing_and_certainty() {
        let delta = |text: &str| text.parse::<Delta>().unwrap();
        assert_eq!(
            Slack::new(delta("0"), delta("0.1")),
            Err(ParameterError::NoSlack)
        );
        assert_eq!(
            Slack::new(delta("0.9"), delta("0.1")),
            Err(ParameterError::AllSlack)
        );
        assert_eq!(Slack::pure(delta("1")), Err(ParameterError::AllSlack));
        let slack = Slack::new(delta("0.9"), delta("0.09")).unwrap();
        assert_eq!(
            (slack.stray(), slack.launches(), slack.total()),
            (delta("0.9"), delta("0.09"), delta("0.99"))
        );
    }
}
