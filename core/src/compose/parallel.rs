//! A filter for each part of a partitioned dataset.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::{Discipline, Filter, FilterMachine, RunningCompositor, RunningFilter};
use crate::account::{ContinuationRule, WholeLoss};
use crate::data::{Dataset, Fold, Select, pass};
use crate::machine::{Coins, Description, Fault, Mechanism, SystemCoins, guarded};
use crate::privacy::{AddRemove, Measure, Postprocessable, Private, UnknownLoss};
use crate::queryable::{Child, IntoHandle, sealed};

/// Splits the rows by a public list of keys and runs a filter on each part; all of them can be
/// used in any order (Haney et al. §5.2).
///
/// A row whose key is not on the list, or on which the key panics, is in no part. The key must
/// depend on nothing but the row. A part is a dataset of the same type, so every mechanism on the
/// whole also works on a part.
///
/// # Guarantee
///
/// The loss is the largest of the parts' budgets. Neighbours under [`AddRemove`] differ in one part
/// only; the other parts then act as a person in the middle, which costs nothing (Haney et al.
/// 2.17). Datasets at larger distances may differ in several parts: there, group privacy applies.
/// It is not offered under [`Replace`](crate::privacy::Replace), where a row may move from one part
/// to another.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use queryables::compose::Parallel;
/// use queryables::prelude::*;
///
/// let budget = "0.5".parse()?;
/// let by_parity = Parallel::new(
///     |row: &u32| row % 2,
///     [0, 1].map(|parity| (parity, Filter::concurrent(PureDp, budget))),
/// )?;
/// let whole = start(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![1_u32, 2, 3, 4]))?;
/// let parts = whole.launch(&by_parity)?;
/// assert_eq!(whole.privacy_loss(), budget);
///
/// let even = parts.part(&0).ok_or("no such part")?;
/// assert_eq!(even.remaining(), budget);
/// for (parity, part) in parts.iter() {
///     assert!(*parity < 2 && part.remaining() == budget);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "disjoint")]
#[doc(alias = "parallel composition")]
pub struct Parallel<K, D: ?Sized, F> {
    split: Arc<Split<D>>,
    filters: BTreeMap<K, F>,
}

/// The indices of the rows in each part.
type Split<D> = dyn Fn(&D) -> Vec<Vec<usize>> + Send + Sync;

