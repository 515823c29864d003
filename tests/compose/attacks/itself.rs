//! Code that stops its own child, by a launch from inside a start or an answer, gets nothing out:
//! not of that child, whatever mechanism runs the code.
//!
//! The code could see the answers of what it launched, and choose its own question by them. Under
//! a measure without a theorem for interleaving, nobody knows what that costs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::epsilon;
use queryables::account::{self, Accumulator, Capped, DefaultAccumulator};
use queryables::compose::{
    IndividualError, IndividualFilter, Parallel, RunningFilter, RunningFilterOf, Sequential,
};
use queryables::data::{Attribute, Predicate, Value};
use queryables::machine::Stop;
use queryables::mechanisms::query::Keys;
use queryables::mechanisms::*;
use queryables::middle::{LimitQueries, MapAnswer};
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, RhoDelta};

type Rows = Vec<u32>;

fn rows() -> Arc<Rows> {
    Arc::new((0..100).collect())
}

/// A filter, and code that stops the latest of its children, once.
#[derive(Clone)]
pub struct Trap {
    pub filter: RunningFilterOf<Rows, PureDp, AddRemove, Sequential>,
    pub stop: Stop,
    armed: Arc<AtomicBool>,
}

impl Trap {
    /// Both ways to be stopped: by a later launch, and by one that is not admitted.
    pub fn both() -> [Self; 2] {
        [Stop::Frozen, Stop::Halted].map(|stop| Self {
            filter: start(
                &Filter::sequential(PureDp, epsilon("1000")).halting(),
                rows(),
            )
            .unwrap(),
            stop,
            armed: Arc::default(),
        })
    }

    pub fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    pub fn spring(&self) {
        if !self.armed.swap(false, Ordering::SeqCst) {
            return;
        }
        let all = Predicate::new("all", |_: &u32| true);
        let count = |loss| Count::of(all.clone()).laplace(epsilon(loss)).unwrap();
        match self.stop {
            Stop::Halted => {
                self.filter.release(&count("5000")).unwrap_err();
            }
            _ => {
                self.filter.release(&count("0.001")).unwrap();
            }
        }
    }

    pub fn was_sprung(&self) -> bool {
        !self.armed.load(Ordering::SeqCst)
    }

    /// True of every row; the first that it is asked about springs the trap.
    pub fn predicate(&self) -> Predicate<Rows> {
        let trap = self.clone();
        Predicate::new("springs a trap", move |_: &u32| {
            trap.spring();
            true
        })
    }

