//! Who is not let in, and what cannot be used up.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::*;

/// Everything but what names the request.
fn shape(reply: &Reply) -> (u16, Value) {
    (reply.status, reply.json.clone())
}

#[test]
fn forged_foreign_and_expired_tokens_are_all_unauthorized() {
    let server = Server::new(&Terms::default());
    let long = "a".repeat(10_000);
    let hash = sha256(ANA);
    let mut shapes = Vec::new();
    for token in ["", "qs_", "qs_anb", " qs_ana", "QS_ANA", &long, &hash, OLD] {
        shapes.push(shape(&server.get(token, "/v1/datasets")));
    }
    shapes.push(shape(
        &Ask::new("GET", "/v1/datasets").send(&server.address),
    ));
    let basic = Ask::new("GET", "/v1/datasets").header("Authorization", "Basic cXNfYW5h");
    shapes.push(shape(&basic.send(&server.address)));
    let twice = Ask::new("GET", "/v1/datasets").token("qs_x").token(ANA);
    shapes.push(shape(&twice.send(&server.address)));
    assert_eq!(shapes[0].0, 401);
    assert!(shapes.iter().all(|one| *one == shapes[0]), "{shapes:?}");
    // A token in the address counts for nothing.
    let address = format!("/v1/datasets?token={ANA}&access_token={ANA}");
    assert_eq!(
        Ask::new("GET", &address).send(&server.address).code(),
        "unauthorized"
    );
}

#[test]
fn foreign_and_unknown_datasets_and_children_look_the_same() {
    let server = Server::new(&Terms::default());
    let question = count("age > 1", "0.1");
    assert_eq!(server.get(EVE, "/v1/datasets").json, json!([]));
    for path in ["", "/preview", "/release", "/children"] {
        let foreign = format!("/v1/datasets/census{path}");
        let unknown = format!("/v1/datasets/cenzus{path}");
        let ask = |path: &str| match path.ends_with("us") {
            true => server.get(EVE, path),
            false => server.post(EVE, path, &question),
        };
        assert_eq!(shape(&ask(&foreign)), shape(&ask(&unknown)), "{path}");
        assert_eq!(ask(&foreign).code(), "unknown_dataset");
    }
    let search = server.post(ANA, CHILDREN, &search(1000, "0.1")).json;
    let share = json!({"filter": {"name": "s", "budget": {"epsilon": "0.1"}}});
    let share = server.post(ANA, CHILDREN, &share).json;
    let unknown = "0123456789abcdef0123456789abcdef";
    let ids = [&search, &share].map(|child| child["child"].as_str().unwrap());
    for id in ids.into_iter().chain(["1", "%00", "..", &"f".repeat(3000)]) {
        for (method, what) in [
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/ask"),
            ("POST", "/preview"),
            ("POST", "/release"),
            ("POST", "/children"),
        ] {
            let send = |id: &str| {
                let request = Ask::new(method, &format!("/v1/children/{id}{what}")).token(BEN);
                request.json(&ask(0, "age > 1")).send(&server.address)
            };
            assert_eq!(
                shape(&send(id)),
                shape(&send(unknown)),
                "{method} {id} {what}"
            );
            assert_eq!(send(id).code(), "gone");
        }
    }
    assert_eq!(server.get(BEN, "/v1/children").json, json!([]));
    assert_eq!(server.spent(), "0.2");
}

#[test]
fn another_host_or_origin_is_not_meant() {
    let server = Server::new(&Terms::default());
    let port = server.address.rsplit(':').next().unwrap();
    let with = |host: &str, origin: Option<&str>| {
        let request = Ask::new("GET", "/v1/datasets").token(ANA).host(host);
        let request = match origin {
            Some(origin) => request.header("Origin", origin),
            None => request,
        };
        request.send(&server.address).status
    };
    let local = format!("localhost:{port}");
    assert_eq!(with(&local, None), 200);
    assert_eq!(with(&local, Some(&format!("http://{local}"))), 200);
    for host in [
        "evil.example",
        "localhost",
        &format!("evil.example:{port}"),
        "",
    ] {
        assert_eq!(with(host, None), 403, "{host:?}");
    }
    for origin in ["http://evil.example", "null", "", "file://", &local] {
        assert_eq!(with(&local, Some(origin)), 403, "{origin:?}");
    }
    // Nothing for other sites: no cookies, no CORS, and the page loads only its own files.
    let page = Ask::new("GET", "/").send(&server.address);
    assert_eq!(page.status, 200);
    let head = page.head.to_ascii_lowercase();
    assert!(
        head.contains("content-security-policy: default-src 'none'"),
        "{head}"
    );
    assert!(
        !head.contains("set-cookie") && !head.contains("access-control"),
        "{head}"
    );
    let preflight = Ask::new("OPTIONS", RELEASE).header("Origin", "http://evil.example");
    assert_eq!(preflight.send(&server.address).status, 403);
}

