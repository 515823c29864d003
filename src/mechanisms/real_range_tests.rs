use std::num::NonZeroU64;
use std::sync::Arc;

use super::*;
use crate::data::Attribute;
use crate::machine::{CoinSource, CoinsError, Law, Mechanism, Released};
use crate::mechanisms::{Estimates, Mean, RowRelation, Sum, Variance};
use crate::number::{Confidence, Epsilon};
use crate::prelude::*;
use crate::privacy::{AddRemove, Replace};
use dashu_ratio::RBig;
use proptest::prelude::*;

fn itself() -> Attribute<Vec<f64>, f64> {
    Attribute::new("itself", |row: &f64| *row)
}

/// With noise this small no draw but zero is likely, and the interval allows for no other.
fn endless() -> Epsilon {
    "1e11".parse().unwrap()
}

struct NoNoise;

impl CoinSource for NoNoise {
    fn uniform(&mut self, _: NonZeroU64) -> Result<u64, CoinsError> {
        Err(CoinsError::TapeEnds)
    }

    fn draw(&mut self, _: &dyn Law) -> Result<i128, CoinsError> {
        Ok(0)
    }
}

fn exact(number: f64) -> RBig {
    RBig::try_from(number).unwrap()
}

/// Where the truth is said to be, without noise.
fn said<M, A>(mechanism: &M, rows: &[f64]) -> RangeInclusive<f64>
where
    M: Mechanism<Vec<f64>, Machine = Released<A>> + Estimates<Answer = A, Number = f64>,
{
    let data = Arc::new(rows.to_vec());
    let Released(answer) = mechanism.start(&data, &mut NoNoise.coins()).unwrap();
    let half: Confidence = "0.5".parse().unwrap();
    let estimate = mechanism.estimate(answer, half);
    estimate.before_rounding(rows.len() as u64).interval
}

fn holds(interval: &RangeInclusive<f64>, truth: &RBig) -> bool {
    exact(*interval.start()) <= *truth && *truth <= exact(*interval.end())
}

/// The sum, the mean and the variance of the values after clamping, without any rounding.
fn truth(rows: &[f64], low: f64, high: f64) -> [RBig; 3] {
    let clamped = |row: &f64| exact(if row.is_finite() { *row } else { 0.0 }.clamp(low, high));
    let rows: Vec<RBig> = rows.iter().map(clamped).collect();
    let count = RBig::from(rows.len());
    let sum = rows.iter().fold(RBig::ZERO, |sum, row| sum + row);
    let mean = &sum / &count;
    let squares = rows.iter().map(|row| (row - &mean) * (row - &mean));
    let variance = squares.fold(RBig::ZERO, |sum, square| sum + square) / count;
    [sum, mean, variance]
}

/// Every interval for these rows has the truth.
fn assert_held(range: RealRange, rows: &[f64]) {
    fn under<R: RowRelation>(relation: R, range: RealRange, rows: &[f64]) {
        let [sum, mean, variance] = truth(rows, range.low, range.high);
        let total = Sum::of(itself(), range)
            .under(relation)
            .laplace(endless())
            .unwrap();
        let found = said(&total, rows);
        assert!(holds(&found, &sum), "sum {range:?} {rows:?} {found:?}");
        let average = Mean::of(itself(), range)
            .under(relation)
            .laplace(endless())
            .unwrap();
        let found = said(&average, rows);
        assert!(holds(&found, &mean), "mean {range:?} {rows:?} {found:?}");
        let spread = Variance::of(itself(), range)
            .under(relation)
            .laplace(endless())
            .unwrap();
        let found = said(&spread, rows);
        assert!(
            holds(&found, &variance),
            "variance {range:?} {rows:?} {found:?}"
        );
    }
    under(AddRemove, range, rows);
    under(Replace, range, rows);
}

/// All pairs of numbers at quarters of a step, inside of small ranges and beyond, whose ends are not
/// multiples of a step.
#[test]
fn intervals_have_the_truth_for_all_pairs_of_small_numbers() {
    for (low, high) in [(-50.25, 50.25), (0.5, 100.75), (-130.0, -29.0)] {
        let range = RealRange::from(low..=high).with_step(0);
        let near = |end: f64| (-9..=9).map(move |quarter| end + f64::from(quarter) / 4.0);
        let numbers = near(low).chain(near(high)).chain(near(0.0)).step_by(2);
        let numbers: Vec<f64> = numbers.chain([f64::NAN, f64::INFINITY]).collect();
        for one in &numbers {
            assert_held(range, &[*one]);
            for other in numbers.iter().step_by(5) {
                assert_held(range, &[*one, *other]);
            }
        }
    }
}

