//! Claims are audited, planted bugs found, and bad parameters refused.
//!
//! The rates of errors are those of `lower_bounds`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::lower_bounds::{BITS, Numbered, Once, delta, epsilon, once};
use queryables::audit::{Audit, AuditError, Pair, largest_epsilon};
use queryables::data::{Attribute, Predicate};
use queryables::machine::{Coins, Fault, Mechanism, Released, Script, View};
use queryables::mechanisms::{AboveThreshold, Count, NoisyQuantiles, RandomizedResponse};
use queryables::number::{Delta, Epsilon, Rho};
use queryables::prelude::*;
use queryables::privacy::{
    AddRemove, ApproxDp, ApproxRdp, ApproxZCdp, EpsilonDelta, Gdp, Implies, ProbabilisticDp,
    PureDp, Rdp, RdpGrid, Replace, ZCdp,
};
use queryables::verify::{Rational, Verifier, copies_of};

#[test]
fn a_planted_filter_is_found() {
    use crate::filter::{Bug, COST, Home, Kid, Query};
    let pair = BITS();
    let claim: Epsilon = format!("{}e-3", 2 * COST).parse().unwrap();
    // Both children are open before either is asked.
    let script = || {
        let launches = [Kid::Respond, Kid::RespondToNothing].map(Query::Launch);
        let asks = [0, 1].map(Query::Ask);
        Script::new(launches.into_iter().chain(asks))
    };
    for (bug, refuted) in [(Bug::Nothing, false), (Bug::ReusedNoise, true)] {
        let home = Home::filter(bug, 2 * COST);
        let audit = Audit::new(&home, &pair, script, 4).trials(2000).seed(15);
        let verdict = audit.run().unwrap().check(&PureDp, &claim);
        assert_eq!(verdict.is_refuted(), refuted, "{bug:?}: {verdict}");
    }
}

#[test]
fn the_planted_thresholds_are_found() {
    // One row is replaced. 3 ln 2: one step of the threshold, and two of the count that is above.
    let pair = Pair::new(vec![7, 7, 8], vec![7, 8, 8]);
    let claim = epsilon("2.08");
    for (bug, refuted) in [
        (crate::threshold::Bug::Nothing, false),
        (crate::threshold::Bug::GoesOn, true),
        (crate::threshold::Bug::NoQueryNoise, true),
    ] {
        let mechanism = crate::threshold::AboveThreshold(bug);
        let exact = Verifier::by_state(copies_of(&mechanism), &pair, vec![7, 8], 5);
        let exact = exact.check(&PureDp, &claim).unwrap();
        assert_eq!(
            (exact.is_refuted(), exact.holds()),
            (refuted, !refuted),
            "{exact}"
        );

        let script = || Script::new([8, 8, 8, 8, 7, 7, 7, 7]);
        let audit = Audit::new(&mechanism, &pair, script, 8)
            .trials(30_000)
            .seed(10);
        let misses_then_hits = |view: &View<bool>| {
            let mut rounds = view.answers().enumerate();
            rounds.all(|(round, answer)| (round < 4) == (*answer == Ok(false)))
        };
        let finding = audit.run_on("misses, then hits", misses_then_hits).unwrap();
        let verdict = finding.check(&PureDp, &claim);
        assert_eq!(verdict.is_refuted(), refuted, "{bug:?}: {verdict}");
    }
}

/// The versions of Lyu, Su and Li 2017 that the example audits, in conversations of three rounds: the
/// false ones are false, exactly. (Algorithm 2 is left out, because it takes minutes.)
#[test]
fn the_versions_of_the_figure_are_what_they_are_said_to_be() {
    let pair = Pair::new(vec![8], vec![7]);
    let cut = |one_in: u32| Rational::new(1, one_in.into()).unwrap();
    for (private, version) in crate::sparse_vectors::all(1, 4) {
        if version.name.starts_with("Algorithm 2") {
            continue;
        }
        let verifier = Verifier::by_state(copies_of(&version), &pair, vec![7, 8], 3).cut(cut(300));
        let verdict = verifier.check(&PureDp, &epsilon("4")).unwrap();
        assert_eq!(
            verdict.is_refuted(),
            !private,
            "{}: {verdict}",
            version.name
        );
    }
}

