//! Whatever wraps a mechanism states the loss that follows, at every distance, and nothing else.

mod common;

use std::sync::Arc;

use common::{Answer, Count, Stated, at, epsilon, pair};
use queryables::compose::{Addressed, BoxedMechanism, ConcurrentComposition, Parallel, Universal};
use queryables::middle::LimitQueries;
use queryables::prelude::*;
use queryables::privacy::convert::zcdp;

type Inner = Stated<Epsilon, Count>;
type Unit = Arc<Vec<u32>>;

fn inner() -> Inner {
    at(epsilon("0.1"), Count::default())
}

fn rows() -> Unit {
    Arc::new(vec![1, 2, 3])
}

fn two() -> Distance {
    Distance::new(2).unwrap()
}

/// The losses at one step and at two.
fn losses(mechanism: &impl Private<PureDp, AddRemove>) -> [Result<Epsilon, UnknownLoss>; 2] {
    let losses = [Distance::NEIGHBOURS, two()].map(|distance| mechanism.loss_at(&PureDp, distance));
    assert_eq!(mechanism.loss(&PureDp), losses[0]);
    losses
}

#[test]
fn every_wrapper_states_what_follows_at_one_step_and_at_two() {
    let expected = |one: &str, two: &str| [Ok(epsilon(one)), Ok(epsilon(two))];
    assert_eq!(losses(&inner()), expected("0.1", "0.2"));
    assert_eq!(losses(&&inner()), expected("0.1", "0.2"));
    assert_eq!(
        losses(&inner().through(LimitQueries::new(1))),
        expected("0.1", "0.2")
    );
    assert_eq!(
        losses(&at(epsilon("0.1"), Answer::default()).mapped(|n: usize| n)),
        expected("0.1", "0.2")
    );
    let boxed = BoxedMechanism::<Vec<u32>, PureDp, AddRemove, (), usize>::new(inner());
    assert_eq!(losses(&boxed), expected("0.1", "0.2"));
    assert_eq!(losses(&boxed.clone()), expected("0.1", "0.2"));
    let three = ConcurrentComposition::new([inner(), inner(), inner()]);
    assert_eq!(losses(&three), expected("0.3", "0.6"));

    let filter = Filter::concurrent(PureDp, epsilon("0.5"));
    assert_eq!(losses(&filter), expected("0.5", "1"));
    assert_eq!(
        losses(&filter.clone().at_distance(two())),
        expected("0.5", "0.5")
    );
    assert_eq!(
        losses(&Odometer::concurrent(PureDp).capped(epsilon("0.5"))),
        expected("0.5", "1")
    );
    assert_eq!(
        losses(&Addressed::<_, Inner>::new(filter.clone())),
        expected("0.5", "1")
    );
    let universal = Universal::<_, _, Inner>::new(PureDp, AddRemove, epsilon("0.5"));
    assert_eq!(losses(&universal), expected("0.5", "1"));
    let larger = Filter::concurrent(PureDp, epsilon("0.7"));
    let parallel = Parallel::new(|row: &u32| *row, [(1, filter), (2, larger)]);
    assert_eq!(losses(&parallel), expected("0.7", "1.4"));
}

#[test]
fn a_filter_takes_as_many_hops_as_the_distance_needs() {
    let five = Distance::new(5).unwrap();
    let filter = Filter::concurrent(PureDp, epsilon("0.1")).at_distance(two());
    assert_eq!(
        Private::<PureDp, AddRemove>::loss_at(&filter, &PureDp, five),
        Ok(epsilon("0.3"))
    );
    let filter = Filter::concurrent(Rdp::new("2".parse().unwrap()), epsilon("0.1"));
    let rdp = Rdp::new("2".parse().unwrap());
    assert_eq!(
        Private::<Rdp, AddRemove>::loss_at(&filter, &rdp, two()),
        Err(UnknownLoss(
            "group privacy changes the order of a Rényi guarantee"
        ))
    );
}

