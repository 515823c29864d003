//! Moments of a Gaussian mixture, by the trapezoidal rule with a proven error.
//!
//! Let n be the density of N(0, 1), A(x) = 1 − q + q·e^(μx − μ²/2), so that nA is the density of
//! (1 − q)N(0, 1) + qN(μ, 1), and B(x) = 1, or B(x) = A(−x), whose nB is the mixture with N(−μ, 1). The
//! moment of order α = 1 + a is I = ∫ n·A^α·B^(−a).
//!
//! # Nothing cancels
//!
//! ∫nA = ∫nB = 1, so I − 1 = ∫ n·(A^α·B^(−a) − B − α(A − B)). With L = ln(A/B) and E(x) = e^x − 1 − x, the
//! integrand g is n·A·(a·E(−L) + E(aL)), in which no term is negative.
//!
//! # The trapezoidal rule
//!
//! For a step h, let T be h·Σ g(kh) over all whole k. If w is analytic for |Im x| < c and ∫|w(x + ib)|dx
//! is at most M there, then the rule is wrong by at most 2M/(e^(2πc/h) − 1) for w (Trefethen and Weideman
//! 2014, Theorem 5.1). Take the three parts of g one by one:
//!
//! - |n(x + ib)| = n(x)·e^(b²/2), and |A(x + ib)| ≤ A(x), since A is a sum of a positive number and a
//!   positive multiple of e^(μx). So M = e^(c²/2) for nA, and the same for nB.
//! - For c ≤ 3/μ, neither A nor B is zero or negative (that takes |Im x| = π/μ), so that the powers
//!   are analytic. If B = 1, M = e^(c²/2)·I for n·A^α.
//! - If B(x) = A(−x), |s + te^(iθ)| ≥ (s + t)·cos(θ/2) for s, t ≥ 0, so |B(x + ib)| ≥ B(x)·cos(μb/2). For
//!   c ≤ 2/μ, the angle is at most 1, and ln(1/cos θ) ≤ 0.616θ² there. So M = e^(vc²/2)·I with
//!   v = 1 + 0.308·a·μ².
//!
//! With η = 2e^(vc²/2)/(e^(2πc/h) − 1), |T − (I − 1)| ≤ η(I + α + a) = η((I − 1) + 2α). The step is chosen
//! such that 2πc/h ≥ 112 + vc²/2, and then η < 3e^(−112) < 1e-48.
//!
//! # What is left out
//!
//! Terms left of −(μ + 15), and right of some X ≥ 15: g ≤ n·A^α·B^(−a) + a·n·B.
//!
//! - On the left, at −x: A(−x) ≤ 1, and B(−x) ≥ 1, so the first part is at most n(x). B(−x) is at most
//!   A(x), and nA is (1 − q)n(x) + q·n(x − μ). On the right, B ≤ 1. A sum over what falls is at most
//!   the integral, and that of n beyond 15 is at most n(15)/15 < 4e-51. So all but the first part on the
//!   right is less than (1 + 3a)·1e-50.
//! - The first part has the logarithm's derivative −x + μ(αs + aτ), where s ≤ 1 is the share of N(μ, 1)
//!   in A(x), and τ that of N(−μ, 1) in B(x), which falls. If d = X − αμ − aμτ(X) ≥ 1, it falls from X on at
//!   least like e^(−d(x − X)), and what is beyond X is at most 1/d times its value at X.

use super::stable::exp_m1_less_linear;
use crate::number::{Delta, Interval};

/// (1 − q)N(0, 1) + qN(μ, 1).
pub(super) struct Mixture {
    rate: Interval,
    /// 1 − q.
    rest: Interval,
    mu: Interval,
    /// μ²/2.
    half: Interval,
}

/// What it is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Against {
    /// N(0, 1).
    Nothing,
    /// (1 − q)N(0, 1) + qN(−μ, 1).
    Opposite,
}

/// With more places than this, it would take more than about half a second.
const MOST_PLACES: u32 = 1 << 18;

/// 3e^(−112).
const ETA: f64 = 1e-48;

/// n(15)/15, and more.
const TAIL: f64 = 1e-50;

/// ln √(2π).
fn log_root_of_tau() -> Interval {
    let log = 0.918_938_533_204_672_8_f64;
    Interval::between(log.next_down(), log.next_up())
}

impl Mixture {
    /// With this q, which is neither 0 nor 1, and with this μ²/2.
    pub(super) fn new(rate: Delta, half: Interval) -> Self {
        Self {
            rate: rate.into(),
            rest: Delta::ONE.saturating_sub(rate).into(),
            mu: (half + half).sqrt(),
            half,
        }
    }

    /// ln I for the order 1 + a, that is a times the Rényi divergence; `None` if that takes too many
    /// places.
    pub(super) fn log_moment(&self, against: Against, excess: Interval) -> Option<Interval> {
        let order = Interval::ONE + excess;
        let step = self.step(against, excess);
        let ends = (self.mu * (order + Interval::TWO)).high() + 40.0;
        let few = ends / step <= f64::from(MOST_PLACES);
        if !few {
            return None;
        }
        let mut sum = ScaledSum::ZERO;
        let left = libm::ceil((self.mu.high() + 15.0) / step);
        // Exact: the step has 24 bits, and the number of a place 20.
        let mut places = (0..2 * MOST_PLACES).map(|place| (f64::from(place) - left) * step);
        let beyond = places.find_map(|x| {
            let x = Interval::exactly(x);
            let place = self.place(against, x);
            place.add_to(&mut sum, excess);
            self.beyond(x, &place, excess, &sum)
        })?;
        let moment = sum.sum * Interval::exactly(step) + Interval::between(0.0, beyond.high());
        let unscaled = Interval::exactly(-sum.scale).exp();
        let off = Interval::between(-ETA, ETA) * (order + order)
            + Interval::between(0.0, TAIL) * (Interval::ONE + Interval::from(3) * excess);
        // A float's step around 1 is more than η.
        let about_one = Interval::between(1_f64.next_down(), 1_f64.next_up());
        let less_one = (moment + off * unscaled) / about_one;
        Some(if sum.scale == 0.0 {
            less_one.max(Interval::ZERO).ln_1p()
        } else {
            Interval::exactly(sum.scale) + (less_one + unscaled).ln()
        })
    }

