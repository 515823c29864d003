//! Mechanisms of this crate as OpenDP measurements.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::{Answer, Touches, at, epsilon, pair};
use crate::support::*;
use opendp::combinators::{
    make_adaptive_composition, make_approximate, make_composition, make_pureDP_to_zCDP,
};
use opendp::core::{Domain, Function, Measure as OpenDpMeasure, Measurement, Metric, MetricSpace};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::error::ErrorVariant;
use opendp::measurements::make_laplace;
use opendp::measures::{Approximate, MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::{AbsoluteDistance, HammingDistance, InsertDeleteDistance, SymmetricDistance};
use opendp::transformations::{make_clamp, make_count, make_ordered_random};
use queryables::account::time_uniform::{Slack, VarianceOdometer};
use queryables::account::{Capped, Sum};
use queryables::compose::{RunningFilterOf, TimeUniform};
use queryables::data::Predicate;
use queryables::machine::Stop;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, Distance, Measure, Rdp, RdpGrid, Restated, RhoDelta};
use queryables_opendp::{InDomain, Measured, make_interactive, make_odometer};

type PureFilter = Filter<Capped<Sum<PureDp>>>;
type Running = RunningFilterOf<InDomain<Rows>, PureDp>;

fn pure(budget: &str) -> PureFilter {
    Filter::concurrent(PureDp, epsilon(budget))
}

/// A filter of this crate, as OpenDP sees it.
fn embedded(budget: &str) -> Measurement<Rows, InsertDeleteDistance, MaxDivergence, Running> {
    make_interactive(
        rows(),
        InsertDeleteDistance,
        PureDp,
        AddRemove,
        pure(budget),
    )
    .unwrap()
}

#[test]
fn a_transformation_leads_to_a_filter_in_which_both_kinds_are_launched() {
    // Clamp the ages, forget their order, then ask anything for a total of 1.
    let bounds = (0, 120);
    let clamped = VectorDomain::new(AtomDomain::new_closed(bounds).unwrap());
    let filter = make_interactive(
        clamped.clone(),
        InsertDeleteDistance,
        PureDp,
        AddRemove,
        pure("1"),
    );
    let chain = make_clamp(rows(), SymmetricDistance, bounds).unwrap()
        >> make_ordered_random(clamped.clone(), SymmetricDistance).unwrap();
    let chain = (chain >> filter.unwrap()).unwrap();
    assert_eq!(chain.map(&1), Ok(1.0));

    let filter = chain.invoke(&vec![17, 18, 43, SECRET]).unwrap();
    assert_eq!(filter.metadata(), &clamped);
    let up_to = |age: i32| Predicate::new("up to an age", move |other: &i32| *other <= age);
    // One of its own that stays open, OpenDP's noise in between, and its own again.
    let search = filter
        .launch(&AboveThreshold::new(AddRemove, 1, 1, epsilon("0.25")).unwrap())
        .unwrap();
    let count = make_count(filter.metadata().clone(), SymmetricDistance).unwrap()
        >> make_laplace::<_, _, MaxDivergence>(
            AtomDomain::<i64>::default(),
            AbsoluteDistance::default(),
            4.0,
            None,
        )
        .unwrap();
    // Off by more than 400 with a probability below e^-99.
    assert!((filter.release(&Measured::new(count.unwrap())).unwrap() - 4).abs() < 400);
    search.ask(up_to(20)).unwrap();
    // Everything was clamped: nobody is older than 120.
    let young = Count::of(up_to(120)).laplace(epsilon!(0.5)).unwrap();
    assert!((filter.release(&young).unwrap() - 4).abs() < 200);
    assert_eq!(filter.remaining(), Epsilon::ZERO);
    let refused = filter.release(&young).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a loss of ε = 0.5 is over budget: 1 of ε = 1 is spent, ε = 0 is left"
    );
}

