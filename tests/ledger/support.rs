//! What the tests of the ledger have in common.

use std::path::PathBuf;
use std::sync::Arc;

use queryables::account::{Capped, Sum};
use queryables::compose::Refusal;
use queryables::ledger::{Ledger, LedgerError, LedgerFilter, Line, StoreError};
use queryables::machine::{Description, Stop};
use queryables::prelude::*;
use queryables::privacy::Relation;

/// A mechanism that says its number, and costs what it is told to.
#[derive(Clone, Debug)]
pub struct Numbered {
    pub number: u64,
    pub epsilon: Epsilon,
}

impl Numbered {
    #[must_use]
    pub fn new(number: u64, epsilon: &str) -> Self {
        let epsilon = epsilon.parse().unwrap();
        Self { number, epsilon }
    }
}

impl<D: ?Sized> Mechanism<D> for Numbered {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(self.number))
    }

    fn describe(&self) -> Description {
        Description::new("Numbered").with("number", self.number)
    }
}

impl<R: Relation> Private<PureDp, R> for Numbered {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.epsilon)
    }
}

pub type PureFilter = LedgerFilter<(), Capped<Sum<PureDp>>>;

/// A filter of this name and budget on no data.
#[must_use]
pub fn pure(ledger: &Ledger, name: &str, budget: &str) -> PureFilter {
    let filter = Filter::concurrent(PureDp, budget.parse().unwrap());
    ledger.start(name, &filter, &Arc::new(())).unwrap()
}

/// The refusal with these amounts: spent, requested, remaining, limit.
#[must_use]
pub fn over_budget(amounts: [&str; 4]) -> LedgerError<Epsilon> {
    let [spent, requested, remaining, limit] = amounts.map(|text| text.parse().unwrap());
    let refusal = Refusal {
        spent,
        set_aside: None,
        requested,
        remaining,
        limit,
    };
    LaunchError::Refused(refusal).into()
}

/// The path of a new ledger about this dataset.
#[must_use]
pub fn created(name: &str, dataset: &str) -> PathBuf {
    let path = fresh(name);
    drop(Ledger::create(&path, dataset).unwrap());
    path
}

