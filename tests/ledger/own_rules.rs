//! Third-party rules run in the middle of a launch in a ledger, and no lock is held meanwhile: the same
//! tests as those of filters without a ledger, on every store.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use ledger::{Numbered, fresh, over_budget};
use queryables::account::{Capped, Durable, Exceeded};
use queryables::ledger::{Ledger, LedgerError, LedgerFilter, MemoryStore};
use queryables::machine::silence_guarded_panics;
use queryables::prelude::*;

#[path = "../common/own_rule.rs"]
mod own_rule;

use own_rule::{BeforeDeciding, OwnRule};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

type Sum = Capped<queryables::account::Sum<PureDp>>;
type Invalid = Box<dyn std::error::Error + Send + Sync>;

impl<H: BeforeDeciding> Durable for OwnRule<H> {
    const NAME: &'static str = "OwnRule";

    type Parameters = <Sum as Durable>::Parameters;
    type Counts = <Sum as Durable>::Counts;

    fn parameters(&self) -> Self::Parameters {
        self.sum.parameters()
    }

    fn build(_: Self::Parameters) -> Result<Self, Invalid> {
        Err("its code is not written down".into())
    }

    fn counts(&self) -> Self::Counts {
        self.sum.counts()
    }

    fn resume(&self, counts: Self::Counts) -> Result<Self, Invalid> {
        Ok(Self {
            sum: self.sum.resume(counts)?,
            code: self.code.clone(),
        })
    }
}

type OwnFilter<H> = LedgerFilter<(), OwnRule<H>>;

/// Every store, each with a new ledger.
fn ledgers(name: &str) -> [Ledger; 3] {
    let file = Ledger::create(fresh(&format!("{name}.redb")), "numbers").unwrap();
    let silent = Ledger::on(MemoryStore::without_record(), "numbers").unwrap();
    [Ledger::in_memory("numbers").unwrap(), silent, file]
}

fn launched<H: BeforeDeciding>(ledger: &Ledger, code: H) -> OwnFilter<H> {
    let filter = Filter::concurrent_with(OwnRule::new(epsilon("1"), code));
    ledger.start("census", &filter, &Arc::new(())).unwrap()
}

fn released<H: BeforeDeciding>(
    filter: &OwnFilter<H>,
    loss: &str,
) -> Result<u64, LedgerError<Epsilon>> {
    filter.party("Ana").release(&Numbered::new(3, loss))
}

/// Reads its own filter as it is asked to decide, and launches there.
#[derive(Clone, Debug)]
struct Nosy {
    filter: Arc<Mutex<Option<OwnFilter<Nosy>>>>,
    /// How often it was asked to decide.
    asked: Arc<AtomicUsize>,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Reads,
    ReadsOnAThread,
    Launches,
    Panics,
}

impl BeforeDeciding for Nosy {
    fn before_deciding(&self, loss: &Epsilon) -> Result<(), Exceeded> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let filter = self.filter.lock().unwrap().clone();
        match (self.how, filter) {
            (How::Reads, Some(filter)) => assert!(filter.remaining().is_ok()),
            (How::ReadsOnAThread, Some(filter)) => {
                let read = thread::spawn(move || filter.privacy_loss());
                let _ = read.join().unwrap().unwrap();
            }
            // Once: the launch inside asks the rule again.
            (How::Launches, Some(filter)) if asked == 0 => {
                assert_eq!(released(&filter, "0.25"), Ok(3));
            }
            (How::Panics, _) if *loss > epsilon("0.5") => panic!("a loss of more than a half"),
            _ => {}
        }
        Ok(())
    }
}

/// A filter in the ledger whose rule holds this handle, another one or the same.
fn nosy(
    ledger: &Ledger,
    how: How,
    handle: impl FnOnce(&OwnFilter<Nosy>) -> OwnFilter<Nosy>,
) -> (OwnFilter<Nosy>, Arc<AtomicUsize>) {
    let nosy = Nosy {
        filter: Arc::default(),
        asked: Arc::default(),
        how,
    };
    let (held, asked) = (Arc::clone(&nosy.filter), Arc::clone(&nosy.asked));
    let filter = launched(ledger, nosy);
    *held.lock().unwrap() = Some(handle(&filter));
    (filter, asked)
}

#[test]
fn a_rule_may_read_its_own_filter_in_a_ledger() {
    for how in [How::Reads, How::ReadsOnAThread] {
        for ledger in ledgers(&format!("{how:?}")) {
            // On a thread of its own: the timeout of the runner detects a deadlock.
            let (done, is_done) = channel();
            thread::spawn(move || {
                let (filter, _) = nosy(&ledger, how, Clone::clone);
                let fits = filter.party("Ana").would_admit(&epsilon("1")).unwrap();
                let seen = (fits, released(&filter, "0.5"), filter.privacy_loss());
                done.send(seen).unwrap();
            });
            let expected = (true, Ok(3), Ok(epsilon("0.5")));
            assert_eq!(is_done.recv(), Ok(expected));
        }
    }
}

#[test]
fn a_rule_that_launches_in_a_ledger_decides_again_on_what_it_made() {
    for ledger in ledgers("launches") {
        let (filter, asked) = nosy(&ledger, How::Launches, Clone::clone);
        assert_eq!(released(&filter, "0.5"), Ok(3));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.75")));
        // For the launch, for the one inside, and for the launch again.
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        let refused = released(&filter, "0.5");
        assert_eq!(refused, Err(over_budget(["0.75", "0.5", "0.25", "1"])));
        assert_eq!(filter.launched(), Ok(2));
        if !ledger.lines(1, 1).unwrap().is_empty() {
            assert_eq!(filter.replay(), Ok(3));
        }
    }
}

