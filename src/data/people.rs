//! People who may have several rows.

use std::ops::Range;
use std::sync::Arc;

use super::{CHUNK, Chunk, Dataset, GroupKey, Select, in_chunks};
use crate::machine::PublicMetadata;

/// A dataset of people, made from a table in which a person may have several rows: at most `K`.
///
/// A record is a [`Person`], with all of their rows. So what a filter on it guarantees is guaranteed
/// to people, and not to rows.
///
/// - A mechanism *on people* sees the rows of each person together. It needs no `K`.
/// - A mechanism *on rows* is launched as [`OnRows`](crate::mechanisms::OnRows), which knows from
///   `K` what a person can change.
///
/// ```
/// use queryables::data::{People, Person, Predicate};
/// use queryables::mechanisms::{Count, OnRows};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// struct Visit {
///     patient: u32,
///     hours: u32,
/// }
///
/// let visits = [(1, 2), (1, 9), (2, 3), (1, 8), (1, 1)];
/// let visits = visits.map(|(patient, hours)| Visit { patient, hours });
/// // An `Arc` for each row: rows are copied.
/// let visits: Vec<Arc<Visit>> = visits.into_iter().map(Arc::new).collect();
///
/// // The first three visits of each patient.
/// let patients = People::by_key(&visits, |visit: &Arc<Visit>| visit.patient).at_most::<3>();
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(patients))?;
///
/// // Patients who stayed for ten hours in all: ε = 0.1 for each patient.
/// let long = Predicate::new("ten hours", |patient: Person<'_, Vec<Arc<Visit>>>| {
///     patient.rows().map(|visit| visit.hours).sum::<u32>() >= 10
/// });
/// filter.release(&Count::of(long).laplace(epsilon!(0.1))?)?;
/// assert_eq!(filter.privacy_loss(), epsilon!(0.1));
///
/// // Visits of five hours: ε = 0.1 for each visit, and so 0.3 for each patient.
/// let long = Predicate::new("five hours", |visit: &Arc<Visit>| visit.hours >= 5);
/// filter.release(&OnRows(Count::of(long).laplace(epsilon!(0.1))?))?;
/// assert_eq!(filter.privacy_loss(), epsilon!(0.4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Which rows of a person are here depends on that person's rows only: the first `K` of those that
/// name the person, in the order of the table. So tables that differ by all rows of one person
/// become datasets that differ by one record, and the other records are the same, in the same order:
/// neighbours under [`AddRemove`](crate::privacy::AddRemove). The rows of all people, one person
/// after the other, differ by at most `K` rows next to each other.
///
/// People are in the order of their first rows. If the rows of one person are replaced by those of
/// another, the first one in the same place, the datasets are neighbours under
/// [`Replace`](crate::privacy::Replace).
///
/// A row that names nobody is dropped, and so is one on which the key panics
/// ([module](crate::data)). Whom a row belongs to must depend on nothing but the row. If one person
/// has several keys, each of them is a person here, and the guarantee is for each of them.
#[doc(alias = "contribution bounding")]
#[doc(alias = "user-level")]
#[derive(Clone, PartialEq, Eq)]
pub struct People<D: ?Sized, const K: u64 = UNBOUNDED> {
    /// Where the rows of each person end; those of the next start there.
    ends: Vec<usize>,
    rows: Arc<D>,
}

/// As many rows as there are.
pub(crate) const UNBOUNDED: u64 = u64::MAX;

