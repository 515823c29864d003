//! The tight conversion from a Rényi loss at one order to (ε, δ).

use super::probability_up;
use super::rdp::excess;
use super::search::{least, lowest};
use super::stable::{bend, rest};
use crate::number::{Delta, Epsilon, Interval, Order, Unit, units};
use crate::privacy::{Overflow, UnknownLoss};

/// The smallest δ such that Rényi privacy `loss` of order α alone implies (ε, δ)-DP, rounded up
/// (Asoodeh, Liao, Calmon, Kosut, Sankar 2021).
///
/// It is never more than [`delta`](super::rdp::delta), and no conversion from one order gives less.
///
/// # Guarantee
///
/// Let P and Q be the laws of the answer on neighbours and S an event, with p = P(S), q = Q(S). That is
/// a postprocessing into two cells, so that, with a = α − 1,
/// `g = q (p/q)^α + (1 − q) ((1 − p)/(1 − q))^α ≤ e^(aτ)`; and the largest p − e^ε q under this
/// condition is δ. Each such pair of two-point laws is itself within the loss, so this is tight.
///
/// Weak duality bounds it. For t > s > 0 let λ = 1/(α(t^a − s^a)). By convexity, u^α ≥ αv^a u − av^α for
/// every u and v: take v = t for the first cell and v = s for the second, and multiply by λ. Then
/// `λg ≥ (t^a p − s^a p + s^a)/(t^a − s^a) − aλt^α q − aλs^α (1 − q)`, that is,
/// `p − aλ(t^α − s^α) q ≤ λg + aλs^α − s^a/(t^a − s^a)`.
/// Where aλ(t^α − s^α) = e^ε, the left side is p − e^ε q, so that
/// `δ ≤ λ(e^(aτ) − αs^a + as^α) = λ((e^(aτ) − 1) + α(1 − s^a) − a(1 − s^α))`.
///
/// With t = e^x, s = e^−y and z = x + y the condition reads
/// `x = ε + ln(α(1 − e^−az)/(a(1 − e^−αz)))`: every z > 0 gives a bound. The best one is searched for
/// in floats, and the bound there is computed in intervals. The limit z → ∞, which is s → 0, is
/// Prop. 12 of Canonne, Kamath and Steinke 2020. Where x is smaller than the condition says, the bound
/// is one for a smaller ε, and holds for this one, too. So y, which is tiny where τ is, can be a float,
/// and only x is rounded.
///
/// Where τ ≥ ε + ln(α/a), the worst p is 1. Leave out the second cell, which is not negative: for t = e^τ
/// and `w = (α/a)e^(ε−τ) ≤ 1`, multiplied by `w/(αt^a)`, the first says `wp − e^ε q ≤ w/α`. So
/// `p − e^ε q ≤ (1 − w) + w/α = 1 − e^(ε−τ)`, which q = e^−τ attains.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let (order, loss, epsilon) = ("8".parse()?, "0.01".parse()?, "0.5".parse()?);
/// assert!(rdp::delta_exact(order, loss, epsilon) < "0.00011334".parse()?);
/// assert!(rdp::delta(order, loss, epsilon) > "0.00158".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn delta_exact(order: Order, loss: Epsilon, epsilon: Epsilon) -> Delta {
    if loss == Epsilon::ZERO {
        return Delta::ZERO;
    }
    let at_infinity = super::rdp::delta(order, loss, epsilon);
    tight_delta(excess(order), loss.into(), epsilon.into()).min(at_infinity)
}

/// The smallest ε such that Rényi privacy `loss` of order α alone implies (ε, δ)-DP, rounded up: by
/// [`delta_exact`].
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero and the loss is not, or ε cannot be held.
///
/// ```
/// use queryables::number::{Delta, Epsilon};
/// use queryables::privacy::convert::rdp;
///
/// let (order, loss, delta) = ("8".parse()?, "0.01".parse()?, "1e-5".parse()?);
/// assert!(rdp::epsilon_exact(order, loss, delta)? < "0.8402".parse()?);
/// assert!(rdp::epsilon(order, loss, delta)? > "1.224".parse()?);
/// // What loses nothing is (0, 0)-DP.
/// assert_eq!(rdp::epsilon_exact(order, Epsilon::ZERO, Delta::ZERO)?, Epsilon::ZERO);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon_exact(order: Order, loss: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    if loss == Epsilon::ZERO {
        return Ok(Epsilon::ZERO);
    }
    // If the search finds nothing better, or fails because ε is huge, the other bound holds.
    let at_infinity = super::rdp::epsilon(order, loss, delta);
    if delta == Delta::ONE || at_infinity == Ok(Epsilon::ZERO) {
        return Ok(Epsilon::ZERO);
    }
    let largest = match at_infinity {
        Ok(epsilon) => epsilon.units(),
        Err(_) if delta == Delta::ZERO => return at_infinity,
        Err(_) => <units::Epsilon as Unit>::LARGEST,
    };
    let (excess, tau) = (excess(order), Interval::from(loss));
    let units = least(0.9 * largest as f64, largest, |units| {
        Epsilon::from_units(units)
            .is_ok_and(|epsilon| tight_delta(excess, tau, epsilon.into()) <= delta)
    });
    let found = match units.and_then(|units| Epsilon::from_units(units).ok()) {
        Some(epsilon) => Ok(epsilon),
        None => at_infinity.map_err(|_| Overflow.into()),
    };
    // Where the worst p is 1, δ = 1 − e^(ε−τ). Next to 1 the search cannot tell δ apart, but 1 − δ is
    // exact. If that ε is negative, 0 suffices: δ rises with τ.
    let beyond = super::log_inverse(Delta::ONE.saturating_sub(delta))?;
    if beyond.low() < (Interval::ONE / excess).ln_1p().high() {
        return found;
    }
    let certain = super::loss_up((tau - beyond).max(Interval::ZERO))?;
    Ok(found.map_or(certain, |found: Epsilon| found.min(certain)))
}

