//! The program beside a real Sail: what it opens, and what it answers.

#[allow(dead_code)]
#[path = "../../tests/support/mod.rs"]
mod support;
#[allow(dead_code)]
#[path = "../../tests/visits/mod.rs"]
mod visits;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use support::{Kind, Server, sql};
use visits::Visits;

const PROGRAM: &str = env!("CARGO_BIN_EXE_queryables-server-spark");

fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

/// A token, and the hash that a curator's file has.
fn token() -> (String, String) {
    let made = String::from_utf8(run(&["token", "ana"]).stdout).unwrap();
    let token = made.lines().next().unwrap().rsplit(' ').next().unwrap();
    let hash = made.rsplit('"').nth(1).unwrap();
    (token.to_owned(), hash.to_owned())
}

fn file(source: &str, curator: &str, ana: &str) -> String {
    format!(
        r#"
listen = "127.0.0.1:0"

[curator]
token_sha256 = "{curator}"

[[analyst]]
name = "ana"
token_sha256 = "{ana}"

[[dataset]]
name = "visits"
data = {{ spark = {source} }}
ledger = {{ file = "visits.redb" }}
budget = {{ epsilon = "100" }}

[dataset.analysts]
ana = {{}}

[dataset.schema]
person = "person"
columns = [
    {{ name = "person", type = "whole" }},
    {{ name = "state", type = "whole" }},
    {{ name = "hours", type = "whole" }},
]
"#
    )
}

/// It ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(file: &str) -> (Program, String) {
    let mut command = Command::new(PROGRAM);
    let mut process = command
        .args(["serve", file])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = process.stdout.take().unwrap();
    let process = Program(process);
    BufReader::new(out).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://");
    (process, address.unwrap().to_owned())
}

fn release(address: &str, token: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/datasets/visits/release HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

/// Noise of ε = 40 is not zero with a probability below 10⁻¹⁷.
#[test]
fn rows_of_sail_are_served() {
    let Some(server) = Server::new(Kind::Sail) else {
        return;
    };
    let visits = Visits::new(&server);
    let ((_, curator), (token, ana)) = (token(), token());
    let path = server.folder().join("curator.toml");
    let curators_file = path.to_str().unwrap();
    let source = |engine: &str, parquet: &str| {
        format!(r#"{{ engine = "{engine}", rows = {{ parquet = ["{parquet}"] }} }}"#)
    };
    let write = |source: &str| std::fs::write(&path, file(source, &curator, &ana)).unwrap();

    write(&source(&server.remote(), visits.path()));
    let made = run(&["ledger", "create", curators_file, "visits"]);
    assert!(made.status.success(), "{made:?}");
    let (process, address) = serve(curators_file);
    let body = r#"{"count": {"where": "state = 3", "noise": {"laplace": {"epsilon": "40"}}}}"#;
    let reply = release(&address, &token, body);
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    let reply: serde_json::Value =
        serde_json::from_str(reply.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    // Every 40th of 15 000 people.
    assert_eq!(reply["answer"], 375.0, "{reply}");
    drop(process);

    // The same rows as a table of the catalog, which belongs to a session.
    let made = format!(
        "CREATE TABLE visits USING parquet LOCATION '{}'",
        visits.path()
    );
    sql::run(&server.session(), &made);
    let table = |name: &str| {
        let engine = server.session();
        format!(r#"{{ engine = "{engine}", rows = {{ table = ["{name}"] }} }}"#)
    };
    write(&table("visits"));
    let checked = run(&["check", curators_file]);
    assert!(checked.status.success(), "{checked:?}");

    // Sail finds no file there, and so no columns.
    let nowhere = source(&server.remote(), "/nowhere/visits.parquet");
    let no_column = "dataset \"visits\": the table has no column \"person\"\n";
    let no_table = "Table or view not found: visit\n";
    for (source, problem) in [(nowhere, no_column), (table("visit"), no_table)] {
        write(&source);
        let checked = run(&["check", curators_file]);
        assert!(!checked.status.success());
        let said = String::from_utf8(checked.stderr).unwrap();
        assert!(said.ends_with(problem), "{source}: {said}");
    }
}
