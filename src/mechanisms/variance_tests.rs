use super::*;
use crate::machine::{CoinSource, NotPrivateSeededCoins};
use crate::mechanisms::RowRelation;
use crate::mechanisms::{Accuracy, AddedNoise, Estimates, LaplaceNoise, Noised};
use crate::noise::NoiseError;
use crate::number::Confidence;
use crate::number::Ratio;
use crate::prelude::*;
use crate::privacy::facts::Gaussian;
use crate::privacy::{Private, PureDp, Replace, ZCdp};
use crate::tests::enumerate::{Enumeration, enumerate_laws};
use crate::tests::exact::violation;
use std::sync::Arc;

fn itself() -> Attribute<Vec<f64>, f64> {
    Attribute::new("itself", |row: &f64| *row)
}

fn whole(range: RangeInclusive<i64>) -> RealRange {
    RealRange::of_whole_numbers(range)
}

fn noisy<R: RowRelation>(
    relation: R,
    epsilon: &str,
) -> Noised<Variance<Attribute<Vec<f64>, f64>>, LaplaceNoise, R> {
    Variance::of(itself(), whole(0..=2))
        .under(relation)
        .laplace(epsilon.parse::<Epsilon>().unwrap())
        .unwrap()
}

/// The three sums, with their probabilities, where noise runs from −span to span.
fn answers<M>(variance: &M, rows: &[f64], span: u64) -> Enumeration<[i128; 3]>
where
    M: Mechanism<Vec<f64>, Machine = Released<NoisyVariance>>,
{
    let data = Arc::new(rows.to_vec());
    enumerate_laws(span, |coins| {
        match variance.start(&data, &mut Coins::new(&mut *coins)) {
            Ok(Released(variance)) => variance.sums,
            Err(_) => [i128::MIN; 3],
        }
    })
}

/// Whether a loss of 2 is nearly attained between two datasets, and surely not exceeded.
fn attains<R: RowRelation>(relation: R, range: RangeInclusive<i64>, pair: [&[f64]; 2]) -> bool {
    let epsilon = epsilon!(2);
    let variance = Variance::of(itself(), whole(range))
        .under(relation)
        .laplace(epsilon)
        .unwrap();
    let [one, other] = pair.map(|rows| answers(&variance, rows, 12));
    let exceeds = |epsilon: &str| {
        let epsilon = epsilon.parse().unwrap();
        violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
    };
    assert!(!exceeds("2"));
    exceeds("1.6")
}

#[test]
fn every_row_attains_the_loss_and_none_exceeds_it() {
    // Noise of scale 1/2 on three sums, and of scale 2 on two.
    for row in [0.0, 1.0, 9.0] {
        assert!(attains(AddRemove, 0..=1, [&[1.0], &[1.0, row]]), "{row}");
    }
    for (one, other, attained) in [(0.0, 2.0, true), (0.0, 1.0, false), (1.0, 2.0, false)] {
        assert_eq!(attains(Replace, 0..=2, [&[one], &[other]]), attained);
    }
}

/// For whole numbers of every width: how far the released numbers move together.
#[test]
fn rows_move_the_sums_by_the_squared_width_at_most() {
    for width in 1..=12_i64 {
        let sums = |above: i64| {
            [
                above * above,
                2 * above * (width - above),
                (width - above).pow(2),
            ]
        };
        let released = |above: i64| [above * width, above * (width - above)];
        for one in 0..=width {
            assert_eq!(sums(one).iter().sum::<i64>(), width * width);
            for other in 0..=width {
                let pairs = released(one).into_iter().zip(released(other));
                let moved: i64 = pairs.map(|(one, other)| (one - other).abs()).sum();
                assert!(moved <= width * width);
            }
        }
    }
}

