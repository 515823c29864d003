//! The tables of a curator, opened for reading.

use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Condition, Plan, Schema, Table, Value};

/// A table, wherever it is.
pub struct Data(Box<dyn Table>);

impl Data {
    pub fn new(table: impl Table + 'static) -> Self {
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
        self.0.schema()
    }
}
