//! Several handles to one budget, and several budgets in one ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ledger::{
    Numbered, a_halt_stops_the_children_and_shares_of_another_handle,
    a_later_launch_freezes_the_child_of_another_handle, any_name_is_kept_but_one_with_a_zero,
    fresh, lines_begin_and_end_where_they_should, over_budget, pure,
};
use queryables::ledger::{
    Charge, FileStore, Ledger, LedgerError, Outcome, Receipt, Saved, Store, StoreError,
};
use queryables::machine::{Description, Stop, silence_guarded_panics};
use queryables::prelude::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

#[test]
fn lines_begin_and_end_at_the_same_place_in_every_store() {
    lines_begin_and_end_where_they_should(&Ledger::in_memory("numbers").unwrap());
    let file = Ledger::create(fresh("ends.redb"), "numbers").unwrap();
    lines_begin_and_end_where_they_should(&file);
}

#[test]
fn names_are_the_same_in_every_store() {
    any_name_is_kept_but_one_with_a_zero(&Ledger::in_memory("numbers").unwrap(), || None);
    let path = fresh("names.redb");
    let file = Ledger::create(&path, "numbers").unwrap();
    any_name_is_kept_but_one_with_a_zero(&file, || None);
    drop(file);
    let again = Ledger::open(path, "numbers").unwrap();
    assert_eq!(again.lines(1, usize::MAX).unwrap().len(), 48);
    let zero = Ledger::in_memory("a\0b").map(drop);
    let what = "a dataset's name with the character U+0000".to_owned();
    assert_eq!(zero, Err(StoreError::Unwritable(what)));
}

/// Approximate zCDP has no theorem for children that are interleaved: it must not matter which handle
/// they come from.
#[test]
fn a_later_launch_of_any_handle_freezes_the_child_before_it() {
    let ledger = Ledger::create(fresh("freezes.redb"), "numbers").unwrap();
    a_later_launch_freezes_the_child_of_another_handle(&ledger, &ledger.clone());
}

#[test]
fn a_halt_of_any_handle_stops_children_and_shares() {
    let ledger = Ledger::create(fresh("halts all.redb"), "numbers").unwrap();
    a_halt_stops_the_children_and_shares_of_another_handle(&ledger, &ledger.clone());
}

/// In memory a budget has one handle, and clones of it.
#[test]
fn a_halt_in_memory_stops_children_and_shares() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
    let other = filter.clone();
    let child = filter
        .party("Ana")
        .launch(&Numbered::new(1, "0.1"))
        .unwrap();
    let share = Filter::concurrent(PureDp, epsilon("0.5"));
    let share = filter.reserve("Ben", &share).unwrap();
    let in_share = share.party("Ben").launch(&Numbered::new(2, "0.1")).unwrap();
    assert_eq!((child.ask(()), in_share.ask(())), (Ok(1), Ok(2)));
    let refused = other.party("Eva").release(&Numbered::new(3, "2"));
    assert_eq!(refused, Err(over_budget(["0.6", "2", "0.4", "1"])));
    let stopped = Err(AskError::Stopped(Stop::Halted));
    assert_eq!((child.ask(()), in_share.ask(())), (stopped, stopped));
    let halted = LaunchError::Stopped(Stop::Halted);
    let released = share.party("Ben").release(&Numbered::new(4, "0.1"));
    assert_eq!(released, Err(halted.into()));
}

/// Does something as it starts, and answers 7.
struct Doing<F>(F);

impl<F: Fn()> Mechanism<()> for Doing<F> {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        (self.0)();
        Ok(Released(7))
    }

    fn describe(&self) -> Description {
        Description::new("Doing")
    }
}

impl<F> Private<PureDp, AddRemove> for Doing<F> {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.1"))
    }
}

