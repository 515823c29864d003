//! Mechanisms that are started up front: concurrent and parallel composition.

use std::cell::Cell;
use std::cmp::Ordering;

use super::{numbered, rows};
use crate::common::{Answer, Count, Run, at, epsilon, pair};
use queryables::compose::{BoxedMechanism, ConcurrentComposition, DuplicateKey, Parallel};
use queryables::machine::{Fault, Stop};
use queryables::number::Mu;
use queryables::prelude::*;
use queryables::privacy::{Distance, Gdp};

#[test]
fn concurrent_composition_interleaves_and_adds_up() {
    let both = ConcurrentComposition::new([numbered("0.1"), numbered("0.3")]);
    assert_eq!(
        Private::<PureDp, AddRemove>::loss(&both, &PureDp),
        Ok(epsilon("0.4"))
    );
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let both = filter.launch(&both).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.4"));
    let answers = [0, 1, 0, 0, 1].map(|number| both.ask((number, ())));
    assert_eq!(answers, [1, 1, 2, 3, 2].map(|answer| Ok(Ok(answer))));
    assert_eq!(
        both.ask((2, ())),
        Err(AskError::Fault(Fault::InvalidQuery(
            "no mechanism has this number"
        )))
    );
}

#[test]
fn gaussian_losses_compose_as_squares() {
    let mu = |text: &str| text.parse::<Mu>().unwrap();
    let both = ConcurrentComposition::new(["3", "4"].map(|loss| at(mu(loss), Count::default())));
    assert_eq!(Private::<Gdp, AddRemove>::loss(&both, &Gdp), Ok(mu("5")));
}

#[test]
fn one_that_fails_to_start_fails_them_all() {
    let starting = |fails: bool| {
        at(
            epsilon("0.1"),
            Run::new(move |_: &Vec<u32>| if fails { Err(Fault::Failed) } else { Ok(7) }),
        )
    };
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let both = filter.launch(&ConcurrentComposition::new([
        starting(false),
        starting(true),
    ]));
    assert_eq!(both.unwrap_err(), LaunchError::Failed);
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
}

#[test]
fn one_that_fails_leaves_the_others() {
    type Any = BoxedMechanism<Vec<u32>, PureDp, AddRemove, (), usize>;
    let fails = crate::common::Ask::new(|_: &Vec<u32>, ()| Err::<usize, _>(Fault::Failed));
    let fails: Any = BoxedMechanism::new(PureDp, at(epsilon("0.1"), fails));
    let both = ConcurrentComposition::new([fails, Any::new(PureDp, numbered("0.1"))]);
    let both = start(&both, rows()).unwrap();
    assert_eq!(both.ask((0, ())), Ok(Err(AskError::Fault(Fault::Failed))));
    assert_eq!(both.ask((0, ())), Ok(Err(AskError::Closed)));
    assert_eq!(both.ask((1, ())), Ok(Ok(1)));
}

// Parallel.

#[test]
fn parallel_parts_cost_the_largest_and_are_interleaved() {
    let budgets = [(0, "0.3"), (1, "0.5"), (2, "0.1")];
    let filters = budgets.map(|(key, budget)| (key, Filter::concurrent(PureDp, epsilon(budget))));
    let by_remainder = Parallel::new(|row: &u32| row % 4, filters).unwrap();
    let whole = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let parts = whole.launch(&by_remainder).unwrap();
    assert_eq!(whole.privacy_loss(), epsilon("0.5"));
    let limits: Vec<_> = parts
        .iter()
        .map(|(key, part)| (*key, part.limit()))
        .collect();
    assert_eq!(limits, budgets.map(|(key, budget)| (key, epsilon(budget))));
    assert!(parts.part(&3).is_none());

    let contents = || Run::new(|rows: &Vec<u32>| Ok(rows.clone()));
    let part = |key| parts.part(&key).unwrap();
    let counter = part(1)
        .launch(&at(epsilon("0.2"), Count::default()))
        .unwrap();
    assert_eq!(
        part(0).release(&at(epsilon("0.3"), contents())),
        Ok(vec![4])
    );
    assert_eq!(counter.ask(()), Ok(1));
    // Row 3 is in no part.
    assert_eq!(
        part(1).release(&at(epsilon("0.3"), contents())),
        Ok(vec![1, 5])
    );
    assert_eq!(
        part(2).release(&at(epsilon("0.1"), contents())),
        Ok(vec![2])
    );
    assert_eq!(counter.ask(()), Ok(2));
    // Each part has its own budget, shared by all who hold it.
    assert_eq!(part(1).remaining(), epsilon("0"));
    assert!(matches!(
        part(0).release(&at(epsilon("0.1"), contents())),
        Err(LaunchError::Refused(_))
    ));
    assert_eq!(whole.privacy_loss(), epsilon("0.5"));
}

