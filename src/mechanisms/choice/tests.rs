//! What is true of all laws.

use super::*;
use crate::data::{Attribute, Predicate};
use crate::machine::{CoinSource, NotPrivateSeededCoins};
use crate::mechanisms::{Counts, RowRelation, Source, Unavailable};
use crate::privacy::{Distance, Private, PureDp, Rdp, Replace, ZCdp};
use crate::tests::exact::{answers, rows_of, violation};
use std::borrow::Cow;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// Whether some choice has odds that surely differ by more than e^bound.
fn exceeds(
    mechanism: &impl Mechanism<Vec<u8>, Machine = Released<usize>>,
    bound: &str,
    pair: [&[u8]; 2],
) -> bool {
    let [one, other] = pair.map(|rows| answers(mechanism, rows, &[()], 12));
    assert!(one.cut.to_f64_fast() < 1e-3);
    violation(&one, &other, epsilon(bound)).is_some()
        || violation(&other, &one, epsilon(bound)).is_some()
}

const ADDED: [&[u8]; 2] = [&[0, 1], &[1]];
const REPLACED: [&[u8]; 2] = [&[0], &[1]];

#[test]
fn the_noisy_maximum_is_within_its_loss() {
    let candidates = || [rows_of(0), rows_of(1)];
    let added = Choice::by(
        AddRemove,
        NoisyMax,
        CountScores::of(candidates()),
        epsilon("2"),
    )
    .unwrap();
    assert!(!exceeds(&added, "2", ADDED));
    // The noise for added rows is too small for replaced ones.
    assert!(exceeds(&added, "2", REPLACED));
    let replaced = Choice::by(
        Replace,
        NoisyMax,
        CountScores::of(candidates()),
        epsilon("2"),
    )
    .unwrap();
    assert!(!exceeds(&replaced, "2", ADDED));
    assert!(!exceeds(&replaced, "2", REPLACED));
    assert!(exceeds(&replaced, "1", REPLACED));
}

#[test]
fn the_exponential_mechanism_is_within_its_loss() {
    // One candidate loses what two others gain.
    let candidates = || [rows_of(0), rows_of(1), rows_of(1)];
    let added = Choice::by(
        AddRemove,
        ExponentialMechanism,
        CountScores::of(candidates()),
        epsilon("2"),
    )
    .unwrap();
    assert!(!exceeds(&added, "2", ADDED));
    assert!(exceeds(&added, "2", REPLACED));
    let replaced = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of(candidates()),
        epsilon("2"),
    )
    .unwrap();
    assert!(!exceeds(&replaced, "2", REPLACED));
    assert!(exceeds(&replaced, "1.3", REPLACED));
}

/// Many candidates that never count, against one that does: the loss is nearly attained.
#[test]
fn the_exponential_mechanism_attains_its_loss_in_the_limit() {
    let candidates = (1..=20).map(rows_of);
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        CountScores::of(candidates),
        epsilon("0.1"),
    )
    .unwrap();
    let pair: [&[u8]; 2] = [&[1], &[]];
    let [one, other] = pair.map(|rows| answers(&choice, rows, &[()], 20));
    assert_eq!(violation(&one, &other, epsilon("0.1")), None);
    assert!(violation(&one, &other, epsilon("0.09")).is_some());
}

/// The larger of the Rényi divergences in the two directions, over what is claimed.
fn share<R: RowRelation>(relation: R, pair: [&[u8]; 2], order: f64) -> f64 {
    let candidates = [0, 1, 2].map(rows_of);
    let choice = Choice::by(
        relation,
        ExponentialMechanism,
        CountScores::of(candidates),
        epsilon("2"),
    )
    .unwrap();
    // The odds of the three indices.
    let odds = pair.map(|rows| {
        let found = answers(&choice, rows, &[()], 3);
        [0, 1, 2].map(|index| found.probability(&vec![Ok(index)]).to_f64_fast())
    });
    let divergence = |one: [f64; 3], other: [f64; 3]| {
        let terms = one.iter().zip(other);
        let sum: f64 = terms.map(|(p, q)| q * (p / q).powf(order)).sum();
        sum.ln() / (order - 1.0)
    };
    let [one, other] = odds;
    let most = divergence(one, other).max(divergence(other, one));
    let measure = Rdp::new(order.to_string().parse().unwrap());
    let claim: f64 = choice.loss(&measure).unwrap().to_string().parse().unwrap();
    most / claim
}