#[test]
fn the_privacy_map_is_the_budget_rounded_up() {
    let filter = embedded("0.3");
    // The float nearest to 0.3 is below it.
    assert_eq!(filter.map(&1), Ok(0.3_f64.next_up()));
    assert_eq!(filter.map(&0), filter.map(&1));
    // Group privacy.
    assert_eq!(filter.map(&3), Ok(0.9));

    let zcdp = make_interactive(
        rows().with_size(3),
        HammingDistance,
        ZCdp,
        Replace,
        Filter::concurrent(ZCdp, "0.5".parse().unwrap()).under(Replace),
    );
    let zcdp = zcdp.unwrap();
    assert_eq!((zcdp.map(&1), zcdp.map(&3)), (Ok(0.5), Ok(4.5)));

    // A filter for couples: children are asked at a distance of 2, and so is the budget.
    let couples = pure("0.5").at_distance(Distance::new(2).unwrap());
    let couples =
        make_interactive(rows(), InsertDeleteDistance, PureDp, AddRemove, couples).unwrap();
    let at = [1, 2, 3, 5].map(|d_in| couples.map(&d_in).unwrap());
    assert_eq!(at, [0.5, 0.5, 1.0, 1.5]);
}

#[test]
fn where_no_group_privacy_is_known_the_map_fails() {
    let budget = pair("1", "1e-6");
    let approximate = Filter::concurrent(ApproxDp, budget);
    let approximate = make_interactive(
        rows(),
        InsertDeleteDistance,
        ApproxDp,
        AddRemove,
        approximate,
    )
    .unwrap();
    assert_eq!(approximate.map(&1), Ok((1.0, 1e-6_f64.next_up())));
    // (2ε, (1 + e^ε)δ), rounded up.
    let (two, delta) = approximate.map(&2).unwrap();
    assert_eq!(two, 2.0);
    assert!(delta > 3.718281e-6 && delta < 3.718282e-6);

    let sized = rows().with_size(3);
    let sized = make_interactive(sized, InsertDeleteDistance, PureDp, AddRemove, pure("1"));
    assert_eq!(
        message(sized.unwrap().map(&1).map(|_| ())),
        "datasets of a fixed size have no neighbours with one row more or less"
    );

    let rdp = Rdp::new("4".parse().unwrap());
    let renyi = Filter::concurrent(rdp, epsilon("0.5"));
    let renyi = make_interactive(rows(), InsertDeleteDistance, rdp, AddRemove, renyi).unwrap();
    let curve = renyi.map(&1).unwrap();
    assert_eq!(curve.eval(&4.0), Ok(0.5));
    let error = renyi.map(&2).map(|_| ()).unwrap_err();
    assert_eq!(error.variant, ErrorVariant::FailedMap);
    assert_eq!(
        error.message.unwrap(),
        "group privacy changes the order of a Rényi guarantee"
    );
    assert_eq!(
        message(curve.eval(&5.0)),
        "no privacy loss is known at this order: it is larger than all that are known, or than its \
         decimal; take orders that are floats, such as 1.125"
    );
    // A filter at another order than it is said to be.
    let other = Filter::concurrent(Rdp::new("8".parse().unwrap()), epsilon("0.5"));
    let other = make_interactive(rows(), InsertDeleteDistance, rdp, AddRemove, other).unwrap();
    assert_eq!(
        message(other.map(&1).map(|_| ())),
        "the filter has another measure"
    );
}

#[test]
fn a_loss_of_another_grid_is_none() {
    let grid =
        |orders: [&str; 2]| RdpGrid::new(orders.map(|order| order.parse().unwrap())).unwrap();
    let (asked, stated) = (grid(["2", "8"]), grid(["2", "4"]));
    let mechanism = at(stated.zero(), Answer(Touches::default()));
    let embedded = make_interactive(rows(), InsertDeleteDistance, asked, AddRemove, mechanism);
    assert_eq!(
        message(embedded.unwrap().map(&1).map(|_| ())),
        "the stated loss does not belong to the measure"
    );
}

#[test]
fn data_outside_the_domain_starts_nothing() {
    let digits = VectorDomain::new(AtomDomain::new_closed((0, 9)).unwrap());
    let filter =
        make_interactive(digits, InsertDeleteDistance, PureDp, AddRemove, pure("1")).unwrap();
    let error = filter.invoke(&vec![3, SECRET]).unwrap_err();
    assert_eq!(error.message.unwrap(), "the data is not in the domain");
}

