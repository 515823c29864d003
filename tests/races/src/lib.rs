//! Races, under a scheduler that tries many orders of events.
//!
//! Each race is run with random schedules and with schedules of few preemptions (PCT), from fixed
//! seeds. The checks are made by the thread that knows that the other one is done: a stop that has
//! *returned* is seen by all threads, and what was given out before is part of the view.
//!
//! Each was seen to fail, by breaking the library on purpose; what was broken, and in which
//! execution it was found, stands beside the race.
#![cfg(all(test, shuttle))]

mod freeze;
mod launches;
mod ledger;
#[path = "../../common/own_rule.rs"]
mod own_rule;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// How many orders of events are tried, by each scheduler.
const EXECUTIONS: usize = 1000;

/// How many preemptions PCT looks for.
const PREEMPTIONS: usize = 3;

/// Runs a race in many orders.
fn race(run: fn()) {
    schedule("random", RandomScheduler::new_from_seed(7, EXECUTIONS), run);
    let few = PctScheduler::new_from_seed(7, PREEMPTIONS, EXECUTIONS);
    schedule("PCT", few, run);
}

fn schedule(name: &'static str, scheduler: impl Scheduler + 'static, run: fn()) {
    let mut config = Config::new();
    config.silence_warnings = true;
    // The default is small for code that is not optimised.
    config.stack_size = 1 << 18;
    let executions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&executions);
    let runner = Runner::new(scheduler, config);
    let result = catch_unwind(AssertUnwindSafe(|| {
        runner.run(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            run();
        })
    }));
    if let Err(thrown) = result {
        eprintln!("{name}: execution {executions:?}");
        resume_unwind(thrown);
    }
    assert_eq!(executions.load(Ordering::Relaxed), EXECUTIONS);
}
