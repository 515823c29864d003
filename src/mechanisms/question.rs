//! What data can be asked to count.

use crate::data::{Dataset, Predicate, Unavailable};
use crate::machine::{DomainMismatch, Public};

/// Data that can say of how many records a condition holds.
///
/// # What an implementer owes
///
/// One record that is added or removed changes the count by at most one, and raises it or lowers
/// it for all conditions alike. It does not fail because of data.
///
/// A question that is itself data may be about data of another kind, a column that is not there for
/// instance. [`check`](Self::check) refuses it from what is public:
///
/// ```
/// use queryables::machine::{DomainMismatch, Public, PublicMetadata};
/// use queryables::mechanisms::AboveThreshold;
/// use queryables::mechanisms::query::{Counts, Source, Unavailable};
/// use queryables::prelude::*;
/// use std::borrow::Cow;
/// use std::sync::Arc;
///
/// /// Yes or no, in columns with public names.
/// struct Columns {
///     names: Vec<&'static str>,
///     values: Vec<Vec<bool>>,
/// }
///
/// impl PublicMetadata for Columns {
///     type Metadata = [&'static str];
///
///     fn metadata(&self) -> &[&'static str] {
///         &self.names
///     }
/// }
///
/// /// A yes in the column of this name.
/// #[derive(Clone)]
/// struct Yes(&'static str);
///
/// impl Source for Yes {
///     fn name(&self) -> Cow<'_, str> {
///         self.0.into()
///     }
/// }
///
/// impl Counts<Yes> for Columns {
///     fn check(data: Public<'_, Self>, Yes(name): &Yes) -> Result<(), DomainMismatch> {
///         match data.metadata().contains(name) {
///             true => Ok(()),
///             false => Err(DomainMismatch("there is no such column")),
///         }
///     }
///
///     fn count(&self, Yes(name): &Yes) -> Result<u64, Unavailable> {
///         let column = self.names.iter().position(|known| known == name);
///         let values = column.and_then(|column| self.values.get(column));
///         Ok(values.into_iter().flatten().filter(|yes| **yes).count() as u64)
///     }
/// }
///
/// let answers = Columns { names: vec!["smokes"], values: vec![vec![true; 1000]] };
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(answers))?;
/// let search = filter.launch(&AboveThreshold::new(AddRemove, 500, 1, epsilon!(1))?)?;
/// let unknown = Fault::InvalidQuery("there is no such column");
/// assert_eq!(search.ask(Yes("sings")), Err(AskError::Fault(unknown)));
/// assert_eq!(search.ask(Yes("smokes")), Ok(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "SQL")]
#[doc(alias = "database")]
#[doc(alias = "postgres")]
#[diagnostic::on_unimplemented(
    message = "ask about records of `{Self}`: a `{Q}` is about others",
    label = "cannot be counted here",
    note = "a question about rows, asked of people? wrap the mechanism: `OnRows(mechanism)`"
)]
pub trait Counts<Q: ?Sized> {
    /// Whether the question is about data like this: nothing but what is public can be read here. By
    /// default every question is.
    ///
    /// A mechanism asks this before it draws noise or counts anything. A launch is then refused before
    /// it is charged, and a query is [`Fault::InvalidQuery`](crate::machine::Fault::InvalidQuery).
    ///
    /// # Errors
    ///
    /// [`DomainMismatch`], which says why not.
    fn check(_data: Public<'_, Self>, _question: &Q) -> Result<(), DomainMismatch> {
        Ok(())
    }

    /// The number of records of which it holds.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the engine that holds the data does not answer.
    fn count(&self, question: &Q) -> Result<u64, Unavailable>;
}

/// A public list of the records that data may have, each once, which can say of which of them a
/// condition holds.
///
/// [`MultiplicativeWeights`](super::MultiplicativeWeights) guesses the data as a weight for each of
/// them. Every [`Dataset`] is one for its predicates. It is public, and is read in plain sight.
#[diagnostic::on_unimplemented(
    message = "list records of which a `{Q}` can be asked: those of `{Self}` are others",
    label = "a list of other records"
)]
pub trait Domain<Q: ?Sized> {
    /// How many records there are.
    fn size(&self) -> usize;

    /// Whether the question is about these records. By default every question is.
    ///
    /// # Errors
    ///
    /// [`DomainMismatch`], which says why not.
    fn check(&self, _question: &Q) -> Result<(), DomainMismatch> {
        Ok(())
    }

    /// A question that data of the same kind can count, if there is one: by it, a launch on other data is
    /// refused before it is charged.
    fn example(&self) -> Option<Q>
    where
        Q: Sized,
    {
        None
    }

    /// Whether it holds of the record with this number, from 0 on.
    fn holds(&self, question: &Q, record: usize) -> bool;
}

impl<D: Dataset + ?Sized> Counts<Predicate<D>> for D {
    fn count(&self, question: &Predicate<D>) -> Result<u64, Unavailable> {
        Ok(question.count(self))
    }
}

impl<D: Dataset + ?Sized> Domain<Predicate<D>> for D {
    fn size(&self) -> usize {
        self.len()
    }

    fn holds(&self, question: &Predicate<D>, record: usize) -> bool {
        question.holds(self, record)
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