#[test]
fn huge_and_deep_bodies_are_refused_before_they_are_parsed() {
    let server = Server::new(&Terms::default());
    let send = |body: &[u8]| {
        let request = Ask::new("POST", RELEASE).token(ANA).body(body);
        request.send(&server.address)
    };
    assert_eq!(send(&vec![b' '; 65 << 10]).code(), "too_large");
    let deep = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
    assert_eq!(send(deep(65).as_bytes()).code(), "too_large");
    assert_eq!(send(deep(30_000).as_bytes()).code(), "too_large");
    assert_eq!(send(deep(64).as_bytes()).code(), "invalid_request");
    for body in [
        "",
        "{",
        "null",
        "\"\"",
        "{\"count\": 1}",
        "\u{0}",
        "{\"count\":{},\"sum\":{}}",
    ] {
        assert_eq!(send(body.as_bytes()).code(), "invalid_request", "{body:?}");
    }
    assert_eq!(send(&[0xff, 0xfe]).code(), "invalid_request");
    // A length that is not true, and one that is stated only.
    let stated = Ask::new("POST", RELEASE)
        .token(ANA)
        .header("Content-Type", "application/json")
        .header("Content-Length", "99999999999");
    assert_eq!(stated.send(&server.address).code(), "too_large");
    let plain = Ask::new("POST", RELEASE)
        .token(ANA)
        .header("Content-Type", "text/plain");
    let plain = plain.header("Content-Length", "0").send(&server.address);
    assert_eq!(plain.code(), "invalid_request");
    // A question that is long or deep within these bounds is an error of the vocabulary.
    let nested = format!("{}age > 1{}", "not (".repeat(5000), ")".repeat(5000));
    let reply = server.post(ANA, RELEASE, &count(&nested, "0.1"));
    assert_eq!(reply.code(), "invalid_query");
    assert_eq!(server.spent(), "0");
    let head = Ask::new("GET", "/v1/datasets").header("X", &"x".repeat(100_000));
    let reply = head.try_send(&server.address);
    assert!(reply.map_or(true, |reply| reply.status == 431));
}

/// A client that sends a byte a second has a connection of its own, and disturbs nobody.
#[test]
fn slow_clients_are_cut_off() {
    let server = Server::new(&Terms::default());
    let begun = Instant::now();
    let connect = |text: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(40)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let mut head = connect("GET /v1/datasets HTTP/1.1\r\nHos");
    let host = &server.address;
    let mut body = connect(&format!(
        "POST {RELEASE} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {ANA}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
    ));
    assert_eq!(server.get(ANA, "/v1/datasets").status, 200);
    let mut said = String::new();
    body.read_to_string(&mut said).unwrap();
    assert!(said.contains("too_slow"), "{said}");
    said.clear();
    // Closed, with or without a word.
    let _ = head.read_to_string(&mut said);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(server.spent(), "0");
}

/// A client that asks and never reads: when nothing more can be written, the connection is closed.
#[test]
fn clients_that_do_not_read_are_cut_off() {
    let server = Server::new(&Terms::default());
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let longest = Some(Duration::from_secs(40));
    stream.set_write_timeout(longest).unwrap();
    let host = &server.address;
    let request = format!("GET /v1/openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let error = loop {
        if let Err(error) = stream.write_all(request.as_bytes()) {
            break error.kind();
        }
    };
    let closed = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
    assert!(closed.contains(&error), "{error}");
    assert_eq!(server.get(ANA, "/v1/datasets").status, 200);
}

