//! What a ledger costs: in memory beside a launch without one, in a file and in PostgreSQL beside the
//! same number of durable transactions of the store itself. Both sides are measured in turns.

#[allow(dead_code)]
#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use ledger::{PureFilter, pure};
use queryables::ledger::{Ledger, MemoryStore};
use queryables::machine::Description;
use queryables::prelude::*;
use redb::{Database, TableDefinition};
use support::Server;

/// A mechanism that computes nothing.
#[derive(Clone)]
struct Constant(Epsilon);

impl Mechanism<()> for Constant {
    type Machine = Released<bool>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(true))
    }
}

impl Private<PureDp, AddRemove> for Constant {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.0)
    }
}

/// The same, with two public parameters in its description, as most mechanisms have.
struct Described(Constant);

impl Mechanism<()> for Described {
    type Machine = Released<bool>;

    fn start(&self, data: &Arc<()>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        self.0.start(data, coins)
    }

    fn describe(&self) -> Description {
        Description::new("Described")
            .with("predicate", "at least 18")
            .with("epsilon", self.0.0)
    }
}

impl Private<PureDp, AddRemove> for Described {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.loss(measure)
    }
}

/// Nanoseconds for each operation: the lower decile of blocks that take turns.
fn in_turns(operations: &mut [(&str, &mut dyn FnMut())]) {
    const BLOCKS: usize = 2000;
    const EACH: u32 = 200;
    let mut times = vec![vec![]; operations.len()];
    for _ in 0..BLOCKS {
        for ((_, operation), times) in operations.iter_mut().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..EACH {
                operation();
            }
            times.push(start.elapsed().as_nanos() as f64 / f64::from(EACH));
        }
    }
    let mut first = None;
    for ((name, _), mut times) in operations.iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let time = times[BLOCKS / 10];
        let without = *first.get_or_insert(time);
        println!("{name:44} {time:8.1} ns, {:+.1}", time - without);
    }
}

fn memory() {
    let loss: Epsilon = "1e-9".parse().unwrap();
    let constant = Constant(loss);
    let described = Described(constant.clone());
    let filter = Filter::concurrent(PureDp, "1e9".parse().unwrap());
    let bare = start(&filter, Arc::new(())).unwrap();
    let silent = Ledger::on(MemoryStore::without_record(), "numbers").unwrap();
    let silent = pure(&silent, "census", "1e9").party("Ana");
    let recording = Ledger::in_memory("numbers").unwrap();
    let recording = pure(&recording, "census", "1e9").party("Ana");
    in_turns(&mut [
        ("launch without a ledger", &mut || {
            drop(black_box(bare.release(&constant)));
        }),
        ("in memory, without a record", &mut || {
            drop(black_box(silent.release(&constant)));
        }),
        ("in memory, with a record", &mut || {
            drop(black_box(recording.release(&constant)));
        }),
        ("the same, of two parameters", &mut || {
            drop(black_box(recording.release(&described)));
        }),
        ("two parameters as text, without a launch", &mut || {
            drop(black_box(described.describe()));
        }),
    ]);
}

/// Runs on several threads for a while, once all of them are ready; how many in a second.
fn rate(threads: usize, run: &(dyn Fn(usize) -> Box<dyn FnMut()> + Sync)) -> f64 {
    const TIME: Duration = Duration::from_millis(500);
    let ready = Barrier::new(threads);
    std::thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads)
            .map(|thread| {
                let ready = &ready;
                scope.spawn(move || {
                    let mut run = run(thread);
                    ready.wait();
                    let (start, mut count) = (Instant::now(), 0_u32);
                    while start.elapsed() < TIME {
                        run();
                        count += 1;
                    }
                    f64::from(count) / start.elapsed().as_secs_f64()
                })
            })
            .collect();
        let joined = spawned.into_iter().map(|thread| thread.join().unwrap());
        joined.sum()
    })
}

type Run<'a> = &'a (dyn Fn(usize) -> Box<dyn FnMut()> + Sync);

/// Launches, and what the store does by itself, in turns: rates in a second, and ratios.
fn compare(store: &str, threads: usize, launches: Run<'_>, alone: &[(&str, Run<'_>)]) {
    const ROUNDS: usize = 6;
    let mut own = 0.0;
    let mut rates = vec![0.0; alone.len()];
    for _ in 0..ROUNDS {
        own += rate(threads, launches) / ROUNDS as f64;
        for ((_, run), total) in alone.iter().zip(&mut rates) {
            *total += rate(threads, *run) / ROUNDS as f64;
        }
    }
    println!("{store}, {threads} at a time: {own:.0} launches/s");
    for ((name, _), rate) in alone.iter().zip(rates) {
        println!("    {name}: {rate:.0}/s; {:.2} of it", own / rate);
    }
}

