use super::spent::{Spent, interval, whole};
use super::{ParameterError, Reading, TimeUniformOdometer};
use crate::account::rogers::drift_of;
use crate::number::{Delta, Epsilon, Interval, U256};
use crate::privacy::{EpsilonDelta, Overflow};

/// The first advanced odometer, kept for comparison: the others read less.
///
/// ```text
/// Σ ε(e^ε − 1)/2 + √( 2·V·(1 + ln √3)·ln(4 log₂(n)/δ) )                     for 1/n² ≤ V ≤ 1
/// Σ ε(e^ε − 1)/2 + √( 2·(1/n² + V)·(1 + ½ ln(1 + n²V))·ln(4 log₂(n)/δ) )    elsewhere
/// ```
///
/// with n any public number of at least 2 that is fixed in advance; nothing is known once Σδ exceeds δ/2. The two branches do not meet:
/// the reading falls where V enters the interval, and rises by a jump where it leaves. That is no
/// slip, for what is realised may fall too.
///
/// # Guarantee
///
/// That of [`TimeUniformOdometer`], by Rogers et al. 6.2. An adversary may stop at the first
/// reading that is too low, so that a bound that holds at the end for every adversary holds at
/// all times. The restatement in Whitehouse et al. Lemma 3 has `ln ln(4 log₂(n)/δ)`, which would
/// be unsound.
///
/// # Example
///
/// ```
/// use queryables::account::time_uniform::{RogersOdometer, TimeUniformOdometer};
/// use queryables::privacy::EpsilonDelta;
///
/// let mut odometer = RogersOdometer::new(10_000, "1e-6".parse()?)?;
/// for _ in 0..12 {
///     odometer = odometer.add(&EpsilonDelta::new("0.1", "0")?)?;
/// }
/// assert!(odometer.reading().bound() < Some("2.635".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`add` gives the next odometer and changes nothing"]
pub struct RogersOdometer {
    rows: u64,
    delta: Delta,
    /// ln(4 log₂(n)/δ).
    log: Interval,
    spent: Spent,
    /// Σ ε(e^ε − 1)/2, each term rounded up; `None` once it is more than can be held.
    drift: Option<Epsilon>,
}

impl RogersOdometer {
    /// With this n, in the paper the number of rows. It need not be the true one, which may be
    /// secret: the theorem holds for every number that does not depend on the data. It says from
    /// which V = 1/n² on the bound is at its best.
    ///
    /// # Errors
    ///
    /// [`ParameterError::NoSlack`] if δ is zero, [`ParameterError::SlackAboveOneOverE`] if it is
    /// not known to be less than 1/e, [`ParameterError::TooFewRows`] below two rows.
    pub fn new(rows: u64, delta: Delta) -> Result<Self, ParameterError> {
        if rows < 2 {
            return Err(ParameterError::TooFewRows);
        }
        if delta == Delta::ZERO {
            return Err(ParameterError::NoSlack);
        }
        let log = -Interval::from(delta).ln();
        if log.low() <= 1.0 {
            return Err(ParameterError::SlackAboveOneOverE);
        }
        let log_rows = Interval::whole(u128::from(rows)).ln() / Interval::TWO.ln();
        Ok(Self {
            rows,
            delta,
            log: (Interval::from(4) * log_rows).ln() + log,
            spent: Spent::default(),
            drift: Some(Epsilon::ZERO),
        })
    }

    fn boundary(&self) -> Option<Interval> {
        let twice_delta = self.spent.delta().checked_add(self.spent.delta())?;
        if twice_delta > self.delta {
            return None;
        }
        let squares = self.spent.squares();
        let variance = interval(squares);
        let spread = if self.is_in_middle(squares) {
            let root_of_three = Interval::ONE + Interval::exactly(0.5) * Interval::from(3).ln();
            variance * root_of_three
        } else {
            let square_of_rows = Interval::whole(u128::from(self.rows)).square();
            let log = (square_of_rows * variance).ln_1p();
            (Interval::ONE / square_of_rows + variance)
                * (Interval::ONE + Interval::exactly(0.5) * log)
        };
        Some(Interval::from(self.drift?) + (Interval::TWO * spread * self.log).sqrt())
    }

    /// Whether 1/n² ≤ V ≤ 1, decided exactly.
    fn is_in_middle(&self, squares: U256) -> bool {
        let one = whole(1);
        let rows = u128::from(self.rows);
        let scaled = squares
            .checked_mul(rows)
            .and_then(|squares| squares.checked_mul(rows));
        squares <= one && scaled.is_none_or(|scaled| scaled >= one)
    }
}

impl TimeUniformOdometer for RogersOdometer {
    fn add(&self, loss: &EpsilonDelta) -> Result<Self, Overflow> {
        let terms = self.drift.zip(drift_of(loss.epsilon));
        Ok(Self {
            spent: self.spent.add(loss)?,
            drift: terms.and_then(|(drift, term)| drift.checked_add(term)),
            ..*self
        })
    }

    fn reading(&self) -> Reading {
        Reading::new(self.boundary().and_then(Interval::up), self.delta)
    }
}