#[test]
fn opendp_composes_filters_of_this_crate() {
    let runs = Tally::default();
    // All at once.
    let both = make_composition(vec![embedded("0.25"), embedded("0.5")]).unwrap();
    assert_eq!(both.map(&1), Ok(0.75));
    let handles = both.invoke(data().value()).unwrap();
    let eighth = Measured::new(stating::<MaxDivergence>(0.125, &runs));
    for (handle, times) in handles.iter().zip([2, 4]) {
        assert_eq!(
            (0..9).filter(|_| handle.release(&eighth).is_ok()).count(),
            times
        );
    }

    // One after the other, interleaved, and from another thread.
    let composed =
        make_adaptive_composition(rows(), InsertDeleteDistance, MaxDivergence, 1, vec![0.5; 2]);
    let mut composed = composed.unwrap().invoke(data().value()).unwrap();
    let first = composed.eval(&embedded("0.5")).unwrap();
    first.release(&eighth).unwrap();
    let second = composed.eval(&embedded("0.5")).unwrap();
    second.release(&eighth).unwrap();
    first.release(&eighth).unwrap();
    assert_eq!(
        message(composed.eval(&embedded("0.5")).map(|_| ())),
        "out of queries"
    );
    let (first, second) = std::thread::spawn(move || (first.remaining(), second.remaining()))
        .join()
        .unwrap();
    assert_eq!((first, second), (epsilon("0.25"), epsilon("0.375")));
}

/// Approximate zCDP is composed one after the other: OpenDP freezes what it composed before, a handle
/// of this crate included.
#[test]
fn after_a_cast_to_approximate_zcdp_the_handle_is_frozen_on_its_own_thread() {
    let filter = || {
        let filter = Filter::concurrent(ZCdp, "0.5".parse().unwrap());
        let filter = make_interactive(rows(), InsertDeleteDistance, ZCdp, AddRemove, filter);
        make_approximate(filter.unwrap()).unwrap()
    };
    let composed = make_adaptive_composition(
        rows(),
        InsertDeleteDistance,
        Approximate(ZeroConcentratedDivergence),
        1,
        vec![(0.5, 0.0); 3],
    );
    let mut composed = composed.unwrap().invoke(data().value()).unwrap();
    let runs = Tally::default();
    let eighth = Measured::new(stating::<ZeroConcentratedDivergence>(0.125, &runs));
    let first = composed.eval(&filter()).unwrap();
    assert_eq!(first.release(&eighth), Ok(1));
    let inner = first.launch(&Filter::concurrent(ZCdp, "0.25".parse().unwrap()));
    let inner = inner.unwrap();
    let second = composed.eval(&filter()).unwrap();
    let frozen = Err(LaunchError::Stopped(Stop::Frozen));
    assert_eq!(first.release(&eighth), frozen);
    assert_eq!(inner.release(&eighth), frozen);
    assert_eq!(second.release(&eighth), Ok(2));
    assert_eq!(first.privacy_loss(), "0.375".parse().unwrap());
    // The limit that the guarantee of `make_interactive` names: on another thread OpenDP cannot be
    // asked. If it ever can, the warning goes.
    let nothing = at("0".parse::<Rho>().unwrap(), Answer(Touches::default()));
    let elsewhere = std::thread::spawn(move || first.release(&nothing).is_ok());
    assert!(elsewhere.join().unwrap());
}

/// States no loss, but panics.
#[derive(Clone)]
struct Speechless;

impl Mechanism<InDomain<Rows>> for Speechless {
    type Machine = Released<()>;

    fn start(
        &self,
        _: &std::sync::Arc<InDomain<Rows>>,
        _: &mut Coins<'_>,
    ) -> Result<Released<()>, Fault> {
        Ok(Released(()))
    }
}

impl Private<PureDp, AddRemove> for Speechless {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        panic!("on purpose")
    }
}

#[test]
fn a_panic_as_a_loss_is_stated_does_not_go_through_opendp() {
    let speechless =
        make_interactive(rows(), InsertDeleteDistance, PureDp, AddRemove, Speechless).unwrap();
    assert_eq!(
        message(speechless.map(&1)),
        "the mechanism failed to state its loss"
    );
}

