//! Zero-concentrated privacy, from and to (ε, δ).

use std::num::NonZeroU64;

use super::rdp::{epsilon_at, log_delta_at, renyi_budget_at};
use super::search::{lowest, most};
use super::stable::{exp_m1_less_linear, rest, sinh_ratio_rise};
use super::{either, log_inverse, loss_up, other_of_either, probability_up};
use crate::number::{Delta, Epsilon, Interval, Rho, Unit, units};
use crate::privacy::{EpsilonDelta, RhoDelta, UnknownLoss, half_square};

/// In `ln(α − 1)`: the best order lies near `1 + √(ln(1/δ)/ρ)`, so below `1e15` for everything that
/// ρ and δ can be; and where δ is next to 1, near `2 − δ`, which is at least `1 + 1e-38`.
const ORDERS: (f64, f64) = (-92.0, 40.0);

/// An ε such that ρ-zCDP implies (ε, δ)-DP: the smallest by the conversion of Canonne, Kamath and
/// Steinke 2020 (Prop. 12) at the best order, or by that of [`epsilon_simple`] where δ is so near 1
/// that it is the better one.
///
/// Where δ is small, as it should be, hardly less is known. Where it is large,
/// [`rdp::epsilon_exact`](super::rdp::epsilon_exact) at a good order gives less: 1.068 instead of 1.176
/// for ρ = 0.5 and δ = 0.2.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero and ρ is not, or ε cannot be held.
///
/// ```
/// use queryables::privacy::convert::zcdp;
///
/// let epsilon = zcdp::epsilon("0.05".parse()?, "1e-6".parse()?)?;
/// assert!(epsilon < "1.4716".parse()?);
/// assert!(epsilon < zcdp::epsilon_simple("0.05".parse()?, "1e-6".parse()?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon(rho: Rho, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    if rho == Rho::ZERO || delta == Delta::ONE {
        return Ok(Epsilon::ZERO);
    }
    loss_up(tight(Interval::from(rho), log_inverse(delta)?))
}

/// The better conversion of a ρ that is only enclosed.
pub(crate) fn tight(rho: Interval, log: Interval) -> Interval {
    let (point, log_point) = (rho.middle(), log.middle());
    let best = lowest(ORDERS.0, ORDERS.1, |log_excess| {
        let excess = libm::exp(log_excess);
        (1.0 + excess) * point - libm::log1p(1.0 / excess)
            + (log_point - libm::log1p(excess)) / excess
    });
    let excess = Interval::exactly(libm::exp(best));
    epsilon_at((Interval::ONE + excess) * rho, excess, log)
        .max(Interval::ZERO)
        .min(simple(rho, log))
}

/// `ρ + 2√(ρ ln(1/δ))`: ρ-zCDP implies (ε, δ)-DP (Bun and Steinke 2016, Prop. 1.3).
///
/// # Errors
///
/// As for [`epsilon`].
pub fn epsilon_simple(rho: Rho, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    if rho == Rho::ZERO {
        return Ok(Epsilon::ZERO);
    }
    loss_up(simple(rho.into(), log_inverse(delta)?))
}

/// As [`epsilon_simple`], of a ρ that is only enclosed.
fn simple(rho: Interval, log: Interval) -> Interval {
    rho + Interval::TWO * (rho * log).sqrt()
}

/// The smallest δ such that ρ-zCDP implies (ε, δ)-DP by the conversion of Canonne, Kamath and Steinke
/// 2020 (Prop. 12).
///
/// ```
/// use queryables::privacy::convert::zcdp;
///
/// let delta = zcdp::delta("0.05".parse()?, "1".parse()?);
/// assert!(delta < "0.00038571".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn delta(rho: Rho, epsilon: Epsilon) -> Delta {
    if rho == Rho::ZERO {
        return Delta::ZERO;
    }
    let (rho, epsilon) = (Interval::from(rho), Interval::from(epsilon));
    let (point, target) = (rho.middle(), epsilon.middle());
    let best = lowest(ORDERS.0, ORDERS.1, |log_excess| {
        let excess = libm::exp(log_excess);
        excess * ((1.0 + excess) * point - target - libm::log1p(1.0 / excess)) - libm::log1p(excess)
    });
    let excess = Interval::exactly(libm::exp(best));
    let tau = (Interval::ONE + excess) * rho;
    probability_up(log_delta_at(tau, excess, epsilon).exp())
}

