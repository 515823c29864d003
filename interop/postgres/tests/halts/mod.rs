//! A halt reaches everybody, whatever connection they use.

use ledger::a_halt_stops_the_children_and_shares_of_another_handle;

use super::support::Server;

#[test]
fn a_halt_through_another_connection_stops_children_and_shares() {
    let Some(server) = Server::new("halts") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    a_halt_stops_the_children_and_shares_of_another_handle(&one, &other);
}
