//! OpenDP's side: what costs it least, through what is public in Rust.

use std::any::Any;
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use dashu::integer::IBig;
use dashu::rational::RBig;
use opendp::combinators::{
    make_adaptive_composition, make_fully_adaptive_composition, make_privacy_filter,
};
use opendp::core::{Function, Measurement, OdometerQuery, OdometerQueryable, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::error::{Error, ErrorVariant, Fallible};
use opendp::interactive::Queryable;
use opendp::measures::MaxDivergence;
use opendp::metrics::DiscreteDistance;

use crate::LOSS;
use crate::sample::{Run, repeated};

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

/// A compositor that answers so many queries.
fn child_mechanism(queries: usize) -> Mechanism<Child> {
    make_adaptive_composition(
        AtomDomain::default(),
        DiscreteDistance,
        MaxDivergence,
        NEIGHBOURS,
        vec![LOSS; queries],
    )
    .expect("losses")
}

/// A compositor below so many filters, each launched in the one before. Types are forgotten on the
/// way, or else each level would have another.
fn nested_child(depth: u64, queries: usize) -> Child {
    let mut innermost: Compositor<Box<dyn Any>> = filter();
    for _ in 1..depth {
        let inner = filter_mechanism::<Box<dyn Any>>();
        let inner = mechanism(LOSS, move |data| {
            Box::new(inner.invoke(data).expect("a filter")) as Box<dyn Any>
        });
        innermost = innermost.invoke_poly(inner).expect("a filter");
    }
    let child = child_mechanism(queries);
    let child = mechanism(LOSS, move |data| {
        Box::new(child.invoke(data).expect("a child")) as Box<dyn Any>
    });
    innermost.invoke_poly(child).expect("a child")
}

/// Queries to such a child, which is replaced when it has answered as many as it was made for.
pub fn asking_nested_child(depth: u64) -> Run {
    const QUERIES: u64 = 1_000_000;
    let query = constant();
    let (mut child, mut left) = (nested_child(depth, 1), 0);
    Box::new(move |times| {
        if left < times {
            left = QUERIES.max(times);
            child = nested_child(depth, left as usize);
        }
        left -= times;
        let begin = Instant::now();
        for _ in 0..times {
            black_box(child.eval(&query)).expect("a query left");
        }
        begin.elapsed()
    })
}

/// What OpenDP keeps a child in. Its own constructors are private, so that no child can be made
/// that does nothing: this stands for it, with the same pointers, the same check that it is not
/// busy, and OpenDP's own error type.
struct StandIn(Rc<RefCell<Transition>>);

type Transition = dyn FnMut(&StandIn, Query<'_>) -> Fallible<Answer>;

/// What its children hear: from the outside, or from each other.
#[allow(dead_code)]
enum Query<'a> {
    External(&'a ()),
    Internal(&'a dyn Any),
}

#[allow(dead_code)]
enum Answer {
    External(bool),
    Internal(Box<dyn Any>),
}

impl StandIn {
    fn eval(&mut self, query: &()) -> Fallible<bool> {
        let refused = || Error::from(ErrorVariant::FailedFunction);
        let mut transition = self.0.try_borrow_mut().map_err(|_| refused())?;
        match transition(self, Query::External(query))? {
            Answer::External(answer) => Ok(answer),
            Answer::Internal(_) => Err(refused()),
        }
    }
}

/// Queries to a child that answers with a constant.
pub fn asking_stand_in() -> Run {
    let mut child = black_box(StandIn(Rc::new(RefCell::new(|_: &StandIn, _: Query<'_>| {
        Ok(Answer::External(true))
    }))));
    repeated(move || {
        black_box(child.eval(&())).expect("an answer");
    })
}

/// Draws at a scale of ten.
pub fn drawing(sampler: impl Fn(RBig) -> Fallible<IBig> + 'static) -> Run {
    repeated(move || {
        black_box(sampler(10.into())).expect("randomness");
    })
}
