//! One budget, several threads.

use std::sync::Arc;

use crate::common::{Answer, Ask, Count, at, epsilon};
use queryables::compose::RunningFilterOf;
use queryables::machine::{Stop, SystemCoins};
use queryables::prelude::*;

/// Launches from this number of threads and counts the admitted launches.
fn admitted(threads: usize, launches_each: usize) -> usize {
    // Half of 200 000 launches fit.
    let filter = Filter::concurrent(PureDp, epsilon("100"));
    let filter = start(&filter, Arc::new(())).unwrap();
    let mechanism = at(epsilon("0.001"), Answer::default());
    let admitted = std::thread::scope(|scope| {
        let launching: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    (0..launches_each)
                        .filter(|_| filter.release(&mechanism).is_ok())
                        .count()
                })
            })
            .collect();
        launching
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(filter.launched(), admitted as u64);
    assert_eq!(mechanism.mechanism.0.count(), admitted);
    assert_eq!(filter.remaining(), epsilon("0"));
    admitted
}

#[test]
fn two_threads_are_admitted_exactly_as_often_as_one() {
    assert_eq!(admitted(1, 200_000), 100_000);
    assert_eq!(admitted(2, 100_000), 100_000);
}

#[test]
fn a_child_answers_one_query_at_a_time() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let child = filter.launch(&at(epsilon("1"), Count::default())).unwrap();
    let mut answers: Vec<usize> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4)
            .map(|_| {
                let child = child.clone();
                scope.spawn(move || {
                    (0..1000)
                        .map(|_| child.ask(()).unwrap())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        asking
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    answers.sort_unstable();
    assert!(answers.into_iter().eq(1..=4000));
}

#[test]
fn two_children_answer_at_the_same_time() {
    // Each answer waits for the other: only two threads inside at once get through.
    let barrier = Arc::new(std::sync::Barrier::new(2));
    let meet = Ask::new(move |(): &(), ()| Ok(barrier.wait().is_leader()));
    let meet = at(epsilon("0.1"), meet);
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let [one, two] = [(); 2].map(|()| filter.launch(&meet).unwrap());
    std::thread::scope(|scope| {
        let other = scope.spawn(|| one.ask(()));
        let here = two.ask(()).unwrap();
        assert_ne!(other.join().unwrap(), Ok(here));
    });
}

/// Nobody can tell whether the code of an answer has learned of what came after the stop: here it
/// waits until it has.
#[test]
fn an_answer_that_is_stopped_meanwhile_is_withheld_and_one_that_has_returned_is_not() {
    for freezes in [true, false] {
        let (entered, has_entered) = std::sync::mpsc::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel();
        let channels = std::sync::Mutex::new((entered, may_go_on));
        let slow = Ask::new(move |(): &(), ()| {
            let channels = channels.lock().map_err(|_| Fault::Failed)?;
            channels.0.send(()).map_err(|_| Fault::Failed)?;
            channels.1.recv().map_err(|_| Fault::Failed)
        });
        let slow = at(epsilon("0.1"), slow);
        let small = at(epsilon("0.1"), Answer::default());
        let large = at(epsilon("9"), Answer::default());
        let sequential = start(&Filter::sequential(PureDp, epsilon("1")), Arc::new(())).unwrap();
        let halting = Filter::concurrent(PureDp, epsilon("1")).halting();
        let halting = start(&halting, Arc::new(())).unwrap();
        let (child, stop) = if freezes {
            (sequential.launch(&slow), Stop::Frozen)
        } else {
            (halting.launch(&slow), Stop::Halted)
        };
        let child = child.unwrap();
        std::thread::scope(|scope| {
            // It returns before the stop, and is heard after it.
            go_on.send(0).unwrap();
            let before = scope.spawn(|| child.ask(())).join();
            let during = scope.spawn(|| child.ask(()));
            has_entered.recv().unwrap();
            has_entered.recv().unwrap();
            // The child is inside its second answer while its token is stopped.
            let later = if freezes {
                sequential.release(&small).unwrap()
            } else {
                let refused = halting.release(&large).unwrap_err();
                assert!(matches!(refused, LaunchError::Refused(_)), "{refused:?}");
                0
            };
            go_on.send(later).unwrap();
            assert_eq!(during.join().unwrap(), Err(AskError::Stopped(stop)));
            assert_eq!(before.unwrap(), Ok(0));
        });
        assert_eq!(child.ask(()), Err(AskError::Stopped(stop)));
    }
}

#[test]
fn handles_can_be_sent_and_shared() {
    fn shared<T: Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<Queryable<u8, std::cell::Cell<u8>>>();
    shared::<RunningFilterOf<Vec<u8>, PureDp>>();
    sent::<SystemCoins>();
}