#[test]
fn an_analyst_at_a_limit_is_told_so_and_others_go_on() {
    let terms = Terms {
        limits: "requests_per_minute = 20\nbytes_per_minute = 1000",
        ..Terms::default()
    };
    let server = Server::new(&terms);
    let long = count(&format!("age > 1{}", " ".repeat(700)), "0.1");
    assert_eq!(server.post(BEN, PREVIEW, &long).status, 200);
    assert_eq!(server.post(BEN, PREVIEW, &long).code(), "too_many");
    let codes: Vec<u16> = (0..30)
        .map(|_| server.get(ANA, "/v1/datasets").status)
        .collect();
    // One request comes back every three seconds.
    let answered = codes.iter().filter(|code| **code == 200).count();
    assert!((20..25).contains(&answered), "{codes:?}");
    assert_eq!(codes.last(), Some(&429));
    assert_eq!(server.get(BEN, "/v1/datasets").status, 200);
    let refused = server.get(ANA, "/v1/datasets");
    assert!(
        refused.head.to_ascii_lowercase().contains("retry-after: 1"),
        "{}",
        refused.head
    );
}

#[test]
fn children_are_bounded_and_end_when_nobody_asks() {
    let terms = Terms {
        limits: "requests_per_minute = 1000000\nopen_children = 2\nidle_seconds = 2",
        ..Terms::default()
    };
    let server = Server::new(&terms);
    let open = || server.post(ANA, CHILDREN, &search(1000, "0.01"));
    let first = open().json["child"].as_str().unwrap().to_owned();
    assert_eq!(open().status, 201);
    assert_eq!(open().code(), "too_many");
    assert_eq!(
        server.post(BEN, CHILDREN, &search(1000, "0.01")).status,
        201
    );
    // Asked again and again, until it has ended.
    let path = format!("/v1/children/{first}");
    let begun = Instant::now();
    while server.get(ANA, &path).status == 200 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    assert!(begun.elapsed() > Duration::from_secs(1));
    assert_eq!(server.get(ANA, &path).code(), "gone");
    while open().status != 201 {
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
    // The charges of those that ended stand.
    assert_eq!(server.spent(), "0.04");
}

#[test]
fn nothing_that_is_sent_makes_a_panic_or_a_server_error() {
    let server = Server::new(&Terms::default());
    let pieces = [
        json!(null),
        json!(-1),
        json!(1e308),
        json!("'"),
        json!("\u{0}"),
        json!("1e999999999"),
        json!([]),
        json!({}),
        json!("age > 1 or 'x"),
        json!(u64::MAX),
        json!("-0.0"),
        json!("∞"),
        json!({"column": "age"}),
        json!([[[]]]),
        json!("NaN"),
    ];
    for piece in &pieces {
        let bodies = [
            json!({"count": {"where": piece, "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"count": {"noise": {"laplace": {"epsilon": piece}}}}),
            json!({"count": {"noise": piece}}),
            json!({"count": {"by": piece, "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"count": {"by": [piece], "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"count": {"by": [{"column": "age", "edges": piece}], "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"sum": {"of": piece, "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"sum": {"of": "age", "clamped": [piece, piece], "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"sum": {"of": "age", "confidence": piece, "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"mean": {"of": "age", "rows_per_person": piece, "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"mean": {"of": "age", "expected_rows": piece, "noise": {"laplace": {"epsilon": "0.000001"}}}}),
            json!({"above_threshold": {"threshold": piece, "hits": 1, "epsilon": "0.000001"}}),
            json!({"above_threshold": {"threshold": 1, "hits": piece, "epsilon": "0.000001"}}),
            json!({"sparse_vector": {"threshold": 1, "hits": 1, "epsilon": "0.000001", "counts_epsilon": piece}}),
            json!({"filter": {"name": piece, "budget": {"epsilon": "0.000001"}}}),
            json!({"filter": {"name": "x", "budget": piece}}),
            json!({"filter": {"name": "x", "budget": {"epsilon": piece}}}),
        ];
        for body in &bodies {
            for path in [PREVIEW, RELEASE, CHILDREN] {
                let reply = server.post(ANA, path, body);
                assert!(reply.status < 500, "{path} {body}: {}", reply.text);
            }
        }
    }
    let log = std::fs::read_to_string(server.folder.0.join("log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
