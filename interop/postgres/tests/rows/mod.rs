//! Rows of a schema as a table of the server.

use queryables::table::{Kind, Schema, Value};
use queryables_postgres::PostgresTable;

use crate::support::Server;

type Row = Vec<Option<Value>>;

/// The columns of the schema, and `number`, the place of a row.
const NUMBER: &str = "number of the row";

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Makes the table `drawn` with these rows.
pub fn create(client: &mut postgres::Client, schema: &Schema, rows: &[Row]) {
    let columns = schema.columns().iter().enumerate();
    let defined = columns.clone().map(|(place, column)| {
        // Where there are several types to read from, all of them are.
        let kind = match (column.kind(), place % 2) {
            (Kind::Whole, _) => "bigint",
            (Kind::Real, _) => "double precision",
            (Kind::Text, 0) => "text",
            (Kind::Text, _) => "varchar",
            (Kind::Bool, _) => "boolean",
            (Kind::Date, _) => "date",
            (Kind::Time, 0) => "timestamp",
            (Kind::Time, _) => "timestamptz",
        };
        format!("{} {kind}", quoted(column.name()))
    });
    let defined: Vec<String> = defined.collect();
    let (number, defined) = (quoted(NUMBER), defined.join(", "));
    let made = format!(
        "SET TIME ZONE 'UTC'; DROP TABLE IF EXISTS drawn; \
         CREATE TABLE drawn ({number} integer, {defined})"
    );
    client.batch_execute(&made).unwrap();
    let read = columns.clone().map(|(place, column)| {
        let text = format!("c{place}");
        match column.kind() {
            Kind::Whole => format!("{text}::bigint"),
            Kind::Real => format!("{text}::double precision"),
            Kind::Text => text,
            Kind::Bool => format!("{text}::boolean"),
            Kind::Date => infinite(&text, "DATE '1970-01-01' + {}::integer", "date"),
            Kind::Time => infinite(
                &text,
                "TIMESTAMP '1970-01-01' + {}::bigint * INTERVAL '1 microsecond'",
                "timestamp",
            ),
        }
    });
    let read: Vec<String> = read.collect();
    let places: Vec<String> = columns
        .clone()
        .map(|(place, _)| format!("c{place}"))
        .collect();
    let lists: Vec<String> = (0..places.len())
        .map(|place| format!("${}::text[]", place + 1))
        .collect();
    let filled = format!(
        "INSERT INTO drawn SELECT row - 1, {} FROM unnest({}) WITH ORDINALITY AS v ({}, row)",
        read.join(", "),
        lists.join(", "),
        places.join(", ")
    );
    let texts: Vec<Vec<Option<String>>> = columns
        .map(|(place, _)| {
            rows.iter()
                .map(|row| row[place].as_ref().map(text))
                .collect()
        })
        .collect();
    let texts: Vec<&(dyn postgres::types::ToSql + Sync)> = texts
        .iter()
        .map(|texts| texts as &(dyn postgres::types::ToSql + Sync))
        .collect();
    client.execute(&filled, &texts).unwrap();
}

/// What PostgreSQL cannot hold is before or after all that it can.
fn infinite(text: &str, read: &str, kind: &str) -> String {
    let read = read.replace("{}", text);
    format!(
        "CASE {text} WHEN '-infinity' THEN '-infinity'::{kind} WHEN 'infinity' THEN 'infinity' \
         ELSE {read} END"
    )
}

fn text(value: &Value) -> String {
    match value {
        Value::Date(i32::MIN) | Value::Time(i64::MIN) => "-infinity".to_owned(),
        Value::Date(i32::MAX) | Value::Time(i64::MAX) => "infinity".to_owned(),
        Value::Whole(number) | Value::Time(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => text.clone(),
        Value::Bool(yes) => yes.to_string(),
        Value::Date(days) => days.to_string(),
    }
}

/// Removes these rows.
pub fn remove(client: &mut postgres::Client, rows: &[usize]) {
    let rows: Vec<i32> = rows
        .iter()
        .map(|row| i32::try_from(*row).unwrap())
        .collect();
    let removed = format!("DELETE FROM drawn WHERE {} = ANY($1)", quoted(NUMBER));
    client.execute(&removed, &[&rows]).unwrap();
}

/// Opens the table `drawn`.
pub fn open(server: &Server, schema: &Schema) -> PostgresTable {
    PostgresTable::open(&server.parameters(), "public", "drawn", schema).unwrap()
}
