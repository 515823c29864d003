//! What mechanisms state about their noise, held against the odds of their answers.

use dashu_ratio::RBig;

use super::*;
use crate::data::Predicate;
use crate::data::{Attribute, Vector};
use crate::machine::{Machine, Mechanism};
use crate::number::{Confidence, Epsilon, Rho};
use crate::prelude::*;
use crate::privacy::{AddRemove, Private, PureDp, Replace, ZCdp};
use crate::tests::exact::{answers, rows_of};

fn confidence(text: &str) -> Confidence {
    text.parse().unwrap()
}

fn value() -> Attribute<Vec<u8>, i64> {
    Attribute::new("itself", |row: &u8| i64::from(*row))
}

fn time() -> Attribute<Vec<u8>, Option<u64>> {
    Attribute::new("time", |row: &u8| Some(u64::from(*row)))
}

/// The stated distance has the confidence, and one less has not: by following the mechanism through
/// its draws. `distance` is how far an answer is from the truth.
fn is_least<M, S>(
    mechanism: &M,
    rows: &[u8],
    query: S::Query,
    span: u64,
    distance: impl Fn(&S::Answer) -> u128,
) where
    M: Mechanism<Vec<u8>, Machine = S> + Accuracy<Distance = u128>,
    S: Machine<Query: Clone, Answer: Ord>,
{
    let found = answers(mechanism, rows, &[query], span);
    for text in ["0.5", "0.8", "0.95", "0.99"] {
        let within = mechanism.accuracy(confidence(text));
        let mass = |most: Option<u128>| {
            let near = found.outcomes.iter().filter(|(answers, _)| {
                let far = answers[0].as_ref().map(&distance).unwrap();
                most.is_some_and(|most| far <= most)
            });
            near.fold(RBig::ZERO, |sum, (_, mass)| sum + mass)
        };
        let wanted: RBig =
            RBig::from_parts(confidence(text).units().into(), 10_u128.pow(38).into());
        assert!(mass(Some(within)) + &found.cut >= wanted, "{text} {within}");
        assert!(mass(within.checked_sub(1)) < wanted, "{text} {within}");
    }
}

#[test]
fn the_accuracy_of_one_number_is_the_least_that_has_the_confidence() {
    let truth = |truth: i64| move |answer: &i64| u128::from(answer.abs_diff(truth));
    let count = Count::of(rows_of(1)).laplace(epsilon!(0.4)).unwrap();
    is_least(&count, &[1, 1, 2], (), 60, truth(2));
    let count = Count::of(rows_of(1)).gaussian(rho!(0.02)).unwrap();
    is_least(&count, &[1, 1, 2], (), 40, truth(2));
    let sum = Sum::of(value(), 0..=3).laplace(epsilon!(1)).unwrap();
    is_least(&sum, &[1, 9], (), 60, truth(4));
    let sum = Sum::of(value(), -2..=3)
        .under(Replace)
        .laplace(epsilon!(2))
        .unwrap();
    is_least(&sum, &[1, 9], (), 60, truth(4));
}

#[test]
fn the_accuracy_of_a_bin_is_the_least_that_has_the_confidence() {
    let bin = Attribute::new("bin", |row: &u8| usize::from(*row));
    let bins = Histogram::of(Partition::numbered(bin, 2).unwrap())
        .under(Replace)
        .laplace(epsilon!(1.5))
        .unwrap();
    for bin in [0, 1] {
        is_least(&bins, &[1, 1], (), 14, |counts: &Vec<i64>| {
            u128::from(counts[bin].abs_diff(2 * bin as i64))
        });
    }
}

/// Three nodes at time 7, which is the most that any time up to 8 has.
#[test]
fn the_accuracy_of_a_continual_count_is_that_of_the_worst_time() {
    let count = ContinualCount::of(time(), 8).laplace(epsilon!(4)).unwrap();
    let far = |answer: &i64| u128::from(answer.abs_diff(1));
    is_least(&count, &[0], 7, 12, far);
    // At other times an answer is at least as near.
    let within = count.accuracy(confidence("0.9"));
    for time in 1..=8 {
        let found = answers(&count, &[0], &[time], 12);
        let near = found.outcomes.iter().filter(|(answers, _)| {
            answers[0]
                .as_ref()
                .is_ok_and(|answer| far(answer) <= within)
        });
        let mass = near.fold(RBig::ZERO, |sum, (_, mass)| sum + mass);
        assert!(mass.to_f64_fast() >= 0.9, "{time}");
    }
}

