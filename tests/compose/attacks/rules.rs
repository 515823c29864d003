//! Third-party losses and rules run in the middle of a launch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use super::{FROZEN, Sequentially, once, rows, sequentially};
use crate::common::own_rule::{BeforeDeciding, OwnRule};
use crate::common::{Run, at, epsilon};
use queryables::account::Exceeded;
use queryables::compose::{Addressed, Message, RunningFilter};
use queryables::machine::{CoinSource, DomainMismatch, NotPrivateSeededCoins, Public, Stop};
use queryables::prelude::*;
use queryables::privacy::{Additive, Measure, Overflow, RdpGrid};
use queryables::verify::{Children, Pair, Verifier, copies_of};

// ---- Stating a loss may stop the launch that it is stated for -----------------------------------

/// Launches on a handle that it holds before it states its loss.
struct Sly {
    outer: Sequentially,
    heard: AtomicUsize,
    started: AtomicUsize,
}

impl Mechanism<Vec<u8>> for Sly {
    type Machine = Released<usize>;

    fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        self.started.fetch_add(1, Ordering::SeqCst);
        Ok(Released(self.heard.load(Ordering::SeqCst)))
    }
}

impl Private<PureDp, AddRemove> for Sly {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        let later = self.outer.release(&once("0.1"));
        self.heard.store(later.unwrap_or(0), Ordering::SeqCst);
        Ok(epsilon("0.1"))
    }
}

#[test]
fn a_loss_that_freezes_its_own_launch_is_refused() {
    let sly = |outer: &Sequentially| Sly {
        outer: outer.clone(),
        heard: AtomicUsize::new(0),
        started: AtomicUsize::new(0),
    };
    let outer = sequentially();
    let inner = outer
        .launch(&Filter::sequential(PureDp, epsilon("1")))
        .unwrap();
    assert_eq!(
        inner.release(&sly(&outer)),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
    assert_eq!(inner.privacy_loss(), Epsilon::ZERO);

    // As a machine in between, too.
    let outer = sequentially();
    let sly = Arc::new(sly(&outer));
    let between = Filter::sequential(PureDp, epsilon("1"));
    let inner = outer.launch(&Addressed::new(between)).unwrap();
    let launch = Message::Launch(Shared(Arc::clone(&sly)));
    assert_eq!(inner.ask(launch), Err(FROZEN));
    assert_eq!(sly.started.load(Ordering::SeqCst), 0);
}

/// Has no price, and chooses the reason after it has frozen whoever asks.
struct Choosy(Sequentially, bool);

impl Mechanism<Vec<u8>> for Choosy {
    type Machine = Released<()>;

    fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
        Ok(Released(()))
    }

    fn check(&self, _: Public<'_, Vec<u8>>) -> Result<(), DomainMismatch> {
        if !self.1 {
            return Ok(());
        }
        self.0.release(&once("0.1")).unwrap();
        Err(DomainMismatch("chosen late"))
    }
}

impl Private<PureDp, AddRemove> for Choosy {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.release(&once("0.1")).unwrap();
        Err(UnknownLoss("chosen late"))
    }
}

#[test]
fn a_stop_hides_why_there_is_no_price() {
    let frozen = Err(LaunchError::Stopped(Stop::Frozen));
    for unsuitable in [false, true] {
        let outer = sequentially();
        let inner = outer.launch(&Filter::concurrent(PureDp, epsilon("1")));
        let choosy = Choosy(outer, unsuitable);
        assert_eq!(inner.unwrap().release(&choosy), frozen);
    }
}

#[derive(Clone)]
struct Shared(Arc<Sly>);

impl Mechanism<Vec<u8>> for Shared {
    type Machine = Released<usize>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        self.0.start(rows, coins)
    }
}

impl Private<PureDp, AddRemove> for Shared {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.loss(measure)
    }
}

// ---- A third-party rule cannot deadlock its filter ----------------------------------------------

type OwnFilter = RunningFilter<Vec<u8>, OwnRule<Nosy>>;

/// Reads its own filter as it is asked to decide, and launches there.
#[derive(Clone, Debug)]
struct Nosy {
    filter: Arc<Mutex<Option<OwnFilter>>>,
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
            (How::Reads, Some(filter)) => drop(filter.remaining()),
            (How::ReadsOnAThread, Some(filter)) => {
                thread::spawn(move || filter.privacy_loss()).join().unwrap();
            }
            // Once: the launch inside asks the rule again.
            (How::Launches, Some(filter)) if asked == 0 => {
                filter.release(&once("0.25")).unwrap();
            }
            (How::Panics, _) if *loss > epsilon("0.5") => panic!("a loss of more than a half"),
            _ => {}
        }
        Ok(())
    }
}

fn nosy(how: How) -> (OwnFilter, Arc<AtomicUsize>) {
    let nosy = Nosy {
        filter: Arc::default(),
        asked: Arc::default(),
        how,
    };
    let (held, asked) = (Arc::clone(&nosy.filter), Arc::clone(&nosy.asked));
    let rule = OwnRule::new(epsilon("1"), nosy);
    let filter = start(&Filter::concurrent_with(rule), rows()).unwrap();
    *held.lock().unwrap() = Some(filter.clone());
    (filter, asked)
}

