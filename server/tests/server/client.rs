//! The client in Python, against the server.

use std::process::Command;

use crate::support::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

fn python(arguments: &[&str]) -> String {
    let mut command = Command::new("python3");
    command.current_dir(FOLDER).arg("-B").args(arguments);
    let done = command.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn the_example_runs() {
    let server = Server::new(&Terms::default());
    let address = format!("http://{}", server.address);
    let said = python(&["client.py", &address, ANA]);
    assert!(
        said.contains("costs {'epsilon': '0.1'} and is within 30.0"),
        "{said}"
    );
    assert!(
        said.contains("half of the people are at most about"),
        "{said}"
    );
    assert_eq!(server.spent(), "0.2");
}

#[test]
fn errors_have_codes_and_retries_are_charged_once() {
    let server = Server::new(&Terms::default());
    let script = r#"
import sys
from client import Client, Problem
client = Client(sys.argv[1], sys.argv[2])
census = client.dataset("census")
ask = lambda epsilon: {"count": {"where": "age > 30", "noise": {"laplace": {"epsilon": epsilon}}}}
assert census.release(ask("0.1"), key="k") == census.release(ask("0.1"), key="k")
try:
    census.release(ask("5"))
except Problem as problem:
    assert problem.code == "refused", problem.code
    assert problem.problem["refused"]["remaining"] == "0.9"
share = census.open({"filter": {"name": "mine", "budget": {"epsilon": "0.2"}}})
assert share.release(ask("0.1"))["remaining"] == {"epsilon": "0.1"}
search = share.open({"above_threshold": {"threshold": 1000000, "hits": 1, "epsilon": "0.1"}})
search.ask("age > 200")
assert not search.exhausted
assert len(client.children()) == 2
search.close()
over_time = census.open({"continual_count": {"of": {"column": "age", "edges": [10, 40, 100]}, "noise": {"laplace": {"epsilon": "0.1"}}}})
assert isinstance(over_time.ask(time=2), int)
over_time.close()
found = census.open({"above_threshold": {"threshold": -1000000, "hits": 1, "epsilon": "0.1"}})
assert found.ask("age > 30") is True and found.exhausted
assert [one.exhausted for one in client.children() if hasattr(one, "exhausted")] == [True]
assert client.me() == {"name": "ana", "role": "analyst"}
try:
    search.ask("age > 200")
except Problem as problem:
    assert problem.code == "gone", problem.code
try:
    Client(sys.argv[1], "qs_nobody").datasets()
except Problem as problem:
    assert problem.code == "unauthorized", problem.code
print("done")
"#;
    let address = format!("http://{}", server.address);
    assert_eq!(python(&["-c", script, &address, ANA]), "done\n");
    assert_eq!(server.spent(), "0.5");
}
