//! What is printed: what went wrong, what to do, and digits that show a difference.

use std::sync::Arc;

use queryables::data::Predicate;
use queryables::machine::{Coins, Fault, Mechanism, Released};
use queryables::mechanisms::{
    Choice, Count, CountScores, ExponentialMechanism, RandomizedResponse,
};
use queryables::noise::DiscreteLaplace;
use queryables::number::{Epsilon, Ratio};
use queryables::prelude::*;
use queryables::privacy::{PureDp, Rdp, Replace};
use queryables::verify::{Pair, Verifier, VerifyError, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(value.to_string(), move |row: &u8| *row == value)
}

#[test]
fn what_is_too_large_names_a_remedy() {
    let printed = |error: VerifyError| error.to_string();
    assert_eq!(
        printed(VerifyError::TooManyOutcomes { outcomes: 9 }),
        "a draw has 9 outcomes, more than 1048576: take noise of a smaller scale, or fewer \
         candidates, or audit the mechanism instead"
    );
    assert_eq!(
        printed(VerifyError::TooManyDraws),
        "one answer took more than 10000 draws: if it does come to an end, draw from a `Law` that \
         names its probabilities, which is one draw"
    );
    assert_eq!(
        printed(VerifyError::TooDeep { depth: 2000 }),
        "a depth of 2000: conversations of more than 1000 rounds are not explored: take a smaller \
         depth"
    );
    assert_eq!(
        printed(VerifyError::NoGoals),
        "the measure makes no goal of this claim, so that nothing would be checked"
    );
}

#[test]
fn what_is_too_large_for_a_high_order_is_the_product() {
    let respond = RandomizedResponse::with_odds(3, 1).unwrap();
    let verifier = Verifier::new(copies_of(&respond), &Pair::new(false, true), vec![()], 1);
    let order = Rdp::new("2000".parse().unwrap());
    let error = verifier.check(&order, &epsilon("1")).unwrap_err();
    assert_eq!(error.to_string(), "(α-1) ε is too large to compute with");
}

#[test]
fn a_claim_just_below_is_printed_with_the_digits_that_differ() {
    let choice = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of([is(7), is(8)]),
        epsilon("1"),
    )
    .unwrap();
    let pair = Pair::new(vec![7_u8], vec![8]);
    let verifier = Verifier::new(copies_of(&choice), &pair, vec![()], 1);
    let claim = epsilon("0.49999999999999");
    let verdict = verifier.check(&PureDp, &claim).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
    assert!(
        verdict.to_string().starts_with(
            "not private: the ratio of the probabilities of a view, for ε = 0.49999999999999, may be \
             at most 1.6487212707001116596…, and is 1.6487212707001281468… "
        ),
        "{verdict}"
    );
    // Where digits do not tell, there are few.
    let verdict = verifier.check(&PureDp, &epsilon("0.5")).unwrap();
    assert!(
        verdict
            .to_string()
            .contains("may be at most 1.648721270…, and is 1.648721270… "),
        "{verdict}"
    );
}

#[test]
fn a_zero_that_was_cut_is_not_said_to_be_one() {
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let pair = Pair::new(vec![7_u8], vec![7, 7]);
    let verifier = Verifier::new(copies_of(&count), &pair, vec![()], 1);
    let verdict = verifier.check(&PureDp, &epsilon("0.9")).unwrap();
    let printed = verdict.to_string();
    assert!(printed.contains(" and 0)"), "{printed}");
    assert!(
        printed.contains("\nnot followed: a probability of at most ")
            && printed.contains("; where 0 is said, it may be part of this\n"),
        "{printed}"
    );
}

/// Whether noise is at least 0, or at least 1000, depending on the bit.
#[derive(Clone)]
struct Far;

impl Mechanism<bool> for Far {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let law = DiscreteLaplace::new(Ratio::from(1)).map_err(|_| Fault::Failed)?;
        let (one, other) = (coins.noise(&law)?, coins.noise(&law)?);
        let threshold = if **data { 1000 } else { 0 };
        Ok(Released(coins.at_least((0, &one), (threshold, &other))))
    }
}

#[test]
fn what_may_be_impossible_is_undecided_and_says_so() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&Far), &pair, vec![()], 1);
    let verdict = verifier.check(&PureDp, &epsilon("900")).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    assert!(
        verdict.to_string().ends_with(
            "\nundecided because something on one dataset may be impossible on the other: its \
             probability is too small to be told from zero, so that nothing bounds the divergence: \
             check under ApproxDp"
        ),
        "{verdict}"
    );
}