/// OpenDP asks with floats. The float nearest to 1.1 is larger, and a bound at order 1.1 says nothing
/// about it.
#[test]
fn an_order_that_is_a_float_is_read_back_and_another_is_unknown() {
    let read_back = |order: &str| {
        let rdp = Rdp::new(order.parse().unwrap());
        let filter = Filter::concurrent(rdp, epsilon("0.5"));
        let filter = make_interactive(rows(), InsertDeleteDistance, rdp, AddRemove, filter);
        let plain = (filter.unwrap() >> Function::new(|_: &_| 0_u8)).unwrap();
        let odometer = start(&Odometer::concurrent(rdp), data()).unwrap();
        let answer = odometer.release(&Measured::new(plain));
        answer.map(|_| odometer.privacy_loss())
    };
    for order in ["1.125", "2", "2.5", "1000000000"] {
        assert_eq!(read_back(order), Ok(epsilon("0.5")), "{order}");
    }
    for order in ["1.1", "2.3"] {
        let unknown = UnknownLoss::because(format_args!(
            "OpenDP's privacy curve has no value at order {order}"
        ));
        assert_eq!(read_back(order), Err(LaunchError::UnknownLoss(unknown)));
    }
}

#[test]
fn a_filter_inside_opendp_inside_a_filter() {
    // What OpenDP makes of the inner filter is a number.
    let count = Function::new_fallible(|inner: &Running| {
        let runs = Tally::default();
        let eighth = Measured::new(stating::<MaxDivergence>(0.125, &runs));
        Ok((0..9).filter(|_| inner.release(&eighth).is_ok()).count())
    });
    let number = (embedded("0.5") >> count).unwrap();
    let outer = start(&pure("1"), data()).unwrap();
    assert_eq!(outer.release(&Measured::new(number.clone())), Ok(4));
    assert_eq!(outer.release(&Measured::new(number)), Ok(4));
    assert_eq!(outer.remaining(), Epsilon::ZERO);
}

type Stash<H> = Rc<RefCell<Option<H>>>;

/// Makes a number of a handle, and keeps the handle.
fn stashing<DI, MI, MO, H>(
    measurement: Measurement<DI, MI, MO, H>,
) -> (Measurement<DI, MI, MO, u8>, Stash<H>)
where
    DI: Domain + 'static,
    MI: Metric + 'static,
    MO: OpenDpMeasure + 'static,
    (DI, MI): MetricSpace,
    H: Clone + 'static,
{
    let stash: Stash<H> = Rc::default();
    let kept = Rc::clone(&stash);
    let keep = Function::new(move |handle: &H| {
        *kept.borrow_mut() = Some(handle.clone());
        0
    });
    ((measurement >> keep).unwrap(), stash)
}

