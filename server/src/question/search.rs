//! Searches for large counts.

use queryables::mechanisms::{AboveThreshold, Accuracy};
use queryables::number::{Confidence, Epsilon};
use queryables::privacy::AddRemove;
use queryables::table::Condition;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::read;
use crate::asking;
use crate::problem::Problem;
use crate::seat::Open;

/// A search for large counts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub threshold: i64,
    /// After this many hits it is closed.
    pub hits: u32,
    #[schema(example = "0.05")]
    pub epsilon: String,
}

/// A search that tells counts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CountedSearch {
    pub threshold: i64,
    /// After this many hits it is closed.
    pub hits: u32,
    /// For the search.
    #[schema(example = "0.05")]
    pub epsilon: String,
    /// For the counts of all hits together, on top.
    #[schema(example = "0.05")]
    pub counts_epsilon: String,
}

/// A search without counts.
fn above(threshold: i64, hits: u32, epsilon: &str) -> Result<AboveThreshold<Condition>, Problem> {
    let epsilon: Epsilon = read("epsilon", epsilon)?;
    Ok(AboveThreshold::new(AddRemove, threshold, hits, epsilon)?)
}

impl Search {
    /// The mechanism, and how far a count is from the threshold where it may be wrong.
    pub(super) fn ready(&self, confidence: Confidence) -> Result<(Open, u128), Problem> {
        let search = above(self.threshold, self.hits, &self.epsilon)?;
        let accuracy = search.accuracy(confidence);
        Ok((asking::open(search), accuracy))
    }
}

impl CountedSearch {
    /// The mechanism, and how far a count that it tells is from the truth.
    pub(super) fn ready(&self, confidence: Confidence) -> Result<(Open, u128), Problem> {
        let counts: Epsilon = read("counts_epsilon", &self.counts_epsilon)?;
        let search = above(self.threshold, self.hits, &self.epsilon)?.with_counts(counts)?;
        let accuracy = search.accuracy(confidence).count;
        Ok((asking::open(search), accuracy))
    }
}
