//! An individual filter is brought back by replaying its public transcript.

use std::sync::Arc;

use queryables::account::{self, Capped};
use queryables::compose::{IndividualError, IndividualFilter, start_individual};
use queryables::data::{Attribute, Predicate};
use queryables::machine::{Fault, silence_guarded_panics};
use queryables::mechanisms::{Count, Noised, NoisyCount, Sum};
use queryables::prelude::*;

type Rows = Vec<i64>;
type Pure = IndividualFilter<Rows, Capped<account::Sum<PureDp>>>;

/// What the analyst asked for, as it is written down.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Count { above: i64 },
    Sum,
}

fn count(above: i64) -> NoisyCount<Rows> {
    let above = Predicate::new("above", move |row: &i64| {
        assert!(*row != 7, "an unlucky row");
        *row > above
    });
    Count::of(above).laplace(epsilon!(0.25)).unwrap()
}

fn sum() -> Noised<Sum<Attribute<Rows, i64>>> {
    let itself = Attribute::new("itself", |row: &i64| *row);
    Sum::of(itself, 0..=100).laplace(epsilon!(0.5)).unwrap()
}

fn filters() -> [Pure; 3] {
    let filter = || IndividualFilter::new(PureDp, "1".parse().unwrap());
    let own = |row: &i64| if *row > 50 { "0.5" } else { "1" }.parse().unwrap();
    [filter(), filter().shrinking(), filter().budgets(own)]
}

fn transcript() -> Vec<Asked> {
    let asked = |turn: i64| match turn % 3 {
        0 => Asked::Sum,
        _ => Asked::Count { above: 9 * turn },
    };
    (0..12).map(asked).collect()
}

/// After every prefix: the accounts of the new filter are those of the old one, record by record,
/// and stay so.
#[test]
fn a_filter_that_is_replayed_stands_where_the_old_one_stood() {
    silence_guarded_panics();
    let rows: Arc<Rows> = Arc::new((0..5000).map(|row| row % 101).collect());
    for filter in filters() {
        let (old, was) = start_individual(&filter, Arc::clone(&rows)).unwrap();
        let mut differ = 0;
        for (turn, asked) in transcript().into_iter().enumerate() {
            match asked {
                Asked::Count { above } => old.release(&count(above)).map(|_| ()).unwrap(),
                Asked::Sum => old.release(&sum()).map(|_| ()).unwrap(),
            }
            if turn % 4 != 3 {
                continue;
            }
            let (new, is) = start_individual(&filter, Arc::clone(&rows)).unwrap();
            differ += usize::from(is.all() != was.all());
            for asked in &transcript()[..=turn] {
                match asked {
                    Asked::Count { above } => new.replay(&count(*above)).unwrap(),
                    Asked::Sum => new.replay(&sum()).unwrap(),
                }
            }
            assert_eq!(is.all(), was.all(), "{filter:?} after {turn}");
        }
        // Otherwise nobody has paid, and this test has checked nothing.
        assert_eq!(differ, 3);
    }
}

#[test]
fn what_is_replayed_counts_as_an_answer() {
    let filter = filters()[0].clone().at_most(2);
    let (again, _) = start_individual(&filter, Arc::new(vec![1, 2])).unwrap();
    again.replay(&count(0)).unwrap();
    again.replay(&sum()).unwrap();
    let exhausted = IndividualError::NotAnswered(AskError::Fault(Fault::Exhausted));
    assert_eq!(again.replay(&sum()), Err(exhausted));
    assert_eq!(again.release(&count(0)), Err(exhausted));
}
