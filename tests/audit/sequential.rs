//! Claims that are tested run by run, until they are refuted. All have seeds.

use crate::lower_bounds::{BITS, Once, delta, epsilon, once};
use queryables::audit::{Audit, AuditError, Pair};
use queryables::machine::{Script, View};
use queryables::mechanisms::RandomizedResponse;
use queryables::number::{Delta, Epsilon};
use queryables::privacy::{ApproxDp, EpsilonDelta, PureDp, RdpGrid, ZCdp};

/// Whoever names the number of trials in advance names enough of them: `claims` has 30 000 for these
/// thresholds, and twice as many runs on each dataset where the event is learned. As many runs as the test
/// needed are not enough then.
#[test]
fn planted_thresholds_are_found_in_hundreds_of_runs() {
    use crate::threshold::{AboveThreshold, Bug};
    let pair = Pair::new(vec![7, 7, 8], vec![7, 8, 8]);
    let claim = epsilon("2.08");
    let script = || Script::new([8, 8, 8, 8, 7, 7, 7, 7]);
    let false_one = AboveThreshold(Bug::NoQueryNoise);
    for seed in 0..5 {
        let audit = || Audit::new(&false_one, &pair, script, 8).seed(seed);
        let audited = audit();
        let mut test = audited.test(&PureDp, &claim).unwrap();
        assert!(test.run(800), "{test}");
        let fixed = audit().trials(test.rounds() / 2).run().unwrap();
        assert!(!fixed.check(&PureDp, &claim).is_refuted(), "{fixed}");
    }
    let right_one = AboveThreshold(Bug::Nothing);
    let audit = Audit::new(&right_one, &pair, script, 8).seed(5);
    audit
        .test(&PureDp, &claim)
        .unwrap()
        .assert_not_refuted(5000);
}

#[test]
fn a_planted_filter_is_found_in_hundreds_of_runs() {
    use crate::filter::{Bug, COST, Home, Kid, Query};
    let pair = BITS();
    let claim: Epsilon = format!("{}e-3", 2 * COST).parse().unwrap();
    let script = || {
        let launches = [Kid::Respond, Kid::RespondToNothing].map(Query::Launch);
        let asks = [0, 1].map(Query::Ask);
        Script::new(launches.into_iter().chain(asks))
    };
    for (bug, refuted) in [(Bug::Nothing, false), (Bug::ReusedNoise, true)] {
        let home = Home::filter(bug, 2 * COST);
        let audit = Audit::new(&home, &pair, script, 4).seed(15);
        let mut test = audit.test(&PureDp, &claim).unwrap();
        assert_eq!(test.run(300), refuted, "{bug:?}: {test}");
    }
}

/// At a failure probability of one fifth, looking after every one of 200 rounds: of 300 tests of claims that
/// are just true, more than 105 would be refuted with probability below 1e-9 (60 are expected at most).
/// Tests of a smaller claim are refuted that often.
#[test]
fn true_claims_are_refuted_as_rarely_as_is_said() {
    let pair = BITS();
    let refuted = |claim: &str| {
        let tests = (0..300).filter(|seed| {
            let response = RandomizedResponse::with_odds(3, 1).unwrap();
            let audit = Audit::new(&response, &pair, once, 1);
            let audit = audit.failure(delta("0.2")).seed(*seed);
            let mut test = audit.test(&PureDp, &epsilon(claim)).unwrap();
            (0..200).any(|_| test.run(1))
        });
        tests.count()
    };
    // ln 3.
    let wrong = refuted("1.09861228866811");
    assert!(wrong <= 105, "{wrong}");
    let right = refuted("0.6");
    assert!(right > 105, "{right}");
}

#[test]
fn a_test_may_be_looked_at_and_goes_on() {
    let pair = BITS();
    let response = RandomizedResponse::new(epsilon("3")).unwrap();
    let audit = Audit::new(&response, &pair, once, 1).seed(1);
    let mut test = audit.test(&PureDp, &epsilon("1")).unwrap();
    assert!(test.rounds() == 0 && (1.0 - test.evidence()).abs() < 1e-9);
    while !test.run(1) {
        assert!(test.evidence() < 1e9 && !test.is_refuted());
    }
    let rounds = test.rounds();
    assert!(test.evidence() >= 1e9 && rounds < 120, "{test}");
    // There is nothing to add.
    assert!(test.run(100) && test.rounds() == rounds);
    // All at once it is the same, with the same seed.
    let mut at_once = audit.test(&PureDp, &epsilon("1")).unwrap();
    assert!(at_once.run(10_000) && at_once.rounds() == rounds);
}

