//! Names that need quotes, or that the statement has too.

use queryables::table::{Column, Kind, RowTable, Schema, Table};
use queryables_spark::SparkEngine;
use tables::{Draw, Row};

use crate::support::{Kind as Engine, Server, rows, sql};

/// A table, a person, and two other columns.
const NAMES: [[&str; 4]; 5] = [
    ["kept", "person", "place", "amount"],
    ["numbers", "t", "number1", "key"],
    ["people", "divisor", "keys0", "number_of_rows"],
    ["select", "a `person`", "from", "x.y"],
    ["a_1", "'", "\"; DROP TABLE \"", "é\\"],
];

/// The engine is asked in the session of the server, where tables are made.
pub fn names_are_quoted(server: &Server, engine: &SparkEngine) {
    for (seed, [name, person, number, text]) in (0..).zip(NAMES) {
        let mut draw = Draw::new(seed);
        let columns = [
            Column::new(person, Kind::Whole),
            Column::new(number, Kind::Whole),
            Column::new(text, Kind::Text),
        ];
        let schema = Schema::of_people(person, columns).unwrap();
        let drawn: Vec<Row> = (0..60).map(|_| draw.row(&schema)).collect();
        let path = server.folder().join(format!("named{seed}` ; --.parquet"));
        let path = path.to_str().unwrap();
        rows::write(path.as_ref(), &schema, &drawn);
        let file = engine.parquet(&[path], &schema).unwrap();
        let quoted = name.replace('`', "``");
        let made = format!("CREATE TABLE `{quoted}` USING parquet LOCATION '{path}'");
        sql::run(&server.session(), &made);
        let table = engine.table(&[name], &schema).unwrap();
        let reference = RowTable::new(&schema, drawn).unwrap();
        for _ in 0..6 {
            let plan = draw.plan(&schema);
            let expected = reference.tally(&plan);
            assert_eq!(file.tally(&plan), expected, "{plan:?}");
            assert_eq!(table.tally(&plan), expected, "{plan:?}");
        }
        let expected = reference.tally_keys(None, text);
        assert_eq!(table.tally_keys(None, text), expected);
    }
}

/// Two columns whose names differ in case: neither is taken for the other, and an engine that does not tell
/// them apart says so when the table is opened, and not after a charge.
pub fn names_that_differ_in_case_are_not_mixed_up(server: &Server, engine: &SparkEngine) {
    for order in [["id", "ID"], ["ID", "id"]] {
        let both = order.map(|name| Column::new(name, Kind::Whole));
        let both = Schema::of_rows(both).unwrap();
        // The first column has one number, and the second has four.
        let drawn: Vec<Row> = (0..4)
            .map(|row| vec![Some(7.into()), Some(row.into())])
            .collect();
        let path = server.folder().join(format!("case{}.parquet", order[0]));
        rows::write(&path, &both, &drawn);
        for (place, name) in order.into_iter().enumerate() {
            let schema = Schema::of_rows([Column::new(name, Kind::Whole)]).unwrap();
            let Ok(table) = engine.parquet(&[path.to_str().unwrap()], &schema) else {
                continue;
            };
            let column = drawn.iter().map(|row| vec![row[place].clone()]);
            let reference = RowTable::new(&schema, column.collect()).unwrap();
            let (found, expected) = (
                table.tally_keys(None, name),
                reference.tally_keys(None, name),
            );
            assert_eq!(found, expected, "{name} of {order:?}");
        }
    }
}

#[test]
fn names_are_quoted_in_what_sail_is_sent() {
    if let Some(server) = Server::new(Engine::Sail) {
        let engine = SparkEngine::open(&server.session()).unwrap();
        names_are_quoted(&server, &engine);
        names_that_differ_in_case_are_not_mixed_up(&server, &engine);
    }
}
