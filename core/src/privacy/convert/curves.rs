//! Rényi divergences of mechanisms, as functions of the order.

use std::num::NonZeroU64;

use super::loss_up;
use super::rdp::excess;
use super::stable::{exp_m1_less_linear, rest, sinh_ratio_rise};
use crate::number::{Epsilon, Interval, Order, Scale};
use crate::privacy::UnknownLoss;

/// The largest Rényi divergence of order α that an ε-DP mechanism can have: that of randomized
/// response, rounded up.
///
/// # Guarantee
///
/// Every ε-DP mechanism is a postprocessing of randomized response (Kairouz, Oh, Viswanath 2015),
/// and postprocessing does not increase a Rényi divergence. It is less than αε²/2, which ε²/2-zCDP
/// would give.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::pure("2".parse()?, "1".parse()?);
/// assert!(loss < "0.7354".parse()?); // αε²/2 = 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure(order: Order, epsilon: Epsilon) -> Epsilon {
    if epsilon == Epsilon::ZERO {
        return Epsilon::ZERO;
    }
    let loss = randomized_response(excess(order), epsilon.into()).up();
    // Never more than ε, even after rounding.
    loss.map_or(epsilon, |loss: Epsilon| loss.min(epsilon))
}

/// The Rényi divergence of order 1 + a of randomized response.
///
/// With p = e^ε/(1 + e^ε), Σ p^α q^(1−α) − 1 = (1 − e^(−aε)) (e^(αε) − 1) / (1 + e^ε).
pub(crate) fn randomized_response(excess: Interval, epsilon: Interval) -> Interval {
    let order = excess + Interval::ONE;
    let exponent = order * epsilon;
    if exponent.high() < 600.0 {
        let shortfall = -(-(excess * epsilon)).exp_m1();
        let moment = shortfall * exponent.exp_m1() / (Interval::ONE + epsilon.exp());
        moment.ln_1p() / excess
    } else {
        // The logarithm of the same sum, written so that nothing overflows.
        let tail = (-epsilon).exp().ln_1p() - (-(exponent + excess * epsilon)).exp().ln_1p();
        epsilon - tail / excess
    }
}

/// The Rényi divergence of order α of Laplace noise, rounded up (Mironov 2017, Prop. 6).
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::laplace("2".parse()?, "1".parse()?, "1".parse()?)?;
/// assert!(loss < "0.61913".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn laplace(order: Order, sensitivity: Scale, scale: Scale) -> Result<Epsilon, UnknownLoss> {
    let epsilon = Interval::from(sensitivity) / Interval::from(scale);
    let excess = excess(order);
    let order = excess + Interval::ONE;
    let both = order + excess;
    let rise = excess * epsilon;
    let loss = if rise.high() < 1.0 {
        // The moment less 1, in which the linear terms of the two exponentials cancel exactly.
        let moment = (order * exp_m1_less_linear(rise)
            + excess * exp_m1_less_linear(-(order * epsilon)))
            / both;
        moment.ln_1p() / excess
    } else {
        let tail = excess / order * (-(both * epsilon)).exp();
        epsilon + ((order / both).ln() + tail.ln_1p()) / excess
    };
    loss_up(loss)
}

/// The Rényi divergence of order α of discrete Laplace noise of scale `steps/ε` on a whole number
/// that changes by at most `steps`, rounded up.
///
/// Noise is `k` with probability `(1 − q)/(1 + q) · q^|k|`, where `q = e^(−ε/steps)`. For one step
/// this is [`pure`], which no ε-DP mechanism exceeds; for many it falls to [`laplace`].
///
/// # Guarantee
///
/// Of `p(k)^α · p(k − d)^(1−α)`, summed up over all k, the parts below 0, from 1 to d − 1, and from d
/// on are geometric series. They make
/// `e^((α−1)ε) · ((1 + e^(−(2α−1)ε))/(1 + q) + (1 − q)/(1 + q) · (r − r^d)/(1 − r))`
/// with `r = q^(2α−1)`, for d = `steps`. With the same q it is less for smaller d: the sum grows from d
/// to d + 1 by at least `q^(αd)/(1 + q)` times `2q^(1−α) − q^(2−α) + q^α − 2`, and that is zero at
/// α = 1 and grows with α.
///
/// ```
/// use queryables::privacy::convert::rdp;
/// use std::num::NonZeroU64;
///
/// let (order, epsilon) = ("2".parse()?, "1".parse()?);
/// let ten = NonZeroU64::new(10).expect("not zero");
/// assert!(rdp::discrete_laplace(order, ten, epsilon) < rdp::pure(order, epsilon));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn discrete_laplace(order: Order, steps: NonZeroU64, epsilon: Epsilon) -> Epsilon {
    let most = pure(order, epsilon);
    if steps == NonZeroU64::MIN || epsilon == Epsilon::ZERO {
        return most;
    }
    let loss = geometric(excess(order), steps, epsilon.into()).up();
    loss.map_or(most, |loss: Epsilon| loss.min(most))
}

/// The divergence of order 1 + a of discrete Laplace noise.
///
/// With s = ε/d, the moment of [`discrete_laplace`] is `A e^aε + B e^−αε`, where
/// `A = (1 − e^−2αs)/N` and `B = q(1 − e^−2as)/N` for `N = (1 + q)(1 − e^−(2α−1)s)` add up to 1.
/// With L(x) = e^x − 1 − x it is therefore more than 1 by `A L(aε) + B L(−αε) + (aA − αB) ε`, and
/// `N(aA − αB) = 2e^−αs (a sinh(αs) − α sinh(as))`: no term is negative.
fn geometric(excess: Interval, steps: NonZeroU64, epsilon: Interval) -> Interval {
    let order = Interval::ONE + excess;
    let both = order + excess;
    let step = epsilon / Interval::whole(steps.get().into());
    let (decay, rise) = ((-step).exp(), excess * epsilon);
    let whole = (Interval::ONE + decay) * rest(both * step);
    let up = rest(Interval::TWO * order * step) / whole;
    let down = decay * rest(Interval::TWO * excess * step) / whole;
    if rise.high() >= 1.0 {
        // The logarithm of the same moment, written so that nothing overflows.
        let tail = down / up * (-(both * epsilon)).exp();
        return epsilon + (up.ln() + tail.ln_1p()) / excess;
    }
    let (less, more) = (excess * step, order * step);
    let linear = if more.high() <= 1.0 {
        let sines = sinh_ratio_rise(less, more, both * step.square());
        Interval::TWO * (-more).exp() * excess * more * sines
    } else {
        excess * rest(more + more) - order * decay * rest(less + less)
    };
    let moment = up * exp_m1_less_linear(rise)
        + down * exp_m1_less_linear(-(order * epsilon))
        + epsilon * linear.max(Interval::ZERO) / whole;
    moment.ln_1p() / excess
}

/// The Rényi divergence of order α of Gaussian noise, `α·sensitivity²/(2σ²)`, rounded up
/// (Mironov 2017, Prop. 7).
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::gaussian("8".parse()?, "1".parse()?, "10".parse()?)?;
/// assert!(loss >= "0.04".parse()? && loss < "0.0400000001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gaussian(order: Order, sensitivity: Scale, sigma: Scale) -> Result<Epsilon, UnknownLoss> {
    let ratio = Interval::from(sensitivity) / Interval::from(sigma);
    loss_up(Interval::from(order) * ratio.square() / Interval::TWO)
}
