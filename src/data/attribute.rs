//! Questions about one record.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::threads::{each, pieces};
use super::{CHUNK, Chunk, ClosureCheck, Dataset, Fold, Merge, Value, in_chunks, pass};

/// A named question about a record, such as its age. It is public, and cheap to clone.
///
/// ```
/// use queryables::data::{Attribute, ClampedSum, Predicate};
///
/// let people = vec![("Ada", 36), ("Bob", 17)];
///
/// let age = Attribute::new("age", |person: &(&str, i64)| person.1);
/// let mut sum = ClampedSum::new(0..=100);
/// age.fold(&people, &mut sum);
/// assert_eq!(sum.total(), 53);
/// assert_eq!(format!("{age:?}"), "Attribute(age)");
///
/// let adult = Predicate::new("at least 18", |person: &(&str, i64)| person.1 >= 18);
/// assert_eq!(adult.count(&people), 1);
/// ```
///
/// Write down the type of the closure's argument: the kind of dataset is then found from where the
/// attribute is used. Where it is used on several kinds, write a function that is generic:
///
/// ```
/// use queryables::data::{Dataset, Predicate};
///
/// fn adults<D>() -> Predicate<D>
/// where
///     D: for<'a> Dataset<Record<'a> = &'a u32> + ?Sized + 'static,
/// {
///     Predicate::new("at least 18", |age: &u32| *age >= 18)
/// }
///
/// assert_eq!(adults().count(&vec![17, 36]), 1);
/// assert_eq!(adults().count(&[17, 36]), 1);
/// ```
///
/// # Guarantee
///
/// One record changes the result over all records only through its own value, as long as the
/// attribute depends on nothing but the record. If reading it panics, the record has the value
/// [`Value::UNREADABLE`]: passing the panic on would reveal that there is such a record.
///
/// A closure is arbitrary code in the process. It can store every record that it sees, whatever the
/// loss: only people who may see the data may write one.
pub struct Attribute<D: ?Sized, T: Value> {
    name: Arc<str>,
    /// The whole pass, so that the closure is inlined into the loop over the records.
    pass: Arc<Pass<D, T>>,
    /// The same, for the values one by one.
    read: Arc<Read<D, T>>,
}

type Read<D, T> = dyn Fn(&D, Range<usize>, &mut [T], &mut dyn FnMut(usize)) + Send + Sync;

type Pass<D, T> = dyn Fn(&D, Range<usize>, &mut <T as Value>::Fold) + Send + Sync;

/// A question about one record that is answered by yes or no.
///
/// Example: [`Count`](crate::mechanisms::Count).
#[doc(alias = "where")]
pub type Predicate<D> = Attribute<D, bool>;

