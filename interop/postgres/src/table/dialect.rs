//! How PostgreSQL spells a plan.

use queryables::table::Kind;
use queryables::table::sql::{Dialect, Parameter};

/// PostgreSQL, with a database in UTF-8 and sessions in UTC.
pub(crate) struct Postgres;

impl Dialect for Postgres {
    const DOUBLE: &'static str = "double precision";
    const WIDE: &'static str = "numeric";
    const TEXT: &'static str = "text";

    fn quoted(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn placeholder(&self, number: usize, parameter: &Parameter) -> String {
        let kind = type_of(parameter.kind());
        match parameter {
            Parameter::List(..) => format!("${number}::{kind}[]"),
            // Two constants have no column that says how they compare.
            Parameter::One(_) if kind == "text" => format!("(${number}::text COLLATE \"C\")"),
            Parameter::One(_) => format!("${number}::{kind}"),
        }
    }

    /// An infinite date or time is before or after all others, as its order says.
    fn column(&self, column: &str, kind: Kind) -> String {
        let cast = format!("CAST({column} AS {})", type_of(kind));
        match kind {
            Kind::Whole | Kind::Bool | Kind::Date | Kind::Time => cast,
            Kind::Real => format!("NULLIF({cast}, 'NaN')"),
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

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Whole => "bigint",
        Kind::Real => "double precision",
        Kind::Text => "text",
        Kind::Bool => "boolean",
        Kind::Date => "date",
        Kind::Time => "timestamp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::table::TableError;
    use queryables::table::sql::Statement;
    use queryables::table::{Amount, Bound, Column, Domain, Grouping, Parts, Plan, Schema};
    use tables::{MARK, Texts};

    const TEXTS: Texts<Postgres> = Texts {
        dialect: Postgres,
        quote: '"',
        signs: b" \"$:[],()*+-/<=>_.'",
        // The number that is none, and the ends of 64 bits.
        quoted: &["NaN", "-9223372036854775808", "9223372036854775807"],
        lists_are_parameters: true,
    };

    #[test]
    fn nothing_that_an_analyst_writes_is_in_the_text() {
        TEXTS.have_nothing_that_an_analyst_writes();
    }

    #[test]
    fn texts_of_random_plans_hold_only_what_they_may() {
        TEXTS.hold_only_what_they_may();
    }

    #[test]
    fn any_name_stands_in_quotes_and_nothing_of_it_outside() {
        TEXTS.have_any_name_in_quotes_and_nothing_of_it_outside();
    }

    #[test]
    fn a_plan_of_another_schema_has_no_text() {
        let of = |kind| Schema::of_rows([Column::new("x", kind)]).unwrap();
        let one = (Amount::one(0).unwrap(), Parts::Value);
        let plan = Plan::new(&of(Kind::Whole), None, one, vec![], Bound::Row).unwrap();
        let text =
            |schema: &Schema| Statement::tally(&Postgres, Statement::default(), schema, &plan);
        assert!(text(&of(Kind::Whole)).is_ok());
        assert_eq!(text(&of(Kind::Text)), Err(TableError::OtherSchema));
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(
            Postgres.quoted("a\"; DROP TABLE \"b"),
            "\"a\"\"; DROP TABLE \"\"b\""
        );
        let categories = Domain::Categories(vec![MARK.into()]);
        let column = Column::new("x", Kind::Text).with(categories);
        let schema = Schema::of_rows([column]).unwrap();
        let grouping = Grouping::of(&schema, "x").unwrap();
        let one = (Amount::one(0).unwrap(), Parts::Value);
        let plan = Plan::new(&schema, None, one, vec![grouping], Bound::Row).unwrap();
        let expected = "WITH kept AS (SELECT CAST((0 * 1 + (keys0.place - 1)) AS BIGINT) AS place, \
            $2::bigint AS amount FROM \"rows\" AS t \
            JOIN unnest($1::text[]) WITH ORDINALITY AS keys0 (key, place) \
            ON (CAST(t.\"x\" AS text) COLLATE \"C\") = keys0.key), \
            numbers AS (SELECT place, amount AS number1 FROM kept) \
            SELECT place, CAST(SUM(number1) AS text) AS total1 FROM numbers GROUP BY place";
        assert_eq!(TEXTS.rendered("rows", &plan).text, expected);
    }
}
