//! Individual filters inside of other filters, and budgets of records under converting rules.

use std::sync::Arc;

use queryables::account::ThroughZCdp;
use queryables::compose::{
    IndividualError, IndividualFilter, Readings, RunningIndividualFilter, start_individual,
};
use queryables::data::Predicate;
use queryables::machine::Stop;
use queryables::mechanisms::{Count, NoisyCount};
use queryables::prelude::*;

use super::individual::{Rows, sum};

fn count(loss: &str) -> NoisyCount<Vec<u8>> {
    let all = Predicate::new("all", |_: &u8| true);
    Count::of(all)
        .laplace(loss.parse::<Epsilon>().unwrap())
        .unwrap()
}

#[test]
fn it_is_launched_inside_an_ordinary_filter_and_interleaved() {
    let whole = start(
        &Filter::concurrent(ZCdp, "1e10".parse().unwrap()),
        Arc::new(vec![0.5]),
    )
    .unwrap();
    let one = whole
        .launch(&IndividualFilter::new(ZCdp, "0.5e9".parse().unwrap()))
        .unwrap();
    let other = whole
        .launch(&IndividualFilter::new(ZCdp, "0.25e9".parse().unwrap()))
        .unwrap();
    assert_eq!(whole.privacy_loss(), "0.75e9".parse().unwrap());
    let ask = |child: &RunningIndividualFilter<Rows, _>| child.release(&sum()).unwrap()[0];
    assert_eq!([ask(&one), ask(&other), ask(&one)], [0.5; 3]);
    assert_eq!([ask(&other), ask(&one)], [0.0; 2]);
    // What is over the budget of the filter is refused, and not charged.
    let error = whole
        .launch(&IndividualFilter::new(ZCdp, "1e10".parse().unwrap()))
        .unwrap_err();
    assert!(matches!(error, LaunchError::Refused(_)));
    assert_eq!(whole.privacy_loss(), "0.75e9".parse().unwrap());
}

#[test]
fn inside_of_a_filter_those_who_have_the_data_can_read_it() {
    let data = Arc::new(vec![1_u8, 2]);
    let parent = Filter::sequential(PureDp, "3".parse().unwrap());
    let parent = start(&parent, Arc::clone(&data)).unwrap();
    let own = |row: &u8| if *row == 1 { "0.4" } else { "5" }.parse().unwrap();
    let filter = IndividualFilter::new(PureDp, "1".parse().unwrap()).budgets(own);
    let child = parent.launch(&filter).unwrap();
    for _ in 0..3 {
        child.release(&count("0.3")).unwrap();
    }
    let readings = Readings::of(&child, &data).unwrap();
    let spent = |index| readings.loss(index).map(|loss| loss.unwrap().to_string());
    assert_eq!(
        [spent(0), spent(1)],
        ["0.3", "0.9"].map(|loss| Ok(loss.into()))
    );
    assert_eq!(readings.spent(2), Ok(None));
    assert_eq!(readings.spent(usize::MAX), Ok(None));
    // Equal data are not enough, and asking with them breaks nothing.
    let foreign = Fault::InvalidQuery("it was not started on these data");
    let equal = Arc::new(data.to_vec());
    let refused = Readings::of(&child, &equal).map(|_| ());
    assert_eq!(refused, Err(AskError::Fault(foreign)));
    child.release(&count("0.1")).unwrap();
    assert_eq!(spent(1), Ok("1".into()));
    // What is frozen is not read either.
    parent.launch(&filter).unwrap();
    let frozen = AskError::Stopped(Stop::Frozen);
    assert_eq!(spent(0), Err(frozen));
    assert_eq!(Readings::of(&child, &data).map(|_| ()), Err(frozen));
}

/// Empty slices may share one allocation, which everybody can get. Whether there is any data is
/// private.
#[test]
fn whoever_has_an_empty_slice_does_not_have_the_data() {
    let filter = IndividualFilter::<[u8], _>::new(PureDp, "1".parse().unwrap());
    for data in [Arc::default(), Arc::from([1])] {
        let (running, readings) = start_individual(&filter, Arc::clone(&data)).unwrap();
        assert_eq!(readings.all().map(|all| all.len()), Ok(data.len()));
        let foreign = Fault::InvalidQuery("it was not started on these data");
        let refused = Readings::of(&running, &Arc::default()).map(|_| ());
        assert_eq!(refused, Err(AskError::Fault(foreign)));
    }
}

#[test]
fn a_halted_parent_stops_it() {
    let parent = Filter::concurrent(ZCdp, "1e9".parse().unwrap()).halting();
    let whole = start(&parent, Arc::new(vec![0.5])).unwrap();
    let one = whole
        .launch(&IndividualFilter::new(ZCdp, "1e9".parse().unwrap()))
        .unwrap();
    assert_eq!(one.release(&sum()).unwrap(), [0.5]);
    whole
        .launch(&IndividualFilter::new(ZCdp, "1".parse().unwrap()))
        .unwrap_err();
    let stopped = AskError::Stopped(Stop::Halted);
    assert_eq!(
        one.release(&sum()),
        Err(IndividualError::NotAnswered(stopped))
    );
}

#[test]
fn in_a_sequential_filter_the_next_launch_freezes_it() {
    let parent = Filter::sequential(PureDp, "3".parse().unwrap());
    let parent = start(&parent, Arc::new(vec![1_u8])).unwrap();
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
    let (running, readings) = start_individual(&filter, Arc::new(vec![1_u8])).unwrap();
    let units = readings.units();
    assert!(units.own_budget(&own(&1)).number < units.budget().number);
    let price = units.price(&EpsilonDelta::new("0.1", "0").unwrap());
    for _ in 0..95 {
        running.release(&count("0.1")).unwrap();
    }
    let spent = readings.spent(0).unwrap().unwrap();
    assert_eq!(spent.number, 92 * price.unwrap().number);
}
