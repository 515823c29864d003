//! The tables of a curator, opened for reading.

use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Condition, Plan, Schema, Table, Value};

/// A table that knows its schema.
trait Engine: Table + PublicMetadata<Metadata = Schema> {}

impl<T: Table + PublicMetadata<Metadata = Schema>> Engine for T {}

/// A table, wherever it is.
pub struct Data(Box<dyn Engine>);

impl Data {
    /// Any table that knows its schema.
    pub fn new(table: impl Table + PublicMetadata<Metadata = Schema> + 'static) -> Self {
        Self(Box::new(table))
    }
}

impl Table for Data {
    fn schema(&self) -> &Schema {
        self.0.schema()
    }

    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        self.0.tally(plan)
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        self.0.tally_keys(condition, column)
    }
}

impl PublicMetadata for Data {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        self.0.metadata()
    }

    fn is_reachable(&self) -> bool {
        self.0.is_reachable()
    }
}