/// The largest Rényi loss of order α that alone implies (ε, δ)-DP by [`delta_exact`], rounded down.
/// There always is one, possibly zero.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let (order, epsilon, delta) = ("8".parse()?, "0.8402".parse()?, "1e-5".parse()?);
/// let loss = rdp::budget_exact(order, epsilon, delta)?;
/// assert!(loss > "0.01".parse()? && loss < "0.0101".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn budget_exact(order: Order, epsilon: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    if delta == Delta::ONE {
        return Ok(Epsilon::LARGEST);
    }
    let log = super::log_inverse(delta)?;
    let budget = tight_budget(epsilon.into(), excess(order), log);
    Ok(budget.down().unwrap_or_default())
}

/// The largest τ for an ε and ln(1/δ) that are only enclosed.
pub(crate) fn tight_budget(epsilon: Interval, excess: Interval, log: Interval) -> Interval {
    let (point, target, log_point) = (excess.middle(), epsilon.middle(), log.middle());
    let best = lowest(LOGS.0, LOGS.1, |log_beyond| {
        -Cells::at(point, target, libm::exp(log_beyond)).budget(log_point)
    });
    let at_infinity = super::rdp::renyi_budget_at(epsilon, excess, log);
    let cells = Cells::at(point, target, libm::exp(best));
    let sum = libm::exp(cells.log_size() - log_point);
    let budgets = [(cells.z, cells.y), cells.polished(|_| sum)]
        .into_iter()
        .filter_map(|(z, y)| Enclosed::at(excess, epsilon, z, y))
        .map(|cells| cells.budget(excess, log));
    let budget = budgets.fold(at_infinity.max(Interval::ZERO), Interval::max);
    // −ln(1 − δ): where 1 − e^(ε−τ) is the bound.
    let beyond = -rest(log).ln();
    if beyond.low() >= (Interval::ONE / excess).ln_1p().high() {
        return budget.max(epsilon + beyond);
    }
    budget
}

/// Of ln(z − ε): the best z is more than 2ε or so and less than ε + ln(α/a) + 700/a.
const LOGS: (f64, f64) = (-70.0, 30.0);

/// δ at the best z that was found, rounded up.
fn tight_delta(excess: Interval, tau: Interval, epsilon: Interval) -> Delta {
    let (point, loss, target) = (excess.middle(), tau.middle(), epsilon.middle());
    let best = lowest(LOGS.0, LOGS.1, |log_beyond| {
        Cells::at(point, target, libm::exp(log_beyond)).log_delta(loss)
    });
    let cells = Cells::at(point, target, libm::exp(best));
    let polished = cells.polished(|bend| libm::expm1(point * loss) + bend);
    let deltas = [(cells.z, cells.y), polished]
        .into_iter()
        .filter_map(|(z, y)| Enclosed::at(excess, epsilon, z, y))
        .map(|cells| probability_up(cells.log_delta(excess, tau).exp()));
    let delta = deltas.fold(Delta::ONE, Delta::min);
    if (tau - epsilon).low() >= (Interval::ONE / excess).ln_1p().high() {
        return delta.min(probability_up(rest(tau - epsilon)));
    }
    delta
}

/// What the bound needs at one pair of cells, enclosed.
struct Enclosed {
    /// ln t.
    x: Interval,
    /// α(1 − s^a) − a(1 − s^α).
    bend: Interval,
    /// ln(α(1 − e^−az)).
    log_scale: Interval,
}

