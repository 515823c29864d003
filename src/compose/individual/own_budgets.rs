//! Budgets that depend on the record.

use std::iter::repeat;
use std::ops::Range;
use std::sync::Arc;

use super::accounts::Slots;
use super::{RecordAmount, RecordUnits};
use crate::account::{ChildLoss, ValidIndividually};
use crate::data::{CHUNK, Dataset};
use crate::machine::caught;

/// The budgets of single records, where they are not all the declared one.
pub(super) struct OwnBudgets<D: ?Sized, F>(Option<Arc<Write<D, F>>>);

type Write<D, F> = dyn Fn(&D, Range<usize>, &RecordUnits<F>, Slots<'_>) + Send + Sync;

impl<D: ?Sized, F> OwnBudgets<D, F> {
    /// All have the declared one.
    pub(super) const DECLARED: Self = Self(None);

    pub(super) fn differ(&self) -> bool {
        self.0.is_some()
    }
}

impl<D: Dataset + ?Sized, F: ValidIndividually> OwnBudgets<D, F> {
    pub(super) fn new(
        budget: impl Fn(D::Record<'_>) -> ChildLoss<F> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(
            move |data: &D, records, units: &RecordUnits<F>, slots: Slots<'_>| {
                let budgets = data.records(records).map(&budget);
                slots.set(budgets.map(|budget| units.own_budget(&budget)));
            },
        )))
    }

    /// Writes the budgets of the records from `first` on, over the declared ones. A record on which
    /// the function panics has none.
    pub(super) fn write(&self, data: &D, first: usize, units: &RecordUnits<F>, slots: Slots<'_>) {
        let Some(budgets) = &self.0 else {
            return;
        };
        let write = |first: usize, slots: Slots<'_>| {
            let records = first..first + slots.len();
            caught(|| budgets(data, records, units, slots)).is_some()
        };
        for (index, mut chunk) in slots.chunks(CHUNK).enumerate() {
            let first = first + index * CHUNK;
            if write(first, chunk.reborrow()) {
                continue;
            }
            for (at, mut slot) in chunk.chunks(1).enumerate() {
                if !write(first + at, slot.reborrow()) {
                    slot.set(repeat(RecordAmount::default()));
                }
            }
        }
    }
}

crate::clone_fields!([D: ?Sized, F] OwnBudgets<D, F> { 0 });