#[test]
fn a_restated_loss_follows_from_that_at_the_same_distance() {
    let restated = Restated::new(PureDp, inner());
    let at = |distance| Private::<ZCdp, AddRemove>::loss_at(&restated, &ZCdp, distance).unwrap();
    assert_eq!(at(Distance::NEIGHBOURS), zcdp::pure(epsilon("0.1")));
    // Not from ρ at a distance of one, which would be four times that.
    assert_eq!(at(two()), zcdp::pure(epsilon("0.2")));
    assert!(at(two()) < at(Distance::NEIGHBOURS).checked_mul(4).unwrap());
    let approx = Private::<ApproxDp, AddRemove>::loss_at(&restated, &ApproxDp, two());
    assert_eq!(approx, Ok(pair("0.2", "0")));
}

#[test]
fn wrappers_are_charged_what_they_state() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("10")), rows()).unwrap();
    let mut spent = Epsilon::ZERO;
    let mut expect = |loss: &str| {
        spent = spent.checked_add(epsilon(loss)).unwrap();
        assert_eq!(filter.privacy_loss(), spent);
    };
    filter
        .launch(&inner().through(LimitQueries::new(1)))
        .unwrap();
    expect("0.1");
    filter.launch(&BoxedMechanism::new(inner())).unwrap();
    expect("0.1");
    let inside = Addressed::<_, Inner>::new(Filter::concurrent(PureDp, epsilon("0.5")));
    filter.launch(&inside).unwrap();
    expect("0.5");
    filter
        .launch(&ConcurrentComposition::new([inner(), inner()]))
        .unwrap();
    expect("0.2");
    filter
        .release(&at(epsilon("0.3"), Answer::default()).mapped(|n: usize| n + 1))
        .unwrap();
    expect("0.3");
}

// A loss that is none of the measure is caught wherever it could come in.

fn grids() -> (RdpGrid, RdpGrid) {
    let grid =
        |orders: [&str; 2]| RdpGrid::new(orders.map(|order| order.parse().unwrap())).unwrap();
    (grid(["2", "4"]), grid(["32", "64"]))
}

#[test]
fn a_curve_of_another_grid_is_caught_by_every_compositor() {
    let (grid, other) = grids();
    let unknown = UnknownLoss("the stated loss does not belong to the measure");
    let curve = |grid: &RdpGrid, both: &str| grid.curve([epsilon(both), epsilon(both)]).unwrap();
    let foreign = at(curve(&other, "0.1"), Count::default());
    let budget = curve(&grid, "1");

    let filter = launch(&Filter::concurrent(grid.clone(), budget.clone()), rows()).unwrap();
    assert_eq!(
        filter.launch(&foreign).unwrap_err(),
        LaunchError::UnknownLoss(unknown)
    );
    assert!(!filter.would_admit(&foreign.loss));
    let odometer = launch(&Odometer::concurrent(grid.clone()), rows()).unwrap();
    assert_eq!(
        odometer.launch(&foreign).unwrap_err(),
        LaunchError::UnknownLoss(unknown)
    );
    let both = ConcurrentComposition::new([foreign.clone()]);
    assert_eq!(
        Private::<RdpGrid, AddRemove>::loss(&both, &grid),
        Err(unknown)
    );
    let universal = launch(&Universal::new(grid.clone(), AddRemove, budget), rows()).unwrap();
    assert_eq!(
        universal.ask(queryables::compose::UniversalQuery::Become(foreign)),
        Err(AskError::Fault(Fault::InvalidQuery(
            "the mechanism's loss is over the budget"
        )))
    );
}

#[test]
fn a_budget_of_another_grid_is_an_error_before_anything_is_launched() {
    let (grid, other) = grids();
    let filter = Filter::concurrent(grid, other.zero());
    assert_eq!(
        launch(&filter, rows()).unwrap_err(),
        Fault::InvalidQuery("the budget does not belong to the measure")
    );
}

#[test]
fn a_universal_mechanism_has_a_loss_under_its_own_measure_only() {
    let order = |text: &str| Rdp::new(text.parse().unwrap());
    let universal = Universal::<_, AddRemove, Inner>::new(order("2"), AddRemove, epsilon("0.5"));
    assert_eq!(
        universal.loss(&order("4")),
        Err(UnknownLoss("the universal mechanism has another measure"))
    );
    assert_eq!(universal.loss(&order("2")), Ok(epsilon("0.5")));
}
