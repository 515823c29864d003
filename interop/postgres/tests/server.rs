//! Against a real server, which the test starts by itself. Where there is none, it says so.

mod grouped;
mod kept;
mod readings;
mod restored;
mod sessions;
mod stores;
mod support;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ledger::{
    Numbered, a_later_launch_freezes_the_child_of_another_handle, admitted,
    any_name_is_kept_but_one_with_a_zero, lines_begin_and_end_where_they_should, pure,
};
use queryables::ledger::{Ledger, LedgerError, StoreError};
use queryables::prelude::*;
use queryables::privacy::{RdpCurve, RdpGrid};
use queryables_postgres::PostgresStore;
use support::Server;
use support::proxy::{Cut, Proxy};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

#[test]
fn handles_in_many_processes_spend_one_budget() {
    let Some(server) = Server::new("one") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    let (one, other) = (one.keeping_answers(), other.keeping_answers());
    let (first, second) = (pure(&one, "census", "1"), pure(&other, "census", "1"));
    let team = first.quota("team", epsilon("0.5")).unwrap();
    let also = second.quota("team", epsilon("0.5")).unwrap();
    let ana = first.party("Ana").with_quota(&team).unwrap();
    let ben = second.party("Ben").with_quota(&also).unwrap();
    assert_eq!(ana.release(&Numbered::new(1, "0.25")), Ok(1));
    assert_eq!(second.privacy_loss(), Ok(epsilon("0.25")));
    assert_eq!(ben.would_admit(&epsilon("0.3")), Ok(false));
    assert_eq!(ben.release(&Numbered::new(2, "0.25")), Ok(2));
    let over = ana.release(&Numbered::new(3, "0.1"));
    assert!(matches!(
        over,
        Err(LedgerError::Launch(LaunchError::OverQuota { .. }))
    ));
    assert_eq!(first.privacy_loss(), Ok(epsilon("0.5")));
    // A key that was used through one handle is known through the other.
    let eva = [first.party("Eva"), second.party("Eva")];
    assert_eq!(eva[0].release_once("k", &Numbered::new(4, "0.125")), Ok(4));
    assert_eq!(eva[1].release_once("k", &Numbered::new(4, "0.125")), Ok(4));
    let another = eva[1].release_once("k", &Numbered::new(5, "0.125"));
    assert_eq!(another, Err(LedgerError::OtherLaunch));
    assert_eq!(first.privacy_loss(), Ok(epsilon("0.625")));
    let over = eva[1].release(&Numbered::new(6, "0.5"));
    assert!(matches!(
        over,
        Err(LedgerError::Launch(LaunchError::Refused(_)))
    ));
    assert_eq!(first.replay(), Ok(5));

    let wrong = PostgresStore::connect(&server.parameters()).unwrap();
    let expected = StoreError::OtherDataset {
        named: "numbers".into(),
        given: "others".into(),
    };
    assert_eq!(Ledger::on(wrong, "others").unwrap_err(), expected);
    let two = Filter::concurrent(PureDp, epsilon("2"));
    let error = one.start("census", &two, &std::sync::Arc::new(()));
    let error = error.unwrap_err();
    assert!(matches!(
        error,
        LedgerError::Store(StoreError::OtherTerms { .. })
    ));

    // Amounts are exact numbers to whoever asks the database.
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let query = "SELECT sum(amount)::text FROM queryables_amounts \
                 JOIN queryables_entries USING (sequence) WHERE line::json->>'decision' = 'admitted'";
    let sum = client.query_one(query, &[]).unwrap();
    assert_eq!(sum.get::<_, &str>(0), "0.625");
    // What is damaged is an error.
    let damage = "UPDATE queryables_budgets \
                  SET state = replace(state, '0.625', '0.125') WHERE budget = 'census'";
    client.batch_execute(damage).unwrap();
    let damaged = |what: &str| StoreError::Damaged { what: what.into() };
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let opened = server
        .ledger()
        .start("census", &filter, &std::sync::Arc::new(()));
    let expected = LedgerError::Store(damaged("the budget \"census\""));
    assert_eq!(opened.map(drop).unwrap_err(), expected);
    let damage = "UPDATE queryables_budgets SET version = version + 1 WHERE budget = 'census'";
    client.batch_execute(damage).unwrap();
    let damaged = damaged("the budget \"census\" (its launches are not those of its entries)");
    assert_eq!(first.privacy_loss(), Err(damaged.clone()));
    let launched = ana.release(&Numbered::new(7, "0.001"));
    assert_eq!(launched, Err(LedgerError::Store(damaged)));
}

