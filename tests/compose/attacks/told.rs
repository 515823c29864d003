//! What is told, and to whom, when code stops its own child: no answer, and no fault that was
//! chosen after the stop.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use super::itself::Trap;
use super::{FROZEN, Rewrap, once, rows, sequentially};
use crate::common::{Ask, Run, at, epsilon};
use queryables::compose::{AddressedFilter, AnyMechanism, Message, Reply};
use queryables::data::Predicate;
use queryables::machine::Stop;
use queryables::mechanisms::{AboveThreshold, Count, GradientDescent, Lattice, Objective};
use queryables::middle::{Middle, Move};
use queryables::number::Rho;
use queryables::prelude::*;

#[test]
fn a_stop_hides_the_fault_of_the_code_that_made_it() {
    let faults = [
        Some(Fault::InvalidQuery("chosen after the stop")),
        Some(Fault::Exhausted),
        Some(Fault::RoundLimit(7)),
        Some(Fault::Failed),
        Some(Fault::Stopped(Stop::Halted)),
        // A panic.
        None,
    ];
    for fault in faults {
        let filter = sequentially();
        let later = filter.clone();
        let stops = Ask::new(move |_: &Vec<u8>, ()| -> Result<usize, Fault> {
            later.release(&once("0.1")).unwrap();
            Err(fault.unwrap_or_else(|| panic!("chosen after the stop")))
        });
        let child = filter.launch(&at(epsilon("0.1"), stops)).unwrap();
        assert_eq!(child.ask(()), Err(FROZEN), "{fault:?}");
        assert_eq!(child.ask(()), Err(FROZEN), "{fault:?}");
    }
}

/// A relay's question that stops the machine around the relay: that machine gets no answer, others
/// do. But what has failed meanwhile is closed for everybody, because it may be half changed.
#[test]
fn a_handle_that_fails_as_it_stops_a_relay_is_closed_for_others() {
    for fails in [false, true] {
        let outer = sequentially();
        let unrelated = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
        let later = outer.clone();
        let stops = Ask::new(move |rows: &Vec<u8>, ()| {
            later.release(&once("0.1")).unwrap();
            assert!(!fails, "on purpose");
            Ok(rows.len())
        });
        let inside = unrelated.launch(&at(epsilon("0.1"), stops)).unwrap();
        let relay = at(epsilon("1"), Rewrap(inside.clone()));
        let relay = outer.launch(&relay).unwrap();
        assert_eq!(relay.ask(()), Err(FROZEN));
        let heard = if fails { Err(AskError::Closed) } else { Ok(3) };
        assert_eq!(inside.ask(()), heard);
    }
}

/// Writes down what it is told, and passes it on.
#[derive(Clone, Default)]
struct Listens(Arc<Mutex<Vec<Result<bool, Fault>>>>);

impl Middle<Predicate<Vec<u32>>, bool> for Listens {
    type OuterQuery = Predicate<Vec<u32>>;
    type OuterAnswer = bool;

    fn on_query(
        &mut self,
        query: Predicate<Vec<u32>>,
        _: &mut Coins<'_>,
    ) -> Result<Move<Predicate<Vec<u32>>, bool>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(
        &mut self,
        answer: bool,
        _: &mut Coins<'_>,
    ) -> Result<Move<Predicate<Vec<u32>>, bool>, Fault> {
        self.0.lock().unwrap().push(Ok(answer));
        Ok(Move::Answer(answer))
    }

    fn on_fault(
        &mut self,
        fault: Fault,
        _: &mut Coins<'_>,
    ) -> Result<Move<Predicate<Vec<u32>>, bool>, Fault> {
        self.0.lock().unwrap().push(Err(fault));
        Err(fault)
    }
}

#[test]
fn a_middle_is_told_of_the_stop_and_not_the_answer() {
    for trap in Trap::both() {
        let listens = Listens::default();
        let search = AboveThreshold::new(AddRemove, 5, 3, epsilon("1")).unwrap();
        let child = search.through(listens.clone());
        let child = trap.filter.launch(&child).unwrap();
        trap.arm();
        let stopped = AskError::Stopped(trap.stop);
        assert_eq!(child.ask(trap.predicate()), Err(stopped));
        assert_eq!(*listens.0.lock().unwrap(), [Err(trap.stop.into())]);
    }
}

#[test]
fn a_function_is_not_told_an_answer_that_is_withheld() {
    for trap in Trap::both() {
        trap.arm();
        let told = Arc::new(Mutex::new(Vec::new()));
        let tells = Arc::clone(&told);
        let count = Count::of(trap.predicate()).laplace(epsilon!(1)).unwrap();
        let count = count.mapped(move |count| tells.lock().unwrap().push(count));
        assert_eq!(trap.filter.release(&count), Err(LaunchError::Failed));
        assert_eq!(*told.lock().unwrap(), [0_i64; 0]);
    }
}

thread_local! {
    static CONVERTED: Cell<u32> = const { Cell::new(0) };
}

/// Counts how often an answer was converted to it.
#[derive(Debug, PartialEq)]
struct Converted;

impl From<i64> for Converted {
    fn from(_: i64) -> Self {
        CONVERTED.set(CONVERTED.get() + 1);
        Self
    }
}

#[test]
fn a_conversion_is_not_told_an_answer_that_is_withheld() {
    for trap in Trap::both() {
        let filter = AddressedFilter::<_, (), Converted>::new(trap.filter.clone());
        let count = Count::of(trap.predicate()).laplace(epsilon!(1)).unwrap();
        let release = || Message::Launch(AnyMechanism::once(count.clone()));
        assert_eq!(filter.ask(release()), Reply::Answered(Converted));
        trap.arm();
        let failed = Reply::NotLaunched(LaunchError::Failed);
        assert_eq!(filter.ask(release()), failed);
        assert_eq!(CONVERTED.replace(0), 1);
    }
}

/// Each gradient is told the weights, which are made of the sums before it.
#[test]
fn a_descent_goes_no_further_than_the_step_in_which_it_was_stopped() {
    let rho = |text: &str| text.parse::<Rho>().unwrap();
    let outer = start(&Filter::sequential(ZCdp, rho("10")), rows()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (later, tells) = (outer.clone(), Arc::clone(&told));
    let gradient = move |weights: &[f64], _: &u8, to: &mut [f64]| {
        let mut told = tells.lock().unwrap();
        if told.is_empty() {
            let once = Run::new(|rows: &Vec<u8>| Ok(rows.len()));
            later.release(&at(rho("0.1"), once)).unwrap();
        }
        told.push(weights.to_vec());
        to[0] = 1.0;
    };
    let lattice = Lattice::in_steps(-10, 1024);
    let objective = Objective::new("stops", 1, gradient);
    let descent = GradientDescent::new(objective, lattice, 3, 0.1, rho("0.1")).unwrap();
    for descent in [descent.clone(), descent.filtered(3).unwrap()] {
        told.lock().unwrap().clear();
        let released = outer.release(&descent).map(|_| ());
        assert_eq!(released, Err(LaunchError::Failed));
        // One pass over three rows, with the weights at which it started.
        assert_eq!(*told.lock().unwrap(), [[0.0], [0.0], [0.0]]);
    }
}