fn launching(filter: &PureFilter, thread: usize) -> Box<dyn FnMut()> {
    let party = filter.party(&thread.to_string());
    let constant = Constant("1e-9".parse().unwrap());
    Box::new(move || {
        black_box(party.release(&constant).unwrap());
    })
}

const TABLE: TableDefinition<u64, &str> = TableDefinition::new("entries");
/// As long as an entry.
const LINE: &str = "a line of the length that an entry of the record has, which is a few hundred bytes: \
    sequence, time, filter, party, measure of the loss, measure of the budget, relation, distance, \
    mechanism with its parameters, loss, decision, what is spent after it, quotas, key, and a checksum; \
    whatever else a launch writes is short beside it, and goes into the same transaction as this line does.";

fn file(path: &Path) {
    let ledger = Ledger::create(path.join("ledger.redb"), "numbers").unwrap();
    let filter = pure(&ledger, "census", "1e9");
    let database = Arc::new(Database::create(path.join("raw.redb")).unwrap());
    let commit: Run<'_> = &|thread| {
        let database = Arc::clone(&database);
        let mut next = thread as u64;
        Box::new(move || {
            let mut write = database.begin_write().unwrap();
            write.set_two_phase_commit(true);
            write.open_table(TABLE).unwrap().insert(next, LINE).unwrap();
            write.commit().unwrap();
            next += 8;
        })
    };
    for threads in [1, 8] {
        compare(
            "redb",
            threads,
            &|thread| launching(&filter, thread),
            &[("transactions of its own", commit)],
        );
    }
}

fn server() {
    let Some(server) = Server::new("bench") else {
        return;
    };
    let parameters = server.parameters();
    drop(pure(&server.ledger(), "census", "1e9"));
    let mut client = postgres::Client::connect(&parameters, postgres::NoTls).unwrap();
    let tables = "CREATE TABLE raw (line json); CREATE TABLE one (count bigint, line json); \
                  INSERT INTO one VALUES (0, 'null')";
    client.batch_execute(tables).unwrap();
    let execute = |text: &str| -> Box<dyn FnMut()> {
        let mut client = postgres::Client::connect(&parameters, postgres::NoTls).unwrap();
        let statement = client.prepare(text).unwrap();
        Box::new(move || {
            client.execute(&statement, &[&LINE]).unwrap();
        })
    };
    let insert: Run<'_> = &|_| execute("INSERT INTO raw VALUES (to_json($1::text))");
    // All launches in a filter change one row, and nobody can change a row faster than this.
    let update: Run<'_> =
        &|_| execute("UPDATE one SET count = count + 1, line = to_json($1::text)");
    let shared = pure(&server.ledger(), "census", "1e9");
    let one: Run<'_> = &|thread| launching(&shared, thread);
    let each: Run<'_> = &|thread| launching(&pure(&server.ledger(), "census", "1e9"), thread);
    // A filter that was charged once, as a whole, and spends in memory.
    let share = shared.party("share");
    let share = share
        .launch(&Filter::concurrent(PureDp, "1e6".parse().unwrap()))
        .unwrap();
    let in_memory: Run<'_> = &|_| {
        let share = share.clone();
        let constant = Constant("1e-9".parse().unwrap());
        Box::new(move || {
            black_box(share.release(&constant).unwrap());
        })
    };
    let alone = [
        ("inserts", insert),
        ("updates of one row", update),
        ("launches in a share, in memory", in_memory),
    ];
    compare("PostgreSQL", 1, each, &alone);
    compare("PostgreSQL, a connection each", 8, each, &alone);
    compare("PostgreSQL, one connection", 8, one, &alone);
}

/// Everything, or the stores that are named on the command line: memory, redb, postgres.
fn main() {
    let mut named: Vec<String> = std::env::args().skip(1).collect();
    named.retain(|argument| !argument.starts_with('-'));
    let wanted = |store: &str| named.is_empty() || named.iter().any(|name| name == store);
    if wanted("memory") {
        memory();
    }
    if wanted("redb") {
        // On a disk: a sync in memory costs nothing.
        let folder = std::env::temp_dir().join(format!("queryables-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        file(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
    }
    if wanted("postgres") {
        server();
    }
}
