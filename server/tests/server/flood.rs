//! Many hostile requests in turn: none is answered, none says anything but its code, and the process does
//! not grow.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::json;

use crate::support::*;

const THREADS: u64 = 8;
/// Clients that begin a request and never end it, at the same time.
const SLOW: usize = 64;
/// How much the process may grow after the first tenth of the requests. A leak of a kilobyte for each
/// request of the long run would be a hundred times that of the short one.
const MOST_GROWTH_KIB: u64 = 32 << 10;

#[test]
fn hostile_requests_are_refused_in_bounded_memory() {
    flood(5_000);
}

/// `cargo test -p queryables-server --test server -- --ignored --nocapture a_hundred_thousand`
#[test]
#[ignore = "takes some minutes"]
fn a_hundred_thousand_hostile_requests_are_refused_in_bounded_memory() {
    flood(100_000);
}

/// Resident memory of a process, in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A request, and the code that it must get; none where there may be no reply at all.
fn hostile(turn: u64, child: &str, key: &str) -> (Ask, Option<&'static str>) {
    let question = count("age > 30", "0.001");
    let post = |path: &str, token: &str| Ask::new("POST", path).token(token);
    let forged = format!("qs_{turn:064x}");
    let random = format!(
        "{:032x}",
        u128::from(turn).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_0c8d)
    );
    match turn % 20 {
        0 => (post(RELEASE, &forged).json(&question), Some("unauthorized")),
        1 => (post(RELEASE, OLD).json(&question), Some("unauthorized")),
        2 => (post(RELEASE, EVE).json(&question), Some("unknown_dataset")),
        3 => (
            post(&format!("/v1/children/{child}/ask"), BEN).json(&ask(0, "age > 30")),
            Some("gone"),
        ),
        4 => (
            post(&format!("/v1/children/{random}/ask"), ANA).json(&ask(0, "age > 30")),
            Some("gone"),
        ),
        // Replayed with another body.
        5 => {
            let replayed = post(RELEASE, ANA).header("Idempotency-Key", key);
            (replayed.json(&count("age > 31", "0.001")), Some("conflict"))
        }
        6 => (
            post(RELEASE, ANA).body(&vec![b'['; 66 << 10]),
            Some("too_large"),
        ),
        7 => {
            let deep = ["[".repeat(20_000), "]".repeat(20_000)].concat();
            (post(PREVIEW, ANA).body(deep.as_bytes()), Some("too_large"))
        }
        8 => (
            post(PREVIEW, ANA).body(&[0xff; 100]),
            Some("invalid_request"),
        ),
        9 => {
            let nested = format!("{}age > 1{}", "not (".repeat(5000), ")".repeat(5000));
            (
                post(PREVIEW, ANA).json(&count(&nested, "0.1")),
                Some("invalid_query"),
            )
        }
        10 => {
            let host = format!("{random}.example");
            (
                Ask::new("GET", "/v1/datasets").token(ANA).host(&host),
                Some("forbidden"),
            )
        }
        11 => (
            Ask::new("PATCH", RELEASE).token(ANA),
            Some("method_not_allowed"),
        ),
        12 => (Ask::new("GET", &format!("/{random}")), Some("not_found")),
        // A head that is too long is refused by the HTTP library, or the connection is closed.
        13 => (Ask::new("GET", "/").header("X", &random.repeat(2000)), None),
        14 => {
            let token = format!("eyJhbGciOiJub25lIn0.{random}.");
            (
                Ask::new("GET", "/v1/me").token(&token),
                Some("unauthorized"),
            )
        }
        15 => (
            post(RELEASE, ANA).json(&count("age > 30", "9")),
            Some("refused"),
        ),
        16 => (
            post(RELEASE, BEN).json(&count(&format!("x{random} > 1"), "0.1")),
            Some("unknown_column"),
        ),
        17 => (Ask::new("GET", "/metrics").token(BEN), Some("forbidden")),
        18 => (
            Ask::new("GET", "/v1/datasets/census/record").token(ANA),
            Some("forbidden"),
        ),
        // More groups than an answer may have, in few bytes.
        _ => {
            let edges: Vec<u32> = (0..300).collect();
            let by = json!([{"column": "age", "edges": edges}, {"column": "age", "edges": edges}]);
            let body = json!({"count": {"by": by, "noise": {"laplace": {"epsilon": "0.1"}}}});
            (post(PREVIEW, ANA).json(&body), Some("invalid_query"))
        }
    }
}

fn flood(number: u64) {
    let server = Server::new(&Terms {
        limits: "requests_per_minute = 4000000000\nbytes_per_minute = 4000000000\n\
                 seconds_per_minute = 4000000000\nrunning = 64",
        ..Terms::default()
    });
    let (key, next) = ("the first", AtomicU64::new(0));
    let question = count("age > 30", "0.001");
    let first = server.post_once(ANA, key, RELEASE, &question);
    let child = server.post(ANA, CHILDREN, &search(1000, "0.1")).json["child"]
        .as_str()
        .unwrap()
        .to_owned();
    let slow = || -> Vec<TcpStream> {
        let connect = |_| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream
                .write_all(b"POST /v1/datasets/census/release HTTP/1.1\r\nHos")
                .unwrap();
            stream
        };
        (0..SLOW).map(connect).collect()
    };
    let run = |until: u64| {
        let _slow = slow();
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        if turn >= until {
                            return;
                        }
                        let (request, code) = hostile(turn, &child, key);
                        let reply = request.try_send(&server.address);
                        if let Some(code) = code {
                            let reply = reply.unwrap_or_else(|error| panic!("{turn}: {error}"));
                            // Two requests with one key at the same time.
                            let codes = [code, if code == "conflict" { "busy" } else { code }];
                            assert!(codes.contains(&reply.code()), "{turn}: {}", reply.text);
                        }
                    }
                });
            }
        });
        next.store(until, Ordering::Relaxed);
        resident(server.id())
    };
    let early = run(number / 10);
    let late = run(number);
    println!("{number} requests: {early} KiB resident after a tenth, {late} KiB at the end");
    assert!(
        late < early + MOST_GROWTH_KIB,
        "{early} KiB, then {late} KiB"
    );
    // Nothing was charged, and the server answers as before.
    assert_eq!(server.spent(), "0.101");
    assert_eq!(server.post_once(ANA, key, RELEASE, &question).json, {
        let mut again = first.json.clone();
        again["remaining"] = json!({"epsilon": "0.899"});
        again
    });
    let log = std::fs::read_to_string(server.folder.0.join("log")).unwrap();
    assert!(!log.contains("panicked"), "a panic is in the log");
}
