//! Released values, without the end that noise does not have.
//!
//! Noise is infinite, so that following it to a cut leaves something unknown: enough for δ(ε), and
//! nothing at all for a ratio. Where a mechanism only says what it releases
//! ([`ReleasesOnly`](crate::machine::ReleasesOnly)), a finite machine does at least as badly. Let all truths `c` that occur, on both datasets, lie in `A..=B`.
//!
//! **Discrete Laplace noise.** Let `V = c + Z`, and let `W` be V clamped to `A..=B+1`. For `k ≥ 0`,
//! `P(V = A − k) = (1−q)/(1+q) · q^(c−A) · q^k`, so that given `W = A` the excess `A − V` is
//! geometric, whatever c is; in the same way `V − B − 1`, given `W = B + 1`. So V is drawn from W
//! and q with coins that know nothing of the data. By the promise, what is said when V was released
//! is a function of what is said when W was, of V and of W. So the views are a postprocessing, by a
//! person in the middle, of those of the machine that releases W and tells it with its law (the law
//! could itself depend on the data): and no divergence of them is larger. Nothing is cut. The person
//! asks what the adversary asks after V, so this must be on the menu after W: menus that [read
//! answers](super::Menu::reads_answers) are not explored in this way.
//!
//! **Gaussian noise, at a Rényi order α.** Let `p_c` be the law of V, and h the distance from a
//! value to its truth by which it is known: 0 for discrete, 1/2 for rounded noise. Beyond B,
//! `p_c(v) ≤ h(v) = F e^(−(v−a)²/2σ²)` with `a = B + h`, and `p_c(v) ≥ l(v) = F e^(−(v−b)²/2σ²)`
//! with `b = A − h`, where F is the same for all: `1/Σe^(−k²/2σ²) ≤ 1`, or the density's
//! `1/(σ√2π)`, which is at most `max(1, 1/σ²)`. Let hidden states have weights `w_i`, `w′_i` on the
//! two datasets, and lead on to a view with `r_i`, `r′_i`. What all values beyond some `E ≥ B` add
//! to the sum of the order is at most
//! `Σ_v (h(v) Σ w_i r_i)^α (l(v) Σ w′_i r′_i)^(1−α) = T (Σ w_i r_i)^α (Σ w′_i r′_i)^(1−α)`
//! with `T = Σ_v h(v)^α l(v)^(1−α)`. So they count as one value that is told with its law, with a
//! mass of T on both sides. The exponent of a term, `[α(v−a)² − (α−1)(v−b)²] / 2σ²`, rises by
//! `(v − v* + 1/2)/σ²` from v to v + 1, where `v* = a + (α−1)(a−b)`: beyond v* the terms fall faster
//! than a geometric series. E is chosen such that T is below 2⁻⁵⁰. The same holds below A. Masses
//! are known down to 2⁻²⁰⁰, some 16σ from a truth, which is enough for `(α−1)(B−A+1)/σ` up to about 5;
//! beyond, a claim stays undecided. Several releases are several such steps, one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dashu_int::UBig;

use super::error::MOST_OUTCOMES;
use super::laws::{Listed, gaussian, rational, rounded_gaussian};
use super::meter::Meter;
use super::{Interval, Rational, VerifyError};
use crate::machine::ClosedForm;
use crate::number::Ratio;

/// Where truths lie, as far as they were met.
type Truths = Option<(i128, i128)>;

/// What values are released as, in an exploration that bounds a divergence from above.
#[derive(Clone, Debug)]
pub(super) struct Window {
    truths: Truths,
    /// Those that were met in the exploration: it counts if they are among `truths`.
    met: Arc<Mutex<Truths>>,
    /// The Rényi orders that are asked for; none if the ratio is.
    orders: Vec<Rational>,
    /// What was computed, by the law and the truth.
    known: Arc<Mutex<Known>>,
    meter: Arc<Meter>,
}

type Known = HashMap<(ClosedForm, i128), Arc<Listed>>;

