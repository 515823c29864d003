//! Filters: interleaved children, nesting, every measure with a theorem, and non-interactive ones.

use super::{numbered, rows};
use crate::common::{Answer, Count, Run, at, epsilon, pair};
use queryables::machine::Fault;
use queryables::middle::{LimitQueries, ThroughExt};
use queryables::number::{Mu, Rho};
use queryables::prelude::*;
use queryables::privacy::{
    Distance, Gdp, Measure, ProbabilisticDp, Rdp, RdpGrid, Relation, Restated,
};

#[test]
fn concurrent_children_of_different_types_are_interleaved_and_outlive_their_filter() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let count = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let limited = at(epsilon("0.1"), Count::default()).through(LimitQueries::new(2));
    let limited = filter.launch(&limited).unwrap();
    let inner = filter
        .launch(&Filter::concurrent(PureDp, epsilon("0.2")))
        .unwrap();
    let sum = Run::new(|rows: &Vec<u32>| Ok(rows.iter().sum::<u32>()));
    assert_eq!(count.ask(()), Ok(1));
    assert_eq!(limited.ask(()), Ok(1));
    assert_eq!(inner.release(&at(epsilon("0.1"), sum)), Ok(15));
    drop(filter);
    assert_eq!([count.ask(()), limited.ask(())], [Ok(2), Ok(2)]);
    assert_eq!(limited.ask(()), Err(AskError::Fault(Fault::Exhausted)));
    assert_eq!(inner.privacy_loss(), epsilon("0.1"));
    assert_eq!(inner.release(&at(epsilon("0.1"), Answer::default())), Ok(1));
}

