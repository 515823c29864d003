//! A mechanism for each part of a partitioned dataset.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::{FilterMachine, RunningCompositor, RunningFilter};
use crate::account::ContinuationRule;
use crate::data::{Dataset, Fold, Select, pass};
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Inspect, Machine, Mechanism, Public, StateKey,
    StopToken, guarded,
};
use crate::privacy::{AddRemove, Postprocessable, Private, UnknownLoss};
use crate::queryable::{Child, IntoHandle, sealed};

/// Splits the rows by a public list of keys and runs a mechanism on each part, mostly a filter; all
/// of them can be used in any order (Haney et al. §5.2).
///
/// A row whose key is not on the list, or on which the key panics, is in no part. The key must
/// depend on nothing but the row. A part is a dataset of the same type, so every mechanism on the
/// whole also works on a part.
///
/// # Guarantee
///
/// The loss is the largest of the parts' losses: of filters, their budgets. Neighbours under [`AddRemove`] differ in one part
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
pub struct Parallel<K, D: ?Sized, M> {
    split: Arc<Split<D>>,
    mechanisms: BTreeMap<K, M>,
}

/// The indices of the rows in each part.
type Split<D> = dyn Fn(&D) -> Vec<Vec<usize>> + Send + Sync;

impl<K, D: Dataset + ?Sized, M> Parallel<K, D, M>
where
    K: Ord + Clone + Send + Sync + 'static,
{
    /// A mechanism for each key, over the rows with that key.
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`] if two of them have the same key: it is not known which is meant.
    pub fn new(
        key: impl Fn(D::Record<'_>) -> K + Send + Sync + 'static,
        mechanisms: impl IntoIterator<Item = (K, M)>,
    ) -> Result<Self, DuplicateKey> {
        let mut by_key = BTreeMap::new();
        for (place, (key, mechanism)) in mechanisms.into_iter().enumerate() {
            if by_key.insert(key, mechanism).is_some() {
                return Err(DuplicateKey { place });
            }
        }
        let keys: Vec<K> = by_key.keys().cloned().collect();
        let split = move |data: &D| {
            let mut of_rows: Vec<usize> = Vec::new();
            // Comparing and dropping keys is third-party code too: all of it is inside the guard.
            let part = |row: D::Record<'_>| keys.binary_search(&key(row)).unwrap_or(usize::MAX);
            pass(data, 0..data.len(), &part, &mut of_rows);
            let mut parts = vec![Vec::new(); keys.len()];
            for (row, part) in of_rows.into_iter().enumerate() {
                if let Some(part) = parts.get_mut(part) {
                    part.push(row);
                }
            }
            parts
        };
        Ok(Self {
            split: Arc::new(split),
            mechanisms: by_key,
        })
    }
}

/// Two mechanisms of a [`Parallel`] composition have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error(
    "two mechanisms have the same key: that at place {place}, counted from 0, and an earlier one"
)]
pub struct DuplicateKey {
    /// The place of the second one in the list, counted from 0.
    pub place: usize,
}

/// The part of each row.
impl Fold<usize> for Vec<usize> {
    fn take(&mut self, parts: impl Iterator<Item = usize>) {
        // Before anything is changed: a key may panic.
        let parts: Vec<usize> = parts.collect();
        self.extend(parts);
    }
}

crate::clone_fields!([K: Clone, D: ?Sized, M: Clone] Parallel<K, D, M> { split, mechanisms });

impl<K: fmt::Debug, D: ?Sized, M> fmt::Debug for Parallel<K, D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parallel")
            .field("keys", &self.mechanisms.keys())
            .finish_non_exhaustive()
    }
}

impl<D, K, M> Mechanism<D> for Parallel<K, D, M>
where
    D: Select + ?Sized,
    K: Ord + Clone,
    M: Mechanism<D>,
{
    type Machine = PartsMachine<K, M::Machine>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let parts = self
            .mechanisms
            .iter()
            .zip((self.split)(data))
            .map(|((key, mechanism), indices)| {
                // Tried again by itself: a part that has answered is not started twice.
                let part = data.select(&indices);
                let machine = Child::run(mechanism, &part, &StopToken::default(), coins);
                Ok((key.clone(), machine.map_err(Fault::after_tries)?))
            })
            .collect::<Result<_, Fault>>()?;
        Ok(PartsMachine { parts })
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanisms
            .values()
            .try_for_each(|each| each.check(data))
    }

    fn describe(&self) -> Description {
        let parts = Description::new("Parallel").with("parts", self.mechanisms.len());
        // Neither the keys nor what finds them has a name.
        parts.incomplete()
    }
}

impl<K, D, Me, M> Private<Me, AddRemove> for Parallel<K, D, M>
where
    D: ?Sized,
    Me: Postprocessable,
    M: Private<Me, AddRemove>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.mechanisms
            .values()
            .try_fold(measure.zero(), |largest, mechanism| {
                Ok(measure.join(&largest, &mechanism.loss(measure)?))
            })
    }
}

/// The running parts of a [`Parallel`] composition as machines, by key. If they are machines that
/// answer, such as [`Addressed`](super::Addressed) filters, this is one too: a query names the part.
pub struct PartsMachine<K, S> {
    parts: BTreeMap<K, S>,
}

impl<K: Ord, S: Machine> Machine for PartsMachine<K, S> {
    type Query = (K, S::Query);
    type Answer = S::Answer;

    fn step(
        &mut self,
        (key, query): Self::Query,
        coins: &mut Coins<'_>,
    ) -> Result<S::Answer, Fault> {
        match self.parts.get_mut(&key) {
            Some(part) => part.step(query, coins),
            None => Err(Fault::InvalidQuery("no part has this key")),
        }
    }
}

impl<K: Inspect, S: Inspect> Inspect for PartsMachine<K, S> {
    fn inspect(&self, state: &mut StateKey) {
        state.write(&self.parts.len());
        for (key, part) in &self.parts {
            state.write(key);
            state.write(part);
        }
    }
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

    fn into_handle(opening: sealed::Opening<Self>) -> Result<Self::Handle, Fault> {
        let (machine, token) = opening.child.into_parts().ok_or(Fault::Failed)?;
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::compose::LaunchError;
    use crate::machine::{MOST_OUTAGES, Released};
    use crate::middle::ThroughExt;
    use crate::prelude::*;

    /// Says how many rows a part has. The part of twos is out of reach at first.
    #[derive(Clone)]
    struct Late(Arc<AtomicU8>);

    impl Mechanism<Vec<u8>> for Late {
        type Machine = Released<usize>;

        fn start(&self, rows: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
            let late = |left: u8| left.checked_sub(1).filter(|_| rows.contains(&2));
            match self
                .0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, late)
            {
                Ok(_) => Err(Fault::Unavailable),
                Err(_) => Ok(Released(rows.len())),
            }
        }
    }

    impl Private<PureDp, AddRemove> for Late {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            Ok(Epsilon::ZERO)
        }
    }

    /// Otherwise the function behind it would be told two answers for one charge.
    #[test]
    fn a_part_that_has_answered_is_not_started_again_for_one_that_is_late() {
        for outages in 0..MOST_OUTAGES + 2 {
            let (late, told) = (Arc::new(AtomicU8::new(outages)), Arc::new(AtomicU8::new(0)));
            let tells = Arc::clone(&told);
            let counted = Late(Arc::clone(&late)).mapped(move |rows| {
                tells.fetch_add(1, Ordering::Relaxed);
                rows
            });
            let parts = [1, 2].map(|part| (part, counted.clone()));
            let parts = Parallel::new(|row: &u8| *row, parts).unwrap();
            let filter = Filter::concurrent(PureDp, Epsilon::ZERO);
            let filter = crate::queryable::start(&filter, Arc::new(vec![1, 2, 1])).unwrap();
            let answered = filter.launch(&parts).map(|parts| parts.ask((1, ())));
            let told = (told.load(Ordering::Relaxed), late.load(Ordering::Relaxed));
            if outages < MOST_OUTAGES {
                assert_eq!((answered, told), (Ok(Ok(2)), (2, 0)));
            } else {
                let left = outages - MOST_OUTAGES;
                assert_eq!((answered, told), (Err(LaunchError::Failed), (1, left)));
            }
        }
    }
}