#[test]
fn gaussian_continual_counts_state_a_bound_that_holds() {
    let rho = rho!(0.5);
    let count = ContinualCount::of(time(), 4).gaussian(rho).unwrap();
    for text in ["0.5", "0.9", "0.99"] {
        let within = count.accuracy(confidence(text));
        let found = answers(&count, &[0], &[3], 14);
        let beyond = found.outcomes.iter().filter(|(answers, _)| {
            answers[0]
                .as_ref()
                .is_ok_and(|answer| u128::from(answer.abs_diff(1)) > within)
        });
        let mass = beyond.fold(found.cut.clone(), |sum, (_, mass)| sum + mass);
        let failure: f64 = confidence(text).failure().to_string().parse().unwrap();
        assert!(mass.to_f64_fast() <= failure, "{text}");
    }
}

#[test]
fn real_answers_state_their_distance_in_their_own_units() {
    let real = Attribute::<Vec<u8>, _>::new("real", |row: &u8| f64::from(*row));
    let sum = |exponent| {
        Sum::of(real.clone(), RealRange::of_multiples(0.0..=4.0, exponent))
            .laplace(epsilon!(1))
            .unwrap()
    };
    // Noise of scale 4, in whole numbers and in steps of 2^-20.
    let whole = Sum::of(value(), 0..=4).laplace(epsilon!(1)).unwrap();
    let steps = whole.accuracy(confidence("0.95")) as f64;
    assert_eq!(sum(0).accuracy(confidence("0.95")), steps);
    let fine = sum(-20).accuracy(confidence("0.95"));
    assert!((fine - 4.0 * 20_f64.ln()).abs() < 1e-5, "{fine}");
    // Rounded to steps, noise has a little more or less variance than twice the square of its scale.
    assert!((sum(-20).variance() - 32.0).abs() < 1e-9);
    let estimate = sum(-20).estimate(100.0, confidence("0.95"));
    assert!(*estimate.interval.start() <= 100.0 - fine);
    assert!(*estimate.interval.end() >= 100.0 + fine);
    let vector = Vector::<Vec<u8>>::new("itself", |row: &u8, out: &mut [f64]| {
        out.fill(f64::from(*row));
    });
    let lattice = Lattice::in_steps(-10, 1024);
    let sum = VectorSum::of(vector, 3, lattice).gaussian(rho!(0.5));
    let within = sum.unwrap().accuracy(confidence("0.95"));
    // σ = 1.
    assert!((within - 1.959_963_985).abs() < 1e-3, "{within}");
}

/// What is made for an accuracy has it, and a loss that is smaller by one in the sixth digit has not.
macro_rules! made_for {
    ($within:expr, $confidence:expr, $Loss:ty, $measure:expr, $R:ty, $made:expr, |$loss:ident| $make:expr) => {{
        let made = $made.unwrap();
        assert!(made.accuracy($confidence) <= $within);
        let loss: $Loss = Private::<_, $R>::loss(&made, &$measure).unwrap();
        // Six digits.
        let digit = 10_u128.pow(loss.units().ilog10().saturating_sub(5));
        assert!(loss.units().is_multiple_of(digit), "{loss}");
        let $loss = <$Loss>::from_units(loss.units() - digit).unwrap();
        assert!($make.unwrap().accuracy($confidence) > $within, "{loss}");
    }};
}

