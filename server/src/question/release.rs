//! What answers once.

use queryables::table::Schema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Ready;
use super::choice::{Largest, Quantiles};
use super::statistic::Statistic;
use crate::problem::Problem;

/// What answers once.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = json!({"count": {"where": "age >= 18", "noise": {"laplace": {"epsilon": "0.1"}}}}))]
pub enum Release {
    /// The number of people with a row that satisfies the condition.
    Count(Statistic),
    /// The sum of a number.
    Sum(Statistic),
    /// The mean of a number.
    Mean(Statistic),
    /// The variance of a number.
    Variance(Statistic),
    /// Which group has the most people.
    Largest(Largest),
    /// Medians and other quantiles of a column.
    Quantiles(Quantiles),
}

impl Release {
    /// The launch that it is under this schema.
    pub fn ready(&self, schema: &Schema) -> Result<Ready, Problem> {
        match self {
            Self::Count(asked) => asked.count(schema),
            Self::Sum(asked) => asked.sum(schema),
            Self::Mean(asked) => asked.mean(schema),
            Self::Variance(asked) => asked.variance(schema),
            Self::Largest(asked) => asked.ready(schema),
            Self::Quantiles(asked) => asked.ready(schema),
        }
    }
}
