//! Launches against each other.

use std::sync::Arc;

use queryables::account::{ContinuationRule, Exceeded, ValidConcurrently};
use queryables::compose::{Refusal, RunningFilter};
use queryables::prelude::*;
use shuttle::sync::Mutex;
use shuttle::thread;

use super::own_rule::{BeforeDeciding, OwnRule};
use super::race;
use super::watch::{Once, epsilon};

type Own = RunningFilter<(), OwnRule<Launches>>;

/// Launches on its own filter when it is first asked to decide.
#[derive(Clone, Debug, Default)]
struct Launches(Arc<Mutex<Option<Own>>>);

impl BeforeDeciding for Launches {
    fn before_deciding(&self, _: &Epsilon) -> Result<(), Exceeded> {
        let filter = self.0.lock().unwrap().take();
        if let Some(filter) = filter {
            assert_eq!(filter.release(&Once("0.25")), Ok(7));
        }
        Ok(())
    }
}

fn own(launches: bool) -> Own {
    let code = Launches::default();
    let held = Arc::clone(&code.0);
    let rule = OwnRule::new(epsilon("1"), code);
    let filter = start(&Filter::concurrent_with(rule), Arc::new(())).unwrap();
    if launches {
        *held.lock().unwrap() = Some(filter.clone());
    }
    filter
}

/// Exactly one of two is admitted, and the other is told by how much it came too late.
fn one_of_two<F>(filter: RunningFilter<(), F>)
where
    F: ContinuationRule<Children = PureDp, Whole = PureDp> + ValidConcurrently,
{
    filter.release(&Once("0.5")).unwrap();
    let other = {
        let filter = filter.clone();
        thread::spawn(move || filter.release(&Once("0.5")))
    };
    let results = [filter.release(&Once("0.5")), other.join().unwrap()];
    let refused = Err(LaunchError::Refused(Refusal {
        spent: epsilon("1"),
        set_aside: None,
        requested: epsilon("0.5"),
        remaining: Epsilon::ZERO,
        limit: epsilon("1"),
    }));
    assert!(
        results == [Ok(7), refused.clone()] || results == [refused, Ok(7)],
        "{results:?}"
    );
    assert_eq!(filter.privacy_loss(), epsilon("1"));
    assert_eq!(filter.launched(), 2);
}

/// If every rule decides on a copy, and the copy is put back without a look at the version
/// (`Running::admit`, `Launches::put_back`): random execution 3, PCT 2.
#[test]
fn two_launches_for_the_last_of_a_budget() {
    race(|| {
        let filter = Filter::concurrent(PureDp, epsilon("1"));
        one_of_two(start(&filter, Arc::new(())).unwrap());
    });
}

/// If the copy is put back without a look at the version: random execution 1, PCT 2.
#[test]
fn two_launches_for_the_last_of_a_budget_under_a_rule_of_ones_own() {
    race(|| one_of_two(own(false)));
}

/// If the copy is put back without a look at the version: the first of each.
#[test]
fn a_rule_that_launches_against_another_launch() {
    race(|| {
        let filter = own(true);
        let other = {
            let filter = filter.clone();
            thread::spawn(move || filter.release(&Once("0.25")))
        };
        // All three fit, in any order, and a fourth does not.
        assert_eq!(filter.release(&Once("0.5")), Ok(7));
        assert_eq!(other.join().unwrap(), Ok(7));
        assert_eq!(filter.privacy_loss(), epsilon("1"));
        assert_eq!(filter.launched(), 3);
        let refused = filter.release(&Once("0.25"));
        assert!(
            matches!(refused, Err(LaunchError::Refused(_))),
            "{refused:?}"
        );
    });
}
