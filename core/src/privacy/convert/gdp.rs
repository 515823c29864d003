//! Gaussian privacy, to and from (ε, δ).

use std::cmp::Ordering;
use std::num::NonZeroU64;

use super::search::{after, bisect, least, most};
use super::{Delta, Epsilon, UnknownLoss};
use crate::number::normal::{above_half, density, mills, tail};
use crate::number::{Interval, Mu, Quantity, U256, Unit, WideInterval, units};
use crate::privacy::Overflow;

/// The smallest δ such that μ-GDP implies (ε, δ)-DP: Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), rounded up
/// (Dong, Roth, Su 2022, Cor. 2.13).
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let delta = gdp::delta("1".parse()?, "1".parse()?);
/// assert!(delta > "0.1269367".parse()? && delta < "0.1269368".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn delta(mu: Mu, epsilon: Epsilon) -> Delta {
    if mu == Mu::ZERO {
        return Delta::ZERO;
    }
    about(profile(mu, epsilon)).up().unwrap_or(Delta::ONE)
}

/// δ(ε) of N(μ, 1) against N(0, 1), for μ > 0.
fn profile(mu: Mu, epsilon: Epsilon) -> WideInterval {
    let (middle, half) = (
        WideInterval::from(epsilon) / WideInterval::from(mu),
        WideInterval::from(mu).half(),
    );
    let far = middle + half;
    // With t = ε/μ − μ/2 the second term is e^ε φ(t + μ) times Mills' ratio R(t + μ), and
    // e^ε φ(t + μ) = φ(t).
    if is_right_of_zero(mu, epsilon) {
        let near = middle - half;
        density(near) * (mills(near) - mills(far))
    } else {
        let near = half - middle;
        WideInterval::whole(1).half() + above_half(near) - density(near) * mills(far)
    }
}

/// ε/μ ≥ μ/2, decided exactly: 2ε·10²⁷ ≥ μ² in squared units.
fn is_right_of_zero(mu: Mu, epsilon: Epsilon) -> bool {
    let twice = U256::whole(epsilon.units())
        .checked_mul(2 * 10_u128.pow(27))
        .unwrap_or(U256::MAX);
    twice >= U256::of(mu)
}

/// The smallest ε such that μ-GDP implies (ε, δ)-DP, rounded up.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero and μ is not, or ε cannot be held.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let epsilon = gdp::epsilon("1".parse()?, "1e-5".parse()?)?;
/// assert!(epsilon > "4.377178".parse()? && epsilon < "4.377179".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon(mu: Mu, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    if mu == Mu::ZERO {
        return Ok(Epsilon::ZERO);
    }
    if delta == Delta::ZERO {
        return Err(UnknownLoss("this conversion needs δ > 0"));
    }
    let target = WideInterval::from(delta);
    let (size, goal) = (float(mu), float(delta));
    // δ falls in ε; beyond μ²/2 + 14μ it is below 1e-38.
    let guess = crossing(0.0, 0.5 * size * size + 14.0 * size, |epsilon| {
        approximate(size, epsilon) < goal
    });
    let units = least(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
        Epsilon::from_units(units)
            .is_ok_and(|epsilon| profile(mu, epsilon).certainly_at_most(target))
    });
    Ok(units
        .and_then(|units| Epsilon::from_units(units).ok())
        .ok_or(Overflow)?)
}

/// The largest μ such that μ-GDP implies (ε, δ)-DP, rounded down.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let mu = gdp::budget("1".parse()?, "1e-5".parse()?);
/// assert!(mu > "0.268051".parse()? && mu < "0.268052".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn budget(epsilon: Epsilon, delta: Delta) -> Mu {
    if delta == Delta::ZERO {
        return Mu::ZERO;
    }
    let target = WideInterval::from(delta);
    let (size, goal) = (float(epsilon), float(delta));
    // δ rises in μ; from 4ε + 20 on it is all but 1.
    let guess = crossing(0.0, 4.0 * size + 20.0, |mu| approximate(mu, size) > goal);
    let units = most(guess * 1e27, <units::Mu as Unit>::LARGEST, |units| {
        Mu::from_units(units)
            .is_ok_and(|mu| mu == Mu::ZERO || profile(mu, epsilon).certainly_at_most(target))
    });
    units
        .and_then(|units| Mu::from_units(units).ok())
        .unwrap_or_default()
}

