//! Measurements that stay on one thread, and what must not be left behind on it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use crate::common::{Answer, Touches, at, epsilon};
use crate::support::*;
use opendp::combinators::make_privacy_filter;
use opendp::core::{Function, Odometer as OpenDpOdometer, PrivacyMap};
use opendp::measures::{Approximate, MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::SymmetricDistance;
use queryables::compose::{RunningFilterOf, Sequential};
use queryables::machine::Stop;
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, RhoDelta};
use queryables::queryable::LocalQueryable;
use queryables_opendp::{InDomain, Measured};

use crate::launch::pure;

/// A handle to a compositor of OpenDP's.
type Handle = LocalQueryable<OnRows<MaxDivergence>, usize>;

#[test]
fn a_question_from_inside_its_own_answer_is_an_error() {
    let filter = start(&pure("1"), data()).unwrap();
    let own: Rc<RefCell<Option<Handle>>> = Rc::default();
    let heard = Rc::new(RefCell::new(None));
    let (runs, inner, note) = (Tally::default(), Rc::clone(&own), Rc::clone(&heard));
    let query = measurement::<MaxDivergence, usize>(
        Function::new(move |_: &Vec<i32>| {
            let question = stating(0.25, &Tally::default());
            let answer = inner.borrow().as_ref().map(|handle| handle.ask(question));
            *note.borrow_mut() = answer;
            7
        }),
        PrivacyMap::new(|_| 0.25),
    );
    let child = filter
        .launch_local(&Measured::new(composed::<MaxDivergence>(vec![0.5; 2])))
        .unwrap();
    *own.borrow_mut() = Some(child.clone());
    assert_eq!(child.ask(query), Ok(7));
    assert_eq!(*heard.borrow(), Some(Err(AskError::Busy)));
    assert_eq!(child.ask(stating(0.25, &runs)), Ok(1));
    // The handle held itself.
    own.borrow_mut().take();
}

#[test]
fn a_halt_stops_children_that_stay_on_their_thread() {
    let filter = start(&pure("1").halting(), data()).unwrap();
    let child = filter
        .launch_local(&Measured::new(composed::<MaxDivergence>(vec![0.5])))
        .unwrap();
    let runs = Tally::default();
    let refused = filter.release(&Measured::new(stating::<MaxDivergence>(0.75, &runs)));
    assert!(
        matches!(refused, Err(LaunchError::Refused(_))),
        "{refused:?}"
    );
    assert_eq!(
        child.ask(stating(0.5, &runs)),
        Err(AskError::Stopped(Stop::Halted))
    );
    assert_eq!(runs.count(), 0);
}

/// A running compositor of OpenDP's.
type Running = opendp::interactive::Queryable<OnRows<MaxDivergence>, usize>;

/// Makes a value of a queryable, and keeps the queryable.
fn stashing(loss: f64) -> (OnRows<MaxDivergence, u8>, Rc<RefCell<Option<Running>>>) {
    let stash: Rc<RefCell<Option<Running>>> = Rc::default();
    let kept = Rc::clone(&stash);
    let plain = composed::<MaxDivergence>(vec![loss; 2])
        >> Function::new(move |queryable: &Running| {
            *kept.borrow_mut() = Some(queryable.clone());
            0
        });
    (plain.unwrap(), stash)
}

#[test]
fn a_queryable_that_was_kept_aside_answers_nobody() {
    let runs = Tally::default();
    // In OpenDP's hands alone, it does.
    let (plain, stash) = stashing(0.25);
    plain.invoke(data().value()).unwrap();
    let mut kept = stash.borrow_mut().take().unwrap();
    assert_eq!(kept.eval(&stating(0.25, &runs)), Ok(1));

    // What was released here has answered, and that is all.
    let filter = start(&Filter::noninteractive(PureDp, epsilon("1")), data()).unwrap();
    let (plain, stash) = stashing(0.25);
    assert_eq!(filter.release(&Measured::new(plain)), Ok(0));
    let mut kept = stash.borrow_mut().take().unwrap();
    assert_eq!(
        message(kept.eval(&stating(0.25, &runs))),
        "asked from outside"
    );
    assert_eq!(runs.count(), 1);
}