#[test]
fn lines_and_freezes_are_those_of_every_store() {
    let Some(server) = Server::new("store") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    lines_begin_and_end_where_they_should(&one);
    a_later_launch_freezes_the_child_of_another_handle(&one, &other);
    let named = Server::new("names").unwrap();
    any_name_is_kept_but_one_with_a_zero(&named.ledger(), || Some(named.ledger()));
    // A loss of several numbers: each has its own name among the amounts.
    let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
    let curve = |epsilons: [&str; 2]| grid.curve(epsilons.map(epsilon)).unwrap();
    let filter = Filter::concurrent(grid.clone(), curve(["1", "2"]));
    let filter = one
        .start("grid", &filter, &std::sync::Arc::new(()))
        .unwrap();
    let launched = filter.party("Ana").release(&Curved(curve(["0.25", "0.5"])));
    assert_eq!(launched, Ok(true));
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let query = "SELECT string_agg(name || ' = ' || amount, ', ' ORDER BY name) \
                 FROM queryables_amounts JOIN queryables_entries USING (sequence) \
                 WHERE line::json->>'filter' = 'grid'";
    let amounts: String = client.query_one(query, &[]).unwrap().get(0);
    let expected = "epsilons 0 = 0.25, epsilons 1 = 0.5, orders 0 = 2, orders 1 = 4";
    assert_eq!(amounts, expected);
}

/// Costs a curve.
struct Curved(RdpCurve);

impl Mechanism<()> for Curved {
    type Machine = Released<bool>;

    fn start(&self, _: &std::sync::Arc<()>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(true))
    }
}

impl Private<RdpGrid, AddRemove> for Curved {
    fn loss(&self, _: &RdpGrid) -> Result<RdpCurve, UnknownLoss> {
        Ok(self.0.clone())
    }
}

const CONNECTIONS: u64 = 8;

#[test]
fn eight_connections_spend_a_budget_to_its_limit_while_the_server_is_killed() {
    let transactions = spend_while_killed("eight", |server| {
        let each = (0..CONNECTIONS).map(|_| pure(&server.ledger(), "census", "1"));
        each.collect()
    });
    assert!(transactions.is_none_or(|transactions| transactions == 1000));
}

/// Their launches are written together.
#[test]
fn eight_threads_of_one_process_spend_a_budget_to_its_limit_while_the_server_is_killed() {
    let transactions = spend_while_killed("threads", |server| {
        let shared = pure(&server.ledger(), "census", "1");
        vec![shared; CONNECTIONS as usize]
    });
    assert!(transactions.is_none_or(|transactions| transactions < 1000));
}

/// Two connections, with four threads each.
#[test]
fn two_processes_spend_a_budget_to_its_limit_while_the_server_is_killed() {
    spend_while_killed("two", |server| {
        let both = [0, 1].map(|_| pure(&server.ledger(), "census", "1"));
        both.iter()
            .cycle()
            .take(CONNECTIONS as usize)
            .cloned()
            .collect()
    });
}

