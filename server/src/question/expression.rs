//! Expressions over columns, as text or as JSON.

use queryables::table::{Condition, Expr, Schema};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;

/// An expression over columns: a text such as `age >= 18`, or JSON such as
/// `{"ge": [{"column": "age"}, 18]}`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Value, example = "age >= 18")]
pub struct Written(serde_json::Value);

impl Written {
    /// The expression that it is, under any schema.
    pub fn expr(&self) -> Result<Expr, Problem> {
        match &self.0 {
            serde_json::Value::String(text) => Ok(text.parse()?),
            json => {
                Expr::deserialize(json).map_err(|error| Problem::invalid_query(error.to_string()))
            }
        }
    }

    /// The condition that it is under this schema.
    pub fn condition(&self, schema: &Schema) -> Result<Condition, Problem> {
        Ok(schema.condition(self.expr()?)?)
    }
}