#[test]
fn what_is_made_for_an_accuracy_has_it_and_a_smaller_loss_has_not() {
    let bin = Attribute::<Vec<u8>, _>::new("bin", |row: &u8| usize::from(*row));
    let of = || Partition::numbered(bin.clone(), 5).unwrap();
    let real = Attribute::<Vec<u8>, _>::new("real", |row: &u8| f64::from(*row));
    let vector = Vector::<Vec<u8>>::new("itself", |row: &u8, out: &mut [f64]| {
        out.fill(f64::from(*row));
    });
    let lattice = Lattice::in_steps(-20, 1 << 20);
    let real_range = RealRange::from(0.0..=2.0).with_step(-20);
    for (within, text) in [
        (0, "0.9"),
        (1, "0.5"),
        (30, "0.95"),
        (1000, "0.999999"),
        (1 << 36, "0.99"),
    ] {
        let likely = confidence(text);
        made_for!(
            within,
            likely,
            Epsilon,
            PureDp,
            AddRemove,
            Count::of(rows_of(1)).laplace_within(within, likely),
            |loss| Count::of(rows_of(1)).laplace(loss)
        );
        made_for!(
            within,
            likely,
            Rho,
            ZCdp,
            AddRemove,
            Count::of(rows_of(1)).gaussian_within(within, likely),
            |loss| Count::of(rows_of(1)).gaussian(loss)
        );
        made_for!(
            within,
            likely,
            Epsilon,
            PureDp,
            Replace,
            Sum::of(value(), -7..=50)
                .under(Replace)
                .laplace_within(within, likely),
            |loss| Sum::of(value(), -7..=50).under(Replace).laplace(loss)
        );
        made_for!(
            within,
            likely,
            Epsilon,
            PureDp,
            Replace,
            Histogram::of(of())
                .under(Replace)
                .laplace_within(within, likely),
            |loss| Histogram::of(of()).under(Replace).laplace(loss)
        );
        made_for!(
            within,
            likely,
            Rho,
            ZCdp,
            Replace,
            Histogram::of(of())
                .under(Replace)
                .gaussian_within(within, likely),
            |loss| Histogram::of(of()).under(Replace).gaussian(loss)
        );
        made_for!(
            within,
            likely,
            Epsilon,
            PureDp,
            AddRemove,
            ContinualCount::of(time(), 100).laplace_within(within, likely),
            |loss| ContinualCount::of(time(), 100).laplace(loss)
        );
        made_for!(
            within + 5,
            likely,
            Rho,
            ZCdp,
            AddRemove,
            ContinualCount::of(time(), 100).gaussian_within(within + 5, likely),
            |loss| ContinualCount::of(time(), 100).gaussian(loss)
        );
    }
    for within in [0.01, 3.0, 1e6] {
        let likely = confidence("0.95");
        made_for!(
            within,
            likely,
            Epsilon,
            PureDp,
            AddRemove,
            Sum::of(real.clone(), real_range).laplace_within(within, likely),
            |loss| Sum::of(real.clone(), real_range).laplace(loss)
        );
        made_for!(
            within,
            likely,
            Rho,
            ZCdp,
            AddRemove,
            VectorSum::of(vector.clone(), 3, lattice).gaussian_within(within, likely),
            |loss| VectorSum::of(vector.clone(), 3, lattice).gaussian(loss)
        );
    }
}

#[test]
fn an_accuracy_that_cannot_be_had_is_refused() {
    let real = Attribute::<Vec<u8>, _>::new("real", |row: &u8| f64::from(*row));
    let make = |within: f64, exponent| {
        let likely = confidence("0.95");
        let range = RealRange::from(0.0..=1.0).with_step(exponent);
        Sum::of(real.clone(), range)
            .laplace_within(within, likely)
            .map(|_| ())
    };
    for (within, exponent, message) in [
        (
            -1.0,
            -10,
            "the accuracy must be a number that is not negative, not -1.0",
        ),
        (
            f64::NAN,
            -10,
            "the accuracy must be a number that is not negative, not NaN",
        ),
        (
            1.0,
            -501,
            "the exponent of the step must be from -500 to 500, not -501",
        ),
    ] {
        assert_eq!(make(within, exponent).unwrap_err().to_string(), message);
    }
    // No noise at all, on a lattice whose steps are finer than any loss pays for.
    assert_eq!(make(0.0, -50), Err(MechanismError::TooAccurate));
    assert_eq!(make(f64::INFINITY, -10), Ok(()));
    let empty = Sum::of(value(), 0..=0).laplace_within(10, confidence("0.9"));
    assert_eq!(
        empty.unwrap_err().to_string(),
        "the range 0..=0 of \"itself\" lets no row change the answer: make it wider"
    );
}