#[test]
fn filters_nest_and_each_keeps_its_own_budget() {
    let mut filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let root = filter.clone();
    for depth in 1..=9 {
        let budget = Epsilon::from_units(epsilon("1").units() / 10 * (10 - depth)).unwrap();
        let inner = filter.launch(&Filter::concurrent(PureDp, budget)).unwrap();
        assert_eq!(filter.privacy_loss(), budget);
        filter = inner;
    }
    assert_eq!(root.remaining(), epsilon("0.1"));
    assert_eq!(filter.limit(), epsilon("0.1"));
    assert_eq!(
        filter.release(&at(epsilon("0.1"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn a_filter_inside_another_must_have_its_measure_and_distance() {
    let order = |text: &str| Rdp::new(text.parse().unwrap());
    let outer = start(&Filter::concurrent(order("2"), epsilon("1")), rows()).unwrap();
    let other = Filter::concurrent(order("4"), epsilon("0.1"));
    assert_eq!(
        outer.launch(&other).unwrap_err(),
        LaunchError::UnknownLoss(UnknownLoss("the filter has another measure"))
    );
    assert!(
        outer
            .launch(&Filter::concurrent(order("2"), epsilon("0.1")))
            .is_ok()
    );

    let two = Distance::new(2).unwrap();
    let outer = Filter::concurrent(PureDp, epsilon("1")).at_distance(two);
    let outer = start(&outer, rows()).unwrap();
    let neighbours = Filter::concurrent(PureDp, epsilon("0.1"));
    outer.launch(&neighbours).unwrap();
    assert_eq!(outer.privacy_loss(), epsilon("0.2"));
    let three = neighbours.at_distance(Distance::new(3).unwrap());
    outer.launch(&three).unwrap();
    assert_eq!(outer.privacy_loss(), epsilon("0.3"));
}

#[test]
fn a_filter_at_a_distance_charges_for_the_group() {
    let two = Distance::new(2).unwrap();
    let filter = Filter::concurrent(ZCdp, "1".parse().unwrap()).at_distance(two);
    let filter = start(&filter, rows()).unwrap();
    filter
        .release(&at("0.1".parse::<Rho>().unwrap(), Answer::default()))
        .unwrap();
    assert_eq!(filter.privacy_loss(), "0.4".parse().unwrap());
}

#[test]
fn every_measure_with_a_concurrent_theorem_has_a_concurrent_filter() {
    let rho: Rho = "0.5".parse().unwrap();
    let mu: Mu = "0.6".parse().unwrap();
    let rdp = Rdp::new("2".parse().unwrap());
    let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
    let curve = |low: &str, high: &str| grid.curve([epsilon(low), epsilon(high)]).unwrap();

    macro_rules! admits_twice {
        ($measure:expr, $budget:expr, $loss:expr) => {{
            let filter = start(&Filter::concurrent($measure, $budget), rows()).unwrap();
            let mechanism = at($loss, Answer::default());
            filter.release(&mechanism).unwrap();
            filter.release(&mechanism).unwrap();
            assert_eq!(filter.privacy_loss(), $budget);
            assert!(matches!(
                filter.release(&mechanism),
                Err(LaunchError::Refused(_))
            ));
        }};
    }
    admits_twice!(PureDp, epsilon("1"), epsilon("0.5"));
    admits_twice!(ApproxDp, pair("1", "2e-6"), pair("0.5", "1e-6"));
    admits_twice!(rdp, epsilon("1"), epsilon("0.5"));
    admits_twice!(grid.clone(), curve("1", "3"), curve("0.5", "1.5"));
    admits_twice!(ZCdp, "1".parse::<Rho>().unwrap(), rho);
    // 0.36 + 0.64 = 1: squares add up.
    let filter = start(&Filter::concurrent(Gdp, "1".parse().unwrap()), rows()).unwrap();
    filter.release(&at(mu, Answer::default())).unwrap();
    assert_eq!(filter.remaining(), "0.8".parse().unwrap());
    filter
        .release(&at("0.8".parse::<Mu>().unwrap(), Answer::default()))
        .unwrap();
    assert_eq!(filter.privacy_loss(), "1".parse().unwrap());
}

#[test]
fn a_curve_of_another_grid_is_no_loss() {
    let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
    let other = RdpGrid::new(["2".parse().unwrap()]).unwrap();
    let filter = Filter::concurrent(grid.clone(), grid.zero());
    let filter = start(&filter, rows()).unwrap();
    let unknown = UnknownLoss("the stated loss does not belong to the measure");
    assert_eq!(
        filter.release(&at(other.zero(), Answer::default())),
        Err(LaunchError::UnknownLoss(unknown))
    );
    assert!(!filter.would_admit(&other.zero()));
    assert!(filter.would_admit(&grid.zero()));
}

#[test]
fn a_noninteractive_filter_releases() {
    let filter = Filter::noninteractive(ProbabilisticDp, pair("1", "1e-6"));
    let filter = start(&filter, rows()).unwrap();
    let mechanism = at(pair("0.5", "4e-7"), Answer::default());
    assert_eq!(filter.release(&mechanism), Ok(1));
    assert_eq!(filter.release(&mechanism), Ok(2));
    assert_eq!(filter.remaining(), pair("0", "2e-7"));

    let odometer = start(&Odometer::noninteractive(ProbabilisticDp), rows()).unwrap();
    odometer.release(&mechanism).unwrap();
    odometer.release(&mechanism).unwrap();
    assert_eq!(odometer.privacy_loss(), pair("1", "8e-7"));
}

// Relations and measures.

#[test]
fn a_relation_of_ones_own() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct OneHousehold;

    impl Relation for OneHousehold {
        const NAME: &'static str = "one household";
    }

    let filter = Filter::concurrent(PureDp, epsilon("1")).under(OneHousehold);
    let filter = start(&filter, rows()).unwrap();
    let inner = Filter::concurrent(PureDp, epsilon("0.5")).under(OneHousehold);
    let inner = filter.launch(&inner).unwrap();
    assert_eq!(inner.release(&at(epsilon("0.5"), Answer::default())), Ok(1));
    let odometer = start(&Odometer::concurrent(PureDp).under(OneHousehold), rows()).unwrap();
    assert_eq!(
        odometer.release(&at(epsilon("0.5"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn a_pure_mechanism_is_launched_where_approximate_privacy_is_counted() {
    let filter = start(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), rows()).unwrap();
    let child = filter
        .launch(&Restated::new(PureDp, numbered("0.25")))
        .unwrap();
    assert_eq!(child.ask(()), Ok(1));
    assert_eq!(filter.privacy_loss(), pair("0.25", "0"));

    let filter = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), rows()).unwrap();
    filter
        .launch(&Restated::new(PureDp, numbered("0.2")))
        .unwrap();
    assert_eq!(
        filter.privacy_loss(),
        queryables::privacy::convert::zcdp::pure(epsilon("0.2"))
    );
}