/// The trade-off function of μ-GDP: against it, a test with false-alarm rate α misses at least with
/// this probability, Φ(Φ⁻¹(1 − α) − μ), rounded down (Dong, Roth, Su 2022, Def. 2.6).
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let missed = gdp::tradeoff("1".parse()?, "0.05".parse()?);
/// assert!(missed > "0.7404".parse()? && missed < "0.7405".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tradeoff(mu: Mu, alarms: Delta) -> Delta {
    if alarms == Delta::ZERO {
        return Delta::ONE;
    }
    if alarms == Delta::ONE {
        return Delta::ZERO;
    }
    let half = Delta::ONE.units() / 2;
    let (distance, right) = if alarms.units() <= half {
        // z ≥ 0, as small as Φ(−z) ≥ α proves.
        let target = WideInterval::from(alarms);
        let units = most(1e27, FARTHEST, |units| {
            target.certainly_at_most(tail(distance_of(units)))
        });
        let z = Mu::from_units(units.unwrap_or_default()).unwrap_or_default();
        match z.cmp(&mu) {
            Ordering::Less => (mu.saturating_sub(z), false),
            _ => (z.saturating_sub(mu), true),
        }
    } else {
        // z < 0: −z as large as Φ(z) ≤ 1 − α needs.
        let target = WideInterval::from(Delta::ONE.saturating_sub(alarms));
        let units = least(1e27, FARTHEST, |units| {
            tail(distance_of(units)).certainly_at_most(target)
        });
        let z = Mu::from_units(units.unwrap_or(FARTHEST)).unwrap_or_default();
        (mu.checked_add(z).unwrap_or(mu), false)
    };
    let distance = WideInterval::from(distance);
    let missed = if right {
        WideInterval::whole(1).half() + above_half(distance)
    } else {
        tail(distance)
    };
    about(missed).down().unwrap_or_default()
}

/// Φ(−14) < 1e-44, less than any probability that can be held.
const FARTHEST: u128 = 14 * 10_u128.pow(27);

fn distance_of(units: u128) -> WideInterval {
    WideInterval::whole(units) / WideInterval::whole(10_u128.pow(27))
}

/// The smallest μ such that every ε-DP mechanism is μ-GDP, rounded up.
///
/// # Guarantee
///
/// The trade-off function of randomized response runs straight from (0, 1) to (c, c) and from there
/// straight to (1, 0), with c = 1/(1 + e^ε). That of μ-GDP is convex, has the same ends and meets
/// the diagonal at Φ(−μ/2); so it lies below if and only if Φ(−μ/2) ≤ c.
///
/// For ε above 8192 that is decided in logarithms. With h = μ/2, Φ(−h) is φ(h) times Mills' ratio,
/// which is at most (h² + 2)/(h(h² + 3)), the third convergent of Laplace's continued fraction; so it is
/// enough that `h²/2 + ln√(2π) + ln(h(h² + 3)/(h² + 2)) ≥ ε + ln(1 + e^−ε)`.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// // −2Φ⁻¹(1/(1 + e^0.1)).
/// let mu = gdp::pure("0.1".parse()?)?;
/// assert!(mu > "0.1253".parse()? && mu < "0.1254".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pure(epsilon: Epsilon) -> Result<Mu, UnknownLoss> {
    Centred::of(epsilon).mu()
}

/// The smallest μ such that discrete Laplace noise of scale `steps/ε`, on a whole number that changes
/// by at most `steps`, is μ-GDP, rounded up.
///
/// For one step this is [`pure`], which no ε-DP mechanism exceeds. For many it falls to
/// −2Φ⁻¹(e^(−ε/2)/2), that of continuous Laplace noise.
///
/// ```
/// use queryables::privacy::convert::gdp;
/// use std::num::NonZeroU64;
///
/// let epsilon = "1".parse()?;
/// let thousand = NonZeroU64::new(1000).expect("not zero");
/// let mu = gdp::discrete_laplace(thousand, epsilon)?;
/// assert!(mu > "1.0299".parse()? && mu < "1.0301".parse()?);
/// assert!(gdp::pure(epsilon)? > "1.23".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Let q = e^(−s) be the odds of one step, and F(t) the probability that noise is at least t, which is
/// q^t/(1 + q) for whole t from 1 on. The best tests between noise and noise shifted by k ask whether the
/// answer is at least some whole t, or mix two of these; so the trade-off function has its corners at
/// (F(t), 1 − F(t − k)), and is straight between them. That of μ-GDP is convex, so it is enough that it is
/// below at the corners. With h(t) = −Φ⁻¹(F(t)), this says h(t) − h(t − k) ≤ μ.
///
/// The difference is the sum of `dⱼ = h(j) − h(j − 1)` over j = t − k + 1, …, t. F(t) = 1 − F(1 − t), so
/// d is symmetric about 1. It falls on either side. *Proof.* For real t let F(t) = q^t/(1 + q) where that is
/// at most ½, which is from some t₀ ≤ ½ on, because √q ≤ (1 + q)/2. There h′ = s·F/φ(h) = s·R(h), with
/// Mills' ratio R, which falls as h rises. So d₂ ≥ d₃ ≥ …; and h(t₀) = 0, so `d₁ = 2h(1) ≥ 2(1 − t₀)·s·R(h(1)) ≥
/// s·R(h(1)) ≥ d₂`. ∎
///
/// So the sum of k of them is largest where they are next to 1, and rises with k:
///
/// | k | μ |
/// |---|---|
/// | 2m − 1 | 2h(m) |
/// | 2m | h(m) + h(m + 1) |
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
pub fn discrete_laplace(steps: NonZeroU64, epsilon: Epsilon) -> Result<Mu, UnknownLoss> {
    let count = u128::from(steps.get());
    let at = |shift| {
        let steps = count;
        Centred {
            epsilon,
            shift,
            steps,
        }
        .mu()
    };
    if count % 2 == 1 {
        return at(count);
    }
    // 2h(m) and 2h(m + 1), and half of the sum.
    let both = at(count - 1)?.units() + at(count + 1)?.units();
    Ok(Mu::from_units(both.div_ceil(2)).map_err(|_| Overflow)?)
}

