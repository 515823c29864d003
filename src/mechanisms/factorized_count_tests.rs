use super::super::Accuracy;
use super::super::continual_count::{largest_change, most_nodes};
use super::super::factorization::square_root;
use super::*;
use crate::machine::{CoinSource, NotPrivateSeededCoins};
use crate::prelude::*;
use crate::privacy::{Distance, Gdp, Private, ZCdp};
use crate::tests::exact::answers;

type Count<R = AddRemove> = FactorizedContinualCount<Vec<u8>, R>;

/// A row of t arrives at time t; 99 has no time, and 98 cannot be read.
fn time() -> Attribute<Vec<u8>, Option<u64>> {
    Attribute::new("time", |row: &u8| match row {
        98 => panic!("an unlucky row"),
        99 => None,
        row => Some(u64::from(*row)),
    })
}

fn count<R: RowRelation>(relation: R, horizon: u64, rho: &str) -> Result<Count<R>, MechanismError> {
    Count::new(relation, time(), horizon, rho.parse::<Rho>().unwrap())
}

/// The sum that an answer is computed from is a function of the noisy codes u + z.
#[test]
fn every_answer_is_a_function_of_the_noisy_codes() {
    for (bits, rows) in [
        ((24, 46), vec![0, 0, 3, 7, 12, 12, 12, 29, 30]),
        ((1, 2), vec![5; 200]),
    ] {
        let matrix = Arc::new(Factorization::with_bits(30, bits.0, bits.1));
        let mut mechanism = count(AddRemove, 30, "0.5").unwrap();
        mechanism.query.matrix = Arc::clone(&matrix);
        let mut coins = NotPrivateSeededCoins::new(5);
        let mut machine = mechanism
            .start(&Arc::new(rows), &mut coins.coins())
            .unwrap();
        for time in [30, 1, 17, 0, 17, 29] {
            let answer = machine.step(time, &mut coins.coins()).unwrap();
            let code = |at: usize| {
                let seen = machine.arrived[..=at].iter().rev();
                product(matrix.encoder.iter(), seen) + machine.drawn[at]
            };
            let decoded: i128 = (0..time as usize)
                .map(|at| i128::from(matrix.decoder[time as usize - 1 - at]) * code(at))
                .sum();
            let half = 1 << (matrix.shift - 1);
            assert_eq!(
                i128::from(answer),
                (decoded + half) >> matrix.shift,
                "{time}"
            );
        }
    }
}

/// With little noise, and a coarse matrix: r = (2, 1), so that Δ² is 5, and σ² is 1. Rényi divergences
/// of order 2, exactly.
#[test]
fn the_loss_is_not_exceeded() {
    fn divergence<R: RowRelation>(relation: R, pair: [&[u8]; 2]) -> (f64, f64) {
        let mut mechanism = count(relation, 2, "1").unwrap();
        mechanism.query.matrix = Arc::new(Factorization::with_bits(2, 1, 2));
        let square = square::<R>(&mechanism.query.matrix);
        // ρ is half of Δ²/σ².
        let rho = (square * 5).to_string();
        let rho = format!("{}.{}", &rho[..rho.len() - 1], &rho[rho.len() - 1..]);
        mechanism.noise =
            GaussianNoise::for_square(Gaussian::Rho(rho.parse().unwrap()), square).unwrap();
        assert_eq!(mechanism.noise.law().variance(), Ratio::from(1));
        let [one, other] = pair.map(|rows| answers(&mechanism, rows, &[1, 2], 7));
        let squares = one.outcomes.iter().filter_map(|(answer, p)| {
            let q = other.outcomes.get(answer)?;
            Some((p * p / q).to_f64_fast())
        });
        (squares.sum::<f64>().ln(), 2.0 * rho.parse::<f64>().unwrap())
    }
    for (pair, share) in [
        ([&[0][..], &[]], 0.5),
        ([&[1], &[]], 0.4),
        ([&[99], &[1]], 0.4),
    ] {
        let (found, most) = divergence(AddRemove, pair);
        assert!(found > share * most && found < most, "{found} {most}");
    }
    for pair in [[&[0][..], &[1]], [&[0], &[99]], [&[1], &[98]]] {
        let (found, most) = divergence(Replace, pair);
        assert!(found > 0.1 * most && found < most, "{found} {most}");
    }
}

#[test]
fn counts_are_of_what_came_before_and_do_not_change() {
    // With a ρ of 10^9 the noise is negligible.
    let mechanism = count(AddRemove, 100, "1e9").unwrap();
    let mut coins = NotPrivateSeededCoins::new(5);
    let data = Arc::new(vec![3, 0, 3, 98, 99, 7, 100, 99]);
    let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
    let mut ask = |time| machine.step(time, &mut coins.coins());
    for (time, expected) in [
        (100, 4),
        (0, 0),
        (1, 1),
        (3, 1),
        (4, 3),
        (7, 3),
        (8, 4),
        (4, 3),
    ] {
        assert_eq!(ask(time), Ok(expected), "{time}");
    }
    let beyond = Fault::InvalidQuery("the time is beyond the horizon");
    assert_eq!(ask(101), Err(beyond));
    assert_eq!(ask(u64::MAX), Err(beyond));
    assert_eq!(
        format!("{machine:?}"),
        "FactorizedCountMachine { horizon: 100, .. }"
    );
    assert_eq!(
        format!("{mechanism:?}"),
        "FactorizedContinualCount(time = time, horizon = 100, relation = add or remove one row, \
         rho = 1000000000)"
    );
}