/// Its code could have seen the answers of the other handle's launch.
#[test]
fn a_release_that_another_handle_freezes_is_withheld() {
    let open = |ledger: &Ledger| {
        let filter = Filter::sequential(PureDp, epsilon("1"));
        ledger.start("in turns", &filter, &Arc::new(())).unwrap()
    };
    let memory = open(&Ledger::in_memory("numbers").unwrap());
    let file = Ledger::create(fresh("withheld.redb"), "numbers").unwrap();
    for (one, other) in [(memory.clone(), memory), (open(&file), open(&file))] {
        let ana = one.party("Ana");
        let later = || {
            let later = other.party("Ben").release(&Numbered::new(1, "0.1"));
            assert_eq!(later, Ok(1));
        };
        let failed = LedgerError::Launch(LaunchError::Failed);
        assert_eq!(ana.release(&Doing(|| ())), Ok(7));
        assert_eq!(ana.release(&Doing(later)), Err(failed.clone()));
        let once = || ana.release_once("key", &Doing(later));
        assert_eq!(once(), Err(failed.clone()));
        assert_eq!(once(), Err(LedgerError::NoAnswer));
        assert_eq!(ana.launch(&Doing(later)).map(drop), Err(failed));
    }
}

/// A halt changes the state too, and is told from a later launch.
#[test]
fn the_child_of_a_sequential_filter_that_halts_says_so() {
    let memory = Ledger::in_memory("numbers").unwrap();
    let file = Ledger::create(fresh("halts.redb"), "numbers").unwrap();
    for ledger in [memory, file] {
        let filter = Filter::sequential(PureDp, epsilon("1")).halting();
        let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
        let ana = filter.party("Ana");
        let child = ana.launch(&Numbered::new(1, "0.5")).unwrap();
        assert_eq!(child.ask(()), Ok(1));
        let refused = ana.release(&Numbered::new(2, "0.6"));
        assert_eq!(refused, Err(over_budget(["0.5", "0.6", "0.5", "1"])));
        assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
    }
}

#[test]
fn a_quota_is_the_same_one_in_every_handle_or_not_there() {
    let ledger = Ledger::create(fresh("places.redb"), "numbers").unwrap();
    let (one, other) = (pure(&ledger, "census", "1"), pure(&ledger, "census", "1"));
    let small = one.quota("small", epsilon("0.1")).unwrap();
    let budget = r#"("census", "small")"#.to_owned();
    // The other handle does not know it, and would not hold anybody to it.
    let unknown = other.party("Ana").with_quota(&small);
    assert_eq!(unknown.unwrap_err(), StoreError::NotOpen { budget });
    assert_eq!(other.spent_of(&small), Ok(None));
    // There it comes second.
    other.quota("large", epsilon("1")).unwrap();
    other.quota("small", epsilon("0.1")).unwrap();
    let ana = other.party("Ana").with_quota(&small).unwrap();
    assert_eq!(ana.release(&Numbered::new(1, "0.1")), Ok(1));
    let refused = ana.release(&Numbered::new(2, "0.1"));
    assert!(matches!(
        refused,
        Err(LedgerError::Launch(LaunchError::OverQuota { .. }))
    ));
    for filter in [&one, &other] {
        assert_eq!(filter.spent_of(&small), Ok(Some(epsilon("0.1"))));
    }
}

/// Says of itself what it is told to.
#[derive(Clone)]
struct Described(Description, Epsilon);

impl Mechanism<()> for Described {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(0))
    }

    fn describe(&self) -> Description {
        self.0.clone()
    }
}

impl Private<PureDp, AddRemove> for Described {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.1)
    }
}

/// A release cannot be charged in place of a share: the share would be spent without a charge.
#[test]
fn no_key_of_a_party_is_that_of_a_share() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    let share = Filter::concurrent(PureDp, epsilon("0.6"));
    // As if it were complete: a key would not be taken otherwise.
    let described = Mechanism::<()>::describe(&share);
    let complete = Description::new(described.name().to_owned());
    let parameters = described.parameters();
    let complete = parameters.fold(complete, |all, (key, value)| {
        all.with(key.to_owned(), value)
    });
    let disguised = Described(complete, epsilon("0.6"));
    for (party, key) in [("share", "Ben"), ("Ben", "share"), ("Ben", "")] {
        let released = filter.party(party).release_once(key, &disguised);
        if key == "Ben" {
            assert_eq!(released, Ok(0));
        } else {
            assert_eq!(released, Err(over_budget(["0.6", "0.6", "0.4", "1"])));
        }
    }
    let refused = filter.reserve("Ben", &share).map(drop).unwrap_err();
    let over = over_budget(["0.6", "0.6", "0.4", "1"]);
    assert_eq!(refused, over);
}

