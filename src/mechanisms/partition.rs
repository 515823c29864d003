//! Rows divided among bins that are known in advance.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use super::MechanismError;
use super::limit::BINS;
use crate::data::{Attribute, ClosureCheck, Dataset};
use crate::machine::Description;

/// The bins of a histogram: a public list, and the one bin, or none, that each row is in.
///
/// | made by | bins are | answers come as |
/// |---|---|---|
/// | [`numbered`](Self::numbered) | the numbers from 0 on | a `Vec` |
/// | [`by_key`](Self::by_key) | keys that are ordered | a `BTreeMap` |
/// | [`by_hash`](Self::by_hash) | keys that can be hashed | a `HashMap` |
///
/// ```
/// use queryables::mechanisms::{Histogram, Partition};
/// use queryables::prelude::*;
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// let colours: Arc<Vec<&str>> = Arc::new(vec!["red", "blue", "red", "mauve"]);
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), colours)?;
///
/// // Mauve is not on the list, and so not counted.
/// let by_colour = Partition::by_key("colour", |row: &&str| *row, ["red", "green", "blue"])?;
/// let histogram = Histogram::of(by_colour).laplace(epsilon!(0.5))?;
/// let counts: BTreeMap<&str, i64> = filter.release(&histogram)?;
/// assert_eq!(counts.into_keys().collect::<Vec<_>>(), ["blue", "green", "red"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where the keys are not known in advance, use
/// [`ThresholdHistogram`](super::ThresholdHistogram).
///
/// # Guarantee
///
/// A row changes the count of at most one bin, by one, and which one depends on nothing but the row.
/// The key of a row is compared with keys of the public list only, inside the guard of the pass over
/// the rows: so this holds whatever the comparison or the hash function does, as long as it always
/// does the same. A row on which it panics is in no bin.
pub struct Partition<D: ?Sized, L = Numbered> {
    /// The bin of each row, or a number that no bin has.
    pub(super) bin: Attribute<D, usize>,
    pub(super) labels: L,
}

/// What the bins of a [`Partition`] are called: with a value for each bin, the labels make an answer.
pub trait Labels: Clone + Send + Sync {
    /// An answer with values of this type.
    type Of<V>;

    /// How many bins there are.
    fn bins(&self) -> usize;

    /// Values in the order of the bins, with their labels.
    fn label<V>(&self, values: Vec<V>) -> Self::Of<V>;

    /// All of them, in the order of the bins.
    fn listed(&self) -> String;
}

/// Bins that are numbered from 0 on, and how many there are.
///
/// Example: [`Partition`](crate::mechanisms::Partition).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbered(usize);

impl Labels for Numbered {
    type Of<V> = Vec<V>;

    fn bins(&self) -> usize {
        self.0
    }

    fn label<V>(&self, values: Vec<V>) -> Vec<V> {
        values
    }

    fn listed(&self) -> String {
        self.0.to_string()
    }
}

/// Bins for keys that are ordered.
///
/// Example: [`Partition`](crate::mechanisms::Partition).
#[derive(Clone, Debug)]
pub struct Keys<K>(Arc<[K]>);

impl<K: Ord + Clone + fmt::Debug + Send + Sync> Labels for Keys<K> {
    type Of<V> = BTreeMap<K, V>;

    fn bins(&self) -> usize {
        self.0.len()
    }

    fn label<V>(&self, values: Vec<V>) -> BTreeMap<K, V> {
        self.0.iter().cloned().zip(values).collect()
    }

