//! How PostgreSQL spells a plan.

use queryables::table::Kind;
use queryables::table::sql::{Dialect, Parameter, TextForm};

/// PostgreSQL, with a database in UTF-8 and sessions in UTC.
pub(crate) struct Postgres;

impl Dialect for Postgres {
    const DOUBLE: &'static str = "double precision";
    const WIDE: &'static str = "numeric";
    const TEXT: &'static str = "text";

    fn quoted(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn placeholder(&self, number: usize, parameter: &Parameter, form: TextForm) -> String {
        let kind = type_of(parameter.kind(), form);
        match parameter {
            Parameter::List(..) => format!("${number}::{kind}[]"),
            // Two constants have no column that says how they compare.
            Parameter::One(_) if kind == "text" => format!("(${number}::text COLLATE \"C\")"),
            Parameter::One(_) => format!("${number}::{kind}"),
        }
    }

    /// An infinite date or time is before or after all others, as its order says.
    fn column(&self, column: &str, kind: Kind, form: TextForm) -> String {
        let cast = format!("CAST({column} AS {})", type_of(kind, TextForm::Plain));
        match kind {
            Kind::Whole | Kind::Bool | Kind::Date | Kind::Time => cast,
            Kind::Real => format!("NULLIF({cast}, 'NaN')"),
            Kind::Text if form == TextForm::WithZero => format!("convert_to({cast}, 'UTF8')"),
            Kind::Text => format!("({cast} COLLATE \"C\")"),
        }
    }

    fn is_in(&self, value: &str, list: &str) -> String {
        format!("({value} = ANY({list}))")
    }

    fn edges_below(&self, value: &str, edges: &str) -> String {
        format!("width_bucket({value}, {edges})")
    }

    fn list_table(&self, list: &str, name: &str) -> String {
        format!("unnest({list}) WITH ORDINALITY AS {name} (key, place)")
    }

    /// Of 64-bit numbers it is a `numeric`.
    fn sum(&self, number: &str) -> String {
        format!("SUM({number})")
    }

    fn quotient(&self, dividend: &str, divisor: &str) -> String {
        format!("({dividend} / {divisor})")
    }

    fn wide_quotient(&self, dividend: &str, divisor: &str) -> String {
        format!("div({dividend}, {divisor})")
    }
}

/// PostgreSQL has no texts with U+0000, but it has such bytes.
fn type_of(kind: Kind, form: TextForm) -> &'static str {
    match kind {
        Kind::Whole => "bigint",
        Kind::Real => "double precision",
        Kind::Text if form == TextForm::WithZero => "bytea",
        Kind::Text => "text",
        Kind::Bool => "boolean",
        Kind::Date => "date",
        Kind::Time => "timestamp",
    }
}
