//! The state of a budget in serialized form.

use serde::Serialize;
use serde_json::Value;

use super::StoreError;
use super::filter::LedgerRule;
use super::seal::{VERSION, seal, unsealed};
use crate::account::durable::Counts;
use crate::account::{ChildLoss, WholeLoss};
use crate::compose::Halt;

type HaltOf<F> = Halt<ChildLoss<F>, WholeLoss<F>>;

/// A state that was read.
pub(super) struct State<F: LedgerRule> {
    pub(super) rule: F,
    pub(super) launched: u64,
    pub(super) halt: Option<HaltOf<F>>,
}

#[derive(Serialize)]
#[serde(bound = "F: LedgerRule")]
struct Written<'a, F: LedgerRule> {
    ledger: u32,
    launched: u64,
    #[serde(serialize_with = "counts")]
    counts: &'a F,
    halt: Option<&'a HaltOf<F>>,
}

fn counts<F: LedgerRule, S: serde::Serializer>(rule: &&F, s: S) -> Result<S::Ok, S::Error> {
    Counts(*rule).serialize(s)
}

pub(super) fn write_state<F: LedgerRule>(
    rule: &F,
    launched: u64,
    halt: Option<&HaltOf<F>>,
) -> Result<String, StoreError> {
    seal(&Written {
        ledger: VERSION,
        launched,
        counts: rule,
        halt,
    })
}

/// The state in a text; `None` if it is damaged, or if no launches under this rule lead there.
pub(super) fn read_state<F: LedgerRule>(fresh: &F, text: &str) -> Option<State<F>> {
    let mut body: Value = serde_json::from_str(&unsealed(text)?).ok()?;
    let mut take = |name: &str| body.get_mut(name).map(Value::take);
    if take("ledger")? != VERSION {
        return None;
    }
    Some(State {
        rule: fresh.resume(take("counts")?).ok()?,
        launched: take("launched")?.as_u64()?,
        halt: serde_json::from_value(take("halt")?).ok()?,
    })
}
