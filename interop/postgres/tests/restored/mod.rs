//! A database that comes back with an older state: a restored backup, or an old copy of the server.

use ledger::{Numbered, admitted, pure};
use postgres::{Client, NoTls};
use queryables::ledger::{Ledger, LedgerError, StoreError};
use queryables::machine::Stop;
use queryables::prelude::*;
use queryables_postgres::PostgresStore;

use crate::LOCK;
use crate::support::Server;

fn damaged(what: &str) -> StoreError {
    let what = what.to_owned();
    StoreError::Damaged { what }
}

const TABLES: [&str; 4] = ["about", "budgets", "entries", "keys"];

fn client(server: &Server) -> Client {
    Client::connect(&server.parameters(), NoTls).unwrap()
}

/// Keeps a copy of every table.
fn back_up(client: &mut Client) {
    for table in TABLES {
        let copy = format!("CREATE TABLE old_{table} AS SELECT * FROM queryables_{table}");
        client.batch_execute(&copy).unwrap();
    }
}

/// Puts the copies of these tables in their place. Foreign keys do not stand in the way, as they do
/// not for whoever restores a backup.
fn restore(client: &mut Client, tables: &[&str]) {
    let mut statements = "BEGIN; SET LOCAL session_replication_role = replica;".to_owned();
    for table in tables {
        statements += &format!(
            "DELETE FROM queryables_{table}; INSERT INTO queryables_{table} SELECT * FROM old_{table};"
        );
    }
    client.batch_execute(&(statements + "COMMIT")).unwrap();
}

/// A server whose ledger was backed up after the first of two launches.
fn backed_up(name: &str) -> Option<(Server, Ledger, Client)> {
    let server = Server::new(name)?;
    let ledger = server.ledger().keeping_answers();
    let filter = pure(&ledger, "census", "1");
    let team = filter.quota("team", "1".parse().unwrap()).unwrap();
    let ana = filter.party("Ana").with_quota(&team).unwrap();
    assert_eq!(ana.release_once("a", &Numbered::new(1, "0.5")), Ok(1));
    let mut client = client(&server);
    back_up(&mut client);
    assert_eq!(ana.release_once("b", &Numbered::new(2, "0.5")), Ok(2));
    Some((server, ledger, client))
}

const WENT_BACK: &str = "the entries (they went back)";

/// The handle has seen the launch that is missing now.
#[test]
fn a_backup_that_is_restored_under_an_open_handle_is_damage() {
    let Some((_server, ledger, mut client)) = backed_up("backup") else {
        return;
    };
    let filter = ledger.start(
        "census",
        &Filter::concurrent(PureDp, "1".parse().unwrap()),
        &std::sync::Arc::new(()),
    );
    let filter = filter.unwrap();
    let team = filter.quota("team", "1".parse().unwrap()).unwrap();
    restore(&mut client, &TABLES);
    for party in [
        filter.party("Ana"),
        filter.party("Ana").with_quota(&team).unwrap(),
    ] {
        assert_eq!(party.privacy_loss(), Err(damaged(WENT_BACK)));
        let released = party.release(&Numbered::new(3, "0.5"));
        assert_eq!(released, Err(LedgerError::Store(damaged(WENT_BACK))));
        let again = party.release_once("b", &Numbered::new(2, "0.5"));
        assert_eq!(again, Err(LedgerError::Store(damaged(WENT_BACK))));
    }
    let budget = "SELECT version FROM queryables_budgets WHERE budget = 'census'";
    let version: i64 = client.query_one(budget, &[]).unwrap().get(0);
    assert_eq!(version, 1, "nothing was written");
}

/// Another process has never seen the launch, and goes on from the backup, up to the number of
/// launches that this one knows and beyond it.
#[test]
fn launches_after_a_restored_backup_are_damage_to_a_handle_that_made_others() {
    let Some((server, ledger, mut client)) = backed_up("forked") else {
        return;
    };
    let filter = pure(&ledger, "census", "1");
    restore(&mut client, &TABLES);
    let other = pure(&server.ledger(), "census", "1");
    let ben = other.party("Ben");
    assert_eq!(ben.release(&Numbered::new(3, "0.25")), Ok(3));
    let replaced = damaged("entry 2 (another one is in its place)");
    assert_eq!(filter.privacy_loss(), Err(replaced.clone()));
    assert_eq!(ben.release(&Numbered::new(4, "0.125")), Ok(4));
    assert_eq!(filter.privacy_loss(), Err(replaced.clone()));
    let released = filter.party("Ana").release(&Numbered::new(5, "0.125"));
    assert_eq!(released, Err(LedgerError::Store(replaced)));
}