/// With an ε of a billion the noise is negligible.
#[test]
fn without_noise_it_is_the_variance() {
    fn exact<R: RowRelation>(relation: R, rows: &[f64]) -> [f64; 3] {
        let (range, epsilon) = (whole(-1..=9), epsilon!(1e9));
        let made = Variance::of(itself(), range)
            .under(relation)
            .laplace(epsilon)
            .unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(rows.to_vec());
        let Released(variance) = made.start(&data, &mut coins.coins()).unwrap();
        let estimate = made.estimate(variance, "0.95".parse().unwrap());
        assert!(estimate.interval.contains(&estimate.value) || rows.is_empty());
        [variance.value(), variance.mean(), variance.rows()]
    }
    let near = |found: [f64; 3], expected: [f64; 3]| {
        let pairs = found.into_iter().zip(expected);
        assert!(
            pairs
                .into_iter()
                .all(|(one, other)| (one - other).abs() < 1e-9),
            "{found:?} {expected:?}"
        );
    };
    for (rows, expected) in [
        (&[1.0, 5.0][..], [4.0, 3.0, 2.0]),
        (&[3.0, 3.0, 3.0], [0.0, 3.0, 3.0]),
        (&[-1.0, 9.0, 99.0, -99.0], [25.0, 4.0, 4.0]),
        (&[0.0, 1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 5.0]),
        (&[], [0.0, 4.0, 0.0]),
    ] {
        near(exact(AddRemove, rows), expected);
        near(exact(Replace, rows), expected);
        // No rounding where there is nothing to round.
        if expected[0] == 0.0 {
            assert_eq!(exact(AddRemove, rows)[0], 0.0);
            assert_eq!(exact(Replace, rows)[0], 0.0);
        }
    }
}

/// By following all draws: how likely it is that the interval has the variance, and that the variance is
/// as near as was stated in advance.
fn coverage<M, R: RowRelation>(
    _relation: R,
    variance: &M,
    rows: &[f64],
    span: u64,
    confidence: Confidence,
) -> [f64; 2]
where
    M: Mechanism<Vec<f64>, Machine = Released<NoisyVariance>>
        + Accuracy<Distance = MomentAccuracy<NoisyVariance>>
        + Estimates<Answer = NoisyVariance, Number = f64>,
{
    let mean = rows.iter().sum::<f64>() / rows.len() as f64;
    let squares = rows.iter().map(|row| (row - mean).powi(2));
    let truth = squares.sum::<f64>() / rows.len() as f64;
    let within = variance.accuracy(confidence).for_rows(rows.len() as u64);
    // The bound says something: less than the largest variance.
    assert!(within < 0.25, "{within}");
    let mut covered = [0.0; 2];
    for (sums, mass) in &answers(variance, rows, span).outcomes {
        let answer = NoisyVariance {
            sums: *sums,
            scale: whole(0..=1).steps(),
            size_is_public: R::REPLACES,
        };
        let estimate = variance.estimate(answer, confidence);
        let holds = [
            estimate.interval.contains(&truth),
            (estimate.value - truth).abs() <= within,
        ];
        for (covered, holds) in covered.iter_mut().zip(holds) {
            *covered += mass.to_f64_fast() * f64::from(u8::from(holds));
        }
    }
    covered
}

#[test]
fn the_interval_and_the_stated_error_hold_with_the_confidence() {
    let rows: Vec<_> = (0..60).map(|row| f64::from(row % 3 / 2)).collect();
    let range = || whole(0..=1);
    for text in ["0.5", "0.9", "0.97"] {
        let confidence: Confidence = text.parse().unwrap();
        macro_rules! check {
            ($R:ident, $noise:ident($loss:expr), $span:literal) => {{
                let variance = Variance::of(itself(), range()).under($R).$noise($loss);
                coverage($R, &variance.unwrap(), &rows, $span, confidence)
            }};
        }
        let found: [[f64; 2]; 4] = [
            check!(AddRemove, laplace(epsilon!(1)), 16),
            check!(Replace, laplace(epsilon!(1)), 24),
            check!(AddRemove, gaussian(rho!(0.25)), 8),
            check!(Replace, gaussian(rho!(0.25)), 10),
        ];
        let wanted: f64 = text.parse().unwrap();
        assert!(
            found.iter().flatten().all(|found| *found >= wanted),
            "{text} {found:?}"
        );
        // More than was asked for: all sums are as near as stated less often than the variance is.
        if text == "0.5" {
            let exact = [
                [0.956_956, 0.999_350],
                [0.785_301, 0.937_290],
                [0.959_917, 0.999_901],
                [0.923_411, 0.995_815],
            ];
            let pairs = found.iter().flatten().zip(exact.iter().flatten());
            for (found, exact) in pairs {
                assert!((found - exact).abs() < 1e-6, "{found} {exact}");
            }
        }
    }
}