    fn listed(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Bins for keys that can be hashed.
///
/// Example: [`Partition`](crate::mechanisms::Partition).
#[derive(Clone, Debug)]
pub struct HashedKeys<K>(Arc<[K]>);

impl<K: Hash + Eq + Clone + fmt::Debug + Send + Sync> Labels for HashedKeys<K> {
    type Of<V> = HashMap<K, V>;

    fn bins(&self) -> usize {
        self.0.len()
    }

    fn label<V>(&self, values: Vec<V>) -> HashMap<K, V> {
        self.0.iter().cloned().zip(values).collect()
    }

    fn listed(&self) -> String {
        format!("{:?}", self.0)
    }
}

impl<D: ?Sized> Partition<D> {
    /// The bins `0..bins`. A row with another number is in none.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooFew`] if there are no bins, [`MechanismError::TooMany`] if there are
    /// more than 2^22.
    pub fn numbered(bin: Attribute<D, usize>, bins: usize) -> Result<Self, MechanismError> {
        Self::labelled(bin, Numbered(bins))
    }
}

impl<D: Dataset + ?Sized, K> Partition<D, Keys<K>>
where
    K: Ord + Clone + fmt::Debug + Send + Sync + 'static,
{
    /// A bin for each of these keys. One that is listed twice is one bin; a row with another key is
    /// in none. In descriptions a key is what its `Debug` prints.
    ///
    /// # Errors
    ///
    /// As for [`numbered`](Partition::numbered).
    pub fn by_key(
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> K + Send + Sync + 'static,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Self, MechanismError> {
        let mut listed = BTreeSet::new();
        for key in keys {
            listed.insert(key);
            BINS.check(listed.len())?;
        }
        let keys: Arc<[K]> = listed.into_iter().collect();
        let listed = Arc::clone(&keys);
        let bin = Attribute::new(name, move |row: D::Record<'_>| {
            listed.binary_search(&key(row)).unwrap_or(usize::MAX)
        });
        Self::labelled(bin, Keys(keys))
    }
}

impl<D: Dataset + ?Sized, K> Partition<D, HashedKeys<K>>
where
    K: Hash + Eq + Clone + fmt::Debug + Send + Sync + 'static,
{
    /// [`by_key`](Partition::by_key), for keys without an order.
    ///
    /// ```
    /// use queryables::mechanisms::{Histogram, Partition};
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    /// enum Suit { Clubs, Spades }
    ///
    /// let hands: Arc<Vec<Suit>> = Arc::new(vec![Suit::Clubs; 500]);
    /// let filter = start(&Filter::concurrent(ZCdp, rho!(0.5)), hands)?;
    /// let by_suit = Partition::by_hash("suit", |row: &Suit| *row, [Suit::Clubs, Suit::Spades])?;
    /// let counts = filter.release(&Histogram::of(by_suit).gaussian(rho!(0.5))?)?;
    /// assert!((counts[&Suit::Clubs] - 500).abs() < 20);
    /// assert!(counts[&Suit::Spades].abs() < 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`numbered`](Partition::numbered).
    pub fn by_hash(
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> K + Send + Sync + 'static,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Self, MechanismError> {
        let (mut bins, mut listed) = (HashMap::new(), Vec::new());
        for key in keys {
            if !bins.contains_key(&key) {
                listed.push(key.clone());
                bins.insert(key, bins.len());
                BINS.check(bins.len())?;
            }
        }
        let bin = Attribute::new(name, move |row: D::Record<'_>| {
            bins.get(&key(row)).copied().unwrap_or(usize::MAX)
        });
        Self::labelled(bin, HashedKeys(listed.into()))
    }
}

impl<D: Dataset + ?Sized, L: Labels> Partition<D, L> {
    /// Tries the closure on all records: on how many it panics, and how many others are in no bin. For
    /// curators only: see [`ClosureCheck`].
    pub fn check(&self, data: &D) -> ClosureCheck {
        self.bin.check_by(data, |bin| *bin >= self.bins())
    }
}

impl<D: ?Sized, L: Labels> Partition<D, L> {
    fn labelled(bin: Attribute<D, usize>, labels: L) -> Result<Self, MechanismError> {
        if labels.bins() == 0 {
            return Err(MechanismError::none("bins"));
        }
        BINS.check(labels.bins())?;
        Ok(Self { bin, labels })
    }