/// A μ such that numbers with discrete Laplace noise of scale `steps/ε`, each of its own, are together
/// √`answers`·μ-GDP, if each changes by at most `steps` and all together by at most `steps`·`answers`;
/// rounded up.
///
/// # Guarantee
///
/// A number that changes by k steps is √U(k)-GDP with `√U(k) = 2z` where `Φ(−z) = e^(−ks/2)/(2cosh(s/2))`.
/// For k = 2m − 1 this is 2h(m) of [`discrete_laplace`]. For k = 2m it is 2h(m + ½), which is at least h(m) +
/// h(m + 1), because h is concave there. The squares add up (Dong, Roth, Su 2022, Corollary 3.3), and with
/// K = `steps` the sum is largest where as many numbers as possible change by 1 or as many as possible by K:
/// U(k)/k ≤ max(U(1), U(K)/K).
///
/// *Proof.* Let N(z) = −ln(2Φ(−z)), so that N = ks/2 + L with L = ln cosh(s/2), and U(k)/k is 2s times
/// z²/(N − L). With Mills' ratio R, N′ = 1/R, and the slope of z²/(N − L) has the sign of `2N − zN′ − 2L`. The
/// slope of 2N − zN′ is `((1 + z²)R − z)/R²`, because R′ = zR − 1; it is not negative, because R ≥ z/(1 +
/// z²). So the slope of U(k)/k changes its sign at most once, from minus to plus. ∎
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
pub(crate) fn discrete_laplace_each(
    steps: NonZeroU64,
    epsilon: Epsilon,
) -> Result<Mu, UnknownLoss> {
    let steps = u128::from(steps.get());
    let few = Centred {
        epsilon,
        shift: steps,
        steps,
    }
    .mu()?;
    if steps == 1 {
        return Ok(few);
    }
    let many = U256::of(
        Centred {
            epsilon,
            shift: 1,
            steps,
        }
        .mu()?,
    )
    .checked_mul(steps);
    let many = many.and_then(U256::root_up).ok_or(Overflow)?;
    Ok(few.max(Mu::from_units(many).map_err(|_| Overflow)?))
}

/// The μ with Φ(−μ/2) = 1/(e^a + e^b), for a and b = (`shift` ± 1)/2 times s = ε/`steps`: the smallest such
/// that μ-GDP meets the diagonal no higher than discrete Laplace noise does that is shifted by an odd number
/// of steps.
#[derive(Clone, Copy)]
struct Centred {
    epsilon: Epsilon,
    shift: u128,
    steps: u128,
}

