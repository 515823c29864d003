//! OpenDP measurements, launched by the compositors of this crate.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::common::{epsilon, pair};
use crate::support::*;
use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measurements::{make_gaussian, make_laplace};
use opendp::measures::{Approximate, MaxDivergence, RenyiDivergence, ZeroConcentratedDivergence};
use opendp::metrics::{AbsoluteDistance, ChangeOneDistance, SymmetricDistance};
use opendp::transformations::{make_count, make_mean};
use queryables::machine::{DomainMismatch, Stop};
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, Distance, Rdp, RdpGrid, Restated, RhoDelta};
use queryables_opendp::{InDomain, Measured, NotInDomain};

pub(crate) fn pure(
    budget: &str,
) -> Filter<queryables::account::Capped<queryables::account::Sum<PureDp>>> {
    Filter::concurrent(PureDp, epsilon(budget))
}

// What it costs.

#[test]
fn a_launch_is_charged_what_the_privacy_map_says_rounded_up() {
    let filter = start(&pure("1"), data()).unwrap();
    let runs = Tally::default();
    assert_eq!(
        filter.release(&Measured::new(stating::<MaxDivergence>(0.25, &runs))),
        Ok(1)
    );
    assert_eq!(filter.privacy_loss(), epsilon("0.25"));
    // The float 0.1 is 0.1000000000000000055511151231257827….
    filter
        .release(&Measured::new(stating::<MaxDivergence>(0.1, &runs)))
        .unwrap();
    assert_eq!(
        filter.privacy_loss(),
        epsilon("0.350000000000000005551115124")
    );
}

#[test]
fn a_count_with_laplace_noise_is_released() {
    let filter = start(&pure("1"), data()).unwrap();
    // The analyst reads the domain from the filter.
    let count = make_count(filter.metadata().clone(), SymmetricDistance).unwrap();
    let noise = make_laplace::<_, _, MaxDivergence>(
        AtomDomain::<i64>::default(),
        AbsoluteDistance::default(),
        2.0,
        None,
    );
    let count = Measured::new((count >> noise.unwrap()).unwrap());
    // More than 200 off with a probability below e^-100.
    let answer = filter.release(&count).unwrap();
    assert!((answer - 3).abs() < 200);
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    // Under another measure, through this crate's conversion.
    let filter = start(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), data()).unwrap();
    filter.release(&Restated::new(PureDp, count)).unwrap();
    assert_eq!(filter.privacy_loss(), pair("0.5", "0"));
}

#[test]
fn what_is_no_loss_is_rejected_before_the_data_is_touched() {
    let filter = start(&pure("1"), data()).unwrap();
    let runs = Tally::default();
    let negative = "OpenDP's privacy map returned a negative loss";
    for (loss, reason) in [
        (-1.0, negative),
        (-0.0, negative),
        (f64::NAN, "OpenDP's privacy map returned NaN"),
        (
            f64::INFINITY,
            "OpenDP's privacy map returned an infinite loss",
        ),
        (
            1e300,
            "OpenDP's privacy map returned a loss that is too large",
        ),
    ] {
        assert_eq!(
            filter.release(&Measured::new(stating::<MaxDivergence>(loss, &runs))),
            Err(LaunchError::UnknownLoss(UnknownLoss(reason))),
            "{loss}"
        );
    }
    let fails = PrivacyMap::new_fallible(|_: &u32| Err(failure("secret")));
    assert_eq!(
        filter.release(&Measured::new(with_map::<MaxDivergence>(fails, &runs))),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "OpenDP's privacy map has no answer at this distance"
        )))
    );
    let panics = PrivacyMap::new(|_: &u32| panic!("on purpose"));
    assert_eq!(
        filter.release(&Measured::new(with_map::<MaxDivergence>(panics, &runs))),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "the mechanism failed to state its loss"
        )))
    );
    assert_eq!((runs.count(), filter.launched()), (0, 0));
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
}

#[test]
fn an_over_budget_launch_is_refused_before_the_data_is_touched() {
    let filter = start(&pure("1"), data()).unwrap();
    let runs = Tally::default();
    let refused = filter.release(&Measured::new(stating::<MaxDivergence>(1.5, &runs)));
    assert!(
        matches!(refused, Err(LaunchError::Refused(_))),
        "{refused:?}"
    );
    assert_eq!(runs.count(), 0);
    assert_eq!(
        filter.release(&Measured::new(stating::<MaxDivergence>(1.0, &runs))),
        Ok(1)
    );
}

