//! The server's processes are killed in the middle of queries.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use queryables::mechanisms::query::Unavailable;
use queryables::prelude::*;
use queryables::table::{Amount, Bound, Column, Grouping, Kind, Parts, Plan, Schema, Table};
use queryables_postgres::PostgresTable;

use crate::connect;
use crate::support::Server;

const ROWS: i64 = 200_000;

/// Several rows for each of a quarter as many people.
fn visits(server: &Server) -> Schema {
    let rows = format!(
        "CREATE TABLE visits AS SELECT row * 7919 % {} AS person, row % 5 AS state, row % 101 AS hours \
         FROM generate_series(1::bigint, {ROWS}) AS row",
        ROWS / 4
    );
    connect(server).batch_execute(&rows).unwrap();
    let columns = ["person", "state", "hours"].map(|name| Column::new(name, Kind::Whole));
    Schema::of_people("person", columns).unwrap()
}

fn plan(schema: &Schema) -> Plan {
    let amount = Amount::of(schema.number("hours").unwrap(), 0, 0, 100).unwrap();
    let states = Grouping::keys(schema, "state", [0, 1, 2, 3, 4]).unwrap();
    let amount = (amount, Parts::Value);
    Plan::new(schema, None, amount, vec![states], Bound::L2(90)).unwrap()
}

/// The process that answers a tally now.
const ANSWERING: &str = "SELECT pid FROM pg_stat_activity \
    WHERE state = 'active' AND query LIKE 'WITH kept%' AND pid <> pg_backend_pid() LIMIT 1";

/// Kills the process of a tally, once in a way that ends its connection, once in a way that makes the
/// server end all processes and recover; whether there was one.
fn kill(server: &Server, hard: bool) -> bool {
    let Ok(mut client) = postgres::Client::connect(&server.parameters(), postgres::NoTls) else {
        // It recovers.
        return false;
    };
    let Ok(Some(row)) = client.query_opt(ANSWERING, &[]) else {
        return false;
    };
    let process: i32 = row.get(0);
    if hard {
        let process = process.to_string();
        Command::new("kill")
            .args(["-KILL", &process])
            .status()
            .unwrap()
            .success()
    } else {
        let ended = client.query_one("SELECT pg_terminate_backend($1)", &[&process]);
        ended.is_ok_and(|row| row.get(0))
    }
}

/// Tallies until this number of processes was killed.
fn tally_while_processes_are_killed(name: &str, kills: usize) {
    let Some(server) = Server::new(name) else {
        return;
    };
    let schema = visits(&server);
    let table = PostgresTable::open(&server.parameters(), "public", "visits", &schema).unwrap();
    let plan = plan(&schema);
    let expected = table.tally(&plan).unwrap();
    let done = AtomicBool::new(false);
    let (killed, right, unavailable) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    match table.tally(&plan) {
                        Ok(found) => {
                            assert_eq!(found, expected);
                            right.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(Unavailable) => {
                            unavailable.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
        while killed.load(Ordering::Relaxed) < kills {
            let number = killed.load(Ordering::Relaxed);
            if kill(&server, number % 4 == 3) {
                killed.fetch_add(1, Ordering::Relaxed);
            }
            if right.load(Ordering::Relaxed) + unavailable.load(Ordering::Relaxed) > 1_000_000 {
                panic!("nothing is killed");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(unavailable.into_inner() > 0);
    // The table goes on with new connections, once the server has recovered.
    let found = std::iter::repeat_with(|| table.tally(&plan)).find(Result::is_ok);
    assert_eq!(found, Some(Ok(expected)));
}

#[test]
fn a_killed_tally_is_right_or_unavailable() {
    tally_while_processes_are_killed("killed", 20);
}

#[test]
#[ignore = "takes minutes: cargo test -p queryables-postgres --test asked -- --ignored"]
fn a_tally_that_is_killed_100_times_is_right_or_unavailable() {
    tally_while_processes_are_killed("kills", 100);
}

const KILLED_LAUNCHES: usize = 8;

/// Each launch is charged once, whether its tally was killed or not, and however often it was tried.
#[test]
fn a_killed_launch_is_charged_once() {
    let Some(server) = Server::new("charged") else {
        return;
    };
    let schema = visits(&server);
    let table = PostgresTable::open(&server.parameters(), "public", "visits", &schema).unwrap();
    let filter = Filter::concurrent(PureDp, epsilon!(1000));
    let filter = start(&filter, Arc::new(table)).unwrap();
    let hours = schema.sum("hours").unwrap().clamped(0..=100);
    let hours = hours.laplace(epsilon!(1)).unwrap();
    let (done, killed) = (AtomicBool::new(false), AtomicUsize::new(0));
    let launches = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Nobody else tallies: what is killed is a launch.
                let hit = kill(&server, false);
                killed.fetch_add(usize::from(hit), Ordering::Relaxed);
            }
        });
        let mut launches = Vec::new();
        while killed.load(Ordering::Relaxed) < KILLED_LAUNCHES && launches.len() < 900 {
            launches.push(filter.release(&hours));
        }
        done.store(true, Ordering::Relaxed);
        launches
    });
    let killed = killed.into_inner();
    assert!(killed >= KILLED_LAUNCHES, "{killed} launches were killed");
    let mut charged = 0;
    for launch in launches {
        match launch {
            Ok(_) | Err(LaunchError::Failed) => charged += 1,
            // The connection was killed between two launches.
            Err(LaunchError::DomainMismatch(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    let spent = filter.privacy_loss();
    assert_eq!(spent.to_string(), charged.to_string());
}

/// Nothing is charged where the server does not answer at all.
#[test]
fn a_server_that_is_gone_is_noticed_before_the_charge() {
    let Some(mut server) = Server::new("gone") else {
        return;
    };
    let schema = visits(&server);
    let table = PostgresTable::open(&server.parameters(), "public", "visits", &schema).unwrap();
    let filter = Filter::concurrent(PureDp, epsilon!(3));
    let filter = start(&filter, Arc::new(table)).unwrap();
    let count = schema.count().laplace(epsilon!(1)).unwrap();
    assert!(filter.release(&count).is_ok());
    // In order: where the server is killed, its processes may answer for a moment.
    server.stop();
    let refused = filter.release(&count).unwrap_err();
    let why = "the engine that holds it does not answer: nothing is charged, try again";
    assert_eq!(
        refused,
        LaunchError::DomainMismatch(queryables::machine::DomainMismatch(why))
    );
    assert_eq!(filter.privacy_loss(), epsilon!(1));
    server.restart();
    assert!(filter.release(&count).is_ok());
    assert_eq!(filter.privacy_loss(), epsilon!(2));
}

/// A statement that takes too long is stopped, on the server too.
#[test]
fn a_tally_that_takes_too_long_is_unavailable() {
    let Some(server) = Server::new("late") else {
        return;
    };
    let schema = visits(&server);
    let table = PostgresTable::open(&server.parameters(), "public", "visits", &schema).unwrap();
    let table = table.with_time_limit(std::time::Duration::from_millis(1));
    assert_eq!(table.tally(&plan(&schema)), Err(Unavailable));
    // Its process says so a moment later.
    let mut client = connect(&server);
    let mut running = std::iter::repeat_with(|| client.query(ANSWERING, &[]).unwrap().len());
    assert!(running.by_ref().take(1_000).any(|running| running == 0));
}
