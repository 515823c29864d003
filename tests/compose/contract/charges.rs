//! What is admitted is charged before it runs, once; and nobody waits for a child.

use std::sync::{Arc, Mutex, mpsc};

use super::{SECRET, secret};
use crate::common::{Answer, Ask, Count, Run, at, epsilon};
use queryables::compose::BoxedMechanism;
use queryables::prelude::*;

// 3. An admitted launch is charged before the mechanism runs, and the charge stands.

#[test]
fn the_charge_is_there_when_the_mechanism_starts() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let same = filter.clone();
    let peek = Run::new(move |_: &String| Ok(same.privacy_loss()));
    assert_eq!(
        filter.release(&at(epsilon("0.4"), peek)),
        Ok(epsilon("0.4"))
    );
}

#[test]
fn a_mechanism_that_fails_or_panics_is_charged_and_tells_nothing() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let sibling = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let fail = Run::new(|_: &String| Err::<(), _>(Fault::Failed));
    let reject = Run::new(|_: &String| Err::<(), _>(Fault::InvalidQuery("a reason")));
    let panic = Run::new(|data: &String| -> Result<(), Fault> { panic!("the data is {data}") });
    for (mechanism, spent) in [(fail, "0.2"), (reject, "0.3"), (panic, "0.4")] {
        let error = filter.release(&at(epsilon("0.1"), mechanism)).unwrap_err();
        assert_eq!(error, LaunchError::Failed);
        assert_eq!(
            error.to_string(),
            "the mechanism failed; its loss is charged"
        );
        assert_eq!(filter.privacy_loss(), epsilon(spent));
    }
    assert_eq!(sibling.ask(()), Ok(1));
    assert_eq!(
        filter.release(&at(epsilon("0.6"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn a_child_that_fails_or_panics_later_is_closed_and_nothing_else_is() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let sibling = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let mechanism = Ask::new(|data: &String, panics: bool| -> Result<(), Fault> {
        if panics {
            panic!("the data is {data}");
        }
        Err(Fault::Failed)
    });
    let mechanism = at(epsilon("0.1"), mechanism);
    for panics in [false, true] {
        let child = filter.launch(&mechanism).unwrap();
        let error = child.ask(panics).unwrap_err();
        assert_eq!(error, AskError::Fault(Fault::Failed));
        assert!(!format!("{error} {error:?}").contains(SECRET));
        assert_eq!(child.ask(panics), Err(AskError::Closed));
        assert_eq!(child.clone().ask(panics), Err(AskError::Closed));
    }
    assert_eq!(filter.privacy_loss(), epsilon("0.3"));
    assert_eq!(sibling.ask(()), Ok(1));
}

#[test]
fn what_a_failed_child_held_is_dropped_at_once() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let mechanism = BoxedMechanism::new(PureDp, at(epsilon("0.1"), Holder(inside)));
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter.launch(&mechanism).unwrap();
    drop(mechanism);
    assert_eq!(Arc::strong_count(&held), 2);
    assert_eq!(child.ask(()), Err(AskError::Fault(Fault::Failed)));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_panic_while_dropping_tells_nothing() {
    /// Panics whenever it can, and so does its payload.
    struct Vicious(bool);

    impl Drop for Vicious {
        fn drop(&mut self) {
            if !std::mem::replace(&mut self.0, true) {
                panic!("{SECRET}");
            }
        }
    }

    impl Machine for Vicious {
        type Query = bool;
        type Answer = ();

        fn step(&mut self, fail: bool, _: &mut Coins<'_>) -> Result<(), Fault> {
            if fail {
                Err(Fault::Failed)
            } else {
                std::panic::panic_any(Vicious(false))
            }
        }
    }

    #[derive(Clone)]
    struct Start;

    impl Mechanism<String> for Start {
        type Machine = Vicious;

        fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Vicious, Fault> {
            Ok(Vicious(false))
        }
    }

    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    for fail in [true, false] {
        let child = filter.launch(&at(epsilon("0.1"), Start)).unwrap();
        assert_eq!(child.ask(fail), Err(AskError::Fault(Fault::Failed)));
        assert_eq!(child.ask(fail), Err(AskError::Closed));
    }
    // One that never failed panics as its handle goes.
    drop(filter.launch(&at(epsilon("0.1"), Start)).unwrap());
    assert_eq!(filter.privacy_loss(), epsilon("0.3"));

    /// Panics as a copy of it is dropped, of which an odometer that keeps maps has one.
    struct Copied(bool);

    impl Clone for Copied {
        fn clone(&self) -> Self {
            Self(true)
        }
    }

    impl Drop for Copied {
        fn drop(&mut self) {
            if self.0 {
                panic!("{SECRET}");
            }
        }
    }

    impl Mechanism<String> for Copied {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            Ok(Released(()))
        }
    }

    impl Private<PureDp, AddRemove> for Copied {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            Ok(epsilon("0.1"))
        }
    }

    let odometer = Odometer::concurrent(PureDp).keeping_maps();
    let odometer = start(&odometer, secret()).unwrap();
    odometer.release(&Copied(false)).unwrap();
    drop(odometer);
}

/// Holds something, and fails.
#[derive(Clone)]
struct Holder(#[expect(dead_code, reason = "held, not read")] Arc<()>);

impl Mechanism<String> for Holder {
    type Machine = Self;

    fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(self.clone())
    }
}

impl Machine for Holder {
    type Query = ();
    type Answer = ();

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Err(Fault::Failed)
    }
}

