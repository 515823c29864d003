//! Numbered records of one kind.

use std::ops::Range;
use std::sync::Arc;

/// Data with numbered records, all of one kind.
///
/// Vectors, arrays and slices are datasets of references to their elements, and so are pointers to
/// datasets (`Box`, `Arc`, `&`). Implement it for columns of your own:
///
/// ```
/// use queryables::data::{Dataset, Predicate};
///
/// struct People {
///     ages: Vec<u8>,
///     names: Vec<String>,
/// }
///
/// /// One person, put together from the columns.
/// struct Person<'a> {
///     age: u8,
///     name: &'a str,
/// }
///
/// impl Dataset for People {
///     type Record<'a> = Person<'a>;
///
///     fn len(&self) -> usize {
///         self.ages.len()
///     }
///
///     fn at(&self, index: usize) -> Person<'_> {
///         Person { age: self.ages[index], name: &self.names[index] }
///     }
/// }
///
/// let people = People { ages: vec![36, 17], names: vec!["Ada".into(), "Bob".into()] };
/// let adult = Predicate::new("adult, not Bob", |p: Person<'_>| p.age >= 18 && p.name != "Bob");
/// assert_eq!(adult.count(&people), 1);
/// ```
///
/// # What an implementer owes
///
/// - A record is what the neighbouring relation speaks about: what
///   [`AddRemove`](crate::privacy::AddRemove) adds or removes, and
///   [`Replace`](crate::privacy::Replace) replaces. If that is a household, records are households.
///   The kind of record is an associated type for this reason: a dataset of people *and* visits
///   would add up losses for different neighbours.
/// - Each record occurs once, at an index below `len`, and the record at one index does not depend
///   on other records.
/// - [`records`](Self::records) yields what [`at`](Self::at) returns, index by index.
/// - Nothing changes while the dataset is shared.
///
/// Large data is read on several threads, so a dataset is `Send` and `Sync`; see the [module](crate::data).
#[doc(alias = "csv")]
#[doc(alias = "dataframe")]
#[doc(alias = "table")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dataset",
    label = "this needs data with records",
    note = "use a `Vec<Row>` or a slice, or implement `queryables::data::Dataset` for your columns",
    note = "a table has no closures over rows: ask what its schema offers, such as `schema.count()`"
)]
pub trait Dataset: Send + Sync {
    /// One record: a reference into the data, or a few values that are read from columns.
    type Record<'a>
    where
        Self: 'a;

    /// The number of records.
    fn len(&self) -> usize;

    /// The record with this index.
    ///
    /// # Panics
    ///
    /// It may panic if the index is not below [`len`](Self::len).
    fn at(&self, index: usize) -> Self::Record<'_>;

    /// The records with these indices, in order. Override it if there is a faster way than one by
    /// one.
    ///
    /// # Panics
    ///
    /// It may panic if an index is not below [`len`](Self::len).
    #[inline]
    fn records(&self, range: Range<usize>) -> impl Iterator<Item = Self::Record<'_>> {
        range.map(|index| self.at(index))
    }

    /// Whether there are no records.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The elements.
impl<T: Send + Sync> Dataset for [T] {
    type Record<'a>
        = &'a T
    where
        T: 'a;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "an index out of range is documented to panic"
    )]
    fn at(&self, index: usize) -> &T {
        &self[index]
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "an index out of range is documented to panic"
    )]
    fn records(&self, range: Range<usize>) -> impl Iterator<Item = &T> {
        self[range].iter()
    }
}

/// The records of a slice.
macro_rules! like_a_slice {
    (impl[$($generics:tt)*] $Data:ty) => {
        impl<$($generics)*> Dataset for $Data {
            type Record<'a>
                = &'a T
            where
                T: 'a;

            fn len(&self) -> usize {
                self.as_slice().len()
            }

            #[inline]
            fn at(&self, index: usize) -> &T {
                self.as_slice().at(index)
            }

            #[inline]
            fn records(&self, range: Range<usize>) -> impl Iterator<Item = &T> {
                self.as_slice().records(range)
            }
        }
    };
}

like_a_slice!(impl[T: Send + Sync] Vec<T>);
like_a_slice!(impl[T: Send + Sync, const N: usize] [T; N]);

/// The records of what it points to.
macro_rules! like_what_it_points_to {
    ($($Pointer:ty)*) => {$(
        impl<D: Dataset + ?Sized> Dataset for $Pointer {
            type Record<'a>
                = D::Record<'a>
            where
                Self: 'a;

            fn len(&self) -> usize {
                (**self).len()
            }

            #[inline]
            fn at(&self, index: usize) -> D::Record<'_> {
                (**self).at(index)
            }

            #[inline]
            fn records(&self, range: Range<usize>) -> impl Iterator<Item = D::Record<'_>> {
                (**self).records(range)
            }
        }
    )*};
}

like_what_it_points_to!(Arc<D> Box<D> &D);

#[cfg(test)]
mod tests {
    use super::*;

    fn all<'a, D: Dataset<Record<'a> = &'a u8> + ?Sized>(data: &'a D) -> Vec<u8> {
        let one_by_one: Vec<u8> = (0..data.len()).map(|index| *data.at(index)).collect();
        assert!(data.records(0..data.len()).eq(&one_by_one));
        assert_eq!(data.is_empty(), one_by_one.is_empty());
        one_by_one
    }

    #[test]
    fn whatever_holds_records_is_a_dataset_of_them() {
        let rows = [3, 1, 4];
        assert_eq!(all(&rows), rows);
        assert_eq!(all(&rows[..]), rows);
        assert_eq!(all(&rows.to_vec()), rows);
        assert_eq!(all::<Box<[u8]>>(&rows.into()), rows);
        assert_eq!(all::<Arc<Vec<u8>>>(&Arc::new(rows.to_vec())), rows);
        assert_eq!(all(&&rows), rows);
        assert!(all::<[u8]>(&[]).is_empty());
    }
}
