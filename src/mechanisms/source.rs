//! Where the values come from that a mechanism counts: an attribute of rows, or groups of a table.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::{About, Unavailable};
use crate::data::{Attribute, Dataset, Value};
use crate::machine::{Description, DomainMismatch, Public};

/// What is asked of each record, as far as it is public: a value, a key or a time, a number to be summed,
/// or a condition, whose values are yes and no.
///
/// Example: [`Counts`](crate::mechanisms::query::Counts).
pub trait Source: Clone + Send + Sync {
    /// How it is called, in descriptions and errors.
    fn name(&self) -> Cow<'_, str>;

    /// Adds everything that says what is asked, where `role` says what it is used for.
    fn describe(&self, role: &'static str, description: Description) -> Description {
        description.with(role, self.name())
    }

    /// Which truth an answer is about, where values are clamped to this range.
    fn about_in(&self, range: &RangeInclusive<i64>) -> About {
        About::all_rows().clamped(format_args!("{range:?}"))
    }
}

/// How many records have each value.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
///
/// # What an implementer owes
///
/// A record has at most one value, whatever the others are: one that is added raises one count by one, or
/// none. It does not fail because of data.
#[diagnostic::on_unimplemented(
    message = "take values from `{D}`: those of `{Self}` are from other data",
    label = "values of other data"
)]
pub trait CountsBy<D: ?Sized, K>: Source {
    /// Whether it is about data like this, by what is public. By default it is.
    ///
    /// # Errors
    ///
    /// [`DomainMismatch`], which says why not: the launch is refused, and nothing is charged.
    fn check(&self, _data: Public<'_, D>) -> Result<(), DomainMismatch> {
        Ok(())
    }

    /// Each value that occurs, and how many records have it, in the order of the values.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the engine that holds the data does not answer.
    fn counts(&self, data: &D) -> Result<Vec<(K, u64)>, Unavailable>;
}

impl<D: ?Sized, T: Value> Source for Attribute<D, T> {
    fn name(&self) -> Cow<'_, str> {
        Self::name(self).into()
    }
}

/// A row that cannot be read has the value zero.
impl<D: Dataset + ?Sized> CountsBy<D, i64> for Attribute<D, i64> {
    fn counts(&self, data: &D) -> Result<Vec<(i64, u64)>, Unavailable> {
        let (values, _) = self.values(data, 0..data.len());
        Ok(counted(values))
    }
}

/// A row without a time, or one that cannot be read, is not counted.
impl<D: Dataset + ?Sized> CountsBy<D, u64> for Attribute<D, Option<u64>> {
    fn counts(&self, data: &D) -> Result<Vec<(u64, u64)>, Unavailable> {
        let mut times = Vec::new();
        self.fold(data, &mut times);
        Ok(counted(times))
    }
}

/// Each value once, in order, with how often it is there.
fn counted<K: Ord + Copy>(mut values: Vec<K>) -> Vec<(K, u64)> {
    values.sort_unstable();
    let runs = values.chunk_by(PartialEq::eq);
    let runs = runs.filter_map(|run| Some((*run.first()?, run.len() as u64)));
    runs.collect()
}
