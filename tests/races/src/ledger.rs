//! Launches through a ledger against each other, and writes that share a sync.

use std::sync::Arc;

use queryables::ledger::{Ledger, LedgerError};
use queryables::prelude::*;
use shuttle::thread;

use super::race;
use super::watch::{Once, epsilon};

/// Of two launches for the last of a budget, and of a quota, exactly one is admitted; the record has
/// both, in the order of decisions.
#[test]
fn two_launches_for_the_last_of_a_ledger() {
    race(|| {
        let ledger = Ledger::in_memory("numbers").unwrap();
        let filter = Filter::concurrent(PureDp, epsilon("1"));
        let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
        let quota = filter.quota("both", epsilon("0.9")).unwrap();
        let [ana, ben] = ["Ana", "Ben"].map(|name| filter.party(name).with_quota(&quota).unwrap());
        let other = thread::spawn(move || ben.release(&Once("0.5")));
        let results = [ana.release(&Once("0.5")), other.join().unwrap()];
        let admitted = results.iter().filter(|result| **result == Ok(7)).count();
        assert_eq!(admitted, 1, "{results:?}");
        let over = |result: &Result<u8, _>| {
            matches!(
                result,
                Err(LedgerError::Launch(LaunchError::OverQuota { .. }))
            )
        };
        assert!(results.iter().any(over), "{results:?}");
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.5")));
        assert_eq!(filter.spent_of(&quota), Ok(Some(epsilon("0.5"))));
        assert_eq!(filter.replay(), Ok(2));
    });
}

/// Three launches in a file, some of which share a sync: each is in the file before it is answered,
/// nobody is left waiting, and the record follows the decisions.
#[test]
fn launches_that_share_a_sync() {
    race(|| {
        let shared = std::path::Path::new("/dev/shm");
        let temporary = std::env::temp_dir();
        let folder = if shared.is_dir() { shared } else { &*temporary };
        let path = folder.join(format!("queryables-races-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&path);
        {
            let ledger = Ledger::create(&path, "numbers").unwrap();
            let filter = Filter::concurrent(PureDp, epsilon("1"));
            let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
            let others = ["Ben", "Eva"].map(|name| {
                let party = filter.party(name);
                thread::spawn(move || party.release(&Once("0.25")))
            });
            assert_eq!(filter.party("Ana").release(&Once("0.25")), Ok(7));
            // Hers is in the file, whoever wrote it.
            let lines = ledger.lines(1, 10).unwrap();
            assert!(!lines.is_empty());
            for other in others {
                assert_eq!(other.join().unwrap(), Ok(7));
            }
            assert_eq!(filter.privacy_loss(), Ok(epsilon("0.75")));
            assert_eq!(filter.replay(), Ok(3));
        }
        std::fs::remove_file(&path).unwrap();
    });
}
