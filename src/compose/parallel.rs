//! A filter for each part of a partitioned dataset.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::running::Running;
use super::{Discipline, Filter, FilterMachine, RunningFilter};
use crate::account::{ContinuationRule, WholeLoss};
use crate::machine::{Coins, Description, Fault, Mechanism, SystemCoins, guarded};
use crate::privacy::{AddRemove, Measure, Postprocessable, Private, UnknownLoss};
use crate::queryable::{Child, IntoHandle, sealed};

/// Splits the rows by a public list of keys and runs a filter on each part; all of them can be
/// used in any order (Haney et al. §5.2).
///
/// A row whose key is not on the list, or on which the key panics, is in no part. The key must depend on nothing but the row,
/// and a row must be what the neighbouring relation adds and removes: if that is a household, the
/// rows are households.
///
/// # Guarantee
///
/// The loss is the largest of the parts' budgets. Neighbours under [`AddRemove`] differ in one part
/// only; to an adversary the other parts are a person in the middle of it, and that costs nothing
/// (Haney et al. 2.17). Rows further apart may lie in several parts: there, group privacy.
/// Under [`Replace`](crate::privacy::Replace) a row may move from one part to another, so there it
/// is not offered.
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
/// );
/// let whole = launch(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![1_u32, 2, 3, 4]))?;
/// let parts = whole.launch(&by_parity)?;
/// assert_eq!(whole.privacy_loss(), budget);
///
/// let even = parts.part(&0).ok_or("no such part")?;
/// assert_eq!(even.remaining(), budget);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Parallel<K, Row, F> {
    key: Arc<dyn Fn(&Row) -> K + Send + Sync>,
    filters: BTreeMap<K, F>,
    row: PhantomData<fn(Row)>,
}

impl<K: Ord, Row, F> Parallel<K, Row, F> {
    /// A filter for each key, over the rows with that key.
    pub fn new(
        key: impl Fn(&Row) -> K + Send + Sync + 'static,
        filters: impl IntoIterator<Item = (K, F)>,
    ) -> Self {
        Self {
            key: Arc::new(key),
            filters: filters.into_iter().collect(),
            row: PhantomData,
        }
    }
}

impl<K: Clone, Row, F: Clone> Clone for Parallel<K, Row, F> {
    fn clone(&self) -> Self {
        Self {
            key: Arc::clone(&self.key),
            filters: self.filters.clone(),
            row: PhantomData,
        }
    }
}

impl<K: fmt::Debug, Row, F> fmt::Debug for Parallel<K, Row, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parallel")
            .field("keys", &self.filters.keys())
            .finish_non_exhaustive()
    }
}

impl<D, K, Row, F, X> Mechanism<D> for Parallel<K, Row, Filter<F, AddRemove, X>>
where
    D: AsRef<[Row]> + ?Sized,
    K: Ord + Clone,
    Row: Clone,
    F: ContinuationRule,
    X: Discipline,
{
    type Machine = PartsMachine<K, FilterMachine<Vec<Row>, F, AddRemove, X>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let mut rows: BTreeMap<&K, Vec<Row>> =
            self.filters.keys().map(|key| (key, Vec::new())).collect();
        coins.guarded(|_| {
            for row in (**data).as_ref() {
                // A key that panics on a row must not tell that there is such a row.
                let part = guarded(|| Ok(rows.get_mut(&(self.key)(row))));
                if let Ok(Some(part)) = part {
                    part.push(row.clone());
                }
            }
            Ok(())
        })?;
        let parts = self
            .filters
            .iter()
            .map(|(key, filter)| {
                let part = Arc::new(rows.remove(key).unwrap_or_default());
                Ok((key.clone(), filter.start(&part, coins)?))
            })
            .collect::<Result<_, Fault>>()?;
        Ok(PartsMachine { parts })
    }

    fn describe(&self) -> Description {
        Description::new("Parallel").with("parts", self.filters.len())
    }
}

impl<K, Row, F, X> Private<F::Whole, AddRemove> for Parallel<K, Row, Filter<F, AddRemove, X>>
where
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
    pub(super) parts: BTreeMap<K, C>,
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

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.parts.keys()
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
        let open = |part| RunningFilter(Running::of(part, token.clone()));
        let parts = machine.parts.into_iter();
        Ok(Parts {
            parts: parts.map(|(key, part)| (key, open(part))).collect(),
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
