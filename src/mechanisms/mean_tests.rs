use super::*;
use crate::machine::{CoinSource, NotPrivateSeededCoins};
use crate::mechanisms::{Accuracy, AddedNoise, Estimates, GaussianNoise, LaplaceNoise, Noised};
use crate::mechanisms::{RowRelation, Statistic};
use crate::number::Confidence;
use crate::number::Ratio;
use crate::prelude::*;
use crate::privacy::facts::Gaussian;
use crate::privacy::{Distance, Gdp, Private, PureDp, Rdp, Replace, ZCdp};
use crate::tests::enumerate::{Enumeration, enumerate_laws};
use crate::tests::exact::violation;
use std::sync::Arc;

fn itself() -> Attribute<Vec<f64>, f64> {
    Attribute::new("itself", |row: &f64| {
        assert!(*row < 1e9, "an unlucky row");
        *row
    })
}

fn whole(range: RangeInclusive<i64>) -> RealRange {
    RealRange::of_whole_numbers(range)
}

fn noisy<R: RowRelation>(
    relation: R,
    epsilon: &str,
) -> Noised<Mean<Attribute<Vec<f64>, f64>>, LaplaceNoise, R> {
    Mean::of(itself(), whole(0..=2))
        .under(relation)
        .laplace(epsilon.parse::<Epsilon>().unwrap())
        .unwrap()
}

fn gaussian<R: RowRelation>(
    relation: R,
    rho: &str,
) -> Noised<Mean<Attribute<Vec<f64>, f64>>, GaussianNoise, R> {
    Mean::of(itself(), whole(0..=2))
        .under(relation)
        .gaussian(rho.parse::<Rho>().unwrap())
        .unwrap()
}

/// The two sums, with their probabilities, where noise runs from −span to span.
fn answers<M>(mean: &M, rows: &[f64], span: u64) -> Enumeration<(i128, i128)>
where
    M: Mechanism<Vec<f64>, Machine = Released<NoisyMean>>,
{
    let data = Arc::new(rows.to_vec());
    enumerate_laws(span, |coins| {
        match mean.start(&data, &mut Coins::new(&mut *coins)) {
            Ok(Released(mean)) => (mean.above, mean.below),
            Err(_) => (i128::MIN, i128::MIN),
        }
    })
}

/// Whether a loss is attained between two datasets, and surely not exceeded.
fn attains<R: RowRelation>(relation: R, pair: [&[f64]; 2]) -> bool {
    let mean = noisy(relation, "1");
    let [one, other] = pair.map(|rows| answers(&mean, rows, 30));
    let exceeds = |epsilon: &str| {
        let epsilon = epsilon.parse().unwrap();
        violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
    };
    assert!(!exceeds("1"));
    exceeds("0.99")
}

#[test]
fn every_row_attains_the_loss_and_none_exceeds_it() {
    for row in [-3.0, 0.0, 1.0, 1.7, 2.0, 9.0, f64::NAN, 2e9] {
        assert!(attains(AddRemove, [&[1.0], &[1.0, row]]), "{row}");
    }
    assert!(attains(Replace, [&[0.0], &[2.0]]));
    assert!(!attains(Replace, [&[0.0], &[1.0]]));
}

/// The Rényi divergence of order 2: largest if one of the sums changes alone.
fn divergence<M>(mean: &M, pair: [&[f64]; 2], span: u64) -> f64
where
    M: Mechanism<Vec<f64>, Machine = Released<NoisyMean>>,
{
    let [one, other] = pair.map(|rows| answers(mean, rows, span));
    let squares = one.outcomes.iter().filter_map(|(answer, p)| {
        let q = other.outcomes.get(answer)?;
        Some((p * p / q).to_f64_fast())
    });
    squares.sum::<f64>().ln()
}

