//! How often a reading asks the server.

use ledger::{Numbered, pure};
use queryables::ledger::Ledger;
use queryables_postgres::PostgresStore;

use crate::support::Server;
use crate::support::proxy::Proxy;

#[test]
fn a_reading_is_one_request_whatever_the_number_of_quotas() {
    let Some(server) = Server::new("quotas") else {
        return;
    };
    let proxy = Proxy::new(server.folder());
    let store = PostgresStore::connect(&proxy.parameters()).unwrap();
    let filter = pure(&Ledger::on(store, "numbers").unwrap(), "census", "1");
    let other = pure(&server.ledger(), "census", "1");
    let mut counted = vec![];
    for quotas in [0, 1, 50] {
        for number in 0..quotas {
            let name = format!("{quotas} {number}");
            let here = filter.quota(&name, "1".parse().unwrap()).unwrap();
            let there = other.quota(&name, "1".parse().unwrap()).unwrap();
            let ben = other.party("Ben").with_quota(&there).unwrap();
            assert_eq!(ben.release(&Numbered::new(1, "0.001")), Ok(1));
            // What the others have spent is read, and of every quota.
            assert_eq!(filter.spent_of(&here).unwrap(), "0.001".parse().ok());
        }
        let before = proxy.requests();
        assert_eq!(filter.privacy_loss(), other.privacy_loss());
        counted.push(proxy.requests() - before);
    }
    assert_eq!(counted, [1, 1, 1]);
}
