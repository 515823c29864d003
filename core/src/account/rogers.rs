#[cfg(feature = "serde")]
mod written;

use super::deltas::Deltas;
use super::{ContinuationRule, Exceeded, LaunchesLeft, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially};
use crate::number::{Delta, Epsilon, Interval, U256, Unit, units};
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::log_inverse;
use crate::privacy::convert::search::most;

/// The first advanced (ε, δ) filter: go on while `Σδ ≤ δ/2` and
/// `Σ ε_i(e^{ε_i} − 1)/2 + √(2 (Σε² + ε²/c) (1 + ½ ln(cΣε²/ε² + 1)) ln(2/δ)) ≤ ε`, with
/// `c = 28.04 ln(1/δ)`.
///
/// Every later filter here admits more; it is kept for comparison.
///
/// # Guarantee
///
/// Rogers et al. Thm 5.1, for ε > 0 and 0 < δ < 1/e; for interleaved children Haney et al. 1.20,
/// with finite communication.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded, Rogers};
/// use queryables::privacy::EpsilonDelta;
///
/// let mut rule = Rogers::new(EpsilonDelta::new("1", "1e-6")?)?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// for _ in 0..147 {
///     rule = rule.charge(&loss)?;
/// }
/// assert_eq!(rule.charge(&loss), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub struct Rogers {
    limit: EpsilonDelta,
    /// `ε²/c`.
    offset: Interval,
    /// `ln(2/δ)`.
    log: Interval,
    squares: U256,
    /// `Σ ε_i(e^{ε_i} − 1)/2`, each rounded up and then added exactly: any order gives the same.
    drift: Epsilon,
    /// The slack is half of δ, rounded up: the δ of children have the other half.
    deltas: Deltas,
}

impl Rogers {
    /// Nothing counted yet.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] if δ is zero, [`RuleError::Rogers`] if it is not below 1/e or ε is
    /// zero.
    pub fn new(limit: EpsilonDelta) -> Result<Self, RuleError> {
        let log = log_inverse(limit.delta).map_err(|_| RuleError::NoSlack)?;
        // δ < 1/e if and only if ln(1/δ) > 1.
        if log.low() <= 1.0 || limit.epsilon == Epsilon::ZERO {
            return Err(RuleError::Rogers);
        }
        let c = Interval::from(2804) / Interval::from(100) * log;
        let half = Delta::from_units(limit.delta.units() / 2).unwrap_or_default();
        Ok(Self {
            limit,
            offset: Interval::from(limit.epsilon).square() / c,
            log: log + Interval::TWO.ln(),
            squares: U256::default(),
            drift: Epsilon::ZERO,
            deltas: Deltas::new(limit.delta.saturating_sub(half)),
        })
    }

    /// The bound that the theorem compares with the budget's ε, rounded up, were these launched
    /// next; `None` if it cannot be held.
    pub fn bound_after(&self, launches: impl IntoIterator<Item = Epsilon>) -> Option<Epsilon> {
        let (mut drift, mut squares) = (self.drift, self.squares);
        for epsilon in launches {
            drift = drift.checked_add(drift_of(epsilon)?)?;
            squares = squares.checked_add(U256::of(epsilon))?;
        }
        self.bound_at(drift, squares)
    }

    fn bound_at(&self, drift: Epsilon, squares: U256) -> Option<Epsilon> {
        let squares = Interval::squares(squares, 27);
        let half = Interval::ONE / Interval::TWO;
        let spread = Interval::ONE + half * (squares / self.offset).ln_1p();
        let root = Interval::TWO * (squares + self.offset) * spread * self.log;
        (Interval::from(drift) + root.sqrt()).up()
    }

    /// The sums after `times` more launches, and the bound.
    fn after(&self, epsilon: Epsilon, times: u64) -> Option<(Epsilon, U256, Epsilon)> {
        let drift = drift_of(epsilon)?.checked_mul(times)?;
        let drift = self.drift.checked_add(drift)?;
        let squares = U256::of(epsilon).checked_mul(u128::from(times))?;
        let squares = self.squares.checked_add(squares)?;
        let bound = self.bound_at(drift, squares)?;
        Some((drift, squares, bound))
    }
}

/// `ε(e^ε − 1)/2`, rounded up.
pub fn drift_of(epsilon: Epsilon) -> Option<Epsilon> {
    if epsilon == Epsilon::ZERO {
        return Some(Epsilon::ZERO);
    }
    let epsilon = Interval::from(epsilon);
    (epsilon * epsilon.exp_m1() / Interval::TWO).up()
}

approx_dp_in_and_out!(Rogers);