    fn attribute<T: From<u32> + Value>(&self) -> Attribute<Rows, T> {
        let trap = self.clone();
        Attribute::new("springs a trap", move |row: &u32| {
            trap.spring();
            T::from(*row)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key(u32);

/// Asserts that none of these is released by a filter that it stops in its start.
macro_rules! withheld {
    ($trap:ident: $($mechanism:expr,)*) => {
        for $trap in Trap::both() {
            $({
                // A filter that halted stays so.
                let $trap = match $trap.stop {
                    Stop::Halted => Trap::both()[1].clone(),
                    _ => $trap.clone(),
                };
                $trap.arm();
                let mechanism = $mechanism;
                let released = $trap.filter.release(&mechanism).map(|_| ());
                assert_eq!(released, Err(LaunchError::Failed), "{}", stringify!($mechanism));
                assert!($trap.was_sprung(), "{}", stringify!($mechanism));
            })*
        }
    };
}

#[test]
fn a_release_that_stops_itself_is_withheld() {
    let e = || epsilon("1");
    withheld! { trap:
        Count::of(trap.predicate()).laplace(e()).unwrap(),
        Sum::of(trap.attribute::<i64>(), 0..=9).laplace(e()).unwrap(),
        Sum::of(trap.attribute::<f64>(), 0.0..=9.0).laplace(e()).unwrap(),
        Mean::of(trap.attribute::<f64>(), 0.0..=9.0).laplace(e()).unwrap(),
        Variance::of(trap.attribute::<f64>(), 0.0..=9.0).laplace(e()).unwrap(),
        Histogram::of(by_key(&trap)).laplace(e()).unwrap(),
        NoisyQuantiles::new(AddRemove, trap.attribute::<i64>(), 0..=9, [(1, 2)], e()).unwrap(),
        Choice::by(AddRemove, NoisyMax, CountScores::of([trap.predicate(), trap.predicate()]), e()).unwrap(),
        Choice::by(AddRemove, ExponentialMechanism, CountScores::of([trap.predicate(), trap.predicate()]), e()).unwrap(),
        Choice::by(AddRemove, PermuteAndFlip, CountScores::of([trap.predicate(), trap.predicate()]), e()).unwrap(),
        Choice::by(AddRemove, TopK(1), CountScores::of([trap.predicate(), trap.predicate()]), e()).unwrap(),
        Count::of(trap.predicate()).laplace(e()).unwrap().mapped(|count| count),
        Count::of(all()).laplace(e()).unwrap().mapped({
            let trap = trap.clone();
            move |count| { trap.spring(); count }
        }),
    }
}

fn all() -> Predicate<Rows> {
    Predicate::new("all", |_: &u32| true)
}

fn by_key(trap: &Trap) -> Partition<Rows, Keys<Key>> {
    let trap = trap.clone();
    let key = move |row: &u32| {
        trap.spring();
        Key(*row)
    };
    Partition::by_key("springs a trap", key, [Key(1), Key(2)]).unwrap()
}

/// Asserts that a child that its own code stops does not answer.
macro_rules! unanswered {
    ($trap:ident: $($mechanism:expr => $query:expr, $later:expr;)*) => {
        $(for $trap in Trap::both() {
            let child = $trap.filter.launch(&$mechanism).unwrap();
            $trap.arm();
            let stopped = AskError::Stopped($trap.stop);
            let asked = child.ask($query).map(|_| ());
            assert_eq!(asked, Err(stopped), "{}", stringify!($mechanism));
            assert!($trap.was_sprung(), "{}", stringify!($mechanism));
            assert_eq!(child.ask($later).map(|_| ()), Err(stopped));
        })*
    };
}

#[test]
fn a_child_that_stops_itself_while_it_answers_is_not_heard() {
    let search = || AboveThreshold::new(AddRemove, 5, 3, epsilon("1")).unwrap();
    let budget = || Accumulator::capped(PureDp.accumulator(), epsilon("1"));
    let weights = || {
        let domain: Rows = (0..10).collect();
        MultiplicativeWeights::new(domain, 100, 10, 3, epsilon("1")).unwrap()
    };
    let priced = |predicate| Priced::new(predicate, epsilon("0.1"));
    unanswered! { trap:
        search() => trap.predicate(), all();
        search().with_counts(epsilon("1")).unwrap() => trap.predicate(), all();
        weights() => trap.predicate(), all();
        QueryAnswerer::new(budget()) => priced(trap.predicate()), priced(all());
        search().through(LimitQueries::new(3)) => trap.predicate(), all();
        search().through(MapAnswer::new({
            let trap = trap.clone();
            move |answer: bool| { trap.spring(); answer }
        })) => all(), all();
    }
}

#[test]
fn an_individual_filter_that_a_query_stops_does_not_answer() {
    for trap in Trap::both() {
        let individual = IndividualFilter::new(PureDp, epsilon("1"));
        let individual = trap.filter.launch(&individual).unwrap();
        trap.arm();
        let count = |predicate| Count::of(predicate).laplace(epsilon!(0.1)).unwrap();
        let stopped = IndividualError::NotAnswered(AskError::Stopped(trap.stop));
        assert_eq!(individual.release(&count(trap.predicate())), Err(stopped));
        assert!(trap.was_sprung());
        assert_eq!(individual.release(&count(all())), Err(stopped));
    }
}

#[test]
fn parts_that_their_keys_stop_do_not_start() {
    for trap in Trap::both() {
        trap.arm();
        let key = {
            let trap = trap.clone();
            move |row: &u32| {
                trap.spring();
                row % 2
            }
        };
        let filters = [(0, Filter::concurrent(PureDp, epsilon("1")))];
        let parts = Parallel::new(key, filters).unwrap();
        let launched = trap.filter.launch(&parts).map(|_| ());
        assert_eq!(launched, Err(LaunchError::Failed));
        assert!(trap.was_sprung());
    }
}

/// Approximate zCDP has no theorem for children that are interleaved, so that its filter is
/// sequential. Two searches, each asked by what the other has answered, would be interleaved.
#[test]
fn approximate_zcdp_children_are_not_interleaved_from_inside() {
    type Searches = RunningFilter<Rows, Capped<account::Sum<ApproxZCdp>>, AddRemove, Sequential>;
    let below = |limit: u32| Predicate::new("below", move |row: &u32| *row < limit);
    let search = || AboveThreshold::new(AddRemove, 50, 9, epsilon("1")).unwrap();
    let budget = RhoDelta::new("100", "1e-6").unwrap();
    let filter: Searches = start(&Filter::sequential(ApproxZCdp, budget), rows()).unwrap();
    let first = filter.launch(&search()).unwrap();
    first.ask(below(90)).unwrap();
    let second = Arc::new(Mutex::new(None));
    let chosen_late = {
        let (filter, second) = (filter.clone(), Arc::clone(&second));
        Predicate::new("chosen late", move |row: &u32| {
            let mut second = second.lock().unwrap();
            let (_, limit) = second.get_or_insert_with(|| {
                let child = filter.launch(&search()).unwrap();
                let limit = if child.ask(below(70)).unwrap() {
                    10
                } else {
                    95
                };
                (child, limit)
            });
            *row < *limit
        })
    };
    let frozen = Err(AskError::Stopped(Stop::Frozen));
    assert_eq!(first.ask(chosen_late), frozen);
    assert_eq!(first.ask(below(90)), frozen);
    let (second, _) = second.lock().unwrap().take().unwrap();
    assert_eq!(second.ask(below(90)).map(|_| ()), Ok(()));
}