fn hull(one: Truths, other: Truths) -> Truths {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

impl Window {
    pub(super) fn new(orders: Vec<Rational>, meter: &Arc<Meter>) -> Self {
        Self {
            truths: None,
            met: Arc::default(),
            orders,
            known: Arc::default(),
            meter: Arc::clone(meter),
        }
    }

    /// A window for all truths that were met so far; `None` if this one held them all.
    pub(super) fn wider(&self) -> Option<Self> {
        let met = *self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let truths = hull(self.truths, met);
        (truths != self.truths).then(|| Self {
            truths,
            ..Self::new(self.orders.clone(), &self.meter)
        })
    }

    /// Whether no value was ever released: then nothing was taken together.
    pub(super) fn is_unused(&self) -> bool {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.is_none()
    }

    /// Whether values with this noise are taken together.
    pub(super) fn holds(&self, law: &ClosedForm) -> bool {
        match law {
            ClosedForm::DiscreteLaplace { scale } => scale.numerator() > 0,
            ClosedForm::DiscreteGaussian { variance }
            | ClosedForm::RoundedGaussian { variance } => {
                variance.numerator() > 0 && !self.orders.is_empty()
            }
            _ => false,
        }
    }

    /// A truth is met.
    pub(super) fn meet(&self, truth: i128) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        *met = hull(*met, Some((truth, truth)));
    }

    /// What is released in place of this truth with noise.
    pub(super) fn values(&self, law: &ClosedForm, truth: i128) -> Result<Arc<Listed>, VerifyError> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (law.clone(), truth);
        if let Some(values) = lock().get(&key) {
            return Ok(Arc::clone(values));
        }
        let values = Arc::new(self.compute(law, truth)?);
        lock().insert(key, Arc::clone(&values));
        Ok(values)
    }

    fn compute(&self, law: &ClosedForm, truth: i128) -> Result<Listed, VerifyError> {
        let (low, high) = hull(self.truths, Some((truth, truth))).unwrap_or((truth, truth));
        match law {
            ClosedForm::DiscreteLaplace { scale } => {
                let rate = scale.inverse().ok_or(VerifyError::OutOfRange("a rate"))?;
                laplace(&rational(rate), [low, truth, high], &self.meter)
            }
            ClosedForm::DiscreteGaussian { variance } => {
                self.gaussian(*variance, [low, truth, high], false)
            }
            ClosedForm::RoundedGaussian { variance } => {
                self.gaussian(*variance, [low, truth, high], true)
            }
            _ => Err(VerifyError::OutOfRange("a law without window")),
        }
    }

    fn gaussian(
        &self,
        variance: Ratio,
        [low, truth, high]: [i128; 3],
        rounded: bool,
    ) -> Result<Listed, VerifyError> {
        // So far out that all values of the window are listed: an interval is no finer than 2⁻²⁵⁶,
        // so that these masses are still known to many digits.
        let far = Rational::from_parts(1.into(), UBig::ONE << 200);
        let listed = match rounded {
            true => rounded_gaussian(variance, &far, &self.meter),
            false => gaussian(variance, &far, &self.meter),
        }?;
        let variance = &rational(variance);
        let apart = u64::try_from(high - low).map_err(|_| TOO_WIDE)?;
        let half = Rational::from_parts(u8::from(rounded).into(), 2_u8.into());
        let beyond = Beyond {
            apart: Rational::from(apart) + &half + &half,
            half,
            variance,
            density: if rounded {
                Rational::ONE.max(Rational::ONE / variance)
            } else {
                Rational::ONE
            },
        };
        let (margin, mass) = beyond.margin(&self.orders)?;
        let (first, last) = (low - i128::from(margin), high + i128::from(margin));
        if u64::try_from(last - first).map_or(true, |wide| wide > MOST_OUTCOMES) {
            return Err(TOO_WIDE);
        }
        let farthest = listed.branches.iter().map(|(noise, _)| *noise).max();
        if farthest.is_none_or(|farthest| (last - truth).max(truth - first) > farthest) {
            return Err(VerifyError::OutOfRange("the window of released values"));
        }
        let values = listed.branches.iter();
        let values = values.map(|(noise, mass)| (truth + noise, mass.clone()));
        let inside = values.filter(|(value, _)| (first..=last).contains(value));
        let ends = [first - 1, last + 1].map(|value| (value, Interval::exact(mass.clone())));
        Listed::all(&self.meter, inside.chain(ends))
    }
}

const TOO_WIDE: VerifyError = VerifyError::OutOfRange("the distance of released values");