#[test]
fn losses_are_those_it_was_made_for() {
    let half = "0.5".parse().unwrap();
    let mechanism = count(Replace, 64, "0.5").unwrap();
    assert_eq!(mechanism.loss(&ZCdp), Ok(half));
    let two = Distance::new(2).unwrap();
    assert_eq!(mechanism.loss_at(&ZCdp, two), Ok("2".parse().unwrap()));
    let mechanism = Count::new(AddRemove, time(), 64, mu!(0.3)).unwrap();
    assert_eq!(mechanism.loss(&Gdp), Ok("0.3".parse().unwrap()));
}

/// Squared errors over all times, times 2ρ, of the tree and of the factorization: mean and largest.
fn errors(times: u64) -> [[f64; 2]; 2] {
    let node = largest_change::<AddRemove>(times) as f64;
    let nodes: u32 = (1..=times).map(u64::count_ones).sum();
    let tree = [
        node * f64::from(nodes) / times as f64,
        node * f64::from(most_nodes(times)),
    ];
    let root = square_root(times, 40)
        .into_iter()
        .map(|entry| entry as f64 / 2_f64.powi(40));
    let mut row = 0.0;
    let rows: Vec<f64> = root
        .map(|entry| {
            row += entry * entry;
            row
        })
        .collect();
    let mean = rows.iter().sum::<f64>() / times as f64;
    [tree, [row * mean, row * row]]
}

/// The table of the documentation.
#[test]
fn the_error_is_several_times_smaller_than_that_of_the_tree() {
    for (times, tree, factorization) in [
        (1 << 10, ["55.0", "110.0"], ["9.7", "10.7"]),
        (1 << 16, ["136.0", "272.0"], ["19.7", "21.1"]),
    ] {
        let found = errors(times).map(|errors| errors.map(|error| format!("{error:.1}")));
        assert_eq!(
            found,
            [tree, factorization].map(|row| row.map(str::to_owned))
        );
    }
    // What is stated is the largest error, with the integers' own norms.
    let mechanism = count(AddRemove, 1 << 10, "0.5").unwrap();
    let [_, [_, largest]] = errors(1 << 10);
    // Rounding the answer adds 1/12.
    let stated = mechanism.variance() - 1.0 / 12.0;
    assert!(
        (largest..largest * 1.0005).contains(&stated),
        "{stated} {largest}"
    );
}

/// The noise of the last answer, drawn many times. Its variance is found within 20 %, but for a
/// probability below 1e-9: with 2500 draws the mean of squares has a standard deviation of 2.8 %.
#[test]
fn the_noise_of_an_answer_has_the_variance_that_is_stated() {
    let mechanism = count(AddRemove, 8, "0.005").unwrap();
    let mut coins = NotPrivateSeededCoins::new(3);
    let data = Arc::new(vec![]);
    let mut squares = 0.0;
    for _ in 0..2500 {
        let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
        squares += (machine.step(8, &mut coins.coins()).unwrap() as f64).powi(2);
    }
    let ratio = squares / 2500.0 / mechanism.variance();
    assert!((0.8..1.2).contains(&ratio), "{ratio}");
    let confidence = "0.95".parse().unwrap();
    let within = mechanism.accuracy(confidence);
    let again = Count::with_accuracy(AddRemove, time(), 8, within, confidence).unwrap();
    assert_eq!(again.accuracy(confidence), within);
    assert!(again.loss(&ZCdp).unwrap() <= "0.005".parse().unwrap());
}

#[test]
fn bad_parameters_are_refused() {
    let error = |horizon, rho| count(AddRemove, horizon, rho).map(|_| ()).unwrap_err();
    assert_eq!(error(0, "1"), MechanismError::no_time());
    assert_eq!(
        error((1 << 16) + 1, "1").to_string(),
        "the horizon must be at most 2^16 (`ContinualCount` takes any), not 65537"
    );
    assert_eq!(error(4, "0"), MechanismError::NoLoss("rho"));
    assert_eq!(error(4, "1e-17"), MechanismError::TooSmall);
    let mu = Count::new(Replace, time(), 4, mu!(1e-9)).map(|_| ());
    assert_eq!(mu, Err(MechanismError::TooSmall));
    // The accuracy that is stated is that of the noise it was made with.
    let query = count(AddRemove, 4, "1").unwrap().query().clone();
    assert_eq!(
        query.gaussian(rho!(2)).unwrap_err().to_string(),
        "the noise of a factorized count must be given to `FactorizedContinualCount::new`, not later"
    );
}

/// Data that is not rows may count more than a number holds, and name a time twice.
#[test]
fn counts_of_others_are_added_up_and_clamped() {
    #[derive(Clone)]
    struct Many;

    impl Source for Many {
        fn name(&self) -> std::borrow::Cow<'_, str> {
            "many".into()
        }
    }

    impl CountsBy<u8, u64> for Many {
        fn counts(&self, _: &u8) -> Result<Vec<(u64, u64)>, crate::data::Unavailable> {
            Ok(vec![(0, 3), (0, 4), (1, u64::MAX), (2, u64::MAX), (9, 1)])
        }
    }

    let mechanism = Noised::<Factorized<Many>, GaussianNoise>::new(AddRemove, Many, 3, rho!(1e9));
    let mut coins = NotPrivateSeededCoins::new(5);
    let machine = mechanism.unwrap().start(&Arc::new(0), &mut coins.coins());
    let mut machine = machine.unwrap();
    assert_eq!(machine.step(1, &mut coins.coins()), Ok(7));
    assert_eq!(machine.step(3, &mut coins.coins()), Ok(i64::MAX));
}
