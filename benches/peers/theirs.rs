//! OpenDP's side: what costs it least, through what is public in Rust.

use std::any::Any;

use opendp::combinators::{
    make_adaptive_composition, make_fully_adaptive_composition, make_privacy_filter,
};
use opendp::core::{Function, Measurement, OdometerQuery, OdometerQueryable, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::interactive::Queryable;
use opendp::measures::MaxDivergence;
use opendp::metrics::DiscreteDistance;

use super::LOSS;

pub type Mechanism<A> = Measurement<AtomDomain<bool>, DiscreteDistance, MaxDivergence, A>;
/// A running filter or odometer.
pub type Compositor<A> = OdometerQueryable<Mechanism<A>, A, u32, f64>;
/// A child that composes others, whose losses were fixed when it was launched.
pub type Child = Queryable<Mechanism<bool>, bool>;

const DATA: bool = true;
const NEIGHBOURS: u32 = 1;
const BUDGET: f64 = 1e6;

/// A mechanism that computes nothing and costs next to nothing.
pub fn mechanism<A: 'static>(loss: f64, start: impl Fn(&bool) -> A + 'static) -> Mechanism<A> {
    Measurement::new(
        AtomDomain::default(),
        DiscreteDistance,
        MaxDivergence,
        Function::new(start),
        PrivacyMap::new(move |_| loss),
    )
    .expect("a metric space")
}

pub fn constant() -> Mechanism<bool> {
    mechanism(LOSS, |_| true)
}

pub fn odometer<A: 'static>() -> Compositor<A> {
    make_fully_adaptive_composition(AtomDomain::default(), DiscreteDistance, MaxDivergence)
        .and_then(|odometer| odometer.invoke(&DATA))
        .expect("an odometer")
}

pub fn filter<A: 'static>() -> Compositor<A> {
    filter_mechanism().invoke(&DATA).expect("a filter")
}

fn filter_mechanism<A: 'static>() -> Mechanism<Compositor<A>> {
    make_fully_adaptive_composition(AtomDomain::default(), DiscreteDistance, MaxDivergence)
        .and_then(|odometer| make_privacy_filter(odometer, NEIGHBOURS, BUDGET))
        .expect("a filter")
}

/// The launch of a constant; the query is made once, so that only the launch counts.
pub fn launch_constant() -> impl Fn(&mut Compositor<bool>) {
    let query = OdometerQuery::Invoke(constant());
    move |compositor| {
        compositor.eval(&query).expect("within the budget");
    }
}

pub fn read_loss(compositor: &mut Compositor<bool>) {
    compositor.privacy_loss(NEIGHBOURS).expect("a loss");
}

/// A compositor that answers this number of queries.
pub fn child_mechanism(queries: usize) -> Mechanism<Child> {
    make_adaptive_composition(
        AtomDomain::default(),
        DiscreteDistance,
        MaxDivergence,
        NEIGHBOURS,
        vec![LOSS; queries],
    )
    .expect("losses")
}

/// A filter after this number of launches. Types are erased, because otherwise each level below
/// would have another type.
pub fn filter_after(launches: u64) -> Compositor<Box<dyn Any>> {
    let mut filter = filter();
    let constant = OdometerQuery::Invoke(mechanism(LOSS, |_| Box::new(true) as Box<dyn Any>));
    for _ in 0..launches {
        filter.eval(&constant).expect("within the budget");
    }
    filter
}

/// A filter `levels` levels below this one, each launched in the one before.
pub fn nested_filter(outer: &Compositor<Box<dyn Any>>, levels: u64) -> Compositor<Box<dyn Any>> {
    (0..levels).fold(outer.clone(), |mut outer, _| {
        let inner = filter_mechanism::<Box<dyn Any>>();
        let inner = mechanism(LOSS, move |data| {
            Box::new(inner.invoke(data).expect("a filter")) as Box<dyn Any>
        });
        outer.invoke_poly(inner).expect("a filter")
    })
}

/// A compositor in this filter.
pub fn child(filter: &Compositor<Box<dyn Any>>, queries: usize) -> Child {
    let child = child_mechanism(queries);
    let child = mechanism(LOSS, move |data| {
        Box::new(child.invoke(data).expect("a child")) as Box<dyn Any>
    });
    filter.clone().invoke_poly(child).expect("a child")
}
