//! What was stopped stays stopped, however it is wrapped and wherever it is kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{FROZEN, HALTED, Rewrap, Sequentially, often, once, rows, sequentially};
use crate::common::{Run, at, epsilon};
use queryables::account::{Capped, Sum};
use queryables::compose::{
    Addressed, BoxedMechanism, ConcurrentComposition, FilterMachine, Message, Parallel, Reply,
    Sequential,
};
use queryables::machine::{CoinSource, NotPrivateSeededCoins, Stop, StopToken};
use queryables::middle::{Middle, Move};
use queryables::prelude::*;
use queryables::queryable::Child;

// ---- A handle wrapped into a mechanism is stopped with the handle --------------------------------

#[test]
fn a_frozen_or_halted_handle_cannot_be_thawed_by_launching_it_anew() {
    let outer = sequentially();
    let inner = outer.launch(&often("1")).unwrap();
    let wrapped = start(&Rewrap(inner.clone()), Arc::new(())).unwrap();
    assert_eq!(wrapped.ask(0), Ok(3));
    outer.release(&once("1")).unwrap();
    assert_eq!(inner.ask(0), Err(FROZEN));
    assert_eq!(wrapped.ask(0), Err(FROZEN));
    let again = start(&Rewrap(inner), Arc::new(())).unwrap();
    assert_eq!(again.ask(0), Err(FROZEN));

    let halting = Filter::concurrent(PureDp, epsilon("1")).halting();
    let outer = start(&halting, rows()).unwrap();
    let inner = outer.launch(&often("0.5")).unwrap();
    assert!(matches!(
        outer.release(&once("5")),
        Err(LaunchError::Refused(_))
    ));
    let again = start(&Rewrap(inner), Arc::new(())).unwrap();
    assert_eq!(again.ask(0), Err(HALTED));
}

