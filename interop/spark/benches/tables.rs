//! What a tally costs beyond the same statement sent by hand. Both are measured in turns, and each comes first
//! in every other turn.
//!
//! On the command line: `sail` or `spark`, numbers of rows, and if need be `only=count`, part of the name of a
//! plan, and `turns=21`.

#[allow(dead_code)]
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::time::Instant;

use proto::expression::literal::LiteralType;
use proto::expression::{ExprType, Literal};
use proto::plan::OpType;
use queryables::table::sql::Parameter;
use queryables::table::{Amount, Bound, Column, Grouping, Kind, Parts, Plan, Schema, Table, Value};
use queryables_spark::SparkEngine;
use spark_connect_proto as proto;
use support::{Server, sql};

/// Fewer where each takes long.
fn turns(rows: u64) -> usize {
    if rows < 100_000_000 { 5 } else { 3 }
}

/// Ten rows for each person.
fn visits(rows: u64) -> String {
    format!(
        "SELECT id * 7919 % ({rows} div 10) AS person, id % 101 AS hours, \
         CAST(id % 997 AS DOUBLE) / 8 AS cost, \
         element_at(array('CA', 'NY', 'TX', 'WA', 'OR'), CAST(1 + id % 5 AS INT)) AS state \
         FROM range({rows})"
    )
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
        let groups = match grouped {
            true => vec![Grouping::of(schema, "state").unwrap()],
            false => vec![],
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

fn literal(value: &Value) -> proto::Expression {
    let literal = match value {
        Value::Whole(number) => LiteralType::Long(*number),
        Value::Real(number) => LiteralType::Double(*number),
        Value::Text(text) => LiteralType::String(text.clone()),
        other => unreachable!("{other:?}"),
    };
    let literal = Literal {
        literal_type: Some(literal),
        ..Literal::default()
    };
    proto::Expression {
        expr_type: Some(ExprType::Literal(literal)),
        ..proto::Expression::default()
    }
}

/// The arguments of a statement, as its text names them.
fn named(parameters: &[Parameter]) -> HashMap<String, proto::Expression> {
    let mut named = HashMap::new();
    for (parameter, number) in parameters.iter().zip(1..) {
        match parameter {
            Parameter::One(value) => {
                named.insert(format!("p{number}"), literal(value));
            }
            Parameter::List(_, values) => {
                for (place, value) in values.iter().flatten().enumerate() {
                    named.insert(format!("p{number}_{place}"), literal(value));
                }
            }
        }
    }
    named
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
    let arguments: Vec<String> = std::env::args().collect();
    let kind = match arguments.iter().any(|name| name == "spark") {
        true => support::Kind::Spark,
        false => support::Kind::Sail,
    };
    let Some(server) = Server::new(kind) else {
        return;
    };
    let rows = arguments.iter().filter_map(|rows| rows.parse::<u64>().ok());
    let stated = |name| arguments.iter().find_map(|text| text.strip_prefix(name));
    let only = stated("only=").unwrap_or_default();
    let stated_turns: Option<usize> = stated("turns=").map(|turns| turns.parse().unwrap());
    let client = sql::client(&server.remote());
    let engine = SparkEngine::open(&server.remote()).unwrap();
    for rows in rows {
        let path = server.folder().join(format!("visits{rows}"));
        let path = path.to_str().unwrap();
        let made = milliseconds(|| sql::write(&server.remote(), &visits(rows), path));
        println!("{kind:?}, {rows} rows, ten a person: made in {made:.0} ms");
        let of_rows = Schema::of_rows(columns()).unwrap();
        let of_people = Schema::of_people("person", columns()).unwrap();
        let open = |schema| engine.parquet(&[path], schema).unwrap();
        let tables = [open(&of_rows), open(&of_people)];
        for (name, plan) in plans(&of_rows, &of_people) {
            if !name.contains(only) {
                continue;
            }
            let table = &tables[usize::from(*plan.schema() != of_rows)];
            let statement = table.statement(&plan).unwrap();
            let by_hand = sql::relation(&statement.text, named(&statement.parameters));
            // What is read first is read for both.
            table.tally(&plan).unwrap();
            let (mut tallied, mut sent) = (vec![], vec![]);
            let send = || {
                milliseconds(|| {
                    sql::ask(&client, OpType::Root(by_hand.clone()));
                })
            };
            for turn in 0..stated_turns.unwrap_or_else(|| turns(rows)) {
                if turn % 2 == 0 {
                    sent.push(send());
                }
                tallied.push(milliseconds(|| {
                    table.tally(&plan).unwrap();
                }));
                if turn % 2 == 1 {
                    sent.push(send());
                }
            }
            let ((tallied, spread), (sent, other)) = (median(tallied), median(sent));
            let more = 100.0 * (tallied / sent - 1.0);
            println!(
                "  {name:28} {tallied:8.0} ± {spread:4.0} ms, by hand {sent:8.0} ± {other:4.0} ms ({more:+.1} %)"
            );
        }
    }
}
