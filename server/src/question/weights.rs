//! Counts by multiplicative weights.

use queryables::machine::Description;
use queryables::mechanisms::table::Cells;
use queryables::mechanisms::{Accuracy, MultiplicativeWeights};
use queryables::number::{Confidence, Epsilon};
use queryables::table::{Condition, Schema};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::group::{By, groupings};
use super::read;
use crate::asking;
use crate::problem::Problem;
use crate::seat::Open;

/// Counts by multiplicative weights. Only conditions on these columns are asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The columns that conditions are about.
    pub by: Vec<By>,
    /// How many rows there are, about: with a wrong number, answers are less accurate.
    pub rows: u32,
    /// Answers that are farther off than this are corrected.
    pub threshold: u32,
    /// How many answers are corrected.
    pub updates: u32,
    #[schema(example = "0.5")]
    pub epsilon: String,
}

impl Weights {
    /// The mechanism, and how far its answers are from the truth.
    pub(super) fn ready(
        &self,
        schema: &Schema,
        confidence: Confidence,
    ) -> Result<(Open, u128), Problem> {
        let Self {
            by,
            rows,
            threshold,
            updates,
            epsilon,
        } = self;
        let cells = Cells::of_groupings(schema, groupings(schema, by)?)?;
        let epsilon: Epsilon = read("epsilon", epsilon)?;
        let weights = MultiplicativeWeights::<_, Condition>::new(
            cells, *rows, *threshold, *updates, epsilon,
        )?;
        let accuracy = weights.accuracy(confidence);
        // The columns and the schema say what the cells are: a launch with a key is compared.
        let description = Description::new("MultiplicativeWeights");
        let description = by.iter().fold(description, |description, by| {
            description.with("by", by.column())
        });
        let description = description
            .with("rows", rows)
            .with("threshold", threshold)
            .with("updates", updates)
            .with("epsilon", epsilon)
            .with("schema", schema.digest());
        Ok((asking::open_as(weights, description), accuracy))
    }
}
