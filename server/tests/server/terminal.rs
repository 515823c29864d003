//! `ask`, for scripts and as a prompt.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::*;

fn ask(server: &Server, token: &str, arguments: &[&str], typed: &str) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_queryables-server"))
        .args(["ask", &format!("http://{}", server.address)])
        .args(arguments)
        .env("QUERYABLES_TOKEN", token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    input.write_all(typed.as_bytes()).unwrap();
    drop(input);
    process.wait_with_output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_script_gets_json_and_a_problem_is_a_failure() {
    let server = Server::new(&Terms::default());
    let question = "count where age >= 40 by sex with epsilon 0.1";
    let reply = |arguments: &[&str]| {
        let done = ask(&server, ANA, arguments, "");
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    let seen = reply(&["--preview", "census", question]);
    assert_eq!(seen["launches_left"], 10);
    assert_eq!(server.spent(), "0");
    let first = reply(&["--key", "k", "census", question]);
    assert_eq!(first["answer"]["columns"], json!(["sex"]));
    assert_eq!(reply(&["--key", "k", "census", question]), first);
    assert_eq!(server.spent(), "0.1");

    let refused = ask(&server, ANA, &["census", "count with epsilon 5"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(text(refused.stdout), "");
    let said = text(refused.stderr);
    assert!(
        said.starts_with("refused: The budget does not allow it."),
        "{said}"
    );
    assert!(
        said.contains("requested 5") && said.contains("remaining 0.9"),
        "{said}"
    );
    let said = text(ask(&server, "qs_wrong", &["census", question], "").stderr);
    assert_eq!(said, "unauthorized: A valid token is needed.\n");
}

#[test]
fn a_prompt_asks_two_searches_in_turn() {
    let server = Server::new(&Terms::default());
    // What a threshold of a million more or less says is certain, but for e^-1000.
    let typed = "\
columns
preview count with epsilon 0.1
search above 1000000 with epsilon 0.1
search above -1000000 with epsilon 0.1
ask 1 age > 30
ask 2 age > 30
ask 1 age > 31
ask 2 age > 31
close 1
ask 1 age > 32
count with epsilon 5
median with epsilon 1
quit
count with epsilon 0.1
";
    let done = ask(&server, ANA, &[], typed);
    assert!(done.status.success(), "{done:?}");
    let said = text(done.stdout);
    let mut lines = said.lines();
    for wanted in [
        "census has epsilon 1 left of epsilon 1; `help` says what can be asked",
        "age whole [17,90]",
        "costs epsilon 0.1, fits 10 times, error bar ± 30 (0.95)",
        "child 1 is open",
        "cost epsilon 0.1, left epsilon 0.9",
        "child 2 is open",
        "below the threshold",
        "above the threshold",
        "below the threshold",
        "closed: It answers no more.",
        "  it has given all its answers",
        "closed: what it cost stands",
        "gone: There is no such child: it has ended, or never was.",
        "refused: The budget does not allow it.",
        "\"median\" is not known",
    ] {
        assert!(
            lines.any(|line| line.starts_with(wanted)),
            "{wanted}\n{said}"
        );
    }
    assert_eq!(server.spent(), "0.2");
}