/// The largest ρ such that ρ-zCDP implies (ε, δ)-DP by the conversion of [`epsilon`]: the B* of Feldman
/// and Zrnic's Theorem 4.7.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero.
///
/// ```
/// use queryables::privacy::convert::zcdp;
///
/// let rho = zcdp::budget("1".parse()?, "1e-6".parse()?)?;
/// assert!(rho > "0.024355".parse()?);
/// assert!(zcdp::epsilon(rho, "1e-6".parse()?)? <= "1.000000001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn budget(epsilon: Epsilon, delta: Delta) -> Result<Rho, UnknownLoss> {
    if delta == Delta::ONE {
        return Ok(Rho::LARGEST);
    }
    let rho = tight_budget(Interval::from(epsilon), log_inverse(delta)?);
    Ok(rho.down().unwrap_or_default())
}

/// The largest ρ that implies (ε, δ) by the better of the two conversions.
pub(crate) fn tight_budget(epsilon: Interval, log: Interval) -> Interval {
    let (target, log_point) = (epsilon.middle(), log.middle());
    let best = lowest(ORDERS.0, ORDERS.1, |log_excess| {
        let excess = libm::exp(log_excess);
        -(target + libm::log1p(1.0 / excess) - (log_point - libm::log1p(excess)) / excess)
            / (1.0 + excess)
    });
    let excess = Interval::exactly(libm::exp(best));
    (renyi_budget_at(epsilon, excess, log) / (Interval::ONE + excess))
        .max(simple_budget(epsilon, log))
}

/// `(√(ln(1/δ) + ε) − √ln(1/δ))²`: the largest ρ that implies (ε, δ)-DP by [`epsilon_simple`].
///
/// # Errors
///
/// As for [`budget`].
pub fn budget_simple(epsilon: Epsilon, delta: Delta) -> Result<Rho, UnknownLoss> {
    let rho = simple_budget(Interval::from(epsilon), log_inverse(delta)?);
    Ok(rho.down().unwrap_or_default())
}

/// As [`budget_simple`]; the difference of roots is `ε / (√(ln(1/δ) + ε) + √ln(1/δ))`, where
/// nothing cancels.
pub(crate) fn simple_budget(epsilon: Interval, log: Interval) -> Interval {
    if epsilon.high() <= 0.0 {
        return Interval::ZERO;
    }
    (epsilon / ((log + epsilon).sqrt() + log.sqrt())).square()
}

/// δ-approximate ρ-zCDP implies (ε, δ + δ′ − δδ′)-DP with the ε of [`epsilon`] for (ρ, δ′).
///
/// # Guarantee
///
/// The laws on two neighbours are (1 − δ)P′ + δP″ and (1 − δ)Q′ + δQ″, where P′ and Q′ are ρ-zCDP
/// (Whitehouse et al. Def. 3), so that `P′(S) ≤ e^ε Q′(S) + δ′` by any conversion from zCDP. Then
/// `P(S) ≤ (1 − δ)(e^ε Q′(S) + δ′) + δ ≤ e^ε Q(S) + δ + δ′ − δδ′`. Lemma 1 of the same paper is this
/// with [`epsilon_simple`].
///
/// # Errors
///
/// As for [`epsilon`], for `slack` = δ′.
///
/// ```
/// use queryables::privacy::{EpsilonDelta, RhoDelta, convert::zcdp};
///
/// let loss = RhoDelta::new("0.05", "1e-7")?;
/// let pair = zcdp::approximate(loss, "1e-6".parse()?)?;
/// assert!(pair <= EpsilonDelta::new("1.4716", "1.1e-6")?);
/// assert!(pair < zcdp::approximate_simple(loss, "1e-6".parse()?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn approximate(loss: RhoDelta, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
    Ok(EpsilonDelta {
        epsilon: epsilon(loss.rho, slack)?,
        delta: either(loss.delta, slack),
    })
}

/// δ-approximate ρ-zCDP implies (ρ + 2√(ρ ln(1/δ′)), δ + δ′ − δδ′)-DP (Whitehouse et al. Lemma 1).
///
/// # Errors
///
/// As for [`epsilon`], for `slack` = δ′.
pub fn approximate_simple(loss: RhoDelta, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
    Ok(EpsilonDelta {
        epsilon: epsilon_simple(loss.rho, slack)?,
        delta: either(loss.delta, slack),
    })
}

