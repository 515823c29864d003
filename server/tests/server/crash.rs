//! SIGKILL at any moment: no charge is lost, none is made twice, and a retry gets the same answer.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex};
use std::thread;

use serde_json::Value;

use crate::postgres;
use crate::support::*;

const CLIENTS: usize = 8;

/// With those on PostgreSQL, two hundred.
#[test]
fn a_hundred_kills_lose_no_charge_and_make_none_twice() {
    kills(100, &Terms::default());
}

#[test]
fn a_hundred_kills_on_postgresql_lose_no_charge_and_make_none_twice() {
    on_postgresql(1);
}

/// `cargo test -p queryables-server --test server -- --ignored --nocapture ten_thousand_kills`, or in
/// pieces: `KILLS=1000` before it makes a tenth of them.
#[test]
#[ignore = "takes a quarter of an hour"]
fn ten_thousand_kills_lose_no_charge_and_make_none_twice() {
    let number = std::env::var("KILLS").map_or(10_000, |number| number.parse().unwrap());
    let times = number / 200;
    thread::scope(|scope| {
        scope.spawn(move || on_postgresql(times));
        for _ in 0..times {
            kills(100, &Terms::default());
        }
    });
}

/// A hundred kills each time, every time with a new server of PostgreSQL.
fn on_postgresql(times: usize) {
    for time in 0..times {
        let Some(postgres) = postgres::Server::new(&format!("server-crash-{time}")) else {
            return;
        };
        let terms = Terms {
            ledger: format!("{{ postgres = {:?} }}", postgres.parameters()),
            ..Terms::default()
        };
        kills(100, &terms);
    }
}

/// What a key was answered; none if the answer was lost.
type Answers = BTreeMap<String, Option<Value>>;

/// Where the server is, which changes with every restart.
struct Address(Mutex<String>, Condvar);

impl Address {
    fn new(address: &str) -> Self {
        Self(Mutex::new(address.to_owned()), Condvar::new())
    }

    fn now(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn set(&self, address: &str) {
        *self.0.lock().unwrap() = address.to_owned();
        self.1.notify_all();
    }

    /// The server at this one was killed.
    fn wait_for_another(&self, old: &str) {
        let now = self.0.lock().unwrap();
        drop(self.1.wait_while(now, |now| now == old).unwrap());
    }
}

fn kills(number: u64, terms: &Terms) {
    let mut server = Server::new(&Terms {
        budget: r#"{ epsilon = "1000" }"#,
        ben: "{}",
        ..terms.clone()
    });
    let address = Address::new(&server.address);
    let end = AtomicBool::new(false);
    let (replied, replies) = channel();
    let answers: Answers = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (address, end, replied) = (&address, &end, replied.clone());
                scope.spawn(move || spend(client, address, end, &replied))
            })
            .collect();
        drop(replied);
        // Replies between two kills: from 1 to 24, in no order. Meanwhile other requests run.
        for kill in 0..number {
            for _ in 0..(kill * 7919 + 11) % 24 + 1 {
                replies.recv().unwrap();
            }
            server.kill_and_restart();
            address.set(&server.address);
        }
        end.store(true, Ordering::Relaxed);
        let clients = clients
            .into_iter()
            .flat_map(|client| client.join().unwrap());
        clients.collect()
    });
    assert!(answers.len() as u64 >= number, "{}", answers.len());
    // Every key was charged once, whatever became of its answer.
    let thousandths = answers.len();
    let spent: f64 = server.spent().parse().unwrap();
    assert_eq!((spent * 1000.0).round() as usize, thousandths);
    // And every answer is still the same.
    for (key, answer) in &answers {
        let reply = server.post_once(ANA, key, RELEASE, &count("age > 30", "0.001"));
        match answer {
            Some(answer) => assert_eq!(&reply.json["answer"], answer, "{key}"),
            None => assert_eq!(reply.code(), "interrupted", "{key}"),
        }
    }
    let text = server.spent();
    assert_eq!(text.parse::<f64>().unwrap(), spent);
    let lost = answers.values().filter(|answer| answer.is_none()).count();
    println!(
        "{} launches, {lost} interrupted, {number} kills",
        answers.len()
    );
    server.kill();
    let verified = run(&["ledger", "verify", &server.file(), "census"]);
    assert!(verified.status.success(), "{verified:?}");
}

/// Launches with one key after the other, each until the server says what became of it.
fn spend(client: usize, address: &Address, end: &AtomicBool, replied: &Sender<()>) -> Answers {
    let mut answers = Answers::new();
    for number in 0.. {
        let key = format!("{client}-{number}");
        loop {
            let place = address.now();
            let request = Ask::new("POST", RELEASE).token(ANA);
            let request = request.header("Idempotency-Key", &key);
            let request = request.json(&count("age > 30", "0.001"));
            let reply = match request.try_send(&place) {
                Ok(reply) => reply,
                // It stood still, and was not killed: the machine is busy.
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(_) => {
                    address.wait_for_another(&place);
                    continue;
                }
            };
            match (reply.status, reply.code()) {
                (200, _) => drop(answers.insert(key.clone(), Some(reply.json["answer"].clone()))),
                (_, "interrupted") => drop(answers.insert(key.clone(), None)),
                (_, "busy" | "too_many") => continue,
                _ => panic!("{key}: {}", reply.text),
            }
            // Nobody listens at the end.
            let _ = replied.send(());
            break;
        }
        if end.load(Ordering::Relaxed) {
            break;
        }
    }
    answers
}