#[test]
fn the_parts_of_a_parallel_composition_are_frozen_with_it() {
    let outer = sequentially();
    let filters = [0, 1].map(|parity| (parity, Filter::concurrent(PureDp, epsilon("1"))));
    let parts = outer
        .launch(&Parallel::new(|row: &u8| row % 2, filters).unwrap())
        .unwrap();
    let child = parts.part(&1).unwrap().launch(&often("0.1")).unwrap();
    assert_eq!(child.ask(0), Ok(2));
    outer.release(&once("1")).unwrap();
    assert_eq!(child.ask(0), Err(FROZEN));
    let part = parts.clone().part(&0).unwrap();
    assert_eq!(
        part.release(&once("0.1")),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
}

/// And the other way: stopping the machine that a relay is part of stops the relay, and everything
/// behind it that would still ask inward.
#[test]
fn a_relay_obeys_whoever_may_stop_the_machine_around_it() {
    let unrelated = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let outer = sequentially();
    // The handle's own machine has a middle that freezes the relay.
    let inside = unrelated
        .launch(&often("0.1").through(Freezes(outer.clone())))
        .unwrap();
    let relay = outer
        .launch(&at(epsilon("1"), Rewrap(inside.clone())))
        .unwrap();
    assert_eq!(relay.ask(0), Err(FROZEN));
    assert_eq!(relay.ask(0), Err(FROZEN));
    // Asked for itself, the same handle stays: nobody has stopped it.
    assert_eq!(inside.ask(0), Ok("3 after 3".into()));
}

// ---- A middle asks nothing after a freeze, at any depth -----------------------------------------

/// Launches on a handle that it holds, tells the inside what it heard, and answers with both.
#[derive(Clone)]
struct Freezes(Sequentially);

impl Middle<u32, usize> for Freezes {
    type OuterQuery = u32;
    type OuterAnswer = String;

    fn on_query(&mut self, _: u32, _: &mut Coins<'_>) -> Result<Move<u32, String>, Fault> {
        let later = self.0.release(&once("0.1")).map_err(|_| Fault::Failed)?;
        Ok(Move::Ask(later as u32))
    }

    fn on_answer(&mut self, answer: usize, _: &mut Coins<'_>) -> Result<Move<u32, String>, Fault> {
        Ok(Move::Answer(format!("{answer} after 3")))
    }
}

#[test]
fn a_middle_is_frozen_through_a_compositor_in_between() {
    let outer = sequentially();
    let direct = outer
        .launch(&often("0.1").through(Freezes(outer.clone())))
        .unwrap();
    assert_eq!(direct.ask(0), Err(FROZEN));

    for between in [
        Filter::sequential(PureDp, epsilon("1")),
        Filter::sequential(PureDp, epsilon("1")).halting(),
    ] {
        let inner = outer.launch(&Addressed::new(between)).unwrap();
        let mechanism = often("0.1").through(Freezes(outer.clone()));
        assert_eq!(
            inner.ask(Message::Launch(mechanism)),
            Ok(Reply::Launched(0))
        );
        assert_eq!(inner.ask(Message::Ask(0, 0)), Err(FROZEN));
        assert_eq!(inner.ask(Message::Ask(0, 0)), Err(FROZEN));
    }
}

/// A machine with a filter of its own inside, which launches at the first question.
struct Owner<M: Mechanism<Vec<u8>>> {
    filter: FilterMachine<Vec<u8>, Capped<Sum<PureDp>>>,
    child: Option<Child<M::Machine>>,
    mechanism: M,
}

#[derive(Clone)]
struct Owns<M>(M);

impl<M: Mechanism<Vec<u8>> + Clone> Mechanism<Vec<u8>> for Owns<M> {
    type Machine = Owner<M>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Owner<M>, Fault> {
        let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
        Ok(Owner {
            filter: filter.start(rows, coins)?,
            child: None,
            mechanism: self.0.clone(),
        })
    }
}

impl<M> Machine for Owner<M>
where
    M: Mechanism<Vec<u8>, Machine: Machine> + Private<PureDp, AddRemove>,
{
    type Query = <M::Machine as Machine>::Query;
    type Answer = Result<<M::Machine as Machine>::Answer, AskError>;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        if self.child.is_none() {
            let child = self.filter.launch(&self.mechanism, coins);
            self.child = Some(child.map_err(|_| Fault::Failed)?);
        }
        let child = self.child.as_mut().ok_or(Fault::Failed)?;
        Ok(child.ask(query, coins))
    }
}

#[test]
fn a_middle_is_frozen_through_a_machine_that_owns_a_filter() {
    let outer = sequentially();
    let mechanism = often("0.1").through(Freezes(outer.clone()));
    let owner = outer.launch(&at(epsilon("1"), Owns(mechanism))).unwrap();
    assert_eq!(owner.ask(0), Err(FROZEN));
    assert_eq!(owner.ask(0), Err(FROZEN));
}

#[test]
fn a_composition_starts_nothing_more_once_it_is_frozen() {
    let outer = sequentially();
    let started = Arc::new(AtomicUsize::new(0));
    let counted = |started: &Arc<AtomicUsize>| {
        let started = Arc::clone(started);
        at(
            epsilon("0.1"),
            Run::new(move |rows: &Vec<u8>| {
                started.fetch_add(1, Ordering::SeqCst);
                Ok(rows.len())
            }),
        )
    };
    let later = outer.clone();
    let first = counted(&started).mapped(move |rows: usize| {
        later.release(&once("0.1")).unwrap();
        rows
    });
    type Boxed = BoxedMechanism<Vec<u8>, PureDp, AddRemove, (), usize>;
    let both = [
        Boxed::new(PureDp, first),
        Boxed::new(PureDp, counted(&started)),
    ];
    let launched = outer.launch(&ConcurrentComposition::new(both));
    assert_eq!(launched.map(|_| ()), Err(LaunchError::Failed));
    assert_eq!(started.load(Ordering::SeqCst), 1);
    // Charged: it had begun. And the later launch, too.
    assert_eq!(outer.privacy_loss(), epsilon("0.3"));
}

// ---- Children of a machine are stopped with it, wherever they are kept ------------------------------

