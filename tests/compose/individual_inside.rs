//! Individual filters inside of sequential filters, and budgets of records under converting rules.

use std::sync::Arc;

use queryables::account::ThroughZCdp;
use queryables::compose::{IndividualError, IndividualFilter, launch_individual};
use queryables::data::Predicate;
use queryables::machine::Stop;
use queryables::mechanisms::individual::IndividualCount;
use queryables::prelude::*;

fn count(loss: &str) -> IndividualCount<Vec<u8>> {
    let all = Predicate::new("all", |_: &u8| true);
    IndividualCount::new(all, loss.parse().unwrap()).unwrap()
}

#[test]
fn in_a_sequential_filter_the_next_launch_freezes_it() {
    let parent = Filter::sequential(PureDp, "3".parse().unwrap());
    let parent = launch(&parent, Arc::new(vec![1_u8])).unwrap();
    let child = || IndividualFilter::new(PureDp, "1".parse().unwrap());
    let first = parent.launch(&child()).unwrap();
    first.release(&count("0.5")).unwrap();
    let second = parent.launch(&child()).unwrap();
    let frozen = Err(IndividualError::NotAnswered(AskError::Stopped(
        Stop::Frozen,
    )));
    assert_eq!(first.release(&count("0.5")), frozen);
    assert_eq!(first.replay(&count("0.5")).map(|()| 0), frozen);
    second.release(&count("0.5")).unwrap();
    assert_eq!(parent.privacy_loss(), "2".parse().unwrap());
}

/// The budget of the record is ε = 1, and it pays for 92 queries of 0.1: so it is no loss of 1. What
/// adds up is ε·tanh(ε/2), of which 1 has 92.5 times as much as 0.1.
#[test]
fn under_a_converting_rule_an_own_budget_is_no_loss() {
    let limit = EpsilonDelta::new("8", "1e-6").unwrap();
    let rule = ThroughZCdp::simple(limit, limit.delta).unwrap();
    let own = |_: &u8| EpsilonDelta::new("1", "0").unwrap();
    let filter = IndividualFilter::with_rule(rule).budgets(own);
    let (running, readings) = launch_individual(&filter, Arc::new(vec![1_u8])).unwrap();
    let units = readings.units();
    assert!(units.own_budget(&own(&1)) < units.budget());
    let price = units.price(&EpsilonDelta::new("0.1", "0").unwrap());
    for _ in 0..95 {
        running.release(&count("0.1")).unwrap();
    }
    let spent = readings.spent(0).unwrap().unwrap();
    assert_eq!(spent, 92 * price.unwrap());
}