/// A range of 2^40 numbers is too large to enumerate. One more row above the middle: the numbers
/// below it fall from 1/2 to e^(−4)/(1 + e^(−4)), by a factor of e^3.3.
#[test]
fn a_median_over_a_wide_range_is_within_its_loss() {
    let middle = 1_i64 << 39;
    let pair = Pair::new(vec![middle], vec![middle, 2 * middle]);
    let value = Attribute::new("value", |row: &i64| *row);
    let range = 0..=2 * middle;
    let median = NoisyQuantiles::new(AddRemove, value, range, [(1, 2)], epsilon("4")).unwrap();
    let audit = Audit::new(&median, &pair, || Script::new([()]), 1);
    let below = |view: &View<Vec<i64>>| {
        let mut answers = view.answers();
        answers.any(|answer| answer.as_ref().is_ok_and(|found| found[0] < middle))
    };
    let audit = audit.trials(8000).seed(7);
    let finding = audit.run_on("below the middle", below).unwrap();
    finding.assert_not_refuted(&PureDp, &epsilon("4"));
    assert!(finding.check(&PureDp, &epsilon("2.8")).is_refuted());
}

#[test]
fn the_mechanisms_of_this_crate_are_not_refuted() {
    let rows_of = |value: u8| Predicate::new(value.to_string(), move |row: &u8| *row == value);
    let pair = Pair::new(vec![8], vec![7]);
    let script = || Script::new([7, 7, 7, 7, 8].map(rows_of));
    for hits in [1, 2] {
        let search = AboveThreshold::new(Replace, 1, hits, epsilon("2")).unwrap();
        let finding = Audit::new(&search, &pair, script, 5)
            .trials(2000)
            .run()
            .unwrap();
        finding.assert_not_refuted(&PureDp, &epsilon("2"));
        let counts = search.with_counts(epsilon("1")).unwrap();
        let script = || Script::new([7, 7, 7, 7, 8].map(rows_of));
        let finding = Audit::new(&counts, &pair, script, 5)
            .trials(2000)
            .run()
            .unwrap();
        finding.assert_not_refuted(&PureDp, &epsilon("3"));
    }
    // Noise for one row more or less does not do where rows are replaced.
    let search = AboveThreshold::new(AddRemove, 1, 1, epsilon("4")).unwrap();
    let finding = Audit::new(&search, &pair, script, 5)
        .trials(8000)
        .seed(11)
        .run()
        .unwrap();
    assert!(
        finding.check(&PureDp, &epsilon("4")).is_refuted(),
        "{finding}"
    );
}

#[test]
fn claims_under_every_measure() {
    // What follows from ε = 3 is true, and not refuted; what does not is.
    let pair = BITS();
    let response = RandomizedResponse::new(epsilon("3")).unwrap();
    let finding = Audit::new(&response, &pair, once, 1)
        .trials(4000)
        .seed(12)
        .run()
        .unwrap();
    let (large, small) = (epsilon("3"), epsilon("1"));
    macro_rules! assert_told_apart {
        ($measure:expr) => {{
            let measure = $measure;
            let [large, small] = [large, small].map(|loss| PureDp.imply(&loss, &measure).unwrap());
            finding.assert_not_refuted(&measure, &large);
            assert!(
                finding.check(&measure, &small).is_refuted(),
                "{measure:?} {small}"
            );
        }};
    }
    assert_told_apart!(ApproxDp);
    assert_told_apart!(ProbabilisticDp);
    assert_told_apart!(Gdp);
    assert_told_apart!(ZCdp);
    assert_told_apart!(Rdp::new("8".parse().unwrap()));
    assert_told_apart!(RdpGrid::new(["2", "8"].map(|order| order.parse().unwrap())).unwrap());
    let approximate = |text: &str| EpsilonDelta::new(text, "1e-3").unwrap();
    let rdp = ApproxRdp::new("8".parse().unwrap());
    finding.assert_not_refuted(&rdp, &ApproxDp.imply(&approximate("3"), &rdp).unwrap());
    let less = ApproxDp.imply(&approximate("1"), &rdp).unwrap();
    assert!(finding.check(&rdp, &less).is_refuted());
    let zcdp = |text| ApproxDp.imply(&approximate(text), &ApproxZCdp).unwrap();
    finding.assert_not_refuted(&ApproxZCdp, &zcdp("3"));
    assert!(finding.check(&ApproxZCdp, &zcdp("1")).is_refuted());
    // A curve of another grid is no claim.
    let [one, other] = [["2", "3"], ["8", "9"]]
        .map(|orders| RdpGrid::new(orders.map(|order| order.parse().unwrap())).unwrap());
    let curve = other.curve([Epsilon::ZERO; 2]).unwrap();
    assert!(finding.check(&other, &curve).is_refuted());
    assert!(!finding.check(&one, &curve).is_refuted());
}

#[test]
fn gaussian_noise_has_the_loss_that_it_states() {
    let everybody = Predicate::new("everybody", |_: &u8| true);
    let rho: Rho = "0.5".parse().unwrap();
    let count = Count::of(everybody).gaussian(rho).unwrap();
    let pair = Pair::new(vec![1, 1], vec![1]);
    let finding = Audit::new(&count, &pair, once, 1)
        .trials(4000)
        .run()
        .unwrap();
    finding.assert_not_refuted(&ZCdp, &rho);
    assert!(
        finding.check(&ZCdp, &"0.05".parse().unwrap()).is_refuted(),
        "{finding}"
    );
    // It is not ε-private for any ε; this number of trials shows only a small one.
    assert!(
        finding.check(&PureDp, &epsilon("0.5")).is_refuted(),
        "{finding}"
    );
}