#[test]
fn parallel_losses_that_cross_cost_their_join() {
    let filters =
        [pair("1", "1e-9"), pair("0.1", "1e-6")].map(|budget| Filter::concurrent(ApproxDp, budget));
    let parallel = Parallel::<_, Vec<u32>, _>::new(|row: &u32| *row, (0..).zip(filters)).unwrap();
    assert_eq!(parallel.loss(&ApproxDp), Ok(pair("1", "1e-6")));
    // Two rows may lie in two parts: what is left is group privacy, (2ε, (1 + e^ε)δ).
    let two = parallel.loss_at(&ApproxDp, Distance::new(2).unwrap());
    assert_eq!(format!("{:.6}", two.unwrap()), "(2.000000, 3.718282e-6)");
}

#[test]
fn parallel_parts_freeze_with_what_launched_them() {
    let filters = [(0, Filter::concurrent(PureDp, epsilon("0.5")))];
    let outer = start(&Filter::sequential(PureDp, epsilon("1")), rows()).unwrap();
    let parts = Parallel::new(|_: &u32| 0, filters).unwrap();
    let parts = outer.launch(&parts).unwrap();
    let child = parts.part(&0).unwrap().launch(&numbered("0.1")).unwrap();
    assert_eq!(child.ask(()), Ok(1));
    outer
        .release(&at(epsilon("0.1"), Answer::default()))
        .unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    let frozen = parts.part(&0).unwrap().launch(&numbered("0.1"));
    assert_eq!(frozen.unwrap_err(), LaunchError::Stopped(Stop::Frozen));
}

/// It is not known which of the two budgets is meant. Nothing exists yet that could be launched.
#[test]
fn two_filters_with_one_key_are_an_error() {
    let budgets = [(1, "0.1"), (0, "0.5"), (2, "0.2"), (0, "0.3"), (2, "0.2")];
    let filters = |number| {
        let budgets = budgets.into_iter().take(number);
        budgets.map(|(key, budget)| (key, Filter::concurrent(PureDp, epsilon(budget))))
    };
    let parts =
        |number| Parallel::<_, Vec<u32>, _>::new(|row: &u32| *row, filters(number)).map(|_| ());
    assert_eq!(parts(3), Ok(()));
    assert_eq!(parts(5), Err(DuplicateKey { place: 3 }));
    assert_eq!(
        DuplicateKey { place: 3 }.to_string(),
        "two mechanisms have the same key: that at place 3, counted from 0, and an earlier one"
    );
}

thread_local! {
    /// How many more comparisons there are until one panics.
    static COMPARISONS: Cell<Option<u32>> = const { Cell::new(None) };
}

#[derive(Clone, PartialEq, Eq)]
struct Compared(u32);

impl PartialOrd for Compared {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Compared {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = COMPARISONS.get();
        assert_ne!(left, Some(0), "on purpose");
        COMPARISONS.set(left.map(|left| left - 1));
        self.0.cmp(&other.0)
    }
}

/// Wherever it panics, also when the parts are handed out.
#[test]
fn a_panic_as_keys_are_compared_reaches_nobody() {
    let inner = || Filter::concurrent(PureDp, epsilon("1"));
    let filters = [0, 1, 2].map(|key| (Compared(key), inner()));
    let parts = Parallel::new(|row: &u32| Compared(row % 3), filters).unwrap();
    let outer = start(&Filter::concurrent(PureDp, epsilon("100")), rows()).unwrap();
    let launched = (0..100).map(|comparisons| {
        COMPARISONS.set(Some(comparisons));
        let launched = outer.launch(&parts).map(|_| ());
        COMPARISONS.set(None);
        launched
    });
    // A row whose key panics belongs to no part; the launch fails where the parts are put together.
    let launched: Vec<_> = launched.collect();
    assert!(launched.contains(&Err(LaunchError::Failed)));
    assert_eq!(launched.last(), Some(&Ok(())));
}
