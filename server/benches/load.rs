//! How many releases the server answers, beside a handler that only parses the request and returns the
//! same JSON; and how long the slowest take with a ledger in a file, beside a bare commit of redb.
//!
//! `cargo bench -p queryables-server --bench load`; a minute, on loopback. The first part is bounded by the
//! processors: client and server share them. The log is written as in operation, to a file.
#![allow(dead_code, unused_imports, reason = "the program uses the rest")]

#[path = "../src/analyst.rs"]
mod analyst;
#[path = "../src/answer.rs"]
mod answer;
#[path = "../src/asking.rs"]
mod asking;
#[path = "../src/body.rs"]
mod body;
#[path = "../src/children.rs"]
mod children;
/// Those of the library, as in operation: `src/coins.rs` has a seed where tests are compiled, and this
/// program is compiled as one.
mod coins {
    use queryables::machine::Coins;

    #[derive(Clone)]
    pub struct Source;

    impl Source {
        pub fn new() -> Self {
            Self
        }

        pub fn run<T>(
            &mut self,
            coins: &mut Coins<'_>,
            code: impl FnOnce(&mut Coins<'_>) -> T,
        ) -> T {
            code(coins)
        }
    }
}
#[path = "../src/config.rs"]
mod config;
#[path = "../src/dataset.rs"]
mod dataset;
#[path = "../src/http.rs"]
mod http;
#[path = "../src/issuer.rs"]
mod issuer;
#[path = "../src/launches.rs"]
mod launches;
#[path = "../src/limits.rs"]
mod limits;
#[path = "../src/listen.rs"]
mod listen;
#[path = "../src/local.rs"]
mod local;
#[path = "../src/loss.rs"]
mod loss;
#[path = "../src/metrics.rs"]
mod metrics;
#[path = "../src/openapi.rs"]
mod openapi;
#[path = "../src/page.rs"]
mod page;
#[path = "../src/place.rs"]
mod place;
#[path = "../src/problem.rs"]
mod problem;
#[path = "../src/question/mod.rs"]
mod question;
#[path = "../src/rule.rs"]
mod rule;
#[path = "../src/seat.rs"]
mod seat;
#[path = "../src/service.rs"]
mod service;
#[path = "../src/tls.rs"]
mod tls;
#[path = "../src/token.rs"]
mod token;
#[path = "../src/view.rs"]
mod view;
#[path = "../src/write_timeout.rs"]
mod write_timeout;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Response, header};
use axum::routing::post;
use queryables::ledger::Ledger;
use redb::{Database, TableDefinition};

use crate::question::Release;

const BODY: &str =
    r#"{"count": {"where": "age >= 40", "noise": {"laplace": {"epsilon": "0.001"}}}}"#;
/// What the handler without a budget says, of the length of a release.
const REPLY: &str = r#"{"answer":2257.0,"interval":[-738.0,5252.0],"loss":{"epsilon":"0.001"},"remaining":{"epsilon":"999999.999"}}"#;
const LIMITS: &str = "requests_per_minute = 4000000000
bytes_per_minute = 4000000000
seconds_per_minute = 4000000000
running = 64";

/// Connections that ask at the same time, in the first part.
const CLIENTS: usize = 8;
const ROUND: Duration = Duration::from_secs(3);
const ROUNDS: usize = 5;

/// The server, with this ledger.
fn serve(ledger: Ledger) -> SocketAddr {
    let ledger = Mutex::new(Some(ledger));
    let config = local::config(LIMITS, r#"{ epsilon = "1000000" }"#, "");
    local::serve(config, move |_| {
        let ledger = ledger.lock().expect("one dataset").take();
        ledger.expect("one dataset")
    })
}

/// A handler that parses the request and returns JSON, with axum's own server.
fn bare() -> SocketAddr {
    let (told, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
            let listener = listener.expect("a port");
            let _ = told.send(listener.local_addr().expect("an address"));
            let handler = |body: Body| async {
                let bytes = to_bytes(body, 64 << 10).await.unwrap_or_default();
                let parsed = serde_json::from_slice::<Release>(&bytes);
                let mut response = Response::new(Body::from(match parsed {
                    Ok(_) => REPLY,
                    Err(_) => "{}",
                }));
                let kind = header::HeaderValue::from_static("application/json");
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                response
            };
            let router = Router::new().route("/v1/datasets/census/release", post(handler));
            accept(listener, router).await;
        });
    });
    address.recv().expect("it listens")
}

/// Accepts and serves, with nothing around it.
async fn accept(listener: tokio::net::TcpListener, router: Router) {
    while let Ok((stream, _)) = listener.accept().await {
        let service = hyper_util::service::TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let stream = hyper_util::rt::TokioIo::new(stream);
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection.serve_connection(stream, service).await;
        });
    }
}

/// A connection that is kept.
struct Client {
    stream: TcpStream,
    host: SocketAddr,
    reply: Vec<u8>,
}

