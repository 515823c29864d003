//! What is answered, and kept for a retry.

use queryables::mechanisms::table::Report;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use utoipa::ToSchema;

/// An answer: a number or a table with intervals, or what a child says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// One number.
    Number(Estimate),
    /// One number for each group.
    Table(Table),
    /// Yes or no: whether a count looks large.
    Above(bool),
    /// The noisy count of a hit; none if it was no hit.
    Count(Option<i64>),
}

/// A noisy number, and where the truth is, with the confidence that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Estimate {
    pub value: Option<f64>,
    /// The ends of the interval.
    pub interval: (Option<f64>, Option<f64>),
}

/// A number for each group. Groups are public: those without rows are there, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Table {
    /// The columns that it is grouped by.
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Row {
    /// A label for each column.
    pub group: Vec<String>,
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// JSON has no infinity and no NaN.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

impl Estimate {
    fn new(value: f64, low: f64, high: f64) -> Self {
        Self {
            value: finite(value),
            interval: (finite(low), finite(high)),
        }
    }
}

impl From<(f64, RangeInclusive<f64>)> for Answer {
    fn from((value, interval): (f64, RangeInclusive<f64>)) -> Self {
        Self::Number(Estimate::new(value, *interval.start(), *interval.end()))
    }
}

impl From<Report> for Answer {
    fn from(report: Report) -> Self {
        let rows = report.rows.into_iter().map(|row| Row {
            group: row.key,
            estimate: match row.estimate {
                Some((value, low, high)) => Estimate::new(value, low, high),
                None => Estimate {
                    value: None,
                    interval: (None, None),
                },
            },
        });
        Self::Table(Table {
            columns: report.columns,
            rows: rows.collect(),
        })
    }
}

impl From<bool> for Answer {
    fn from(above: bool) -> Self {
        Self::Above(above)
    }
}

impl From<Option<i64>> for Answer {
    fn from(count: Option<i64>) -> Self {
        Self::Count(count)
    }
}
