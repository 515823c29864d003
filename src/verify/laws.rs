//! The probabilities of named laws, as certified intervals.

use std::sync::Arc;

use dashu_int::UBig;

use super::error::MOST_OUTCOMES;
use super::meter::{Held, Meter};
use super::tree::size_in_table;
use super::{Interval, Rational, VerifyError};
use crate::machine::ClosedForm;
use crate::number::Ratio;

/// The outcomes of a draw, as far as they are listed.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) branches: Vec<(i128, Interval)>,
    /// At most this probability is not listed.
    pub(super) rest: Rational,
    held: Held,
}

impl Listed {
    pub(super) fn new(meter: &Arc<Meter>) -> Self {
        Self {
            branches: Vec::new(),
            rest: Rational::ZERO,
            held: Held::new(meter, 0),
        }
    }

    /// These are all.
    pub(super) fn all(
        meter: &Arc<Meter>,
        branches: impl IntoIterator<Item = (i128, Interval)>,
    ) -> Result<Self, VerifyError> {
        let mut listed = Self::new(meter);
        for (outcome, mass) in branches {
            listed.push(outcome, mass)?;
        }
        Ok(listed)
    }

    /// One more outcome. A list may take long, and much memory, so that both are looked at here.
    fn push(&mut self, outcome: i128, mass: Interval) -> Result<(), VerifyError> {
        let entry = size_in_table::<(i128, Interval)>();
        self.held.grow(entry + mass.size_on_heap());
        self.held.meter().check()?;
        self.branches.push((outcome, mass));
        Ok(())
    }
}

/// The outcomes of a named law, but for a probability of at most `cut`.
///
/// # Errors
///
/// [`VerifyError::TooManyOutcomes`] if there are too many, and [`VerifyError::OutOfRange`] for a
/// law without end that is to be cut below 2⁻²⁴⁰: intervals are no finer than 2⁻²⁵⁶. For the
/// rounded Gaussian law it is 2⁻¹²⁰: the relative error there is larger, because the tail is less
/// probable.
pub(super) fn list(
    support: &ClosedForm,
    cut: &Rational,
    meter: &Arc<Meter>,
) -> Result<Listed, VerifyError> {
    let one = Interval::exact(Rational::ONE);
    let finest = match support {
        ClosedForm::Geometric { .. }
        | ClosedForm::DiscreteLaplace { .. }
        | ClosedForm::DiscreteGaussian { .. } => Rational::from_parts(1.into(), UBig::ONE << 240),
        ClosedForm::RoundedGaussian { .. } => Rational::from_parts(1.into(), UBig::ONE << 120),
        _ => Rational::ZERO,
    };
    if *cut < finest {
        return Err(VerifyError::OutOfRange("the inverse of the cut"));
    }
    if *cut < Rational::from_parts(1.into(), 2_u8.into()) && is_too_wide(support) {
        let outcomes = MOST_OUTCOMES + 1;
        return Err(VerifyError::TooManyOutcomes { outcomes });
    }
    match support {
        ClosedForm::BernoulliExp { exponent } => {
            let heads = Interval::exp_minus(&rational(*exponent));
            Listed::all(meter, [(0, one.minus(&heads)), (1, heads)])
        }
        ClosedForm::Logistic { exponent } => {
            // 1 / (1 + e^x) = e^-x / (1 + e^-x)
            let power = Interval::exp_minus(&rational(*exponent));
            Listed::all(meter, shares(&[one, power]))
        }
        ClosedForm::ExponentialChoice { gaps, rate } => {
            let rate = rational(*rate);
            // From the smallest on: of a choice whose weights are all next to nothing, nothing
            // would be known.
            let smallest = gaps.iter().min().copied().unwrap_or_default();
            let weights: Vec<_> = gaps
                .iter()
                .map(|gap| Interval::exp_minus(&(&rate * Rational::from(gap - smallest))))
                .collect();
            Listed::all(meter, shares(&weights))
        }
        ClosedForm::Geometric { scale } => geometric(*scale, cut, false, meter),
        ClosedForm::DiscreteLaplace { scale } => geometric(*scale, cut, true, meter),
        ClosedForm::DiscreteGaussian { variance } => gaussian(*variance, cut, meter),
        ClosedForm::RoundedGaussian { variance } => rounded_gaussian(*variance, cut, meter),
        // These are followed otherwise.
        _ => Ok(Listed::new(meter)),
    }
}

