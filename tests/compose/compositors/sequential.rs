//! A launch freezes earlier children, and theirs.

use std::sync::{Arc, Mutex};

use super::rows;
use crate::common::{Answer, Count, Touches, at, epsilon};
use queryables::compose::Refusal;
use queryables::machine::{Coins, Fault, Stop};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, RhoDelta};

#[test]
fn a_sequential_launch_freezes_earlier_children_and_theirs() {
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::new("1", "1e-6").unwrap());
    let filter = start(&filter, rows()).unwrap();
    let loss = RhoDelta::new("0.1", "0").unwrap();
    let child = filter.launch(&at(loss, Count::default())).unwrap();
    assert_eq!(child.ask(()), Ok(1));

    let inner = filter
        .launch(&Filter::sequential(ApproxZCdp, loss))
        .unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    let small = RhoDelta::new("0.01", "0").unwrap();
    let grandchild = inner.launch(&at(small, Count::default())).unwrap();
    assert_eq!(grandchild.ask(()), Ok(1));

    // A refused launch freezes nobody.
    let large = RhoDelta::new("2", "0").unwrap();
    let refused = filter.release(&at(large, Answer::default()));
    assert!(matches!(refused, Err(LaunchError::Refused(_))));
    assert_eq!(grandchild.ask(()), Ok(2));

    // Nor does reading.
    assert_eq!(filter.privacy_loss(), RhoDelta::new("0.2", "0").unwrap());
    assert!(filter.would_admit(&loss));
    assert_eq!(grandchild.ask(()), Ok(3));

    // A release is a launch.
    filter.release(&at(loss, Answer::default())).unwrap();
    assert_eq!(grandchild.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    let touches = Touches::default();
    let frozen = inner.release(&at(small, Answer(touches.clone())));
    assert_eq!(frozen, Err(LaunchError::Stopped(Stop::Frozen)));
    assert_eq!(touches.count(), 0);
    assert!(!inner.would_admit(&small));
    // What it has spent can still be read.
    assert_eq!(inner.privacy_loss(), small);
}

/// Asks twice for one answer, and does something in between. Keeps all that it hears.
#[derive(Clone)]
struct InBetween {
    act: Arc<dyn Fn() + Send + Sync>,
    heard: Arc<Mutex<Vec<usize>>>,
}

impl Middle<(), usize> for InBetween {
    type OuterQuery = ();
    type OuterAnswer = usize;

    fn on_query(&mut self, (): (), _: &mut Coins<'_>) -> Result<Move<(), usize>, Fault> {
        Ok(Move::Ask(()))
    }

    fn on_answer(&mut self, answer: usize, _: &mut Coins<'_>) -> Result<Move<(), usize>, Fault> {
        let mut heard = self.heard.lock().unwrap();
        heard.push(answer);
        if heard.len().is_multiple_of(2) {
            return Ok(Move::Answer(answer));
        }
        (self.act)();
        Ok(Move::Ask(()))
    }
}

/// A middle that launches a sibling in the middle of an answer has two children open at once, and
/// hears no more of the first.
#[test]
fn a_middle_does_not_talk_on_after_a_freeze() {
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::new("1", "1e-6").unwrap());
    let filter = start(&filter, rows()).unwrap();
    let loss = RhoDelta::new("0.1", "0").unwrap();
    let heard = Arc::new(Mutex::new(vec![]));
    let through = |act: Arc<dyn Fn() + Send + Sync>| {
        let heard = Arc::clone(&heard);
        at(loss, Count::default().through(InBetween { act, heard }))
    };
    let child = filter.launch(&through(Arc::new(|| ()))).unwrap();
    assert_eq!(child.ask(()), Ok(2));
    assert_eq!(*heard.lock().unwrap(), [1, 2]);

    let sibling = filter.clone();
    let launches = Arc::new(move || {
        sibling.release(&at(loss, Answer::default())).unwrap();
    });
    // At any depth.
    let inner = filter
        .launch(&Filter::sequential(
            ApproxZCdp,
            RhoDelta::new("0.5", "0").unwrap(),
        ))
        .unwrap();
    let child = inner.launch(&through(launches)).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(*heard.lock().unwrap(), [1, 2, 1]);
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(filter.launched(), 3);
}