/// A path that does not exist yet, of this name.
#[must_use]
pub fn fresh(name: &str) -> PathBuf {
    // In memory where there is such a place: a kill does not empty what was written, and a sync is free.
    let shared = PathBuf::from("/dev/shm");
    let folder = if shared.is_dir() {
        shared
    } else {
        std::env::temp_dir()
    };
    let folder = folder.join(format!("queryables-ledger-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    path
}

/// The numbers of the mechanisms that were admitted, in order.
#[must_use]
pub fn admitted(lines: &[Line]) -> Vec<u64> {
    let number = |line: &Line| match line {
        Line::Entry(entry) if entry.decision == queryables::ledger::Decision::Admitted => {
            Some(entry.mechanism.get("number")?.parse().unwrap())
        }
        _ => None,
    };
    lines.iter().filter_map(number).collect()
}

/// Numbers that look random and are the same each time (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Seeded(pub u64);

impl Seeded {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// In a sequential filter, the next launch freezes the child before it, whichever handle makes it.
/// `one` and `other` are two handles to one ledger.
pub fn a_later_launch_freezes_the_child_of_another_handle(one: &Ledger, other: &Ledger) {
    let open = |ledger: &Ledger| {
        let filter = Filter::sequential(PureDp, "1".parse().unwrap());
        ledger.start("in turns", &filter, &Arc::new(())).unwrap()
    };
    let (one, other) = (open(one), open(other));
    let first = one.party("Ana").launch(&Numbered::new(1, "0.1")).unwrap();
    assert_eq!(first.ask(()), Ok(1));
    let refused = other.party("Ben").launch(&Numbered::new(2, "0.95"));
    let refused = refused.map(drop).unwrap_err();
    assert!(matches!(
        refused,
        LedgerError::Launch(LaunchError::Refused(_))
    ));
    assert_eq!(first.ask(()), Ok(1));
    let second = other.party("Ben").launch(&Numbered::new(3, "0.1")).unwrap();
    assert_eq!(first.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(second.ask(()), Ok(3));
}

/// Names that somebody may type, and one that no store keeps. `again` opens the same ledger anew.
pub fn any_name_is_kept_but_one_with_a_zero(
    ledger: &Ledger,
    again: impl FnOnce() -> Option<Ledger>,
) {
    let named = |name: &str| Named(name.to_owned());
    // Random letters, which cannot be compressed.
    let mut state = 12345_u64;
    let mut letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b'a' + (state >> 33) as u8 % 26)
    };
    let long: String = (0..1000).map(&mut letter).collect();
    let odd = [
        "",
        "quote'\"\\",
        "\u{202e}rtl",
        "line\nbreak\t\u{1}",
        "emoji 🙂",
        &long,
    ];
    let share = Filter::concurrent(PureDp, "0.25".parse().unwrap());
    for name in odd {
        let filter = pure(ledger, name, "1");
        let quota = filter.quota(name, "1".parse().unwrap()).unwrap();
        let party = filter.party(name).with_quota(&quota).unwrap();
        assert_eq!(party.release(&named(name)), Ok(0), "{name:?}");
        for expected in [Ok(0), Err(LedgerError::NoAnswer)] {
            let released = party.release_once(name, &named(name));
            assert_eq!(released, expected, "{name:?}");
        }
        let share = filter.reserve(name, &share).unwrap();
        assert_eq!(share.party(name).release(&named(name)), Ok(0), "{name:?}");
        assert_eq!(filter.replay(), Ok(3));
    }
    let lines = ledger.lines(1, usize::MAX).unwrap();
    let entries = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => Some(entry),
        _ => None,
    });
    let parties: Vec<&str> = entries.map(|entry| &*entry.party).collect();
    assert_eq!(parties, odd.map(|name| [name; 4]).concat());

    let zero = "a\0b";
    let unwritable =
        |what: &str| StoreError::Unwritable(format!("{what} with the character U+0000"));
    let filter = pure(ledger, "census", "1");
    let opened = ledger.start(zero, &share, &Arc::new(()));
    let opened = opened.map(drop).unwrap_err();
    assert_eq!(opened, LedgerError::Store(unwritable("a filter's name")));
    let quota = filter.quota(zero, "1".parse().unwrap()).map(drop);
    assert_eq!(quota.unwrap_err(), unwritable("a quota's name"));
    let reserved = filter.reserve(zero, &share).map(drop).unwrap_err();
    assert_eq!(reserved, LedgerError::Store(unwritable("a share's name")));
    let party = filter.party("Ana");
    let denied = |what: &str| Err(LedgerError::Store(unwritable(what)));
    let nameless = filter.party(zero);
    assert_eq!(nameless.release(&named("a")), denied("a party's name"));
    assert_eq!(party.release(&named(zero)), denied("a description"));
    assert_eq!(party.release_once(zero, &named("a")), denied("a key"));
    assert_eq!(
        party.release_once("a", &named(zero)),
        denied("a description")
    );
    assert_eq!(filter.launched(), Ok(0));
    assert_eq!(ledger.lines(1, usize::MAX).unwrap().len(), lines.len());
    if let Some(again) = again() {
        assert_eq!(pure(&again, &long, "1").launched(), Ok(3));
    }
}

/// A mechanism with a name that somebody has typed.
struct Named(String);

impl<D: ?Sized> Mechanism<D> for Named {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(0))
    }

    fn describe(&self) -> Description {
        Description::new("Named").with("name", &self.0)
    }
}

impl<R: Relation> Private<PureDp, R> for Named {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok("0.125".parse().unwrap())
    }
}

