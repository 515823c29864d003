//! A connection that breaks where a test says.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Before what a connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server does not get what a launch writes.
    Write,
    /// The server does not get the commit.
    Commit,
    /// The client does not get the answer to the commit.
    Answer,
}

/// Passes everything on between clients and a server, until it is told to cut, once.
pub struct Proxy {
    folder: PathBuf,
    cut: Arc<Mutex<Option<Cut>>>,
    requests: Arc<AtomicUsize>,
}

const SOCKET: &str = ".s.PGSQL.5432";
const SYNC: &[u8] = b"S\0\0\0\x04";
/// A simple query, without the type and the length that are before it.
const COMMIT: &[u8] = b"COMMIT\0";

impl Proxy {
    /// In front of the server whose socket is in this folder.
    pub fn new(server: &Path) -> Self {
        let folder = server.join("proxy");
        std::fs::create_dir_all(&folder).unwrap();
        let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
        let cut = Arc::new(Mutex::new(None));
        let (server, cuts) = (server.join(SOCKET), Arc::clone(&cut));
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let server = UnixStream::connect(&server).unwrap();
                let (cuts, counted) = (Arc::clone(&cuts), Arc::clone(&counted));
                let answers = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let silent = Arc::new(Mutex::new(false));
                let quiet = Arc::clone(&silent);
                std::thread::spawn(move || pass_back(answers.0, answers.1, &quiet));
                std::thread::spawn(move || pass_on(client, server, &cuts, &silent, &counted));
            }
        });
        Self {
            folder,
            cut,
            requests,
        }
    }

    pub fn parameters(&self) -> String {
        let folder = self.folder.display();
        format!("host={folder} user=queryables dbname=postgres")
    }

    /// How often a client has sent something and waited for the answer, so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Cuts the connection of the next commit.
    pub fn cut_next(&self, cut: Cut) {
        *self.cut.lock().unwrap() = Some(cut);
    }
}

/// What a client says.
fn pass_on(
    mut client: UnixStream,
    mut server: UnixStream,
    cuts: &Mutex<Option<Cut>>,
    silent: &Mutex<bool>,
    requests: &AtomicUsize,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok(length @ 1..) = client.read(&mut buffer) else {
            let _ = server.shutdown(Shutdown::Both);
            return;
        };
        let said = &buffer[..length];
        // A client that waits for an answer ends what it says with `Sync`, which has no contents, or with
        // a simple query.
        if said.ends_with(SYNC) || said.ends_with(COMMIT) {
            requests.fetch_add(1, Ordering::Relaxed);
        }
        let place = said.windows(COMMIT.len()).position(|part| part == COMMIT);
        let cut = place.and_then(|place| Some((place - 5, cuts.lock().unwrap().take()?)));
        let Some((place, cut)) = cut else {
            if server.write_all(said).is_err() {
                return;
            }
            continue;
        };
        let until = match cut {
            Cut::Write => 0,
            Cut::Commit => place,
            Cut::Answer => length,
        };
        *silent.lock().unwrap() = true;
        server.write_all(&said[..until]).unwrap();
        // The server does all that it was told before it sees that nobody is there.
        let _ = server.shutdown(Shutdown::Write);
        return;
    }
}

/// What the server says, until its client must not hear it any more. The client then hears that the
/// connection has ended, after the server has ended it.
fn pass_back(mut server: UnixStream, mut client: UnixStream, silent: &Mutex<bool>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        if !*silent.lock().unwrap() && client.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
