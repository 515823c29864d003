//! What a ledger writes down of data, beside the relation.

use crate::data::Dataset;
use crate::machine::Description;
#[cfg(feature = "table")]
use crate::table::Table;

/// Data on which [`Ledger::start`](super::Ledger::start) starts filters: what the terms of a filter say of it.
///
/// A [`Dataset`] has records, and the relation says all about its neighbours. A
/// [`Table`](crate::table::Table) has people, and its schema says who one is: that and the schema's digest are
/// terms, so that no budget goes on under another schema. `K` tells the kinds apart, and is found by the
/// compiler.
///
/// ```
/// use queryables::ledger::Ledger;
/// use queryables::prelude::*;
/// use queryables::table::{Column, Kind, RowTable, Schema};
/// use std::sync::Arc;
///
/// let columns = [Column::new("patient", Kind::Whole), Column::whole("age", 0..=120)];
/// let schema = Schema::of_people("patient", columns)?;
/// let table = Arc::new(RowTable::new(&schema, vec![vec![Some(1.into()), Some(30.into())]])?);
/// let ledger = Ledger::in_memory("patients, March")?.keeping_answers();
/// let budget = Filter::concurrent(PureDp, epsilon!(1));
/// let filter = ledger.start("clinic", &budget, &table)?;
///
/// let adults = schema.count().filter("age >= 18")?.laplace(epsilon!(0.4))?;
/// let ana = filter.party("Ana");
/// let first: f64 = ana.recall_or_release(&adults)?;
/// // The same question again is not charged again.
/// assert_eq!(ana.recall_or_release(&adults)?, first);
/// assert_eq!(filter.remaining()?, epsilon!(0.6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What an implementer owes
///
/// Data that is neither needs an implementation, with any type of its own for `K`. Where the relation says all
/// about neighbours, the terms are none.
///
/// ```
/// use queryables::ledger::LedgerData;
/// use queryables::machine::Description;
///
/// struct Graph(Vec<(u32, u32)>);
/// struct Edges;
///
/// impl LedgerData<Edges> for Graph {
///     fn terms(&self) -> Option<Description> {
///         None
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "implement `LedgerData` for `{Self}`, or start the filter on a `Dataset` or a `Table`",
    label = "a ledger does not know what neighbours of this data are"
)]
pub trait LedgerData<K> {
    /// What stands among the terms of a filter, beside the relation. It is public.
    fn terms(&self) -> Option<Description>;
}

/// The kinds of data that a ledger knows.
#[doc(hidden)]
pub mod kinds {
    /// A [`Dataset`](crate::data::Dataset).
    ///
    /// Example: [`LedgerData`](super::LedgerData).
    #[derive(Debug)]
    pub enum Records {}
    /// A [`Table`](crate::table::Table).
    ///
    /// Example: [`LedgerData`](super::LedgerData).
    #[derive(Debug)]
    pub enum Tables {}
    /// No data.
    ///
    /// Example: [`LedgerData`](super::LedgerData).
    #[derive(Debug)]
    pub enum Nothing {}
}

impl<D: Dataset + ?Sized> LedgerData<kinds::Records> for D {
    fn terms(&self) -> Option<Description> {
        None
    }
}

impl LedgerData<kinds::Nothing> for () {
    fn terms(&self) -> Option<Description> {
        None
    }
}

#[cfg(feature = "table")]
impl<T: Table + ?Sized> LedgerData<kinds::Tables> for T {
    fn terms(&self) -> Option<Description> {
        let schema = self.metadata();
        // In JSON, no column is called what stands for each row.
        let person = serde_json::to_string(schema.person()).ok()?;
        let terms = Description::new("Table").with("person", person);
        Some(terms.with("schema", schema.digest()))
    }
}
