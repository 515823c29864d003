//! The (ε, δ) rules inside a filter whose children are interleaved.

mod common;

use std::sync::Arc;

use common::{Answer, Count, at, epsilon, pair};
use queryables::account::{Accumulator, Whitehouse, compare};
use queryables::prelude::*;
use queryables::privacy::{RestatedAt, Rho, ZCdp};

#[test]
fn every_rule_runs_a_concurrent_filter() {
    let (budget, loss) = (pair("1", "1e-6"), pair("0.01", "0"));
    let candidates = compare(budget, loss);
    assert_eq!(candidates.len(), 5);
    for candidate in candidates {
        let name = candidate.rule.name();
        let filter = launch(&Filter::concurrent_with(candidate.rule), Arc::new(())).unwrap();
        let child = filter.launch(&at(loss, Count::default())).unwrap();
        let sibling = filter.launch(&at(loss, Count::default())).unwrap();
        assert_eq!(
            [child.ask(()), sibling.ask(()), child.ask(())],
            [Ok(1), Ok(1), Ok(2)]
        );
        for _ in 2..candidate.admits {
            filter.release(&at(loss, Answer::default())).unwrap();
        }
        assert!(!filter.would_admit(&loss), "{name}");
        let Err(LaunchError::Refused(refusal)) = filter.release(&at(loss, Answer::default()))
        else {
            panic!("{name} admits one too many");
        };
        assert_eq!(refusal.limit, budget);
        assert!(refusal.spent <= budget, "{name} {refusal:?}");
        // Whatever it says is left is admitted.
        let remaining = filter.remaining();
        filter.release(&at(remaining, Answer::default())).unwrap();
        // The refusal left the children as they were.
        assert_eq!(child.ask(()), Ok(3));
    }
}

#[test]
fn an_accumulator_runs_an_odometer_and_capped_a_filter() {
    let total = Whitehouse::new("1e-6".parse().unwrap()).unwrap();
    let odometer = launch(&Odometer::concurrent_with(total), Arc::new(())).unwrap();
    let child = odometer
        .launch(&at(pair("0.1", "1e-7"), Count::default()))
        .unwrap();
    assert_eq!(child.ask(()), Ok(1));
    let mut expected = total;
    expected.add(&pair("0.1", "1e-7")).unwrap();
    assert_eq!(odometer.privacy_loss(), expected.total());

    let filter = Filter::concurrent_with(total.capped(pair("0.1", "1e-6")));
    let filter = launch(&filter, Arc::new(())).unwrap();
    assert!(!filter.would_admit(&pair("0.1", "0")));
    assert!(filter.would_admit(&pair("0.01", "0")));
}

#[test]
fn a_mechanism_restated_at_a_delta_is_charged_for_it() {
    let budget = pair("1", "2e-6");
    let rule = queryables::account::ThroughZCdp::tight(budget, "1e-6".parse().unwrap()).unwrap();
    let filter = launch(&Filter::concurrent_with(rule), Arc::new(())).unwrap();
    let rho: Rho = "0.0001".parse().unwrap();
    let mechanism = RestatedAt::new(ZCdp, "4e-7".parse().unwrap(), at(rho, Answer::default()));
    filter.release(&mechanism).unwrap();
    assert_eq!(filter.privacy_loss().delta, "1.4e-6".parse().unwrap());
    assert!(filter.privacy_loss().epsilon > epsilon("0.05"));
}