/// A halt means that nothing answers any more: children and shares of every handle, in whichever
/// process, at their next check. `one` and `other` are two handles to one ledger.
pub fn a_halt_stops_the_children_and_shares_of_another_handle(one: &Ledger, other: &Ledger) {
    let open = |ledger: &Ledger| {
        let filter = Filter::concurrent(PureDp, "3".parse().unwrap()).halting();
        ledger.start("halts", &filter, &Arc::new(())).unwrap()
    };
    let (one, other) = (open(one), open(other));
    let share = |epsilon: &str| Filter::concurrent(PureDp, epsilon.parse().unwrap());
    let child = one.party("Ana").launch(&Numbered::new(1, "0.5")).unwrap();
    let half = one.reserve("half", &share("1")).unwrap();
    let inner = half.reserve("quarter", &share("0.5")).unwrap();
    let in_share = half.party("Ben").launch(&Numbered::new(2, "0.1")).unwrap();
    assert_eq!((child.ask(()), in_share.ask(())), (Ok(1), Ok(2)));
    // A launch of another handle that is admitted stops nobody.
    assert_eq!(other.party("Eva").release(&Numbered::new(3, "0.1")), Ok(3));
    assert_eq!((child.ask(()), in_share.ask(())), (Ok(1), Ok(2)));
    let fits = |share: &PureFilter| share.party("Ben").would_admit(&"0.1".parse().unwrap());
    assert_eq!((fits(&half), fits(&inner)), (Ok(true), Ok(true)));

    let refused = other.party("Eva").release(&Numbered::new(4, "9"));
    assert_eq!(refused, Err(over_budget(["1.6", "9", "1.4", "3"])));
    let stopped = Err(AskError::Stopped(Stop::Halted));
    assert_eq!((child.ask(()), in_share.ask(())), (stopped, stopped));
    assert_eq!((fits(&half), fits(&inner)), (Ok(false), Ok(false)));
    let halted = Err(LaunchError::Stopped(Stop::Halted).into());
    for share in [&half, &inner] {
        let spent = share.privacy_loss();
        let released = share.party("Ben").release(&Numbered::new(5, "0.1"));
        assert_eq!(released, halted);
        assert_eq!(share.privacy_loss(), spent);
    }
    assert_eq!(one.party("Ana").release(&Numbered::new(6, "0.1")), halted);
    assert!(one.halt().unwrap().is_some());
}

/// A mechanism whose description has this number of bytes.
#[derive(Clone, Debug)]
pub struct Long(pub usize, pub Epsilon);

impl<D: ?Sized> Mechanism<D> for Long {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(0))
    }

    fn describe(&self) -> Description {
        // Of a long value only its digest is recorded: many short ones.
        let mut description = Description::new("Long");
        let mut rest = self.0 - description.name().len();
        for number in 10.. {
            let key = format!("k{number}");
            let value = "x".repeat((rest - key.len()).min(190));
            rest -= key.len() + value.len();
            description = description.with(key, value);
            if rest == 0 {
                break;
            }
        }
        description
    }
}

impl<R: Relation> Private<PureDp, R> for Long {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.1)
    }
}

/// In the filter "census" with a budget of 1: forty refusals, a launch, three refusals.
pub fn refusals_in_a_row_take_sixteen_entries(ledger: &Ledger) {
    let filter = pure(ledger, "census", "1");
    let (ana, eve) = (filter.party("Ana"), filter.party("Eve"));
    assert_eq!(ana.release(&Numbered::new(1, "0.25")), Ok(1));
    let refused = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            let refused = eve.release(&Numbered::new(number, "2"));
            assert_eq!(refused, Err(over_budget(["0.25", "2", "0.75", "1"])));
        }
    };
    refused(10..50);
    assert_eq!(ana.would_admit(&"0.75".parse().unwrap()), Ok(true));
    assert_eq!(filter.replay(), Ok(17));
    assert_eq!(ana.release(&Numbered::new(2, "0")), Ok(2));
    refused(60..63);
    let lines = ledger.lines(1, usize::MAX).unwrap();
    let entries = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => {
            let number = entry.mechanism.get("number")?.parse().ok()?;
            Some((entry.sequence, number, entry.times))
        }
        _ => None,
    });
    let entries: Vec<(u64, u64, u64)> = entries.collect();
    // The first 15, and the last, which stands for 25.
    let kept = (0..15).map(|turn| (2 + turn, 10 + turn, 1));
    let later = [
        (17, 49, 25),
        (18, 2, 1),
        (19, 60, 1),
        (20, 61, 1),
        (21, 62, 1),
    ];
    let expected = [(1, 1, 1)].into_iter().chain(kept).chain(later);
    assert_eq!(entries, expected.collect::<Vec<_>>());
    assert_eq!(filter.replay(), Ok(21));
}

/// Says nothing but its name.
struct OnlyName(String);

impl Mechanism<()> for OnlyName {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(0))
    }

    fn describe(&self) -> Description {
        Description::new(self.0.clone())
    }
}

impl Private<PureDp, AddRemove> for OnlyName {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok("0.125".parse().unwrap())
    }
}