/// Whether all outcomes that may be listed have less than one half of the probability, which is seen
/// without listing them: no outcome has more than 1/s, or 1/(2s) on both sides, where s is the scale,
/// and than 1/(σ√2π) for Gaussian laws.
fn is_too_wide(support: &ClosedForm) -> bool {
    let most = u128::from(MOST_OUTCOMES);
    let is_above = |ratio: &Ratio, bound: u128| rational(*ratio) > Rational::from(bound);
    match support {
        ClosedForm::Geometric { scale } | ClosedForm::DiscreteLaplace { scale } => {
            is_above(scale, 3 * most)
        }
        ClosedForm::DiscreteGaussian { variance } | ClosedForm::RoundedGaussian { variance } => {
            is_above(variance, most * most)
        }
        _ => false,
    }
}

pub(super) fn rational(ratio: Ratio) -> Rational {
    Rational::from_parts(ratio.numerator().into(), ratio.denominator().get().into())
}

/// Each weight over their sum.
fn shares(weights: &[Interval]) -> Vec<(i128, Interval)> {
    let total = weights
        .iter()
        .fold(Interval::ZERO, |sum, weight| sum.plus(weight));
    // A sum that may be zero says nothing about the shares.
    let unknown = Interval::between(Rational::ZERO, Rational::ONE);
    let share = |weight: &Interval| weight.over(&total).unwrap_or_else(|| unknown.clone());
    (0..).zip(weights.iter().map(share)).collect()
}

/// `(1 - q) q^k`, or `(1 - q) / (1 + q) q^|k|` on both sides, where `q = e^(-1 / scale)`.
///
/// What lies beyond `k` has a probability of `q^(k + 1)`, or `2 q^(k + 1) / (1 + q)`, which is less
/// than `2 q^(k + 1)`.
fn geometric(
    scale: Ratio,
    cut: &Rational,
    both: bool,
    meter: &Arc<Meter>,
) -> Result<Listed, VerifyError> {
    let one = Interval::exact(Rational::ONE);
    let Some(rate) = scale.inverse() else {
        // No noise at all.
        return Listed::all(meter, [(0, one)]);
    };
    let q = Interval::exp_minus(&rational(rate));
    let sides = Rational::from(1 + u8::from(both));
    let mut mass = one.minus(&q);
    if both && let Some(halved) = mass.over(&one.plus(&q)) {
        mass = halved;
    }
    let mut listed = Listed::all(meter, [(0, mass.clone())])?;
    let mut beyond = q.clone();
    let mut k = 0;
    loop {
        let rest = beyond.high() * &sides;
        if rest <= *cut {
            return Ok(Listed { rest, ..listed });
        }
        let outcomes = listed.branches.len() as u64;
        if outcomes > MOST_OUTCOMES {
            return Err(VerifyError::TooManyOutcomes { outcomes });
        }
        k += 1;
        mass = mass.times(&q);
        listed.push(k, mass.clone())?;
        if both {
            listed.push(-k, mass.clone())?;
        }
        beyond = beyond.times(&q);
    }
}