/// The clamped value: everything from the lowest truth down, everything beyond the highest.
fn laplace(
    rate: &Rational,
    [low, truth, high]: [i128; 3],
    meter: &Arc<Meter>,
) -> Result<Listed, VerifyError> {
    let above = high.checked_add(1).ok_or(TOO_WIDE)?;
    let wide = u64::try_from(high - low).map_err(|_| TOO_WIDE)?;
    if wide > MOST_OUTCOMES {
        return Err(TOO_WIDE);
    }
    let one = Interval::exact(Rational::ONE);
    let q = Interval::exp_minus(rate);
    // Each from the one before: an exponential for each of them would take long. Every product is
    // rounded outward, to far more digits than are lost on the way.
    let farthest = (truth - low).max(above - truth).unsigned_abs() as usize;
    let next = |last: &Interval| Some(last.times(&q));
    let powers: Vec<_> = std::iter::successors(Some(one.clone()), next)
        .take(farthest + 1)
        .collect();
    let half = one.over(&one.plus(&q)).unwrap_or_else(|| one.clone());
    let inside = half.times(&one.minus(&q));
    let values = (low..=above).map(|value| {
        let share = if value == low || value == above {
            &half
        } else {
            &inside
        };
        let power = powers.get((value - truth).unsigned_abs() as usize);
        let mass = power.map_or(Interval::ZERO, |power| share.times(power));
        (value, mass)
    });
    Listed::all(meter, values)
}

/// What lies beyond a window, as an upper bound at Rényi orders.
struct Beyond<'a> {
    /// `a − b`.
    apart: Rational,
    half: Rational,
    variance: &'a Rational,
    density: Rational,
}

