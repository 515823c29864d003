//! Choices by a score: exact odds against their claims, and a wrong sensitivity that is caught.

use crate::support::*;
use queryables::data::Predicate;
use queryables::mechanisms::query::Unavailable;
use queryables::mechanisms::{
    Choice, CountScores, Evaluate, ExponentialMechanism, NoisyMaxWithMargin, PermuteAndFlip, Score,
    Sensitivity, TopK,
};
use queryables::number::Epsilon;
use queryables::privacy::convert::gdp;
use queryables::privacy::fdp::FDp;
use queryables::privacy::{
    AddRemove, ApproxDp, EpsilonDelta, Gdp, Private, PureDp, Relation, Replace,
};
use queryables::verify::strategies::assert_sensitivity;
use queryables::verify::{Pair, Verifier, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

/// How far each number is from being in the middle of the rows.
#[derive(Clone, Copy)]
struct Middle {
    stated: Sensitivity,
}

impl<R: Relation> Score<R> for Middle {
    fn candidates(&self) -> usize {
        4
    }

    fn sensitivity(&self) -> Sensitivity {
        self.stated
    }
}

impl Evaluate<Vec<u8>> for Middle {
    fn evaluate(&self, rows: &Vec<u8>, scores: &mut [i64]) -> Result<(), Unavailable> {
        for (number, score) in (0..).zip(scores) {
            let side = |row: &u8| (i64::from(*row) - number).signum();
            *score = -rows.iter().map(side).sum::<i64>().abs();
        }
        Ok(())
    }
}

const RIGHT: Middle = Middle {
    stated: Sensitivity::each(1),
};
const WRONG: Middle = Middle {
    stated: Sensitivity::monotone(1),
};

/// At 1 the score is one less with the last row, and at 2 one more.
fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![1, 1, 3], vec![1, 1, 3, 3])
}

#[test]
fn a_wrong_sensitivity_is_refuted_by_the_views() {
    let pair = pair();
    for (score, holds) in [(RIGHT, true), (WRONG, false)] {
        let exponential = Choice::by(AddRemove, ExponentialMechanism, score, epsilon("1")).unwrap();
        let verdict = Verifier::new(copies_of(&exponential), &pair, vec![()], 1)
            .check(&PureDp, &epsilon("1"))
            .unwrap();
        assert_eq!(
            (verdict.holds(), verdict.is_refuted()),
            (holds, !holds),
            "{verdict}"
        );
        let flip = Choice::by(AddRemove, PermuteAndFlip, score, epsilon("1")).unwrap();
        let verdict = Verifier::new(copies_of(&flip), &pair, vec![()], 1)
            .check(&PureDp, &epsilon("1"))
            .unwrap();
        assert_eq!(
            (verdict.holds(), verdict.is_refuted()),
            (holds, !holds),
            "{verdict}"
        );
    }
}

#[test]
fn a_wrong_sensitivity_is_refuted_by_neighbours() {
    assert_sensitivity(AddRemove, &RIGHT, 0..4_u8, 0..6);
    let twice = Middle {
        stated: Sensitivity::each(2),
    };
    assert_sensitivity(Replace, &twice, 0..4_u8, 0..6);
}

#[test]
#[should_panic(expected = "scores move apart by 2, and 1 is stated")]
fn the_smallest_refuting_neighbours_are_shown() {
    assert_sensitivity(AddRemove, &WRONG, 0..4_u8, 0..6);
}

#[test]
#[should_panic(expected = ", and 2 is stated")]
fn a_sensitivity_for_added_rows_is_refuted_for_replaced_ones() {
    assert_sensitivity(Replace, &RIGHT, 0..4_u8, 0..6);
}

/// One vote moves from one of two candidates to the other. At ε = 0 that attains the curve of the fact,
/// tanh(1/4), and elsewhere it is below; the μ of the fact is as tight there.
#[test]
fn a_choice_is_on_the_curve_of_its_fact() {
    let pair = Pair::new(vec![7_u8], vec![8]);
    let choice = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of([is(7), is(8)]),
        epsilon("1"),
    )
    .unwrap();
    let profile = Private::<FDp, Replace>::loss(&choice, &FDp).unwrap();
    let mu = Private::<Gdp, Replace>::loss(&choice, &Gdp).unwrap();
    let verifier = Verifier::new(copies_of(&choice), &pair, vec![()], 1);
    let at = |epsilon, delta| {
        let claim = EpsilonDelta { epsilon, delta };
        verifier.check(&ApproxDp, &claim).unwrap()
    };
    for text in ["0", "0.1", "0.25", "0.4", "0.9"] {
        for delta in [
            profile.worst_delta(epsilon(text)).upper,
            gdp::delta(mu, epsilon(text)),
        ] {
            // Both are rounded up, by less than this.
            let more = delta.checked_add("1e-12".parse().unwrap()).unwrap();
            assert!(at(epsilon(text), more).holds(), "{text}");
            let less = delta.saturating_sub("1e-9".parse().unwrap());
            assert_eq!(at(epsilon(text), less).is_refuted(), text == "0", "{text}");
        }
    }
}

#[test]
fn permute_and_flip_has_its_loss_and_no_less() {
    // One that is behind on both sides.
    let pair = Pair::new(vec![7_u8, 7, 7], vec![7, 7, 7, 8]);
    let choice = Choice::by(
        AddRemove,
        PermuteAndFlip,
        CountScores::of([is(7), is(8)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&choice), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().holds());
    let less = epsilon("0.999999999");
    assert!(verifier.check(&PureDp, &less).unwrap().is_refuted());
    // Three candidates, one row replaced.
    let pair = Pair::new(vec![7_u8, 7, 9], vec![7, 8, 9]);
    let choice = Choice::by(
        Replace,
        PermuteAndFlip,
        CountScores::of([is(7), is(8), is(9)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&choice), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().holds());
}

#[test]
fn the_best_two_keep_their_loss() {
    let pair = Pair::new(vec![7_u8, 8], vec![7, 7, 8]);
    let choice = Choice::by(
        AddRemove,
        TopK(2),
        CountScores::of([is(7), is(8), is(9)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&choice), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().holds());
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.3"))
            .unwrap()
            .is_refuted()
    );
}

#[test]
fn the_margin_is_free() {
    let pair = Pair::new(vec![7_u8], vec![7, 8]);
    let votes = CountScores::of([is(7), is(8)]);
    let margin = Choice::by(AddRemove, NoisyMaxWithMargin, votes, epsilon("2")).unwrap();
    let verifier = Verifier::new(copies_of(&margin), &pair, vec![()], 1).cut(ratio(1, 10_000));
    let claim = |epsilon| EpsilonDelta::new(epsilon, "0.001").unwrap();
    verifier.assert_private(&ApproxDp, &claim("2"));
    assert!(
        verifier
            .check(&ApproxDp, &claim("1.5"))
            .unwrap()
            .is_refuted()
    );
}
