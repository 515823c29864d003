//! What a tally costs beyond the same statement sent by hand. Both are measured in turns.
//!
//! The numbers on the command line are those of rows: a million and ten million by default.

#[allow(dead_code)]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use postgres::types::ToSql;
use queryables::table::sql::Parameter;
use queryables::table::{Amount, Bound, Column, Grouping, Kind, Parts, Plan, Schema, Table, Value};
use queryables_postgres::PostgresTable;
use support::Server;

/// Fewer where each takes long.
fn turns(rows: u64) -> usize {
    if rows < 10_000_000 { 5 } else { 3 }
}

/// Ten rows for each person.
fn visits(client: &mut postgres::Client, rows: u64) {
    let made = format!(
        "DROP TABLE IF EXISTS visits; CREATE TABLE visits AS \
         SELECT row * 7919 % ({rows} / 10) AS person, row % 101 AS hours, (row % 997)::float8 / 8 AS cost, \
         (ARRAY['CA', 'NY', 'TX', 'WA', 'OR'])[1 + row % 5] AS state \
         FROM generate_series(1::bigint, {rows}) AS row; VACUUM ANALYZE visits"
    );
    for statement in made.split("; ") {
        client.batch_execute(statement).unwrap();
    }
}

fn columns() -> [Column; 4] {
    [
        Column::new("person", Kind::Whole),
        Column::new("hours", Kind::Whole),
        Column::new("cost", Kind::Real),
        Column::categories("state", ["CA", "NY", "TX", "WA", "OR"]),
    ]
}

fn plans(of_rows: &Schema, of_people: &Schema) -> Vec<(&'static str, Plan)> {
    let plan = |schema: &Schema, number: Option<&str>, condition: Option<&str>, grouped, bound| {
        let condition = condition.map(|text| schema.condition(text).unwrap());
        let amount = match number {
            None => Amount::one(0).unwrap(),
            Some(number) => Amount::of(schema.number(number).unwrap(), -3, 0, 800).unwrap(),
        };
        let groups = if grouped {
            vec![Grouping::of(schema, "state").unwrap()]
        } else {
            vec![]
        };
        Plan::new(schema, condition, (amount, Parts::Value), groups, bound).unwrap()
    };
    let adults = Some("hours >= 18 and state in ('CA', 'NY')");
    vec![
        (
            "count of rows, a condition",
            plan(of_rows, None, adults, false, Bound::Row),
        ),
        (
            "sum of rows by state",
            plan(of_rows, Some("cost"), None, true, Bound::Row),
        ),
        (
            "sum, people clamped",
            plan(of_people, Some("cost"), None, false, Bound::Each(1000)),
        ),
        (
            "sum by state, people in L2",
            plan(of_people, Some("cost"), None, true, Bound::L2(1000)),
        ),
    ]
}

fn sent(parameter: &Parameter) -> Box<dyn ToSql + Sync> {
    match parameter {
        Parameter::One(Value::Whole(number)) => Box::new(*number),
        Parameter::One(Value::Real(number)) => Box::new(*number),
        Parameter::List(Kind::Text, values) => {
            let texts = values.iter().map(|value| match value {
                Some(Value::Text(text)) => Some(text.clone()),
                _ => None,
            });
            Box::new(texts.collect::<Vec<Option<String>>>())
        }
        other => unreachable!("{other:?}"),
    }
}

fn milliseconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e3
}

/// The median, and half of the distance between the least and the most.
fn median(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let ends = (times[0], times[times.len() - 1]);
    (times[times.len() / 2], (ends.1 - ends.0) / 2.0)
}

fn main() {
    let Some(server) = Server::new("tables") else {
        return;
    };
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let of_rows = Schema::of_rows(columns()).unwrap();
    let of_people = Schema::of_people("person", columns()).unwrap();
    let mut rows: Vec<u64> = std::env::args()
        .filter_map(|rows| rows.parse().ok())
        .collect();
    if rows.is_empty() {
        rows = vec![1_000_000, 10_000_000];
    }
    for rows in rows {
        visits(&mut client, rows);
        let open =
            |schema| PostgresTable::open(&server.parameters(), "public", "visits", schema).unwrap();
        println!(
            "{rows} rows, ten a person: opened in {:.0} ms",
            milliseconds(|| drop(open(&of_rows)))
        );
        let tables = [open(&of_rows), open(&of_people)];
        for (name, plan) in plans(&of_rows, &of_people) {
            let table = if *plan.schema() == of_rows {
                &tables[0]
            } else {
                &tables[1]
            };
            let statement = table.statement(&plan).unwrap();
            let by_hand = client.prepare(&statement.text).unwrap();
            let parameters: Vec<_> = statement.parameters.iter().map(sent).collect();
            let parameters: Vec<_> = parameters.iter().map(|one| &**one).collect();
            let (mut tallied, mut sent) = (vec![], vec![]);
            for _ in 0..turns(rows) {
                sent.push(milliseconds(|| {
                    client.query(&by_hand, &parameters).unwrap();
                }));
                tallied.push(milliseconds(|| {
                    table.tally(&plan).unwrap();
                }));
            }
            let ((tallied, spread), (sent, other)) = (median(tallied), median(sent));
            let more = 100.0 * (tallied / sent - 1.0);
            println!(
                "  {name:28} {tallied:8.0} ± {spread:4.0} ms, by hand {sent:8.0} ± {other:4.0} ms ({more:+.1} %)"
            );
        }
    }
}