#[test]
fn a_measurement_may_talk_to_its_own_queryable() {
    let runs = Tally::default();
    let count = runs.clone();
    let talking = composed::<MaxDivergence>(vec![0.25; 2])
        >> Function::new_fallible(move |queryable: &Running| {
            let mut queryable = queryable.clone();
            Ok(queryable.eval(&stating(0.25, &count))? + queryable.eval(&stating(0.25, &count))?)
        });
    let filter = start(&pure("1"), data()).unwrap();
    assert_eq!(filter.release(&Measured::new(talking.unwrap())), Ok(3));
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
}

/// Postprocessing that launches a sibling in the middle of it has two children open at once, and
/// gets no more of the first.
#[test]
fn a_measurement_does_not_talk_on_after_a_freeze() {
    type Approx = Approximate<ZeroConcentratedDivergence>;
    let runs = Tally::default();
    let talking = |sibling: Box<dyn Fn() -> usize>| {
        let count = runs.clone();
        let talk = move |queryable: &opendp::interactive::Queryable<OnRows<Approx>, usize>| {
            let mut queryable = queryable.clone();
            queryable.eval(&stating((0.0, 0.0), &count))?;
            sibling();
            queryable.eval(&stating((0.0, 0.0), &count))
        };
        let both = composed::<Approx>(vec![(0.0, 0.0); 2]) >> Function::new_fallible(talk);
        Measured::new(both.unwrap())
    };
    let sibling = || at(RhoDelta::default(), Answer(Touches::default()));
    let budget = RhoDelta::new("1", "1e-6").unwrap();

    let filter = start(&Filter::sequential(ApproxZCdp, budget), data()).unwrap();
    assert_eq!(filter.release(&talking(Box::new(|| 0))), Ok(2));
    let same = filter.clone();
    let launching = talking(Box::new(move || same.release(&sibling()).unwrap()));
    assert_eq!(filter.release(&launching), Err(LaunchError::Failed));
    assert_eq!((runs.count(), filter.launched()), (3, 3));

    // What answers once is over when the next is launched.
    let filter = start(&Filter::noninteractive(ApproxZCdp, budget), data()).unwrap();
    let same = filter.clone();
    let launching = talking(Box::new(move || same.release(&sibling()).unwrap()));
    assert_eq!(filter.release(&launching), Err(LaunchError::Failed));
    assert_eq!((runs.count(), filter.launched()), (4, 2));

    // Where children may be interleaved, so may these.
    let talking = composed::<MaxDivergence>(vec![0.0; 2]);
    let filter = start(&pure("1"), data()).unwrap();
    let (same, count) = (filter.clone(), runs.clone());
    let talking = talking
        >> Function::new_fallible(move |queryable: &Running| {
            let mut queryable = queryable.clone();
            queryable.eval(&stating(0.0, &count))?;
            let sibling = at(Epsilon::ZERO, Answer(Touches::default()));
            same.release(&sibling).unwrap();
            queryable.eval(&stating(0.0, &count))
        });
    assert_eq!(filter.release(&Measured::new(talking.unwrap())), Ok(6));
}

/// A measurement whose own function makes a launch.
fn launching(sibling: impl Fn() + 'static) -> OnRows<MaxDivergence> {
    let function = move |rows: &Vec<i32>| {
        sibling();
        rows.len()
    };
    measurement(Function::new(function), PrivacyMap::new(|_| 0.25))
}

/// A filter, and code that stops the latest of its children: by a freeze, or by a halt.
fn stoppable(stop: Stop) -> (impl Fn() + Clone, Sequentially) {
    let filter = Filter::sequential(PureDp, epsilon("9")).halting();
    let filter = start(&filter, data()).unwrap();
    let same = filter.clone();
    let stops = move || {
        let loss = if stop == Stop::Halted { "10" } else { "0.5" };
        let sibling = at(epsilon(loss), Answer(Touches::default()));
        assert_eq!(same.release(&sibling).is_ok(), stop == Stop::Frozen);
    };
    (stops, filter)
}

type Sequentially = RunningFilterOf<InDomain<Rows>, PureDp, AddRemove, Sequential>;

/// It could say what it has heard of the sibling.
#[test]
fn a_measurement_that_freezes_itself_releases_nothing() {
    for stop in [Stop::Frozen, Stop::Halted] {
        let (stops, filter) = stoppable(stop);
        let released = filter.release(&Measured::new(launching(stops)));
        assert_eq!(released, Err(LaunchError::Failed));
    }
}