    /// The largest step that is short enough, with 24 bits.
    fn step(&self, against: Against, excess: Interval) -> f64 {
        let mu = self.mu.high();
        let (largest, v) = match against {
            Against::Nothing => (3.0 / mu, 1.0),
            Against::Opposite => (2.0 / mu, 1.0 + 0.308 * excess.high() * mu * mu),
        };
        let width = libm::sqrt(224.0 / v).min(largest);
        // A thousandth less, for what floats round.
        let step = 0.999 * std::f64::consts::TAU * width / (112.0 + 0.5 * v * width * width);
        f64::from(step as f32)
    }

    fn place(&self, against: Against, x: Interval) -> Place {
        let move_ = self.mu * x;
        let log_a = self.log_of_mixture(move_ - self.half);
        let log_b = match against {
            Against::Nothing => Interval::ZERO,
            Against::Opposite => self.log_of_mixture(-move_ - self.half),
        };
        Place {
            log_density: -(x.square() / Interval::TWO) - log_root_of_tau(),
            log_a,
            log_b,
        }
    }

    /// ln(1 − q + q·e^y).
    pub(super) fn log_of_mixture(&self, y: Interval) -> Interval {
        if y.low() > 600.0 {
            y + (self.rate + self.rest * (-y).exp()).ln()
        } else if self.rate.high() <= 0.5 || y.low() > -0.5 {
            (self.rate * y.exp_m1()).ln_1p()
        } else {
            (self.rest + self.rate * y.exp()).ln()
        }
    }

    /// A bound for what is right of this place, if it is small; scaled as the sum is.
    fn beyond(
        &self,
        x: Interval,
        place: &Place,
        excess: Interval,
        sum: &ScaledSum,
    ) -> Option<Interval> {
        if x.low() < 15.0 {
            return None;
        }
        // The share of N(−μ, 1) in B; where B is 1 it is not needed, and does no harm.
        let share = (self.rate.ln() - self.mu * x - self.half - place.log_b).exp();
        let slope = x - self.mu * (Interval::ONE + excess + excess * share);
        let log = place.log_power(excess) - Interval::exactly(sum.scale);
        (slope.low() >= 1.0 && log.high() < -112.0).then(|| log.exp() / slope)
    }
}

/// Logarithms of n, A and B at one place.
struct Place {
    log_density: Interval,
    log_a: Interval,
    log_b: Interval,
}

impl Place {
    /// ln(A/B).
    fn log_ratio(&self) -> Interval {
        self.log_a - self.log_b
    }

    /// ln(n·A^α·B^(−a)).
    fn log_power(&self, excess: Interval) -> Interval {
        self.log_density + self.log_a + excess * self.log_ratio()
    }

    /// Adds n·A·(a·E(−L) + E(aL)), written so that nothing overflows: with R(x) = 1 − (1 + x)e^(−x),
    /// E(x) is e^x·R(x), and A is e^L·B.
    fn add_to(&self, sum: &mut ScaledSum, excess: Interval) {
        let ratio = self.log_ratio();
        let (log_a, log_b) = (self.log_density + self.log_a, self.log_density + self.log_b);
        let scaled = excess * ratio;
        if ratio.middle() >= 0.0 {
            sum.add(log_a, excess * exp_m1_less_linear(-ratio));
            sum.add(log_a + scaled, exp_m1_less_linear_ratio(scaled));
        } else {
            sum.add(log_b, excess * exp_m1_less_linear_ratio(-ratio));
            sum.add(log_a, exp_m1_less_linear(scaled));
        }
    }
}

/// `1 − (1 + x)e^(−x)`.
fn exp_m1_less_linear_ratio(x: Interval) -> Interval {
    if x.high() <= 0.5 {
        return (-x).exp() * exp_m1_less_linear(x);
    }
    Interval::ONE - (Interval::ONE + x) * (-x).exp()
}

/// A sum of numbers of which some are too large to hold, in units of e^scale.
struct ScaledSum {
    scale: f64,
    sum: Interval,
}

impl ScaledSum {
    const ZERO: Self = Self {
        scale: 0.0,
        sum: Interval::ZERO,
    };

    /// Adds `e^log · factor`, for a factor that is not larger than the largest order.
    fn add(&mut self, log: Interval, factor: Interval) {
        // Whole numbers of this size are added exactly.
        let excess = libm::ceil(log.high() - self.scale);
        if excess > 600.0 {
            self.sum = self.sum * Interval::exactly(-excess).exp();
            self.scale += excess;
        }
        let log = log - Interval::exactly(self.scale);
        self.sum = self.sum + log.exp() * factor;
    }
}

#[cfg(test)]
mod tests;
