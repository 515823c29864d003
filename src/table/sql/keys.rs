//! The keys that occur, as one statement.

use super::expression::{ROWS, Writer};
use super::{Dialect, Statement};
use crate::table::{Condition, Person, Schema, TableError};

impl Statement {
    /// The number of people with each key, as [`Table::tally_keys`](crate::table::Table::tally_keys) says.
    /// A row of the answer has a key and a number.
    ///
    /// # Errors
    ///
    /// [`TableError::UnknownColumn`].
    pub fn tally_keys<D: Dialect>(
        dialect: &D,
        from: Self,
        schema: &Schema,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Self, TableError> {
        let (from, mut writer) = Writer::new(dialect, schema, from);
        let (key, _) = writer.column(column)?;
        let mut conditions = vec![format!("{key} IS NOT NULL")];
        let (least, people) = match schema.person() {
            Person::EachRow => (key, String::new()),
            Person::Column(name) => {
                let (person, _) = writer.column(name)?;
                conditions.push(format!("{person} IS NOT NULL"));
                (format!("MIN({key})"), format!(" GROUP BY {person}"))
            }
        };
        if let Some(condition) = condition {
            conditions.push(writer.expression(condition.expr())?);
        }
        let conditions = conditions.join(" AND ");
        let text = format!(
            "WITH people AS (SELECT {least} AS key FROM {from} AS {ROWS} WHERE {conditions}{people}) \
             SELECT key, COUNT(*) AS number FROM people GROUP BY key ORDER BY key"
        );
        Ok(writer.finish(text))
    }
}
