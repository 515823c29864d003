//! An engine that is slow, or fails in the middle: what is charged, and what is said.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::postgres;
use crate::support::*;

/// 5000 people in PostgreSQL.
fn people(name: &str) -> Option<(postgres::Server, Server)> {
    let postgres = postgres::Server::new(name)?;
    let mut psql = Psql::new(&postgres);
    let columns = "(17 + i % 70)::bigint AS age, 'Male'::text AS sex, 40::bigint AS hours_per_week";
    psql.run(&format!(
        "CREATE TABLE people AS SELECT {columns} FROM generate_series(1, 5000) AS i"
    ));
    let connection = postgres.parameters();
    let server = Server::new(&Terms {
        data: format!("{{ postgres = {{ connection = {connection:?}, table = \"people\" }} }}"),
        ..Terms::default()
    });
    Some((postgres, server))
}

/// A session of the operator.
struct Psql(Child);

impl Psql {
    fn new(postgres: &postgres::Server) -> Self {
        let folder = postgres.folder().to_str().unwrap();
        let mut psql = Command::new("psql");
        psql.args(["-q", "-h", folder, "-U", "queryables", "postgres"]);
        psql.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(psql.spawn().unwrap())
    }

    /// Returns when it is done.
    fn run(&mut self, statement: &str) {
        let stdin = self.0.stdin.as_mut().unwrap();
        writeln!(stdin, "{statement};\n\\echo done").unwrap();
        let mut line = String::new();
        let stdout = self.0.stdout.as_mut().unwrap();
        BufReader::with_capacity(1, stdout)
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "done\n");
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Sends the same request twice while the table is locked. One of them holds its key or its child and
/// waits for the table, so the first reply is to the other; the second comes when the lock is gone.
fn twice(
    server: &Server,
    psql: &mut Psql,
    path: &str,
    key: Option<&str>,
    body: &Value,
) -> [Reply; 2] {
    psql.run("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE");
    let (replied, replies) = channel();
    thread::scope(|scope| {
        for _ in 0..2 {
            let replied = replied.clone();
            scope.spawn(move || {
                let reply = match key {
                    Some(key) => server.post_once(ANA, key, path, body),
                    None => server.post(ANA, path, body),
                };
                replied.send(reply).unwrap();
            });
        }
        let first = replies.recv().unwrap();
        psql.run("COMMIT");
        [first, replies.recv().unwrap()]
    })
}

#[test]
fn what_is_being_answered_is_busy_and_charged_once() {
    let Some((postgres, server)) = people("server-busy") else {
        return;
    };
    let mut psql = Psql::new(&postgres);
    let question = count("age >= 17", "0.1");
    let [other, answered] = twice(&server, &mut psql, RELEASE, Some("k"), &question);
    assert_eq!((other.status, other.code()), (503, "busy"));
    assert!(other.head.to_ascii_lowercase().contains("retry-after: 1"));
    assert_eq!(answered.status, 200, "{}", answered.text);
    assert_eq!(server.spent(), "0.1");
    // Tried again, as it says: the same answer, and no other charge.
    let again = server.post_once(ANA, "k", RELEASE, &question);
    assert_eq!(again.json, answered.json);
    assert_eq!(server.spent(), "0.1");

    // With ε = 0.5 a count is on the wrong side by 2500 with probability below 1e-9.
    let child = server.post(ANA, CHILDREN, &search(2500, "0.5")).json;
    let path = format!("/v1/children/{}/ask", child["child"].as_str().unwrap());
    let asked = ask(0, "age >= 17");
    let [other, answered] = twice(&server, &mut psql, &path, None, &asked);
    assert_eq!((other.status, other.code()), (503, "busy"));
    assert_eq!(answered.json["answer"], true, "{}", answered.text);
    assert_eq!(server.post(ANA, &path, &asked).json, answered.json);
    assert_eq!(server.spent(), "0.6");
}

/// The table is lost between the question whether the engine answers and the tally: the launch was
/// charged before, and the charge stands.
#[test]
fn an_engine_that_fails_after_the_charge_is_charged_and_says_nothing() {
    let Some((postgres, server)) = people("server-failed") else {
        return;
    };
    Psql::new(&postgres).run("DROP TABLE people");
    let reply = server.post_once(ANA, "k", RELEASE, &count("age >= 17", "0.1"));
    assert_eq!((reply.status, reply.code()), (500, "failed"));
    assert_eq!(reply.json["detail"], json!(null));
    assert!(!reply.text.contains("people"), "{}", reply.text);
    assert_eq!(server.spent(), "0.1");
    // Its key has no answer, and never will.
    let again = server.post_once(ANA, "k", RELEASE, &count("age >= 17", "0.1"));
    assert_eq!(again.code(), "interrupted");
    assert_eq!(server.spent(), "0.1");
}

/// SIGTERM while the engine does not answer: the server ends all the same, and the charge stands.
#[test]
fn a_server_ends_although_its_engine_does_not_answer() {
    let Some((postgres, mut server)) = people("server-end") else {
        return;
    };
    let mut psql = Psql::new(&postgres);
    psql.run("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE");
    let question = count("age >= 17", "0.1");
    let (replied, replies) = channel();
    thread::scope(|scope| {
        for _ in 0..2 {
            let request = Ask::new("POST", RELEASE).token(ANA);
            let request = request.header("Idempotency-Key", "k").json(&question);
            let (replied, address) = (replied.clone(), server.address.clone());
            scope.spawn(move || {
                if let Ok(reply) = request.try_send(&address) {
                    replied.send(reply.code().to_owned()).unwrap();
                }
            });
        }
        drop(replied);
        // The other one has been charged, or will be, and waits for the table.
        assert_eq!(replies.recv().as_deref(), Ok("busy"));
        let begun = Instant::now();
        let id = server.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.unwrap().success());
        assert!(server.wait());
        // Twenty seconds are for what runs.
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(35), "{took:?}");
        assert!(replies.recv().is_err(), "there was an answer");
    });
    psql.run("COMMIT");
    server.start();
    let again = server.post_once(ANA, "k", RELEASE, &question);
    assert_eq!(again.code(), "interrupted");
    assert_eq!(server.spent(), "0.1");
}
