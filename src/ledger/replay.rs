//! Whether a record and its budget fit together.

use super::filter::{LedgerFilter, LedgerRule, value};
use super::seal::unseal;
use super::state::write_state;
use super::{Decision, Entry, Line, StoreError};
use crate::account::ChildLoss;
use crate::compose::Discipline;
use crate::privacy::Relation;

impl<D, F, R, X> LedgerFilter<D, F, R, X>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
    X: Discipline,
{
    /// Replays the whole record of this filter: that each launch was decided as the rule decides,
    /// that every total follows from those before, and that the budget and the number of launches stand
    /// where they lead. Gives
    /// the number of entries.
    ///
    /// There must be no launches meanwhile.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] says at which entry, and those of the store.
    pub fn replay(&self) -> Result<u64, StoreError> {
        let mut rule = (*self.shared.fresh).clone();
        let mut spent = value(&rule.spent())?;
        let (mut from, mut entries, mut admitted) = (1, 0, 0);
        loop {
            let lines = self.shared.ledger.store.lines(from, 1000)?;
            if lines.is_empty() {
                break;
            }
            for line in lines {
                let here = from;
                let damaged = |what: &str| StoreError::Damaged {
                    what: format!("{what} {here}"),
                };
                match Line::read(&line) {
                    Some(Line::Outcome(_)) => continue,
                    Some(Line::Entry(entry)) if entry.sequence == from => {
                        from += 1;
                        if entry.filter != *self.shared.header.filter {
                            continue;
                        }
                    }
                    _ => return Err(damaged("entry")),
                }
                // Totals are compared as they are written: to build one again may take long.
                let entry: Entry<ChildLoss<F>> = unseal(&line).ok_or_else(|| damaged("entry"))?;
                entries += 1;
                let next = rule.charge(&entry.loss);
                match (&entry.decision, next) {
                    (Decision::Admitted, Ok(next)) => {
                        (rule, admitted) = (next, admitted + 1);
                        spent = value(&rule.spent())?;
                    }
                    (Decision::Refused(refusal), Err(_)) if refusal.spent == spent => {}
                    (Decision::OverQuota { .. } | Decision::Denied(_), _) => {}
                    _ => return Err(damaged("the decision of entry")),
                }
                if entry.spent != spent {
                    return Err(damaged("the total of entry"));
                }
            }
        }
        let counted = write_state(&rule, admitted, None)?;
        let kept = self.shared.read(|book| {
            let gate = book.gate();
            write_state(&*gate.rule, gate.launched, None)
        })??;
        if counted != kept {
            return Err(StoreError::Damaged {
                what: "the total".to_owned(),
            });
        }
        Ok(entries)
    }
}