/// The largest approximate zCDP loss that implies (ε, δ)-DP by [`approximate`] if `slack` = δ′ is
/// given up: the ρ of [`budget`] for (ε, δ′), and (δ − δ′)/(1 − δ′), both rounded down.
///
/// # Errors
///
/// As for [`budget`], for δ′; and [`UnknownLoss`] if δ′ is more than δ.
///
/// ```
/// use queryables::privacy::{EpsilonDelta, convert::zcdp};
///
/// let limit = EpsilonDelta::new("1", "1e-5")?;
/// let loss = zcdp::approximate_budget(limit, "1e-6".parse()?)?;
/// assert!(loss.rho > "0.0243".parse()? && loss.delta > "9e-6".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn approximate_budget(limit: EpsilonDelta, slack: Delta) -> Result<RhoDelta, UnknownLoss> {
    Ok(RhoDelta {
        rho: budget(limit.epsilon, slack)?,
        delta: other_of_either(limit.delta, slack)?,
    })
}

/// The smallest ρ such that every ε-DP mechanism is ρ-zCDP: `ε·tanh(ε/2)`, rounded up. It is less
/// than ε²/2 (Bun and Steinke 2016, Prop. 1.4), and less than ε.
///
/// # Guarantee
///
/// Every ε-DP mechanism is a postprocessing of randomized response (Kairouz, Oh, Viswanath 2015),
/// whose Rényi divergence of order α is `ln(cosh((α − 1/2)ε)/cosh(ε/2))/(α − 1)`. Over α, that is the
/// slope of `ln cosh(ε√u)` between u = 1/4 and u = (α − 1/2)². In u this function is concave, because
/// `tanh(x)/x` falls; so the slope is largest where α is next to 1, and there it is `ε·tanh(ε/2)`.
///
/// ```
/// use queryables::privacy::convert::zcdp;
///
/// let rho = zcdp::pure("1".parse()?);
/// assert!(rho > "0.46211".parse()? && rho < "0.46212".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure(epsilon: Epsilon) -> Rho {
    let exact = Interval::from(epsilon);
    // tanh(ε/2) = (1 − e^−ε)/(1 + e^−ε)
    let tanh = -(-exact).exp_m1() / (Interval::ONE + (-exact).exp());
    // At most ε²/2 and ε, even after rounding; ε can be held.
    let most = half_square(epsilon).unwrap_or(Rho::LARGEST);
    let most = most.min(Rho::from_units(epsilon.units()).unwrap_or(most));
    (exact * tanh).up().map_or(most, |rho: Rho| rho.min(most))
}