/// Proportional to `w_k = e^(-k² / (2 variance))`.
///
/// From one weight to the next the ratio falls, so that beyond `k` there is at most
/// `2 w_(k+1) / (1 - r)` with `r = w_(k+2) / w_(k+1)`.
pub(super) fn gaussian(
    variance: Ratio,
    cut: &Rational,
    meter: &Arc<Meter>,
) -> Result<Listed, VerifyError> {
    let one = Interval::exact(Rational::ONE);
    let Some(rate) = variance.inverse().map(rational) else {
        return Listed::all(meter, [(0, one)]);
    };
    let weight = |k: u64| {
        let square = Rational::from(u128::from(k) * u128::from(k));
        Interval::exp_minus(&(&rate * square / Rational::from(2_u8)))
    };
    let mut weights = Listed::all(meter, [(0, weight(0))])?;
    let mut total = one.clone();
    loop {
        let k = weights.branches.len() as u64;
        let (next, after) = (weight(k), weight(k + 1));
        let ratio = after.over(&next).unwrap_or_else(|| one.clone());
        let tail = next.plus(&next).over(&one.minus(&ratio));
        if let Some(tail) = tail
            && tail.high() <= cut
        {
            let whole = Interval::between(total.low().clone(), total.high() + tail.high());
            // The sum of all weights is at least the first, which is 1.
            let rest = tail.high().clone();
            return mirrored(weights, &whole, rest);
        }
        if 2 * k > MOST_OUTCOMES {
            return Err(VerifyError::TooManyOutcomes { outcomes: 2 * k });
        }
        total = total.plus(&next).plus(&next);
        weights.push(k.into(), next)?;
    }
}

/// Proportional to the integral of `e^(-x² / (2 variance))` from `k - 1/2` to `k + 1/2`.
///
/// Beyond x it is at most `variance / x · e^(-x² / (2 variance))` on each side.
pub(super) fn rounded_gaussian(
    variance: Ratio,
    cut: &Rational,
    meter: &Arc<Meter>,
) -> Result<Listed, VerifyError> {
    if variance.numerator() == 0 {
        return Listed::all(meter, [(0, Interval::exact(Rational::ONE))]);
    }
    let variance = rational(variance);
    let two = Rational::from(2_u8);
    let end_of = |k: u64| Rational::from(2 * u128::from(k) + 1) / &two;
    let beyond = |x: &Rational| {
        let power = Interval::exp_minus(&(x * x / &variance / &two));
        power.high() * &variance / x
    };
    // One half of the line, up to the end of the share of k.
    let mut so_far = bell_up_to(&end_of(0), &variance);
    let mut weights = Listed::all(meter, [(0, so_far.plus(&so_far))])?;
    loop {
        let k = weights.branches.len() as u64 - 1;
        let tail = beyond(&end_of(k));
        // The half line is at least what is known of it.
        let rest = &tail / so_far.low();
        if rest <= *cut {
            let half = Interval::between(so_far.low().clone(), so_far.high() + &tail);
            return mirrored(weights, &half.plus(&half), rest);
        }
        if 2 * k > MOST_OUTCOMES {
            return Err(VerifyError::TooManyOutcomes { outcomes: 2 * k });
        }
        let next = bell_up_to(&end_of(k + 1), &variance);
        weights.push(i128::from(k) + 1, next.minus(&so_far))?;
        so_far = next;
    }
}

/// The integral of `e^(-t² / (2 variance))` from 0 to x: `e^(-x² / (2 variance))` times the sum of
/// `x^(2n+1) / (variance^n · 1·3·5…(2n+1))`.
///
/// Where a term is at most half of the one before, those after it add up to no more than it.
fn bell_up_to(x: &Rational, variance: &Rational) -> Interval {
    let tiny = Rational::from_parts(1.into(), UBig::ONE << 250);
    let square = x * x / variance;
    let mut term = Interval::exact(x.clone());
    let mut sum = term.clone();
    for odd in (3_u32..).step_by(2) {
        let falls = &square / Rational::from(odd);
        let halves = &falls + &falls <= Rational::ONE;
        term = term.times(&Interval::exact(falls));
        if halves && *term.high() <= tiny {
            break;
        }
        sum = sum.plus(&term);
    }
    let rest = term.high() + term.high();
    let series = Interval::between(sum.low().clone(), sum.high() + rest);
    Interval::exp_minus(&(square / Rational::from(2_u8))).times(&series)
}

