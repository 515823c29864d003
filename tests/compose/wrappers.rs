//! A wrapper of a mechanism states the loss that follows, at every distance, and nothing else.

use std::sync::Arc;

use crate::common::{Answer, Count, Stated, at, epsilon, pair};
use queryables::compose::{Addressed, BoxedMechanism, ConcurrentComposition, Parallel};
use queryables::middle::LimitQueries;
use queryables::prelude::*;
use queryables::privacy::convert::zcdp;
use queryables::privacy::{
    Distance, Implies, ImpliesAt, Measure, Rdp, RdpGrid, Restated, RestatedAt,
};

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
        losses(&ThroughExt::<()>::through(inner(), LimitQueries::new(1))),
        expected("0.1", "0.2")
    );
    let mapped = ThroughExt::<()>::mapped(at(epsilon("0.1"), Answer::default()), |n| n);
    assert_eq!(losses(&mapped), expected("0.1", "0.2"));
    let boxed = BoxedMechanism::<Vec<u32>, PureDp, AddRemove, (), usize>::new(PureDp, inner());
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
    let larger = Filter::concurrent(PureDp, epsilon("0.7"));
    let parallel =
        Parallel::<_, Vec<u32>, _>::new(|row: &u32| *row, [(1, filter), (2, larger)]).unwrap();
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
    let filter = start(&Filter::concurrent(PureDp, epsilon("10")), rows()).unwrap();
    let mut spent = Epsilon::ZERO;
    let mut expect = |loss: &str| {
        spent = spent.checked_add(epsilon(loss)).unwrap();
        assert_eq!(filter.privacy_loss(), spent);
    };
    filter
        .launch(&inner().through(LimitQueries::new(1)))
        .unwrap();
    expect("0.1");
    filter
        .launch(&BoxedMechanism::new(PureDp, inner()))
        .unwrap();
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

// A loss that does not belong to the measure is caught wherever it could come in.

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

    let filter = start(&Filter::concurrent(grid.clone(), budget.clone()), rows()).unwrap();
    assert_eq!(
        filter.launch(&foreign).unwrap_err(),
        LaunchError::UnknownLoss(unknown)
    );
    assert!(!filter.would_admit(&foreign.loss));
    let odometer = start(&Odometer::concurrent(grid.clone()), rows()).unwrap();
    assert_eq!(
        odometer.launch(&foreign).unwrap_err(),
        LaunchError::UnknownLoss(unknown)
    );
    let both = ConcurrentComposition::new([foreign.clone()]);
    assert_eq!(
        Private::<RdpGrid, AddRemove>::loss(&both, &grid),
        Err(unknown)
    );
}

/// The first value of the curve is that at the order 2, and would be read as that at 64.
#[test]
fn a_curve_of_another_grid_is_not_restated() {
    let grid = |orders: [&str; 2]| RdpGrid::new(orders.map(|text| text.parse().unwrap())).unwrap();
    let (small, large) = (grid(["2", "64"]), grid(["64", "128"]));
    let curve = small.curve([epsilon("0.1"), epsilon("3.2")]).unwrap();
    let mechanism = at(curve, Answer::default());
    let unknown = LaunchError::UnknownLoss(UnknownLoss::FOREIGN);

    let rdp = Filter::concurrent(Rdp::new("64".parse().unwrap()), epsilon("9"));
    let filter = start(&rdp, rows()).unwrap();
    let wrong = Restated::new(large.clone(), mechanism.clone());
    assert_eq!(filter.release(&wrong).unwrap_err(), unknown);
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
    let right = Restated::new(small.clone(), mechanism.clone());
    assert_eq!(filter.release(&right), Ok(1));
    assert_eq!(filter.privacy_loss(), epsilon("3.2"));

    let approx = Filter::concurrent(ApproxDp, pair("9", "1e-5"));
    let filter = start(&approx, rows()).unwrap();
    let slack = "1e-6".parse().unwrap();
    let wrong = RestatedAt::new(large, slack, mechanism.clone());
    assert_eq!(
        filter.release(&wrong).unwrap_err().to_string(),
        unknown.to_string()
    );
    assert_eq!(filter.privacy_loss(), pair("0", "0"));
    filter
        .release(&RestatedAt::new(small, slack, mechanism))
        .unwrap();
    assert_eq!(filter.privacy_loss().delta, slack);
}

/// A measure whose losses are checked by nobody but itself.
#[derive(Clone, Debug, PartialEq)]
struct AtMostOne;

impl Measure for AtMostOne {
    type Loss = Epsilon;

    fn zero(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn is_valid(&self, loss: &Epsilon) -> bool {
        *loss <= epsilon("1")
    }

    fn join(&self, one: &Epsilon, other: &Epsilon) -> Epsilon {
        *one.max(other)
    }

    fn group(&self, loss: &Epsilon, _: Distance) -> Result<Epsilon, UnknownLoss> {
        loss.checked_mul(5).ok_or(UnknownLoss("too large"))
    }
}

impl Implies<PureDp> for AtMostOne {
    fn imply(&self, loss: &Epsilon, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(*loss)
    }
}

impl ImpliesAt for AtMostOne {
    fn imply_at(&self, loss: &Epsilon, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: *loss,
            delta: slack,
        })
    }
}

#[test]
fn a_stated_loss_is_checked_before_it_is_restated() {
    let slack: Delta = "1e-6".parse().unwrap();
    for (loss, expected) in [
        ("0.2", [Ok(epsilon("0.2")), Ok(epsilon("1"))]),
        ("0.3", [Ok(epsilon("0.3")), Err(UnknownLoss::FOREIGN)]),
        (
            "1.1",
            [Err(UnknownLoss::FOREIGN), Err(UnknownLoss::FOREIGN)],
        ),
    ] {
        let mechanism = at(epsilon(loss), Answer::default());
        assert_eq!(
            losses(&Restated::new(AtMostOne, mechanism.clone())),
            expected
        );
        let restated = RestatedAt::new(AtMostOne, slack, mechanism);
        let at = |distance| Private::<ApproxDp, AddRemove>::loss_at(&restated, &ApproxDp, distance);
        let found =
            [Distance::NEIGHBOURS, two()].map(|distance| at(distance).map(|loss| loss.epsilon));
        assert_eq!(found, expected);
        let near = Private::<ApproxDp, AddRemove>::loss(&restated, &ApproxDp);
        assert_eq!(near.map(|loss| loss.epsilon), expected[0]);
    }
}

/// Its own measure too.
#[test]
fn a_loss_is_restated_under_its_own_measure() {
    assert_eq!(losses(&Restated::new(PureDp, inner())), losses(&inner()));
    let order = |text: &str| Rdp::new(text.parse().unwrap());
    let restated = Restated::new(order("2"), inner());
    assert_eq!(
        Private::<Rdp, AddRemove>::loss(&restated, &order("2")),
        Ok(epsilon("0.1"))
    );
    assert_eq!(
        Private::<Rdp, AddRemove>::loss(&restated, &order("3")),
        Err(UnknownLoss(
            "the loss is stated under the same measure with other parameters"
        ))
    );
}

#[test]
fn a_budget_of_another_grid_is_an_error_before_anything_is_launched() {
    let (grid, other) = grids();
    let filter = Filter::concurrent(grid, other.zero());
    assert_eq!(
        start(&filter, rows()).unwrap_err(),
        Fault::InvalidQuery("the budget does not belong to the measure")
    );
}
