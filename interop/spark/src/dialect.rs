//! How Spark and Sail spell a plan.

use queryables::table::sql::{Dialect, Parameter};
use queryables::table::{Kind, Value};

/// Apache Spark, and Sail, in sessions in UTC: elsewhere a statement that reads times fails.
///
/// Dates are days, and times are microseconds: whole numbers compare in the same way everywhere.
pub(crate) struct Spark;

impl Dialect for Spark {
    const DOUBLE: &'static str = "DOUBLE";
    const WIDE: &'static str = "DECIMAL(38,0)";
    const TEXT: &'static str = "STRING";

    fn quoted(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    /// A list is its values, each with a placeholder of its own.
    fn placeholder(&self, number: usize, parameter: &Parameter) -> String {
        match parameter {
            Parameter::One(_) => format!(":{}", name(number, None)),
            Parameter::List(kind, values) => {
                let values = values.iter().enumerate();
                let values = values.map(|(place, value)| placed(number, place, *kind, value));
                values.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Adding zero makes -0 zero: Sail compares them as different numbers.
    ///
    /// A time without a zone is read in that of the session. A server that was started anew has forgotten
    /// what the session was told, and Sail calls its sessions as before: so the statement itself asks.
    fn column(&self, column: &str, kind: Kind) -> String {
        match kind {
            Kind::Whole => format!("CAST({column} AS BIGINT)"),
            Kind::Real => {
                let null = "CAST(NULL AS DOUBLE)";
                format!("(nanvl(CAST({column} AS DOUBLE), {null}) + CAST(0 AS DOUBLE))")
            }
            Kind::Text => format!("CAST({column} AS STRING)"),
            Kind::Bool => format!("CAST({column} AS BOOLEAN)"),
            Kind::Date => format!("CAST(unix_date(CAST({column} AS DATE)) AS BIGINT)"),
            Kind::Time => format!(
                "(CASE WHEN current_timezone() = 'UTC' THEN unix_micros(CAST({column} AS TIMESTAMP)) \
                 ELSE raise_error('not in UTC') END)"
            ),
        }
    }

    fn is_in(&self, value: &str, list: &str) -> String {
        format!("({value} IN ({list}))")
    }

    /// A binary search. The value is a column, which may stand many times.
    fn edges_below(&self, value: &str, edges: &str) -> String {
        let edges: Vec<&str> = edges.split(", ").collect();
        format!(
            "(CASE WHEN {value} IS NOT NULL THEN {} END)",
            search(value, &edges, 0)
        )
    }

    fn list_table(&self, list: &str, name: &str) -> String {
        let rows = list.split(", ").zip(1..);
        let rows = rows.map(|(key, place)| format!("({key}, {place})"));
        let rows = rows.collect::<Vec<_>>().join(", ");
        format!("(SELECT * FROM VALUES {rows} AS {name} (key, place)) AS {name}")
    }

    fn sum(&self, number: &str) -> String {
        format!("SUM(CAST({number} AS DECIMAL(38,0)))")
    }

    fn quotient(&self, dividend: &str, divisor: &str) -> String {
        format!("({dividend} div {divisor})")
    }

    fn wide_quotient(&self, dividend: &str, divisor: &str) -> String {
        format!("({dividend} div {divisor})")
    }
}

/// The name of a parameter, or of a value of one that is a list.
pub(crate) fn name(number: usize, place: Option<usize>) -> String {
    match place {
        None => format!("p{number}"),
        Some(place) => format!("p{number}_{place}"),
    }
}

/// A value of a list. A missing one is written out.
pub(crate) fn placed(number: usize, place: usize, kind: Kind, value: &Option<Value>) -> String {
    match value {
        Some(_) => format!(":{}", name(number, Some(place))),
        None => format!("CAST(NULL AS {})", type_of(kind)),
    }
}

/// The type in which values are sent.
pub(crate) fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Whole | Kind::Date | Kind::Time => "BIGINT",
        Kind::Real => "DOUBLE",
        Kind::Text => "STRING",
        Kind::Bool => "BOOLEAN",
    }
}

/// The number of edges that are at most the value, if `below` edges come before these.
fn search(value: &str, edges: &[&str], below: usize) -> String {
    let half = edges.len() / 2;
    match edges.get(half) {
        None => below.to_string(),
        Some(edge) => format!(
            "CASE WHEN {value} < {edge} THEN {} ELSE {} END",
            search(value, &edges[..half], below),
            search(value, &edges[half + 1..], below + half + 1)
        ),
    }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
