//! A server of PostgreSQL that a test starts and ends by itself.

pub mod proxy;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use queryables::ledger::Ledger;
use queryables_postgres::PostgresStore;

/// A server with a database of its own, on a Unix socket in its folder.
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    process: Child,
}

/// Where the programs are: where Debian has them, or on the path.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut places: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    places.sort();
    places.reverse();
    let path = std::env::var_os("PATH")?;
    places.extend(std::env::split_paths(&path));
    let mut places = places.into_iter();
    places.find(|place| place.join("initdb").exists() && place.join("postgres").exists())
}

/// A command as somebody who is not root: PostgreSQL refuses to be.
fn as_somebody(program: &Path) -> Command {
    let whoami = Command::new("id").arg("-u").output().unwrap();
    if whoami.stdout != b"0\n" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(program);
    command
}

impl Server {
    pub fn new(name: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("skipped: there is no PostgreSQL");
            return None;
        };
        let folder = format!("queryables-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        // Where it is root, it may.
        let _ = std::os::unix::fs::chown(&folder, Some(65534), Some(65534));
        let mut initdb = as_somebody(&programs.join("initdb"));
        initdb
            .current_dir(&folder)
            .arg("-D")
            .arg(folder.join("data"));
        initdb.args(["-A", "trust", "-U", "queryables", "--no-sync"]);
        let output = initdb.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let process = start(&programs, &folder);
        let server = Self {
            programs,
            folder,
            process,
        };
        drop(PostgresStore::create(&server.parameters()).unwrap());
        Some(server)
    }

    pub fn parameters(&self) -> String {
        let folder = self.folder.display();
        format!("host={folder} user=queryables dbname=postgres")
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn ledger(&self) -> Ledger {
        let store = PostgresStore::connect(&self.parameters()).unwrap();
        Ledger::on(store, "numbers").unwrap()
    }

    /// Ends it in the middle of whatever it does.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Ends it in order: what it has committed is in its files.
    pub fn stop(&mut self) {
        let process = self.process.id().to_string();
        let _ = Command::new("kill").args(["-INT", &process]).status();
        self.process.wait().unwrap();
    }

    /// Replaces one of its folders by a copy of another, while it does not run.
    pub fn copy_files(&self, from: &str, to: &str) {
        let (from, to) = (self.folder.join(from), self.folder.join(to));
        let _ = std::fs::remove_dir_all(&to);
        let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(copied.unwrap().success());
    }

    pub fn restart(&mut self) {
        self.process = start(&self.programs, &self.folder);
    }

    /// Whether it is a standby, which only answers, after it is started the next time.
    pub fn stand_by(&self, stands_by: bool) {
        let signal = self.folder.join("data/standby.signal");
        if stands_by {
            std::fs::write(&signal, []).unwrap();
            let _ = std::os::unix::fs::chown(&signal, Some(65534), Some(65534));
        } else {
            std::fs::remove_file(&signal).unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let process = self.process.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &process]).status();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts a server and waits until it says that it is ready. After a kill the processes that it left
/// behind may keep it out for a while: then it ends, and is started again.
fn start(programs: &Path, folder: &Path) -> Child {
    let mut said = vec![];
    for _ in 0..1000 {
        let mut command = as_somebody(&programs.join("postgres"));
        command
            .current_dir(folder)
            .arg("-D")
            .arg(folder.join("data"));
        command.arg("-k").arg(folder);
        command.args(["-c", "listen_addresses=", "-c", "max_connections=20"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        while let Some(Ok(line)) = lines.next() {
            // A standby accepts "read-only connections".
            if line.contains("ready to accept") {
                // What it says later must not block it.
                std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
                return process;
            }
            said.push(line);
        }
        process.wait().unwrap();
    }
    panic!("{}", said.join("\n"));
}