/// The store is the one that notices.
#[test]
fn a_rule_that_launches_through_another_handle_decides_again_too() {
    let ledger = Ledger::create(fresh("other handle.redb"), "numbers").unwrap();
    let (filter, asked) = nosy(&ledger, How::Launches, |_| {
        let quiet = Nosy {
            filter: Arc::default(),
            asked: Arc::default(),
            how: How::Reads,
        };
        launched(&ledger, quiet)
    });
    assert_eq!(
        released(&filter, "0.8"),
        Err(over_budget(["0.25", "0.8", "0.75", "1"]))
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(released(&filter, "0.75"), Ok(3));
    assert_eq!(filter.replay(), Ok(3));
}

#[test]
fn a_rule_that_panics_in_a_ledger_changes_nothing() {
    silence_guarded_panics();
    for ledger in ledgers("rule panics") {
        let (filter, _) = nosy(&ledger, How::Panics, Clone::clone);
        assert_eq!(released(&filter, "0.25"), Ok(3));
        let failed = released(&filter, "0.6");
        assert_eq!(failed, Err(LaunchError::RuleFailed.into()));
        let fits = filter.party("Ana").would_admit(&epsilon("0.6"));
        assert_eq!(fits, Ok(false));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.25")));
        assert_eq!(released(&filter, "0.5"), Ok(3));
    }
}

#[test]
fn quotas_and_keys_are_kept_under_a_rule_that_launches() {
    for ledger in ledgers("quotas of rules") {
        let ledger = ledger.keeping_answers();
        let (filter, _) = nosy(&ledger, How::Launches, Clone::clone);
        let quota = filter.quota("small", epsilon("0.5")).unwrap();
        let ana = filter.party("Ana").with_quota(&quota).unwrap();
        for _ in 0..2 {
            let once = ana.release_once("k", &Numbered::new(7, "0.375"));
            assert_eq!(once, Ok(7));
        }
        // The launch inside is held to no quota.
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.625")));
        assert_eq!(filter.spent_of(&quota), Ok(Some(epsilon("0.375"))));
        let over = ana.release(&Numbered::new(8, "0.25")).unwrap_err();
        assert!(
            matches!(over, LedgerError::Launch(LaunchError::OverQuota { .. })),
            "{over}"
        );
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.625")));
        assert_eq!(filter.spent_of(&quota), Ok(Some(epsilon("0.375"))));
    }
}

// ---- The clone of a rule, and reading it back, run under no lock -------------------------------------

type Hook = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// Does something once, as it is cloned: also where a state is read back.
struct Hooked(Hook);

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooked")
    }
}

impl Clone for Hooked {
    fn clone(&self) -> Self {
        let hook = self.0.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
        Self(Arc::clone(&self.0))
    }
}

impl BeforeDeciding for Hooked {
    fn before_deciding(&self, _: &Epsilon) -> Result<(), Exceeded> {
        Ok(())
    }
}

#[test]
fn a_rule_whose_clone_reads_its_ledger_filter_does_not_wait_for_itself() {
    for ledger in ledgers("clones") {
        let (done, is_done) = channel();
        thread::spawn(move || {
            let hook = Hook::default();
            let filter = launched(&ledger, Hooked(Arc::clone(&hook)));
            let seen = [0, 1].map(|how| {
                let inner = filter.clone();
                *hook.lock().unwrap() = Some(Box::new(move || {
                    // Also from another thread, and for a reading as for a launch.
                    let read = thread::spawn(move || inner.remaining());
                    let _ = read.join().unwrap().unwrap();
                }));
                match how {
                    0 => released(&filter, "0.25").is_ok(),
                    _ => filter.party("Ana").would_admit(&epsilon("0.5")).unwrap(),
                }
            });
            done.send((seen, filter.remaining())).unwrap();
        });
        let expected = ([true, true], Ok(epsilon("0.75")));
        assert_eq!(is_done.recv(), Ok(expected));
    }
}

/// What another handle has changed is read back, by the rule's code.
#[test]
fn a_state_is_read_back_under_no_lock() {
    let ledger = Ledger::create(fresh("read back.redb"), "numbers").unwrap();
    let (done, is_done) = channel();
    thread::spawn(move || {
        let hook = Hook::default();
        let filter = launched(&ledger, Hooked(Arc::clone(&hook)));
        let other = launched(&ledger, Hooked(Hook::default()));
        let seen = [0, 1].map(|how| {
            assert_eq!(released(&other, "0.25"), Ok(3));
            let inner = filter.clone();
            *hook.lock().unwrap() = Some(Box::new(move || {
                let read = thread::spawn(move || inner.remaining());
                let _ = read.join().unwrap().unwrap();
            }));
            match how {
                0 => filter.remaining(),
                _ => released(&filter, "0.5")
                    .map(|_| Epsilon::ZERO)
                    .map_err(|_| unreachable!()),
            }
        });
        done.send((seen, filter.privacy_loss())).unwrap();
    });
    let expected = ([Ok(epsilon("0.75")), Ok(Epsilon::ZERO)], Ok(epsilon("1")));
    assert_eq!(is_done.recv(), Ok(expected));
}