/// The exact odds of a wrong answer: a count that is one farther than stated is on the wrong side.
#[test]
fn a_search_is_within_its_distance_of_the_threshold() {
    let epsilon = |text: &str| text.parse().unwrap();
    let search =
        AboveThreshold::with_shares(AddRemove, 0, 1, epsilon("1.5"), epsilon("1")).unwrap();
    for text in ["0.5", "0.8", "0.95"] {
        let within = search.accuracy(confidence(text));
        let failure: f64 = confidence(text).failure().to_string().parse().unwrap();
        // A no for a count of `far`, and by symmetry a yes for one as far below.
        let wrong = |far: u128| {
            let rows = vec![1; far as usize];
            let found = answers(&search, &rows, &[rows_of(1)], 30);
            found.probability(&vec![Ok(false)]).to_f64_fast()
        };
        assert!(wrong(within + 1) <= failure / 2.0, "{text} {within}");
        // A yes at `within` below is as likely as a no at `within - 1` above, and too likely.
        assert!(wrong(within - 1) > failure / 2.0 - 1e-6, "{text} {within}");
    }
    let vector = search.with_counts(epsilon("2")).unwrap();
    let SparseVectorAccuracy { count, .. } = vector.accuracy(confidence("0.95"));
    let alone = Count::of(rows_of(1)).laplace(epsilon!(2)).unwrap();
    assert_eq!(count, alone.accuracy(confidence("0.95")));
}

/// By following the draws of a single key: what is stated of it holds, and one less does not.
#[test]
fn keys_are_found_and_their_numbers_are_near() {
    let key = |row: &u8| *row;
    let loss = crate::privacy::EpsilonDelta::new("1", "0.01").unwrap();
    let histogram = ThresholdHistogram::<Vec<u8>, _, _>::new(Replace, "key", key, loss).unwrap();
    for text in ["0.5", "0.9", "0.99"] {
        let likely = confidence(text);
        let ThresholdAccuracy { count, found } = histogram.accuracy(likely);
        let failure: f64 = likely.failure().to_string().parse().unwrap();
        // The probability that the key is missing, and that it is there and far from its count.
        let odds = |rows: u64, within: u128| {
            let found = answers(&histogram, &vec![7; rows as usize], &[()], 60);
            let (mut missing, mut far) = (0.0, 0.0);
            for (answer, mass) in &found.outcomes {
                let counts = answer[0].as_ref().unwrap();
                let mass = mass.to_f64_fast();
                match counts.get(&7) {
                    None => missing += mass,
                    Some(number) if u128::from(number.abs_diff(rows as i64)) > within => {
                        far += mass;
                    }
                    Some(_) => {}
                }
            }
            [missing, far]
        };
        assert!(odds(found, count)[0] <= failure + 1e-12, "{text} {found}");
        assert!(odds(found - 1, count)[0] > failure, "{text} {found}");
        for rows in [1, histogram.threshold(), found, found + 40] {
            assert!(odds(rows, count)[1] <= failure + 1e-12, "{text} {rows}");
        }
        // For a key that is always released this is the least.
        assert!(odds(found + 40, count - 1)[1] > failure - 1e-9, "{text}");
        let estimate = histogram.estimate(100, likely);
        let distance = count as i64;
        assert_eq!(estimate.interval, 100 - distance..=100 + distance);
    }
    let delta = "1e-6".parse().unwrap();
    for (within, text) in [(0, "0.9"), (30, "0.95"), (1 << 36, "0.99")] {
        let likely = confidence(text);
        let made = ThresholdHistogram::<Vec<u8>, _>::with_accuracy(
            AddRemove, "key", key, within, likely, delta,
        )
        .unwrap();
        assert!(made.accuracy(likely).count <= within && made.delta() <= delta);
        // It has the noise of a count, and the least ε is that of a count.
        let count = Count::of(rows_of(1))
            .laplace_within(within, likely)
            .unwrap();
        assert_eq!(made.noise(), count.noise());
        let made = GaussianThresholdHistogram::<Vec<u8>, _>::with_accuracy(
            AddRemove, "key", key, within, likely, delta,
        )
        .unwrap();
        let count = Count::of(rows_of(1))
            .gaussian_within(within, likely)
            .unwrap();
        assert_eq!(made.noise(), count.noise());
    }
}

