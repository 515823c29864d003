//! A connection that a test counts, cuts and changes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Passes everything on between clients and a server.
pub struct Proxy {
    port: u16,
    passed: Arc<Passed>,
}

#[derive(Default)]
struct Passed {
    count: Mutex<Count>,
    more: Condvar,
}

#[derive(Default)]
struct Count {
    /// How often the server has said something.
    times: u64,
    /// How many bytes it has said since they were last counted from zero.
    bytes: usize,
    /// After how many of those its connection is cut, once.
    cut: Option<usize>,
    /// The first name of a session that was said to the server.
    session: Option<String>,
    /// What is said to the server in the place of something else of the same length.
    instead: Option<(&'static [u8], &'static [u8])>,
}

impl Proxy {
    /// In front of the server with this port.
    pub fn new(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let passed = Arc::new(Passed::default());
        let seen = Arc::clone(&passed);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                // While it is started anew, nobody is there.
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue;
                };
                let answers = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let (one, other) = (Arc::clone(&seen), Arc::clone(&seen));
                std::thread::spawn(move || pass_back(answers.0, answers.1, &one));
                std::thread::spawn(move || pass_on(client, server, &other));
            }
        });
        Self { port, passed }
    }

    pub fn remote(&self) -> String {
        format!("sc://127.0.0.1:{}", self.port)
    }

    /// How many bytes the server has said; counts from zero again.
    pub fn bytes(&self) -> usize {
        std::mem::take(&mut self.passed.count().bytes)
    }

    /// Cuts the connection after this many bytes more.
    pub fn cut_after(&self, bytes: usize) {
        let mut count = self.passed.count();
        (count.bytes, count.cut) = (0, Some(bytes));
    }

    /// Says something else to the server from now on, of the same length.
    pub fn replace(&self, said: &'static str, other: &'static str) {
        assert_eq!(said.len(), other.len());
        self.passed.count().instead = Some((said.as_bytes(), other.as_bytes()));
    }

    /// Says again what it is told.
    pub fn replace_nothing(&self) {
        self.passed.count().instead = None;
    }

    /// The session of the first client.
    pub fn session(&self) -> String {
        self.passed.count().session.clone().unwrap()
    }

    /// Waits until the server has said something this many times more.
    pub fn wait_for(&self, times: u64) {
        let mut count = self.passed.count();
        let until = count.times + times;
        while count.times < until {
            let woken = self.passed.more.wait(count);
            count = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Passed {
    fn count(&self) -> std::sync::MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client says.
fn pass_on(mut client: TcpStream, mut server: TcpStream, passed: &Passed) {
    let mut buffer = vec![0; 1 << 20];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let said = &mut buffer[..length];
        let mut count = passed.count();
        if count.session.is_none() {
            let found = said.windows(36).find(|part| is_name(part));
            count.session = found.map(|part| String::from_utf8_lossy(part).into_owned());
        }
        let instead = count.instead;
        drop(count);
        if let Some((old, new)) = instead {
            while let Some(place) = said.windows(old.len()).position(|part| part == old) {
                said[place..place + new.len()].copy_from_slice(new);
            }
        }
        if server.write_all(said).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

/// Whether it has the form of a UUID.
fn is_name(text: &[u8]) -> bool {
    let mut places = text.iter().enumerate();
    places.all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// What the server says.
fn pass_back(mut server: TcpStream, mut client: TcpStream, passed: &Passed) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        let mut said = &buffer[..length];
        let mut count = passed.count();
        count.times += 1;
        let before = count.bytes;
        count.bytes += length;
        let cut = count.cut.filter(|cut| count.bytes > *cut);
        if let Some(cut) = cut {
            count.cut = None;
            said = &said[..cut.saturating_sub(before).min(length)];
        }
        drop(count);
        passed.more.notify_all();
        if client.write_all(said).is_err() || cut.is_some() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    passed.more.notify_all();
}
