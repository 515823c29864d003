//! A dataset with its budget, and what its record brings back after a restart.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use queryables::ledger::{Decision, Ledger, Line};
use queryables::table::{Schema, Table};
use sha2::{Digest, Sha256};

use crate::analyst::{Analyst, Caller};
use crate::children::Children;
use crate::config::DatasetConfig;
use crate::limits::lock;
use crate::problem::{Code, Problem};
use crate::rule::RuleText;
use crate::seat::{self, Seat, Terms};
use crate::view::{DatasetView, budget_view};

/// One dataset, with its budget.
pub struct Dataset {
    pub name: String,
    pub schema: Schema,
    pub ledger: Ledger,
    pub data: Arc<dyn Table>,
    /// How losses add up.
    rule: RuleText,
    share_questions: bool,
    pub seats: BTreeMap<String, Arc<dyn Seat>>,
    /// The curator's, to read.
    pub budget: Arc<dyn Seat>,
    /// Hashes of questions that were answered: by whom, and what.
    answered: Mutex<HashSet<[u8; 32]>>,
}

impl Dataset {
    pub fn new(
        config: DatasetConfig,
        data: Arc<dyn Table>,
        ledger: Ledger,
    ) -> Result<Arc<Self>, String> {
        let terms = Terms {
            rule: config.rule,
            halting: config.halting,
            smallest: config.smallest,
            analysts: config.analysts,
        };
        let mut seats = seat::seats(&ledger, &config.name, &terms, &data)?;
        let budget = seats.pop().ok_or("no budget")?;
        let names = terms.analysts.into_iter().map(|(name, _)| name);
        Ok(Arc::new(Self {
            name: config.name,
            schema: config.schema,
            ledger,
            data,
            rule: config.rule_text,
            share_questions: config.share_questions,
            seats: names.zip(seats).collect(),
            budget,
            answered: Mutex::default(),
        }))
    }

    /// Reads the record: which shares there are, and what was answered.
    pub fn bring_back(&self, analysts: &[Arc<Analyst>], children: &Children) -> Result<(), String> {
        let mut from = 1;
        loop {
            let lines = self.ledger.lines(from, 1000);
            let lines = lines.map_err(|error| error.to_string())?;
            let Some(last) = lines.last() else {
                return Ok(());
            };
            from = last.sequence() + 1;
            let entries = lines.iter().filter_map(|line| match line {
                Line::Entry(entry) if entry.decision == Decision::Admitted => Some(entry),
                _ => None,
            });
            for entry in entries {
                self.remember(&entry.party, &entry.mechanism.to_string());
                let analyst = analysts.iter().find(|analyst| analyst.name == entry.party);
                let Some((analyst, seat)) = analyst
                    .zip(self.seats.get(&entry.party))
                    .filter(|_| entry.filter == self.name)
                else {
                    continue;
                };
                let Some(name) = share_name(&self.name, &analyst.name, entry.key.as_deref()) else {
                    continue;
                };
                let budget = seat.loss_of(&entry.loss)?;
                let share = seat.reserve(&name, &budget);
                let share = share.map_err(|problem| {
                    format!(
                        "the share {name:?} of {:?}: {}",
                        analyst.name,
                        problem.code.name()
                    )
                })?;
                children.add(analyst.share(&self.name, &name, share));
            }
        }
    }

    /// Of who was answered what. The name of an analyst has no zero.
    fn hash(&self, analyst: &str, question: &str) -> [u8; 32] {
        let who = if self.share_questions { "" } else { analyst };
        let hash = Sha256::new_with_prefix(who).chain_update([0]);
        hash.chain_update(question).finalize().into()
    }

    /// Whether the question was answered before, to this analyst or to anybody whose questions are shared.
    pub fn was_answered(&self, analyst: &str, question: &str) -> bool {
        lock(&self.answered).contains(&self.hash(analyst, question))
    }

    pub fn remember(&self, analyst: &str, question: &str) {
        let hash = self.hash(analyst, question);
        lock(&self.answered).insert(hash);
    }

    /// What the caller sees of it.
    pub fn view(&self, caller: &Caller) -> Result<DatasetView, Problem> {
        let seat = match caller {
            Caller::Curator => Some(&self.budget),
            Caller::Analyst(analyst) => self.seats.get(&analyst.name),
        };
        let seat = seat.ok_or(Code::UnknownDataset)?;
        Ok(DatasetView {
            name: self.name.clone(),
            schema: self.schema.clone(),
            rule: self.rule.clone(),
            budget: budget_view(&**seat)?,
        })
    }
}

/// The name of a share from the key that its charge has in the record.
fn share_name(filter: &str, analyst: &str, key: Option<&str>) -> Option<String> {
    // As `Party::reserve` writes it: the filter, and the party with the name.
    let text = key?
        .strip_prefix(&format!("({filter:?}, "))?
        .strip_suffix(')')?;
    let share: String = serde_json::from_str(text).ok()?;
    let name = share
        .strip_prefix(&format!("({analyst:?}, "))?
        .strip_suffix(')')?;
    serde_json::from_str(name).ok()
}
