//! Answers for groups, as a small table.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::{AddedNoise, Estimates, Noised, RowRelation};
use super::query::{PerGroup, TableQuery};
use super::statistic::{SaysRows, TableStatistic};
use crate::machine::{Mechanism, Released};
use crate::middle::{Mapped, ThroughExt};
use crate::noise::Noise;
use crate::number::Confidence;
use crate::table::Grouping;

/// Answers for groups: a key, an estimate and its interval for each.
///
/// It prints aligned, with two digits or with the precision of the format, and becomes
/// [CSV](Self::to_csv) and, by `serde`, JSON, with all digits:
///
/// ```
/// use queryables::mechanisms::table::{Report, ReportRow};
///
/// let row = |state: &str, estimate| ReportRow { key: vec![state.to_owned()], estimate };
/// let report = Report {
///     columns: vec!["state".to_owned()],
///     confidence: "0.95".to_owned(),
///     rows: vec![row("CA", Some((12.345, 10.0, 14.0))), row("NY", None)],
/// };
/// let text = "\
/// state  estimate    low   high
/// CA        12.35  10.00  14.00
/// NY     withheld
/// with confidence 0.95";
/// assert_eq!(report.to_string(), text);
/// assert_eq!(report.to_csv(), "state,estimate,low,high\r\nCA,12.345,10,14\r\nNY,withheld,,\r\n");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The grouped columns.
    pub columns: Vec<String>,
    /// With which probability an interval holds the truth: each by itself. The truth is that of the bounded
    /// rows ([`Accuracy::about`](crate::mechanisms::Accuracy::about)): where a person is in more groups than the bound allows, each of them
    /// holds a part of that person.
    pub confidence: String,
    /// Group by group.
    pub rows: Vec<ReportRow>,
}

/// A group of a [`Report`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportRow {
    /// Which group: a label for each grouped column.
    pub key: Vec<String>,
    /// The value and the two ends of its interval; none if it is withheld.
    #[serde(serialize_with = "named", deserialize_with = "read")]
    pub estimate: Option<(f64, f64, f64)>,
}

/// In JSON the three numbers have names. One that is not finite is null.
#[derive(Serialize, Deserialize)]
struct Named {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

fn named<S: Serializer>(
    estimate: &Option<(f64, f64, f64)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let finite = |number: f64| Some(number).filter(|number| number.is_finite());
    let named = estimate.map(|(value, low, high)| Named {
        value: finite(value),
        low: finite(low),
        high: finite(high),
    });
    named.serialize(serializer)
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(f64, f64, f64)>, D::Error> {
    let named = Option::<Named>::deserialize(deserializer)?;
    Ok(named.map(|Named { value, low, high }| {
        (
            value.unwrap_or(f64::NAN),
            low.unwrap_or(f64::NEG_INFINITY),
            high.unwrap_or(f64::INFINITY),
        )
    }))
}

impl<S, N, R> Noised<TableQuery<S, PerGroup>, N, R>
where
    S: TableStatistic,
    N: AddedNoise<Law: Copy + Into<Noise>>,
    R: RowRelation,
{
    /// The same mechanism, which answers with a [`Report`]: the answers with their intervals. Each interval
    /// holds its truth with this confidence. So no report is made of the answers of another mechanism.
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use queryables::table::{Column, RowTable, Schema};
    /// use std::sync::Arc;
    ///
    /// let schema = Schema::of_rows([Column::categories("state", ["CA", "NY"])])?;
    /// let rows = (0..100).map(|row| vec![Some(if row < 90 { "CA" } else { "NY" }.into())]);
    /// let table = Arc::new(RowTable::new(&schema, rows.collect())?);
    /// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
    ///
    /// let people = schema.count().by("state")?.laplace(epsilon!(0.5))?;
    /// let report = filter.release(&people.reported(confidence!(0.95)))?;
    /// println!("{report}");
    /// assert_eq!(report.rows[1].key, ["NY"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reported<D>(
        &self,
        confidence: Confidence,
    ) -> Mapped<Self, impl Fn(Vec<S::Value>) -> Report + Clone + use<S, N, R, D>, D>
    where
        D: ?Sized,
        Self: Mechanism<D, Machine = Released<Vec<S::Value>>>,
    {
        let name = format!("intervals with confidence {confidence}");
        self.report(confidence, name, |_| true)
    }

    /// The same, where groups whose *noisy* number of rows is below `least` are withheld. This is a public
    /// function of noisy answers, and costs nothing. The mechanism itself answers with all groups: whoever is
    /// to see no small ones is given its report alone.
    pub fn reported_at_least<D>(
        &self,
        confidence: Confidence,
        least: f64,
    ) -> Mapped<Self, impl Fn(Vec<S::Value>) -> Report + Clone + use<S, N, R, D>, D>
    where
        D: ?Sized,
        S: SaysRows,
        Self: Mechanism<D, Machine = Released<Vec<S::Value>>>,
    {
        let name = format!("intervals with confidence {confidence}, of groups of at least {least}");
        self.report(confidence, name, move |value| S::rows(value) >= least)
    }

    fn report<D, F>(
        &self,
        confidence: Confidence,
        name: String,
        shows: F,
    ) -> Mapped<Self, impl Fn(Vec<S::Value>) -> Report + Clone + use<S, N, R, D, F>, D>
    where
        D: ?Sized,
        F: Fn(&S::Value) -> bool + Clone,
        Self: Mechanism<D, Machine = Released<Vec<S::Value>>>,
    {
        let mechanism = self.clone();
        let report = move |answers: Vec<_>| mechanism.report_of(&answers, confidence, &shows);
        self.clone().mapped(report).named(name)
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
    fn cells(&self, number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
        let names = ["estimate", "low", "high"].map(str::to_owned);
        let mut cells = vec![[&self.columns[..], &names].concat()];
        for row in &self.rows {
            let numbers = match row.estimate {
                None => ["withheld".to_owned(), String::new(), String::new()],
                Some((value, low, high)) => [value, low, high].map(&number),
            };
            cells.push([&row.key[..], &numbers].concat());
        }
        cells
    }

    /// As CSV (RFC 4180), with all digits. A cell that a spreadsheet would take for a formula begins with an
    /// apostrophe.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = String::new();
        for row in self.cells(|number| number.to_string()) {
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

/// Without control characters, which a terminal would obey.
fn printable(cell: &str) -> String {
    let letters = cell.chars().map(|letter| match letter {
        _ if letter.is_control() => letter.escape_debug().to_string(),
        _ => letter.to_string(),
    });
    letters.collect()
}

/// Aligned columns: keys to the left, numbers to the right. The precision is that of the format, or two.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let cells = self.cells(|number| format!("{number:.digits$}"));
        let cells = cells
            .iter()
            .map(|row| row.iter().map(|cell| printable(cell)));
        let cells: Vec<Vec<String>> = cells.map(Iterator::collect).collect();
        let width = |column: usize| {
            let widths = cells.iter().filter_map(|row| row.get(column));
            widths.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let keys = self.columns.len();
        let widths: Vec<usize> = (0..keys + 3).map(width).collect();
        for row in &cells {
            let aligned = row.iter().zip(&widths).enumerate();
            let aligned = aligned.map(|(column, (cell, width))| match column < keys {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
            let line = aligned.collect::<Vec<_>>().join("  ");
            writeln!(f, "{}", line.trim_end())?;
        }
        write!(f, "with confidence {}", self.confidence)
    }
}
