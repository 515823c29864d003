//! The tables of a curator, opened for reading.

use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Condition, Kind, Plan, RowTable, Schema, Table, Value};

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

/// Reads a table from CSV with a header. Columns that the schema does not name are left out.
pub fn csv(schema: &Schema, text: &str) -> Result<Data, String> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut places = Vec::new();
    for column in schema.columns() {
        let place = header.iter().position(|name| *name == column.name());
        places.push(place.ok_or_else(|| format!("the file has no column {:?}", column.name()))?);
    }
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let row = places.iter().zip(schema.columns()).map(|(place, column)| {
            let cell = *cells.get(*place)?;
            match column.kind() {
                Kind::Whole => cell.parse().ok().map(Value::Whole),
                Kind::Real => cell.parse().ok().map(Value::Real),
                Kind::Text => (!cell.is_empty()).then(|| Value::Text(cell.to_owned())),
                Kind::Bool => cell.parse().ok().map(Value::Bool),
                Kind::Date | Kind::Time => None,
            }
        });
        rows.push(row.collect());
    }
    let table = RowTable::new(schema, rows).map_err(|error| error.to_string())?;
    Ok(Data::new(table))
}