impl<K, D: Dataset + ?Sized, F> Parallel<K, D, F>
where
    K: Ord + Clone + Send + Sync + 'static,
{
    /// A filter for each key, over the rows with that key.
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`] if two filters have the same key: it is not known which budget is meant.
    pub fn new(
        key: impl Fn(D::Record<'_>) -> K + Send + Sync + 'static,
        filters: impl IntoIterator<Item = (K, F)>,
    ) -> Result<Self, DuplicateKey> {
        let mut by_key = BTreeMap::new();
        for (place, (key, filter)) in filters.into_iter().enumerate() {
            if by_key.insert(key, filter).is_some() {
                return Err(DuplicateKey { place });
            }
        }
        let filters = by_key;
        let keys: Vec<K> = filters.keys().cloned().collect();
        let split = move |data: &D| {
            let mut parts = PartIndices::of(keys.len());
            // Comparing and dropping keys is third-party code too: all of it is inside the guard.
            let part = |row: D::Record<'_>| keys.binary_search(&key(row)).unwrap_or(usize::MAX);
            pass(data, 0..data.len(), &part, &mut parts);
            parts.indices
        };
        Ok(Self {
            split: Arc::new(split),
            filters,
        })
    }
}

/// Two filters of a [`Parallel`] composition have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("two filters have the same key: that at place {place}, counted from 0, and an earlier one")]
pub struct DuplicateKey {
    /// The place of the second one in the list, counted from 0.
    pub place: usize,
}

/// Which rows are in which part.
struct PartIndices {
    indices: Vec<Vec<usize>>,
    /// The number of rows so far.
    taken: usize,
}

impl PartIndices {
    fn of(parts: usize) -> Self {
        Self {
            indices: vec![Vec::new(); parts],
            taken: 0,
        }
    }
}

impl Fold<usize> for PartIndices {
    fn take(&mut self, parts: impl Iterator<Item = usize>) {
        // Before anything is changed: a key may panic.
        let parts: Vec<usize> = parts.collect();
        for part in parts {
            if let Some(part) = self.indices.get_mut(part) {
                part.push(self.taken);
            }
            self.taken += 1;
        }
    }
}

impl<K: Clone, D: ?Sized, F: Clone> Clone for Parallel<K, D, F> {
    fn clone(&self) -> Self {
        Self {
            split: Arc::clone(&self.split),
            filters: self.filters.clone(),
        }
    }
}

impl<K: fmt::Debug, D: ?Sized, F> fmt::Debug for Parallel<K, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parallel")
            .field("keys", &self.filters.keys())
            .finish_non_exhaustive()
    }
}

impl<D, K, F, X> Mechanism<D> for Parallel<K, D, Filter<F, AddRemove, X>>
where
    D: Select + ?Sized,
    K: Ord + Clone,
    F: ContinuationRule,
    X: Discipline,
{
    type Machine = PartsMachine<K, FilterMachine<D, F, AddRemove, X>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let parts = self
            .filters
            .iter()
            .zip((self.split)(data))
            .map(|((key, filter), indices)| {
                Ok((key.clone(), filter.start(&data.select(&indices), coins)?))
            })
            .collect::<Result<_, Fault>>()?;
        Ok(PartsMachine { parts })
    }

    fn describe(&self) -> Description {
        let parts = Description::new("Parallel").with("parts", self.filters.len());
        // Neither the keys nor what finds them has a name.
        parts.incomplete()
    }
}

impl<K, D, F, X> Private<F::Whole, AddRemove> for Parallel<K, D, Filter<F, AddRemove, X>>
where
    D: ?Sized,
    F: ContinuationRule<Whole: Postprocessable>,
    X: Discipline,
{
    fn loss(&self, measure: &F::Whole) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filters
            .values()
            .try_fold(measure.zero(), |largest, filter| {
                Ok(measure.join(&largest, &filter.loss(measure)?))
            })
    }
}

/// The running filters of a [`Parallel`] composition as machines, by key.
pub struct PartsMachine<K, C> {
    pub(crate) parts: BTreeMap<K, C>,
}

/// The running filters of a [`Parallel`] composition, by key. Clones share them.
#[derive(Clone)]
pub struct Parts<K, C> {
    parts: BTreeMap<K, C>,
}

impl<K: Ord, C: Clone> Parts<K, C> {
    /// The filter over the part with this key.
    #[must_use]
    pub fn part(&self, key: &K) -> Option<C> {
        self.parts.get(key).cloned()
    }

    /// Each key with the filter over its part, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &C)> {
        self.parts.iter()
    }
}

impl<K, D: ?Sized, F: ContinuationRule, R, X> sealed::Sealed
    for PartsMachine<K, FilterMachine<D, F, R, X>>
{
}

impl<K, D, F, R, X> IntoHandle for PartsMachine<K, FilterMachine<D, F, R, X>>
where
    K: Ord,
    D: ?Sized,
    F: ContinuationRule,
{
    type Handle = Parts<K, RunningFilter<D, F, R, X>>;

    fn into_handle(
        child: Child<Self>,
        _: SystemCoins,
        _: sealed::Opening,
    ) -> Result<Self::Handle, Fault> {
        let (machine, token) = child.into_parts().ok_or(Fault::Failed)?;
        let open = |part| RunningCompositor::new(part, token.clone());
        let parts = machine.parts.into_iter();
        // Comparing keys is third-party code, and so is dropping those that are equal after all.
        guarded(|| {
            Ok(Parts {
                parts: parts.map(|(key, part)| (key, open(part))).collect(),
            })
        })
    }
}

macro_rules! debug {
    ($($Parts:ident)*) => {$(
        impl<K: fmt::Debug, C> fmt::Debug for $Parts<K, C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Parts))
                    .field("keys", &self.parts.keys())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

debug! { Parts PartsMachine }
