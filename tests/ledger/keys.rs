//! A key stands for one question: never for another whose description leaves something out.

use std::sync::Arc;

use ledger::Long;
use queryables::account::{Capped, Sum};
use queryables::compose::ConcurrentComposition;
use queryables::data::{Attribute, Predicate};
use queryables::ledger::{Ledger, LedgerError, LedgerFilter, Line, Party};
use queryables::machine::Answered;
use queryables::mechanisms::{
    AboveThreshold, Choice, Count, CountScores, Histogram, NoisyCount, NoisyQuantiles, Partition,
    TopK,
};
use queryables::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

type Rows = Vec<u32>;
type Rule = Capped<Sum<PureDp>>;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn opened(ledger: &Ledger) -> LedgerFilter<Rows, Rule> {
    let rows: Arc<Rows> = Arc::new((0..1000).collect());
    let filter = Filter::concurrent(PureDp, epsilon("1000"));
    ledger.start("census", &filter, &rows).unwrap()
}

fn count() -> NoisyCount<Rows> {
    Count::of(Predicate::new("all", |_: &u32| true))
        .laplace(epsilon!(1))
        .unwrap()
}

/// An answer that a ledger can keep.
trait Kept: Serialize + DeserializeOwned + PartialEq {}

impl<T: Serialize + DeserializeOwned + PartialEq> Kept for T {}

/// With one key the first is released, and given again; the second is another question.
fn are_told_apart<A, B>(party: &Party<Rows, Rule>, key: &str, one: &A, other: &B)
where
    A: Mechanism<Rows, Machine: Answered<Value: Kept>> + Private<PureDp, AddRemove>,
    B: Mechanism<Rows, Machine: Answered<Value: Kept>> + Private<PureDp, AddRemove>,
{
    let first = party
        .release_once(key, one)
        .map_err(|error| error.to_string());
    let again = party
        .release_once(key, one)
        .map_err(|error| error.to_string());
    assert!(first.is_ok() && first == again, "{key}");
    let second = party.release_once(key, other).map(drop);
    assert_eq!(second, Err(LedgerError::OtherLaunch), "{key}");
}

#[test]
fn the_key_of_one_mechanism_is_not_that_of_another() {
    let ledger = Ledger::in_memory("numbers").unwrap().keeping_answers();
    let filter = opened(&ledger);
    let ana = filter.party("Ana");
    let histogram = |keys: [u32; 2]| {
        let partition = Partition::by_key("last digit", |row: &u32| row % 10, keys).unwrap();
        Histogram::of(partition).laplace(epsilon!(1)).unwrap()
    };
    are_told_apart(&ana, "keys", &histogram([1, 2]), &histogram([7, 8]));
    let is = |number: u32| Predicate::new(format!("is {number}"), move |row: &u32| *row == number);
    let top = |ninth: u32| {
        let candidates = (0..8).chain([ninth]).map(is);
        Choice::by(
            AddRemove,
            TopK(1),
            CountScores::of(candidates),
            epsilon("1"),
        )
        .unwrap()
    };
    are_told_apart(&ana, "ninth", &top(8), &top(9));
    // So many that the record has a digest of them.
    let many = |last: u32| {
        let candidates = (0..5000).chain([last]).map(is);
        Choice::by(
            AddRemove,
            TopK(1),
            CountScores::of(candidates),
            epsilon("1"),
        )
        .unwrap()
    };
    are_told_apart(&ana, "many", &many(5000), &many(5001));
    let median = |high| {
        let itself = Attribute::new("itself", |row: &u32| i64::from(*row));
        NoisyQuantiles::new(AddRemove, itself, 0..=high, [(1, 2)], epsilon("1")).unwrap()
    };
    are_told_apart(&ana, "range", &median(10), &median(11));
    assert_eq!(filter.launched(), Ok(4));
    let lines = ledger.lines(1, 10).unwrap();
    let entries = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => Some(entry),
        _ => None,
    });
    for entry in entries {
        assert!(
            entry
                .mechanism
                .parameters()
                .all(|(_, value)| value.len() < 250)
        );
    }
}

/// Each of the counts has a short description, and all together have more than 8192 bytes.
#[test]
fn a_composition_of_many_counts_is_recorded_by_a_digest() {
    let ledger = Ledger::in_memory("numbers").unwrap().keeping_answers();
    let filter = opened(&ledger);
    let ana = filter.party("Ana");
    let counts = (0..200).map(|number: u32| {
        let is = format!("is exactly the number {number}");
        Count::of(Predicate::new(is, move |row: &u32| *row == number))
            .laplace(epsilon!(1))
            .unwrap()
    });
    let many = ana.launch(&ConcurrentComposition::new(counts)).unwrap();
    let _: i64 = many.ask((199, ())).unwrap().unwrap();
    let lines = ledger.lines(1, 1).unwrap();
    let Some(Line::Entry(entry)) = lines.first() else {
        panic!("{lines:?}");
    };
    assert_eq!(entry.mechanism.name(), "ConcurrentComposition");
    let parameters: Vec<_> = entry.mechanism.parameters().collect();
    let [("parameters", all)] = parameters[..] else {
        panic!("{parameters:?}");
    };
    assert!(all.contains("… SHA-256 of all "), "{all}");
    assert!(entry.mechanism.is_complete());
    let long = |bytes| Long(bytes, epsilon("1"));
    are_told_apart(&ana, "long", &long(20_000), &long(20_001));
}

/// Answers what it was made with, and says nothing of it.
struct Silent(u64);

impl Mechanism<Rows> for Silent {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<Rows>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(self.0))
    }
}

impl Private<PureDp, AddRemove> for Silent {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("1"))
    }
}