impl ContinuationRule for Rogers {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    fn spent(&self) -> EpsilonDelta {
        let epsilon = if self.squares == U256::default() {
            Epsilon::ZERO
        } else {
            self.bound_after([]).unwrap_or(self.limit.epsilon)
        };
        EpsilonDelta {
            epsilon,
            delta: self.deltas.total(),
        }
    }

    fn set_aside(&self) -> EpsilonDelta {
        self.deltas.set_aside()
    }

    /// The exact bound rises with ε; the computed one does so up to rounding, a relative error
    /// below 1e-13. So that every smaller loss is admitted too, this leaves a relative margin of
    /// 2^-39 (2e-12).
    fn remaining(&self) -> EpsilonDelta {
        let fits = |epsilon| {
            self.after(epsilon, 1).is_some_and(|(_, _, bound)| {
                let bound = bound.units();
                bound + bound.div_ceil(1 << 39) <= self.limit.epsilon.units()
            })
        };
        let guess = Interval::from(self.limit.epsilon).middle() * 1e26;
        let units = most(guess, <units::Epsilon as Unit>::LARGEST, |units| {
            Epsilon::from_units(units).is_ok_and(fits)
        });
        EpsilonDelta {
            epsilon: Epsilon::from_units(units.unwrap_or(0)).unwrap_or_default(),
            delta: self.deltas.left_of(self.limit.delta),
        }
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &EpsilonDelta) -> LaunchesLeft {
        LaunchesLeft::by_repeating(self, loss)
    }
}

impl Repeats for Rogers {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let deltas = self
            .deltas
            .charge_times(loss.delta, times, self.limit.delta)
            .ok_or(Exceeded)?;
        let (drift, squares, _) = self
            .after(loss.epsilon, times)
            .filter(|(_, _, bound)| *bound <= self.limit.epsilon)
            .ok_or(Exceeded)?;
        Ok(Self {
            drift,
            squares,
            deltas,
            ..*self
        })
    }
}

impl ValidSequentially for Rogers {}
impl ValidConcurrently for Rogers {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle::{deltas, epsilons, exp, is_just_above, ln, quantity, real, sqrt};
    use proptest::prelude::*;

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn the_conditions_of_the_theorem_are_checked() {
        assert_eq!(Rogers::new(pair("1", "0")), Err(RuleError::NoSlack));
        assert_eq!(Rogers::new(pair("0", "1e-6")), Err(RuleError::Rogers));
        // 1/e = 0.36787944…
        assert_eq!(Rogers::new(pair("1", "0.36787945")), Err(RuleError::Rogers));
        assert!(Rogers::new(pair("1", "0.36787944")).is_ok());
    }

    #[test]
    fn children_have_half_of_delta() {
        let mut rule = Rogers::new(pair("1", "1e-6")).unwrap();
        assert_eq!(rule.remaining().delta, "5e-7".parse().unwrap());
        assert_eq!(rule.charge(&pair("0.01", "6e-7")), Err(Exceeded));
        rule = rule.charge(&pair("0.01", "5e-7")).unwrap();
        assert_eq!(rule.spent().delta, "1e-6".parse().unwrap());
        assert_eq!(rule.charge(&pair("0.01", "1e-38")), Err(Exceeded));
    }

    #[test]
    fn half_of_an_odd_delta_is_rounded_against_the_children() {
        let mut rule = Rogers::new(pair("1", "3e-38")).unwrap();
        assert_eq!(rule.charge(&pair("0", "2e-38")), Err(Exceeded));
        rule = rule.charge(&pair("0", "1e-38")).unwrap();
        assert_eq!(rule.spent().delta, "3e-38".parse().unwrap());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_bound_is_rounded_up(
            losses in proptest::collection::vec(epsilons(), 0..6), epsilon in epsilons(), delta in deltas(),
        ) {
            let Ok(rule) = Rogers::new(EpsilonDelta { epsilon, delta }) else {
                return Ok(());
            };
            let (mut drift, mut squares) = (real(0.0), real(0.0));
            for loss in &losses {
                let loss = quantity(*loss);
                drift += &loss * (exp(&loss) - real(1.0)) / real(2.0);
                squares += &loss * &loss;
            }
            let (log, goal) = (real(-1.0) * ln(&quantity(delta)), quantity(epsilon));
            let c = real(28.04) * &log;
            let spread = real(1.0) + ln(&(&c * &squares / (&goal * &goal) + real(1.0))) / real(2.0);
            let inner = real(2.0) * (squares + &goal * &goal / c) * spread * (log + ln(&real(2.0)));
            let truth = drift + sqrt(&inner);
            match rule.bound_after(losses) {
                // 28.04 as a float is off by 1e-17 of itself.
                Some(bound) => is_just_above(bound, &(truth * real(1.0 - 1e-15))),
                None => prop_assert!(truth > real(3e11)),
            }
        }
    }
}
