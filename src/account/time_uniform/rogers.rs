use super::spent::{Spent, interval, plus, whole};
use super::{Reading, TimeUniformOdometer};
#[cfg(feature = "serde")]
use crate::account::durable::{Durable, ImpossibleCounts, Invalid};
use crate::account::{RuleError, drift_of};
use crate::number::{Delta, Epsilon, Interval, U256};
#[cfg(feature = "serde")]
use crate::number::{Unit, units};
use crate::privacy::{EpsilonDelta, Overflow, ProbabilisticDp};

/// The first advanced odometer, kept for comparison: the others read less.
///
/// ```text
/// Σδ + Σ ε(e^ε − 1)/2 + √( 2·V·(1 + ln √3)·ln(4 log₂(n)/δ) )                     for 1/n² ≤ V ≤ 1
/// Σδ + Σ ε(e^ε − 1)/2 + √( 2·(1/n² + V)·(1 + ½ ln(1 + n²V))·ln(4 log₂(n)/δ) )    elsewhere
/// ```
///
/// with `V = Σε²` and n any public number of at least 2 that is fixed in advance; nothing is known
/// once Σδ exceeds δ/2. The two branches do not meet: the reading falls where V enters the
/// interval, and rises by a jump where it leaves. This is not an error: the realised loss may fall,
/// too.
///
/// # Guarantee
///
/// That of [`TimeUniformOdometer`], after Rogers et al. 6.2, where Σδ is missing. Their proof is
/// about randomized response, of which other mechanisms are a postprocessing; the realised loss of
/// a postprocessing may be the larger one, so here is another proof. The restatement in Whitehouse
/// et al. Lemma 3 has `ln ln(4 log₂(n)/δ)`, which would be unsound.
///
/// *Proof.* As in the [module](super), `exp(λS − ½λ²V)` is a supermartingale for every λ > 0: ε²
/// is at least 2ρ, and `ε(e^ε − 1)/2` at least ρ. Let `l = ln(4 log₂(n)/δ)`, which is more than 2.38
/// because δ < 1/e. It is enough that S passes one of the roots with probability at most δ/2.
///
/// - The second root. The mean over λ = |N(0, n²)|, as for the
///   [mixture](super::VarianceOdometer::mixture), passes e^l where S passes `√((2l + ln(1 + n²V))(1/n² + V))`,
///   which is less because l > 1. That has probability at most `e^−l = δ/(4 log₂ n)`, so at most δ/4.
/// - The first root. Divide \[1/n², 1\] into `k = ⌊2 log₂ n⌋` intervals of the same ratio r ≤ 2^1.5.
///   In each, the tangent to `√(2mV)` in its geometric middle is at most `½(r^¼ + r^−¼) ≤ 1.0340`
///   times `√(2mV)`, and S passes the tangent with probability at most e^−m. Take
///   `m = 1.44·l`: then `1.0340²·m ≤ (1 + ln √3)·l`. All together that is at most
///   `2 log₂(n)·e^{−1.44·l} = ½δ·e^{−0.44·l}`, so at most 0.18·δ. ∎
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
/// let most = "2.635".parse()?;
/// assert!(odometer.reading().bound().is_some_and(|bound| bound < most));
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
    /// secret: the theorem holds for every number that does not depend on the data. The bound is
    /// tightest from V = 1/n² on.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] if δ is zero, [`RuleError::OutOfRange`] if it is not known to be less
    /// than 1/e, and below two rows.
    pub fn new(rows: u64, delta: Delta) -> Result<Self, RuleError> {
        if rows < 2 {
            return Err(TOO_FEW_ROWS);
        }
        if delta == Delta::ZERO {
            return Err(RuleError::NoSlack);
        }
        let log = -Interval::from(delta).ln();
        if log.low() <= 1.0 {
            return Err(ABOVE_ONE_OVER_E);
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
        let deltas = self.spent.delta();
        if deltas.checked_add(deltas)? > self.delta {
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
        let root = (Interval::TWO * spread * self.log).sqrt();
        Some(plus(Interval::from(self.drift?) + root, deltas))
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

/// The proof divides by the logarithm of the number of rows.
pub(super) const TOO_FEW_ROWS: RuleError = RuleError::OutOfRange {
    what: "the number of rows",
    advice: "take at least 2",
};

pub(super) const ABOVE_ONE_OVER_E: RuleError = RuleError::OutOfRange {
    what: "δ",
    advice: "Rogers et al. 6.2 is proved for δ < 1/e",
};

impl TimeUniformOdometer for RogersOdometer {
    type Launches = ProbabilisticDp;

    fn launches(&self) -> &ProbabilisticDp {
        &ProbabilisticDp
    }

    fn add(&self, loss: &EpsilonDelta) -> Result<Self, Overflow> {
        let terms = self.drift.zip(drift_of(loss.epsilon));
        Ok(Self {
            spent: self.spent.charge(U256::of(loss.epsilon), loss.delta)?,
            drift: terms.and_then(|(drift, term)| drift.checked_add(term)),
            ..*self
        })
    }

    fn reading(&self) -> Reading {
        Reading::new(self.boundary().and_then(Interval::up), self.delta)
    }
}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    rows: u64,
    delta: Delta,
}

/// What launches change, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    spent: Spent,
    drift: Option<Epsilon>,
}

#[cfg(feature = "serde")]
impl Durable for RogersOdometer {
    const NAME: &'static str = "RogersOdometer";

    type Parameters = Parameters;
    type Counts = Counts;

    fn parameters(&self) -> Parameters {
        let (rows, delta) = (self.rows, self.delta);
        Parameters { rows, delta }
    }

    fn build(Parameters { rows, delta }: Parameters) -> Result<Self, Invalid> {
        Ok(Self::new(rows, delta)?)
    }

    fn counts(&self) -> Counts {
        let (spent, drift) = (self.spent, self.drift);
        Counts { spent, drift }
    }

    fn resume(&self, Counts { spent, drift }: Counts) -> Result<Self, Invalid> {
        // Each launch adds ε(e^ε − 1)/2, rounded up, which is at least ε²/2.
        let half = spent.squares().half_in_units(units::Epsilon::DECIMALS);
        let drifted = drift.is_none_or(|drift| half.is_some_and(|half| half <= drift.units()));
        if !drifted {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self {
            spent,
            drift,
            ..*self
        })
    }
}
