use super::budget::{Budget, Cost};
#[cfg(feature = "serde")]
use super::durable::{Durable, ImpossibleCounts, Invalid};
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
    /// `ε²/c`.
    offset: Interval,
    /// `ln(2/δ)`.
    log: Interval,
    /// The slack is half of δ, rounded up: the δ of children have the other half.
    budget: Budget<Losses>,
}

/// What the theorem counts of the ε of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Losses {
    /// `Σε²`.
    squares: U256,
    /// `Σ ε_i(e^{ε_i} − 1)/2`, each rounded up and then added exactly: any order gives the same.
    drift: Epsilon,
}

impl Losses {
    /// Of one launch; `None` if it cannot be held.
    fn of(epsilon: Epsilon) -> Option<Self> {
        Some(Self {
            squares: U256::of(epsilon),
            drift: drift_of(epsilon)?,
        })
    }
}

impl Cost for Losses {
    fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            squares: self.squares.checked_add(other.squares)?,
            drift: self.drift.checked_add(other.drift)?,
        })
    }

    fn times(self, times: u64) -> Option<Self> {
        Some(Self {
            squares: self.squares.checked_mul(u128::from(times))?,
            drift: self.drift.checked_mul(times)?,
        })
    }
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
            offset: Interval::from(limit.epsilon).square() / c,
            log: log + Interval::TWO.ln(),
            budget: Budget::new(limit, limit.delta.saturating_sub(half)),
        })
    }

    /// The bound that the theorem compares with the budget's ε, rounded up, were these launched
    /// next; `None` if it cannot be held.
    pub fn bound_after(&self, launches: impl IntoIterator<Item = Epsilon>) -> Option<Epsilon> {
        let mut total = self.budget.total;
        for epsilon in launches {
            total = total.plus(Losses::of(epsilon)?)?;
        }
        self.bound(total)
    }

    fn bound(&self, Losses { squares, drift }: Losses) -> Option<Epsilon> {
        let squares = Interval::squares(squares, 27);
        let half = Interval::ONE / Interval::TWO;
        let spread = Interval::ONE + half * (squares / self.offset).ln_1p();
        let root = Interval::TWO * (squares + self.offset) * spread * self.log;
        (Interval::from(drift) + root.sqrt()).up()
    }

    /// Whether the bound is at most the limit's ε.
    fn is_within(&self, total: &Losses) -> bool {
        let bound = self.bound(*total);
        bound.is_some_and(|bound| bound <= self.budget.limit.epsilon)
    }
}

/// `ε(e^ε − 1)/2`, rounded up.
#[must_use]
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
        &self.budget.limit
    }

    fn spent(&self) -> EpsilonDelta {
        self.budget.spent(|total| self.bound(total))
    }

    fn set_aside(&self) -> EpsilonDelta {
        self.budget.deltas.set_aside()
    }

    /// The exact bound rises with ε; the computed one does so up to rounding, a relative error
    /// below 1e-13. So that every smaller loss is admitted too, this leaves a relative margin of
    /// 2^-39 (2e-12).
    fn remaining(&self) -> EpsilonDelta {
        let limit = self.budget.limit.epsilon;
        let fits = |epsilon| {
            self.bound_after([epsilon]).is_some_and(|bound| {
                let bound = bound.units();
                bound + bound.div_ceil(1 << 39) <= limit.units()
            })
        };
        let guess = Interval::from(limit).middle() * 1e26;
        let units = most(guess, <units::Epsilon as Unit>::LARGEST, |units| {
            Epsilon::from_units(units).is_ok_and(fits)
        });
        EpsilonDelta {
            epsilon: Epsilon::from_units(units.unwrap_or(0)).unwrap_or_default(),
            delta: self.budget.delta_left(),
        }
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &EpsilonDelta) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl Repeats for Rogers {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let cost = Losses::of(loss.epsilon).ok_or(Exceeded)?;
        let is_within = |total: &Losses| self.is_within(total);
        let budget = self
            .budget
            .charge_times(cost, loss.delta, times, is_within)?;
        Ok(Self { budget, ..*self })
    }
}

impl ValidSequentially for Rogers {}
impl ValidConcurrently for Rogers {}

/// What launches change, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    squares: U256,
    drift: Epsilon,
    deltas: Delta,
}

#[cfg(feature = "serde")]
impl Durable for Rogers {
    const NAME: &'static str = "Rogers";

    type Parameters = EpsilonDelta;
    type Counts = Counts;

    fn parameters(&self) -> EpsilonDelta {
        self.budget.limit
    }

    fn build(limit: EpsilonDelta) -> Result<Self, Invalid> {
        Ok(Self::new(limit)?)
    }

    fn counts(&self) -> Counts {
        Counts {
            squares: self.budget.total.squares,
            drift: self.budget.total.drift,
            deltas: self.budget.deltas.children(),
        }
    }

    fn resume(&self, counts: Counts) -> Result<Self, Invalid> {
        let Counts {
            squares,
            drift,
            deltas,
        } = counts;
        // Each launch adds ε(e^ε − 1)/2, rounded up, which is at least ε²/2.
        let half = squares.half_in_units(units::Epsilon::DECIMALS);
        if half.is_none_or(|half| half > drift.units()) {
            return Err(ImpossibleCounts.into());
        }
        let budget = self
            .budget
            .resumed(Losses { squares, drift }, deltas, |total| {
                *total == Losses::default() || self.is_within(total)
            })?;
        Ok(Self { budget, ..*self })
    }
}

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