/// The least and the largest of a fine grid, and what is said of all.
#[test]
fn the_possible_variances_are_those_of_all_sums_within_their_intervals() {
    let boxes = [
        [[3, 9], [0, 4], [2, 8]],
        [[0, 5], [1, 6], [0, 9]],
        [[20, 40], [10, 12], [1, 3]],
        [[1, 2], [3, 30], [40, 50]],
        [[5, 5], [2, 2], [9, 9]],
    ];
    for sums in boxes {
        let found = possible_share(
            sums.map(|[low, high]| Interval::between(f64::from(low), f64::from(high))),
        );
        let found = found.unwrap();
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        let places = |[low, high]: [i32; 2]| {
            (0..=40).map(move |step| f64::from(low) + f64::from((high - low) * step) / 40.0)
        };
        let [high, mixed, low] = sums;
        for high in places(high) {
            for mixed in places(mixed) {
                for low in places(low) {
                    let share = (high * low - mixed * mixed / 4.0) / (high + mixed + low).powi(2);
                    (least, most) = (least.min(share), most.max(share));
                }
            }
        }
        assert!(
            found.low() <= least && most.max(0.0) <= found.high(),
            "{sums:?} {found:?}"
        );
        assert!(least - found.low() < 1e-12, "{sums:?} {found:?} {least}");
        assert!(
            found.high() - most.max(0.0) < 1e-3,
            "{sums:?} {found:?} {most}"
        );
    }
    assert_eq!(
        possible_share([Interval::between(0.0, 3.0); 3]).map(|_| ()),
        None
    );
}

/// A variance that is made for an accuracy has it for this number of rows, and a smaller loss does not.
#[test]
fn variances_are_made_for_an_accuracy() {
    let likely: Confidence = "0.95".parse().unwrap();
    for within in [0.01, 0.2] {
        let (range, rows) = (|| RealRange::from(0.0..=2.0).with_step(-8), 10_000);
        let made = Variance::of(itself(), range())
            .under(Replace)
            .laplace_within((within, rows), likely);
        let made = made.unwrap();
        assert!(made.accuracy(likely).for_rows(rows) <= within);
        let units = made.noise.epsilon().units();
        let less = Epsilon::from_units(units - 10_u128.pow(units.ilog10() - 5)).unwrap();
        let less = Variance::of(itself(), range())
            .under(Replace)
            .laplace(less)
            .unwrap();
        assert!(less.accuracy(likely).for_rows(rows) > within);
        let made = Variance::of(itself(), range()).gaussian_within((within, rows), likely);
        let made = made.unwrap();
        assert!(made.accuracy(likely).for_rows(rows) <= within);
        let Gaussian::Rho(rho) = made.noise.fact() else {
            panic!("it is made for a ρ");
        };
        let less = Rho::from_units(rho.units() - 10_u128.pow(rho.units().ilog10() - 5)).unwrap();
        let less = Variance::of(itself(), range()).gaussian(less).unwrap();
        assert!(less.accuracy(likely).for_rows(rows) > within);
    }
}

