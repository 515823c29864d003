//! Measurements and relations that the tests of the OpenDP adapter launch.
#![allow(dead_code)]

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use opendp::combinators::{
    CompositionMeasure, make_adaptive_composition, make_fully_adaptive_composition,
    make_privacy_filter,
};
use opendp::core::{
    Function, Measure as OpenDpMeasure, Measurement, OdometerQueryable, PrivacyMap,
};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::error::{Error, ErrorVariant};
use opendp::interactive::Queryable as OpenDpQueryable;
use opendp::metrics::{DiscreteDistance, SymmetricDistance};
use opendp::traits::ProductOrd;
use queryables::prelude::*;
use queryables::privacy::{Distance, Relation};
use queryables_opendp::{InDomain, Within};

pub type Rows = VectorDomain<AtomDomain<i32>>;

/// A measurement on rows that releases a number.
pub type OnRows<MO, TO = usize> = Measurement<Rows, SymmetricDistance, MO, TO>;

/// A measurement on rows that emits OpenDP's own compositor of such measurements.
pub type ComposedOnRows<MO> = OnRows<MO, OpenDpQueryable<OnRows<MO>, usize>>;

/// OpenDP's own running filter or odometer of such measurements.
pub type OpenDpFilter<MO> =
    OdometerQueryable<OnRows<MO>, usize, u32, <MO as OpenDpMeasure>::Distance>;

pub fn rows() -> Rows {
    VectorDomain::new(AtomDomain::default())
}

/// What the tests have as data. No message must ever show it.
pub const SECRET: i32 = 271_828;

pub fn data() -> Arc<InDomain<Rows>> {
    Arc::new(InDomain::new(rows(), vec![1, 2, SECRET]).unwrap())
}

/// How often something happened.
#[derive(Clone, Debug, Default)]
pub struct Tally(Rc<Cell<usize>>);

impl Tally {
    pub fn one_more(&self) -> usize {
        self.0.set(self.0.get() + 1);
        self.count()
    }

    pub fn count(&self) -> usize {
        self.0.get()
    }
}

/// A measurement made of a function and a privacy map.
pub fn measurement<MO: OpenDpMeasure, TO>(
    function: Function<Vec<i32>, TO>,
    map: PrivacyMap<SymmetricDistance, MO>,
) -> OnRows<MO, TO> {
    Measurement::new(rows(), SymmetricDistance, MO::default(), function, map).unwrap()
}

/// Releases how often it has run, at this loss whatever the distance.
pub fn stating<MO>(loss: MO::Distance, runs: &Tally) -> OnRows<MO>
where
    MO: OpenDpMeasure<Distance: Clone + 'static>,
{
    with_map(PrivacyMap::new(move |_| loss.clone()), runs)
}

/// Releases how often it has run.
pub fn with_map<MO: OpenDpMeasure>(
    map: PrivacyMap<SymmetricDistance, MO>,
    runs: &Tally,
) -> OnRows<MO> {
    let runs = runs.clone();
    measurement(Function::new(move |_: &Vec<i32>| runs.one_more()), map)
}

/// Fails, and says what it has seen.
pub fn failing<MO>(loss: MO::Distance) -> OnRows<MO>
where
    MO: OpenDpMeasure<Distance: Clone + 'static>,
{
    let function = Function::new_fallible(|rows: &Vec<i32>| Err(failure(&format!("{rows:?}"))));
    measurement(function, PrivacyMap::new(move |_| loss.clone()))
}

/// Panics, and says what it has seen.
pub fn panicking<MO>(loss: MO::Distance) -> OnRows<MO>
where
    MO: OpenDpMeasure<Distance: Clone + 'static>,
{
    let function = Function::new(|rows: &Vec<i32>| panic!("on purpose, with {} rows", rows.len()));
    measurement(function, PrivacyMap::new(move |_| loss.clone()))
}

pub fn failure(message: &str) -> Error {
    Error {
        variant: ErrorVariant::FailedFunction,
        message: Some(message.to_owned()),
        backtrace: Backtrace::disabled(),
    }
}

/// OpenDP's own compositor, with losses fixed in advance.
pub fn composed<MO>(losses: Vec<MO::Distance>) -> ComposedOnRows<MO>
where
    MO: CompositionMeasure<Distance: Clone + Debug + ProductOrd + 'static> + 'static,
{
    make_adaptive_composition(rows(), SymmetricDistance, MO::default(), 1, losses).unwrap()
}

/// OpenDP's own filter, as a measurement.
pub fn opendp_filter<MO>(budget: MO::Distance) -> OnRows<MO, OpenDpFilter<MO>>
where
    MO: CompositionMeasure<Distance: Clone + Debug + ProductOrd + 'static> + 'static,
{
    let odometer = make_fully_adaptive_composition(rows(), SymmetricDistance, MO::default());
    make_privacy_filter(odometer.unwrap(), 1, budget).unwrap()
}

/// OpenDP's own filter, running.
pub fn running_opendp_filter<MO>(budget: MO::Distance) -> OpenDpFilter<MO>
where
    MO: CompositionMeasure<Distance: Clone + Debug + ProductOrd + 'static> + 'static,
{
    opendp_filter::<MO>(budget).invoke(data().value()).unwrap()
}

/// What OpenDP says when something goes wrong.
pub fn message<T>(result: Result<T, Error>) -> String {
    result.map(|_| ()).unwrap_err().message.unwrap_or_default()
}

/// Any two values are neighbours: the relation of randomized response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnyTwo;

impl Relation for AnyTwo {
    const NAME: &'static str = "any two values";
}

impl Within<AtomDomain<bool>, DiscreteDistance> for AnyTwo {
    /// Different or not: however many steps, it is one.
    fn d_in(_: &AtomDomain<bool>, _: &DiscreteDistance, _: Distance) -> Result<u32, UnknownLoss> {
        Ok(1)
    }
}

/// A bit, as data.
pub fn bit(value: bool) -> Arc<InDomain<AtomDomain<bool>>> {
    Arc::new(InDomain::new(AtomDomain::default(), value).unwrap())
}