// 4. A child is charged once, at launch; its siblings and its parent are never blocked by it.

#[test]
fn asking_a_child_costs_nothing_more() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter
        .launch(&at(epsilon("0.5"), Count::default()))
        .unwrap();
    for asked in 1..=100 {
        assert_eq!(child.ask(()), Ok(asked));
        assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    }
}

/// A mechanism whose answer waits until it is told to go on, and the two ends of that.
fn waiting() -> (Ask<String, (), ()>, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let channels = Mutex::new((entered, may_go_on));
    let mechanism = Ask::new(move |_: &String, ()| {
        let channels = channels.lock().map_err(|_| Fault::Failed)?;
        channels.0.send(()).map_err(|_| Fault::Failed)?;
        channels.1.recv().map_err(|_| Fault::Failed)
    });
    (mechanism, has_entered, go_on)
}

#[test]
fn nobody_waits_for_a_child_that_is_answering() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let (mechanism, has_entered, go_on) = waiting();
    let slow = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    let sibling = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    std::thread::scope(|threads| {
        let answer = threads.spawn(|| slow.ask(()));
        has_entered.recv().unwrap();
        // The slow child is now inside its answer.
        assert_eq!(sibling.ask(()), Ok(1));
        assert_eq!(filter.privacy_loss(), epsilon("0.2"));
        assert_eq!(
            filter.release(&at(epsilon("0.1"), Answer::default())),
            Ok(1)
        );
        let other = filter
            .launch(&at(epsilon("0.1"), Count::default()))
            .unwrap();
        assert_eq!(other.ask(()), Ok(1));
        go_on.send(()).unwrap();
        assert_eq!(answer.join().unwrap(), Ok(()));
    });
}

#[test]
fn nobody_waits_for_a_child_that_is_starting() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let channels = Mutex::new((entered, may_go_on));
    let slow = Run::new(move |_: &String| {
        let channels = channels.lock().map_err(|_| Fault::Failed)?;
        channels.0.send(()).map_err(|_| Fault::Failed)?;
        channels.1.recv().map_err(|_| Fault::Failed)
    });
    let slow = at(epsilon("0.1"), slow);
    std::thread::scope(|threads| {
        let launching = threads.spawn(|| filter.release(&slow));
        has_entered.recv().unwrap();
        assert_eq!(filter.privacy_loss(), epsilon("0.1"));
        assert_eq!(
            filter.release(&at(epsilon("0.1"), Answer::default())),
            Ok(1)
        );
        go_on.send(()).unwrap();
        assert_eq!(launching.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_panic_in_one_child_while_its_sibling_answers_on_another_thread() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let (mechanism, has_entered, go_on) = waiting();
    let sibling = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    let panics = Ask::new(|data: &String, ()| -> Result<(), Fault> { panic!("{data}") });
    let panics = filter.launch(&at(epsilon("0.1"), panics)).unwrap();
    std::thread::scope(|threads| {
        let answer = threads.spawn(|| sibling.ask(()));
        has_entered.recv().unwrap();
        assert_eq!(panics.ask(()), Err(AskError::Fault(Fault::Failed)));
        go_on.send(()).unwrap();
        assert_eq!(answer.join().unwrap(), Ok(()));
    });
    assert_eq!(panics.ask(()), Err(AskError::Closed));
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
}