/// Each weight over the whole, which is not zero, on both sides of zero.
fn mirrored(weights: Listed, whole: &Interval, rest: Rational) -> Result<Listed, VerifyError> {
    let mut listed = Listed::new(weights.held.meter());
    for (k, weight) in &weights.branches {
        let Some(share) = weight.over(whole) else {
            continue;
        };
        if *k > 0 {
            listed.push(*k, share.clone())?;
            listed.push(-k, share)?;
        } else {
            listed.push(*k, share)?;
        }
    }
    Ok(Listed { rest, ..listed })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::verify::Limits;

    fn meter() -> Arc<Meter> {
        Arc::new(Meter::new(Limits::default()))
    }

    fn cut() -> Rational {
        Rational::from_parts(1.into(), 1_000_000_u32.into())
    }

    fn ratio(numerator: u128, denominator: u128) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    /// The listed masses and the rest hold 1 between them, tightly, and the rest is below the cut.
    fn assert_whole(support: &ClosedForm) -> Listed {
        let listed = list(support, &cut(), &meter()).unwrap();
        let sum = listed
            .branches
            .iter()
            .fold(Interval::ZERO, |sum, (_, mass)| sum.plus(mass));
        assert!(*sum.low() <= Rational::ONE, "{support:?}");
        assert!(sum.high() + &listed.rest >= Rational::ONE, "{support:?}");
        assert!(listed.rest <= cut(), "{support:?}");
        assert!(sum.high() - sum.low() <= cut(), "{support:?}");
        listed
    }

    #[test]
    fn every_law_is_whole() {
        for support in [
            ClosedForm::BernoulliExp {
                exponent: ratio(1, 3),
            },
            ClosedForm::BernoulliExp {
                exponent: ratio(5000, 1),
            },
            ClosedForm::Logistic {
                exponent: ratio(3, 2),
            },
            ClosedForm::ExponentialChoice {
                gaps: vec![0, 3, 1],
                rate: ratio(1, 2),
            },
            ClosedForm::Geometric { scale: ratio(3, 2) },
            ClosedForm::DiscreteLaplace { scale: ratio(3, 2) },
            ClosedForm::DiscreteLaplace { scale: ratio(0, 1) },
            ClosedForm::DiscreteGaussian {
                variance: ratio(5, 2),
            },
            ClosedForm::DiscreteGaussian {
                variance: ratio(0, 1),
            },
            ClosedForm::RoundedGaussian {
                variance: ratio(5, 2),
            },
            ClosedForm::RoundedGaussian {
                variance: ratio(1, 50),
            },
            ClosedForm::RoundedGaussian {
                variance: ratio(0, 1),
            },
        ] {
            assert_whole(&support);
        }
    }

    #[test]
    fn what_is_too_wide_is_an_error_at_once() {
        let outcomes = MOST_OUTCOMES + 1;
        let wide = u128::MAX;
        for support in [
            ClosedForm::Geometric {
                scale: ratio(wide, 1),
            },
            ClosedForm::DiscreteLaplace {
                scale: ratio(wide, 1),
            },
            ClosedForm::DiscreteGaussian {
                variance: ratio(wide, 1),
            },
            ClosedForm::RoundedGaussian {
                variance: ratio(wide, 1),
            },
        ] {
            let found = list(&support, &cut(), &meter()).unwrap_err();
            assert_eq!(found, VerifyError::TooManyOutcomes { outcomes });
        }
        // Half of them could be listed.
        let scale = ratio(u128::from(MOST_OUTCOMES), 1);
        assert!(!is_too_wide(&ClosedForm::DiscreteLaplace { scale }));
    }

    /// The first ten decimals.
    fn assert_digits(mass: &Interval, digits: u64) {
        let scale = Rational::from(10_000_000_000_u64);
        assert_eq!((mass.low() * &scale).floor(), digits.into(), "{mass}");
        assert_eq!((mass.high() * &scale).floor(), digits.into(), "{mass}");
    }

    #[test]
    fn masses_are_those_of_the_law() {
        // q = 1/e: (1 - q) q^2 and (1 - q) / (1 + q) q^2.
        let listed = assert_whole(&ClosedForm::Geometric { scale: ratio(1, 1) });
        assert_eq!(listed.branches[2].0, 2);
        assert_digits(&listed.branches[2].1, 855_482_148);
        let listed = assert_whole(&ClosedForm::DiscreteLaplace { scale: ratio(1, 1) });
        assert_eq!((listed.branches[3].0, listed.branches[4].0), (2, -2));
        assert_digits(&listed.branches[4].1, 625_407_563);
        // e^-x / (1 + e^-x) at x = 1.
        let listed = assert_whole(&ClosedForm::Logistic {
            exponent: ratio(1, 1),
        });
        assert_digits(&listed.branches[1].1, 2_689_414_213);
        // Heads, which is 1, at 1/e.
        let listed = assert_whole(&ClosedForm::BernoulliExp {
            exponent: ratio(1, 1),
        });
        assert_eq!((listed.branches[0].0, listed.branches[1].0), (0, 1));
        assert_digits(&listed.branches[0].1, 6_321_205_588);
        assert_digits(&listed.branches[1].1, 3_678_794_411);
        // 1, e^-1.5 and e^-0.5 over their sum.
        let far = u64::MAX - 3;
        let listed = assert_whole(&ClosedForm::ExponentialChoice {
            gaps: vec![far, far + 3, far + 1],
            rate: ratio(1, 2),
        });
        for ((outcome, mass), (k, digits)) in
            listed
                .branches
                .iter()
                .zip([(0, 5_465_493_872), (1, 1_219_516_523), (2, 3_314_989_604)])
        {
            assert_eq!(*outcome, k);
            assert_digits(mass, digits);
        }
    }

    #[test]
    fn a_gaussian_cut_early_holds_one_cut_late() {
        let variance = ratio(5, 2);
        // e^(-4/5) over the sum of all e^(-k²/5).
        assert_nested(
            &ClosedForm::DiscreteGaussian { variance },
            200,
            1_133_716_522,
        );
        // Φ(2.5/σ) - Φ(1.5/σ).
        assert_nested(
            &ClosedForm::RoundedGaussian { variance },
            119,
            1_144_677_065,
        );
    }

    /// Cut late, this is the probability of two; cut early, it lies within what is known.
    fn assert_nested(support: &ClosedForm, bits: usize, digits: u64) {
        let late = list(
            support,
            &Rational::from_parts(1.into(), UBig::ONE << bits),
            &meter(),
        )
        .unwrap();
        // The branches go 0, 1, -1, 2, -2.
        assert_eq!(late.branches[4].0, -2);
        assert_digits(&late.branches[4].1, digits);
        for cut in [2_u32, 10, 1000, 1_000_000] {
            let early = list(
                support,
                &Rational::from_parts(1.into(), cut.into()),
                &meter(),
            )
            .unwrap();
            assert!(early.branches.len() < late.branches.len());
            for ((k, rough), (same, fine)) in early.branches.iter().zip(&late.branches) {
                assert_eq!(k, same);
                assert!(
                    rough.low() <= fine.low() && fine.high() <= rough.high(),
                    "{k} at a cut of 1/{cut}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_listed_is_an_error() {
        let gaussian = ClosedForm::DiscreteGaussian {
            variance: ratio(1, 1),
        };
        assert_eq!(
            list(&gaussian, &Rational::ZERO, &meter()).unwrap_err(),
            VerifyError::OutOfRange("the inverse of the cut")
        );
        let rounded = ClosedForm::RoundedGaussian {
            variance: ratio(1, 1),
        };
        assert_eq!(
            list(
                &rounded,
                &Rational::from_parts(1.into(), UBig::ONE << 121),
                &meter()
            )
            .unwrap_err(),
            VerifyError::OutOfRange("the inverse of the cut")
        );
    }

    #[test]
    fn a_list_is_bounded_like_all_else() {
        let long = ClosedForm::DiscreteLaplace {
            scale: ratio(20_000, 1),
        };
        let found = |bounds| {
            let meter = Arc::new(Meter::new(bounds));
            list(&long, &cut(), &meter).map(|listed| listed.branches.len())
        };
        let limit = Duration::ZERO;
        let over = Limits::default().time(limit);
        assert_eq!(found(over), Err(VerifyError::Time { limit }));
        let limit = 100_000;
        let small = Limits::default().memory(limit);
        assert_eq!(found(small), Err(VerifyError::Memory { limit }));
        let cancel = Arc::<AtomicBool>::default();
        cancel.store(true, Ordering::Relaxed);
        let cancelled = Limits::default().cancelled_by(&cancel);
        assert_eq!(found(cancelled), Err(VerifyError::Cancelled));
    }
}
