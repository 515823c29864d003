use super::*;
use crate::compose::{IndividualError, IndividualFilter};
use crate::machine::{CoinSource, CoinsError, Law};
use crate::privacy::{ApproxDp, ApproxZCdp, Distance, Replace};
use crate::queryable::AskError;
use crate::tests::exact::answers;

type Rows = Vec<u8>;

fn key(row: &u8) -> Option<char> {
    match row {
        99 => panic!("an unlucky row"),
        98 => None,
        row => Some(char::from(b'a' + row)),
    }
}

fn histogram<R: RowRelation>(
    relation: R,
    threshold: u64,
    epsilon: &str,
) -> Result<ThresholdHistogram<Rows, char, R>, MechanismError> {
    let epsilon = epsilon.parse().unwrap();
    ThresholdHistogram::with_threshold(relation, "letter", key, threshold, epsilon)
}

fn number(delta: Delta) -> f64 {
    delta.to_string().parse().unwrap()
}

/// q^(T−1)/(1 + q), where equality at the threshold is part of it.
#[test]
fn delta_is_the_tail_with_its_atom() {
    for (epsilon, threshold) in [("1", 2), ("1", 3), ("0.1", 40), ("3", 5)] {
        let found = number(histogram(AddRemove, threshold, epsilon).unwrap().delta());
        let q = (-epsilon.parse::<f64>().unwrap()).exp();
        let exact = q.powi(threshold as i32 - 1) / (1.0 + q);
        assert!((found / exact - 1.0).abs() < 1e-12, "{found} {exact}");
        // For replaced rows the noise has twice the scale.
        let found = number(histogram(Replace, threshold, epsilon).unwrap().delta());
        let q = q.sqrt();
        let exact = q.powi(threshold as i32 - 1) / (1.0 + q);
        assert!((found / exact - 1.0).abs() < 1e-12, "{found} {exact}");
    }
}

#[test]
fn the_least_threshold_is_found() {
    for (epsilon, delta) in [("1", "1e-6"), ("0.1", "1e-9"), ("5", "0.01"), ("1", "0.9")] {
        let loss = EpsilonDelta::new(epsilon, delta).unwrap();
        let found = ThresholdHistogram::<Rows, _>::new(AddRemove, "letter", key, loss).unwrap();
        assert!(found.delta() <= loss.delta);
        let less = histogram(AddRemove, found.threshold() - 1, epsilon);
        match less {
            Ok(less) => assert!(less.delta() > loss.delta),
            Err(error) => {
                assert_eq!(
                    error.to_string(),
                    "the threshold of keys must be from 2 to 2^63 - 1, not 1"
                );
                assert_eq!(found.threshold(), 2);
            }
        }
        assert_eq!(found.loss(&ApproxDp).unwrap().epsilon, loss.epsilon);
        assert_eq!(found.loss(&ApproxDp).unwrap().delta, found.delta());
    }
    let loss = RhoDelta::new("0.5", "1e-6").unwrap();
    let found =
        GaussianThresholdHistogram::<Rows, _, _>::new(Replace, "letter", key, loss).unwrap();
    // Φ(−x) is 1e-6 at 4.7534; √2 times that, and 3/2.
    assert_eq!(found.threshold(), 9);
    let phi = 5.7e-8;
    assert!(
        (number(found.delta()) / phi - 1.0).abs() < 0.02,
        "{}",
        found.delta()
    );
    assert_eq!(found.loss(&ApproxZCdp).unwrap().rho, loss.rho);
}

/// The odds of all answers; noise runs from −12 to 12.
fn odds(rows: &[u8], threshold: u64) -> crate::tests::enumerate::Enumeration<String> {
    let histogram = histogram(AddRemove, threshold, "2").unwrap();
    let found = answers(&histogram, rows, &[()], 12);
    let mut outcomes = BTreeMap::new();
    for (answer, mass) in found.outcomes {
        *outcomes.entry(format!("{answer:?}")).or_default() += mass;
    }
    crate::tests::enumerate::Enumeration {
        outcomes,
        cut: found.cut,
    }
}

#[test]
fn without_keys_nothing_is_released() {
    for rows in [&[][..], &[98, 99]] {
        let found = odds(rows, 2);
        assert_eq!(found.outcomes.len(), 1);
        assert_eq!(found.outcomes.keys().next().unwrap(), "[Ok({})]");
    }
}

#[test]
fn a_count_at_the_threshold_is_released_and_one_below_is_not() {
    let likely = |rows: &[u8]| {
        // With an ε of a million the noise is negligible.
        let histogram = histogram(AddRemove, 2, "1e6").unwrap();
        let found = answers(&histogram, rows, &[()], 1);
        let (likely, _) = found
            .outcomes
            .into_iter()
            .max_by_key(|(_, mass)| mass.clone())
            .unwrap();
        likely[0].clone().unwrap()
    };
    assert_eq!(likely(&[1, 0, 1]), BTreeMap::from([('b', 2)]));
    assert_eq!(
        likely(&[3, 1, 99, 3, 1, 98, 3, 0]),
        BTreeMap::from([('b', 2), ('d', 3)])
    );
}

