//! Files that were damaged anywhere: opening one says so, or has lost nothing.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ledger::{Numbered, Seeded, fresh, over_budget, pure};
use queryables::ledger::{Ledger, LedgerError, Line, StoreError};
use queryables::machine::silence_guarded_panics;
use queryables::prelude::*;

const PAGE: usize = 4096;

/// How many files are damaged.
const FILES: u64 = 600;
const OPEN_FILES: u64 = 200;

/// A ledger with forty launches that kept their answers, and a refusal.
fn whole(path: &Path) -> Vec<u8> {
    let ledger = Ledger::create(path, "numbers").unwrap().keeping_answers();
    let filter = pure(&ledger, "census", "1");
    let ana = filter.party("Ana");
    for number in 0..40 {
        let launch = Numbered::new(number, "0.025");
        assert_eq!(ana.release_once(&number.to_string(), &launch), Ok(number));
    }
    let refused = ana.release(&Numbered::new(40, "0.5"));
    assert_eq!(refused, Err(over_budget(["1", "0.5", "0", "1"])));
    drop((ana, filter, ledger));
    std::fs::read(path).unwrap()
}

/// One change: a bit that is set or not, somewhere or in the first kilobyte, a cut, a page of zeros, two
/// pages exchanged.
fn damage(good: &[u8], random: &mut Seeded, turn: u64) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let mut below = |bound: usize| usize::try_from(random.below(bound as u64)).unwrap();
    let page = |below: &mut dyn FnMut(usize) -> usize| below(good.len() / PAGE) * PAGE;
    match turn % 5 {
        0 => {
            let used: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
            bytes[used[below(used.len())]] ^= 1 << below(8);
        }
        1 => bytes[below(1024)] ^= 1 << below(8),
        2 => bytes.truncate(below(good.len())),
        3 => {
            let at = page(&mut below);
            bytes[at..at + PAGE].fill(0);
        }
        _ => {
            let (one, other) = (page(&mut below), page(&mut below));
            bytes[one..one + PAGE].copy_from_slice(&good[other..other + PAGE]);
            bytes[other..other + PAGE].copy_from_slice(&good[one..one + PAGE]);
        }
    }
    bytes
}

/// What is spent, in how many launches.
fn totals(path: &Path) -> Result<(Epsilon, u64), LedgerError<Epsilon>> {
    let ledger = Ledger::open(path, "numbers")?;
    let filter = Filter::concurrent(PureDp, "1".parse().unwrap());
    let filter = ledger.start("census", &filter, &std::sync::Arc::new(()))?;
    Ok((filter.privacy_loss()?, filter.launched()?))
}

/// What a ledger has.
type Contents = (Epsilon, u64, Vec<Line>, u64);

/// Everything that can be read, and a launch that is decided.
fn contents(path: &Path) -> Result<Contents, LedgerError<Epsilon>> {
    let ledger = Ledger::open(path, "numbers")?.keeping_answers();
    let filter = Filter::concurrent(PureDp, "1".parse().unwrap());
    let filter = ledger.start("census", &filter, &std::sync::Arc::new(()))?;
    let spent = filter.privacy_loss()?;
    let lines = ledger.lines(1, 1000)?;
    let counted = filter.replay()?;
    let kept = filter
        .party("Ana")
        .release_once("7", &Numbered::new(7, "0.025"));
    assert_eq!(kept, Ok(7));
    let refused = filter.party("Ana").release(&Numbered::new(41, "0.5"));
    assert_eq!(refused, Err(over_budget(["1", "0.5", "0", "1"])));
    Ok((spent, filter.launched()?, lines, counted))
}

