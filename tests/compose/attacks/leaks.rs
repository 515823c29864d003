//! Panics, facts and printed values reveal nothing about the data.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::thread;

use super::rows;
use crate::common::{Answer, Ask, Count, Run, at, epsilon};
use queryables::compose::Parallel;
use queryables::data::Predicate;
use queryables::machine::{DomainMismatch, Public, PublicMetadata};
use queryables::mechanisms;
use queryables::prelude::*;

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("dropped");
        }
    }
}

/// Rows that panic when they are dropped.
struct BombedRows(Vec<u8>);

impl Drop for BombedRows {
    fn drop(&mut self) {
        panic!("the rows are {:?}", self.0);
    }
}

#[test]
fn data_that_panics_when_it_is_dropped_tells_the_analyst_nothing() {
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = start(&filter, Arc::new(BombedRows(vec![4, 2]))).unwrap();
    let child = filter.launch(&at(epsilon("0.1"), Holds)).unwrap();
    // The child holds the rows too, and is the last to let them go.
    assert!(catch_unwind(AssertUnwindSafe(|| drop(filter))).is_ok());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(child))).is_ok());
    let odometer = start(
        &Odometer::concurrent(PureDp),
        Arc::new(BombedRows(vec![4, 2])),
    );
    assert!(catch_unwind(AssertUnwindSafe(|| drop(odometer))).is_ok());
}

/// Keeps the data.
struct Holds;

struct Held(#[allow(dead_code)] Arc<BombedRows>);

impl Mechanism<BombedRows> for Holds {
    type Machine = Held;

    fn start(&self, rows: &Arc<BombedRows>, _: &mut Coins<'_>) -> Result<Held, Fault> {
        Ok(Held(Arc::clone(rows)))
    }
}

impl Machine for Held {
    type Query = ();
    type Answer = ();

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }
}

#[test]
fn a_predicate_whose_panic_panics_when_it_is_dropped_tells_nothing_of_the_row() {
    for rows in [vec![1, 2], vec![1, 2, 7]] {
        let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(rows)).unwrap();
        let predicate = Predicate::new("bomb", |row: &u8| {
            if *row == 7 {
                panic_any(Bomb);
            }
            true
        });
        let count = mechanisms::Count::of(predicate)
            .laplace(epsilon!(1e-9))
            .unwrap();
        assert_eq!(filter.release(&count).map(|_| ()), Ok(()));
    }
}

#[test]
fn a_key_that_panics_on_a_row_tells_nothing_of_it() {
    for rows in [vec!["a,1", "b,2"], vec!["a,1", "b,2", "broken"]] {
        let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(rows)).unwrap();
        let key = |row: &&str| row.split(',').nth(1).unwrap().parse::<u8>().unwrap();
        let filters = [1, 2].map(|key| (key, Filter::concurrent(PureDp, epsilon("0.5"))));
        let parts = filter
            .launch(&Parallel::new(key, filters).unwrap())
            .unwrap();
        let rows = |key| {
            let count = at(epsilon("0.1"), Run::new(|rows: &Vec<&str>| Ok(rows.len())));
            parts.part(&key).unwrap().release(&count)
        };
        assert_eq!((rows(1), rows(2)), (Ok(1), Ok(1)));
    }
}

#[test]
fn whatever_fails_as_it_starts_or_answers_is_charged_and_closes_nothing_else() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let bomb = || -> Result<usize, Fault> { panic_any(Bomb) };
    let start = at(epsilon("0.1"), Run::new(move |_: &Vec<u8>| bomb()));
    assert_eq!(filter.release(&start), Err(LaunchError::Failed));
    let step = at(epsilon("0.1"), Ask::new(move |_: &Vec<u8>, (): ()| bomb()));
    let child = filter.launch(&step).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Fault(Fault::Failed)));
    assert_eq!(child.ask(()), Err(AskError::Closed));
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
    let touches = at(epsilon("0.1"), Answer::default());
    assert_eq!(filter.release(&touches), Ok(1));
    let counter = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    assert_eq!(counter.ask(()), Ok(1));
}

struct Leaky(Vec<u8>);

impl PublicMetadata for Leaky {
    type Metadata = u8;

    fn metadata(&self) -> &u8 {
        panic!("the rows are {:?}", self.0);
    }
}

#[test]
fn facts_that_panic_tell_the_analyst_nothing_of_the_data() {
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = start(&filter, Arc::new(Leaky(vec![4, 2]))).unwrap();
    let thrown = catch_unwind(AssertUnwindSafe(|| *filter.metadata())).unwrap_err();
    let text = thrown.downcast_ref::<&str>().copied().unwrap_or_default();
    let text = thrown.downcast_ref::<String>().map_or(text, String::as_str);
    assert!(text.contains("fails to say what is public"), "{text}");
}

/// Fits no dataset.
#[derive(Clone)]
struct Picky;

impl Mechanism<Vec<u8>> for Picky {
    type Machine = Released<usize>;

    fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Err(Fault::Failed)
    }

    fn check(&self, _: Public<'_, Vec<u8>>) -> Result<(), DomainMismatch> {
        Err(DomainMismatch("picky"))
    }
}

impl Private<PureDp, AddRemove> for Picky {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.1"))
    }
}

#[test]
fn what_does_not_fit_the_public_facts_is_refused_before_the_charge_everywhere() {
    let refused = LaunchError::DomainMismatch(DomainMismatch("picky"));
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    assert_eq!(filter.release(&Picky), Err(refused.clone()));
    assert_eq!(filter.release(&Picky.mapped(|n: usize| n)), Err(refused));
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
    let invalid = Fault::InvalidQuery("picky");
    assert_eq!(start(&Picky, rows()).map(|_| ()), Err(invalid));
}

#[test]
fn a_ticket_below_many_compositors_can_be_printed() {
    let zero = Filter::sequential(PureDp, Epsilon::ZERO);
    let mut filter = start(&zero, rows()).unwrap();
    for _ in 0..1000 {
        filter = filter.launch(&zero).unwrap();
    }
    let ticket = filter.admit(&Epsilon::ZERO).unwrap();
    assert_eq!(format!("{ticket:?}"), "Ticket { token: StopToken(Ok(())) }");
}
