//! Questions about one row.

use std::fmt;
use std::sync::Arc;

use crate::machine::guarded;

/// Something that each row has, with a name: public, and cheap to clone.
///
/// ```
/// use queryables::mechanisms::{Attribute, Predicate};
///
/// let age = Attribute::new("age", |person: &(&str, i64)| person.1);
/// assert_eq!(age.read(&("Ada", 36)), Some(36));
/// assert_eq!(format!("{age:?}"), "Attribute(age)");
///
/// let adult = Predicate::new("at least 18", |person: &(&str, i64)| person.1 >= 18);
/// assert_eq!(adult.count(&[("Ada", 36), ("Bob", 17)]), 1);
/// ```
///
/// # Guarantee
///
/// One row changes what is made of all rows only through itself, as long as its attribute depends
/// on nothing but the row. Where reading it panics, the row has no value: to pass the panic on
/// would tell that there is such a row.
pub struct Attribute<Row, T> {
    name: Arc<str>,
    read: Arc<dyn Fn(&Row) -> T + Send + Sync>,
}

/// A question about one row that is answered by yes or no.
pub type Predicate<Row> = Attribute<Row, bool>;

impl<Row, T> Attribute<Row, T> {
    /// The attribute with this name.
    pub fn new(
        name: impl Into<Arc<str>>,
        read: impl Fn(&Row) -> T + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            read: Arc::new(read),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What this row has; `None` where reading it panics.
    #[must_use]
    pub fn read(&self, row: &Row) -> Option<T> {
        guarded(|| Ok((self.read)(row))).ok()
    }
}

impl<Row> Predicate<Row> {
    /// For how many rows it holds.
    #[must_use]
    pub fn count(&self, rows: &[Row]) -> u64 {
        rows.iter()
            .filter(|row| self.read(row).unwrap_or(false))
            .count() as u64
    }
}

impl<Row, T> Clone for Attribute<Row, T> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            read: Arc::clone(&self.read),
        }
    }
}

impl<Row, T> fmt::Debug for Attribute<Row, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attribute({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_on_which_it_panics_does_not_count() {
        let odd = Predicate::new("odd, or so", |row: &u32| {
            assert_ne!(*row, 7, "an unlucky row");
            row % 2 == 1
        });
        assert_eq!(odd.count(&[1, 7, 8, 9]), 2);
        assert_eq!(odd.clone().name(), "odd, or so");
        assert_eq!(odd.read(&7), None);
    }
}