#[test]
fn the_divergence_is_attained_at_an_end_of_the_range_and_less_within() {
    let mean = noisy(AddRemove, "1");
    let order = Rdp::new("2".parse().unwrap());
    let claim: f64 = mean.loss(&order).unwrap().to_string().parse().unwrap();
    let at_the_end = divergence(&mean, [&[1.0], &[1.0, 2.0]], 40);
    assert!((claim - at_the_end).abs() < 1e-3, "{claim} {at_the_end}");
    let within = divergence(&mean, [&[1.0], &[1.0, 1.0]], 40);
    assert!(within < 0.99 * claim, "{within}");
    // 2ρ, less what rounding takes from it: at most one part in 12σ² for each sum.
    let mean = gaussian(AddRemove, "0.5");
    assert_eq!(mean.loss(&ZCdp), Ok("0.5".parse().unwrap()));
    let at_the_end = divergence(&mean, [&[1.0], &[1.0, 2.0]], 14);
    assert!(
        (1.0 - 1.0 / 24.0..1.0).contains(&at_the_end),
        "{at_the_end}"
    );
    assert!(divergence(&mean, [&[1.0], &[1.0, 1.0]], 14) < 0.52);
    assert!(divergence(&gaussian(Replace, "0.5"), [&[0.0], &[2.0]], 20) < 1.0);
}

#[test]
fn the_interval_and_the_stated_error_hold_with_the_confidence() {
    fn check<M>(mean: &M, rows: &[f64], span: u64)
    where
        M: Mechanism<Vec<f64>, Machine = Released<NoisyMean>>
            + Accuracy<Distance = MomentAccuracy<NoisyMean>>
            + Estimates<Answer = NoisyMean, Number = f64>,
    {
        let truth = rows.iter().sum::<f64>() / rows.len() as f64;
        let found = answers(mean, rows, span);
        let probability = |holds: &dyn Fn(NoisyMean) -> bool| {
            let holds = found.outcomes.iter().filter(|((above, below), _)| {
                holds(NoisyMean {
                    above: *above,
                    below: *below,
                    steps: whole(0..=2).steps(),
                })
            });
            holds.map(|(_, mass)| mass.to_f64_fast()).sum::<f64>()
        };
        for text in ["0.5", "0.9", "0.97"] {
            let confidence: Confidence = text.parse().unwrap();
            let wanted: f64 = text.parse().unwrap();
            let covered = probability(&|answer| {
                let estimate = mean.estimate(answer, confidence);
                estimate.interval.contains(&truth)
            });
            assert!(covered >= wanted, "{text} {covered}");
            let within = mean.accuracy(confidence).for_rows(rows.len() as u64);
            let near = probability(&|mean| (mean.value() - truth).abs() <= within);
            assert!(near >= wanted, "{text} {near}");
        }
    }
    let rows: Vec<_> = (0..40).map(|row| f64::from(row % 3)).collect();
    for rows in [&rows[..], &rows[..4], &[2.0; 20]] {
        let mean = noisy(AddRemove, "1");
        check(&mean, rows, 25);
        let mean = noisy(Replace, "1");
        check(&mean, rows, 40);
        let mean = gaussian(AddRemove, "0.5");
        check(&mean, rows, 14);
        let mean = gaussian(Replace, "0.5");
        check(&mean, rows, 20);
    }
}

/// With an ε of a million the noise is negligible.
#[test]
fn without_noise_it_is_the_mean() {
    let exact = |rows: &[f64], range, exponent| {
        let epsilon = epsilon!(1e6);
        let mean = Mean::of(itself(), RealRange::of_multiples(range, exponent))
            .laplace(epsilon)
            .unwrap();
        let data = Arc::new(rows.to_vec());
        let Released(mean) = mean
            .start(&data, &mut NotPrivateSeededCoins::new(5).coins())
            .unwrap();
        (mean.value(), mean.rows())
    };
    assert_eq!(exact(&[1.0, 2.0, 6.0], 0.0..=10.0, 0), (3.0, 3.0));
    assert_eq!(exact(&[-1.25, 2.0], -2.0..=1.0, -2), (-0.125, 2.0));
    assert_eq!(exact(&[5.0, 7.0], 5.0..=9.0, 0), (6.0, 2.0));
    // Clamped, rounded to the nearest, and not a number: that is 3, 2 and 0.
    let (mean, rows) = exact(&[99.0, 1.9, f64::NAN], 0.0..=3.0, 0);
    assert!((mean - 5.0 / 3.0).abs() < 1e-12 && rows == 3.0);
    // An end of the range is met exactly.
    assert_eq!(exact(&[-7.0], 0.0..=3.0, 0), (0.0, 1.0));
    assert_eq!(exact(&[7.0, 7.0], 0.0..=3.0, -3), (3.0, 2.0));
    // No rows: the middle.
    assert_eq!(exact(&[], 0.0..=10.0, 0), (5.0, 0.0));
}