/// Postprocessing is anybody's code. It must not turn what "answers once" into what does not.
#[test]
fn a_handle_that_was_kept_aside_answers_nobody() {
    let runs = Tally::default();
    let eighth = Measured::new(stating::<MaxDivergence>(0.125, &runs));
    // In OpenDP's hands alone, it does.
    let (number, stash) = stashing(embedded("0.5"));
    number.invoke(data().value()).unwrap();
    let kept = stash.borrow_mut().take().unwrap();
    assert_eq!(kept.release(&eighth), Ok(1));

    // A theorem about mechanisms that answer once.
    let slack = Slack::pure("1e-6".parse().unwrap()).unwrap();
    let odometer = VarianceOdometer::mixture_at("1".parse().unwrap(), slack);
    let odometer = start(&TimeUniform::noninteractive(odometer), data()).unwrap();
    let (number, stash) = stashing(embedded("0.5"));
    let number = Restated::new(PureDp, Measured::new(number));
    assert_eq!(odometer.release(&number), Ok(0));
    let kept = stash.borrow_mut().take().unwrap();
    assert_eq!(
        kept.release(&eighth),
        Err(LaunchError::Stopped(Stop::Frozen))
    );

    // What must be frozen by a later launch, here a machine and not a compositor.
    let search = AboveThreshold::new(AddRemove, 1, 1, epsilon("0.5")).unwrap();
    let search = make_interactive(rows(), InsertDeleteDistance, PureDp, AddRemove, search);
    let (number, stash) = stashing(make_pureDP_to_zCDP(search.unwrap()).unwrap());
    let number = make_approximate(number).unwrap();
    let budget = RhoDelta::new("1", "1e-6").unwrap();
    let sequential = start(&Filter::sequential(ApproxZCdp, budget), data()).unwrap();
    assert_eq!(sequential.release(&Measured::new(number)), Ok(0));
    let kept = stash.borrow_mut().take().unwrap();
    let anybody = Predicate::new("anybody", |_: &i32| true);
    assert_eq!(kept.ask(anybody), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(runs.count(), 1);
}

/// The same for what is made in an answer, not at the start.
#[test]
fn a_handle_that_was_kept_aside_in_an_answer_answers_nobody() {
    let runs = Tally::default();
    let eighth = Measured::new(stating::<MaxDivergence>(0.125, &runs));
    let composed = make_adaptive_composition::<_, _, _, u8>(
        rows(),
        InsertDeleteDistance,
        MaxDivergence,
        1,
        vec![0.5; 2],
    );
    let filter = start(&pure("1"), data()).unwrap();
    let child = filter
        .launch_local(&Measured::new(composed.unwrap()))
        .unwrap();
    let (number, stash) = stashing(embedded("0.5"));
    assert_eq!(child.ask(number), Ok(0));
    let kept = stash.borrow_mut().take().unwrap();
    assert_eq!(
        kept.release(&eighth),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
    // Neither does the end of an answer stop what was made outside.
    let outside = embedded("0.5").invoke(data().value()).unwrap();
    assert_eq!(child.ask(stashing(embedded("0.5")).0), Ok(0));
    assert_eq!(outside.release(&eighth), Ok(1));
}

#[test]
fn a_curve_that_opendp_composes_is_read_back() {
    let grid = RdpGrid::new(["2", "8"].map(|order| order.parse().unwrap())).unwrap();
    let budget = grid.curve(["0.25", "1"].map(epsilon)).unwrap();
    let filter = || Filter::concurrent(grid.clone(), budget.clone());
    let embedded = || {
        make_interactive(
            rows(),
            InsertDeleteDistance,
            grid.clone(),
            AddRemove,
            filter(),
        )
        .unwrap()
    };
    let both = make_composition(vec![embedded(), embedded()]).unwrap();
    let plain = (both >> Function::new(|_: &Vec<_>| 0_u8)).unwrap();
    let outer = start(&Odometer::concurrent(grid.clone()), data()).unwrap();
    outer.release(&Measured::new(plain)).unwrap();
    assert_eq!(outer.privacy_loss().to_string(), "[0.5, 2]");
}

#[test]
fn an_odometer_is_read_in_distances_of_opendp() {
    let odometer = Odometer::concurrent(PureDp).tracking([Distance::new(3).unwrap()]);
    let odometer = make_odometer(rows(), InsertDeleteDistance, PureDp, odometer).unwrap();
    let running = odometer.invoke(&vec![17, 18, 43, SECRET]).unwrap();
    // One of each kind.
    let old = Predicate::new("old", |age: &i32| *age >= 18);
    running
        .release(&Count::of(old).laplace(epsilon!(0.3)).unwrap())
        .unwrap();
    let count = make_count(rows(), SymmetricDistance).unwrap()
        >> make_laplace::<_, _, MaxDivergence>(
            AtomDomain::<i64>::default(),
            AbsoluteDistance::default(),
            4.0,
            None,
        )
        .unwrap();
    running.release(&Measured::new(count.unwrap())).unwrap();
    // Rounded up.
    assert_eq!(
        odometer.privacy_loss(&running, &1),
        Ok(epsilon("0.55").to_f64_up())
    );
    assert_eq!(
        odometer.privacy_loss(&running, &3),
        Ok(epsilon("1.65").to_f64_up())
    );
    let untracked = odometer.privacy_loss(&running, &2).unwrap_err();
    assert_eq!(untracked.variant, ErrorVariant::FailedMap);
    // Data outside of the domain is not touched.
    let young = VectorDomain::new(AtomDomain::new_closed((0, 20)).unwrap());
    let odometer = Odometer::concurrent(PureDp);
    let odometer = make_odometer(young, InsertDeleteDistance, PureDp, odometer).unwrap();
    let outside = odometer.invoke(&vec![17, 43]).unwrap_err();
    assert_eq!(outside.variant, ErrorVariant::FailedFunction);
}
