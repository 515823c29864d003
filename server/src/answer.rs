//! What is answered, and kept for a retry.

use queryables::mechanisms::table::Report;
use queryables::table::Value;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use utoipa::ToSchema;

/// An answer: a number or a table with intervals, or what a child says.
///
/// In JSON it is the field `answer`, with `interval` beside it where there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Answer {
    /// One number.
    Number(Estimate),
    /// One number for each group.
    Table { answer: Table },
    /// Yes or no: whether a count looks large.
    Above { answer: bool },
    /// A noisy count; null if it was no hit of a search.
    Count { answer: Option<i64> },
    /// The group that was chosen: a label for each column.
    Group { answer: Vec<String> },
    /// For each quantile the two edges between which it is.
    Quantiles {
        #[schema(value_type = Vec<Vec<Object>>)]
        answer: Vec<(Value, Value)>,
    },
}

/// A noisy number, and where the truth is, with the confidence that was asked for. What is beyond all
/// numbers is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Estimate {
    pub answer: Option<f64>,
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
            answer: finite(value),
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
                    answer: None,
                    interval: (None, None),
                },
            },
        });
        let answer = Table {
            columns: report.columns,
            rows: rows.collect(),
        };
        Self::Table { answer }
    }
}

impl Answer {
    /// Whether a search has found something by it.
    pub fn is_hit(&self) -> bool {
        matches!(
            self,
            Self::Above { answer: true } | Self::Count { answer: Some(_) }
        )
    }
}

impl From<bool> for Answer {
    fn from(answer: bool) -> Self {
        Self::Above { answer }
    }
}

impl From<i64> for Answer {
    fn from(answer: i64) -> Self {
        Some(answer).into()
    }
}

impl From<Option<i64>> for Answer {
    fn from(answer: Option<i64>) -> Self {
        Self::Count { answer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A retry reads the answer that the ledger keeps.
    #[test]
    fn answers_are_read_as_they_were_written() {
        let number = Answer::from((0.1 + 0.2, -1.5..=f64::INFINITY));
        let row = |answer| Row {
            group: vec!["a".to_owned()],
            estimate: Estimate {
                answer,
                interval: (Some(1.0), None),
            },
        };
        let table = Answer::Table {
            answer: Table {
                columns: vec!["letter".to_owned()],
                rows: vec![row(Some(2.0)), row(None)],
            },
        };
        let group = Answer::Group {
            answer: vec!["Female".to_owned(), "[0, 20)".to_owned()],
        };
        let quantiles = Answer::Quantiles {
            answer: vec![
                (Value::Whole(1), Value::Whole(2)),
                (Value::Real(0.5), Value::Date(3)),
            ],
        };
        let counts = [true.into(), Some(7).into(), None.into()];
        for answer in [number, table, group, quantiles].into_iter().chain(counts) {
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(
                serde_json::from_str::<Answer>(&text).unwrap(),
                answer,
                "{text}"
            );
        }
    }
}
