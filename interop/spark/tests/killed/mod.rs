//! Servers and their processes are killed in the middle of queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use queryables::machine::DomainMismatch;
use queryables::mechanisms::query::Unavailable;
use queryables::prelude::*;
use queryables::table::Table;
use queryables_spark::SparkEngine;
use tables::Draw;

use crate::support::proxy::Proxy;
use crate::support::{self, Kind, Server};
use crate::visits::Visits;

/// What came of queries.
#[derive(Debug, Default)]
struct Came {
    right: AtomicU64,
    unavailable: AtomicU64,
}

/// An engine whose connection the test sees.
pub struct Asked {
    pub visits: Visits,
    pub proxy: Proxy,
    pub engine: SparkEngine,
}

impl Asked {
    pub fn new(server: &Server) -> Self {
        let proxy = Proxy::new(server.port());
        let engine = SparkEngine::open(&proxy.remote()).unwrap();
        Self {
            visits: Visits::new(server),
            proxy,
            engine,
        }
    }

    /// Its session, for another client.
    pub fn session(&self, server: &Server) -> String {
        format!("{}/;session_id={}", server.remote(), self.proxy.session())
    }
}

/// Tallies until this number of kills was made, each after the server has said something a few times more.
/// Every other launch is held against the budget.
fn ask_while(
    server: &mut Server,
    asked: &Asked,
    kills: u64,
    kill: impl Fn(&mut Server, u64) -> bool,
) -> Came {
    let Asked {
        visits,
        proxy,
        engine,
    } = asked;
    let open = || engine.parquet(&[visits.path()], &visits.schema).unwrap();
    let (table, asked) = (open(), Arc::new(open()));
    let filter = Filter::concurrent(PureDp, epsilon!(100000));
    let filter = start(&filter, asked).unwrap();
    let hours = visits.schema.sum("hours").unwrap().clamped(0..=100);
    let hours = hours.laplace(epsilon!(1)).unwrap();
    let (came, done) = (Came::default(), AtomicBool::new(false));
    let mut draw = Draw::new(kills);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut charged = 0_u64;
            while !done.load(Ordering::Relaxed) {
                match table.tally(&visits.plan) {
                    Ok(found) => {
                        assert_eq!(found, visits.totals);
                        came.right.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(Unavailable) => {
                        came.unavailable.fetch_add(1, Ordering::Relaxed);
                    }
                }
                match filter.release(&hours) {
                    Ok(_) | Err(LaunchError::Failed) => charged += 1,
                    // It was not there before the charge.
                    Err(LaunchError::DomainMismatch(DomainMismatch(_))) => {}
                    Err(other) => panic!("{other}"),
                }
                assert_eq!(filter.privacy_loss().to_string(), charged.to_string());
            }
        });
        let mut made = 0;
        while made < kills && !asking.is_finished() {
            proxy.wait_for(1 + draw.below(12) as u64);
            made += u64::from(kill(server, made));
        }
        done.store(true, Ordering::Relaxed);
    });
    // It goes on where it is.
    assert_eq!(table.tally(&visits.plan), Ok(visits.totals.clone()));
    came
}

fn kill_server(server: &mut Server, _: u64) -> bool {
    server.kill();
    server.restart();
    true
}

/// One of its executors, if they are there.
fn kill_executor(server: &mut Server, number: u64) -> bool {
    let executors = server.executors();
    let executor = executors.get(number as usize % executors.len().max(1));
    executor.is_some_and(|executor| support::kill(*executor))
}

/// How many questions were in the middle when the server was killed depends on the machine: some must have
/// been, or the kills say nothing.
fn sail_is_killed(kills: u64) {
    if let Some(mut server) = Server::new(Kind::Sail) {
        let asked = Asked::new(&server);
        let came = ask_while(&mut server, &asked, kills, kill_server);
        println!("Sail: {kills} kills, {came:?}");
        assert!(came.unavailable.into_inner() > 0);
        assert!(came.right.into_inner() > 0);
    }
}

pub fn executors_are_killed(server: &mut Server, asked: &Asked, kills: u64) {
    let came = ask_while(server, asked, kills, kill_executor);
    // On a slow machine all kills may fall into one tally. The one after them is right (`ask_while`).
    println!("Spark: {kills} executors killed, {came:?}");
}

#[test]
fn tallies_of_sail_are_right_or_unavailable_while_it_is_killed() {
    sail_is_killed(12);
}

#[test]
#[ignore = "takes minutes: the command is in CONTRIBUTING.md"]
fn tallies_of_sail_are_right_or_unavailable_while_it_is_killed_60_times() {
    sail_is_killed(60);
}

#[test]
#[ignore = "takes minutes: the command is in CONTRIBUTING.md"]
fn tallies_of_spark_are_right_or_unavailable_while_it_is_killed_40_times() {
    if let Some(mut server) = Server::new(Kind::Spark) {
        let asked = Asked::new(&server);
        executors_are_killed(&mut server, &asked, 34);
        let came = ask_while(&mut server, &asked, 6, kill_server);
        println!("Spark: 6 kills, {came:?}");
    }
}

/// Nothing is charged where the engine does not answer at all.
#[test]
fn an_engine_that_is_gone_is_noticed_before_the_charge() {
    let Some(mut server) = Server::new(Kind::Sail) else {
        return;
    };
    let visits = Visits::new(&server);
    let engine = SparkEngine::open(&server.remote()).unwrap();
    let table = engine.parquet(&[visits.path()], &visits.schema).unwrap();
    let filter = Filter::concurrent(PureDp, epsilon!(3));
    let filter = start(&filter, Arc::new(table)).unwrap();
    let count = visits.schema.count().laplace(epsilon!(1)).unwrap();
    assert!(filter.release(&count).is_ok());
    server.kill();
    let refused = filter.release(&count).unwrap_err();
    let why = "the engine that holds it does not answer: nothing is charged, try again";
    assert_eq!(refused, LaunchError::DomainMismatch(DomainMismatch(why)));
    assert_eq!(filter.privacy_loss(), epsilon!(1));
    server.restart();
    assert!(filter.release(&count).is_ok());
    assert_eq!(filter.privacy_loss(), epsilon!(2));
}

/// What takes too long is given up; the session goes on.
pub fn a_tally_that_takes_too_long_is_unavailable(visits: &Visits, engine: &SparkEngine) {
    let open = || engine.parquet(&[visits.path()], &visits.schema).unwrap();
    let (table, late) = (open(), open().with_time_limit(Duration::from_millis(1)));
    for _ in 0..3 {
        assert_eq!(late.tally(&visits.plan), Err(Unavailable));
        let keys = late.tally_keys(None, "state");
        assert_eq!(keys, Err(Unavailable));
    }
    assert_eq!(table.tally(&visits.plan), Ok(visits.totals.clone()));
}

#[test]
fn a_tally_of_sail_that_takes_too_long_is_unavailable() {
    if let Some(server) = Server::new(Kind::Sail) {
        let engine = SparkEngine::open(&server.remote()).unwrap();
        a_tally_that_takes_too_long_is_unavailable(&Visits::new(&server), &engine);
    }
}
