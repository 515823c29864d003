//! Questions about one row.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A question about one row, with a name: public, and cheap to clone.
///
/// ```
/// use queryables::mechanisms::Predicate;
///
/// let adult = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// assert!(adult.holds(&20) && !adult.holds(&17));
/// assert_eq!(adult.count(&[17, 18, 19]), 2);
/// assert_eq!(format!("{adult:?}"), "Predicate(at least 18)");
/// ```
///
/// # Guarantee
///
/// One row changes a count by at most one, as long as the answer depends on nothing but the row.
/// A row on which the question panics does not count: to pass the panic on would tell that there
/// is such a row.
pub struct Predicate<Row: ?Sized> {
    name: Arc<str>,
    test: Arc<dyn Fn(&Row) -> bool + Send + Sync>,
}

impl<Row: ?Sized> Predicate<Row> {
    /// The question with this name.
    pub fn new(
        name: impl Into<Arc<str>>,
        test: impl Fn(&Row) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            test: Arc::new(test),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it holds for this row.
    #[must_use]
    pub fn holds(&self, row: &Row) -> bool {
        catch_unwind(AssertUnwindSafe(|| (self.test)(row))).unwrap_or(false)
    }
}

impl<Row> Predicate<Row> {
    /// For how many rows it holds.
    #[must_use]
    pub fn count(&self, rows: &[Row]) -> u64 {
        rows.iter().filter(|row| self.holds(row)).count() as u64
    }
}

impl<Row: ?Sized> Clone for Predicate<Row> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            test: Arc::clone(&self.test),
        }
    }
}

impl<Row: ?Sized> fmt::Debug for Predicate<Row> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Predicate({})", self.name)
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
    }
}