#[test]
fn freezing_goes_through_concurrent_children() {
    let outer = start(&Filter::sequential(ZCdp, "1".parse().unwrap()), rows()).unwrap();
    let tenth: Rho = "0.1".parse().unwrap();
    let middle = outer
        .launch(&Filter::concurrent(ZCdp, "0.5".parse().unwrap()))
        .unwrap();
    let inner = middle
        .launch(&Filter::concurrent(ZCdp, "0.3".parse().unwrap()))
        .unwrap();
    let one = middle.launch(&at(tenth, Count::default())).unwrap();
    let two = inner.launch(&at(tenth, Count::default())).unwrap();
    // Under the concurrent ones, everybody goes on.
    assert_eq!(
        [one.ask(()), two.ask(()), one.ask(())],
        [Ok(1), Ok(1), Ok(2)]
    );
    outer.release(&at(tenth, Answer::default())).unwrap();
    assert_eq!(
        [one.ask(()), two.ask(())],
        [Err(AskError::Stopped(Stop::Frozen)); 2]
    );
    assert_eq!(
        inner.launch(&at(tenth, Count::default())).unwrap_err(),
        LaunchError::Stopped(Stop::Frozen)
    );
}

#[test]
fn a_halting_filter_below_a_sequential_one_obeys_both() {
    for freeze_first in [false, true] {
        let outer = start(&Filter::sequential(PureDp, epsilon("1")), rows()).unwrap();
        let inner = outer
            .launch(&Filter::concurrent(PureDp, epsilon("0.5")).halting())
            .unwrap();
        let child = inner.launch(&at(epsilon("0.1"), Count::default())).unwrap();
        assert_eq!(child.ask(()), Ok(1));
        if freeze_first {
            outer
                .release(&at(epsilon("0.1"), Answer::default()))
                .unwrap();
            assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
        } else {
            let over = inner.release(&at(epsilon("0.9"), Answer::default()));
            assert!(matches!(over, Err(LaunchError::Refused(_))));
            assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
        }
    }
}

/// W Thm 1: both coordinates add up, and either of them refuses.
#[test]
fn approximate_concentrated_losses_add_up_in_both_coordinates() {
    let pair = |rho: &str, delta: &str| RhoDelta::new(rho, delta).unwrap();
    let filter = Filter::sequential(ApproxZCdp, pair("1", "1e-6"));
    let filter = start(&filter, rows()).unwrap();
    let answer = |rho: &str, delta: &str| at(pair(rho, delta), Answer::default());
    filter.release(&answer("0.1", "6e-7")).unwrap();
    let refused = |requested| {
        LaunchError::Refused(Refusal {
            spent: pair("0.1", "6e-7"),
            set_aside: None,
            requested,
            remaining: pair("0.9", "4e-7"),
            limit: pair("1", "1e-6"),
        })
    };
    for (rho, delta) in [("0.1", "5e-7"), ("0.91", "0")] {
        let error = filter.release(&answer(rho, delta)).unwrap_err();
        assert_eq!(error, refused(pair(rho, delta)));
    }
    filter.release(&answer("0.9", "4e-7")).unwrap();
    assert_eq!(filter.privacy_loss(), pair("1", "1e-6"));
}

#[test]
fn a_sequential_odometer_freezes_too() {
    let odometer = start(&Odometer::sequential(ApproxZCdp), rows()).unwrap();
    let loss = RhoDelta::new("0.1", "1e-9").unwrap();
    let child = odometer.launch(&at(loss, Count::default())).unwrap();
    assert_eq!(child.ask(()), Ok(1));
    odometer.release(&at(loss, Answer::default())).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(
        odometer.privacy_loss(),
        RhoDelta::new("0.2", "2e-9").unwrap()
    );
}
