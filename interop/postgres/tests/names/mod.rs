//! Names that need quotes, or that the statement has too.

use queryables::table::{Column, Kind, RowTable, Schema, Table};
use queryables_postgres::PostgresTable;
use tables::{Draw, Row};

use crate::rows;
use crate::support::Server;

/// A table, a person, and two other columns.
const NAMES: [[&str; 4]; 5] = [
    ["kept", "person", "place", "amount"],
    ["numbers", "t", "number1", "key"],
    ["people", "divisor", "keys0", "number_of_rows"],
    ["select", "a \"person\"", "from", "x.y"],
    ["a\"\"; --", "'", "\"; DROP TABLE \"", "é\\"],
];

#[test]
fn names_are_quoted_in_what_the_server_is_sent() {
    let Some(server) = Server::new("quoted") else {
        return;
    };
    let mut client = crate::connect(&server);
    for (seed, [name, person, number, text]) in (0..).zip(NAMES) {
        let mut draw = Draw::new(seed);
        let columns = [
            Column::new(person, Kind::Whole),
            Column::new(number, Kind::Whole),
            Column::new(text, Kind::Text),
        ];
        let schema = Schema::of_people(person, columns).unwrap();
        let drawn: Vec<Row> = (0..60).map(|_| draw.row(&schema)).collect();
        rows::create(&mut client, &schema, &drawn);
        let named = format!(
            "ALTER TABLE drawn RENAME TO \"{}\"",
            name.replace('"', "\"\"")
        );
        client.batch_execute(&named).unwrap();
        let table = PostgresTable::open(&server.parameters(), "public", name, &schema).unwrap();
        let reference = RowTable::new(&schema, drawn).unwrap();
        for _ in 0..20 {
            let plan = draw.plan(&schema);
            assert_eq!(table.tally(&plan), reference.tally(&plan), "{plan:?}");
        }
        let expected = reference.tally_keys(None, text);
        assert_eq!(table.tally_keys(None, text), expected);
    }
}
