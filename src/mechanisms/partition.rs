//! Rows divided among bins that are known in advance.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::MechanismError;
use super::limit::BINS;
use crate::data::{Attribute, Dataset};

/// The bins of a histogram: a public list, and the one bin, or none, that each row is in.
///
/// | made by | bins are | counts come as |
/// |---|---|---|
/// | [`numbered`](Self::numbered) | the numbers from 0 on | a `Vec` |
/// | [`by_key`](Self::by_key) | keys that are ordered | a `BTreeMap` |
/// | [`by_hash`](Self::by_hash) | keys that can be hashed | a `HashMap` |
///
/// ```
/// use queryables::mechanisms::{NoisyHistogram, Partition};
/// use queryables::prelude::*;
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// let colours: Arc<Vec<&str>> = Arc::new(vec!["red", "blue", "red", "mauve"]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), colours)?;
///
/// // Mauve is not on the list, and so not counted.
/// let by_colour = Partition::by_key("colour", |row: &&str| *row, ["red", "green", "blue"])?;
/// let histogram = NoisyHistogram::over(AddRemove, by_colour, "0.5".parse()?)?;
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
pub struct Partition<D: ?Sized, C = Vec<i64>> {
    bin: Attribute<D, usize>,
    bins: NonZeroUsize,
    listed: Arc<Listed>,
    label: Arc<Label<C>>,
}

type Listed = dyn Fn() -> String + Send + Sync;

type Label<C> = dyn Fn(Vec<i64>) -> C + Send + Sync;

impl<D: ?Sized> Partition<D> {
    /// The bins `0..bins`. A row with another number is in none.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there are no bins, [`MechanismError::TooMany`] if there are
    /// more than 2^22.
    pub fn numbered(bin: Attribute<D, usize>, bins: usize) -> Result<Self, MechanismError> {
        Self::labelled(bin, bins, move || bins.to_string(), |counts| counts)
    }
}

impl<D: Dataset + ?Sized, K: Clone + Send + Sync + 'static> Partition<D, BTreeMap<K, i64>> {
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
    ) -> Result<Self, MechanismError>
    where
        K: Ord + fmt::Debug,
    {
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
        let all = Arc::clone(&keys);
        let listed = move || format!("{all:?}");
        Self::labelled(bin, keys.len(), listed, move |counts| {
            keys.iter().cloned().zip(counts).collect()
        })
    }
}

impl<D: Dataset + ?Sized, K: Clone + Send + Sync + 'static> Partition<D, HashMap<K, i64>> {
    /// [`by_key`](Partition::by_key), for keys without an order.
    ///
    /// ```
    /// use queryables::mechanisms::{GaussianHistogram, Partition};
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    /// enum Suit { Clubs, Spades }
    ///
    /// let hands: Arc<Vec<Suit>> = Arc::new(vec![Suit::Clubs; 500]);
    /// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), hands)?;
    /// let by_suit = Partition::by_hash("suit", |row: &Suit| *row, [Suit::Clubs, Suit::Spades])?;
    /// let counts = filter.release(&GaussianHistogram::over(AddRemove, by_suit, "0.5".parse()?)?)?;
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
    ) -> Result<Self, MechanismError>
    where
        K: Hash + Eq + fmt::Debug,
    {
        let mut bins = HashMap::new();
        for key in keys {
            let next = bins.len();
            bins.entry(key).or_insert(next);
            BINS.check(bins.len())?;
        }
        let bins = Arc::new(bins);
        let listed = Arc::clone(&bins);
        let bin = Attribute::new(name, move |row: D::Record<'_>| {
            listed.get(&key(row)).copied().unwrap_or(usize::MAX)
        });
        let all = Arc::clone(&bins);
        let listed = move || {
            let mut keys: Vec<_> = all.iter().collect();
            keys.sort_unstable_by_key(|(_, bin)| **bin);
            let keys: Vec<&K> = keys.into_iter().map(|(key, _)| key).collect();
            format!("{keys:?}")
        };
        Self::labelled(bin, bins.len(), listed, move |counts| {
            let counted = |(key, bin): (&K, &usize)| Some((key.clone(), *counts.get(*bin)?));
            bins.iter().filter_map(counted).collect()
        })
    }
}

impl<D: ?Sized, C> Partition<D, C> {
    fn labelled(
        bin: Attribute<D, usize>,
        bins: usize,
        listed: impl Fn() -> String + Send + Sync + 'static,
        label: impl Fn(Vec<i64>) -> C + Send + Sync + 'static,
    ) -> Result<Self, MechanismError> {
        let bins = NonZeroUsize::new(bins).ok_or(MechanismError::NoChoice)?;
        BINS.check(bins.get())?;
        Ok(Self {
            bin,
            bins,
            listed: Arc::new(listed),
            label: Arc::new(label),
        })
    }

    /// What decides the bin of a row.
    pub(super) fn bin(&self) -> &Attribute<D, usize> {
        &self.bin
    }

    /// The number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins.get()
    }

    /// The number of bins that have numbers, and all keys of those that have keys.
    pub(super) fn listed(&self) -> String {
        (self.listed)()
    }

    /// The counts, in the order of the bins, as they are released.
    pub(super) fn label(&self, counts: Vec<i64>) -> C {
        (self.label)(counts)
    }
}

impl<D: ?Sized, C> Clone for Partition<D, C> {
    fn clone(&self) -> Self {
        Self {
            bin: self.bin.clone(),
            bins: self.bins,
            listed: Arc::clone(&self.listed),
            label: Arc::clone(&self.label),
        }
    }
}

impl<D: ?Sized, C> fmt::Debug for Partition<D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition({}, {} bins)", self.bin.name(), self.bins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bins;
    use std::cmp::Ordering;
    use std::hash::Hasher;

    type Rows = Vec<u8>;

    fn counts<C>(partition: &Partition<Rows, C>, rows: &[u8]) -> C {
        let mut bins = Bins::new(partition.bins());
        partition.bin().fold(&rows.to_vec(), &mut bins);
        partition.label(bins.counts().iter().map(|count| *count as i64).collect())
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
        let none = MechanismError::NoChoice;
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
        assert_eq!(format!("{partition:?}"), "Partition(key, 3 bins)");
    }
}