impl Client {
    fn new(host: SocketAddr) -> Self {
        let stream = TcpStream::connect(host).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        Self {
            stream,
            host,
            reply: Vec::new(),
        }
    }

    /// Sends a release, and reads its reply to the end.
    fn ask(&mut self, key: Option<&str>) {
        let key = key.map(|key| format!("Idempotency-Key: {key}\r\n"));
        let request = format!(
            "POST /v1/datasets/census/release HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer qs_ana\r\n{}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{BODY}",
            self.host,
            key.unwrap_or_default(),
            BODY.len(),
        );
        self.stream
            .write_all(request.as_bytes())
            .expect("it listens");
        self.reply.clear();
        let mut part = [0; 4096];
        loop {
            let length = self.stream.read(&mut part).expect("a reply");
            assert!(length > 0, "no reply");
            self.reply.extend_from_slice(&part[..length]);
            let text = std::str::from_utf8(&self.reply).expect("a text");
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let stated = head.lines().find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length: ")?
                        .parse::<usize>()
                        .ok()
                });
                if stated.is_some_and(|stated| body.len() >= stated) {
                    assert!(head.starts_with("HTTP/1.1 200"), "{text}");
                    return;
                }
            }
        }
    }
}

/// Requests a second, from several connections.
fn throughput(address: SocketAddr, keys: Option<&str>) -> f64 {
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let answered: usize = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let stop = &stop;
                scope.spawn(move || {
                    let mut connection = Client::new(address);
                    let mut answered = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let key = keys.map(|name| format!("{name}-{client}-{answered}"));
                        connection.ask(key.as_deref());
                        answered += 1;
                    }
                    answered
                })
            })
            .collect();
        thread::sleep(ROUND);
        stop.store(true, Ordering::Relaxed);
        clients
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .sum()
    });
    answered as f64 / begun.elapsed().as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The median and the 99th percentile, in milliseconds.
fn quantiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    (at(0.5), at(0.99))
}

fn times(number: usize, mut work: impl FnMut(usize)) -> Vec<Duration> {
    (0..number)
        .map(|at| {
            let begun = Instant::now();
            work(at);
            begun.elapsed()
        })
        .collect()
}

fn main() {
    let folder = std::env::temp_dir().join(format!("queryables-load-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let log = std::fs::File::create(folder.join("log")).expect("a file");
    tracing_subscriber::fmt()
        .with_writer(log)
        .with_ansi(false)
        .init();

    let ours = serve(Ledger::in_memory("census").expect("a ledger"));
    let bare = bare();
    let mut rates: [Vec<f64>; 3] = Default::default();
    for round in 0..ROUNDS {
        rates[0].push(throughput(bare, None));
        rates[1].push(throughput(ours, None));
        rates[2].push(throughput(ours, Some(&round.to_string())));
    }
    let [bare, plain, keyed] = rates.map(median);
    println!("{CLIENTS} connections, requests a second, medians of {ROUNDS} rounds of {ROUND:?}:");
    println!("  parse and return       {bare:>8.0}");
    println!("  release                {plain:>8.0}  {:.2}", plain / bare);
    println!("  release with a key     {keyed:>8.0}  {:.2}", keyed / bare);

    const NUMBER: usize = 1500;
    let database = Database::create(folder.join("bare.redb")).expect("a database");
    let table: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("lines");
    let mut line = 0;
    let mut commit = |in_two_phases| {
        let mut transaction = database.begin_write().expect("a transaction");
        transaction.set_two_phase_commit(in_two_phases);
        let mut lines = transaction.open_table(table).expect("a table");
        line += 1;
        lines.insert(line, [7; 400].as_slice()).expect("a line");
        drop(lines);
        transaction.commit().expect("a commit");
    };
    let ledger = Ledger::create(folder.join("census.redb"), "census").expect("a ledger");
    let mut client = Client::new(serve(ledger));
    let (mut commits, mut two_phases, mut releases) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, so that all meet the same disk.
    for round in 0..10 {
        let part = NUMBER / 10;
        commits.extend(times(part, |_| commit(false)));
        two_phases.extend(times(part, |_| commit(true)));
        releases.extend(times(part, |at| client.ask(Some(&format!("{round}-{at}")))));
    }
    let [commits, two_phases, releases] = [commits, two_phases, releases].map(quantiles);
    println!("one connection, {NUMBER} times, milliseconds, median and 99th percentile:");
    let says =
        |what: &str, (median, late): (f64, f64)| println!("  {what}{median:>8.2} {late:>8.2}");
    says("a commit of redb       ", commits);
    // As the ledger asks for it, because analysts choose some of what is written: two syncs.
    says("a commit in two phases ", two_phases);
    says("release with a key     ", releases);
    println!(
        "  99th percentile of a release: {:.2} commits, {:.2} in two phases",
        releases.1 / commits.1,
        releases.1 / two_phases.1
    );
    // What cannot be removed is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
}
