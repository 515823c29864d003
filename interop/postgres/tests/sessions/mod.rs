//! Which server, and how a session of it is set up.

use ledger::{Numbered, pure};
use postgres::{Client, NoTls};
use queryables::ledger::StoreError;
use queryables_postgres::PostgresStore;

use crate::support::Server;

/// Where the session does not wait for the disk, a charge does; and it reads what others have committed.
#[test]
fn a_charge_is_durable_however_the_session_is_set_up() {
    let Some(server) = Server::new("session") else {
        return;
    };
    drop(pure(&server.ledger(), "census", "1"));
    let mut client = Client::connect(&server.parameters(), NoTls).unwrap();
    let set = "
        ALTER ROLE queryables SET synchronous_commit = off;
        ALTER ROLE queryables SET default_transaction_isolation = 'serializable';
        ALTER ROLE queryables SET default_transaction_read_only = on;
        CREATE TABLE seen (setting text);
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO seen VALUES (current_setting('synchronous_commit'));
            INSERT INTO seen VALUES (current_setting('transaction_isolation'));
            RETURN NEW;
        END $$;
        CREATE TRIGGER see AFTER INSERT ON queryables_entries FOR EACH ROW EXECUTE FUNCTION see();
    ";
    client.batch_execute(set).unwrap();
    let filter = pure(&server.ledger(), "census", "1");
    let ana = filter.party("Ana");
    // With locks, and in one statement.
    assert_eq!(ana.release(&Numbered::new(1, "0.5")), Ok(1));
    assert_eq!(ana.release(&Numbered::new(2, "0.25")), Ok(2));
    let seen = client.query("SELECT setting FROM seen", &[]).unwrap();
    let seen: Vec<&str> = seen.iter().map(|row| row.get(0)).collect();
    assert_eq!(seen, ["on", "read committed", "on", "read committed"]);
}

/// A handle has read it, and takes it for damage if it is gone after a crash.
#[test]
fn a_budget_is_opened_durably_however_the_session_is_set_up() {
    let Some(server) = Server::new("opened") else {
        return;
    };
    let mut client = Client::connect(&server.parameters(), NoTls).unwrap();
    let set = "
        ALTER ROLE queryables SET synchronous_commit = off;
        CREATE TABLE seen (setting text);
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO seen VALUES (current_setting('synchronous_commit'));
            RETURN NEW;
        END $$;
        CREATE TRIGGER see AFTER INSERT ON queryables_budgets FOR EACH ROW EXECUTE FUNCTION see();
    ";
    client.batch_execute(set).unwrap();
    drop(pure(&server.ledger(), "census", "1"));
    let seen = client.query("SELECT setting FROM seen", &[]).unwrap();
    let seen: Vec<&str> = seen.iter().map(|row| row.get(0)).collect();
    assert_eq!(seen, ["on"]);
}

/// With another database's name, nobody gets a new budget.
#[test]
fn a_ledger_is_made_only_where_that_is_asked_for_and_there_is_none() {
    let Some(server) = Server::new("create") else {
        return;
    };
    let again = PostgresStore::create(&server.parameters());
    assert_eq!(again.unwrap_err(), StoreError::AlreadyExists);
    let mut client = Client::connect(&server.parameters(), NoTls).unwrap();
    client.batch_execute("CREATE DATABASE other").unwrap();
    let other = server
        .parameters()
        .replace("dbname=postgres", "dbname=other");
    for _ in 0..2 {
        let missing = PostgresStore::connect(&other);
        assert_eq!(missing.unwrap_err(), StoreError::NotFound);
    }
    drop(PostgresStore::create(&other).unwrap());
    drop(PostgresStore::connect(&other).unwrap());
}

/// It lags behind: a child that was frozen could be asked, and less would seem to be spent.
#[test]
fn a_standby_is_not_asked() {
    let Some(mut server) = Server::new("standby") else {
        return;
    };
    let filter = pure(&server.ledger(), "census", "1");
    let ana = filter.party("Ana");
    assert_eq!(ana.release(&Numbered::new(1, "0.5")), Ok(1));
    server.kill();
    server.stand_by(true);
    server.restart();
    // The first finds that the connection is gone.
    let Err(StoreError::Unavailable(_)) = filter.privacy_loss() else {
        panic!("the server was killed");
    };
    let standby = StoreError::Unavailable("the server is a standby".to_owned());
    assert_eq!(filter.privacy_loss(), Err(standby.clone()));
    let connected = PostgresStore::connect(&server.parameters());
    assert_eq!(connected.unwrap_err(), standby);
    server.kill();
    server.stand_by(false);
    server.restart();
    assert_eq!(filter.privacy_loss(), "0.5".parse().map_err(|_| standby));
}
