use crate::account::RuleError;
use crate::number::{Delta, Interval};
use crate::privacy::convert::log_inverse;

/// How the probability δ = δ' + δ'' of a wrong reading is divided: δ' for the probability that the
/// loss exceeds the bound, δ'' for the δ of the launched mechanisms.
///
/// Once the launches' own δ add up to more than δ'', there is no bound any more.
///
/// ```
/// use queryables::account::RuleError;
/// use queryables::account::time_uniform::Slack;
///
/// let slack = Slack::new("1e-6".parse()?, "1e-7".parse()?)?;
/// assert_eq!(slack.total(), "1.1e-6".parse()?);
/// assert_eq!(Slack::pure("0".parse()?), Err(RuleError::NoSlack));
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
    /// [`RuleError::NoSlack`] if δ' is zero, [`RuleError::OutOfRange`] if δ' + δ'' is not
    /// less than 1.
    pub fn new(stray: Delta, launches: Delta) -> Result<Self, RuleError> {
        if stray == Delta::ZERO {
            Err(RuleError::NoSlack)
        } else if stray.saturating_add(launches) == Delta::ONE {
            Err(ALL_SLACK)
        } else {
            Ok(Self { stray, launches })
        }
    }

    /// δ' alone: every launch must have δ = 0.
    ///
    /// # Errors
    ///
    /// As for [`Slack::new`].
    pub fn pure(stray: Delta) -> Result<Self, RuleError> {
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

const ALL_SLACK: RuleError = RuleError::OutOfRange {
    what: "δ' + δ''",
    advice: "a reading that may be wrong with probability 1 says nothing, so keep it below 1",
};

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
            Err(RuleError::NoSlack)
        );
        assert_eq!(Slack::new(delta("0.9"), delta("0.1")), Err(ALL_SLACK));
        assert_eq!(Slack::pure(delta("1")), Err(ALL_SLACK));
        let slack = Slack::new(delta("0.9"), delta("0.09")).unwrap();
        assert_eq!(
            (slack.stray(), slack.launches(), slack.total()),
            (delta("0.9"), delta("0.09"), delta("0.99"))
        );
    }
}