/// Somebody writes into the file of a ledger that is open.
#[test]
fn a_file_that_is_damaged_while_open_never_panics_and_loses_no_charge_unnoticed() {
    silence_guarded_panics();
    let path = fresh("damaged open.redb");
    let good = whole(&path);
    let mut random = Seeded(7);
    let mut noticed = 0;
    for turn in 0..OPEN_FILES {
        std::fs::write(&path, &good).unwrap();
        let ledger = Ledger::open(&path, "numbers").unwrap().keeping_answers();
        let filter = pure(&ledger, "census", "1");
        let now = std::fs::read(&path).unwrap();
        let bad = damage(&now, &mut random, turn);
        // In place: the file stays the same one.
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(&bad).unwrap();
        file.set_len(bad.len() as u64).unwrap();
        let ana = filter.party("Ana");
        let used = catch_unwind(AssertUnwindSafe(|| {
            let free = ana.release(&Numbered::new(50, "0"));
            let kept = ana.release_once("7", &Numbered::new(7, "0.025"));
            // redb compares checksums only when it opens a file: what it reads meanwhile may be
            // missing, but is never another launch's.
            assert!(kept == Ok(7) || kept.is_err(), "turn {turn}: {kept:?}");
            let _ = ledger.lines(1, 1000);
            drop((ana, filter, ledger));
            free
        }));
        let free = used.unwrap_or_else(|_| panic!("turn {turn} panicked"));
        let launched = u64::from(free.is_ok());
        match totals(&path) {
            Ok((spent, count)) => {
                assert_eq!(spent, "1".parse().unwrap(), "turn {turn}");
                assert!(count >= 40 + launched, "turn {turn}");
            }
            Err(error) => {
                let noticed_as = matches!(&error, LedgerError::Store(StoreError::Damaged { .. }));
                assert!(noticed_as, "turn {turn}: {error}");
                noticed += 1;
            }
        }
    }
    println!("{noticed} of {OPEN_FILES} were noticed");
    assert!(noticed > OPEN_FILES / 4);
}

#[test]
fn a_damaged_file_is_an_error_or_has_lost_nothing_and_never_panics() {
    silence_guarded_panics();
    let path = fresh("mutations.redb");
    let good = whole(&path);
    let expected = contents(&path).unwrap();
    let damaged = LedgerError::Store(StoreError::Damaged {
        what: "the file".to_owned(),
    });
    let mut random = Seeded(99);
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for turn in 0..FILES {
        std::fs::write(&path, damage(&good, &mut random, turn)).unwrap();
        let found = catch_unwind(AssertUnwindSafe(|| contents(&path)));
        let found = found.unwrap_or_else(|_| panic!("turn {turn} panicked"));
        let what = match found {
            Ok(found) => {
                assert_eq!(found, expected, "turn {turn}");
                "nothing lost".to_owned()
            }
            Err(error) => {
                assert_eq!(error, damaged, "turn {turn}");
                "damaged".to_owned()
            }
        };
        *seen.entry(what).or_default() += 1;
    }
    println!("{seen:?}");
    // Otherwise nothing was tried.
    assert!(seen["damaged"] > FILES / 4, "{seen:?}");
}

/// Five launches, synced, in a process that ends before it closes the file.
fn killed(path: &Path) -> Vec<u8> {
    let ledger = Ledger::create(path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    for number in 0..5 {
        let launch = Numbered::new(number, "0.125");
        assert_eq!(filter.party("Ana").release(&launch), Ok(number));
    }
    std::fs::read(path).unwrap()
}

/// redb writes its header, of 64 bytes, without a checksum.
#[test]
fn one_bit_of_the_header_takes_back_one_commit_and_no_other_does() {
    silence_guarded_panics();
    let good = killed(&fresh("killed.redb"));
    let path = fresh("header.redb");
    // And the first byte of each of the two commits, the version of redb's format.
    let places = (0..64).chain([64, 192]);
    let mut lost = vec![];
    for (at, bit) in places.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, bytes).unwrap();
        match Ledger::open(&path, "numbers") {
            Ok(ledger) => {
                let launched = pure(&ledger, "census", "1").launched().unwrap();
                if launched < 5 {
                    lost.push((at, bit, launched));
                }
            }
            Err(error) => {
                let what = "the file".to_owned();
                assert_eq!(error, StoreError::Damaged { what }, "bit {bit} of {at}");
            }
        }
    }
    assert_eq!(lost, [(9, 0, 4)]);
}