impl<D: Select + ?Sized> People<D> {
    /// The people of a table, each with all of their rows. The key says whose a row is: a number, a
    /// text, or a few of them; `None` if it is nobody's.
    ///
    /// ```
    /// use queryables::data::{Dataset, People};
    ///
    /// let calls = vec![(Some("Ada"), 3), (Some("Bob"), 1), (None, 5), (Some("Ada"), 4)];
    /// let callers = People::by_key(&calls, |call: &(Option<&str>, u8)| call.0.map(String::from));
    /// assert_eq!(callers.len(), 2);
    /// assert_eq!(callers.at(0).rows().map(|call| call.1).collect::<Vec<_>>(), [3, 4]);
    /// ```
    pub fn by_key<P: GroupKey>(table: &D, key: impl Fn(D::Record<'_>) -> P) -> Self {
        let mut owned: Vec<(P::Key, usize)> = Vec::new();
        in_chunks(0..table.len(), CHUNK, &mut owned, |owned, chunk| {
            // A row on which the key panics is nobody's.
            let Chunk::Readable(indices) = chunk else {
                return;
            };
            let keys = table.records(indices.clone()).map(|row| key(row).key());
            // Before anything is kept: the key may panic on a later row of the chunk.
            let keys: Vec<Option<P::Key>> = keys.collect();
            let keys = keys.into_iter().zip(indices);
            owned.extend(keys.filter_map(|(key, index)| Some((key?, index))));
        });
        // By person, and within a person in the order of the table.
        owned.sort();
        let mut people: Vec<&[(P::Key, usize)]> = owned
            .chunk_by(|(one, _), (other, _)| one == other)
            .collect();
        people.sort_by_key(|rows| rows.first().map(|(_, index)| *index));
        let indices = |rows: &&[(P::Key, usize)]| rows.iter().map(|(_, index)| *index).collect();
        Self::of(table, people.iter().map(indices))
    }
}

impl<D: Select + ?Sized, const K: u64> People<D, K> {
    /// The same people, of whose rows at most this number is kept: the first ones.
    ///
    /// A smaller number costs less, and loses more rows. Choose it from what is publicly known.
    #[must_use]
    pub fn at_most<const MOST: u64>(&self) -> People<D, MOST> {
        const { assert!(MOST > 0, "a person must be allowed at least one row") };
        let most = usize::try_from(MOST).unwrap_or(usize::MAX);
        let people = (0..self.ends.len()).map(|index| self.range(index));
        People::of(&*self.rows, people.map(|rows| rows.take(most).collect()))
    }

    /// People with the rows at these indices.
    fn of(table: &D, people: impl Iterator<Item = Vec<usize>>) -> Self {
        let mut indices = Vec::new();
        let end = |rows: Vec<usize>| {
            indices.extend(rows);
            indices.len()
        };
        Self {
            ends: people.map(end).collect(),
            rows: table.select(&indices),
        }
    }
}

impl<D: ?Sized, const K: u64> People<D, K> {
    /// The rows of all people, one person after the other.
    #[must_use]
    pub fn rows(&self) -> &Arc<D> {
        &self.rows
    }

    /// The indices of a person's rows. A person who is not there has none.
    fn range(&self, index: usize) -> Range<usize> {
        let end = |index: usize| self.ends.get(index).copied();
        let start = index.checked_sub(1).map_or(Some(0), end);
        start
            .zip(end(index))
            .map_or(0..0, |(start, end)| start..end)
    }
}

/// The people.
impl<D: Dataset + ?Sized, const K: u64> Dataset for People<D, K> {
    type Record<'a>
        = Person<'a, D>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn at(&self, index: usize) -> Person<'_, D> {
        Person {
            table: &self.rows,
            rows: self.range(index),
        }
    }
}

/// Some of the people, with all of their rows.
impl<D: Select + ?Sized, const K: u64> Select for People<D, K> {
    fn select(&self, indices: &[usize]) -> Arc<Self> {
        let people = indices.iter().map(|index| self.range(*index).collect());
        Arc::new(Self::of(&self.rows, people))
    }
}

/// Those of the table.
impl<D: PublicMetadata + ?Sized, const K: u64> PublicMetadata for People<D, K> {
    type Metadata = D::Metadata;

    fn metadata(&self) -> &D::Metadata {
        self.rows.metadata()
    }

    fn is_reachable(&self) -> bool {
        self.rows.is_reachable()
    }
}

/// One person, with all of their rows: a record of [`People`].
pub struct Person<'a, D: ?Sized> {
    table: &'a D,
    rows: Range<usize>,
}