    /// How many bins there are.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.labels.bins()
    }

    pub(super) fn describe(&self, description: Description) -> Description {
        let described = description.with("bin", self.bin.name());
        described.with("bins", self.labels.listed())
    }
}

crate::clone_fields!([D: ?Sized, L: Clone] Partition<D, L> { bin, labels });

impl<D: ?Sized, L> fmt::Debug for Partition<D, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition({})", self.bin.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bins;
    use std::cmp::Ordering;
    use std::hash::Hasher;

    type Rows = Vec<u8>;

    fn counts<L: Labels>(partition: &Partition<Rows, L>, rows: &[u8]) -> L::Of<i64> {
        let mut bins = Bins::new(partition.bins());
        partition.bin.fold(&rows.to_vec(), &mut bins);
        partition
            .labels
            .label(bins.counts().iter().map(|count| *count as i64).collect())
    }

    /// A key whose own code panics on 99.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Shy(u8);

    fn looked_at(value: u8) -> u8 {
        assert!(value != 99, "an unlucky row");
        value
    }

    impl Ord for Shy {
        fn cmp(&self, other: &Self) -> Ordering {
            looked_at(self.0).cmp(&looked_at(other.0))
        }
    }

    impl PartialOrd for Shy {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Hash for Shy {
        fn hash<H: Hasher>(&self, state: &mut H) {
            looked_at(self.0).hash(state);
        }
    }

    /// The key function panics on 98, and the key's own code on 99.
    fn key(row: &u8) -> Shy {
        assert!(*row != 98, "another one");
        Shy(*row)
    }

    const LIST: [Shy; 4] = [Shy(7), Shy(3), Shy(7), Shy(5)];

    #[test]
    fn rows_are_counted_under_their_key_and_no_other() {
        let rows = [3, 7, 7, 4, 98, 99, 7];
        let ordered = counts(&Partition::by_key("key", key, LIST).unwrap(), &rows);
        let expected = [(Shy(3), 1), (Shy(5), 0), (Shy(7), 3)];
        assert_eq!(ordered, BTreeMap::from(expected));
        let hashed = counts(&Partition::by_hash("key", key, LIST).unwrap(), &rows);
        assert_eq!(hashed, HashMap::from(expected));
    }

    #[test]
    fn a_partition_has_bins_and_not_too_many() {
        let none = MechanismError::none("bins");
        let error = Partition::<Rows, _>::by_key("key", key, []).unwrap_err();
        assert_eq!(error, none);
        let error = Partition::<Rows, _>::by_hash("key", key, []).unwrap_err();
        assert_eq!(error, none);
        let numbered = |bins| {
            let bin = Attribute::new("itself", |row: &u8| usize::from(*row));
            Partition::<Rows>::numbered(bin, bins).map(|partition| partition.bins())
        };
        assert_eq!(numbered(0), Err(none));
        let most = 1 << 22;
        assert_eq!(numbered(most), Ok(most));
        let too_many = |asked| MechanismError::TooMany {
            what: "bins",
            asked,
            most,
        };
        for bins in [most + 1, 1 << 27, usize::MAX] {
            assert_eq!(numbered(bins), Err(too_many(bins)));
        }
        // A list that does not end is refused as soon as it is too long.
        let error = Partition::<Rows, _>::by_key("key", |row: &u8| u64::from(*row), 0..);
        assert_eq!(error.unwrap_err(), too_many(most + 1));
        let error = Partition::<Rows, _>::by_hash("key", |row: &u8| u64::from(*row), 0..);
        assert_eq!(error.unwrap_err(), too_many(most + 1));
    }

    #[test]
    fn debug_shows_what_is_public() {
        let partition = Partition::<Rows, _>::by_key("key", key, LIST).unwrap();
        assert_eq!(format!("{partition:?}"), "Partition(key)");
    }
}
