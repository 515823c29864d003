//! What is open after its launch, and is asked.

use queryables::table::Schema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::over_time::OverTime;
use super::search::{CountedSearch, Search};
use super::weights::Weights;
use super::{Ready, confidence};
use crate::loss::LossText;
use crate::problem::Problem;
use crate::seat::Launch;

/// What is open after its launch, and is asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = json!({"above_threshold": {"threshold": 1000, "hits": 1, "epsilon": "0.05"}}))]
pub enum Opening {
    /// A search: whether a count is above the threshold, until the last hit.
    AboveThreshold(Search),
    /// The same, with the noisy count of each hit.
    SparseVector(CountedSearch),
    /// Any number of counts over a few columns with categories, from one guess of the table that is
    /// corrected a few times.
    MultiplicativeWeights(Weights),
    /// The number of people so far, at every edge of the buckets of a column.
    ContinualCount(OverTime),
    /// A share of the budget, set aside for the analyst, in which others are launched.
    Filter(Share),
}

/// A share of a budget.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The analyst's own name for it.
    pub name: String,
    /// How much is set aside.
    pub budget: LossText,
}

impl Opening {
    /// The names of the vocabulary.
    pub const NAMES: &[&str] = &[
        "above_threshold",
        "sparse_vector",
        "multiplicative_weights",
        "continual_count",
        "filter",
    ];

    /// Its name in the vocabulary.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::AboveThreshold(_) => "above_threshold",
            Self::SparseVector(_) => "sparse_vector",
            Self::MultiplicativeWeights(_) => "multiplicative_weights",
            Self::ContinualCount(_) => "continual_count",
            Self::Filter(_) => "filter",
        }
    }

    /// After how many hits it answers no more. Counts of others are no hits.
    pub fn hits(&self) -> Option<u64> {
        match self {
            Self::AboveThreshold(search) => Some(search.hits.into()),
            Self::SparseVector(search) => Some(search.hits.into()),
            _ => None,
        }
    }

    /// The launch that it is; a share is none.
    pub fn ready(&self, schema: &Schema) -> Result<Option<Ready>, Problem> {
        let confidence = confidence(None)?;
        let (mechanism, accuracy) = match self {
            Self::AboveThreshold(asked) => asked.ready(confidence)?,
            Self::SparseVector(asked) => asked.ready(confidence)?,
            Self::MultiplicativeWeights(asked) => asked.ready(schema, confidence)?,
            Self::ContinualCount(asked) => asked.ready(schema, confidence)?,
            Self::Filter(_) => return Ok(None),
        };
        Ok(Some(Ready {
            launch: Launch::Open(mechanism),
            accuracy: Box::new(move || (accuracy < u128::MAX).then_some(accuracy as f64)),
            confidence,
        }))
    }
}
