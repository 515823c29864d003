//! Choices: which group has the most people, and between which edges the quantiles are.

use queryables::compose::BoxedRelease;
use queryables::machine::{Mechanism, Released};
use queryables::mechanisms::{Accuracy, Choice, PermuteAndFlip};
use queryables::middle::ThroughExt;
use queryables::number::{Confidence, Epsilon};
use queryables::privacy::{AddRemove, AnyMeasure, Private};
use queryables::table::Schema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::expression::Written;
use super::group::{Buckets, By, counts, groupings};
use super::{Ready, confidence, read};
use crate::answer::Answer;
use crate::data::Data;
use crate::problem::Problem;
use crate::seat::{Launch, Stated};

/// A choice of a group.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Largest {
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    pub by: Vec<By>,
    #[schema(example = "0.1")]
    pub epsilon: String,
}

/// Quantiles of a column, over public edges.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    pub of: Buckets,
    /// As fractions: `[[1, 2]]` is the median.
    pub quantiles: Vec<(u32, u32)>,
    #[schema(example = "0.1")]
    pub epsilon: String,
}

impl Largest {
    pub(super) fn ready(&self, schema: &Schema) -> Result<Ready, Problem> {
        let groupings = groupings(schema, &self.by)?;
        let scores = counts(schema, self.condition.as_ref(), groupings)?.scores()?;
        let epsilon: Epsilon = read("epsilon", &self.epsilon)?;
        let choice = Choice::by(AddRemove, PermuteAndFlip, scores.clone(), epsilon)?;
        let stated = choice.clone();
        let labels = ThroughExt::<Data>::mapped(choice, move |group| Answer::Group {
            answer: scores.key(group),
        });
        once(labels.named("labels"), move |confidence| {
            stated.accuracy(confidence)
        })
    }
}

impl Quantiles {
    pub(super) fn ready(&self, schema: &Schema) -> Result<Ready, Problem> {
        let groupings = [self.of.grouping(schema)?];
        let counts = counts(schema, self.condition.as_ref(), groupings)?;
        let epsilon: Epsilon = read("epsilon", &self.epsilon)?;
        let quantiles = counts.quantiles(AddRemove, self.quantiles.iter().copied(), epsilon)?;
        let stated = quantiles.clone();
        let edges = ThroughExt::<Data>::mapped(quantiles, |answer| Answer::Quantiles { answer });
        once(edges.named("edges"), move |confidence| {
            stated.accuracy(confidence)
        })
    }
}

/// A mechanism that answers once, and how many people its answer is off by.
fn once<M>(mechanism: M, accuracy: impl Fn(Confidence) -> u128 + 'static) -> Result<Ready, Problem>
where
    M: Mechanism<Data, Machine = Released<Answer>> + Private<AnyMeasure, AddRemove>,
    M: Clone + Send + Sync + 'static,
{
    let confidence = confidence(None)?;
    Ok(Ready {
        launch: Launch::Once(Stated::new(BoxedRelease::new(AnyMeasure, mechanism))),
        accuracy: Box::new(move || Some(accuracy(confidence) as f64)),
        confidence,
    })
}
