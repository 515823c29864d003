//! The result of an audit.

use std::fmt;

use super::AuditError;
use super::binomial::{at_least, at_most};
use crate::machine::Direction;
use crate::number::{Delta, Epsilon, Interval};

/// An event that is more likely on one dataset than on the other, and what follows for privacy.
///
/// # Guarantee
///
/// With probability at least 1 − [`failure`](Self::failure), over the coins of the audit: on its
/// dataset the event has a probability of at least [`likely`](Self::likely), and on the other one
/// of at most [`unlikely`](Self::unlikely). Everything else here follows from these two, so
/// [`epsilon_at`](Self::epsilon_at), [`delta_at`](Self::delta_at) and [`check`](Self::check) may be
/// called any number of times: they are all right, or all wrong, together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// Not (ε′, δ)-private for any ε′ below this; zero if nothing was found. Rounded down.
    pub epsilon: Epsilon,
    /// At this δ.
    pub delta: Delta,
    /// The event, in words.
    pub event: String,
    /// On which dataset it is likely: forward is the first.
    pub direction: Direction,
    /// In how many runs it was seen, on the first dataset and on the second.
    pub counts: (u32, u32),
    /// Of how many runs on each of the two. Those from which the event was learned do not count.
    pub trials: u32,
    /// The probability of the event is at least this where it is likely.
    pub likely: f64,
    /// The probability of the event is at most this on the other dataset.
    pub unlikely: f64,
    /// The probability that this is wrong is at most this.
    pub failure: Delta,
}

impl Finding {
    /// The ε that is shown at some δ, by the same event. Rounded down.
    ///
    /// It is `ln((likely − δ) / unlikely)`, because (ε, δ)-privacy asks for
    /// `likely ≤ e^ε unlikely + δ`.
    #[must_use]
    pub fn epsilon_at(&self, delta: Delta) -> Epsilon {
        epsilon(self.likely, self.unlikely, delta)
    }

    /// The δ that is shown at some ε, by the same event: `likely − e^ε unlikely`, rounded down.
    #[must_use]
    pub fn delta_at(&self, epsilon: Epsilon) -> Delta {
        let allowed = Interval::from(epsilon).exp() * Interval::exactly(self.unlikely);
        let excess = Interval::exactly(self.likely) - allowed;
        excess.down().unwrap_or_default()
    }

    /// The most that could have been found with this number of trials: [`largest_epsilon`].
    #[must_use]
    pub fn largest_epsilon(&self) -> Epsilon {
        largest_epsilon(self.trials, self.failure, self.delta).unwrap_or_default()
    }
}

impl Finding {
    /// What was seen.
    pub(super) fn evidence(&self) -> String {
        let (one, other) = self.counts;
        format!(
            "seen in {one} of {trials} runs on the first dataset and in {other} of {trials} on the \
             second: {event}\nwrong with probability at most {failure}",
            trials = self.trials,
            event = self.event,
            failure = self.failure,
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (delta, direction) = (self.delta, self.direction);
        if self.epsilon == Epsilon::ZERO {
            write!(f, "nothing was found at δ = {delta}; the best event was")?;
        } else {
            let epsilon = short_down(self.epsilon);
            write!(f, "ε ≥ {epsilon} at δ = {delta} ({direction})")?;
        }
        write!(f, "\n{}", self.evidence())
    }
}

/// Four decimals are enough to read.
const READABLE: u128 = 10_u128.pow(23);

/// ε to four decimals, rounded down.
pub(super) fn short_down(epsilon: Epsilon) -> Epsilon {
    Epsilon::from_units(epsilon.units() / READABLE * READABLE).unwrap_or(epsilon)
}

/// ε to four decimals, rounded up.
pub(super) fn short_up(epsilon: Epsilon) -> Epsilon {
    let units = epsilon.units().div_ceil(READABLE).checked_mul(READABLE);
    let short = units.and_then(|units| Epsilon::from_units(units).ok());
    short.unwrap_or(epsilon)
}

/// The largest ε that an audit can show: that of an event which is seen in every run on one dataset
/// and in none on the other. Rounded down.
///
/// With n trials, probability of failure β and t = (β/4)^(1/n), it is ln((t − δ) / (1 − t)), which
/// is about ln(n / ln(4/β)): a mechanism that reveals everything shows no more than this.
/// Conversely, to show ε takes about e^ε ln(4/β) trials.
///
/// ```
/// use queryables::audit::largest_epsilon;
/// use queryables::number::Delta;
///
/// let failure = "1e-9".parse()?;
/// assert!(largest_epsilon(10_000, failure, Delta::ZERO)? < "6.2".parse()?);
/// assert!(largest_epsilon(1_000_000, failure, Delta::ZERO)? > "10.7".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`AuditError`] for parameters with which nothing can be audited.
pub fn largest_epsilon(trials: u32, failure: Delta, delta: Delta) -> Result<Epsilon, AuditError> {
    let level = Level::new(trials, failure, delta)?;
    let likely = at_least(trials, trials, level.each);
    Ok(epsilon(likely, at_most(0, trials, level.each), delta))
}

/// The confidence that an audit must have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    trials: u32,
    failure: Delta,
    delta: Delta,
    /// For each of the four bounds that an audit computes.
    each: Interval,
}

