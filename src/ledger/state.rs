//! The state of a budget in serialized form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StoreError;
use super::filter::LedgerRule;
use super::seal::{VERSION, seal, unseal};
use crate::compose::{Halt, HaltOf};

/// A state that was read.
pub(super) struct State<F: LedgerRule> {
    pub(super) rule: F,
    pub(super) launched: u64,
    pub(super) halt: Option<HaltOf<F>>,
}

/// How it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form<C, H> {
    ledger: u32,
    launched: u64,
    counts: C,
    halt: H,
}

pub(super) fn write_state<F: LedgerRule>(
    rule: &F,
    launched: u64,
    halt: Option<&HaltOf<F>>,
) -> Result<String, StoreError> {
    seal(&Form {
        ledger: VERSION,
        launched,
        counts: rule.counts(),
        halt,
    })
}

/// The state in a text; `None` if it is damaged, or if no launches under this rule lead there.
pub(super) fn read_state<F: LedgerRule>(fresh: &F, text: &str) -> Option<State<F>> {
    let read: Form<Value, Value> = unseal(text)?;
    if read.ledger != VERSION {
        return None;
    }
    let counts = serde_json::from_value(read.counts).ok()?;
    Some(State {
        rule: fresh.resume(counts).ok()?,
        launched: read.launched,
        halt: serde_json::from_value(read.halt).ok()?,
    })
}

/// Whether the budget with this state has halted, or cannot be read.
pub(super) fn has_halted(text: &str) -> bool {
    let read: Option<Form<Value, Value>> = unseal(text);
    read.is_none_or(|read| !read.halt.is_null())
}

impl<F: LedgerRule> State<F> {
    /// Whether launches can lead to this state, in a filter that takes at most `limit` of them, and that
    /// halts at a refusal if `halts` says so.
    pub(super) fn could_be(&self, fresh: &F, limit: Option<u64>, halts: bool) -> bool {
        let State {
            rule,
            launched,
            halt,
        } = self;
        let written = |rule| write_state(rule, 0, None).ok();
        // Without launches nothing is spent.
        let spent = *launched > 0 || written(rule) == written(fresh);
        let within = limit.is_none_or(|limit| *launched <= limit);
        let halted = match halt {
            None => true,
            Some(Halt::OverBudget(refusal)) => {
                let refused = rule.charge(&refusal.requested).is_err();
                halts && refused && refusal.spent == rule.spent() && refusal.limit == *rule.limit()
            }
            Some(Halt::CountLimit { limit: reached }) => {
                halts && limit == Some(*reached) && launched == reached
            }
            // No filter of this version has halted so.
            Some(_) => false,
        };
        spent && within && halted
    }
}
