//! `spender PATH THREADS FIRST`: spends 0.001 at a time from the filter "census" of the ledger in a
//! file, which it makes where there is none, until it is refused or killed. It says which number it is about to launch and which it has
//! got: `ask 7`, `got 7`. What goes wrong ends it, with the error as its last line; with a fourth argument
//! it goes on with the next number once it reads a line.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ledger::Numbered;
use queryables::ledger::{Ledger, StoreError};
use queryables::prelude::*;

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, threads, first, goes_on @ ..] = &arguments[..] else {
        panic!("spender PATH THREADS FIRST");
    };
    let (threads, first) = (
        threads.parse::<u64>().unwrap(),
        first.parse::<u64>().unwrap(),
    );
    let ledger = match Ledger::open(path, "numbers") {
        Err(StoreError::NotFound) => Ledger::create(path, "numbers"),
        opened => opened,
    };
    let ledger = match ledger {
        Ok(ledger) => ledger,
        Err(error) => return say(&format!("not opened: {error}")),
    };
    let filter = Filter::concurrent(PureDp, "100".parse().unwrap());
    let filter = match ledger.start("census", &filter, &Arc::new(())) {
        Ok(filter) => filter,
        Err(error) => return say(&format!("not opened: {error}")),
    };
    say("open");
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (party, next) = (filter.party("spender"), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    say(&format!("ask {number}"));
                    match party.release(&Numbered::new(number, "0.001")) {
                        Ok(answer) => say(&format!("got {answer}")),
                        Err(error) => {
                            say(&format!("error: {error}"));
                            let mut line = String::new();
                            let mut read = || std::io::stdin().read_line(&mut line);
                            if goes_on.is_empty() || read().unwrap_or_default() == 0 {
                                return;
                            }
                        }
                    }
                }
            });
        }
    });
}
