//! How many records have each key.

use std::collections::BTreeMap;

use super::{Fold, Merge, Value};

/// The key of a record, or none.
pub struct RowKey<K>(pub(crate) Option<K>);

impl<K: Ord + Send + 'static> Value for RowKey<K> {
    const UNREADABLE: Self = Self(None);
    type Fold = Groups<K>;

    fn is_missing(&self) -> bool {
        self.0.is_none()
    }
}

/// The number of records with each key, in the order of the keys.
pub struct Groups<K> {
    counts: BTreeMap<K, u64>,
}

impl<K> Groups<K> {
    pub(crate) fn new() -> Self {
        Self {
            counts: BTreeMap::new(),
        }
    }

    pub(crate) fn into_counts(self) -> BTreeMap<K, u64> {
        self.counts
    }
}

impl<K: Ord + Send> Fold<RowKey<K>> for Groups<K> {
    fn take(&mut self, values: impl Iterator<Item = RowKey<K>>) {
        // Not into `self` yet: if a record panics, nothing of this chunk may be left.
        let chunk: Vec<K> = values.filter_map(|RowKey(key)| key).collect();
        for key in chunk {
            *self.counts.entry(key).or_insert(0) += 1;
        }
    }

    fn merge(&self) -> Option<Merge<Self>> {
        Some(Merge {
            empty: |_| Self::new(),
            add: |groups, part| {
                for (key, count) in part.counts {
                    *groups.counts.entry(key).or_insert(0) += count;
                }
            },
        })
    }
}

// Nothing of it: keys and counts are data.
crate::debug_fields!([K] RowKey<K>, "RowKey");
crate::debug_fields!([K] Groups<K>, "Groups" { .. });
