//! What the tests of the ledger have in common.

use std::path::PathBuf;
use std::sync::Arc;

use queryables::account::{Capped, Sum};
use queryables::compose::Refusal;
use queryables::ledger::{
    Ledger, LedgerError, LedgerFilter, Line, OpenError, ReserveError, StoreError,
};
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
    ledger.launch(name, &filter, &Arc::new(())).unwrap()
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
        ledger.launch("in turns", &filter, &Arc::new(())).unwrap()
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
        let party = filter.party(name).within(&quota).unwrap();
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
    let opened = ledger.launch(zero, &share, &Arc::new(()));
    let opened = opened.map(drop).unwrap_err();
    assert_eq!(opened, OpenError::Store(unwritable("a filter's name")));
    let quota = filter.quota(zero, "1".parse().unwrap()).map(drop);
    assert_eq!(quota.unwrap_err(), unwritable("a quota's name"));
    let reserved = filter.reserve(zero, &share).map(drop).unwrap_err();
    let expected = OpenError::Store(unwritable("a share's name"));
    assert_eq!(reserved, ReserveError::Open(expected));
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