/// The smallest ρ such that discrete Laplace noise of scale `steps/ε`, on a whole number that changes
/// by at most `steps`, is ρ-zCDP, rounded up: `ε − s/sinh(s) · (1 − e^−ε)` with s = ε/`steps`.
///
/// For one step this is [`pure`], ε·tanh(ε/2), which no ε-DP mechanism exceeds. For many it falls to
/// `ε − 1 + e^−ε`, that of continuous Laplace noise (Harrison and Manurangsi 2025).
///
/// ```
/// use queryables::privacy::convert::zcdp;
/// use std::num::NonZeroU64;
///
/// let epsilon = "1".parse()?;
/// let thousand = NonZeroU64::new(1000).expect("not zero");
/// let rho = zcdp::discrete_laplace(thousand, epsilon);
/// assert!(rho > "0.36787".parse()? && rho < "0.36788".parse()?);
/// assert!(zcdp::pure(epsilon) > "0.46".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Let P be the noise, `P(j) = (1 − q)/(1 + q) · q^|j|` with q = e^−s, and Q the same noise shifted by
/// k steps. Then D_α(P‖Q) ≤ α·ρ(k) for every α > 1, where `ρ(k) = ks − s/sinh(s) · (1 − e^−ks)` is the
/// Kullback–Leibler divergence, to which D_α/α tends as α falls to 1. So ρ(k) is exact. By symmetry it
/// is the same with P and Q exchanged.
///
/// *Proof.* Put β = α − 1/2 and `M(β) = Σ P^α Q^(1−α) = Σ √(PQ) · (P/Q)^β`. The middle places, 0 < j <
/// k, all have the same √(PQ); so, with y = e^(2βs) and c = q^(k/2)/(1 + q),
///
/// ```text
/// M(β) = c · y^(−k/2) · p(y),   p(y) = 1 + (1 − q)(y + … + y^(k−1)) + y^k.
/// ```
///
/// 1. *Every zero of p has |y| = 1.* `(1 − y)·p(y) = (1 − qy) − y^k·(y − q)`, so at a zero
///    `y^k · (y − q)/(1 − qy) = 1`. The left side is a Blaschke product: because 0 < q < 1, its absolute
///    value is below 1 where |y| < 1 and above 1 where |y| > 1.
/// 2. *So M is a product of simple factors.* p is real, and p(1) > 0. Its zeros are therefore pairs
///    e^(±iφ), and −1. A pair gives `(y − e^iφ)(y − e^−iφ)/y = 2cosh(2βs) − 2cos φ`, and −1 gives
///    `(y + 1)/√y = 2cosh(βs)`, whose square is the former with φ = π.
/// 3. *ln M is concave in u = β².* It is enough for one factor, ln(cosh t − b) with t = 2s√u and b from −1
///    to below 1. Its slope in u is 2s² times `sinh(t)/(t(cosh t − b))`, whose logarithm has the slope
///    `coth t − 1/t − sinh(t)/(cosh t − b)` in t. The last term is at least `sinh(t)/(cosh t + 1) =
///    tanh(t/2)`, and `coth t − tanh(t/2) = 1/sinh t ≤ 1/t`. So the slope in u falls.
/// 4. `α(α − 1) = u − 1/4`, and ln M = 0 at u = 1/4, where α = 1. So `D_α/α = ln M/(α(α − 1))` is the slope
///    of a chord of a concave function that starts at u = 1/4: it falls with α, and is largest in the limit
///    α → 1. ∎
///
/// *Smaller changes lose less, more than in proportion*: ρ(0) = 0, and `ρ(k + 1) − ρ(k) = s·(1 −
/// 2q^(k+1)/(1 + q))` is positive and rises with k. So ρ is convex, and of numbers with noise of their
/// own that each change by at most k steps, and all together by at most nk, the ρ(kᵢ) add up to at most
/// n·ρ(k).
///
/// *More ε loses more*: s/sinh(s) falls, so ρ rises with s at least as fast as ks + e^−ks does.
#[must_use]
pub fn discrete_laplace(steps: NonZeroU64, epsilon: Epsilon) -> Rho {
    let most = pure(epsilon);
    if steps == NonZeroU64::MIN || epsilon == Epsilon::ZERO {
        return most;
    }
    let whole = Interval::from(epsilon);
    let step = whole / Interval::whole(steps.get().into());
    // Two parts that are not negative: that of continuous noise, and what the steps add to it.
    let continuous = exp_m1_less_linear(-whole);
    let rho = continuous + rest(whole) * one_less_cosecant(step);
    rho.up().map_or(most, |rho: Rho| rho.min(most))
}

/// `1 − x/sinh(x)` for x > 0, precise near zero.
fn one_less_cosecant(x: Interval) -> Interval {
    if x.high() <= 1.0 {
        let rise = sinh_ratio_rise(Interval::ZERO, x, x.square());
        rise / (Interval::ONE + rise)
    } else {
        Interval::ONE - Interval::TWO * x * (-x).exp() / rest(x + x)
    }
}

/// The largest ε such that every ε-DP mechanism is ρ-zCDP, by [`pure`], rounded down.
///
/// ```
/// use queryables::privacy::convert::zcdp;
///
/// let epsilon = zcdp::pure_budget("0.5".parse()?);
/// assert!(epsilon > "1.0436".parse()? && epsilon < "1.0437".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure_budget(rho: Rho) -> Epsilon {
    // ε·tanh(ε/2) is at most ε, and about ε²/2 where that is less.
    let size = Interval::from(rho).middle();
    let guess = size.max((2.0 * size).sqrt());
    let units = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
        Epsilon::from_units(units).is_ok_and(|epsilon| pure(epsilon) <= rho)
    });
    units
        .and_then(|units| Epsilon::from_units(units).ok())
        .unwrap_or_default()
}