#[test]
fn an_interval_says_nothing_where_there_may_be_no_rows() {
    let mean = NoisyMean {
        above: 1,
        below: -3,
        steps: whole(-1..=1).steps(),
    };
    let scale = SumScale::new::<AddRemove>(&whole(-1..=1));
    let noise = noisy(AddRemove, "1").noise();
    let likely: Confidence = "0.95".parse().unwrap();
    assert_eq!(mean.interval(scale, noise, likely), (1.0, -1.0..=1.0));
    let accuracy = noisy(AddRemove, "1").accuracy("0.95".parse().unwrap());
    assert_eq!((accuracy.for_rows(0), accuracy.for_rows(5)), (2.0, 2.0));
    let tiny = "0.99999999999999999999999999999999999999".parse().unwrap();
    assert_eq!(noisy(AddRemove, "1").accuracy(tiny).for_rows(1000), 2.0);
}

#[test]
fn losses_follow_from_the_width() {
    let mean = noisy(Replace, "0.5");
    assert_eq!(mean.loss(&PureDp), Ok("0.5".parse().unwrap()));
    assert_eq!(mean.noise.law().scale(), Ratio::from(4));
    let two = Distance::new(2).unwrap();
    assert_eq!(mean.loss_at(&PureDp, two), Ok("1".parse().unwrap()));
    let mu = mu!(1);
    let mean = Mean::of(itself(), RealRange::of_multiples(-1.0..=2.0, -3))
        .gaussian(mu)
        .unwrap();
    assert_eq!(mean.loss(&Gdp), Ok(mu));
    assert_eq!(mean.noise.law().variance(), Ratio::from(24 * 24));
    assert_eq!(
        format!("{mean:?}"),
        "Mean(attribute = itself, range = -1..=2, exponent = -3, relation = add or remove one row, mu = 1)"
    );
}

#[test]
fn bad_parameters_are_refused() {
    let error = |range, exponent, epsilon: &str| {
        let epsilon: Epsilon = epsilon.parse().unwrap();
        Mean::of(itself(), RealRange::of_multiples(range, exponent))
            .laplace(epsilon)
            .unwrap_err()
    };
    for (range, exponent, message) in [
        (
            1.0..=1.0,
            0,
            "the range 1.0..=1.0 of \"itself\" lets no row change the answer: make it wider",
        ),
        (
            2.0..=1.0,
            0,
            "the range 2.0..=1.0 of \"itself\" is empty: write the smaller number first",
        ),
        (
            f64::NAN..=1.0,
            0,
            "the range NaN..=1.0 of \"itself\" must have two numbers as its ends",
        ),
        (
            0.0..=0.25,
            0,
            "the range 0.0..=0.25 of \"itself\" is shorter than a step: make it wider",
        ),
        (
            0.0..=1.0,
            501,
            "the exponent of the step must be from -500 to 500, not 501",
        ),
        (
            0.0..=1e300,
            0,
            "the range 0.0..=1e300 of \"itself\" must end within 2^50 steps of zero on both sides",
        ),
    ] {
        assert_eq!(error(range, exponent, "1").to_string(), message);
    }
    assert_eq!(error(0.0..=1.0, 0, "0"), MechanismError::NoLoss("epsilon"));
}

