//! A server process for a test, and a client of a few lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub const CURATOR: &str = "qs_curator";
pub const ANA: &str = "qs_ana";
pub const BEN: &str = "qs_ben";
/// Of an analyst who has no dataset.
pub const EVE: &str = "qs_eve";
/// Of an analyst whose time is over.
pub const OLD: &str = "qs_old";

const CENSUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/adult.csv");

pub fn sha256(text: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("queryables-server-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is changed in the curator's file of a test.
#[derive(Clone)]
pub struct Terms {
    pub budget: &'static str,
    pub ben: &'static str,
    pub halting: bool,
    pub limits: &'static str,
    pub ledger: String,
    pub data: String,
    pub quantum: u64,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            budget: r#"{ epsilon = "1" }"#,
            ben: r#"{ quota = { epsilon = "0.5" } }"#,
            halting: false,
            limits: "requests_per_minute = 1000000\nbytes_per_minute = 100000000\nrunning = 16",
            ledger: r#"{ file = "census.redb" }"#.to_owned(),
            data: format!("{{ csv = {CENSUS:?} }}"),
            quantum: 0,
        }
    }
}

pub fn config(terms: &Terms) -> String {
    let [curator, ana, ben, eve, old] = [CURATOR, ANA, BEN, EVE, OLD].map(sha256);
    let Terms {
        budget,
        ben: ben_seat,
        halting,
        limits,
        ledger,
        data,
        quantum,
    } = terms;
    format!(
        r#"listen = "127.0.0.1:0"
threads = 4
response_quantum_milliseconds = {quantum}

[limits]
{limits}

[curator]
token_sha256 = "{curator}"

[[analyst]]
name = "ana"
token_sha256 = "{ana}"

[[analyst]]
name = "ben"
token_sha256 = "{ben}"

[[analyst]]
name = "eve"
token_sha256 = "{eve}"

[[analyst]]
name = "old"
token_sha256 = "{old}"
expires = 2020-02-29T23:59:59Z

[[dataset]]
name = "census"
data = {data}
ledger = {ledger}
budget = {budget}
halting = {halting}

[dataset.analysts]
ana = {{}}
ben = {ben_seat}
old = {{}}

[dataset.schema]
person = {{ each_row = true }}
columns = [
    {{ name = "age", type = "whole", range = [17, 90] }},
    {{ name = "sex", type = "text", categories = ["Female", "Male"] }},
    {{ name = "hours_per_week", type = "whole", range = [1, 99] }},
]
"#
    )
}

/// Runs a command of the program to its end.
pub fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queryables-server"));
    command.args(arguments).output().unwrap()
}

/// A server process. It is killed at the end, and its folder is removed.
pub struct Server {
    process: Child,
    pub address: String,
    pub folder: Folder,
}

impl Server {
    pub fn new(terms: &Terms) -> Self {
        let folder = Folder::new();
        let file = folder.0.join("curator.toml");
        std::fs::write(&file, config(terms)).unwrap();
        // The tests of PostgreSQL make their own.
        if terms.ledger.contains("file") {
            let made = run(&["ledger", "create", file.to_str().unwrap(), "census"]);
            assert!(made.status.success(), "{made:?}");
        }
        Self::started(folder)
    }

    /// With this curator's file, in a folder that may have more.
    pub fn in_folder(folder: Folder, text: &str) -> Self {
        let file = folder.0.join("curator.toml");
        std::fs::write(&file, text).unwrap();
        let made = run(&["ledger", "create", file.to_str().unwrap(), "census"]);
        assert!(made.status.success(), "{made:?}");
        Self::started(folder)
    }

    fn started(folder: Folder) -> Self {
        let (process, address) = spawn(&folder.0);
        Self {
            process,
            address,
            folder,
        }
    }

    /// Kills it (SIGKILL) and starts it again.
    pub fn kill_and_restart(&mut self) {
        self.kill();
        self.start();
    }

    /// Starts it again, after a kill.
    pub fn start(&mut self) {
        (self.process, self.address) = spawn(&self.folder.0);
    }

