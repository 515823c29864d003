use queryables::account::time_uniform::TimeUniformOdometer;
use queryables::number::Delta;
use queryables::privacy::{EpsilonDelta, ProbabilisticDp};

use crate::number::float;

/// A rule that claims a bound on the realised loss, computed from the parameters so far: the COMP
/// of Rogers et al. 3.1, valid or not.
pub trait Claim {
    /// Counts a round.
    fn count(&mut self, loss: &EpsilonDelta);

    /// The loss that it claims is not exceeded; infinite if it claims nothing.
    fn claimed(&self) -> f64;
}

impl<O: TimeUniformOdometer<Launches = ProbabilisticDp>> Claim for O {
    fn count(&mut self, loss: &EpsilonDelta) {
        // An overflow does not change the claim; games stay far below it.
        if let Ok(next) = self.add(loss) {
            *self = next;
        }
    }

    fn claimed(&self) -> f64 {
        self.reading().bound().map_or(f64::INFINITY, float)
    }
}

/// Advanced composition read at the parameters so far, **which is not a valid odometer**:
///
/// ```text
/// √( 2 ln(1/δ)·Σε² ) + Σ ε·(e^ε − 1)/(e^ε + 1)
/// ```
///
/// For parameters fixed in advance the loss exceeds this with probability at most δ (Whitehouse et
/// al. eq. 2 with all δ equal to 0). An adversary that chooses when to stop exceeds it more often
/// (Rogers et al. 6.1): the loss is a random walk, and a random walk that is watched on every scale
/// exceeds any fixed multiple of its standard deviation sooner or later.
///
/// ```
/// use papers::rogers::{Claim, NaiveAdvanced};
/// use queryables::privacy::EpsilonDelta;
///
/// let mut naive = NaiveAdvanced::new("0.05".parse()?);
/// naive.count(&EpsilonDelta::new("0.1", "0")?);
/// assert!((naive.claimed() - 0.2498).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NaiveAdvanced {
    twice_log: f64,
    squares: f64,
    drift: f64,
}

impl NaiveAdvanced {
    /// The rule for this δ.
    #[must_use]
    pub fn new(delta: Delta) -> Self {
        Self {
            twice_log: -2.0 * float(delta).ln(),
            squares: 0.0,
            drift: 0.0,
        }
    }
}

impl Claim for NaiveAdvanced {
    fn count(&mut self, loss: &EpsilonDelta) {
        let epsilon = float(loss.epsilon);
        self.squares += epsilon * epsilon;
        self.drift += epsilon * (epsilon / 2.0).tanh();
    }

    fn claimed(&self) -> f64 {
        (self.twice_log * self.squares).sqrt() + self.drift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whitehouse::advanced;

    #[test]
    fn the_naive_rule_is_advanced_composition() {
        let (epsilon, delta) = ("0.3", "1e-6".parse().unwrap());
        let mut naive = NaiveAdvanced::new(delta);
        for launches in 1..50 {
            naive.count(&EpsilonDelta::new(epsilon, "0").unwrap());
            let theorem = advanced(launches, epsilon.parse().unwrap(), delta).unwrap();
            let theorem = float(theorem);
            assert!((naive.claimed() - theorem).abs() < 1e-11 * theorem);
        }
    }
}
