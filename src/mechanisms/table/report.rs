//! Answers for groups, as a small table.

use std::fmt;

use serde::Serialize;

use super::super::{AddedNoise, Estimates, Noised, RowRelation};
use super::query::{PerGroup, TableQuery};
use super::statistic::{SaysRows, TableStatistic};
use crate::noise::Noise;
use crate::number::Confidence;
use crate::table::Grouping;

/// Answers for groups: a key, an estimate and its interval for each. It prints aligned, and becomes
/// [CSV](Self::to_csv) and, by `serde`, JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The grouped columns.
    pub columns: Vec<String>,
    /// With which probability an interval holds the truth.
    pub confidence: String,
    /// Group by group.
    pub rows: Vec<ReportRow>,
}

/// A group of a [`Report`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportRow {
    /// Which group: a label for each grouped column.
    pub key: Vec<String>,
    /// The value and the ends of its interval; none if it is withheld.
    pub estimate: Option<(f64, f64, f64)>,
}

impl<S, N, R> Noised<TableQuery<S, PerGroup>, N, R>
where
    S: TableStatistic,
    N: AddedNoise<Law: Copy + Into<Noise>>,
    R: RowRelation,
{
    /// The answers with their intervals. Each interval holds its truth with this confidence.
    #[must_use]
    pub fn report(&self, answers: &[S::Value], confidence: Confidence) -> Report {
        self.report_of(answers, confidence, |_| true)
    }

    /// The same, where groups whose *noisy* number of rows is below `least` are withheld. This is a public
    /// function of noisy answers, and costs nothing.
    #[must_use]
    pub fn report_at_least(
        &self,
        answers: &[S::Value],
        confidence: Confidence,
        least: f64,
    ) -> Report
    where
        S: SaysRows,
    {
        self.report_of(answers, confidence, |value| S::rows(value) >= least)
    }

    fn report_of(
        &self,
        answers: &[S::Value],
        confidence: Confidence,
        shows: impl Fn(&S::Value) -> bool,
    ) -> Report {
        let groupings = self.query().groupings();
        let rows = answers.iter().enumerate().map(|(group, value)| {
            let key = key_of(groupings, group);
            let estimate = shows(value).then(|| {
                let (value, interval) = self.interval(*value, confidence);
                (value, *interval.start(), *interval.end())
            });
            ReportRow { key, estimate }
        });
        Report {
            rows: rows.collect(),
            columns: groupings
                .iter()
                .map(|all| all.column().to_owned())
                .collect(),
            confidence: confidence.to_string(),
        }
    }
}

/// The labels of a group, one for each grouped column.
pub(super) fn key_of(groupings: &[Grouping], group: usize) -> Vec<String> {
    let mut rest = group;
    // The last grouping changes fastest.
    let labels = groupings.iter().rev().map(|grouping| {
        let groups = grouping.len().max(1);
        let label = grouping.label(rest % groups);
        rest /= groups;
        label
    });
    let mut key: Vec<String> = labels.collect();
    key.reverse();
    key
}

impl Report {
    /// The header and the cells, as texts.
    fn cells(&self, digits: usize) -> Vec<Vec<String>> {
        let names = ["estimate", "low", "high"].map(str::to_owned);
        let mut cells = vec![[&self.columns[..], &names].concat()];
        for row in &self.rows {
            let numbers = match row.estimate {
                None => ["withheld".to_owned(), String::new(), String::new()],
                Some((value, low, high)) => [value, low, high].map(|x| format!("{x:.digits$}")),
            };
            cells.push([&row.key[..], &numbers].concat());
        }
        cells
    }

    /// As CSV. A cell that a spreadsheet would take for a formula is quoted with an apostrophe.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = String::new();
        for row in self.cells(6) {
            let cells: Vec<String> = row.iter().map(|cell| csv_cell(cell)).collect();
            csv.push_str(&cells.join(","));
            csv.push_str("\r\n");
        }
        csv
    }
}

/// A cell of CSV: quoted where it must be, and never a formula.
fn csv_cell(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let cell = if is_formula {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// Aligned columns: keys to the left, numbers to the right. The precision is that of the format.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = self.cells(f.precision().unwrap_or(2));
        let width = |column: usize| {
            let widths = cells.iter().filter_map(|row| row.get(column));
            widths.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len() + 3).map(width).collect();
        for (number, row) in cells.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                if column < self.columns.len() {
                    write!(f, "{gap}{cell:<width$}")?;
                } else {
                    write!(f, "{gap}{cell:>width$}")?;
                }
            }
        }
        Ok(())
    }
}