/// The same, for one that only read: the number of launches is the same, and the state another.
#[test]
fn another_state_with_a_version_that_was_read_is_damage() {
    let Some((server, _ledger, mut client)) = backed_up("same") else {
        return;
    };
    let reader = server.ledger();
    let filter = pure(&reader, "census", "1");
    let budget = "SELECT state FROM queryables_budgets WHERE budget = 'census'";
    let spent: String = client.query_one(budget, &[]).unwrap().get(0);
    let swap = "UPDATE queryables_budgets SET state = (SELECT state FROM old_budgets \
                WHERE budget = 'census') WHERE budget = 'census'";
    client.batch_execute(swap).unwrap();
    let changed = damaged("the budget \"census\" (another state has its version)");
    assert_eq!(filter.privacy_loss(), Err(changed.clone()));
    let released = filter.party("Ana").release(&Numbered::new(5, "0.125"));
    assert_eq!(released, Err(LedgerError::Store(changed)));
    let back = "UPDATE queryables_budgets SET state = $1 WHERE budget = 'census'";
    client.execute(back, &[&spent]).unwrap();
    assert_eq!(filter.privacy_loss(), Ok("1".parse().unwrap()));
}

/// A table alone, under a handle that is open and for one that is opened.
#[test]
fn one_table_that_is_restored_alone_is_damage() {
    let Some((server, ledger, mut client)) = backed_up("table") else {
        return;
    };
    let open = pure(&ledger, "census", "1");
    let now: Vec<String> = TABLES.iter().map(|table| format!("new_{table}")).collect();
    for (table, now) in TABLES.iter().zip(&now) {
        let copy = format!("CREATE TABLE {now} AS SELECT * FROM queryables_{table}");
        client.batch_execute(&copy).unwrap();
    }
    let budget = "the budget \"census\" (its launches are not those of its entries)";
    let cases = [
        // It does not change any more.
        ("about", None, None),
        (
            "budgets",
            Some("the budget \"census\" (it went back)"),
            Some(budget),
        ),
        ("entries", Some(WENT_BACK), Some(budget)),
        ("keys", None, Some("the key of entry 2")),
    ];
    for (table, under, opened) in cases {
        restore(&mut client, &[table]);
        let read = open.privacy_loss();
        match under {
            Some(what) => assert_eq!(read, Err(damaged(what)), "{table}"),
            None => assert_eq!(read, Ok("1".parse().unwrap()), "{table}"),
        }
        let connected = PostgresStore::connect(&server.parameters()).map(drop);
        match opened {
            Some(what) => assert_eq!(connected, Err(damaged(what)), "{table}"),
            None => assert_eq!(connected, Ok(()), "{table}"),
        }
        let back = format!(
            "BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM queryables_{table}; \
             INSERT INTO queryables_{table} SELECT * FROM new_{table}; COMMIT"
        );
        client.batch_execute(&back).unwrap();
        assert_eq!(open.privacy_loss(), Ok("1".parse().unwrap()));
    }
    // Also between connecting and opening a budget, by a handle that has read nothing of it.
    let late = server.ledger();
    let ana = open.party("Ana");
    assert_eq!(open.remaining(), Ok("0".parse().unwrap()));
    assert_eq!(ana.release(&Numbered::new(3, "0")), Ok(3));
    let stale = "UPDATE queryables_budgets SET version = 2 WHERE budget = 'census'";
    client.batch_execute(stale).unwrap();
    let opened = late.start(
        "census",
        &Filter::concurrent(PureDp, "1".parse().unwrap()),
        &std::sync::Arc::new(()),
    );
    let expected = LedgerError::Store(damaged(budget));
    assert_eq!(opened.map(drop).unwrap_err(), expected);
}

/// Otherwise it would lead to whichever launch comes next.
#[test]
fn a_key_whose_entry_is_not_there_is_damage() {
    let Some((server, ledger, mut client)) = backed_up("keys") else {
        return;
    };
    drop(ledger);
    restore(&mut client, &["budgets", "entries"]);
    let opened = PostgresStore::connect(&server.parameters());
    let key = damaged("the key of entry 2");
    assert_eq!(opened.map(drop).unwrap_err(), key);
}

