use std::fmt;

use crate::number::{Delta, Epsilon};

/// What a time-uniform odometer shows: a bound on the realised loss so far.
///
/// It is not the loss of a mechanism and cannot be converted to one: it is known only after the
/// answers are, and may depend on them. It is a statement about these answers. The probability that
/// any reading is wrong is at most [`delta`](Self::delta), for all readings together.
///
/// ```
/// use queryables::account::time_uniform::{Slack, TimeUniformOdometer, VarianceOdometer};
///
/// let odometer = VarianceOdometer::mixture("0.01".parse()?, Slack::pure("1e-6".parse()?)?);
/// assert_eq!(odometer.reading().delta(), "1e-6".parse()?);
/// let most = "0.53".parse()?;
/// assert!(odometer.reading().bound().is_some_and(|bound| bound < most));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Reading {
    bound: Option<Epsilon>,
    delta: Delta,
}

impl Reading {
    pub(super) fn new(bound: Option<Epsilon>, delta: Delta) -> Self {
        Self { bound, delta }
    }

    /// An upper bound on the realised loss; `None` if nothing is known about it.
    #[must_use]
    pub fn bound(&self) -> Option<Epsilon> {
        self.bound
    }

    /// The probability that any reading, at any time, is too low.
    #[must_use]
    pub fn delta(&self) -> Delta {
        self.delta
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bound {
            Some(bound) => write!(f, "realised loss at most {bound}")?,
            None => f.write_str("realised loss unbounded")?,
        }
        write!(f, ", with probability at least 1 − {}", self.delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_say_what_they_are() {
        let delta = "1e-6".parse().unwrap();
        let some = Reading::new(Some("0.5".parse().unwrap()), delta);
        assert_eq!(
            some.to_string(),
            "realised loss at most 0.5, with probability at least 1 − 1e-6"
        );
        assert_eq!(
            Reading::new(None, delta).to_string(),
            "realised loss unbounded, with probability at least 1 − 1e-6"
        );
    }
}
