//! What the tests of the ledger have in common.

use std::path::PathBuf;
use std::sync::Arc;

use queryables::account::{Capped, Sum};
use queryables::compose::Refusal;
use queryables::ledger::{Ledger, LedgerError, LedgerFilter, Line};
use queryables::machine::Description;
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
