//! What holds in every store: a halt reaches everybody, whatever connection they use, and refusals take
//! bounded space.

use ledger::{
    a_halt_stops_the_children_and_shares_of_another_handle, refusals_in_a_row_take_sixteen_entries,
    what_is_too_long_is_an_error_and_not_written,
};

use super::support::Server;

#[test]
fn a_halt_through_another_connection_stops_children_and_shares() {
    let Some(server) = Server::new("halts") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    a_halt_stops_the_children_and_shares_of_another_handle(&one, &other);
}

#[test]
fn refusals_and_names_are_bounded_as_in_every_store() {
    let Some(server) = Server::new("bounds") else {
        return;
    };
    refusals_in_a_row_take_sixteen_entries(&server.ledger());
    what_is_too_long_is_an_error_and_not_written(&server.ledger());
    // The amounts are those of the entries that are left.
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let query = "SELECT count(*) FROM queryables_amounts WHERE amount = 2";
    let refused: i64 = client.query_one(query, &[]).unwrap().get(0);
    assert_eq!(refused, 16 + 3);
}