#[test]
fn a_rule_may_read_its_own_filter() {
    for how in [How::Reads, How::ReadsOnAThread] {
        // On a thread of its own: the timeout of the runner detects a deadlock.
        let (done, is_done) = channel();
        thread::spawn(move || {
            let (filter, _) = nosy(how);
            done.send((filter.release(&once("0.5")), filter.privacy_loss()))
        });
        assert_eq!(is_done.recv(), Ok((Ok(3), epsilon("0.5"))));
    }
}

#[test]
fn a_rule_that_launches_decides_again_on_what_it_made() {
    let (filter, asked) = nosy(How::Launches);
    assert_eq!(filter.release(&once("0.5")), Ok(3));
    assert_eq!(filter.privacy_loss(), epsilon("0.75"));
    // For the launch, for the one inside, and for the launch again.
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[test]
fn asking_whether_a_launch_would_be_admitted_charges_nothing() {
    let (filter, asked) = nosy(How::Reads);
    assert!(filter.would_admit(&epsilon("1")));
    assert!(!filter.would_admit(&epsilon("1.1")));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
}

#[test]
fn a_rule_that_panics_changes_nothing() {
    let (filter, _) = nosy(How::Panics);
    filter.release(&once("0.25")).unwrap();
    assert_eq!(filter.release(&once("0.6")), Err(LaunchError::RuleFailed));
    assert!(!filter.would_admit(&epsilon("0.6")));
    assert_eq!(filter.privacy_loss(), epsilon("0.25"));
    assert_eq!(filter.release(&once("0.5")), Ok(3));
}

// ---- The clone of a third-party rule runs under no lock -----------------------------------------

type Hook = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// Does something once, as it is cloned.
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
fn a_rule_whose_clone_reads_its_filter_does_not_wait_for_itself() {
    let (done, is_done) = channel();
    thread::spawn(move || {
        let hook = Hook::default();
        let rule = OwnRule::new(epsilon("1"), Hooked(Arc::clone(&hook)));
        let filter = start(&Filter::concurrent_with(rule), rows()).unwrap();
        let seen = || {
            [0, 1].map(|how| {
                let inner = filter.clone();
                *hook.lock().unwrap() = Some(Box::new(move || {
                    // Also from another thread, and for a reading as for a launch.
                    thread::spawn(move || inner.remaining()).join().unwrap();
                }));
                match how {
                    0 => filter.release(&once("0.25")).is_ok(),
                    _ => filter.would_admit(&epsilon("0.5")),
                }
            })
        };
        done.send((seen(), filter.remaining()))
    });
    assert_eq!(is_done.recv(), Ok(([true, true], epsilon("0.75"))));
}

// ---- A rule that panics hides nothing from the verifier ------------------------------------------------

/// Tells the bit, at this loss.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
struct Tell(u8);

impl Mechanism<bool> for Tell {
    type Machine = Released<bool>;

    fn start(&self, bit: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(**bit))
    }
}

impl Private<PureDp, AddRemove> for Tell {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon(&self.0.to_string()))
    }
}

#[test]
fn a_state_after_a_panic_of_the_rule_is_told_from_one_before() {
    let panics: fn(&Epsilon) = |loss| assert!(*loss < epsilon("100"));
    let rule = OwnRule::new(epsilon("1000"), panics);
    let filter = Addressed::<_, Tell>::new(Filter::concurrent_with(rule));
    let pair = Pair::new(false, true);
    // The absurd loss first: what comes after it must still be explored.
    let menu = Children::new(vec![Tell(200), Tell(1)], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 4);
    assert!(!verifier.check(&PureDp, &Epsilon::ZERO).unwrap().holds());
}

#[test]
fn a_machine_admits_no_loss_that_does_not_belong_to_its_measure() {
    let grid = |orders: &[&str]| RdpGrid::new(orders.iter().map(|o| o.parse().unwrap())).unwrap();
    let (two, one) = (grid(&["2", "8"]), grid(&["3"]));
    let budget = two.curve(["1", "1"].map(epsilon)).unwrap();
    let mut source = NotPrivateSeededCoins::new(0);
    let coins: &mut Coins<'_> = &mut source.coins();
    let filter = Filter::concurrent(two.clone(), budget);
    let mut filter = filter.start(&rows(), coins).unwrap();
    let foreign = one.curve([Epsilon::ZERO]).unwrap();
    assert_eq!(
        filter.admit(&foreign, coins).map(|_| ()),
        Err(LaunchError::UnknownLoss(UnknownLoss::FOREIGN))
    );
    assert_eq!(two.plus(&two.zero(), &foreign), Err(Overflow));
    let huge = two.curve(["0", "1000"].map(epsilon)).unwrap();
    let huge = at(huge, Run::new(|rows: &Vec<u8>| Ok(rows.len())));
    assert!(matches!(
        filter.release(&huge, coins),
        Err(LaunchError::Refused(_))
    ));
}
