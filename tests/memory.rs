//! Neither memory nor the work for a reading grows with the number of launches.

mod common;

use std::sync::Arc;

use allocation_counter::measure;
use common::{Answer, Count, at, epsilon};
use queryables::prelude::*;
use queryables::privacy::Restated;

#[test]
fn a_release_keeps_no_memory_and_a_reading_takes_none() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1000")), Arc::new(())).unwrap();
    let odometer = launch(&Odometer::concurrent(ApproxDp), Arc::new(())).unwrap();
    let mechanism = at(epsilon("0.01"), Answer::default());
    let restated = Restated::new(PureDp, mechanism.clone());
    let mut reads = vec![];
    for launches in [10, 10_000] {
        let kept = measure(|| {
            for _ in 0..launches {
                filter.release(&mechanism).unwrap();
                odometer.release(&restated).unwrap();
            }
        });
        assert_eq!(kept.bytes_current, 0, "after {launches} launches");
        reads.push(measure(|| {
            assert!(filter.privacy_loss() > Epsilon::ZERO);
            assert!(odometer.privacy_loss().epsilon > Epsilon::ZERO);
        }));
    }
    assert!(reads.iter().all(|read| read.count_total == 0), "{reads:?}");
}

#[test]
fn children_that_are_let_go_leave_nothing_behind() {
    let outer = launch(&Filter::sequential(PureDp, epsilon("1000")), Arc::new(())).unwrap();
    let halting = Filter::concurrent(PureDp, epsilon("500")).halting();
    let halting = outer.launch(&halting).unwrap();
    let child = at(epsilon("0.001"), Count::default());
    let inner = Filter::sequential(PureDp, epsilon("0.001"));
    // The first launches make room that is kept.
    let round = || {
        halting.launch(&child).unwrap().ask(()).unwrap();
        let inner = halting.launch(&inner).unwrap();
        inner.launch(&child).unwrap().ask(()).unwrap();
    };
    round();
    let kept = measure(|| (0..1000).for_each(|_| round()));
    assert_eq!(kept.bytes_current, 0);
}

#[test]
fn a_release_without_coins_allocates_nothing_at_all() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let mechanism = at(epsilon("0.01"), Answer::default());
    let allocated = measure(|| {
        filter.release(&mechanism).unwrap();
    });
    assert_eq!(allocated.count_total, 0);
}
