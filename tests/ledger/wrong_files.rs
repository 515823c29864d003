//! Files that are no ledger, or not any more.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ledger::{Numbered, fresh, pure};
use queryables::ledger::{Ledger, LedgerError, StoreError};
use queryables::prelude::*;

/// What has been spent, and how many entries lead there.
fn opened(path: &Path) -> Result<(Epsilon, u64), LedgerError<Epsilon>> {
    let ledger = Ledger::open(path, "numbers")?;
    let filter = Filter::concurrent(PureDp, "1".parse().unwrap());
    let filter = ledger.start("census", &filter, &Arc::new(()))?;
    Ok((filter.privacy_loss()?, filter.replay()?))
}

/// A ledger with five launches, one of them with a key, as a file has it.
fn whole() -> Vec<u8> {
    let path = fresh("whole.redb");
    let ledger = Ledger::create(&path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    let ana = filter.party("Ana");
    for number in 0..4 {
        ana.release(&Numbered::new(number, "0.1")).unwrap();
    }
    ana.release_once("k", &Numbered::new(4, "0.1")).unwrap();
    drop((ana, filter, ledger));
    std::fs::read(&path).unwrap()
}

fn damaged() -> LedgerError<Epsilon> {
    let what = "the file".to_owned();
    LedgerError::Store(StoreError::Damaged { what })
}

fn unavailable(text: &str) -> LedgerError<Epsilon> {
    LedgerError::Store(StoreError::Unavailable(text.to_owned()))
}

#[test]
fn a_file_that_is_cut_or_is_no_ledger_is_an_error() {
    let path = fresh("cut.redb");
    let whole = whole();
    for length in [9, 100, 320, 4096, 20_000, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(opened(&path), Err(damaged()), "{length}");
        let left = std::fs::metadata(&path).unwrap().len();
        assert_eq!(left, length as u64, "it was written to");
    }
    // To nothing: a new ledger would have the whole budget again.
    std::fs::write(&path, []).unwrap();
    assert_eq!(opened(&path), Err(damaged()));
    for no_ledger in [&b"sequence,loss\n1,0.5\n"[..], &[0; 5000]] {
        std::fs::write(&path, no_ledger).unwrap();
        assert_eq!(opened(&path), Err(damaged()));
        assert_eq!(std::fs::read(&path).unwrap(), no_ledger);
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(opened(&path), Ok(("0.5".parse().unwrap(), 5)));
    let missing = path.join("ledger.redb");
    let no_folder = unavailable("I/O error: Not a directory (os error 20)");
    assert_eq!(opened(&missing), Err(no_folder));
}

/// Every name by which something is found: a budget that is not found would begin anew, a dataset could
/// be another, and a key be charged again. Where it is found in a page that is not used any more,
/// nothing changes.
#[test]
fn a_changed_name_in_a_file_is_damage_and_not_another_name() {
    let path = fresh("names.redb");
    let whole = whole();
    let tables = ["about", "terms", "states", "entries", "keys"];
    let names = ["version", "dataset", "numbers", "census", "Ana"];
    for word in tables.iter().chain(&names) {
        let starts = |at: &usize| whole[*at..].starts_with(word.as_bytes());
        let places: Vec<usize> = (0..whole.len()).filter(starts).collect();
        let mut found = 0;
        for place in places {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            std::fs::write(&path, changed).unwrap();
            match opened(&path) {
                Ok(same) => assert_eq!(same, ("0.5".parse().unwrap(), 5), "{word} at {place}"),
                Err(error) => {
                    assert_eq!(error, damaged(), "{word} at {place}");
                    found += 1;
                }
            }
        }
        assert!(found > 0, "{word} is nowhere");
    }
}

/// A mistyped path, or a disk that is not mounted: a new ledger would have the whole budget again.
#[test]
fn a_ledger_is_made_only_where_that_is_asked_for_and_there_is_no_file() {
    let path = fresh("new.redb");
    assert_eq!(opened(&path), Err(LedgerError::Store(StoreError::NotFound)));
    assert!(!path.exists(), "it was made");

    drop(Ledger::create(&path, "numbers").unwrap());
    assert_eq!(opened(&path), Ok((Epsilon::ZERO, 0)));
    let again = || Ledger::create(&path, "numbers").unwrap_err();
    assert_eq!(again(), StoreError::AlreadyExists);
    std::fs::write(&path, []).unwrap();
    assert_eq!(again(), StoreError::AlreadyExists);
}

/// A power cut must not take the file away, neither after it was made, nor after it was opened: who
/// made it may have ended too early. strace shows what is synced; it may be missing, or not allowed.
#[test]
fn the_folder_of_a_file_is_synced_before_anything_is_released() {
    let path = fresh("folder.redb");
    let folder = path.parent().unwrap().canonicalize().unwrap();
    let synced = format!("<{}>)", folder.display());
    // The second time it is there.
    for first in ["0", "1000"] {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-e", "trace=fsync,write"]);
        command.arg(env!("CARGO_BIN_EXE_spender")).arg(&path);
        command.args(["1", first]);
        let traced = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut traced) = traced.spawn() else {
            return println!("skipped: there is no strace");
        };
        let trace = BufReader::new(traced.stderr.take().unwrap());
        let mut lines = trace.lines().map_while(Result::ok);
        let got = format!("\"got {first}\\n\"");
        let released = |line: &String| line.contains(&got);
        let before: Vec<String> = lines.by_ref().take_while(|line| !released(line)).collect();
        // It ends when nobody hears it any more.
        drop(traced.stdout.take());
        lines.for_each(drop);
        traced.wait().unwrap();
        if !before.iter().any(|line| line.contains("\"open\\n\"")) {
            return println!("skipped: strace is not allowed");
        }
        let is_synced = |line: &String| line.contains("fsync(") && line.contains(&synced);
        assert!(before.iter().any(is_synced), "{before:#?}");
    }
}