#[test]
fn the_exponential_mechanism_is_within_its_divergence() {
    for order in [1.001, 1.5, 2.0, 30.0] {
        let shares = [
            share(AddRemove, ADDED, order),
            share(Replace, REPLACED, order),
        ];
        assert!(
            shares.iter().all(|share| (0.4..1.0).contains(share)),
            "{shares:?}"
        );
    }
}

#[test]
fn the_exponential_mechanism_is_concentrated() {
    let rho = |text| {
        let choice = Choice::by(
            AddRemove,
            ExponentialMechanism,
            CountScores::of([rows_of(0)]),
            epsilon(text),
        )
        .unwrap();
        choice.loss(&ZCdp).map(|rho| rho.to_string())
    };
    assert_eq!(rho("2"), Ok("0.5".into()));
    assert_eq!(rho("0.1"), Ok("0.00125".into()));
    assert_eq!(rho("1e-27"), Ok("1e-27".into()));
    // ε²/8 is more than can be held, and from about ε = 8 on more than what ε-DP implies.
    assert_eq!(rho("1e7"), Ok("10000000".into()));
    let large = Choice::by(
        AddRemove,
        ExponentialMechanism,
        CountScores::of([rows_of(0)]),
        epsilon("1e7"),
    )
    .unwrap();
    let loss = large.loss(&Rdp::new("2".parse().unwrap())).unwrap();
    assert!(loss <= epsilon("1e7"));
}

#[test]
fn at_a_distance_the_interval_is_longer() {
    let choice = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of([rows_of(0)]),
        epsilon("0.2"),
    )
    .unwrap();
    let three = Distance::new(3).unwrap();
    assert_eq!(choice.loss_at(&PureDp, three), Ok(epsilon("0.6")));
    // (3·0.2)²/8, and at order 2 a little less than twice that.
    assert_eq!(choice.loss_at(&ZCdp, three), Ok("0.045".parse().unwrap()));
    let two = Rdp::new("2".parse().unwrap());
    let loss = choice.loss_at(&two, three).unwrap();
    assert!(loss > epsilon("0.0886815398") && loss < epsilon("0.0886815399"));
}

#[test]
fn a_description_lists_all_candidates() {
    let choice = |last| {
        Choice::by(
            AddRemove,
            NoisyMax,
            CountScores::of((1..=last).map(rows_of)),
            epsilon("0.5"),
        )
    };
    assert_eq!(
        format!("{:?}", choice(3).unwrap()),
        "NoisyMax(relation = add or remove one row, candidates = [1, 2, 3], epsilon = 0.5)"
    );
    let many = Mechanism::<Vec<u8>>::describe(&choice(9).unwrap());
    assert_eq!(many.get("candidates"), Some("[1, 2, 3, 4, 5, 6, 7, 8, 9]"));
}

#[test]
fn the_first_of_equals_wins_and_the_largest_before_all() {
    for (rows, winner) in [(&[][..], 0), (&[1], 1), (&[0, 1], 0), (&[2, 2, 1], 2)] {
        let candidates = [rows_of(0), rows_of(1), rows_of(2)];
        // With an ε of a million the noise is negligible.
        let choice = Choice::by(
            AddRemove,
            NoisyMax,
            CountScores::of(candidates),
            epsilon("1e6"),
        )
        .unwrap();
        let found = answers(&choice, rows, &[()], 1);
        let (likely, _) = found.outcomes.iter().max_by_key(|(_, mass)| *mass).unwrap();
        assert_eq!(*likely, [Ok(winner)]);
    }
}

