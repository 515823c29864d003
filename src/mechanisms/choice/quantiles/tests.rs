use super::*;
use crate::machine::{ClosedForm, CoinSource, Law, NotPrivateSeededCoins};
use crate::privacy::{Private, PureDp, Replace, ZCdp};
use crate::tests::exact::{answers, violation};
use proptest::prelude::*;

type Rows = Vec<u8>;

fn of<R: RowRelation>(
    relation: R,
    range: RangeInclusive<i64>,
    quantiles: &[(u32, u32)],
    epsilon: &str,
) -> Result<NoisyQuantiles<Attribute<Rows, i64>, R>, MechanismError> {
    let value = Attribute::new("value", |row: &u8| match row {
        99 => panic!("an unlucky row"),
        row => i64::from(*row) - 5,
    });
    let quantiles = quantiles.iter().copied();
    NoisyQuantiles::new(relation, value, range, quantiles, epsilon.parse().unwrap())
}

/// The error of each number of the range, by counting.
fn errors(rows: &[u8], range: RangeInclusive<i64>, (part, whole): (i64, i64)) -> Vec<u64> {
    let values: Vec<i64> = rows
        .iter()
        .map(|row| if *row == 99 { 0 } else { i64::from(*row) - 5 })
        .map(|value| value.clamp(*range.start(), *range.end()))
        .collect();
    let count = |holds: &dyn Fn(i64) -> bool| values.iter().filter(|x| holds(**x)).count() as i64;
    let rows = values.len() as i64;
    let error = |number: i64| {
        let (below, upto) = (count(&|x| x < number), count(&|x| x <= number));
        // The least distance of a·n from b·rank, over the ranks that the number has.
        let ranks = below..=upto;
        ranks
            .map(|rank| (part * rows - whole * rank).abs())
            .min()
            .unwrap_or(i64::MAX)
    };
    let exact = |number: i64| {
        let (below, upto) = (count(&|x| x < number), count(&|x| x <= number));
        if whole * below <= part * rows && part * rows <= whole * upto {
            0
        } else {
            error(number)
        }
    };
    range.map(|number| exact(number) as u64).collect()
}

proptest! {
    /// The runs have the errors of all numbers, one by one.
    #[test]
    fn numbers_are_scored_by_their_rank(
        rows in proptest::collection::vec(prop_oneof![0..12_u8, Just(99)], 0..9),
        (part, whole) in (1..5_u32, 5..8_u32),
        (low, high) in (-3..1_i64, 1..4_i64),
    ) {
        let quantiles = of(AddRemove, low..=high, &[(part, whole)], "1").unwrap();
        let sorted = quantiles.counts(&rows).unwrap();
        let law = law((part, whole), quantiles.rates[0], &sorted, high.abs_diff(low)).unwrap();
        let ClosedForm::ExponentialChoice { gaps, .. } = law.closed_form() else {
            return Err(TestCaseError::fail("a small range"));
        };
        prop_assert_eq!(gaps, errors(&rows, low..=high, (part.into(), whole.into())));
    }

    /// No error changes by more than the odds are made for, and some number has none.
    #[test]
    fn errors_change_as_little_as_stated(
        rows in proptest::collection::vec(0..12_u8, 1..9), other in 0..12_u8,
        (part, whole) in (1..5_u32, 5..8_u32),
    ) {
        let quantile = (part.into(), whole.into());
        let all = |rows: &[u8]| errors(rows, -3..=3, quantile);
        let one = all(&rows);
        prop_assert!(one.contains(&0));
        let most = |other: &[u64]| one.iter().zip(other).map(|(x, y)| x.abs_diff(*y)).max();
        prop_assert!(most(&all(&rows[1..])) <= Some(part.max(whole - part).into()));
        let mut replaced = rows.clone();
        replaced[0] = other;
        prop_assert!(most(&all(&replaced)) <= Some(whole.into()));
    }
}

fn exceeds<R: RowRelation>(relation: R, claim: &str, pair: [&[u8]; 2]) -> bool {
    let median = of(relation, 0..=50, &[(1, 2)], "1").unwrap();
    let [one, other] = pair.map(|rows| answers(&median, rows, &[()], 50));
    let claim = claim.parse().unwrap();
    violation(&one, &other, claim).is_some() || violation(&other, &one, claim).is_some()
}

/// Values are five less than the rows here. Numbers on one side of the median get worse, and the
/// many on the other side better.
#[test]
fn the_loss_is_nearly_attained_and_not_exceeded() {
    let added: [&[u8]; 2] = [&[7], &[7, 55]];
    assert!(!exceeds(AddRemove, "1", added));
    assert!(exceeds(AddRemove, "0.95", added));
    let replaced: [&[u8]; 2] = [&[5, 15, 15], &[55, 15, 15]];
    assert!(!exceeds(Replace, "1", replaced));
    assert!(exceeds(Replace, "0.75", replaced));
    // The odds for added rows are too steep for replaced ones.
    assert!(exceeds(AddRemove, "1", replaced));
}