impl Level {
    pub(super) fn new(trials: u32, failure: Delta, delta: Delta) -> Result<Self, AuditError> {
        if trials == 0 {
            return Err(AuditError::NoTrials);
        }
        if failure == Delta::ZERO || failure == Delta::ONE {
            return Err(AuditError::BadFailure);
        }
        if delta == Delta::ONE {
            return Err(AuditError::BadDelta);
        }
        Ok(Self {
            trials,
            failure,
            delta,
            each: Interval::from(failure) / Interval::exactly(4.0),
        })
    }

    /// What an event with these counts shows, on the first dataset and on the second, if it is
    /// taken to be likely on the one that comes first in this direction.
    ///
    /// Two bounds are computed. A caller that asks for several events must make sure that there are
    /// at most four bounds in total, or that the others are the same bounds restated.
    pub(super) fn finding(
        &self,
        event: String,
        direction: Direction,
        counts: (u32, u32),
    ) -> Finding {
        let (here, there) = match direction {
            Direction::Forward => counts,
            Direction::Backward => (counts.1, counts.0),
        };
        let likely = at_least(here, self.trials, self.each);
        let unlikely = at_most(there, self.trials, self.each);
        Finding {
            epsilon: epsilon(likely, unlikely, self.delta),
            delta: self.delta,
            event,
            direction,
            counts,
            trials: self.trials,
            likely,
            unlikely,
            failure: self.failure,
        }
    }

    /// About how much an event with these probabilities will show, as a number to compare. It only
    /// serves to choose events; no claim depends on it.
    pub(super) fn promise(&self, likely: f64, unlikely: f64) -> f64 {
        let log = -libm::log(self.each.middle());
        let spread = |probability: f64| (2.0 * log * probability / f64::from(self.trials)).sqrt();
        let low = likely - spread(likely * (1.0 - likely));
        let high = unlikely + spread(unlikely) + log / f64::from(self.trials);
        (low - Interval::from(self.delta).middle()) / high
    }
}

/// `ln((likely − δ) / unlikely)`, rounded down; zero if that is negative.
fn epsilon(likely: f64, unlikely: f64, delta: Delta) -> Epsilon {
    let excess = Interval::exactly(likely) - Interval::from(delta);
    if excess.low() <= 0.0 || unlikely <= 0.0 {
        return Epsilon::ZERO;
    }
    let ratio = excess / Interval::exactly(unlikely);
    ratio.ln().down().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle;

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    #[test]
    fn epsilon_is_rounded_down() {
        for (likely, unlikely, text) in
            [(0.75, 0.25, "0"), (0.3, 1e-7, "0.1"), (0.9, 0.899, "1e-30")]
        {
            let found = epsilon(likely, unlikely, delta(text));
            let [likely, unlikely] = [likely, unlikely].map(oracle::real);
            let truth = oracle::ln(&((likely - oracle::quantity(delta(text))) / unlikely));
            assert!(oracle::quantity(found) <= truth, "{found}");
            assert!(
                oracle::quantity(found) + oracle::real(1e-12) > truth,
                "{found}"
            );
        }
        assert_eq!(epsilon(0.5, 0.5, Delta::ZERO), Epsilon::ZERO);
        assert_eq!(epsilon(0.5, 0.6, Delta::ZERO), Epsilon::ZERO);
        assert_eq!(epsilon(0.5, 1e-9, delta("0.5")), Epsilon::ZERO);
        assert_eq!(epsilon(0.0, 0.5, Delta::ZERO), Epsilon::ZERO);
    }

    #[test]
    fn the_largest_epsilon_is_the_formula() {
        for (trials, failure, at) in [
            (10, "0.1", "0"),
            (1000, "1e-9", "0.25"),
            (100_000, "1e-12", "0"),
        ] {
            let found = largest_epsilon(trials, delta(failure), delta(at)).unwrap();
            // t = (β/4)^(1/n).
            let log = oracle::ln(&(oracle::quantity(delta(failure)) / oracle::whole(4)));
            let t = oracle::exp(&(log / oracle::whole(trials.into())));
            let ratio = (&t - oracle::quantity(delta(at))) / (oracle::whole(1) - &t);
            let truth = oracle::ln(&ratio);
            assert!(oracle::quantity(found) <= truth, "{found}");
            assert!(
                oracle::quantity(found) + oracle::real(1e-9) > truth,
                "{found}"
            );
        }
    }

    #[test]
    fn four_decimals_are_shown_on_the_safe_side() {
        let epsilon: Epsilon = "1.23456789".parse().unwrap();
        assert_eq!(short_down(epsilon).to_string(), "1.2345");
        assert_eq!(short_up(epsilon).to_string(), "1.2346");
        assert_eq!(short_up("2".parse().unwrap()).to_string(), "2");
        assert_eq!(short_up(Epsilon::LARGEST), Epsilon::LARGEST);
    }
}
