//! A freeze or a halt against questions and launches.

use std::sync::Arc;

use queryables::machine::Stop;
use queryables::prelude::*;
use queryables::queryable::Relay;
use shuttle::thread;

use super::race;
use super::watch::{Once, Seven, Thrice, Watch, epsilon};

const FROZEN: AskError = AskError::Stopped(Stop::Frozen);
const HALTED: AskError = AskError::Stopped(Stop::Halted);

/// Asks twice while another thread stops the child. A query after the stop has returned fails, and
/// so does every query after a failed one.
fn ask_twice(child: &Queryable<(), u8>, watch: &Watch, stop: AskError) {
    let mut stopped = false;
    for _ in 0..2 {
        stopped |= watch.is_done();
        let answer = child.ask(());
        assert!(
            answer == Err(stop) || (answer == Ok(7) && !stopped),
            "{answer:?}, stopped before: {stopped}"
        );
        stopped |= answer.is_err();
    }
}

fn seven(loss: &str, watch: &Watch) -> Seven {
    Seven {
        loss: epsilon(loss),
        watch: watch.clone(),
    }
}

/// Without the check before a question inward (`Postprocessed`): random execution 7, PCT 3. If a
/// freeze stops nobody: the first of each.
#[test]
fn a_freeze_against_questions() {
    race(|| {
        let watch = Watch::default();
        let filter = Filter::sequential(PureDp, epsilon("1"));
        let filter = start(&filter, Arc::new(())).unwrap();
        let middle = Thrice(watch.clone(), 0);
        let child = filter
            .launch(&seven("0.1", &watch).through(middle))
            .unwrap();
        let asking = {
            let (child, watch) = (child.clone(), watch.clone());
            thread::spawn(move || ask_twice(&child, &watch, FROZEN))
        };
        assert_eq!(filter.release(&Once("0.1")), Ok(7));
        watch.done();
        assert_eq!(child.ask(()), Err(FROZEN));
        asking.join().unwrap();
        watch.assert_nobody_went_on();
    });
}

/// Answers with what it has learned of a later launch, as long as it was asked.
#[derive(Clone)]
struct Learns(Watch);

impl Private<PureDp, AddRemove> for Learns {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.1"))
    }
}

impl Mechanism<()> for Learns {
    type Machine = Self;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(self.clone())
    }
}

impl Machine for Learns {
    type Query = ();
    type Answer = bool;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<bool, Fault> {
        Ok(self.0.is_done())
    }
}

/// Whatever is given out knows nothing of what came later: the stop falls before an answer, into it,
/// or after it. Without the check after the code (`Coins::settled`): random execution 17.
#[test]
fn a_freeze_from_inside_an_answer() {
    race(|| {
        let watch = Watch::default();
        let filter = Filter::sequential(PureDp, epsilon("1"));
        let filter = start(&filter, Arc::new(())).unwrap();
        let child = filter.launch(&Learns(watch.clone())).unwrap();
        let asking = {
            let child = child.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    let answer = child.ask(());
                    assert!(answer == Ok(false) || answer == Err(FROZEN), "{answer:?}");
                }
            })
        };
        assert_eq!(filter.release(&Once("0.1")), Ok(7));
        watch.done();
        asking.join().unwrap();
        assert_eq!(child.ask(()), Err(FROZEN));
    });
}

/// Without the check after the loss (`Running::admit`): random execution 29, PCT 3. Without the
/// check before a question (`Child::ask`), or if a halt stops nobody: the first of each.
#[test]
fn a_halt_against_questions_and_launches() {
    race(|| {
        let watch = Watch::default();
        let outer = Filter::concurrent(PureDp, epsilon("1")).halting();
        let outer = start(&outer, Arc::new(())).unwrap();
        let inner = Filter::concurrent(PureDp, epsilon("1"));
        let inner = outer.launch(&inner).unwrap();
        let child = inner.launch(&seven("0.1", &watch)).unwrap();
        let asking = {
            let (child, watch) = (child.clone(), watch.clone());
            thread::spawn(move || ask_twice(&child, &watch, HALTED))
        };
        let launching = {
            let (inner, watch) = (inner.clone(), watch.by_others());
            thread::spawn(move || {
                let stopped = watch.is_done();
                match inner.launch(&seven("0.2", &watch)) {
                    Ok(child) => {
                        assert!(!stopped);
                        ask_twice(&child, &watch, HALTED);
                        true
                    }
                    Err(LaunchError::Stopped(Stop::Halted)) => false,
                    // Charged, and stopped before it started.
                    Err(LaunchError::Failed) => {
                        assert!(!stopped && !watch.is_seen());
                        true
                    }
                    Err(error) => panic!("{error}"),
                }
            })
        };
        let over = outer.release(&Once("5"));
        assert!(matches!(over, Err(LaunchError::Refused(_))), "{over:?}");
        watch.done();
        assert_eq!(child.ask(()), Err(HALTED));
        let halted = Err(LaunchError::Stopped(Stop::Halted));
        assert_eq!(inner.release(&Once("0.1")), halted);
        asking.join().unwrap();
        let charged = launching.join().unwrap();
        let spent = if charged { "0.3" } else { "0.1" };
        assert_eq!(inner.privacy_loss(), epsilon(spent));
        assert_eq!(outer.privacy_loss(), epsilon("1"));
        watch.assert_nobody_went_on();
    });
}

/// A handle that exists already.
struct Wrapped(Queryable<(), u8>);

impl Mechanism<()> for Wrapped {
    type Machine = Relay<Queryable<(), u8>>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Relay(self.0.clone()))
    }
}

impl Private<PureDp, AddRemove> for Wrapped {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.1"))
    }
}

/// A relay, either of whose owners is frozen while it is asked: the one of the handle inside, or
/// the one of the relay.
fn a_relay_is_asked(freezes_inside: bool) {
    let watch = Watch::default();
    let [inside, outside] = [(); 2].map(|()| {
        let filter = Filter::sequential(PureDp, epsilon("1"));
        start(&filter, Arc::new(())).unwrap()
    });
    let middle = Thrice(watch.clone(), 0);
    let original = inside
        .launch(&seven("0.1", &watch).through(middle))
        .unwrap();
    let relay = outside.launch(&Wrapped(original.clone())).unwrap();
    let asking = {
        let (relay, watch) = (relay.clone(), watch.clone());
        thread::spawn(move || ask_twice(&relay, &watch, FROZEN))
    };
    let frozen = if freezes_inside { &inside } else { &outside };
    assert_eq!(frozen.release(&Once("0.1")), Ok(7));
    watch.done();
    assert_eq!(relay.ask(()), Err(FROZEN));
    asking.join().unwrap();
    watch.assert_nobody_went_on();
    // Nobody else is disturbed.
    let expected = if freezes_inside { Err(FROZEN) } else { Ok(7) };
    assert_eq!(original.ask(()), expected);
}

/// Without the check before a question inward (`Postprocessed`): random execution 34, PCT 14.
#[test]
fn a_relay_is_asked_while_the_owner_of_the_original_is_frozen() {
    race(|| a_relay_is_asked(true));
}

/// If a relay does not hand on the context (`ask_for`): random execution 2, PCT 3. Without the check
/// before a question inward (`Postprocessed`): random execution 55, PCT 14.
#[test]
fn a_relay_is_asked_while_its_owner_is_frozen() {
    race(|| a_relay_is_asked(false));
}