/// Otherwise it could be given another one.
#[test]
fn a_name_of_the_dataset_that_is_lost_is_damage() {
    let Some(server) = Server::new("unnamed") else {
        return;
    };
    let mut client = client(&server);
    back_up(&mut client);
    let ana = pure(&server.ledger(), "census", "1").party("Ana");
    assert_eq!(ana.release(&Numbered::new(1, "0.5")), Ok(1));
    restore(&mut client, &["about"]);
    let store = PostgresStore::connect(&server.parameters()).unwrap();
    let named = Ledger::on(store, "letters").map(drop);
    assert_eq!(named.unwrap_err(), damaged("the name of the dataset"));
}

/// Ben's handle has read no later version than the one that comes back, and could spend it again.
#[test]
fn budgets_that_are_restored_alone_are_damage_to_every_open_handle() {
    let Some(server) = Server::new("alone") else {
        return;
    };
    let (one, two) = (server.ledger(), server.ledger());
    let (ana, ben) = (pure(&one, "census", "1"), pure(&two, "census", "1"));
    let team = ben.quota("team", "1".parse().unwrap()).unwrap();
    let also = ana.quota("team", "1".parse().unwrap()).unwrap();
    let (ana, reader) = (ana.party("Ana").with_quota(&also).unwrap(), ben.clone());
    assert_eq!(ana.release(&Numbered::new(1, "0.1")), Ok(1));
    assert_eq!(ben.privacy_loss(), Ok("0.1".parse().unwrap()));
    let mut client = client(&server);
    back_up(&mut client);
    for number in 2..10 {
        assert_eq!(ana.release(&Numbered::new(number, "0.1")), Ok(number));
    }
    let kept = "CREATE TABLE new_budgets AS SELECT * FROM queryables_budgets";
    client.batch_execute(kept).unwrap();
    restore(&mut client, &["budgets"]);
    let spent = damaged("the budget \"census\" (its launches are not those of its entries)");
    let released = ben.party("Ben").release(&Numbered::new(10, "0.1"));
    assert_eq!(released, Err(LedgerError::Store(spent.clone())));
    assert_eq!(reader.privacy_loss(), Err(spent.clone()));
    // Again: an error takes nothing up.
    let released = ben.party("Ben").release(&Numbered::new(10, "0.1"));
    assert_eq!(released, Err(LedgerError::Store(spent)));
    let back = damaged("the budget \"census\" (it went back)");
    let released = ana.release(&Numbered::new(11, "0.01"));
    assert_eq!(released, Err(LedgerError::Store(back)));

    // The filter is right, and the quota alone is not.
    let newest = "UPDATE queryables_budgets SET version = new.version, state = new.state \
                  FROM new_budgets AS new WHERE queryables_budgets.budget = new.budget \
                  AND new.budget = 'census'";
    client.batch_execute(newest).unwrap();
    let quota =
        r#"the budget "(\"census\", \"team\")" (its launches are not those of its entries)"#;
    let within = ben.party("Ben").with_quota(&team).unwrap();
    let released = within.release(&Numbered::new(12, "0.01"));
    assert_eq!(released, Err(LedgerError::Store(damaged(quota))));
    assert_eq!(reader.privacy_loss(), Err(damaged(quota)));
    // Who is not held to it goes on.
    assert_eq!(ben.party("Ben").release(&Numbered::new(13, "0.1")), Ok(13));
    let lines = one.lines(1, usize::MAX).unwrap();
    assert_eq!(admitted(&lines), [1, 2, 3, 4, 5, 6, 7, 8, 9, 13]);
}