type Kept = Child<crate::common::Asking<Vec<u8>, u32, usize>>;

/// Starts a filter that has launched a child already, and keeps that child aside.
#[derive(Clone)]
struct Stashes(Arc<Mutex<Option<Kept>>>);

impl Mechanism<Vec<u8>> for Stashes {
    type Machine = FilterMachine<Vec<u8>, Capped<Sum<PureDp>>>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let mut filter = Filter::concurrent(PureDp, epsilon("1")).start(rows, coins)?;
        let child = filter.launch(&often("0.5"), coins);
        *self.0.lock().unwrap() = Some(child.map_err(|_| Fault::Failed)?);
        Ok(filter)
    }
}

#[test]
fn a_child_that_a_machine_launched_before_it_became_a_handle_is_frozen_with_it() {
    let outer = sequentially();
    let kept = Arc::new(Mutex::new(None));
    let inner = outer
        .launch(&at(epsilon("1"), Stashes(Arc::clone(&kept))))
        .unwrap();
    let mut child = kept.lock().unwrap().take().unwrap();
    let mut coins = NotPrivateSeededCoins::new(0);
    assert_eq!(child.ask(0, &mut coins.coins()), Ok(3));
    outer.release(&once("0.1")).unwrap();
    assert_eq!(child.ask(0, &mut coins.coins()), Err(FROZEN));
    assert_eq!(
        inner.release(&once("0.1")),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
}

/// The same with a filter that stops children: nobody could stop that child by a later launch.
struct StashesOfStopping(Arc<Mutex<Option<Kept>>>);

impl Mechanism<Vec<u8>> for StashesOfStopping {
    type Machine = FilterMachine<Vec<u8>, Capped<Sum<PureDp>>, AddRemove, Sequential>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let mut filter = Filter::sequential(PureDp, epsilon("1")).start(rows, coins)?;
        let child = filter.launch(&often("0.5"), coins);
        *self.0.lock().unwrap() = Some(child.map_err(|_| Fault::Failed)?);
        Ok(filter)
    }
}

#[test]
fn a_child_that_a_sequential_machine_launched_is_not_interleaved_with_those_of_its_handle() {
    let kept = Arc::new(Mutex::new(None));
    let inner = start(&StashesOfStopping(Arc::clone(&kept)), rows()).unwrap();
    let later = inner.launch(&often("0.1")).unwrap();
    assert_eq!(later.ask(0), Ok(3));
    let mut child = kept.lock().unwrap().take().unwrap();
    let mut coins = NotPrivateSeededCoins::new(0);
    assert_eq!(child.ask(0, &mut coins.coins()), Err(FROZEN));
    assert_eq!(later.ask(0), Ok(3));
}

#[test]
fn a_machine_that_was_stopped_charges_nothing() {
    let (token, stopper) = StopToken::default().extended();
    let mut source = NotPrivateSeededCoins::new(0);
    let coins: &mut Coins<'_> = &mut source.coins();
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let mut machine = filter.start(&rows(), coins).unwrap();
    coins.under(&token, |coins| {
        assert_eq!(machine.release(&once("0.1"), coins), Ok(3));
        stopper.stop(Stop::Frozen);
        let stopped = Err(LaunchError::Stopped(Stop::Frozen));
        assert_eq!(machine.release(&once("0.1"), coins), stopped);
        assert_eq!(
            machine.launch(&often("0.1"), coins).map(|_| ()),
            stopped.map(|_| ())
        );
    });
    assert_eq!(machine.privacy_loss(), epsilon("0.1"));

    // Started under a token: whatever it is run with later.
    let (token, stopper) = StopToken::default().extended();
    let mut machine = coins
        .under(&token, |coins| filter.start(&rows(), coins))
        .unwrap();
    stopper.stop(Stop::Halted);
    let stopped = Err(LaunchError::Stopped(Stop::Halted));
    assert_eq!(machine.release(&once("0.1"), coins), stopped);
    assert_eq!(machine.privacy_loss(), epsilon("0"));
}
