use super::{Accounting, ContinuationRule, Exceeded, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially};
use crate::privacy::convert::log_inverse;
use crate::privacy::convert::search::most;
use crate::privacy::{ApproxDp, Delta, Epsilon, EpsilonDelta, Interval, Square, Unit, units};

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
/// use queryables::account::{ContinuationRule, Rogers};
/// use queryables::privacy::EpsilonDelta;
///
/// let mut rule = Rogers::new(EpsilonDelta::new("1", "1e-6")?)?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// for _ in 0..147 {
///     rule.charge(&loss)?;
/// }
/// assert!(rule.charge(&loss).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rogers {
    limit: EpsilonDelta,
    /// `ε²/c`.
    offset: Interval,
    /// `ln(2/δ)`.
    log: Interval,
    squares: Square,
    /// `Σ ε_i(e^{ε_i} − 1)/2`, each rounded up and then added exactly: any order gives the same.
    drift: Epsilon,
    deltas: Delta,
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
        // δ < 1/e just if ln(1/δ) > 1.
        if log.low() <= 1.0 || limit.epsilon == Epsilon::ZERO {
            return Err(RuleError::Rogers);
        }
        let c = Interval::from(2804) / Interval::from(100) * log;
        Ok(Self {
            limit,
            offset: Interval::from(limit.epsilon).square() / c,
            log: log + Interval::TWO.ln(),
            squares: Square::default(),
            drift: Epsilon::ZERO,
            deltas: Delta::ZERO,
        })
    }

    /// The bound that the theorem compares with the budget's ε, rounded up, were these launched
    /// next; `None` if it cannot be held.
    pub fn bound_after(&self, launches: impl IntoIterator<Item = Epsilon>) -> Option<Epsilon> {
        let (mut drift, mut squares) = (self.drift, self.squares);
        for epsilon in launches {
            drift = drift.checked_add(drift_of(epsilon)?)?;
            squares = squares.checked_add(Square::of(epsilon))?;
        }
        self.bound_at(drift, squares)
    }

    fn bound_at(&self, drift: Epsilon, squares: Square) -> Option<Epsilon> {
        let squares = Interval::squares(squares, 27);
        let half = Interval::ONE / Interval::TWO;
        let spread = Interval::ONE + half * (squares / self.offset).ln_1p();
        let root = Interval::TWO * (squares + self.offset) * spread * self.log;
        (Interval::from(drift) + root.sqrt()).up()
    }

    fn after(&self, epsilon: Epsilon, times: u64) -> Option<(Epsilon, Square)> {
        let drift = drift_of(epsilon)?.checked_mul(times)?;
        let drift = self.drift.checked_add(drift)?;
        let squares = Square::of(epsilon).checked_mul(u128::from(times))?;
        let squares = self.squares.checked_add(squares)?;
        let bound = self.bound_at(drift, squares)?;
        (bound <= self.limit.epsilon).then_some((drift, squares))
    }

    fn half(&self) -> Delta {
        Delta::from_units(self.limit.delta.units() / 2).unwrap_or_default()
    }
}

/// `ε(e^ε − 1)/2`, rounded up.
fn drift_of(epsilon: Epsilon) -> Option<Epsilon> {
    if epsilon == Epsilon::ZERO {
        return Some(Epsilon::ZERO);
    }
    let epsilon = Interval::from(epsilon);
    (epsilon * epsilon.exp_m1() / Interval::TWO).up()
}

impl Accounting for Rogers {
    type Measure = ApproxDp;

    fn measure(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl ContinuationRule for Rogers {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    fn spent(&self) -> EpsilonDelta {
        let epsilon = if self.squares == Square::default() {
            Epsilon::ZERO
        } else {
            self.bound_after([]).unwrap_or(self.limit.epsilon)
        };
        let half = self.limit.delta.saturating_sub(self.half());
        EpsilonDelta {
            epsilon,
            delta: half.saturating_add(self.deltas),
        }
    }

    fn remaining(&self) -> EpsilonDelta {
        let guess = Interval::from(self.limit.epsilon).middle() * 1e26;
        let units = most(guess, <units::Epsilon as Unit>::LARGEST, |units| {
            Epsilon::from_units(units).is_ok_and(|epsilon| self.after(epsilon, 1).is_some())
        });
        EpsilonDelta {
            epsilon: Epsilon::from_units(units.unwrap_or(0)).unwrap_or_default(),
            delta: self.half().saturating_sub(self.deltas),
        }
    }

    fn charge(&mut self, loss: &EpsilonDelta) -> Result<(), Exceeded> {
        self.charge_times(loss, 1)
    }
}

impl Repeats for Rogers {
    fn charge_times(&mut self, loss: &EpsilonDelta, times: u64) -> Result<(), Exceeded> {
        let deltas = loss
            .delta
            .checked_mul(times)
            .and_then(|deltas| self.deltas.checked_add(deltas))
            .filter(|deltas| *deltas <= self.half())
            .ok_or(Exceeded)?;
        let (drift, squares) = self.after(loss.epsilon, times).ok_or(Exceeded)?;
        (self.drift, self.squares, self.deltas) = (drift, squares, deltas);
        Ok(())
    }
}

impl ValidSequentially for Rogers {}
impl ValidConcurrently for Rogers {}