#[test]
fn a_function_without_a_name_has_no_key() {
    let ledger = Ledger::in_memory("numbers").unwrap().keeping_answers();
    let filter = opened(&ledger);
    let ana = filter.party("Ana");
    ana.release_once("k", &count()).unwrap();
    let unknown = Err(LedgerError::NotComparable);
    for key in ["k", "another"] {
        let negated = ana.release_once(key, &count().mapped(|count: i64| -count));
        assert_eq!(negated, unknown);
        assert_eq!(
            ana.release_once(key, &Silent(7)),
            Err(LedgerError::NotComparable)
        );
    }
    assert_eq!(filter.launched(), Ok(1));
    assert_eq!(
        ledger.lines(1, 10).unwrap().len(),
        2,
        "nothing else was written"
    );
    // Without a key nothing has to be told apart.
    assert_eq!(ana.release(&Silent(7)), Ok(7));

    // The name is the word of its author.
    let negated = || count().mapped(|count: i64| -count).named("negated");
    let share = || {
        count()
            .mapped(|count: i64| count as f64 / 1e6)
            .named("millions")
    };
    are_told_apart(&ana, "named", &negated(), &share());
    are_told_apart(&ana, "none", &count(), &negated());
    let said = LedgerError::<Epsilon>::NotComparable.to_string();
    assert!(
        said.contains("`Mapped::named`") && said.contains("`describe`"),
        "{said}"
    );
}

/// The record says of a launch that its description is incomplete, and only then.
#[test]
fn an_entry_says_that_its_description_is_incomplete() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = opened(&ledger);
    let ana = filter.party("Ana");
    ana.release(&count()).unwrap();
    ana.release(&Silent(7)).unwrap();
    let mut out = vec![];
    ledger.export(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let entries: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("mechanism"))
        .collect();
    assert!(!entries[0].contains("incomplete"));
    assert!(
        entries[1].contains(r#""mechanism":{"name":"Silent","parameters":[],"incomplete":true}"#)
    );
    let lines = ledger.lines(1, 10).unwrap();
    let complete = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => Some(entry.mechanism.is_complete()),
        _ => None,
    });
    assert_eq!(complete.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_child_is_launched_once_for_a_key() {
    let path = ledger::fresh("launch_once.redb");
    let search = |threshold| {
        AboveThreshold::<Predicate<Rows>>::new(AddRemove, threshold, 1, epsilon("1")).unwrap()
    };
    let ledger = Ledger::create(&path, "rows").unwrap();
    let filter = opened(&ledger);
    let ana = filter.party("Ana");
    let child = ana.launch_once("first", &search(10)).unwrap();
    let again = ana.launch_once("first", &search(10)).err();
    assert_eq!(again, Some(LedgerError::NoAnswer));
    let other = ana.launch_once("first", &search(11)).err();
    assert_eq!(other, Some(LedgerError::OtherLaunch));
    // A release has no key of a child, and another party has its own.
    let release = ana.release_once("first", &count());
    assert_eq!(release, Err(LedgerError::OtherLaunch));
    assert!(
        filter
            .party("Ben")
            .launch_once("first", &search(10))
            .is_ok()
    );
    // The child is as every other one.
    let none = Predicate::new("none", |_: &u32| false);
    assert!(child.ask(none).is_ok());
    assert_eq!(filter.privacy_loss().unwrap(), epsilon("2"));
    drop((child, ana, filter, ledger));

    let ledger = Ledger::open(&path, "rows").unwrap();
    let filter = opened(&ledger);
    let again = filter.party("Ana").launch_once("first", &search(10)).err();
    assert_eq!(again, Some(LedgerError::NoAnswer));
    assert_eq!(filter.privacy_loss().unwrap(), epsilon("2"));
}

#[test]
fn a_party_reserves_shares_within_its_quota() {
    let path = ledger::fresh("party_shares.redb");
    let share = |budget| Filter::concurrent(PureDp, epsilon(budget));
    let spent = {
        let ledger = Ledger::create(&path, "rows").unwrap();
        let filter = opened(&ledger);
        let quota = filter.quota("Ana's", epsilon("5")).unwrap();
        let ana = filter.party("Ana").with_quota(&quota).unwrap();
        let anas = ana.reserve("spring", &share("3")).unwrap();
        anas.party("Ana").release(&count()).unwrap();
        let over = ana.reserve("summer", &share("3")).err();
        assert!(
            matches!(
                over,
                Some(LedgerError::Launch(LaunchError::OverQuota { .. }))
            ),
            "{over:?}"
        );
        // Another party has another share of this name.
        let bens = filter.party("Ben").reserve("spring", &share("4")).unwrap();
        assert_eq!(bens.privacy_loss().unwrap(), epsilon("0"));
        assert_eq!(filter.spent_of(&quota).unwrap(), Some(epsilon("3")));
        filter.privacy_loss().unwrap()
    };
    assert_eq!(spent, epsilon("7"));

    let ledger = Ledger::open(&path, "rows").unwrap();
    let filter = opened(&ledger);
    let quota = filter.quota("Ana's", epsilon("5")).unwrap();
    let ana = filter.party("Ana").with_quota(&quota).unwrap();
    let anas = ana.reserve("spring", &share("3")).unwrap();
    assert_eq!(anas.privacy_loss().unwrap(), epsilon("1"));
    // Charged once, in all processes.
    assert_eq!(filter.privacy_loss().unwrap(), spent);
    assert_eq!(filter.spent_of(&quota).unwrap(), Some(epsilon("3")));
    let other = ana.reserve("spring", &share("2")).err();
    assert_eq!(other, Some(LedgerError::OtherLaunch));
}
