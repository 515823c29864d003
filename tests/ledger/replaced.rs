//! Files that are moved, replaced, removed or cut while a ledger has them open.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use ledger::{Numbered, PureFilter, fresh, pure};
use queryables::ledger::{Ledger, LedgerError, StoreError};
use queryables::prelude::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// A folder of its own, so that it can be moved.
fn folder(name: &str) -> PathBuf {
    let folder = fresh(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// A ledger in a file with one launch of 0.25, open.
fn spent(path: &Path) -> (Ledger, PureFilter) {
    let ledger = Ledger::create(path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    assert_eq!(
        filter.party("Ana").release(&Numbered::new(1, "0.25")),
        Ok(1)
    );
    (ledger, filter)
}

fn released(filter: &PureFilter) -> Result<u64, LedgerError<Epsilon>> {
    filter.party("Ana").release(&Numbered::new(2, "0.125"))
}

/// Nothing runs any more, however often it is tried.
fn nothing_runs(filter: &PureFilter) {
    for _ in 0..3 {
        assert_eq!(
            released(filter),
            Err(LedgerError::Store(StoreError::Replaced))
        );
    }
}

fn open(path: &Path) -> Result<(), StoreError> {
    Ledger::open(path, "numbers").map(drop)
}

/// What is done to the path of a file.
type Change = fn(&Path);

#[test]
fn a_file_that_is_moved_replaced_or_removed_takes_no_more_launches() {
    let backup = |path: &Path| path.with_file_name("backup");
    let changes: [(&str, Change); 6] = [
        ("removed", |path| fs::remove_file(path).unwrap()),
        ("renamed", |path| {
            fs::rename(path, path.with_extension("old")).unwrap();
        }),
        ("replaced by a backup", |path| {
            fs::rename(path.with_file_name("backup"), path).unwrap();
        }),
        ("removed and written again", |path| {
            let same = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            fs::write(path, same).unwrap();
        }),
        ("a link to a copy", |path| {
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("backup", path).unwrap();
        }),
        ("moved with its folder", |path| {
            let folder = path.parent().unwrap();
            let moved = folder.with_extension("moved");
            let _ = fs::remove_dir_all(&moved);
            fs::rename(folder, moved).unwrap();
        }),
    ];
    for (what, change) in changes {
        let path = folder("replaced").join("ledger.redb");
        let (_ledger, filter) = spent(&path);
        fs::copy(&path, backup(&path)).unwrap();
        change(&path);
        assert_eq!(
            released(&filter),
            Err(LedgerError::Store(StoreError::Replaced)),
            "{what}"
        );
        nothing_runs(&filter);
        // What is decided and not written is not handed out either, and reading is possible.
        assert!(filter.privacy_loss().is_ok(), "{what}");
    }
}

/// A restored backup has the budget again. While the first has the path, nobody opens it.
#[test]
fn a_path_that_is_open_is_not_opened_again_whatever_file_is_there() {
    let path = folder("path").join("ledger.redb");
    let (ledger, filter) = spent(&path);
    let backup = path.with_file_name("backup");
    fs::copy(&path, &backup).unwrap();
    fs::rename(&backup, &path).unwrap();
    assert_eq!(open(&path), Err(StoreError::InUse));
    fs::remove_file(&path).unwrap();
    assert_eq!(open(&path), Err(StoreError::NotFound));
    let made = Ledger::create(&path, "numbers").map(drop);
    assert_eq!(made, Err(StoreError::InUse));
    nothing_runs(&filter);
    drop((ledger, filter));
    // Nobody has it now, and no lock is left behind.
    assert_eq!(Ledger::create(&path, "numbers").map(drop), Ok(()));
    assert_eq!(open(&path), Ok(()));
}

/// Who puts the file back, even the same one, opens it again: meanwhile another process may have spent.
#[test]
fn a_file_that_is_put_back_is_opened_again() {
    let path = folder("back").join("ledger.redb");
    let (ledger, filter) = spent(&path);
    let away = path.with_file_name("away");
    fs::rename(&path, &away).unwrap();
    nothing_runs(&filter);
    fs::rename(&away, &path).unwrap();
    nothing_runs(&filter);
    drop((ledger, filter));
    let ledger = Ledger::open(&path, "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    // The launch that failed may have been charged; the one that was released is.
    assert!(filter.privacy_loss().unwrap() >= epsilon("0.25"));
    assert_eq!(released(&filter), Ok(2));
    assert_eq!(filter.replay().map(drop), Ok(()));
}

/// A file may have several names: it is one ledger.
#[test]
fn links_lead_to_the_same_ledger_and_not_past_its_lock() {
    let path = folder("links").join("ledger.redb");
    let (hard, soft) = (path.with_file_name("hard"), path.with_file_name("soft"));
    let (ledger, filter) = spent(&path);
    fs::hard_link(&path, &hard).unwrap();
    std::os::unix::fs::symlink("ledger.redb", &soft).unwrap();
    for name in [&path, &hard, &soft] {
        assert_eq!(open(name), Err(StoreError::InUse), "{name:?}");
    }
    assert_eq!(released(&filter), Ok(2));
    drop((ledger, filter));

    // Opened by a link, which then leads elsewhere.
    let ledger = Ledger::open(&soft, "numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    assert_eq!(released(&filter), Ok(2));
    assert_eq!(open(&path), Err(StoreError::InUse));
    let copy = path.with_file_name("copy");
    fs::copy(&path, &copy).unwrap();
    fs::remove_file(&soft).unwrap();
    std::os::unix::fs::symlink("copy", &soft).unwrap();
    assert_eq!(open(&soft), Err(StoreError::InUse));
    nothing_runs(&filter);
}

/// No panic either, whatever is called, and whatever is dropped.
#[test]
fn a_file_that_is_cut_while_open_is_damaged_and_nothing_panics() {
    let damaged = StoreError::Damaged {
        what: "the file".to_owned(),
    };
    // Also where nothing is written any more at the place that was cut.
    for length in [0, 9, 4096, 20_000, -1, -4096] {
        let path = folder("cut").join("ledger.redb");
        let (ledger, filter) = spent(&path);
        let whole = fs::metadata(&path).unwrap().len();
        let length = if length < 0 { whole } else { 0 }.strict_add_signed(length);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(length).unwrap();
        for _ in 0..2 {
            assert_eq!(
                released(&filter),
                Err(LedgerError::Store(damaged.clone())),
                "{length}"
            );
        }
        let once = filter
            .party("Ana")
            .release_once("k", &Numbered::new(3, "0.125"));
        assert_eq!(once, Err(LedgerError::Store(damaged.clone())), "{length}");
        let lines = ledger.lines(1, 10).map(drop);
        assert_eq!(lines, Err(damaged.clone()), "{length}");
        drop((ledger, filter));
        assert_eq!(open(&path), Err(damaged.clone()), "{length}");
    }
}
