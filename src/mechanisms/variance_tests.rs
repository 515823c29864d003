use super::*;
use crate::machine::{CoinSource, NotPrivateSeededCoins};
use crate::privacy::{Private, PureDp, Replace, ZCdp};
use crate::tests::enumerate::{Enumeration, enumerate_laws};
use crate::tests::exact::violation;

fn itself() -> Attribute<Vec<f64>, Moment> {
    Attribute::new("itself", |row: &f64| Moment(*row))
}

fn noisy<R: AveragingRelation>(relation: R, epsilon: &str) -> NoisyVariance<Vec<f64>, R> {
    NoisyVariance::new(relation, itself(), 0.0..=2.0, 0, epsilon.parse().unwrap()).unwrap()
}

/// The three sums, with their probabilities, where noise runs from −span to span.
fn answers<M>(variance: &M, rows: &[f64], span: u64) -> Enumeration<[i128; 3]>
where
    M: Mechanism<Vec<f64>, Machine = Released<Variance>>,
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
fn attains<R: AveragingRelation>(
    relation: R,
    range: RangeInclusive<f64>,
    pair: [&[f64]; 2],
) -> bool {
    let epsilon = "2".parse().unwrap();
    let variance = NoisyVariance::new(relation, itself(), range, 0, epsilon).unwrap();
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
        assert!(
            attains(AddRemove, 0.0..=1.0, [&[1.0], &[1.0, row]]),
            "{row}"
        );
    }
    for (one, other, attained) in [(0.0, 2.0, true), (0.0, 1.0, false), (1.0, 2.0, false)] {
        assert_eq!(attains(Replace, 0.0..=2.0, [&[one], &[other]]), attained);
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
    fn exact<R: AveragingRelation>(relation: R, rows: &[f64]) -> [f64; 3] {
        let (range, epsilon) = (-1.0..=9.0, "1e9".parse().unwrap());
        let variance = NoisyVariance::new(relation, itself(), range, 0, epsilon).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(rows.to_vec());
        let Released(variance) = variance.start(&data, &mut coins.coins()).unwrap();
        let estimate = variance.estimate("0.95".parse().unwrap());
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
    }
}

/// By sampling: each of 800 answers with a coverage of at least 0.9; fewer than 600 hits have a
/// probability below 1e-20.
#[test]
fn the_interval_and_the_stated_error_hold() {
    fn check<M>(variance: &M, rows: &[f64])
    where
        M: Mechanism<Vec<f64>, Machine = Released<Variance>>
            + Accuracy<Distance = VarianceAccuracy>,
    {
        let mean = rows.iter().sum::<f64>() / rows.len() as f64;
        let squares = rows.iter().map(|row| (row - mean).powi(2));
        let truth = squares.sum::<f64>() / rows.len() as f64;
        let confidence = "0.9".parse().unwrap();
        let within = variance.accuracy(confidence).for_rows(rows.len() as u64);
        let data = Arc::new(rows.to_vec());
        let mut coins = NotPrivateSeededCoins::new(7);
        let (mut covered, mut near) = (0, 0);
        for _ in 0..800 {
            let Released(answer) = variance.start(&data, &mut coins.coins()).unwrap();
            let estimate = answer.estimate(confidence);
            covered += u32::from(estimate.interval.contains(&truth));
            near += u32::from((estimate.value - truth).abs() <= within);
        }
        assert!(covered >= 600 && near >= 600, "{covered} {near}");
        // The bound says something: less than the largest variance.
        assert!(within < 1.0, "{within}");
    }
    let rows: Vec<_> = (0..300).map(|row| f64::from(row % 3)).collect();
    check(&noisy(AddRemove, "1"), &rows);
    check(&noisy(Replace, "1"), &rows);
    let rho = "0.5".parse().unwrap();
    check(
        &GaussianVariance::new(AddRemove, itself(), 0.0..=2.0, 0, rho).unwrap(),
        &rows,
    );
    check(
        &GaussianVariance::new(Replace, itself(), 0.0..=2.0, 0, rho).unwrap(),
        &rows,
    );
}

#[test]
fn losses_follow_from_the_squared_width() {
    let variance = noisy(Replace, "0.5");
    assert_eq!(variance.loss(&PureDp), Ok("0.5".parse().unwrap()));
    assert_eq!(variance.noise.scale(), Ratio::from(8));
    let rho = "0.5".parse().unwrap();
    let variance = GaussianVariance::new(AddRemove, itself(), 0.0..=3.0, -1, rho).unwrap();
    assert_eq!(variance.loss(&ZCdp), Ok(rho));
    assert_eq!(variance.gaussian.noise.variance(), Ratio::from(36 * 36));
    let by_mu = GaussianVariance::with_mu(Replace, itself(), 0.0..=3.0, -1, "1".parse().unwrap());
    assert_eq!(
        by_mu.unwrap().gaussian.noise.variance(),
        Ratio::from(36 * 36)
    );
}

#[test]
fn bad_parameters_are_refused() {
    let error = |range, exponent| {
        let epsilon = "1".parse().unwrap();
        NoisyVariance::new(AddRemove, itself(), range, exponent, epsilon).map(|_| ())
    };
    assert_eq!(error(0.0..=1.0, -32), Err(MechanismError::TooManySteps));
    assert_eq!(error(0.0..=1.0, -31), Ok(()));
    assert_eq!(error(1.0..=1.0, 0), Err(MechanismError::BadRange));
}