#[test]
fn the_order_of_the_rows_makes_no_difference() {
    let [one, other] = [&[2, 0, 2][..], &[0, 2, 2]].map(|rows| odds(rows, 3));
    assert_eq!(one.outcomes, other.outcomes);
}

/// What is left out of a key is the probability of its absence.
#[test]
fn a_key_is_left_out_as_often_as_stated() {
    // Without rows there is no key, whatever noise would do.
    for count in [0, 1, 2, 3, 4, 6] {
        let found = odds(&vec![0; count], 3);
        let absent = found.probability(&String::from("[Ok({})]")).to_f64_fast();
        let stated = number(histogram(AddRemove, 3, "2").unwrap().left_out(count as u64));
        assert!(
            (absent - stated).abs() < 1e-10,
            "{count}: {absent} {stated}"
        );
    }
}

/// Noise alone reaches this threshold more often than is asked for.
#[test]
fn no_key_without_rows_is_found() {
    let loss = EpsilonDelta::new("0.01", "0.5").unwrap();
    let key = |row: &u8| *row;
    let histogram = ThresholdHistogram::<Vec<u8>, _>::new(AddRemove, "key", key, loss).unwrap();
    assert_eq!(histogram.threshold(), 2);
    assert_eq!(histogram.accuracy("0.4".parse().unwrap()).found, 1);
}

#[test]
fn a_distance_is_a_group() {
    let histogram = histogram(AddRemove, 9, "0.5").unwrap();
    let two = Distance::new(2).unwrap();
    let loss = histogram.loss_at(&ApproxDp, two).unwrap();
    assert_eq!(loss.epsilon, "1".parse().unwrap());
    assert!(loss.delta > histogram.delta());
    assert_eq!(
        histogram.loss_at(&ApproxZCdp, two),
        Err(UnknownLoss("group privacy with delta > 0 is not offered"))
    );
}

#[test]
fn bad_parameters_are_refused() {
    let error = |threshold, epsilon| histogram(AddRemove, threshold, epsilon).unwrap_err();
    for threshold in [0, 1, 1 << 63] {
        let message = format!("the threshold of keys must be from 2 to 2^63 - 1, not {threshold}");
        assert_eq!(error(threshold, "1").to_string(), message);
    }
    assert_eq!(error(2, "0"), MechanismError::NoLoss("epsilon"));
    let least = |epsilon, delta| {
        let loss = EpsilonDelta::new(epsilon, delta).unwrap();
        ThresholdHistogram::<Rows, _>::new(AddRemove, "letter", key, loss).unwrap_err()
    };
    assert_eq!(least("1", "0"), MechanismError::NoLoss("delta"));
    assert_eq!(least("0", "0.1"), MechanismError::NoLoss("epsilon"));
    // The scale of the noise is 10^27.
    assert_eq!(least("1e-27", "0.1"), MechanismError::TooSmall);
}

#[test]
fn debug_shows_what_is_public() {
    let shown = format!("{:?}", histogram(Replace, 3, "2").unwrap());
    let start = "ThresholdHistogram(relation = replace one row, key = letter, threshold = 3, \
                 epsilon = 2, delta = 0.0989";
    assert!(shown.starts_with(start), "{shown}");
}

/// Without coins there is no answer, also where there would be nothing to add noise to.
#[test]
fn whether_coins_fail_does_not_depend_on_the_keys() {
    struct NoCoins;
    impl CoinSource for NoCoins {
        fn uniform(&mut self, _: NonZeroU64) -> Result<u64, CoinsError> {
            Err(CoinsError::NoEntropy)
        }

        fn draw(&mut self, _: &dyn Law) -> Result<i128, CoinsError> {
            Err(CoinsError::NoEntropy)
        }
    }
    let histogram = histogram(AddRemove, 3, "1").unwrap();
    let individual = IndividualFilter::new(ApproxDp, EpsilonDelta::new("9", "0.9").unwrap());
    for rows in [vec![], vec![98, 99], vec![1, 1, 2]] {
        let rows = Arc::new(rows);
        let answer = histogram.start(&rows, &mut NoCoins.coins());
        assert_eq!(answer.err(), Some(Fault::Failed));
        let mut machine = individual.start(&rows, &mut NoCoins.coins()).unwrap();
        let answer = machine.release(&histogram, &mut NoCoins.coins());
        let failed = IndividualError::NotAnswered(AskError::Fault(Fault::Failed));
        assert_eq!(answer.err(), Some(failed));
    }
}