/// A search, its counts, and sums over samples are made for an accuracy, and less is not enough.
#[test]
fn searches_and_samples_are_made_for_an_accuracy() {
    let less = |loss: Epsilon| {
        let digit = 10_u128.pow(loss.units().ilog10() - 5);
        Epsilon::from_units(loss.units() - digit).unwrap()
    };
    for (within, text) in [(1, "0.5"), (40, "0.95"), (1 << 30, "0.999")] {
        let likely = confidence(text);
        let search =
            AboveThreshold::<Predicate<Vec<u8>>, _>::with_accuracy(Replace, 100, 3, within, likely)
                .unwrap();
        assert!(search.accuracy(likely) <= within);
        let loss: Epsilon = search.loss(&PureDp).unwrap();
        let worse =
            AboveThreshold::<Predicate<Vec<u8>>, _>::new(Replace, 100, 3, less(loss)).unwrap();
        assert!(worse.accuracy(likely) > within);
        let vector = search.clone().with_counts_within(within, likely).unwrap();
        assert!(vector.accuracy(likely).count <= within);
        let total: Epsilon = vector.loss(&PureDp).unwrap();
        let counts = total.saturating_sub(loss);
        let worse = search.with_counts(less(counts)).unwrap();
        assert!(worse.accuracy(likely).count > within);
        let distance = i64::try_from(worse.accuracy(likely).count).unwrap();
        assert_eq!(*worse.estimate(5, likely).interval.end(), 5 + distance);
    }
    let vector = Vector::<Vec<u8>>::new("itself", |row: &u8, out: &mut [f64]| {
        out.fill(f64::from(*row));
    });
    let lattice = Lattice::in_steps(-20, 1 << 20);
    let rate = "0.01".parse().unwrap();
    let likely = confidence("0.95");
    let made =
        SampledGaussianSum::with_accuracy(AddRemove, vector.clone(), 3, lattice, rate, 2.5, likely);
    let made = made.unwrap();
    assert!(made.accuracy(likely) <= 2.5);
    let crate::privacy::facts::Gaussian::Mu(mu) = made.fact.gaussian() else {
        panic!("it is made for a μ");
    };
    let digit = 10_u128.pow(mu.units().ilog10() - 5);
    let less = crate::number::Mu::from_units(mu.units() - digit).unwrap();
    let worse = SampledGaussianSum::new(AddRemove, vector, 3, lattice, rate, less).unwrap();
    assert!(worse.accuracy(likely) > 2.5);
}

/// The exact odds of an answer that is farther off than stated, where the guess is as wrong as it may be.
#[test]
fn multiplicative_weights_are_within_their_distance() {
    let domain = || vec![1_u8, 2];
    let epsilon = |text: &str| text.parse().unwrap();
    let weights = MultiplicativeWeights::new(domain(), 40, 3, 1, epsilon("12")).unwrap();
    for text in ["0.5", "0.8", "0.95"] {
        let likely = confidence(text);
        let within = weights.accuracy(likely);
        let failure: f64 = likely.failure().to_string().parse().unwrap();
        // The guess is 20, and the count anything.
        for count in [14, 17, 20, 20 + within as usize + 1, 40] {
            let mut rows = vec![1; count];
            rows.resize(40, 2);
            let found = answers(&weights, &rows, &[rows_of(1)], 9);
            let far = found.outcomes.iter().filter(|(answer, _)| {
                let answer = answer[0].as_ref().unwrap();
                u128::from(answer.abs_diff(count as i64)) > within
            });
            let mass = far.fold(found.cut.clone(), |sum, (_, mass)| sum + mass);
            assert!(mass.to_f64_fast() <= failure, "{text} {count}");
        }
        assert_eq!(
            *weights.estimate(9, likely).interval.end(),
            9 + within as i64
        );
    }
    let likely = confidence("0.95");
    let made = MultiplicativeWeights::with_accuracy(domain(), 1000, 100, 4, 250, likely).unwrap();
    assert!(made.accuracy(likely) <= 250);
    let loss: Epsilon = Private::<PureDp, Replace>::loss(&made, &PureDp).unwrap();
    let digit = 10_u128.pow(loss.units().ilog10() - 5);
    let less = Epsilon::from_units(loss.units() - digit).unwrap();
    let worse = MultiplicativeWeights::new(domain(), 1000, 100, 4, less).unwrap();
    assert!(worse.accuracy(likely) > 250);
    let error = MultiplicativeWeights::with_accuracy(domain(), 1000, 100, 4, 98, likely);
    assert_eq!(error.unwrap_err(), MechanismError::TooAccurate);
    let error = MultiplicativeWeights::with_accuracy(domain(), 1000, 0, 4, 98, likely);
    assert_eq!(
        error.unwrap_err().to_string(),
        "the threshold must be from 1 to the number of rows, not 0"
    );
}