impl<'a, D: Dataset + ?Sized> Person<'a, D> {
    /// Their rows, in the order of the table.
    pub fn rows(&self) -> impl Iterator<Item = D::Record<'a>> + use<'a, D> {
        self.table.records(self.rows.clone())
    }
}

crate::clone_fields!([D: ?Sized] Person<'_, D> { table, rows });

// Nothing of the people, nor how many there are.
crate::debug_fields!([D: ?Sized, const K: u64] People<D, K>, "People");

// Nothing of the rows, which are in one table with those of all others.
crate::debug_fields!([D: ?Sized] Person<'_, D>, "Person");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::silence_guarded_panics;

    type Table = Vec<(u8, char)>;

    fn table(text: &str) -> Table {
        let rows = text.split_whitespace().map(str::as_bytes);
        rows.map(|row| (row[0] - b'0', char::from(row[1])))
            .collect()
    }

    fn of<const K: u64>(people: &People<Table, K>) -> Vec<String> {
        let rows = |index| people.at(index).rows().map(|row| row.1).collect();
        (0..people.len()).map(rows).collect()
    }

    #[test]
    fn people_keep_their_first_rows_in_the_order_of_the_table() {
        let table = table("2a 1b 2c 2d 1e 0f");
        let people = People::by_key(&table, |row: &(u8, char)| row.0);
        assert_eq!(of(&people), ["acd", "be", "f"]);
        assert_eq!(of(&people.at_most::<2>()), ["ac", "be", "f"]);
        let first = people.at_most::<1>();
        assert_eq!(of(&first), ["a", "b", "f"]);
        assert_eq!(first.rows().len(), 3);
        // Those who are not there have no rows.
        assert_eq!(first.at(3).rows().count(), 0);
    }

    #[test]
    fn removing_a_person_leaves_the_others_as_they_are() {
        let table = table("1a 2b 1c 3d 2e 1f 2g");
        let whole = People::by_key(&table, |row: &(u8, char)| row.0).at_most::<2>();
        for (person, others) in [(1, ["be", "d"]), (2, ["ac", "d"]), (3, ["ac", "be"])] {
            let mut table = table.clone();
            table.retain(|row| row.0 != person);
            let without = People::by_key(&table, |row: &(u8, char)| row.0).at_most::<2>();
            assert_eq!(of(&without), others);
        }
        assert_eq!(of(&whole), ["ac", "be", "d"]);
    }

    #[test]
    fn a_row_that_names_nobody_is_dropped_as_is_one_that_cannot_be_read() {
        silence_guarded_panics();
        // More than a chunk, and the unlucky rows are in both.
        let row = |index: usize| (index % 4) as u8;
        let table: Table = (0..CHUNK + 50).map(|index| (row(index), 'x')).collect();
        let panicking = |row: &(u8, char)| {
            assert_ne!(row.0, 3, "an unlucky row");
            row.0
        };
        let people = People::by_key(&table, panicking);
        let named = People::by_key(&table, |row: &(u8, char)| {
            Some(row.0).filter(|key| *key != 3)
        });
        assert_eq!(people, named);
        assert_eq!(people.len(), 3);
        assert_eq!(people.rows().len(), CHUNK * 3 / 4 + 38);
    }

    #[test]
    fn some_of_the_people_keep_their_rows() {
        let people = People::by_key(&table("1a 2b 1c 3d 2e"), |row: &(u8, char)| row.0);
        let some = people.select(&[2, 0]);
        assert_eq!(of(&some), ["d", "ac"]);
        assert_eq!(**some.rows(), table("3d 1a 1c"));
        assert!(people.select(&[]).is_empty());
    }

    #[test]
    fn a_table_without_rows_has_nobody() {
        let people = People::by_key(&Table::new(), |row: &(u8, char)| row.0);
        assert!(people.is_empty() && people.rows().is_empty());
    }

    #[test]
    fn nobody_is_shown() {
        let people = People::by_key(&table("1a 2b"), |row: &(u8, char)| row.0);
        assert_eq!(format!("{people:?} {:?}", people.at(0)), "People Person");
    }
}