/// The float before one half, which is rounded up.
#[test]
fn what_is_rounded_the_wrong_way_is_allowed_for() {
    let half = 0.5_f64.next_down();
    assert_eq!(steps_of(half, 1.0), 1);
    assert_held(RealRange::from(0.0..=100.0).with_step(0), &[half]);
    let steps = [
        (0.5, 1),
        (-0.5, 0),
        (-0.6, -1),
        (1.5, 2),
        (-1.5, -1),
        (2.4, 2),
    ];
    for (number, expected) in steps {
        assert_eq!(steps_of(number, 1.0), expected, "{number}");
    }
    assert_eq!(steps_of(1e300, 1.0), i64::MAX);
    assert_eq!(steps_of(-1e300, 1.0), i64::MIN);
    assert_eq!(steps_of(f64::NAN, 1.0), 0);
}

proptest! {
    #[test]
    fn intervals_have_the_truth(
        low in -1e3..1e3_f64, width in 1e-2..1e3_f64, fine in 0..12_i32,
        rows in proptest::collection::vec((-0.2..1.2_f64, 0..9_u8), 1..6),
    ) {
        let range = RealRange::from(low..=low + width);
        // From the coarsest step that is allowed on.
        let coarsest = libm::ilogb(range.high - range.low) - 7;
        let step = libm::scalbn(1.0, coarsest - fine);
        let rows: Vec<f64> = rows
            .into_iter()
            .map(|(place, kind)| {
                let number = low + width * place;
                match kind {
                    0 => f64::NEG_INFINITY,
                    // Halfway between two steps, and next to that.
                    1 | 2 => ((number / step).floor() + 0.5) * step,
                    3 => (((number / step).floor() + 0.5) * step).next_down(),
                    _ => number,
                }
            })
            .collect();
        assert_held(range.with_step(coarsest - fine), &rows);
    }

    /// By default, too, where noise of variances is not negligible.
    #[test]
    fn intervals_of_default_steps_have_the_truth(
        start in -2.0..1.0_f64, width in 1e-3..1e6_f64,
        places in proptest::collection::vec(-0.2..1.2_f64, 1..6),
    ) {
        let low = start * width;
        let range = RealRange::from(low..=low + width);
        let rows: Vec<f64> = places.into_iter().map(|place| low + width * place).collect();
        let [sum, mean, _] = truth(&rows, range.low, range.high);
        let total = Sum::of(itself(), range).laplace(endless()).unwrap();
        let found = said(&total, &rows);
        prop_assert!(holds(&found, &sum), "{found:?}");
        // Narrow: a step is at most 2^-20 of the width.
        let most = rows.len() as f64 * width * 2_f64.powi(-19) + 1e-9;
        prop_assert!(found.end() - found.start() <= most, "{found:?}");
        let average = Mean::of(itself(), range).under(Replace).laplace(endless()).unwrap();
        let found = said(&average, &rows);
        prop_assert!(holds(&found, &mean), "{found:?}");
    }
}

#[test]
fn steps_follow_from_the_range() {
    let steps = |range: RangeInclusive<f64>| RealRange::from(range).in_steps();
    let exponent = |range| steps(range).unwrap().exponent;
    assert_eq!(exponent(0.0..=1.0), -20);
    assert_eq!(exponent(0.0..=1.9), -20);
    assert_eq!(exponent(-1.0..=1.0), -19);
    assert_eq!(exponent(0.0..=100.0), -14);
    assert_eq!(exponent(0.0..=1e-100), -353);
    // So far away that steps are coarser.
    assert_eq!(exponent(1e12..=1e12 + 1024.0), -10);
    assert_eq!(exponent(-1e12 - 2.0..=-1e12), -10);
    let far = steps(1e16..=1e16 + 1024.0).unwrap_err();
    assert_eq!(
        far.to_string(),
        "the range 1e16..=1.0000000000001024e16 must end within 2^50 steps of zero on both sides"
    );
}

/// An end that is no multiple of a step is rounded to the nearest, and so is what is clamped to it.
#[test]
fn ends_are_rounded_as_numbers_are() {
    let range = |low: f64, high: f64| RealRange::of_multiples(low..=high, -2).in_steps();
    assert_eq!(range(-0.3, 0.3), range(-0.25, 0.25));
    assert_eq!(range(-0.4, 0.4), range(-0.5, 0.5));
}

#[test]
fn a_step_above_a_hundredth_of_the_range_is_refused() {
    let steps = |exponent| {
        let range = RealRange::from(0.0..=1.0).with_step(exponent);
        range.in_steps().map(|steps| steps.width.get())
    };
    for (exponent, steps_in_range) in [(0, 1), (-6, 64), (500, 0)] {
        let refused = MechanismError::CoarseStep {
            exponent,
            steps: steps_in_range,
            least: 100,
        };
        assert_eq!(steps(exponent), Err(refused));
    }
    assert_eq!(steps(-7), Ok(128));
    let refused = steps(-6).unwrap_err().to_string();
    let expected = "a step of 2^-6 divides the range into 64 steps, and at least 100 are needed: take \
                    a smaller exponent, or leave the step to its default";
    assert_eq!(refused, expected);
    // Numbers that are whole lose nothing.
    let whole = RealRange::of_whole_numbers(0..=1).in_steps().unwrap();
    assert_eq!((whole.width.get(), whole.exponent), (1, 0));
    assert!(whole.rounding().is_none());
}
