//! Statistics with noise: counts, sums, means and variances, of all rows or of each group.

use queryables::compose::BoxedRelease;
use queryables::mechanisms::table::Report;
use queryables::mechanisms::{Accuracy, Estimates, QueryExt};
use queryables::middle::ThroughExt;
use queryables::number::{Epsilon, Mu, Rho};
use queryables::privacy::AnyMeasure;
use queryables::table::{Expr, Schema};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::expression::Written;
use super::group::{By, groupings};
use super::noise::{GaussianLoss, Noise};
use super::{Ready, confidence, read};
use crate::answer::Answer;
use crate::data::Data;
use crate::problem::Problem;
use crate::seat::{Launch, Stated};

/// A statistic of the rows that satisfy a condition, with noise.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Statistic {
    /// Of which number: a column, or whole numbers computed from columns. Not for a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Written>,
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    /// One value for each group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<By>,
    /// The range that numbers are clamped to; that of the column by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamped: Option<(f64, f64)>,
    /// How many rows of a person count in full; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_person: Option<u64>,
    pub noise: Noise,
    /// With which probability each interval holds the truth; 0.95 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "0.95")]
    pub confidence: Option<String>,
    /// For the preview of a mean or a variance: a guess of the number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_rows: Option<u64>,
}

/// How far an answer is from the truth. That of a mean or a variance needs a guess of the number of rows.
macro_rules! error {
    (distance, $mechanism:expr, $confidence:ident, $asked:ident) => {{
        let mechanism = $mechanism;
        Box::new(move || Some(mechanism.accuracy($confidence)))
    }};
    (for_rows, $mechanism:expr, $confidence:ident, $asked:ident) => {{
        let (mechanism, rows) = ($mechanism, $asked.expected_rows);
        Box::new(move || rows.map(|rows| mechanism.accuracy($confidence).for_rows(rows)))
    }};
}

/// With noise, as a mechanism that answers with intervals. Statistics, noises and shapes have types of
/// their own, and the words are the same.
macro_rules! ready {
    ($shape:ident, $query:expr, $asked:ident, $error:ident) => {{
        let query = $query;
        let confidence = confidence($asked.confidence.as_deref())?;
        match &$asked.noise {
            Noise::Laplace { epsilon } => {
                let epsilon: Epsilon = read("epsilon", epsilon)?;
                noised!($shape, query.laplace(epsilon)?, $asked, confidence, $error)
            }
            Noise::Gaussian(GaussianLoss::Rho(rho)) => {
                let rho: Rho = read("rho", rho)?;
                noised!($shape, query.gaussian(rho)?, $asked, confidence, $error)
            }
            Noise::Gaussian(GaussianLoss::Mu(mu)) => {
                let mu: Mu = read("mu", mu)?;
                noised!($shape, query.gaussian(mu)?, $asked, confidence, $error)
            }
        }
    }};
}

macro_rules! noised {
    ($shape:ident, $mechanism:expr, $asked:ident, $confidence:ident, $error:ident) => {{
        let mechanism = $mechanism;
        let accuracy = error!($error, mechanism.clone(), $confidence, $asked);
        let name = format!("intervals with confidence {}", $confidence);
        let answered = answered!($shape, mechanism, $confidence).named(name);
        Ok(Ready {
            launch: Launch::Once(Stated::new(BoxedRelease::new(AnyMeasure, answered))),
            accuracy,
            confidence: $confidence,
        })
    }};
}

macro_rules! answered {
    (one, $mechanism:ident, $confidence:ident) => {{
        let inner = $mechanism.clone();
        ThroughExt::<Data>::mapped($mechanism, move |answer| {
            Answer::from(inner.interval(answer, $confidence))
        })
    }};
    (table, $mechanism:ident, $confidence:ident) => {{
        let reported = $mechanism.reported::<Data>($confidence);
        ThroughExt::<Data>::mapped(reported, |report: Report| Answer::from(report))
    }};
}

/// A statistic of numbers with its range.
macro_rules! clamped {
    ($query:expr, $asked:ident) => {
        match ($query, $asked.clamped) {
            (query, Some((low, high))) => query.clamped(low..=high),
            (query, None) => query,
        }
    };
}

/// The statistic with its condition and its bound; grouped or not.
macro_rules! statistic {
    ($query:expr, $schema:expr, $asked:ident, $error:ident) => {{
        let mut query = $query;
        if let Some(condition) = &$asked.condition {
            query = query.filter(condition.expr()?)?;
        }
        if let Some(rows) = $asked.rows_per_person {
            query = query.rows_per_person(rows);
        }
        let mut groupings = groupings($schema, &$asked.by)?.into_iter();
        match groupings.next() {
            None => ready!(one, query, $asked, $error),
            Some(first) => {
                let mut query = query.grouped(first);
                for grouping in groupings {
                    query = query.grouped(grouping);
                }
                ready!(table, query, $asked, $error)
            }
        }
    }};
}

impl Statistic {
    pub(super) fn count(&self, schema: &Schema) -> Result<Ready, Problem> {
        if self.of.is_some() || self.clamped.is_some() {
            let problem = "a count is of rows: it has no `of` and is not `clamped`";
            return Err(Problem::invalid_query(problem));
        }
        statistic!(schema.count(), schema, self, distance)
    }

    pub(super) fn sum(&self, schema: &Schema) -> Result<Ready, Problem> {
        let sum = clamped!(schema.sum(self.number()?)?, self);
        statistic!(sum, schema, self, distance)
    }

    pub(super) fn mean(&self, schema: &Schema) -> Result<Ready, Problem> {
        let mean = clamped!(schema.mean(self.number()?)?, self);
        statistic!(mean, schema, self, for_rows)
    }

    pub(super) fn variance(&self, schema: &Schema) -> Result<Ready, Problem> {
        let variance = clamped!(schema.variance(self.number()?)?, self);
        statistic!(variance, schema, self, for_rows)
    }

    /// The number that is asked for.
    fn number(&self) -> Result<Expr, Problem> {
        let missing = || Problem::invalid_query("`of` is missing: the number that is asked for");
        self.of.as_ref().ok_or_else(missing)?.expr()
    }
}
