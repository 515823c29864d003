//! Some of the records of a dataset, as a dataset of the same type.

use std::sync::Arc;

use super::Dataset;

/// A dataset of which a part is again a dataset of the same type, so that every mechanism on the
/// whole also works on a part.
///
/// Vectors and slices copy the records; put them behind an `Arc` if that is expensive. For columns
/// of your own, select in each of them:
///
/// ```
/// use queryables::data::{Dataset, Select};
/// use std::sync::Arc;
///
/// struct Visits {
///     hour: Vec<u8>,
///     ward: Vec<u16>,
/// }
///
/// impl Dataset for Visits {
///     type Record<'a> = (u8, u16);
///
///     fn len(&self) -> usize {
///         self.hour.len()
///     }
///
///     fn at(&self, index: usize) -> (u8, u16) {
///         (self.hour[index], self.ward[index])
///     }
/// }
///
/// impl Select for Visits {
///     fn select(&self, indices: &[usize]) -> Arc<Self> {
///         Arc::new(Self {
///             hour: indices.iter().map(|index| self.hour[*index]).collect(),
///             ward: indices.iter().map(|index| self.ward[*index]).collect(),
///         })
///     }
/// }
///
/// let visits = Visits { hour: vec![9, 10, 11], ward: vec![1, 2, 1] };
/// assert_eq!(visits.select(&[0, 2]).at(1), (11, 1));
/// ```
///
/// # What an implementer owes
///
/// The new dataset has the records at these indices, in this order, and no others. It does not
/// panic: the analyst would see whether copying a record fails.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be split into parts",
    note = "use a `Vec<Row>` or a slice of rows that are `Clone`, or implement \
            `queryables::data::Select` for your columns"
)]
pub trait Select: Dataset {
    /// The records with these indices, which are below the number of records.
    fn select(&self, indices: &[usize]) -> Arc<Self>;
}

impl<T: Clone + Send + Sync> Select for Vec<T> {
    fn select(&self, indices: &[usize]) -> Arc<Self> {
        Arc::new(copied(self, indices).collect())
    }
}

impl<T: Clone + Send + Sync> Select for [T] {
    fn select(&self, indices: &[usize]) -> Arc<Self> {
        copied(self, indices).collect()
    }
}

fn copied<T: Clone>(rows: &[T], indices: &[usize]) -> impl Iterator<Item = T> {
    indices.iter().filter_map(|index| rows.get(*index)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_selected_in_order() {
        assert_eq!(*vec![5, 6, 7].select(&[0, 2]), [5, 7]);
        assert_eq!(*[5, 6, 7][..].select(&[2]), [7]);
        assert!([5, 6, 7][..].select(&[]).is_empty());
    }
}