/// Fails when it is told to.
#[derive(Debug)]
struct Failing {
    store: FileStore,
    /// Panics in the middle of the next charge, as the code of a rule may that writes its state down.
    panics: Arc<AtomicBool>,
    /// Answers nothing, as a server that is not there.
    is_down: Arc<AtomicBool>,
}

fn down() -> StoreError {
    StoreError::Unavailable("down".to_owned())
}

impl Failing {
    fn up(&self) -> Result<&FileStore, StoreError> {
        match self.is_down.load(Ordering::Relaxed) {
            false => Ok(&self.store),
            true => Err(down()),
        }
    }
}

impl Store for Failing {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        self.up()?.name_dataset(name)
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        self.up()?.open(budget, terms, state)
    }

    fn newer(&self, known: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError> {
        self.up()?.newer(known)
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        if self.panics.swap(false, Ordering::Relaxed) {
            charge.decide(&[])?;
            panic!("on purpose");
        }
        self.up()?.charge(charge)
    }

    fn sync(&self, receipt: &Receipt) -> Result<(), StoreError> {
        self.up()?.sync(receipt)
    }

    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        self.up()?.finish(sequence, outcome)
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        self.up()?.lines(from, most)
    }
}

/// A ledger with a store that fails, and what makes it panic and makes it go down.
fn failing(file: &str) -> (Ledger, Arc<AtomicBool>, Arc<AtomicBool>) {
    let [panics, is_down] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let store = Failing {
        store: FileStore::create(fresh(file)).unwrap(),
        panics: Arc::clone(&panics),
        is_down: Arc::clone(&is_down),
    };
    (Ledger::on(store, "numbers").unwrap(), panics, is_down)
}

/// Nobody has halted: that it cannot be asked is not a halt. Only a child has no other word for it.
#[test]
fn a_store_that_is_down_is_its_error_and_not_a_halt() {
    let (ledger, _, is_down) = failing("down.redb");
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
    let half = Filter::concurrent(PureDp, epsilon("0.5"));
    let share = filter.reserve("Ben", &half).unwrap();
    let quarter = Filter::concurrent(PureDp, epsilon("0.25"));
    let inner = share.reserve("Eva", &quarter).unwrap();
    let in_turns = Filter::sequential(PureDp, epsilon("1"));
    let in_turns = ledger.start("in turns", &in_turns, &Arc::new(())).unwrap();
    let one = Numbered::new(1, "0.1");
    let children = [
        (filter.party("Ana").launch(&one).unwrap(), Stop::Halted),
        (inner.party("Eva").launch(&one).unwrap(), Stop::Halted),
        (in_turns.party("Ana").launch(&one).unwrap(), Stop::Frozen),
    ];
    is_down.store(true, Ordering::Relaxed);
    for (child, stop) in &children {
        assert_eq!(child.ask(()), Err(AskError::Stopped(*stop)));
    }
    for share in [&share, &inner] {
        let party = share.party("Ben");
        assert_eq!(party.would_admit(&epsilon("0.1")), Err(down()));
        assert_eq!(party.release(&one), Err(LedgerError::Store(down())));
        let once = party.release_once("key", &one);
        assert_eq!(once, Err(LedgerError::Store(down())));
        let preview = party.preview(&one).map(drop);
        assert_eq!(preview, Err(LedgerError::Store(down())));
        assert_eq!(party.remaining(), Err(down()));
    }
    is_down.store(false, Ordering::Relaxed);
    for (child, _) in &children {
        assert_eq!(child.ask(()), Ok(1));
    }
    assert_eq!(inner.party("Eva").would_admit(&epsilon("0.1")), Ok(true));
    // What has halted says so.
    let over = filter.party("Ana").release(&Numbered::new(2, "2"));
    assert_eq!(over, Err(over_budget(["0.6", "2", "0.4", "1"])));
    let halted = LaunchError::Stopped(Stop::Halted);
    assert_eq!(inner.party("Eva").would_admit(&epsilon("0.1")), Ok(false));
    assert_eq!(inner.party("Eva").release(&one), Err(halted.into()));
}