    /// Starts it again, by a program that runs it.
    pub fn start_by(&mut self, program: &[&str]) {
        (self.process, self.address) = spawn_by(program, &self.folder.0);
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits for its end, and says whether it ended well.
    pub fn wait(&mut self) -> bool {
        self.process.wait().unwrap().success()
    }

    pub fn file(&self) -> String {
        let file = self.folder.0.join("curator.toml");
        file.to_str().unwrap().to_owned()
    }

    /// A request with a token.
    pub fn get(&self, token: &str, path: &str) -> Reply {
        Ask::new("GET", path).token(token).send(&self.address)
    }

    pub fn post(&self, token: &str, path: &str, body: &Value) -> Reply {
        let ask = Ask::new("POST", path).token(token);
        ask.json(body).send(&self.address)
    }

    pub fn post_once(&self, token: &str, key: &str, path: &str, body: &Value) -> Reply {
        let ask = Ask::new("POST", path).token(token);
        let ask = ask.header("Idempotency-Key", key);
        ask.json(body).send(&self.address)
    }

    /// What the dataset has spent, as text.
    pub fn spent(&self) -> String {
        let view = self.get(CURATOR, "/v1/datasets/census");
        view.json["spent"]["epsilon"].as_str().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(folder: &Path) -> (Child, String) {
    spawn_by(&[], folder)
}

fn spawn_by(program: &[&str], folder: &Path) -> (Child, String) {
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .unwrap();
    let mut words = program
        .iter()
        .copied()
        .chain([env!("CARGO_BIN_EXE_queryables-server")]);
    let mut process = Command::new(words.next().unwrap())
        .args(words)
        .arg("serve")
        .arg(folder.join("curator.toml"))
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = process.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ");
    let address = address.and_then(|address| address.split("://").nth(1));
    let Some(address) = address else {
        let log = std::fs::read_to_string(folder.join("log"));
        panic!("{line:?}: {log:?}");
    };
    (process, address.to_owned())
}

/// A request.
pub struct Ask {
    head: String,
    body: Vec<u8>,
    host: Option<String>,
}

pub struct Reply {
    pub status: u16,
    pub head: String,
    pub text: String,
    /// Null if the body is no JSON.
    pub json: Value,
}

impl Reply {
    /// The code of an error.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or(&self.text)
    }
}

impl Ask {
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            head: format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n"),
            body: Vec::new(),
            host: None,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head += &format!("{name}: {value}\r\n");
        self
    }

    pub fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body(body.to_string().as_bytes())
    }

    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Type", "application/json")
            .header("Content-Length", &body.len().to_string())
    }

    pub fn send(self, address: &str) -> Reply {
        self.try_send(address).unwrap()
    }

    /// Fails if the server goes away.
    pub fn try_send(self, address: &str) -> std::io::Result<Reply> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let host = self.host.as_deref().unwrap_or(address);
        let head = format!("{}Host: {host}\r\n\r\n", self.head);
        stream.write_all(head.as_bytes())?;
        // A server that refuses a body may close before it has read all of it.
        let _ = stream.write_all(&self.body);
        let mut reply = Vec::new();
        let mut part = [0; 1 << 16];
        // Not every server closes when it is asked to: ChromeDriver does not.
        while !is_whole(&reply) {
            match stream.read(&mut part) {
                Ok(0) => break,
                Ok(length) => reply.extend_from_slice(&part[..length]),
                Err(error) if reply.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        let text = String::from_utf8_lossy(&reply).into_owned();
        let broken = || std::io::Error::other(format!("no reply: {text:?}"));
        let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Ok(Reply {
            status: status.ok_or_else(broken)?,
            head: head.to_owned(),
            json: serde_json::from_str(body).unwrap_or(Value::Null),
            text: body.to_owned(),
        })
    }
}

/// Whether a reply has as many bytes as its head says.
fn is_whole(reply: &[u8]) -> bool {
    let text = String::from_utf8_lossy(reply);
    let Some((head, _)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().unwrap())
    });
    length.is_some_and(|length| reply.len() >= head.len() + 4 + length)
}

pub const PREVIEW: &str = "/v1/datasets/census/preview";
pub const RELEASE: &str = "/v1/datasets/census/release";
pub const CHILDREN: &str = "/v1/datasets/census/children";

pub fn count(condition: &str, epsilon: &str) -> Value {
    json!({"count": {"where": condition, "noise": {"laplace": {"epsilon": epsilon}}}})
}

pub fn search(threshold: i64, epsilon: &str) -> Value {
    json!({"above_threshold": {"threshold": threshold, "hits": 1, "epsilon": epsilon}})
}

pub fn ask(number: u64, condition: &str) -> Value {
    json!({"number": number, "where": condition})
}