/// Also where the next charge is one statement, which reads nothing before it writes.
#[test]
fn a_table_that_is_restored_alone_is_damage_to_the_only_one_who_charges() {
    let Some(server) = Server::new("only") else {
        return;
    };
    let ledger = server.ledger();
    let ana = pure(&ledger, "census", "1").party("Ana");
    assert_eq!(ana.release(&Numbered::new(1, "0.1")), Ok(1));
    assert_eq!(ana.release(&Numbered::new(2, "0.1")), Ok(2));
    let mut client = client(&server);
    back_up(&mut client);
    assert_eq!(ana.release(&Numbered::new(3, "0.1")), Ok(3));
    let kept = "CREATE TABLE new_budgets AS SELECT * FROM queryables_budgets";
    client.batch_execute(kept).unwrap();
    restore(&mut client, &["budgets"]);
    let back = damaged("the budget \"census\" (it went back)");
    let released = ana.release(&Numbered::new(4, "0.1"));
    assert_eq!(released, Err(LedgerError::Store(back)));
    let lines = ledger.lines(1, usize::MAX).unwrap();
    assert_eq!(admitted(&lines), [1, 2, 3]);
    // The budgets are right again, so it goes on; and then the entries are not.
    let newest = "UPDATE queryables_budgets SET version = new.version, state = new.state \
                  FROM new_budgets AS new WHERE queryables_budgets.budget = new.budget";
    client.batch_execute(newest).unwrap();
    assert_eq!(ana.release(&Numbered::new(5, "0.1")), Ok(5));
    restore(&mut client, &["entries"]);
    let released = ana.release(&Numbered::new(6, "0.1"));
    assert_eq!(released, Err(LedgerError::Store(damaged(WENT_BACK))));
    let lines = ledger.lines(1, usize::MAX).unwrap();
    assert_eq!(admitted(&lines), [1, 2]);
}

/// Its statement has begun, and has compared what was there before.
#[test]
fn a_backup_that_is_restored_while_a_launch_waits_is_damage() {
    for has_quota in [false, true] {
        let Some((server, ledger, mut client)) = backed_up("waits") else {
            return;
        };
        let filter = pure(&ledger, "census", "1");
        let team = filter.quota("team", "1".parse().unwrap()).unwrap();
        let ana = filter.party("Ana");
        let ana = match has_quota {
            true => ana.with_quota(&team).unwrap(),
            false => ana,
        };
        let mut raw = self::client(&server);
        let mut held = raw.transaction().unwrap();
        held.execute(LOCK, &[]).unwrap();
        let released = std::thread::scope(|scope| {
            let released = scope.spawn(|| ana.release(&Numbered::new(3, "0")));
            let waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
            while client.query(waits, &[]).unwrap().is_empty() {
                std::thread::yield_now();
            }
            restore(&mut client, &TABLES);
            held.rollback().unwrap();
            released.join().unwrap()
        });
        assert_eq!(released, Err(LedgerError::Store(damaged(WENT_BACK))));
        let lines = ledger.lines(1, usize::MAX).unwrap();
        assert_eq!(admitted(&lines), [1], "nothing was written");
    }
}

/// Another launch has the number of its last one, and its next one is charged to budgets that are as they were.
#[test]
fn another_entry_in_the_place_of_the_last_is_damage_to_the_only_one_who_charges() {
    for has_quota in [false, true] {
        let Some(server) = Server::new("place") else {
            return;
        };
        let ledger = server.ledger();
        let (census, survey) = (pure(&ledger, "census", "1"), pure(&ledger, "survey", "1"));
        let team = census.quota("team", "1".parse().unwrap()).unwrap();
        let ana = match has_quota {
            true => census.party("Ana").with_quota(&team).unwrap(),
            false => census.party("Ana"),
        };
        assert_eq!(ana.release(&Numbered::new(1, "0.1")), Ok(1));
        let mut client = client(&server);
        back_up(&mut client);
        let ben = survey.party("Ben");
        assert_eq!(ben.release(&Numbered::new(2, "0.1")), Ok(2));
        restore(&mut client, &TABLES);
        let other = pure(&server.ledger(), "survey", "1").party("Eva");
        assert_eq!(other.release(&Numbered::new(3, "0.1")), Ok(3));
        let replaced = damaged("entry 2 (another one is in its place)");
        let released = ana.release(&Numbered::new(4, "0.1"));
        assert_eq!(released, Err(LedgerError::Store(replaced)));
    }
}