#[test]
fn bad_parameters_are_refused_before_anything_is_run() {
    let pair = BITS();
    let mechanism = Numbered::default();
    let audit = || Audit::new(&mechanism, &pair, once, 1);
    for (audit, error) in [
        (audit().trials(0), AuditError::NoTrials),
        (audit().failure(Delta::ZERO), AuditError::BadFailure),
        (audit().failure(Delta::ONE), AuditError::BadFailure),
        (audit().delta(Delta::ONE), AuditError::BadDelta),
    ] {
        assert_eq!(audit.run(), Err(error));
        assert_eq!(audit.run_by(|_| 0), Err(error));
        assert_eq!(audit.run_on("", |_| true), Err(error));
    }
    assert_eq!(mechanism.0.load(Ordering::Relaxed), 0);
    let largest = |trials, failure, d| largest_epsilon(trials, delta(failure), delta(d));
    assert_eq!(largest(0, "0.1", "0"), Err(AuditError::NoTrials));
    assert_eq!(largest(1, "0", "0"), Err(AuditError::BadFailure));
    assert_eq!(largest(1, "0.1", "1"), Err(AuditError::BadDelta));
    // One run proves nothing.
    assert_eq!(largest(1, "0.1", "0"), Ok(Epsilon::ZERO));
    assert_eq!(audit().trials(1).run().unwrap().epsilon, Epsilon::ZERO);
}

#[test]
fn a_person_would_write_this() {
    let pair = BITS();
    let response = Once(|bit: &bool, draw| Ok(*bit ^ (draw < 10)));
    let audit = Audit::new(&response, &pair, once, 1).trials(1000).seed(13);
    let finding = audit.run().unwrap();
    let verdict = |text: &str| finding.check(&PureDp, &epsilon(text)).to_string();
    assert_eq!(
        verdict("1"),
        "a loss of 1 is refuted: it implies ε ≤ 1 at δ = 0, where ε ≥ 1.6707 was found (second dataset against first)\n\
         seen in 89 of 1000 runs on the first dataset and in 900 of 1000 on the second: [true]\n\
         wrong with probability at most 1e-9"
    );
    assert_eq!(
        verdict("2.2"),
        "a loss of 2.2 is not refuted, which is no proof: 1000 trials show at most ε = 3.8006\n\
         ε ≥ 1.6707 at δ = 0 (second dataset against first)\n\
         seen in 89 of 1000 runs on the first dataset and in 900 of 1000 on the second: [true]\n\
         wrong with probability at most 1e-9"
    );
    let zcdp = finding.check(&ZCdp, &"0.1".parse().unwrap());
    assert_eq!(
        zcdp.to_string(),
        "a loss of 0.1 is refuted: it implies ε ≤ 0.0361 at δ = 0.25, where ε ≥ 1.3124 was found (second dataset against first)\n\
         seen in 89 of 1000 runs on the first dataset and in 900 of 1000 on the second: [true]\n\
         wrong with probability at most 1e-9"
    );
    let silent = Once(|_: &bool, _| Ok(()));
    let audit = Audit::new(&silent, &pair, once, 1).trials(10);
    assert_eq!(
        audit.run().unwrap().to_string(),
        "nothing was found at δ = 0; the best event was\n\
         seen in 10 of 10 runs on the first dataset and in 10 of 10 on the second: [()]\n\
         wrong with probability at most 1e-9"
    );
    assert_eq!(
        format!("{audit:?}"),
        "Audit { trials: 10, failure: delta 1e-9, delta: delta 0, seed: None, .. }"
    );
}

#[test]
#[should_panic(
    expected = "a loss of 1 is refuted: it implies ε ≤ 1 at δ = 0, where ε ≥ 2.0448 was found (first dataset against second)\n\
                seen in 8977 of 10000 runs on the first dataset and in 943 of 10000 on the second: [false]\n\
                wrong with probability at most 1e-9"
)]
fn the_assertion_of_the_documentation_fails_as_it_is_told_there() {
    struct Respond;
    impl Mechanism<bool> for Respond {
        type Machine = Released<bool>;
        fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
            Ok(Released(**data ^ (coins.weighted(&[9, 1])? == 1)))
        }
    }
    let pair = BITS();
    let finding = Audit::new(&Respond, &pair, once, 1).seed(7).run().unwrap();
    finding.assert_not_refuted(&PureDp, &epsilon("1"));
}