impl Centred {
    /// One step, of ε.
    fn of(epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            shift: 1,
            steps: 1,
        }
    }

    fn mu(self) -> Result<Mu, UnknownLoss> {
        let [a, b] = self.exponents().map(Interval::middle);
        let guess = if a > 700.0 {
            // h²/2 + ln h + ln√(2π) = a, approximately.
            (8.0 * a - 4.0 * libm::log(4.0 * std::f64::consts::PI * a)).sqrt()
        } else {
            crossing(0.0, 3.0 * a + 2.0, |mu| {
                upper(0.5 * mu) < 1.0 / (libm::exp(a) + libm::exp(b))
            })
        };
        let claim = self.is_gaussian();
        let units = least(guess * 1e27, <units::Mu as Unit>::LARGEST, |units| {
            Mu::from_units(units).is_ok_and(&claim)
        });
        Ok(units
            .and_then(|units| Mu::from_units(units).ok())
            .ok_or(Overflow)?)
    }

    /// a and b.
    fn exponents(self) -> [Interval; 2] {
        let half = Interval::from(self.epsilon) / Interval::whole(2 * self.steps);
        [self.shift + 1, self.shift - 1].map(|times| half * Interval::whole(times))
    }

    /// For which μ it is certain that Φ(−μ/2) ≤ 1/(e^a + e^b).
    fn is_gaussian(self) -> impl Fn(Mu) -> bool {
        let half = WideInterval::from(self.epsilon) / WideInterval::whole(2 * self.steps);
        let [a, b] =
            [self.shift + 1, self.shift - 1].map(|times| half * WideInterval::whole(times));
        let powers = a.exp().zip(b.exp());
        let rises = a.exp_m1().zip(b.exp_m1());
        move |mu| {
            if self.epsilon == Epsilon::ZERO {
                return true;
            }
            let Some(((power, other), (rise, other_rise))) = powers.zip(rises) else {
                return self.is_far_out(mu.into());
            };
            let (half, below) = (WideInterval::from(mu).half(), power + other);
            if a.certainly_at_most(WideInterval::whole(1)) {
                // Φ(h) − ½ ≥ ½ − c = (e^a − 1 + e^b − 1) / (2(e^a + e^b)): nothing cancels near zero.
                let least = (rise + other_rise) / below;
                least.half().certainly_at_most(above_half(half))
            } else {
                (tail(half) * below).certainly_at_most(WideInterval::whole(1))
            }
        }
    }

    /// The same for large ε, as [`pure`] explains.
    fn is_far_out(self, mu: Interval) -> bool {
        use std::f64::consts::PI;
        let half = mu / Interval::TWO;
        if half.low() <= 0.0 {
            return false;
        }
        // π lies between its float, which is rounded down, and the next.
        let circle = Interval::TWO * Interval::between(PI, PI.next_up());
        let square = half.square();
        let mills = half * (square + Interval::from(3)) / (square + Interval::TWO);
        let tail = square / Interval::TWO + circle.ln() / Interval::TWO + mills.ln();
        let [a, _] = self.exponents();
        let step = Interval::from(self.epsilon) / Interval::whole(self.steps);
        tail.low() >= (a + (-step).exp().ln_1p()).high()
    }
}

/// The largest ε such that every ε-DP mechanism is μ-GDP, by [`pure`], rounded down.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let epsilon = gdp::pure_budget("0.1254".parse()?);
/// assert!(epsilon > "0.1".parse()? && epsilon < "0.1001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure_budget(mu: Mu) -> Epsilon {
    let size = float(mu);
    let half = upper(0.5 * size);
    // ln(1/Φ(−μ/2) − 1), and about μ²/8 where floats end.
    let guess = if half > 0.0 {
        libm::log1p((1.0 - 2.0 * half) / half)
    } else {
        size * size / 8.0 + libm::log(0.5 * size)
    };
    let units = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
        Epsilon::from_units(units).is_ok_and(|epsilon| Centred::of(epsilon).is_gaussian()(mu))
    });
    units
        .and_then(|units| Epsilon::from_units(units).ok())
        .unwrap_or_default()
}

/// To 25 digits. Enclosures here are narrower than what references print, so that a comparison
/// could turn on how the last digit of the reference was rounded.
fn about(number: WideInterval) -> WideInterval {
    let digits = 10_u128.pow(25);
    number * (WideInterval::between(digits - 1, digits + 1) / WideInterval::whole(digits))
}

fn float<U: Unit>(quantity: Quantity<U>) -> f64 {
    Interval::from(quantity).middle()
}

/// δ(ε) in plain floats, for first guesses.
fn approximate(mu: f64, epsilon: f64) -> f64 {
    let (middle, half) = (epsilon / mu, 0.5 * mu);
    upper(middle - half) - libm::exp(epsilon) * upper(middle + half)
}

/// Φ(−t) in plain floats.
fn upper(t: f64) -> f64 {
    0.5 * libm::erfc(t / std::f64::consts::SQRT_2)
}

/// Where a monotone claim about floats becomes true.
fn crossing(low: f64, high: f64, claim: impl Fn(f64) -> bool) -> f64 {
    bisect(high, low, after(60), claim).0
}