/// What others have launched, refused and halted since a handle has read a budget is no damage.
#[test]
fn whatever_others_did_since_a_budget_was_read_is_no_damage() {
    let Some(server) = Server::new("others") else {
        return;
    };
    let (one, two) = (server.ledger(), server.ledger());
    let open = |ledger: &Ledger| {
        let filter = Filter::concurrent(PureDp, "1".parse().unwrap()).halting();
        let filter = ledger.start("halts", &filter, &std::sync::Arc::new(()));
        filter.unwrap()
    };
    let (idle, busy) = (open(&two), open(&one));
    let limit = || "0.5".parse().unwrap();
    let quota = busy.quota("team", limit()).unwrap();
    let same = idle.quota("team", limit()).unwrap();
    let ana = busy.party("Ana").with_quota(&quota).unwrap();
    let ben = idle.party("Ben").with_quota(&same).unwrap();
    let other = pure(&one, "other", "1");
    for number in 0..5 {
        assert_eq!(ana.release(&Numbered::new(number, "0.1")), Ok(number));
        let eva = busy.party("Eva").release(&Numbered::new(number, "0.01"));
        assert_eq!(eva, Ok(number));
        other
            .party("Ana")
            .release(&Numbered::new(1, "0.1"))
            .unwrap();
        for _ in 0..20 {
            let over = ana.release(&Numbered::new(1, "0.6")).map(drop);
            assert!(matches!(
                over,
                Err(LedgerError::Launch(LaunchError::OverQuota { .. }))
            ));
        }
        if number % 2 == 0 {
            let idle = ben.release(&Numbered::new(1, "0.51")).map(drop);
            assert!(matches!(
                idle,
                Err(LedgerError::Launch(LaunchError::OverQuota { .. }))
            ));
        }
    }
    let over = busy.party("Eva").release(&Numbered::new(9, "1")).map(drop);
    assert!(matches!(
        over,
        Err(LedgerError::Launch(LaunchError::Refused(_)))
    ));
    assert_eq!(idle.launched(), Ok(10));
    let halted = LaunchError::Stopped(Stop::Halted);
    assert_eq!(
        idle.party("Ben").release(&Numbered::new(1, "0")),
        Err(halted.into())
    );
    assert_eq!(idle.spent_of(&same), Ok(Some(limit())));
}

/// A halt changes a budget without an entry that is admitted.
#[test]
fn a_ledger_with_halts_shares_and_refusals_is_opened() {
    let Some(server) = Server::new("halts") else {
        return;
    };
    let open = |ledger: &Ledger| {
        let filter = Filter::concurrent(PureDp, "1".parse().unwrap()).halting();
        let filter = ledger.start("halts", &filter, &std::sync::Arc::new(()));
        filter.unwrap()
    };
    let share = Filter::concurrent(PureDp, "0.25".parse().unwrap());
    let ledger = server.ledger();
    let filter = open(&ledger);
    let reserved = filter.reserve("Ben's \"own\" \u{202e}", &share).unwrap();
    assert_eq!(
        reserved.party("Ben").release(&Numbered::new(1, "0.125")),
        Ok(1)
    );
    assert_eq!(
        filter.party("Ana").release(&Numbered::new(2, "0.25")),
        Ok(2)
    );
    for _ in 0..2 {
        filter
            .party("Ana")
            .release(&Numbered::new(3, "1"))
            .unwrap_err();
    }
    let again = open(&server.ledger());
    assert_eq!(again.launched(), Ok(2));
    assert!(again.halt().unwrap().is_some());
}

/// The server itself comes back as it was: a copy of its files from before.
#[test]
fn a_server_that_comes_back_with_an_older_state_is_damage_to_a_handle_that_knows_better() {
    let Some(mut server) = Server::new("copy") else {
        return;
    };
    let filter = pure(&server.ledger(), "census", "1");
    let ana = filter.party("Ana");
    assert_eq!(ana.release(&Numbered::new(1, "0.5")), Ok(1));
    server.stop();
    server.copy_files("data", "older");
    server.restart();
    // The first finds that the connection is gone.
    let Err(StoreError::Unavailable(_)) = filter.privacy_loss() else {
        panic!("the server was stopped");
    };
    assert_eq!(ana.release(&Numbered::new(2, "0.5")), Ok(2));
    server.stop();
    server.copy_files("older", "data");
    server.restart();
    let Err(StoreError::Unavailable(_)) = filter.privacy_loss() else {
        panic!("the server was stopped");
    };
    assert_eq!(filter.privacy_loss(), Err(damaged(WENT_BACK)));
    let released = ana.release(&Numbered::new(3, "0.5"));
    assert_eq!(released, Err(LedgerError::Store(damaged(WENT_BACK))));
    // Nothing in the database says that there was more: whoever opens it now cannot know.
    let unaware = pure(&server.ledger(), "census", "1");
    assert_eq!(unaware.privacy_loss(), Ok("0.5".parse().unwrap()));
}
