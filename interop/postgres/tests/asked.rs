//! Tables on a real server, which the test starts by itself. Where there is none, it says so.

mod equal;
mod killed;
mod names;
mod rows;
#[allow(dead_code)]
mod support;

use queryables::table::{Column, Kind, Schema};
use queryables_postgres::{OpenTableError, PostgresTable};
use support::Server;

fn connect(server: &Server) -> postgres::Client {
    postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap()
}

#[test]
fn a_table_is_opened_if_its_columns_and_the_server_fit() {
    let Some(server) = Server::new("open") else {
        return;
    };
    let mut client = connect(&server);
    let table = "CREATE TABLE visits (patient bigint, age smallint, cost numeric, name char(5))";
    client.batch_execute(table).unwrap();
    let open = |table: &str, columns: Vec<Column>| {
        let schema = Schema::of_rows(columns).unwrap();
        PostgresTable::open(&server.parameters(), "public", table, &schema).map(drop)
    };
    let column = |name: &str, kind| Column::new(name, kind);
    assert_eq!(open("visits", vec![column("age", Kind::Whole)]), Ok(()));
    let expected = OpenTableError::NoTable {
        namespace: "public".into(),
        table: "visit".into(),
    };
    assert_eq!(
        open("visit", vec![column("age", Kind::Whole)]),
        Err(expected)
    );
    let expected = OpenTableError::NoColumn {
        column: "Age".into(),
    };
    assert_eq!(
        open("visits", vec![column("Age", Kind::Whole)]),
        Err(expected)
    );
    let wrong = [
        ("age", Kind::Real, "smallint"),
        ("cost", Kind::Real, "numeric"),
        ("name", Kind::Text, "character"),
    ];
    for (name, wanted, found) in wrong {
        let expected = OpenTableError::WrongType {
            column: name.into(),
            found: found.into(),
            wanted,
        };
        assert_eq!(open("visits", vec![column(name, wanted)]), Err(expected));
    }
}