#[test]
fn several_quantiles_share_the_loss_and_come_in_order() {
    let quartiles = of(AddRemove, 0..=20, &[(1, 4), (1, 2), (3, 4)], "0.6").unwrap();
    assert_eq!(quartiles.loss(&PureDp), Ok("0.6".parse().unwrap()));
    // 3·0.2²/8.
    assert_eq!(quartiles.loss(&ZCdp), Ok("0.015".parse().unwrap()));
    // ε/3 over 2·3, 2·1 and 2·3.
    let rates = quartiles.rates.iter().map(Ratio::to_string);
    assert_eq!(rates.collect::<Vec<_>>(), ["1/30", "1/10", "1/30"]);
    let mut coins = NotPrivateSeededCoins::new(4);
    for _ in 0..20 {
        let data = Arc::new(vec![5, 6, 7]);
        let Released(found) = quartiles.start(&data, &mut coins.coins()).unwrap();
        assert!(found.is_sorted() && found.len() == 3);
    }
}

/// With an ε of a million the answer is a number without error.
#[test]
fn without_noise_it_is_the_quantile() {
    let find = |rows: &[u8], quantiles: &[(u32, u32)], range| {
        let mechanism = of(Replace, range, quantiles, "1e6").unwrap();
        let mut coins = NotPrivateSeededCoins::new(4);
        let Released(found) = mechanism
            .start(&Arc::new(rows.to_vec()), &mut coins.coins())
            .unwrap();
        found
    };
    let rows: Vec<u8> = (5..=15).collect();
    assert_eq!(find(&rows, &[(1, 2)], 0..=10), [5]);
    assert_eq!(
        find(&rows, &[(1, 11), (1, 2), (21, 22)], i64::MIN..=i64::MAX)[1..],
        [5, 10]
    );
    assert_eq!(
        find(&[7, 7, 7, 7, 9], &[(1, 4), (1, 2), (3, 4)], -9..=9),
        [2, 2, 2]
    );
    // Values outside the range are at its ends.
    assert_eq!(
        find(&[5, 5, 200, 200, 200], &[(1, 4), (1, 2)], 1..=3),
        [1, 3]
    );
    // No rows: every number is as good.
    let found = find(&[], &[(1, 2)], i64::MIN..=i64::MAX);
    assert_eq!(found.len(), 1);
}

#[test]
fn bad_parameters_are_refused() {
    let error = |range, quantiles: &[(u32, u32)], epsilon| {
        of(AddRemove, range, quantiles, epsilon).unwrap_err()
    };
    assert_eq!(error(0..=1, &[], "1"), MechanismError::none("quantiles"));
    #[expect(clippy::reversed_empty_ranges, reason = "it is to be refused")]
    let empty = 1..=0;
    assert_eq!(
        error(empty, &[(1, 2)], "1").to_string(),
        "the range 1..=0 of \"value\" is empty: write the smaller number first"
    );
    for quantiles in [
        &[(0, 2)][..],
        &[(2, 2)],
        &[(1, 0)],
        &[(1, 2), (2, 4)],
        &[(1, 2), (1, 3)],
    ] {
        let (part, whole) = quantiles.last().unwrap();
        let message = format!(
            "a quantile must be between 0 and 1, and larger than the one before, not {part}/{whole}"
        );
        assert_eq!(error(0..=1, quantiles, "1").to_string(), message);
    }
    assert_eq!(
        error(0..=1, &[(1, 2)], "0"),
        MechanismError::NoLoss("epsilon")
    );
    assert_eq!(
        error(
            0..=1,
            &[1, 2, 3, 4].map(|a| (a, u32::MAX)),
            "0.123456789012345678901234567"
        ),
        MechanismError::TooFine
    );
    assert_eq!(
        format!(
            "{:?}",
            of(Replace, -3..=9, &[(1, 4), (1, 2)], "0.5").unwrap()
        ),
        "NoisyQuantiles(relation = replace one row, attribute = value, range = -3..=9, \
         quantiles = [1/4, 1/2], epsilon = 0.5)"
    );
}

/// The probability that the first answer is not the number that all rows have: with quantiles of
/// nearly one half, it is then off by nearly half of the rows.
fn first_is_off(quantiles: &NoisyQuantiles<Attribute<Rows, i64>>, rows: usize) -> f64 {
    let found = answers(quantiles, &vec![14; rows], &[()], 10);
    let off = found
        .outcomes
        .iter()
        .filter(|(answers, _)| match &answers[..] {
            [Ok(found)] => found[0] != 9,
            _ => false,
        });
    off.map(|(_, mass)| mass.to_f64_fast()).sum()
}

/// Sorting puts the smaller of two draws first, whichever quantile it was drawn for.
#[test]
fn sorted_answers_are_no_further_off_than_stated() {
    let two = of(AddRemove, 0..=9, &[(49, 100), (51, 100)], "0.5").unwrap();
    let confidence = "0.95".parse().unwrap();
    assert_eq!(two.accuracy(confidence), 24);
    // 0.49·49 is more than 24.
    assert!(first_is_off(&two, 49) <= 0.05);
    // Each draw alone is off by more than 21 with a probability of less than 0.05.
    assert!(first_is_off(&two, 43) > 0.08);
    let one = of(AddRemove, 0..=9, &[(49, 100)], "0.25").unwrap();
    assert_eq!(one.accuracy(confidence), 21);
    assert!(first_is_off(&one, 43) <= 0.05);
}
