//! The crate's own mechanisms, irrational laws and endless supports included, held against their
//! claims.

mod verify_support;

use queryables::account::{Accounted, Accumulator};
use queryables::compose::{Addressed, Filter};
use queryables::mechanisms::{
    AboveThreshold, Attribute, ConditionalResponse, ContinualCount, GaussianCount, NoisyCount,
    Predicate, Priced, QueryAnswerer, RandomizedResponse, RevealingResponse,
};
use queryables::privacy::{AddRemove, ApproxDp, Epsilon, EpsilonDelta, PureDp};
use queryables::verify::{Children, Completeness, Pair, Rational, Verifier};
use verify_support::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<u8> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

/// One row more.
fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![7, 8], vec![7, 7, 8])
}

#[test]
fn a_noisy_count_has_its_loss_and_no_less() {
    let count = NoisyCount::new(is(7), epsilon("1")).unwrap();
    let pair = pair();
    let verifier = Verifier::new(&count, &pair, vec![()], 1);
    let worst = verifier.worst_delta_at(epsilon("1")).unwrap();
    // Noise has no end, so that something is always cut.
    let Completeness::Truncated { mass } = &worst.completeness else {
        panic!("{worst}");
    };
    assert!(*mass > Rational::ZERO && *mass <= ratio(1, 1 << 30));
    assert!(*worst.value.high().unwrap() <= ratio(1, 1 << 29));
    verifier.assert_private(&ApproxDp, &EpsilonDelta::new("1", "1e-8").unwrap());
    let less = EpsilonDelta::new("0.99", "1e-8").unwrap();
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn a_gaussian_count_has_certified_deltas() {
    // σ² = 1/(2ρ) = 1, one step apart. The loss is above 1 where the noise is at most -1, so that
    // δ(1) = P(X ≤ -1) - e P(X ≤ -2) = 0.30054... - 0.15919...
    let count = GaussianCount::new(is(7), "0.5".parse().unwrap()).unwrap();
    let pair = pair();
    let worst = Verifier::new(&count, &pair, vec![()], 1)
        .worst_delta_at(epsilon("1"))
        .unwrap();
    let (low, high) = (worst.value.low().unwrap(), worst.value.high().unwrap());
    assert!(high - low < ratio(1, 1 << 27));
    assert!(
        *low > ratio(14135, 100_000) && *high < ratio(14136, 100_000),
        "{worst}"
    );
}

#[test]
fn a_randomized_response_is_within_a_hair_of_its_loss() {
    // The odds are e^ε, which is irrational: at ε itself nothing is certain, next to it all is.
    let respond = RandomizedResponse::new(epsilon("1")).unwrap();
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(&respond, &pair, vec![()], 1);
    let check = |claim: &str| verifier.check(&PureDp, &epsilon(claim)).unwrap();
    let at = check("1");
    assert!(!at.holds() && !at.is_refuted());
    assert!(check("1.000000000000000000000000001").holds());
    assert!(check("0.999999999999999999999999999").is_refuted());
    // Odds that are whole numbers are exact.
    let respond = RandomizedResponse::with_odds(3, 1).unwrap();
    let worst = Verifier::new(&respond, &pair, vec![()], 1).worst_ratio();
    assert_eq!(exact(&worst.unwrap()), ratio(3, 1));
}

#[test]
fn responses_in_a_filter_keep_the_budget() {
    let respond = RandomizedResponse::new(epsilon("1")).unwrap();
    let filter = Addressed::new(Filter::concurrent(PureDp, epsilon("2")));
    let pair = Pair::new(false, true);
    let menu = Children::new(vec![respond], vec![()]);
    let verifier = Verifier::by_state(&filter, &pair, menu, 6);
    verifier.assert_private(&PureDp, &epsilon("2.000000000000000000000000001"));
    let less = verifier
        .check(&PureDp, &epsilon("1.999999999999999999999999999"))
        .unwrap();
    assert!(less.is_refuted(), "{less}");
}

#[test]
fn above_threshold_keeps_its_loss() {
    let pair = pair();
    for (hits, depth) in [(1, 3), (2, 2)] {
        let mechanism: AboveThreshold<u8> =
            AboveThreshold::new(AddRemove, 2, hits, epsilon("2")).unwrap();
        let verifier =
            Verifier::by_state(&mechanism, &pair, vec![is(7), is(8)], depth).cut(ratio(1, 1000));
        let claim = EpsilonDelta::new("2", "0.01").unwrap();
        verifier.assert_private(&ApproxDp, &claim);
        // And it does cost something.
        let less = EpsilonDelta::new("0.1", "0.01").unwrap();
        assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
    }
}

fn epsilon_delta(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

#[test]
fn a_revealing_response_has_its_delta_and_no_less() {
    let respond = RevealingResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(&respond, &pair, vec![()], 1);
    // Odds of 3 to 1, revealed or not: 4/16 + (9/16 - 3/16) apart.
    let apart = verifier.worst_delta_at(epsilon("0")).unwrap();
    assert_eq!(exact(&apart), ratio(10, 16));
    verifier.assert_private(&ApproxDp, &respond.epsilon_delta());
    let less = epsilon_delta("1.1", "0.2499");
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn a_conditional_response_keeps_its_budget_whatever_was_seen() {
    let rule = ApproxDp.accumulator().capped(epsilon_delta("0", "0.5"));
    let respond = ConditionalResponse::new(rule, |seen: &EpsilonDelta| *seen);
    let pair = Pair::new(false, true);
    let menu = vec![epsilon_delta("0", "0.25"), epsilon_delta("0", "0.125")];
    let verifier = Verifier::new(&respond, &pair, menu, 3);
    verifier.assert_private(&ApproxDp, &epsilon_delta("0", "0.5"));
    // The bit is revealed by one of two with probability 7/16 = 0.4375, and by a quarter and two
    // eighths with 1 - 3/4 · (7/8)² = 0.42578.
    let less = epsilon_delta("0", "0.4374");
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
    verifier.assert_private(&ApproxDp, &epsilon_delta("0", "0.43751"));
}

#[test]
fn a_continual_count_keeps_its_loss_whatever_the_order_of_times() {
    let time = Attribute::new("time", |row: &u8| Some(u64::from(*row)));
    let counter = ContinualCount::new(AddRemove, time, 2, epsilon("4")).unwrap();
    let pair = Pair::new(vec![1_u8], vec![0, 1]);
    let verifier = Verifier::new(&counter, &pair, vec![1, 2], 2).cut(ratio(1, 1000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("4", "0.01"));
    // One of its two nodes alone would lose 2.
    let less = verifier.check(&ApproxDp, &epsilon_delta("2.5", "0.01"));
    assert!(less.unwrap().is_refuted());
}

#[test]
fn an_answerer_keeps_its_budget_whatever_is_paid() {
    let rule = PureDp.accumulator().capped(epsilon("2"));
    let answerer = QueryAnswerer::new(rule);
    let menu = ["0.5", "1.5"].map(|price| Priced::new(is(7), epsilon(price)));
    let pair = pair();
    let verifier = Verifier::new(&answerer, &pair, menu.to_vec(), 2).cut(ratio(1, 1000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("2", "0.01"));
    let less = verifier.check(&ApproxDp, &epsilon_delta("1.6", "0.01"));
    assert!(less.unwrap().is_refuted());
}