#[test]
fn a_queryable_that_its_own_query_freezes_does_not_answer() {
    for stop in [Stop::Frozen, Stop::Halted] {
        let (stops, filter) = stoppable(stop);
        let composed = Measured::new(composed::<MaxDivergence>(vec![0.25; 3]));
        let child = filter.launch_local(&composed).unwrap();
        let plain = || launching(|| ());
        assert_eq!(child.ask(plain()), Ok(3));
        assert_eq!(child.ask(launching(stops)), Err(AskError::Stopped(stop)));
        assert_eq!(child.ask(plain()), Err(AskError::Stopped(stop)));
    }
}

/// OpenDP's filter over an odometer that panics as it starts.
fn panicking_filter() -> OnRows<MaxDivergence, OpenDpFilter<MaxDivergence>> {
    let odometer = OpenDpOdometer::new(
        rows(),
        SymmetricDistance,
        MaxDivergence,
        Function::new(|_: &Vec<i32>| -> OpenDpFilter<MaxDivergence> { panic!("on purpose") }),
    );
    make_privacy_filter(odometer.unwrap(), 1, 1.0).unwrap()
}

#[test]
fn a_panic_leaves_no_hook_behind() {
    let asks_afterwards = || {
        let mut queryable = composed::<MaxDivergence>(vec![0.5])
            .invoke(data().value())
            .unwrap();
        let runs = Tally::default();
        queryable
            .eval(&stating(0.5, &runs))
            .map_err(|error| error.message)
    };
    // Each on its own thread, because the hook is the thread's.
    let alone = thread::spawn(move || {
        catch_unwind(AssertUnwindSafe(|| {
            panicking_filter().invoke(data().value()).is_ok()
        }))
        .unwrap_err();
        asks_afterwards()
    });
    let error = alone.join().unwrap().unwrap_err().unwrap();
    assert!(error.starts_with("query must be of type"), "{error}");

    let here = thread::spawn(move || {
        let filter = start(&pure("2"), data()).unwrap();
        let number = panicking_filter() >> Function::new(|_: &OpenDpFilter<MaxDivergence>| 0_u8);
        let answer = filter.release(&Measured::new(number.unwrap()));
        assert_eq!(answer, Err(LaunchError::Failed));
        assert_eq!(filter.privacy_loss(), epsilon("1"));
        asks_afterwards()
    });
    assert_eq!(here.join().unwrap(), Ok(1));
}

#[test]
fn inside_a_compositor_of_opendp_its_hook_stays_in_force() {
    type Approx = Approximate<ZeroConcentratedDivergence>;
    let kept: Rc<RefCell<Option<Handle>>> = Rc::default();
    let keep = Rc::clone(&kept);
    // What OpenDP composes one after the other, and must be able to freeze, uses this crate inside.
    let inside = measurement::<Approx, usize>(
        Function::new(move |rows_: &Vec<i32>| {
            let member = Arc::new(InDomain::new(rows(), rows_.clone()).unwrap());
            let filter = start(&pure("1"), member).unwrap();
            let child = filter
                .launch_local(&Measured::new(composed::<MaxDivergence>(vec![0.25; 4])))
                .unwrap();
            *keep.borrow_mut() = Some(child);
            0
        }),
        PrivacyMap::new(|_| (0.5, 0.0)),
    );
    let mut outer = composed::<Approx>(vec![(0.5, 0.0); 2])
        .invoke(data().value())
        .unwrap();
    outer.eval(&inside).unwrap();
    let child = kept.borrow_mut().take().unwrap();
    let runs = Tally::default();
    assert_eq!(child.ask(stating(0.25, &runs)), Ok(1));
    outer.eval(&stating((0.5, 0.0), &runs)).unwrap();
    assert_eq!(
        child.ask(stating(0.25, &runs)),
        Err(AskError::Fault(Fault::Failed))
    );
}

#[test]
fn threads_share_a_filter_each_with_measurements_of_its_own() {
    let filter = start(&pure("1"), data()).unwrap();
    let admitted: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let filter = filter.clone();
                scope.spawn(move || {
                    let runs = Tally::default();
                    let eighth = Measured::new(stating::<MaxDivergence>(0.125, &runs));
                    (0..8).filter(|_| filter.release(&eighth).is_ok()).count()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, 8);
    assert_eq!(filter.remaining(), Epsilon::ZERO);
}