#[test]
fn either_direction_is_found_with_a_delta_and_under_zcdp() {
    // Only one of the two ever says so, with probability 1/5.
    let telltale = Once(|bit, draw| Ok(*bit && draw < 20));
    let said_so = |view: &View<bool>| view.answers().any(|answer| *answer == Ok(true));
    for (pair, direction) in [
        (Pair::new(true, false), "first dataset against second"),
        (Pair::new(false, true), "second dataset against first"),
    ] {
        let audit = Audit::new(&telltale, &pair, once, 1).seed(3);
        for (limit, refuted) in [("0.05", true), ("0.2", false)] {
            let claim = EpsilonDelta::new("0.5", limit).unwrap();
            let mut test = audit.test_by(&ApproxDp, &claim, said_so).unwrap();
            assert_eq!(test.run(3000), refuted, "{test}");
            assert_eq!(test.to_string().contains(direction), refuted, "{test}");
        }
        // It is ρ-zCDP for no ρ.
        let mut test = audit.test(&ZCdp, &"0.1".parse().unwrap()).unwrap();
        assert!(test.run(3000), "{test}");
    }
    // Gaussian noise in place of this: randomized response of ε is ε·tanh(ε/2)-zCDP.
    let (response, pair) = (RandomizedResponse::new(epsilon("1")).unwrap(), BITS());
    let audit = Audit::new(&response, &pair, once, 1).seed(4);
    let rho = "0.4622".parse().unwrap();
    audit.test(&ZCdp, &rho).unwrap().assert_not_refuted(2000);
}

#[test]
fn a_claim_that_implies_nothing_is_never_refuted() {
    let [one, other] = [["2", "3"], ["8", "9"]]
        .map(|orders| RdpGrid::new(orders.map(|order| order.parse().unwrap())).unwrap());
    let curve = other.curve([Epsilon::ZERO; 2]).unwrap();
    let pair = BITS();
    let everything = Once(|bit: &bool, _| Ok(*bit));
    let audit = Audit::new(&everything, &pair, once, 1).seed(5);
    assert!(audit.test(&other, &curve).unwrap().run(500));
    let mut test = audit.test(&one, &curve).unwrap();
    assert!(!test.run(500));
    assert_eq!(test.evidence(), 1.0);
    // Nor one whose e^ε no float holds.
    assert!(!audit.test(&PureDp, &epsilon("1000")).unwrap().run(500));
}

#[test]
fn bad_parameters_are_refused_before_anything_is_run() {
    let pair = BITS();
    let never = Once(|_: &bool, _| -> Result<u8, _> { unreachable!("nothing is run") });
    for failure in [Delta::ZERO, Delta::ONE] {
        let audit = Audit::new(&never, &pair, once, 1).failure(failure);
        let error = Some(AuditError::BadFailure);
        assert_eq!(audit.test(&PureDp, &epsilon("1")).err(), error);
        let by = audit.test_by(&PureDp, &epsilon("1"), |_| 0);
        assert_eq!(by.err(), error);
    }
}

#[test]
fn a_person_would_write_this() {
    let pair = BITS();
    let response = Once(|bit: &bool, draw| Ok(*bit ^ (draw < 10)));
    let audit = Audit::new(&response, &pair, once, 1).seed(13);
    let mut test = audit.test(&PureDp, &epsilon("1")).unwrap();
    assert_eq!(
        test.to_string(),
        "a loss of 1 is not refuted by 0 runs on each dataset, which is no proof"
    );
    assert!(test.run(1000));
    assert_eq!(
        test.to_string(),
        "a loss of 1 is refuted by 129 runs on each dataset: it implies ε ≤ 1 at δ = 0 (second dataset \
         against first)\nseen in 8 runs on the first dataset and in 117 on the second: [true]\n\
         wrong with probability at most 1e-9"
    );
}

#[test]
#[should_panic(expected = "a loss of 0.5 is refuted by")]
fn an_assertion_says_what_was_found() {
    let (pair, response) = (BITS(), RandomizedResponse::new(epsilon("3")).unwrap());
    let audit = Audit::new(&response, &pair, once, 1).seed(2);
    audit
        .test(&PureDp, &epsilon("0.5"))
        .unwrap()
        .assert_not_refuted(500);
}
