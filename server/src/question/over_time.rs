//! Counts over time.

use queryables::mechanisms::{Accuracy, QueryExt};
use queryables::number::{Confidence, Epsilon, Mu, Rho};
use queryables::table::Schema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::expression::Written;
use super::group::{Buckets, counts};
use super::noise::{GaussianLoss, Noise};
use super::read;
use crate::asking;
use crate::problem::Problem;
use crate::seat::Open;

/// A count over time.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverTime {
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    /// The column of times, and its edges.
    pub of: Buckets,
    pub noise: Noise,
}

impl OverTime {
    /// The mechanism, and how far its answers are from the truth.
    pub(super) fn ready(
        &self,
        schema: &Schema,
        confidence: Confidence,
    ) -> Result<(Open, u128), Problem> {
        let groupings = [self.of.grouping(schema)?];
        let counts = counts(schema, self.condition.as_ref(), groupings)?.over_time()?;
        Ok(match &self.noise {
            Noise::Laplace { epsilon } => {
                let noised = counts.laplace(read::<Epsilon>("epsilon", epsilon)?)?;
                let accuracy = noised.accuracy(confidence);
                (asking::open(noised), accuracy)
            }
            Noise::Gaussian(GaussianLoss::Rho(rho)) => {
                let noised = counts.gaussian(read::<Rho>("rho", rho)?)?;
                let accuracy = noised.accuracy(confidence);
                (asking::open(noised), accuracy)
            }
            Noise::Gaussian(GaussianLoss::Mu(mu)) => {
                let noised = counts.gaussian(read::<Mu>("mu", mu)?)?;
                let accuracy = noised.accuracy(confidence);
                (asking::open(noised), accuracy)
            }
        })
    }
}