#[test]
fn bad_parameters_are_refused() {
    let zero = MechanismError::NoLoss("epsilon");
    let none = MechanismError::none("candidates");
    let max = |candidates: &[Predicate<Vec<u8>>], text| {
        Choice::by(
            AddRemove,
            NoisyMax,
            CountScores::of(candidates.to_vec()),
            epsilon(text),
        )
        .unwrap_err()
    };
    assert_eq!(max(&[], "1"), none);
    assert_eq!(max(&[rows_of(0)], "0"), zero);
    let exponential = |candidates: &[Predicate<Vec<u8>>], text| {
        Choice::by(
            AddRemove,
            ExponentialMechanism,
            CountScores::of(candidates.to_vec()),
            epsilon(text),
        )
        .unwrap_err()
    };
    assert_eq!(exponential(&[], "1"), none);
    assert_eq!(exponential(&[rows_of(0)], "0"), zero);
}

/// The first is the row less one, the second its opposite, twice; neither can be read of 3.
fn sums() -> SumScores<Vec<u8>> {
    let number = |row: &u8| {
        assert!(*row != 3, "an unlucky row");
        i64::from(*row) - 1
    };
    let one = Attribute::new("one", number);
    let other = Attribute::new("other", move |row: &u8| -2 * number(row));
    SumScores::of([one, other], -1..=2).unwrap()
}

/// All datasets of up to three rows from 0 to 6, and all of their neighbours.
#[test]
fn sums_move_apart_as_far_as_they_state() {
    let all = |rows: u32| (0..7_u32.pow(rows)).map(move |number| digits(number, rows));
    let digits_of_all = (0..=2).flat_map(all);
    let (mut added, mut replaced) = (0, 0);
    for rows in digits_of_all {
        let with = |row: u8| rows.iter().copied().chain([row]).collect::<Vec<_>>();
        for row in 0..7 {
            added = added.max(sensitivity_between(AddRemove, &sums(), &rows, &with(row)).unwrap());
            for other in 0..7 {
                let moved = sensitivity_between(Replace, &sums(), &with(row), &with(other));
                replaced = replaced.max(moved.unwrap());
            }
        }
    }
    assert_eq!(Score::<AddRemove>::sensitivity(&sums()).apart(), added);
    assert_eq!(Score::<Replace>::sensitivity(&sums()).apart(), replaced);
    assert_eq!((added, replaced), (3, 6));
}

fn digits(number: u32, count: u32) -> Vec<u8> {
    let digits = (0..count).map(|place| number / 7_u32.pow(place) % 7);
    digits.map(|digit| digit as u8).collect()
}

/// Counts of its own, and nothing else; no answer without any.
struct Engine(Vec<u64>);

impl Counts<usize> for Engine {
    fn count(&self, place: &usize) -> Result<u64, Unavailable> {
        self.0.get(*place).copied().ok_or(Unavailable)
    }
}

impl Source for usize {
    fn name(&self) -> Cow<'_, str> {
        self.to_string().into()
    }
}

#[test]
fn data_that_is_not_in_memory_is_chosen_from() {
    let scores = || CountScores::of([0_usize, 1, 2]);
    let exponential = Choice::by(AddRemove, ExponentialMechanism, scores(), epsilon("1e6"));
    let max = Choice::by(AddRemove, NoisyMax, scores(), epsilon("1e6")).unwrap();
    let mut coins = NotPrivateSeededCoins::new(3);
    let exponential = exponential.unwrap();
    let data = Arc::new(Engine(vec![3, 9, 4]));
    for found in [
        exponential.start(&data, &mut coins.coins()),
        max.start(&data, &mut coins.coins()),
    ] {
        assert_eq!(found.unwrap().0, 1);
    }
    let away = Arc::new(Engine(vec![3, 9]));
    for found in [
        exponential.start(&away, &mut coins.coins()),
        max.start(&away, &mut coins.coins()),
    ] {
        assert_eq!(found.unwrap_err(), Fault::Unavailable);
    }
}