/// A mean that is made for an accuracy has it for this number of rows, and a smaller loss does not.
#[test]
fn means_are_made_for_an_accuracy() {
    fn is_least<M: Accuracy<Distance = MomentAccuracy<NoisyMean>>>(
        within: f64,
        made: Result<M, MechanismError>,
        loss: u128,
        make: impl Fn(u128) -> Result<M, MechanismError>,
    ) {
        let confidence = "0.95".parse().unwrap();
        assert!(made.unwrap().accuracy(confidence).for_rows(1000) <= within);
        let digit = 10_u128.pow(loss.ilog10() - 5);
        assert!(loss.is_multiple_of(digit));
        let less = make(loss - digit).unwrap().accuracy(confidence);
        assert!(less.for_rows(1000) > within, "{within}");
    }
    let likely: Confidence = "0.95".parse().unwrap();
    for within in [0.01, 0.3, 1.5] {
        let range = || RealRange::from(0.0..=2.0).with_step(-8);
        let made = |rows| Mean::of(itself(), range()).laplace_within((within, rows), likely);
        let loss = made(1000).unwrap().noise.epsilon().units();
        is_least(within, made(1000), loss, |units| {
            let epsilon = Epsilon::from_units(units).unwrap();
            Mean::of(itself(), range()).laplace(epsilon)
        });
        let made = |rows| {
            Mean::of(itself(), range())
                .under(Replace)
                .gaussian_within((within, rows), likely)
        };
        let Gaussian::Rho(rho) = made(1000).unwrap().noise.fact() else {
            panic!("it is made for a ρ");
        };
        is_least(within, made(1000), rho.units(), |units| {
            let rho = Rho::from_units(units).unwrap();
            Mean::of(itself(), range()).under(Replace).gaussian(rho)
        });
    }
    let error = |within, rows| {
        let mean = Mean::of(itself(), whole(0..=2)).laplace_within((within, rows), likely);
        mean.map(|_| ())
    };
    for (within, message) in [
        (
            f64::NAN,
            "the accuracy must be a number that is not negative, not (NaN, 10)",
        ),
        (
            -1.0,
            "the accuracy must be a number that is not negative, not (-1.0, 10)",
        ),
    ] {
        assert_eq!(error(within, 10).unwrap_err().to_string(), message);
    }
    assert_eq!(error(0.1, 0), Err(MechanismError::TooAccurate));
    // No mean is farther off than the width.
    assert_eq!(error(2.0, 0), Ok(()));
}

/// Rates in 0..=1 whose mean is 0.695.
#[test]
fn the_mean_of_rates_is_in_the_interval_that_is_said_to_hold_it() {
    let rates: Vec<f64> = (0..1000)
        .map(|row| 0.39 + 0.61 * f64::from(row % 2))
        .collect();
    let mean = |range: RealRange| {
        let mean = Mean::of(itself(), range).laplace(epsilon!(1e6)).unwrap();
        let Released(answer) = mean
            .start(
                &Arc::new(rates.clone()),
                &mut NotPrivateSeededCoins::new(7).coins(),
            )
            .unwrap();
        mean.estimate(answer, "0.95".parse().unwrap())
    };
    let estimate = mean((0.0..=1.0).into());
    assert!(estimate.interval.contains(&0.695), "{estimate}");
    assert_eq!(
        format!("{estimate:.4}"),
        "0.6950 (from 0.6950 to 0.6950 with confidence 0.95, of all rows in the dataset, clamped to 0..=1)"
    );
    // In the coarsest steps the interval is wider, by what rounding can do.
    let estimate = mean(RealRange::from(0.0..=1.0).with_step(-7));
    assert!(estimate.interval.contains(&0.695), "{estimate}");
    let (low, high) = estimate.interval.into_inner();
    assert!((1.0 / 128.0..0.01).contains(&(high - low)));
    // Whoever says that rates are whole numbers is told what the mean is of.
    let estimate = mean(RealRange::of_whole_numbers(0..=1));
    assert_eq!(
        format!("{estimate:.4}"),
        "0.5000 (from 0.5000 to 0.5000 with confidence 0.95, of all rows in the dataset, \
         clamped to 0..=1, rounded to whole numbers)"
    );
}