/// Each launch costs a thousandth of the budget. In the middle the server is killed, twice. The number of
/// transactions that have written them.
fn spend_while_killed(
    name: &str,
    handles: impl Fn(&Server) -> Vec<ledger::PureFilter>,
) -> Option<i64> {
    let mut server = Server::new(name)?;
    // Opened before anybody spends.
    drop(pure(&server.ledger(), "census", "1"));
    let watch = "
        CREATE TABLE written (sequence bigint, transaction bigint);
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO written VALUES (NEW.sequence, txid_current());
            RETURN NEW;
        END $$;
        CREATE TRIGGER see AFTER INSERT ON queryables_entries FOR EACH ROW EXECUTE FUNCTION see();
    ";
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    client.batch_execute(watch).unwrap();
    let (got, errors) = (Mutex::new(HashSet::new()), AtomicU64::new(0));
    let handles = handles(&server);
    std::thread::scope(|scope| {
        for (connection, filter) in (0..).zip(handles) {
            let (got, errors) = (&got, &errors);
            scope.spawn(move || {
                let party = filter.party(&connection.to_string());
                for turn in 0.. {
                    let number = connection * 1_000_000 + turn;
                    match party.release(&Numbered::new(number, "0.001")) {
                        Ok(answer) => assert!(got.lock().unwrap().insert(answer)),
                        Err(LedgerError::Launch(LaunchError::Refused(refusal))) => {
                            assert_eq!(refusal.spent, epsilon("1"));
                            return;
                        }
                        Err(LedgerError::Store(StoreError::Unavailable(_))) => {
                            errors.fetch_add(1, Ordering::Relaxed);
                            std::thread::yield_now();
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        for answers in [200, 600] {
            while got.lock().unwrap().len() < answers {
                std::thread::yield_now();
            }
            server.kill();
            server.restart();
        }
    });
    let got = got.into_inner().unwrap();
    let ledger = server.ledger();
    let filter = pure(&ledger, "census", "1");
    let charged = admitted(&ledger.lines(1, usize::MAX).unwrap());
    assert_eq!(charged.len(), 1000);
    let once: HashSet<u64> = charged.into_iter().collect();
    assert_eq!(once.len(), 1000);
    assert!(got.is_subset(&once), "an answer was not charged");
    let errors = errors.into_inner();
    assert!(errors > 0);
    assert_eq!(filter.privacy_loss(), Ok(epsilon("1")));
    assert!(filter.replay().unwrap() >= 1000 + CONNECTIONS);
    let query = "SELECT count(DISTINCT written.transaction) FROM written \
                 JOIN queryables_entries USING (sequence) WHERE line::json->>'decision' = 'admitted'";
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let transactions: i64 = client.query_one(query, &[]).unwrap().get(0);
    println!(
        "{} answers, 1000 charged in {transactions} transactions, {errors} errors",
        got.len()
    );
    Some(transactions)
}

/// The client cannot know whether the commit was made. Nothing runs, and what the next launch reads is
/// what happened; a retry with the key is not charged again.
#[test]
fn a_launch_whose_commit_is_not_answered_does_not_run_and_is_charged_at_most_once() {
    let Some(server) = Server::new("cut") else {
        return;
    };
    let proxy = Proxy::new(server.folder());
    let store = PostgresStore::connect(&proxy.parameters()).unwrap();
    let ledger = Ledger::on(store, "numbers").unwrap().keeping_answers();
    let filter = pure(&ledger, "census", "1");
    let ana = filter.party("Ana");
    assert_eq!(ana.release(&Numbered::new(0, "0.125")), Ok(0));
    let cuts = [
        (Cut::Write, "0.125", Ok(1)),
        (Cut::Commit, "0.25", Ok(2)),
        (Cut::Answer, "0.5", Err(LedgerError::NoAnswer)),
    ];
    for (number, (cut, spent, retried)) in (1..).zip(cuts) {
        let mechanism = Numbered::new(number, "0.125");
        proxy.cut_next(cut);
        let broken = ana.release_once(&number.to_string(), &mechanism);
        let Err(LedgerError::Store(StoreError::Unavailable(_))) = broken else {
            panic!("{cut:?}: {broken:?}");
        };
        assert_eq!(filter.privacy_loss(), Ok(epsilon(spent)), "{cut:?}");
        let again = ana.release_once(&number.to_string(), &mechanism);
        assert_eq!(again, retried, "{cut:?}");
    }
    // The last was charged, once.
    assert_eq!(filter.privacy_loss(), Ok(epsilon("0.5")));
    assert_eq!(filter.replay(), Ok(4));
    let over = ana.release(&Numbered::new(4, "0.625"));
    let Err(LedgerError::Launch(LaunchError::Refused(refusal))) = over else {
        panic!("{over:?}");
    };
    assert_eq!(refusal.spent, epsilon("0.5"));
}

/// What everybody holds who charges.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7205759403792793)";

/// Another process is in the middle of a launch: it has read and changed the rows, and has not
/// committed. A launch must wait for it and read what it wrote; without the lock it would decide on the old
/// state, and could not be written.
#[test]
fn a_launch_waits_for_another_and_reads_what_it_wrote() {
    let Some(server) = Server::new("rows") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    let (one, other) = (pure(&one, "census", "1"), pure(&other, "census", "1"));
    let mut raw = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let mut watch = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let budget = "SELECT state FROM queryables_budgets";
    let unspent: String = raw.query_one(budget, &[]).unwrap().get(0);
    assert_eq!(one.party("Ana").release(&Numbered::new(1, "0.6")), Ok(1));
    let spent: String = raw.query_one(budget, &[]).unwrap().get(0);
    assert_ne!(spent, unspent);
    let entry = "SELECT line FROM queryables_entries";
    let entry: String = raw.query_one(entry, &[]).unwrap().get(0);
    // As if that launch had never been.
    let reset = "UPDATE queryables_budgets SET version = 0, state = $1";
    raw.execute(reset, &[&unspent]).unwrap();
    raw.batch_execute("DELETE FROM queryables_entries").unwrap();

    // The same launch, step by step.
    let mut launch = raw.transaction().unwrap();
    launch.execute(LOCK, &[]).unwrap();
    let charge = "UPDATE queryables_budgets SET version = 1, state = $1";
    launch.execute(charge, &[&spent]).unwrap();
    let written = "INSERT INTO queryables_entries (sequence, line, amounts) VALUES (1, $1, '{}')";
    launch.execute(written, &[&entry]).unwrap();
    let released = std::thread::scope(|scope| {
        let second = scope.spawn(|| other.party("Ben").release(&Numbered::new(2, "0.6")));
        let waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while watch.query(waiting, &[]).unwrap().is_empty() && !second.is_finished() {
            std::thread::yield_now();
        }
        launch.commit().unwrap();
        second.join().unwrap()
    });
    let Err(LedgerError::Launch(LaunchError::Refused(refused))) = released else {
        panic!("{released:?}");
    };
    assert_eq!(refused.spent, epsilon("0.6"));
    assert_eq!(other.privacy_loss(), Ok(epsilon("0.6")));
    let numbers = "SELECT sequence FROM queryables_entries ORDER BY sequence";
    let numbers = watch.query(numbers, &[]).unwrap();
    let numbers: Vec<i64> = numbers.iter().map(|row| row.get(0)).collect();
    assert_eq!(numbers, [1, 2]);
}