/// Names and keys of 1024 bytes and a mechanism's name of 8192 are written, and one byte more is an
/// error. A description of 8192 bytes is written as it is, and of a longer one the digest.
pub fn what_is_too_long_is_an_error_and_not_written(ledger: &Ledger) {
    let name = |bytes: usize| "n".repeat(bytes);
    let loss = || "0.125".parse::<Epsilon>().unwrap();
    let budget = || "1".parse::<Epsilon>().unwrap();
    let share = Filter::concurrent(PureDp, "0.25".parse().unwrap());
    let filter = pure(ledger, &name(1024), "1");
    let quota = filter.quota(&name(1024), budget()).unwrap();
    let party = filter.party(&name(1024)).with_quota(&quota).unwrap();
    let longest = Long(8192, loss());
    assert_eq!(party.release_once(&name(1024), &longest), Ok(0));
    let inner = filter.reserve(&name(1024), &share).unwrap();
    assert_eq!(inner.party("Ana").release(&longest), Ok(0));
    assert_eq!(filter.replay(), Ok(2));
    assert_eq!(party.release(&OnlyName(name(8192))), Ok(0));
    assert_eq!(party.release(&Long(8193, loss())), Ok(0));
    let lines = ledger.lines(1, 99).unwrap();
    let parameters = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => Some(entry.mechanism.parameters().count()),
        _ => None,
    });
    let parameters: Vec<usize> = parameters.collect();
    // In the share, by its name alone, and too long.
    assert!(parameters.ends_with(&[43, 0, 1]), "{parameters:?}");
    assert_eq!(filter.replay(), Ok(4));
    let (lines, spent) = (ledger.lines(1, 99).unwrap(), filter.privacy_loss());

    let too_long = |what: &str, limit: usize| StoreError::TooLong {
        what: what.to_owned(),
        bytes: limit + 1,
        limit,
    };
    let opened = ledger.start(&name(1025), &share, &Arc::new(())).map(drop);
    let expected = LedgerError::Store(too_long("a filter's name", 1024));
    assert_eq!(opened.unwrap_err(), expected);
    let quota = filter.quota(&name(1025), budget()).map(drop);
    assert_eq!(quota.unwrap_err(), too_long("a quota's name", 1024));
    let reserved = filter.reserve(&name(1025), &share).map(drop);
    let expected = LedgerError::Store(too_long("a share's name", 1024));
    assert_eq!(reserved.unwrap_err(), expected);
    let denied = |what: &str, limit| Err(LedgerError::Store(too_long(what, limit)));
    let short = Numbered::new(1, "0.125");
    let named = filter.party(&name(1025)).release(&short);
    assert_eq!(named, denied("a party's name", 1024));
    let ana = filter.party("Ana");
    let keyed = ana.release_once(&name(1025), &short);
    assert_eq!(keyed, denied("a key", 1024));
    let described = ana.release(&OnlyName(name(8193)));
    assert_eq!(described, denied("a description", 8192));
    assert_eq!(ledger.lines(1, 99).unwrap(), lines);
    assert_eq!(filter.privacy_loss(), spent);
}

/// Where lines begin and end, for a ledger with four entries, the third of which was refused.
pub fn lines_begin_and_end_where_they_should(ledger: &Ledger) {
    let filter = pure(ledger, "census", "1");
    for (number, epsilon) in [(1, "0.25"), (2, "0.25"), (3, "2"), (4, "0.25")] {
        let _ = filter.party("Ana").release(&Numbered::new(number, epsilon));
    }
    let seen = |from, most| {
        let lines = ledger.lines(from, most).unwrap();
        lines.iter().map(Line::sequence).collect::<Vec<_>>()
    };
    for from in [0, 1] {
        assert_eq!(seen(from, usize::MAX), [1, 1, 2, 2, 3, 4, 4]);
        assert_eq!(seen(from, 1), [1, 1]);
        assert_eq!(seen(from, 0), [0; 0]);
    }
    assert_eq!(seen(2, 2), [2, 2, 3]);
    assert_eq!(seen(4, 9), [4, 4]);
    for beyond in [5, 1 << 63, u64::MAX] {
        assert_eq!(seen(beyond, usize::MAX), [0; 0]);
    }
}