/// Squares of the smallest steps are near the end of floats, and squares of the largest beyond.
#[test]
fn intervals_are_rounded_outward_at_the_ends_of_floats() {
    let interval = |exponent, sums| {
        let range = RealRange::of_multiples(0.0..=libm::scalbn(1e6, exponent), exponent);
        let made = Variance::of(itself(), range)
            .under(Replace)
            .laplace(epsilon!(1))
            .unwrap();
        let answer = NoisyVariance {
            sums,
            scale: range.steps(),
            size_is_public: true,
        };
        let estimate = made.estimate(answer, confidence!(0.95));
        estimate.interval.into_inner()
    };
    // The same in whole steps, where no digit is lost.
    for above in 1..9 {
        let sums = [above << 50, 0, 1 << 126];
        let (low, high) = interval(0, sums);
        assert!(0.0 < low && low < high);
        let (least, most) = interval(-500, sums);
        assert!(libm::scalbn(least, 1000) <= low && libm::scalbn(most, 1000) >= high);
    }
    let (least, most) = interval(500, [1 << 80, 0, 1 << 82]);
    assert_eq!((least, most), (f64::MAX, f64::INFINITY));
}

/// With 2^28 steps the variance of the noise is 2^111/ρ, of which few digits can be held.
#[test]
fn a_wide_range_is_made_for_an_accuracy_with_fewer_digits() {
    let likely: Confidence = "0.95".parse().unwrap();
    let (range, within) = (|| RealRange::from(0.0..=1_048_576.0).with_step(-8), 1e10);
    let of = |rows| Variance::of(itself(), range()).gaussian_within((within, rows), likely);
    let made = of(100).unwrap();
    assert!(made.accuracy(likely).for_rows(100) <= within);
    let Gaussian::Rho(rho) = made.noise.fact() else {
        panic!("it is made for a ρ");
    };
    let less = Rho::from_units(rho.units() - 10_u128.pow(rho.units().ilog10() - 4)).unwrap();
    let less = Variance::of(itself(), range()).gaussian(less).unwrap();
    assert!(less.accuracy(likely).for_rows(100) > within, "{rho}");
    // The smallest would be about 1e-7: a larger one is not taken instead.
    let too_fine = NoiseError::TooFine {
        what: "variance in cells",
        bits: 124,
    };
    assert_eq!(of(1_000_000).unwrap_err(), MechanismError::Noise(too_fine));
}

#[test]
fn losses_follow_from_the_squared_width() {
    let variance = noisy(Replace, "0.5");
    assert_eq!(variance.loss(&PureDp), Ok("0.5".parse().unwrap()));
    assert_eq!(variance.noise.law().scale(), Ratio::from(8));
    let rho = rho!(0.5);
    let variance = Variance::of(itself(), RealRange::of_multiples(0.0..=3.0, -1))
        .gaussian(rho)
        .unwrap();
    assert_eq!(variance.loss(&ZCdp), Ok(rho));
    assert_eq!(variance.noise.law().variance(), Ratio::from(36 * 36));
    let by_mu = Variance::of(itself(), RealRange::of_multiples(0.0..=3.0, -1))
        .under(Replace)
        .gaussian(mu!(1));
    assert_eq!(by_mu.unwrap().noise.law().variance(), Ratio::from(36 * 36));
}

#[test]
fn bad_parameters_are_refused() {
    let error = |range, exponent| {
        let epsilon = epsilon!(1);
        Variance::of(itself(), RealRange::from(range).with_step(exponent))
            .laplace(epsilon)
            .map(|_| ())
    };
    assert_eq!(
        error(0.0..=1.0, -32).unwrap_err().to_string(),
        "the range 0.0..=1.0 of \"itself\" must be less than 2^32 steps wide for a variance: take a \
         larger exponent"
    );
    assert_eq!(error(0.0..=1.0, -31), Ok(()));
    assert_eq!(
        error(1.0..=1.0, 0).unwrap_err().to_string(),
        "the range 1.0..=1.0 of \"itself\" lets no row change the answer: make it wider"
    );
}