/// An answer that is given out and not kept could be drawn again for the same charge: by a copy of the
/// ledger in which its key is not known, or after a restart that takes the launch for interrupted.
#[test]
fn an_answer_that_cannot_be_kept_is_withheld() {
    let (ledger, _, is_down) = failing("not kept.redb");
    let goes_down = Doing(|| is_down.store(true, Ordering::Relaxed));
    let census = pure(&ledger, "census", "1");
    let (kept, not_kept) = (pure(&ledger.clone().keeping_answers(), "kept", "1"), census);
    let (kept, not_kept) = (kept.party("Ana"), not_kept.party("Ana"));
    let down = Err(LedgerError::Store(down()));
    assert_eq!(kept.release_once("key", &goes_down), down);
    assert_eq!(kept.release_once("key", &goes_down), down);
    is_down.store(false, Ordering::Relaxed);
    let lost = Err(LedgerError::NoAnswer);
    assert_eq!(kept.release_once("key", &goes_down), lost);
    assert_eq!(kept.privacy_loss(), Ok(epsilon("0.1")));
    // Where no answer is kept, a retry gets none, and the outcome is for readers of the record alone.
    assert_eq!(not_kept.release_once("key", &goes_down), Ok(7));
    is_down.store(false, Ordering::Relaxed);
    assert_eq!(not_kept.release_once("key", &goes_down), lost);
    assert_eq!(kept.release(&goes_down), Ok(7));
}

/// Has no JSON form.
#[derive(Debug, PartialEq, serde::Deserialize)]
struct Formless;

impl serde::Serialize for Formless {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it has no form"))
    }
}

#[test]
fn an_answer_that_has_no_form_is_withheld_where_answers_are_kept() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let formless = Numbered::new(1, "0.1");
    let formless = formless.mapped(|_: u64| Formless).named("formless");
    let (filter, kept) = (pure(&ledger, "census", "1"), ledger.keeping_answers());
    assert_eq!(
        filter.party("Ana").release_once("key", &formless),
        Ok(Formless)
    );
    let filter = pure(&kept, "kept", "1");
    let unwritable = StoreError::Unwritable("it has no form".to_owned());
    let withheld = filter.party("Ana").release_once("key", &formless);
    assert_eq!(withheld, Err(LedgerError::Store(unwritable)));
    let again = filter.party("Ana").release_once("key", &formless);
    assert_eq!(again, Err(LedgerError::NoAnswer));
    assert_eq!(filter.launched(), Ok(1));
}

/// The handle has counted a launch that was not written. Meanwhile another handle launches, and the
/// store has as many versions as the first believes.
#[test]
fn a_panic_in_a_charge_leaves_no_state_behind() {
    silence_guarded_panics();
    let (ledger, panics, _) = failing("panics.redb");
    let (one, other) = (pure(&ledger, "census", "1"), pure(&ledger, "census", "1"));
    panics.store(true, Ordering::Relaxed);
    let failed = one.party("Ana").release(&Numbered::new(1, "0.3"));
    let why = StoreError::Unwritable("the rule or the store failed".to_owned());
    assert_eq!(failed, Err(LedgerError::Store(why)));
    assert_eq!(other.party("Ben").release(&Numbered::new(2, "0.6")), Ok(2));
    let refused = one.party("Ana").release(&Numbered::new(3, "0.6"));
    assert_eq!(refused, Err(over_budget(["0.6", "0.6", "0.4", "1"])));
    assert_eq!(one.replay(), Ok(2));
}

/// An answer is stored as JSON, and is read as it was written.
#[derive(Clone)]
struct Float(f64);

impl Mechanism<()> for Float {
    type Machine = Released<f64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<f64>, Fault> {
        Ok(Released(self.0))
    }

    fn describe(&self) -> Description {
        Description::new("Float").with("answer", self.0)
    }
}

impl Private<PureDp, AddRemove> for Float {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.001"))
    }
}

#[test]
fn a_retry_gets_the_same_float_to_the_last_bit() {
    let ledger = Ledger::create(fresh("floats.redb"), "numbers").unwrap();
    let filter = pure(&ledger.keeping_answers(), "census", "1");
    let ana = filter.party("Ana");
    let mut bits = 0x3ff8_0000_0000_0001_u64;
    for turn in 0..500 {
        // Of the usual size, and with all digits.
        let answer = Float(f64::from_bits(bits >> 12 | 0x3ff0_0000_0000_0000) * 1e5 - 1.3e5);
        bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let key = turn.to_string();
        let first = ana.release_once(&key, &answer).unwrap();
        let again = ana.release_once(&key, &answer).unwrap();
        assert_eq!(first.to_bits(), again.to_bits(), "{first:?} {again:?}");
    }
}