#[test]
fn the_map_is_asked_at_the_distance_and_once() {
    let asked = Rc::new(RefCell::new(vec![]));
    let runs = Tally::default();
    let noted = Rc::clone(&asked);
    let measured = Measured::new(with_map::<MaxDivergence>(
        PrivacyMap::new(move |d_in: &u32| {
            noted.borrow_mut().push(*d_in);
            f64::from(*d_in) / 8.0
        }),
        &runs,
    ));
    let three = Distance::new(3).unwrap();
    let five = Distance::new(5).unwrap();

    let filter = start(&pure("1").at_distance(three), data()).unwrap();
    filter.release(&measured).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.375"));
    assert_eq!(*asked.borrow(), [3]);

    let odometer = start(&Odometer::concurrent(PureDp).tracking([five]), data()).unwrap();
    odometer.release(&measured).unwrap();
    assert_eq!(odometer.privacy_loss(), epsilon("0.125"));
    assert_eq!(odometer.privacy_loss_at(five), Some(epsilon("0.625")));
    assert_eq!(*asked.borrow(), [3, 1, 5]);

    // To replace a row is to remove one and to add one.
    let filter = start(&pure("1").under(Replace), data()).unwrap();
    filter.release(&measured).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.25"));
    assert_eq!(*asked.borrow(), [3, 1, 5, 2]);
}

#[test]
fn a_map_that_changes_its_mind_is_held_to_its_first_word() {
    let filter = start(&pure("1"), data()).unwrap();
    let (calls, runs) = (Tally::default(), Tally::default());
    let count = calls.clone();
    let fickle = with_map::<MaxDivergence>(
        PrivacyMap::new(move |_| if count.one_more() == 1 { 0.5 } else { 0.0 }),
        &runs,
    );
    filter.release(&Measured::new(fickle)).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    assert_eq!(calls.count(), 1);
}

// Domains and relations.

#[test]
fn data_outside_the_domain_is_found_before_anything_is_launched() {
    let digits = VectorDomain::new(AtomDomain::new_closed((0, 9)).unwrap());
    assert_eq!(
        InDomain::new(digits, vec![3, SECRET]).unwrap_err(),
        NotInDomain
    );
}

#[test]
fn a_measurement_on_another_domain_is_refused_and_not_charged() {
    let filter = start(&pure("1"), data()).unwrap();
    let runs = Tally::default();
    let count = runs.clone();
    // Rows that are said to lie between 0 and 9: a sum of them would give the large one away.
    let digits = Measurement::new(
        VectorDomain::new(AtomDomain::new_closed((0, 9)).unwrap()),
        SymmetricDistance,
        MaxDivergence,
        Function::new(move |_: &Vec<i32>| count.one_more()),
        PrivacyMap::new(|_| 0.25),
    );
    assert_eq!(
        filter.release(&Measured::new(digits.unwrap())),
        Err(LaunchError::DomainMismatch(DomainMismatch(
            "the measurement is on another domain than the data"
        )))
    );
    assert_eq!(runs.count(), 0);
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
}

#[test]
fn a_domain_of_fixed_size_has_no_loss_for_added_and_removed_rows() {
    let sized = VectorDomain::new(AtomDomain::new_closed((0.0, 10.0)).unwrap()).with_size(4);
    let mean = make_mean(sized.clone(), SymmetricDistance).unwrap();
    let noise = make_laplace(
        AtomDomain::<f64>::new_non_nan(),
        AbsoluteDistance::default(),
        10.0,
        None,
    );
    let mean = (mean >> noise.unwrap()).unwrap();
    // No two datasets of four rows are at distance 1, so OpenDP may say that next to nothing is lost
    // there.
    assert!(mean.map(&1).unwrap() < 1e-14);
    assert!(mean.map(&2).unwrap() >= 0.25);

    let ages = || Arc::new(InDomain::new(sized.clone(), vec![1.0, 2.0, 3.0, 4.0]).unwrap());
    let mean = Measured::<_, _, MaxDivergence, _>::new(mean);
    let add_remove = start(&pure("1"), ages()).unwrap();
    assert_eq!(
        add_remove.release(&mean),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "datasets of a fixed size have no neighbours with one row more or less"
        )))
    );
    let replace = start(&pure("1").under(Replace), ages()).unwrap();
    replace.release(&mean).unwrap();
    let spent = replace.privacy_loss();
    assert!(
        spent >= epsilon("0.25") && spent < epsilon("0.26"),
        "{spent}"
    );
    // The same, where OpenDP counts replaced rows itself.
    let by_row = Measurement::new(
        sized.clone(),
        ChangeOneDistance,
        MaxDivergence,
        Function::new(|_: &Vec<f64>| 0.0),
        PrivacyMap::new(|d_in: &u32| f64::from(*d_in) / 4.0),
    );
    replace.release(&Measured::new(by_row.unwrap())).unwrap();
    assert_eq!(
        replace.privacy_loss(),
        spent.checked_add(epsilon("0.25")).unwrap()
    );
}

// What goes wrong.

