//! Whatever was not stopped goes on unaffected.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::{FROZEN, Rewrap, Sequentially, often, once, rows, sequentially};
use crate::common::{Ask, at, epsilon};
use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::data::Predicate;
use queryables::mechanisms::{Priced, QueryAnswerer};
use queryables::middle::{Clamp, Middle, Move};
use queryables::prelude::*;

/// Freezes the child that it stands before, and then asks somebody else.
#[derive(Clone)]
struct AsksElsewhere {
    outer: Sequentially,
    elsewhere: Queryable<i64, i64>,
    heard: Arc<Mutex<Option<Result<i64, AskError>>>>,
}

impl Middle<u32, usize> for AsksElsewhere {
    type OuterQuery = u32;
    type OuterAnswer = ();

    fn on_query(&mut self, _: u32, _: &mut Coins<'_>) -> Result<Move<u32, ()>, Fault> {
        let later = self.outer.release(&once("0.1"));
        later.map_err(|_| Fault::Failed)?;
        *self.heard.lock().unwrap() = Some(self.elsewhere.ask(5));
        Ok(Move::Answer(()))
    }

    fn on_answer(&mut self, _: usize, _: &mut Coins<'_>) -> Result<Move<u32, ()>, Fault> {
        Err(Fault::Failed)
    }
}

#[test]
fn a_child_of_an_unrelated_filter_answers_whoever_was_frozen() {
    let other = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let echo = at(epsilon("0"), Ask::new(|_: &Vec<u8>, query: i64| Ok(query)));
    let unrelated = other.launch(&echo.through(Clamp::new(0, 100))).unwrap();
    let outer = sequentially();
    let heard = Arc::default();
    let middle = AsksElsewhere {
        outer: outer.clone(),
        elsewhere: unrelated.clone(),
        heard: Arc::clone(&heard),
    };
    let child = outer.launch(&often("0.1").through(middle)).unwrap();
    assert_eq!(child.ask(0), Err(FROZEN));
    assert_eq!(*heard.lock().unwrap(), Some(Ok(5)));
    assert_eq!(unrelated.ask(7), Ok(7));
}

/// Is in the middle of an answer, or not; freezes the asker on the way if it is told to.
#[derive(Clone)]
struct Careful {
    outer: Sequentially,
    answering: bool,
}

impl Middle<u32, usize> for Careful {
    type OuterQuery = bool;
    type OuterAnswer = usize;

    fn on_query(&mut self, freeze: bool, _: &mut Coins<'_>) -> Result<Move<u32, usize>, Fault> {
        assert!(!self.answering, "left in the middle of an answer");
        self.answering = true;
        if freeze {
            self.outer
                .release(&once("0.1"))
                .map_err(|_| Fault::Failed)?;
        }
        Ok(Move::Ask(0))
    }

    fn on_answer(&mut self, answer: usize, _: &mut Coins<'_>) -> Result<Move<u32, usize>, Fault> {
        self.answering = false;
        Ok(Move::Answer(answer))
    }

    fn on_fault(&mut self, fault: Fault, _: &mut Coins<'_>) -> Result<Move<u32, usize>, Fault> {
        self.answering = false;
        Err(fault)
    }
}

#[test]
fn an_unrelated_handle_answers_on_after_a_relay_to_it_was_frozen() {
    let unrelated = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let outer = sequentially();
    let middle = Careful {
        outer: outer.clone(),
        answering: false,
    };
    let inside = unrelated.launch(&often("0.1").through(middle)).unwrap();
    let relay = outer
        .launch(&at(epsilon("1"), Rewrap(inside.clone())))
        .unwrap();
    assert_eq!(relay.ask(true), Err(FROZEN));
    assert_eq!(inside.ask(false), Ok(3));
}

/// A machine that launches inside of its answers is told that a start has failed, whether it did or
/// was stopped.
#[test]
fn a_machine_that_launches_answers_on_after_its_asker_was_frozen() {
    let unrelated = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let rule = PureDp.accumulator().capped(epsilon("1"));
    let inside = unrelated.launch(&QueryAnswerer::new(rule)).unwrap();
    let outer = sequentially();
    let relay = outer
        .launch(&at(epsilon("1"), Rewrap(inside.clone())))
        .unwrap();
    let (freezes, armed) = (outer.clone(), AtomicBool::new(true));
    let freezing = Predicate::new("freezes the asker", move |_: &u8| {
        if armed.swap(false, Ordering::SeqCst) {
            freezes.release(&once("0.1")).unwrap();
        }
        true
    });
    let asked = relay.ask(Priced::new(freezing, epsilon("0.6")));
    assert_eq!(asked, Err(FROZEN));
    let all = Predicate::new("all", |_: &u8| true);
    let priced = |loss| Priced::new(all.clone(), epsilon(loss));
    assert!(matches!(inside.ask(priced("0.4")), Ok(Ok(_))));
    // What the asker did not get was charged.
    let over = inside.ask(priced("0.1"));
    assert!(matches!(over, Ok(Err(LaunchError::Refused(_)))), "{over:?}");
}
