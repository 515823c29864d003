//! How much an analyst can write who has nothing left.

use std::sync::Arc;

use ledger::{
    Long, Numbered, fresh, over_budget, pure, refusals_in_a_row_take_sixteen_entries,
    what_is_too_long_is_an_error_and_not_written,
};
use queryables::compose::Halt;
use queryables::ledger::{Decision, Ledger, LedgerError, Line, StoreError};
use queryables::machine::Stop;
use queryables::prelude::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// A size that the file of an empty ledger with a few entries does not reach: a megabyte more than it has.
const ROOM: u64 = 1 << 20;

const REFUSALS: u64 = 1000;

/// The analyst has nothing left, and the longest names: each refusal would be a line of ten kilobytes.
#[test]
fn a_thousand_refusals_with_the_longest_names_take_bounded_space() {
    let path = fresh("refusals.redb");
    let ledger = Ledger::create(&path, "numbers").unwrap();
    let filter = pure(&ledger, &"f".repeat(1024), "1");
    let eve = filter.party(&"e".repeat(1024));
    let honest = filter.party("Ana");
    let size = || std::fs::metadata(&path).unwrap().len();
    let empty = size();
    for _ in 0..REFUSALS {
        let refused = eve.release_once(&"k".repeat(1024), &Long(8192, epsilon("2")));
        assert!(matches!(
            refused,
            Err(LedgerError::Launch(LaunchError::Refused(_)))
        ));
    }
    println!(
        "{REFUSALS} refusals: {empty} bytes before, {} after",
        size()
    );
    assert!(size() < empty + ROOM, "{empty} {}", size());
    assert_eq!(honest.release(&Numbered::new(1, "0.5")), Ok(1));
    assert_eq!(filter.replay(), Ok(17));
}

#[test]
fn refusals_in_a_row_have_sixteen_entries_in_every_store() {
    refusals_in_a_row_take_sixteen_entries(&Ledger::in_memory("numbers").unwrap());
    let path = fresh("in a row.redb");
    let ledger = Ledger::create(&path, "numbers").unwrap();
    refusals_in_a_row_take_sixteen_entries(&ledger);
    drop(ledger);
    // The row goes on after a restart.
    let ledger = Ledger::open(&path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    let before = times(&ledger);
    for number in 0..20 {
        let refused = filter.party("Eve").release(&Numbered::new(number, "2"));
        assert_eq!(refused, Err(over_budget(["0.25", "2", "0.75", "1"])));
    }
    let after = times(&ledger);
    assert_eq!(before.len() + 13, after.len());
    // Three were there, 13 have an entry, and the last of them stands for eight.
    assert_eq!(after.last(), Some(&8));
    assert_eq!(after.iter().sum::<u64>(), before.iter().sum::<u64>() + 20);
}

/// For how many launches each entry stands.
fn times(ledger: &Ledger) -> Vec<u64> {
    let lines = ledger.lines(1, usize::MAX).unwrap();
    let times = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => Some(entry.times),
        _ => None,
    });
    times.collect()
}

/// Who halted a filter is never written over.
#[test]
fn the_entry_of_a_halt_stays() {
    let memory = Ledger::in_memory("numbers").unwrap();
    let file = Ledger::create(fresh("halt stays.redb"), "numbers").unwrap();
    for ledger in [memory, file] {
        let quiet = pure(&ledger, "quiet", "1");
        let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
        let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
        let refused = || {
            for number in 0..40 {
                let refused = quiet.party("Eve").release(&Numbered::new(number, "2"));
                assert_eq!(refused, Err(over_budget(["0", "2", "1", "1"])));
            }
        };
        refused();
        let halts = filter.party("Ben").release(&Numbered::new(1, "2"));
        assert_eq!(halts, Err(over_budget(["0", "2", "1", "1"])));
        refused();
        let stopped = filter.party("Ben").release(&Numbered::new(2, "0.1"));
        assert_eq!(stopped, Err(LaunchError::Stopped(Stop::Halted).into()));
        let lines = ledger.lines(1, usize::MAX).unwrap();
        let halted: Vec<_> = lines
            .iter()
            .filter_map(|line| match line {
                Line::Entry(entry) if entry.halted => Some((entry.sequence, &*entry.party)),
                _ => None,
            })
            .collect();
        assert_eq!(halted, [(17, "Ben")]);
        assert_eq!(times(&ledger).len(), 33);
        assert_eq!(times(&ledger).iter().sum::<u64>(), 82);
        let Some(Line::Entry(last)) = lines.last() else {
            panic!("a refusal has no outcome");
        };
        assert!(matches!(last.decision, Decision::Denied(_)));
        assert!(matches!(filter.halt(), Ok(Some(Halt::OverBudget(_)))));
        assert_eq!(filter.replay(), Ok(2));
        assert_eq!(quiet.replay(), Ok(31));
    }
}

#[test]
fn names_keys_and_descriptions_have_a_longest() {
    what_is_too_long_is_an_error_and_not_written(&Ledger::in_memory("numbers").unwrap());
    let file = Ledger::create(fresh("long.redb"), "numbers").unwrap();
    what_is_too_long_is_an_error_and_not_written(&file);
    let dataset = Ledger::in_memory(&"d".repeat(1025)).map(drop);
    let too_long = StoreError::TooLong {
        what: "a dataset's name".to_owned(),
        bytes: 1025,
        limit: 1024,
    };
    assert_eq!(dataset.unwrap_err(), too_long);
}
