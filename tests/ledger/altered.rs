//! A store whose rows somebody has changed, removed or exchanged. Each line has its right checksum.

use std::sync::{Arc, Mutex};

use ledger::{Numbered, pure};
use queryables::ledger::{
    Charge, Ledger, LedgerError, MemoryStore, Outcome, Receipt, Saved, Store, StoreError,
};
use queryables::prelude::*;

/// What is done to what a store says.
type Change<T> = Arc<Mutex<fn(T) -> T>>;

#[derive(Clone)]
struct Altered {
    store: Arc<MemoryStore>,
    lines: Change<Vec<String>>,
    receipts: Change<Receipt>,
}

impl std::fmt::Debug for Altered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Altered")
    }
}

impl Altered {
    fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            lines: Arc::new(Mutex::new(|lines| lines)),
            receipts: Arc::new(Mutex::new(|receipt| receipt)),
        }
    }
}

impl Store for Altered {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        self.store.name_dataset(name)
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        self.store.open(budget, terms, state)
    }

    fn newer(&self, known: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError> {
        self.store.newer(known)
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        let receipt = self.store.charge(charge)?;
        Ok(self.receipts.lock().unwrap()(receipt))
    }

    fn sync(&self, receipt: &Receipt) -> Result<(), StoreError> {
        self.store.sync(receipt)
    }

    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        self.store.finish(sequence, outcome)
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        Ok(self.lines.lock().unwrap()(self.store.lines(from, most)?))
    }
}

fn damaged(what: &str) -> StoreError {
    let what = what.to_owned();
    StoreError::Damaged { what }
}

#[test]
fn entries_that_are_removed_or_exchanged_are_damage() {
    let store = Altered::new();
    let ledger = Ledger::on(store.clone(), "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    for number in 0..3 {
        let released = filter.party("Ana").release(&Numbered::new(number, "0.1"));
        assert_eq!(released, Ok(number));
    }
    // Three entries, each with its outcome.
    assert_eq!(ledger.lines(1, 10).unwrap().len(), 6);
    let changes: [fn(Vec<String>) -> Vec<String>; 6] = [
        |lines| lines[2..].to_vec(),
        |lines| lines[1..].to_vec(),
        |lines| [&lines[..2], &lines[4..]].concat(),
        |lines| [&lines[..1], &lines[3..4]].concat(),
        |lines| [&lines[..2], &lines[1..]].concat(),
        |lines| [&lines[2..4], &lines[..2], &lines[4..]].concat(),
    ];
    for change in changes {
        *store.lines.lock().unwrap() = change;
        let read = ledger.lines(1, 10);
        assert_eq!(read, Err(damaged("an entry after 1")));
    }
}

/// A retry would get the answer of another launch.
#[test]
fn a_key_that_leads_to_another_launch_is_damage() {
    let store = Altered::new();
    let ledger = Ledger::on(store.clone(), "numbers").unwrap();
    let filter = pure(&ledger.keeping_answers(), "census", "1");
    let (ana, launch) = (filter.party("Ana"), Numbered::new(1, "0.1"));
    assert_eq!(ana.release_once("one", &launch), Ok(1));
    assert_eq!(ana.release_once("one", &launch), Ok(1));
    // The entry of another party's launch, which is the same but for that.
    let ben = filter.party("Ben");
    assert_eq!(ben.release_once("one", &launch), Ok(1));
    static OTHER: Mutex<Option<Receipt>> = Mutex::new(None);
    *store.receipts.lock().unwrap() = |receipt| {
        *OTHER.lock().unwrap() = Some(receipt.clone());
        receipt
    };
    assert_eq!(ben.release_once("one", &launch), Ok(1));
    *store.receipts.lock().unwrap() = |_| OTHER.lock().unwrap().clone().unwrap();
    let entry = LedgerError::Store(damaged("the entry of a key"));
    assert_eq!(ana.release_once("one", &launch), Err(entry.clone()));

    // Its own entry with the outcome of another.
    *store.receipts.lock().unwrap() = |receipt| match (receipt, OTHER.lock().unwrap().clone()) {
        (Receipt::Known { line, .. }, Some(Receipt::Known { done, .. })) => {
            Receipt::Known { line, done }
        }
        _ => panic!("the key is known"),
    };
    assert_eq!(ana.release_once("one", &launch), Err(entry));
}

/// The share would be spent without a charge.
#[test]
fn a_refused_entry_does_not_stand_for_a_share() {
    let store = Altered::new();
    let ledger = Ledger::on(store.clone(), "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    assert_eq!(filter.party("Ana").release(&Numbered::new(1, "0.8")), Ok(1));
    let share = Filter::concurrent(PureDp, "0.5".parse().unwrap());
    filter.reserve("Ben", &share).unwrap_err();
    static REFUSED: Mutex<Option<String>> = Mutex::new(None);
    *REFUSED.lock().unwrap() = store.store.lines(2, 1).unwrap().pop();
    *store.receipts.lock().unwrap() = |_| Receipt::Known {
        line: REFUSED.lock().unwrap().clone().unwrap(),
        done: None,
    };
    let reserved = filter.reserve("Ben", &share).map(drop);
    let entry = LedgerError::Store(damaged("the entry of a key"));
    assert_eq!(reserved, Err(entry));
}