impl<D: Dataset + ?Sized, T: Value> Attribute<D, T> {
    /// The attribute with this name.
    pub fn new(
        name: impl Into<Arc<str>>,
        read: impl Fn(D::Record<'_>) -> T + Send + Sync + 'static,
    ) -> Self {
        let read = Arc::new(read);
        let by_one = Arc::clone(&read);
        Self {
            name: name.into(),
            pass: Arc::new(move |data: &D, range, fold: &mut T::Fold| {
                pass(data, range, &*read, fold);
            }),
            read: Arc::new(
                move |data: &D, range, values: &mut [T], unreadable: &mut _| {
                    list(data, range, &*by_one, values, unreadable);
                },
            ),
        }
    }

    /// Writes the values of the records with these indices, one after the other.
    ///
    /// ```
    /// use queryables::data::Predicate;
    ///
    /// let large = Predicate::new("large", |row: &u8| *row > 1);
    /// let mut values = [false; 2];
    /// large.read(&vec![1, 2, 3], 1..3, &mut values);
    /// assert_eq!(values, [true, true]);
    /// ```
    pub fn read(&self, data: &D, range: Range<usize>, values: &mut [T]) {
        self.read_or(data, range, values, |_| ());
    }

    /// The same, and `unreadable` is told the places of those that cannot be read.
    pub(crate) fn read_or(
        &self,
        data: &D,
        range: Range<usize>,
        values: &mut [T],
        mut unreadable: impl FnMut(usize),
    ) {
        (self.read)(data, range, values, &mut unreadable);
    }

    /// The values of these records, and the places of those that cannot be read.
    pub(crate) fn values(&self, data: &D, range: Range<usize>) -> (Vec<T>, Vec<usize>) {
        let mut values: Vec<T> = range.clone().map(|_| T::UNREADABLE).collect();
        let mut unreadable = Vec::new();
        self.read_or(data, range, &mut values, |place| unreadable.push(place));
        (values, unreadable)
    }

    /// Folds the values of all records: on several threads if there are many, which makes no
    /// difference; see the [module](crate::data).
    pub fn fold(&self, data: &D, fold: &mut T::Fold) {
        in_pieces(data, fold, |range, fold| self.fold_range(data, range, fold));
    }

    /// The same for another fold than that of the type: squares of an attribute that is otherwise
    /// summed, for instance.
    pub fn fold_into<F: Fold<T> + Send>(&self, data: &D, fold: &mut F)
    where
        T: Copy,
    {
        in_pieces(data, fold, |range, fold| {
            let mut values = [T::UNREADABLE; CHUNK];
            for start in range.clone().step_by(CHUNK) {
                let chunk = start..range.end.min(start + CHUNK);
                let values = values.get_mut(..chunk.len()).unwrap_or_default();
                self.read(data, chunk, values);
                fold.take(values.iter().copied());
            }
        });
    }

    /// Tries the closure on all records: on how many it panics or gives no value. For curators only:
    /// see [`ClosureCheck`], which has an example.
    pub fn check(&self, data: &D) -> ClosureCheck {
        self.check_by(data, T::is_missing)
    }

    /// The same, where this says which values are none.
    pub(crate) fn check_by(&self, data: &D, is_missing: impl Fn(&T) -> bool) -> ClosureCheck {
        let mut check = ClosureCheck::default();
        for start in (0..data.len()).step_by(CHUNK) {
            let records = start..data.len().min(start + CHUNK);
            let mut values: Vec<T> = records.clone().map(|_| T::UNREADABLE).collect();
            let mut panicked = vec![false; records.len()];
            self.read_or(data, records, &mut values, |place| {
                panicked
                    .iter_mut()
                    .skip(place)
                    .take(1)
                    .for_each(|it| *it = true);
            });
            check.take(&panicked, values.iter().map(&is_missing));
        }
        check
    }

    /// Folds the values of these records, on this thread.
    pub fn fold_range(&self, data: &D, range: Range<usize>, fold: &mut T::Fold) {
        (self.pass)(data, range, fold);
    }
}

/// Folds all records of a dataset, in pieces if there are many.
fn in_pieces<D: Dataset + ?Sized, T, F: Fold<T> + Send>(
    data: &D,
    fold: &mut F,
    take: impl Fn(Range<usize>, &mut F) + Sync,
) {
    let records = 0..data.len();
    let divided = fold.merge().zip(pieces(records.clone(), 1));
    let Some((Merge { empty, add }, pieces)) = divided else {
        return take(records, fold);
    };
    let parts = pieces.into_iter().map(|piece| (piece, empty(fold)));
    let folded = each(parts.collect(), |(piece, mut part)| {
        take(piece, &mut part);
        part
    });
    folded.into_iter().for_each(|part| add(fold, part));
}

/// Writes values in the order of their records.
fn list<D: Dataset + ?Sized, T: Value>(
    data: &D,
    range: Range<usize>,
    read: &impl Fn(D::Record<'_>) -> T,
    values: &mut [T],
    unreadable: &mut dyn FnMut(usize),
) {
    let first = range.start;
    let mut state = (values, unreadable);
    in_chunks(range, CHUNK, &mut state, |(values, unreadable), chunk| {
        let (Chunk::Readable(indices) | Chunk::Unreadable(indices)) = &chunk;
        let start = indices.start - first;
        let places = values.iter_mut().skip(start);
        if let Chunk::Unreadable(_) = chunk {
            places.take(1).for_each(|place| *place = T::UNREADABLE);
            return unreadable(start);
        }
        // If a value panics, the chunk is written again.
        for (place, value) in places.zip(data.records(indices.clone()).map(read)) {
            *place = value;
        }
    });
}

impl<D: ?Sized, T: Value> Attribute<D, T> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<D: Dataset + ?Sized> Predicate<D> {
    /// The number of records for which it holds.
    #[must_use]
    pub fn count(&self, data: &D) -> u64 {
        let mut count = 0;
        self.fold(data, &mut count);
        count
    }

    /// Whether it holds for the record with this index.
    #[must_use]
    pub fn holds(&self, data: &D, index: usize) -> bool {
        let mut count = 0;
        self.fold_range(data, index..index + 1, &mut count);
        count == 1
    }
}

crate::clone_fields!([D: ?Sized, T: Value] Attribute<D, T> { name, pass, read });

impl<D: ?Sized, T: Value> fmt::Debug for Attribute<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attribute({})", self.name)
    }
}