impl Enclosed {
    /// The cells with this y and a z that is hardly less than this one; `None` where floats are too
    /// coarse for that.
    fn at(excess: Interval, epsilon: Interval, z: f64, y: f64) -> Option<Self> {
        let order = Interval::ONE + excess;
        if !(y > 0.0 && y < z) {
            return None;
        }
        let exact_y = Interval::exactly(y);
        // A little less until the condition is met for certain.
        let z = (2..24).find_map(|step| {
            let z = Interval::exactly(z * (1.0 - f64::EPSILON * f64::from(1_u32 << step)));
            // α(1 − e^−az)/(a(1 − e^−αz)) is 1 + bend(z)/(a(1 − e^−αz)).
            let above = (bend(excess, z) / (excess * rest(order * z))).ln_1p();
            ((z - exact_y - above).high() <= epsilon.low()).then_some(z)
        })?;
        Some(Self {
            x: z - exact_y,
            bend: bend(excess, exact_y),
            log_scale: (order * rest(excess * z)).ln(),
        })
    }

    /// `ln(((e^aτ − 1) + bend)/(α(t^a − s^a)))`, where t^a − s^a = e^ax (1 − e^−az).
    fn log_delta(&self, excess: Interval, tau: Interval) -> Interval {
        let rise = excess * tau;
        let moment = if rise.high() < 30.0 {
            (rise.exp_m1() + self.bend).ln() - excess * self.x
        } else {
            let less = -((Interval::ONE - self.bend) * (-rise).exp());
            excess * (tau - self.x) + less.ln_1p()
        };
        moment - self.log_scale
    }

    /// τ, from `e^aτ − 1 = δα(t^a − s^a) − bend`.
    fn budget(&self, excess: Interval, log: Interval) -> Interval {
        let size = excess * self.x + self.log_scale - log;
        if size.high() < 30.0 {
            let moment = (size.exp() - self.bend).max(Interval::ZERO);
            moment.ln_1p() / excess
        } else {
            let more = (Interval::ONE - self.bend) * (-size).exp();
            self.x + (self.log_scale - log + more.ln_1p()) / excess
        }
    }
}

/// The same in floats, to find a good z.
struct Cells {
    excess: f64,
    x: f64,
    y: f64,
    z: f64,
    bend: f64,
    log_scale: f64,
}

impl Cells {
    fn at(excess: f64, epsilon: f64, beyond: f64) -> Self {
        let order = 1.0 + excess;
        let z = epsilon + beyond;
        let part = |x: f64| -libm::expm1(-x);
        let bend = |y: f64| bend(Interval::exactly(excess), Interval::exactly(y)).middle();
        let above = libm::log1p(bend(z) / (excess * part(order * z)));
        Self {
            excess,
            x: epsilon + above,
            y: beyond - above,
            z,
            bend: bend(beyond - above),
            log_scale: libm::log(order * part(excess * z)),
        }
    }

    fn log_delta(&self, tau: f64) -> f64 {
        let rise = self.excess * tau;
        let moment = if rise < 30.0 {
            libm::log(libm::expm1(rise) + self.bend)
        } else {
            rise
        };
        moment - self.log_size()
    }

    /// ln(α(t^a − s^a)).
    fn log_size(&self) -> f64 {
        self.excess * self.x + self.log_scale
    }

    /// A better z and y where y is so small that it is lost in z − x. The best y is where
    /// `ln(e^aτ − 1 + bend(y)) − ln(α(t^a − s^a))` is stationary. `sum` is what the first logarithm is
    /// of. Its derivative is aα(e^−ay − e^−αy)/sum; that of the second follows from those of x and z
    /// by the condition, and is known at this z.
    fn polished(&self, sum: impl Fn(f64) -> f64) -> (f64, f64) {
        let (excess, order, z) = (self.excess, 1.0 + self.excess, self.z);
        // That of ln(α(1 − e^−az)/(a(1 − e^−αz))).
        let above = if order * z < 1e-4 {
            0.5 - (order + excess) * z / 12.0
        } else {
            excess / libm::expm1(excess * z) - order / libm::expm1(order * z)
        };
        let slope = excess * (above + 1.0 / libm::expm1(excess * z)) / (1.0 - above);
        let mut y = 0.0;
        for _ in 0..4 {
            let bend = bend(Interval::exactly(excess), Interval::exactly(y)).middle();
            let per_y = if y > 0.0 {
                libm::exp(-excess * y) * -libm::expm1(-y) / y
            } else {
                1.0
            };
            y = slope * sum(bend) / (excess * order * per_y);
        }
        // One step of Newton's method meets the condition again.
        (z - (self.y - y) / (1.0 - above), y)
    }

    fn budget(&self, log: f64) -> f64 {
        let size = self.log_size() - log;
        if size < 30.0 {
            libm::log1p((libm::exp(size) - self.bend).max(-0.5)) / self.excess
        } else {
            self.x + (self.log_scale - log) / self.excess
        }
    }
}

#[cfg(test)]
mod tests;
