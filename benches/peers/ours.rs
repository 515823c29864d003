//! This crate's side.

use std::sync::Arc;

use queryables::account::{Capped, Sum};
use queryables::compose::{BoxedMechanism, Parallel, Parts, RunningFilterOf, RunningOdometerOf};
use queryables::data::Predicate;
use queryables::mechanisms::{Count, NoisyCount};
use queryables::middle::MapAnswer;
use queryables::prelude::*;
use queryables::privacy::Relation;

use super::LOSS;

pub type RunningFilter<D = bool> = RunningFilterOf<D, PureDp>;
pub type RunningOdometer = RunningOdometerOf<bool, PureDp>;

/// A mechanism that computes nothing and costs next to nothing; released or asked.
#[derive(Clone)]
pub struct Constant(Epsilon);

pub fn constant() -> Constant {
    Constant(Epsilon::try_from(LOSS).expect("a loss"))
}

impl<D: ?Sized> Mechanism<D> for Constant {
    type Machine = Released<bool>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(true))
    }
}

impl<R: Relation> Private<PureDp, R> for Constant {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.0)
    }
}

fn budget(text: &str) -> Filter<Capped<Sum<PureDp>>> {
    Filter::concurrent(PureDp, text.parse().expect("a budget"))
}

pub fn filter() -> RunningFilter {
    start(&budget("1e6"), Arc::new(true)).expect("a filter")
}

/// A filter after this number of launches.
pub fn filter_after(launches: u64) -> RunningFilter {
    let (filter, mechanism) = (filter(), constant());
    for _ in 0..launches {
        filter.release(&mechanism).expect("within the budget");
    }
    filter
}

pub fn odometer() -> RunningOdometer {
    start(&Odometer::concurrent(PureDp), Arc::new(true)).expect("an odometer")
}

/// A filter `depth` levels below this one, each launched in the one before.
pub fn nested_filter(outer: &RunningFilter, depth: u64) -> RunningFilter {
    (0..depth).fold(outer.clone(), |outer, _| {
        outer.launch(&budget("1e3")).expect("a filter")
    })
}

/// A child that answers with a constant.
pub fn child(filter: &RunningFilter) -> Queryable<(), bool> {
    filter.launch(&constant()).expect("a child")
}

/// The same behind this number of persons in the middle.
pub fn behind_middles(filter: &RunningFilter, middles: u64) -> Queryable<(), bool> {
    type Erased = BoxedMechanism<bool, PureDp, AddRemove, (), bool>;
    let mechanism = (0..middles).fold(Erased::new(PureDp, constant()), |inner, _| {
        Erased::new(
            PureDp,
            inner.through(MapAnswer::new(|answer: bool| !answer)),
        )
    });
    filter.launch(&mechanism).expect("a child")
}

/// A filter over each of a thousand parts.
pub fn parts(number: u32) -> Parts<u32, RunningFilter<Vec<u32>>> {
    let filters = (0..number).map(|part| (part, budget("1e3")));
    let by_part = Parallel::new(move |row: &u32| row % number, filters).expect("each once");
    let rows: Arc<Vec<u32>> = Arc::new((0..10 * number).collect());
    let filter = start(&budget("1e6"), rows).expect("a filter");
    filter.launch(&by_part).expect("parts")
}

/// A count with Laplace noise of scale 10, over no rows: what remains is noise and this crate.
pub fn noisy_count() -> (RunningFilter<Vec<bool>>, NoisyCount<Vec<bool>>) {
    let count = Count::of(Predicate::new("all", |_: &bool| true)).laplace(epsilon!(0.1));
    let filter = start(&budget("1e9"), Arc::new(vec![])).expect("a filter");
    (filter, count.expect("a count"))
}