impl Beyond<'_> {
    /// How far beyond the truths values are listed, and the mass T of what is beyond that.
    fn margin(&self, orders: &[Rational]) -> Result<(u64, Rational), VerifyError> {
        let fine = Rational::from_parts(1.into(), UBig::ONE << 50);
        let mut margin = 1_u64;
        loop {
            let masses = orders.iter().map(|order| self.mass(order, margin));
            let worst: Option<Vec<_>> = masses.collect();
            if let Some(worst) = worst.and_then(|all| all.into_iter().max())
                && worst <= fine
            {
                return Ok((margin, worst));
            }
            if margin > MOST_OUTCOMES {
                return Err(TOO_WIDE);
            }
            margin = margin + 1 + margin / 16;
        }
    }

    /// The sum of the terms from `v = B + margin + 1` on; `None` where they do not fall yet.
    fn mass(&self, order: &Rational, margin: u64) -> Option<Rational> {
        let one = Rational::ONE;
        let excess = order - &one;
        // v − a and v − b.
        let near = Rational::from(margin) + &one - &self.half;
        let far = &near + &self.apart;
        let twice = self.variance * Rational::from(2_u8);
        let exponent = (order * &near * &near - &excess * &far * &far) / twice;
        let rise = (&near - &excess * &self.apart + Rational::from_parts(1.into(), 2_u8.into()))
            / self.variance;
        if exponent < Rational::ZERO || rise <= Rational::ZERO {
            return None;
        }
        let first = Interval::exp_minus(&exponent);
        let ratio = Interval::exp_minus(&rise);
        let left = Interval::exact(one).minus(&ratio);
        let sum = first.over(&left)?;
        Some(sum.high() * &self.density)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Ratio;
    use crate::verify::Limits;

    fn ratio(numerator: u128, denominator: u128) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    fn window(truths: (i128, i128), orders: &[u8]) -> Window {
        let orders = orders.iter().map(|order| Rational::from(*order)).collect();
        let window = Window::new(orders, &Arc::new(Meter::new(Limits::default())));
        window.meet(truths.0);
        window.meet(truths.1);
        window.wider().unwrap()
    }

    /// The masses of a list of outcomes, as floats.
    fn floats(listed: &Listed) -> Vec<(i128, f64)> {
        assert_eq!(listed.rest, Rational::ZERO);
        let float = |mass: &Interval| mass.low().to_f64();
        let mut list: Vec<_> = listed
            .branches
            .iter()
            .map(|(v, m)| (*v, float(m)))
            .collect();
        list.sort_by_key(|(value, _)| *value);
        list
    }

    #[test]
    fn laplace_noise_is_clamped_to_where_truths_lie() {
        let law = ClosedForm::DiscreteLaplace { scale: ratio(2, 1) };
        let window = window((3, 5), &[]);
        let q = (-0.5_f64).exp();
        for truth in 3..=5 {
            let listed = floats(&window.values(&law, truth).unwrap());
            let values: Vec<_> = listed.iter().map(|(value, _)| *value).collect();
            assert_eq!(values, [3, 4, 5, 6]);
            // Summed up from the law itself.
            let mass = |noise: i128| (1.0 - q) / (1.0 + q) * q.powi(noise.abs() as i32);
            let below: f64 = (-200..=3 - truth).map(mass).sum();
            let above: f64 = (6 - truth..200).map(mass).sum();
            let expected = [below, mass(4 - truth), mass(5 - truth), above];
            for ((value, found), expected) in listed.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{truth} {value}");
            }
        }
    }

    #[test]
    fn truths_beyond_the_window_widen_it() {
        let first = window((3, 5), &[]);
        assert!(first.wider().is_none());
        first.meet(4);
        assert!(first.wider().is_none());
        first.meet(9);
        assert_eq!(first.wider().unwrap().truths, Some((3, 9)));
    }

    #[test]
    fn what_lies_beyond_a_gaussian_window_adds_no_more_than_its_mass() {
        for (law, half) in [
            (
                ClosedForm::DiscreteGaussian {
                    variance: ratio(9, 4),
                },
                0.0,
            ),
            (
                ClosedForm::RoundedGaussian {
                    variance: ratio(9, 4),
                },
                0.5,
            ),
        ] {
            for order in [2_u8, 3] {
                let window = window((0, 2), &[order]);
                let listed = floats(&window.values(&law, 0).unwrap());
                let (first, last) = (listed[0], listed[listed.len() - 1]);
                assert_eq!(first.1, last.1);
                assert!(last.1 > 0.0 && last.1 < 1e-15);
                // The terms of the proof, in floats, from the end of the window on.
                let alpha = f64::from(order);
                let (a, b) = (2.0 + half, -half);
                let terms = (0..200).map(|k| {
                    let v = last.0 as f64 + f64::from(k);
                    (-(alpha * (v - a).powi(2) - (alpha - 1.0) * (v - b).powi(2)) / 4.5).exp()
                });
                let sum: f64 = terms.sum();
                assert!(sum <= last.1 * (1.0 + 1e-9), "{sum} {}", last.1);
                assert!(sum >= last.1 / 10.0, "{sum} {}", last.1);
                let inside: f64 = listed.iter().map(|(_, mass)| mass).sum();
                assert!((inside - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn gaussian_values_are_not_taken_together_for_a_ratio() {
        let law = ClosedForm::RoundedGaussian {
            variance: ratio(1, 1),
        };
        assert!(!window((0, 1), &[]).holds(&law));
        assert!(window((0, 1), &[2]).holds(&law));
        // No noise, nothing to take together.
        let none = ClosedForm::DiscreteLaplace { scale: ratio(0, 1) };
        assert!(!window((0, 1), &[2]).holds(&none));
        assert!(!window((0, 1), &[2]).holds(&ClosedForm::FollowSampler));
    }

    #[test]
    fn orders_that_reach_too_far_are_errors() {
        let law = ClosedForm::RoundedGaussian {
            variance: ratio(1, 1),
        };
        assert!(window((0, 1), &[3]).values(&law, 0).is_ok());
        assert_eq!(
            window((0, 1), &[16]).values(&law, 0).unwrap_err(),
            VerifyError::OutOfRange("the window of released values")
        );
    }

    #[test]
    fn windows_that_are_too_wide_are_errors() {
        let law = ClosedForm::DiscreteLaplace { scale: ratio(1, 1) };
        let wide = window((0, 1 << 40), &[]);
        assert_eq!(wide.values(&law, 0).unwrap_err(), TOO_WIDE);
        let law = ClosedForm::RoundedGaussian {
            variance: ratio(1, 1),
        };
        let wide = window((0, 1 << 40), &[2]);
        assert_eq!(wide.values(&law, 0).unwrap_err(), TOO_WIDE);
    }

    #[test]
    fn what_is_remembered_is_counted() {
        let window = window((0, 1000), &[]);
        let held = || window.meter.progress().memory;
        let law = ClosedForm::DiscreteLaplace { scale: ratio(1, 1) };
        drop(window.values(&law, 0).unwrap());
        assert!(held() > 100_000, "{}", held());
        let meter = Arc::clone(&window.meter);
        drop(window);
        assert_eq!(meter.progress().memory, 0);
    }
}