#[test]
fn an_error_or_a_panic_is_charged_and_tells_nothing() {
    let filter = start(&pure("1"), data()).unwrap();
    for broken in [failing::<MaxDivergence>(0.25), panicking(0.25)] {
        let error = filter.release(&Measured::new(broken)).unwrap_err();
        assert_eq!(error, LaunchError::Failed);
        assert_eq!(
            error.to_string(),
            "the mechanism failed; its loss is charged"
        );
    }
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    let runs = Tally::default();
    assert_eq!(
        filter.release(&Measured::new(stating::<MaxDivergence>(0.5, &runs))),
        Ok(1)
    );
}

#[test]
fn a_child_that_fails_or_panics_is_closed_and_its_siblings_go_on() {
    let filter = start(&pure("4"), data()).unwrap();
    let composed = Measured::new(composed::<MaxDivergence>(vec![0.5; 2]));
    let sibling = filter.launch_local(&composed).unwrap();
    let runs = Tally::default();
    for broken in [failing::<MaxDivergence>(0.25), panicking(0.25)] {
        let child = filter.launch_local(&composed).unwrap();
        assert_eq!(child.ask(stating(0.25, &runs)), Ok(runs.count()));
        let error = child.ask(broken).unwrap_err();
        assert_eq!(error, AskError::Fault(Fault::Failed));
        assert_eq!(error.to_string(), "the mechanism failed");
        assert_eq!(child.ask(stating(0.25, &runs)), Err(AskError::Closed));
    }
    assert_eq!(sibling.ask(stating(0.25, &runs)), Ok(3));
    assert_eq!(filter.privacy_loss(), epsilon("3"));
}

#[test]
fn nothing_prints_the_data() {
    let filter = start(&pure("1"), data()).unwrap();
    let measured = Measured::new(composed::<MaxDivergence>(vec![0.5]));
    let child = filter.launch_local(&measured).unwrap();
    let texts = [
        format!("{child:?}"),
        format!("{measured:?}"),
        format!("{:?}", data()),
        format!("{filter:?}"),
    ];
    assert_eq!(texts[0], "LocalQueryable");
    for text in texts {
        assert!(!text.contains(&SECRET.to_string()), "{text}");
    }
}

// Every measure.

#[test]
fn gaussian_noise_is_charged_in_zcdp_and_in_renyi_privacy() {
    let noise = || {
        let count = make_count(rows(), SymmetricDistance).unwrap();
        let noise = make_gaussian(
            AtomDomain::<i64>::default(),
            AbsoluteDistance::default(),
            2.0,
            None,
        );
        (count >> noise.unwrap()).unwrap()
    };
    let gaussian: OnRows<ZeroConcentratedDivergence, i64> = noise();
    let filter = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), data()).unwrap();
    filter.release(&Measured::new(gaussian)).unwrap();
    assert_eq!(filter.privacy_loss(), "0.125".parse().unwrap());

    // The same curve: α/8 for neighbours, four times that for two of them.
    let curve = || {
        measurement::<RenyiDivergence, _>(
            Function::new(|_: &Vec<i32>| 0_u8),
            PrivacyMap::new(|d_in: &u32| {
                let square = f64::from(*d_in).powi(2);
                Function::new(move |alpha: &f64| alpha * square / 8.0)
            }),
        )
    };
    let two = Distance::new(2).unwrap();
    let rdp = Rdp::new("4".parse().unwrap());
    let odometer = start(&Odometer::concurrent(rdp).tracking([two]), data()).unwrap();
    odometer.release(&Measured::new(curve())).unwrap();
    assert_eq!(odometer.privacy_loss(), epsilon("0.5"));
    // Where this crate's group privacy knows nothing, the map does.
    assert_eq!(odometer.privacy_loss_at(two), Some(epsilon("2")));

    let grid = RdpGrid::new(["2", "16"].map(|order| order.parse().unwrap())).unwrap();
    let odometer = start(&Odometer::concurrent(grid), data()).unwrap();
    odometer.release(&Measured::new(curve())).unwrap();
    assert_eq!(odometer.privacy_loss().to_string(), "[0.25, 2]");
}

#[test]
fn approximate_zcdp_children_are_sequential() {
    type Approx = Approximate<ZeroConcentratedDivergence>;
    let budget = RhoDelta::new("1", "1e-6").unwrap();
    let filter = start(&Filter::sequential(ApproxZCdp, budget), data()).unwrap();
    let runs = Tally::default();
    let first = filter.launch_local(&Measured::new(composed::<Approx>(vec![(0.25, 0.0); 2])));
    let first = first.unwrap();
    assert_eq!(first.ask(stating((0.25, 0.0), &runs)), Ok(1));
    let second = filter.launch_local(&Measured::new(composed::<Approx>(vec![(0.25, 0.0)])));
    assert_eq!(
        first.ask(stating((0.25, 0.0), &runs)),
        Err(AskError::Stopped(Stop::Frozen))
    );
    assert_eq!(second.unwrap().ask(stating((0.25, 0.0), &runs)), Ok(2));
    assert_eq!(filter.privacy_loss(), RhoDelta::new("0.75", "0").unwrap());
}
