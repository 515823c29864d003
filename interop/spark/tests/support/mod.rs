//! Servers that a test starts and ends by itself, on this machine only.
//!
//! `QUERYABLES_ENGINES` names a folder with `bin/sail`, as pip installs it, and with Spark in `spark`. Where
//! one of them is not there, its tests say that they are skipped.

pub mod proxy;
pub mod rows;
// The benchmark uses all of it.
#[allow(dead_code)]
pub mod sql;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sail: a driver and workers, which are threads of one process.
    Sail,
    /// Apache Spark: a driver, and two executors of their own.
    Spark,
}

/// A server, and a folder for its tables.
pub struct Server {
    kind: Kind,
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    process: Child,
}

/// Tests run at the same time.
static STARTED: AtomicU64 = AtomicU64::new(0);

impl Server {
    pub fn new(kind: Kind) -> Option<Self> {
        Self::with(kind, &[])
    }

    /// With settings of Spark.
    pub fn with(kind: Kind, settings: &[&str]) -> Option<Self> {
        let programs = PathBuf::from(std::env::var_os("QUERYABLES_ENGINES").unwrap_or_default());
        if !program(kind, &programs).exists() {
            eprintln!("skipped: QUERYABLES_ENGINES names no folder with {kind:?}");
            return None;
        }
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = format!("queryables-spark-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let port = free_port();
        let settings = settings
            .iter()
            .copied()
            .map(str::to_owned)
            .collect::<Vec<String>>();
        let process = start(kind, &programs, &folder, port, &settings);
        Some(Self {
            kind,
            programs,
            folder,
            port,
            settings,
            process,
        })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn remote(&self) -> String {
        format!("sc://127.0.0.1:{}", self.port)
    }

    /// A session of its own, by a name that other clients may use too.
    pub fn session(&self) -> String {
        let session = "550e8400-e29b-41d4-a716-446655440000";
        format!("{}/;session_id={session}", self.remote())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends it, and all that it has started, in the middle of whatever they do.
    pub fn kill(&mut self) {
        kill_group(&mut self.process);
    }

    /// On the port that it had.
    pub fn restart(&mut self) {
        let (programs, folder) = (&self.programs, &self.folder);
        self.process = start(self.kind, programs, folder, self.port, &self.settings);
    }

    /// The executors of Spark, and the worker that has each of them.
    pub fn executors(&self) -> Vec<u32> {
        let mut found = processes_of(self.process.id());
        found.retain(|(_, command)| command.contains("CoarseGrainedExecutorBackend"));
        found.into_iter().map(|(process, _)| process).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        kill_group(&mut self.process);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A server is the first of a group of processes, and those that it starts are in it.
fn kill_group(process: &mut Child) {
    let group = format!("-{}", process.id());
    let killed = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
    let _ = killed;
    let _ = process.wait();
}

/// Kills one process.
pub fn kill(process: u32) -> bool {
    let killed = Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .stderr(Stdio::null())
        .status();
    killed.unwrap().success()
}

/// The children of a process, with how they were called.
fn processes_of(parent: u32) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        // "number (name) state parent": the name may hold anything.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let stat = stat.rsplit(") ").next().unwrap_or_default();
        if stat.split(' ').nth(1) == Some(&parent.to_string()) {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((process, String::from_utf8_lossy(&command).into_owned()));
        }
    }
    found
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn program(kind: Kind, programs: &Path) -> PathBuf {
    match kind {
        Kind::Sail => programs.join("bin/sail"),
        Kind::Spark => programs.join("spark/bin/spark-submit"),
    }
}

/// Starts a server and waits until it says that it is ready.
fn start(kind: Kind, programs: &Path, folder: &Path, port: u16, settings: &[String]) -> Child {
    let mut command = Command::new(program(kind, programs));
    command.current_dir(folder).process_group(0);
    // Times must not depend on where the server is.
    command.env("TZ", "America/New_York");
    command.env("SPARK_LOCAL_IP", "127.0.0.1");
    // What says that it is ready, and how often it says it.
    let (ready, times) = match kind {
        Kind::Sail => {
            command.env("SAIL_MODE", "local-cluster");
            command.args(["spark", "server", "--ip", "127.0.0.1"]);
            command.args(["--port", &port.to_string()]);
            ("driver server is ready", 1)
        }
        Kind::Spark => {
            command.env("SPARK_HOME", programs.join("spark"));
            let server = "org.apache.spark.sql.connect.service.SparkConnectServer";
            command.args(["--class", server, "--master", "local-cluster[2,1,1024]"]);
            let port = format!("spark.connect.grpc.binding.port={port}");
            let warehouse = format!("spark.sql.warehouse.dir={}/warehouse", folder.display());
            let all = [
                "spark.connect.grpc.binding.address=127.0.0.1",
                "spark.driver.bindAddress=127.0.0.1",
                "spark.driver.host=127.0.0.1",
                "spark.ui.enabled=false",
                "spark.sql.ansi.enabled=true",
                // Small tables.
                "spark.sql.shuffle.partitions=2",
                // Compiled once, and not again while the test runs.
                "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                // Executors are killed here.
                "spark.deploy.maxExecutorRetries=-1",
                "spark.task.maxFailures=100",
                &port,
                &warehouse,
            ];
            let settings = settings.iter().map(|setting| &**setting);
            for setting in all.into_iter().chain(settings) {
                command.args(["--conf", setting]);
            }
            command.arg("spark-internal");
            ("Registered executor", 2)
        }
    };
    let mut process = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = vec![];
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut times_left = times;
    while let Some(Ok(line)) = lines.next() {
        times_left -= usize::from(line.contains(ready));
        if times_left == 0 {
            // What it says later must not block it.
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
            return process;
        }
        said.push(line);
    }
    kill_group(&mut process);
    panic!("{}", said.join("\n"));
}
