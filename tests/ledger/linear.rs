//! Histories of concurrent launches: each looks as if the launches had been decided one at a time,
//! in an order that respects which of them ended before another began (Herlihy and Wing 1990).

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ledger::{Numbered, PureFilter, fresh, pure};
use queryables::compose::Refusal;
use queryables::ledger::{Ledger, LedgerError};
use queryables::prelude::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// One launch: when it began and ended by a common clock, what it asked for and what it was told.
#[derive(Clone, Copy, Debug)]
struct Event {
    began: u64,
    ended: u64,
    asked: Epsilon,
    /// `None` if it was admitted, otherwise what was spent.
    refused: Option<Epsilon>,
}

/// Whether the launches, in some order, are decided as they were by a budget that counts.
fn linearizes(left: &mut Vec<Event>, spent: Epsilon, limit: Epsilon) -> bool {
    if left.is_empty() {
        return true;
    }
    // Only what began before all others ended may come first.
    let first_end = left.iter().map(|event| event.ended).min().unwrap();
    for place in 0..left.len() {
        let event = left[place];
        if event.began > first_end {
            continue;
        }
        let sum = spent.checked_add(event.asked).unwrap();
        let next = match event.refused {
            None if sum <= limit => sum,
            Some(seen) if sum > limit && seen == spent => spent,
            _ => continue,
        };
        left.swap_remove(place);
        if linearizes(left, next, limit) {
            return true;
        }
        left.push(event);
        let last = left.len() - 1;
        left.swap(place, last);
    }
    false
}

const THREADS: u64 = 4;
const TURNS: u64 = 5;

fn history(filter: &PureFilter, seed: u64) -> Vec<Event> {
    let (clock, events) = (AtomicU64::new(0), Mutex::new(vec![]));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (clock, events) = (&clock, &events);
            let party = filter.party(&thread.to_string());
            scope.spawn(move || {
                let mut random = ledger::Seeded(seed * THREADS + thread);
                for turn in 0..TURNS {
                    let asked = ["0.05", "0.1", "0.15"][random.below(3) as usize];
                    let began = clock.fetch_add(1, Ordering::SeqCst);
                    let result = party.release(&Numbered::new(thread * TURNS + turn, asked));
                    let ended = clock.fetch_add(1, Ordering::SeqCst);
                    let refused = match result {
                        Ok(_) => None,
                        Err(LedgerError::Launch(LaunchError::Refused(Refusal {
                            spent, ..
                        }))) => Some(spent),
                        Err(other) => panic!("{other}"),
                    };
                    let asked = epsilon(asked);
                    events.lock().unwrap().push(Event {
                        began,
                        ended,
                        asked,
                        refused,
                    });
                }
            });
        }
    });
    events.into_inner().unwrap()
}

#[test]
fn concurrent_launches_are_decided_as_if_one_at_a_time() {
    let file = Ledger::create(fresh("linear.redb"), "numbers").unwrap();
    let memory = Ledger::in_memory("numbers").unwrap();
    let (mut admitted, mut refused) = (0, 0);
    for (ledger, rounds) in [(memory, 200), (file, 40)] {
        for round in 0..rounds {
            let filter = pure(&ledger, &format!("round {round}"), "1");
            let mut events = history(&filter, round);
            refused += events
                .iter()
                .filter(|event| event.refused.is_some())
                .count();
            admitted += events
                .iter()
                .filter(|event| event.refused.is_none())
                .count();
            assert!(
                linearizes(&mut events, Epsilon::ZERO, epsilon("1")),
                "{events:?}"
            );
        }
    }
    println!("{admitted} admitted, {refused} refused");
    assert!(admitted > 1000 && refused > 500);
}

#[test]
fn a_history_that_no_order_explains_is_noticed() {
    let event = |began, ended, asked, refused: Option<&str>| Event {
        began,
        ended,
        asked: epsilon(asked),
        refused: refused.map(epsilon),
    };
    // Two for the last of a budget, at once: not both.
    let both = [event(0, 3, "0.6", None), event(1, 2, "0.6", None)];
    assert!(!linearizes(&mut both.to_vec(), Epsilon::ZERO, epsilon("1")));
    let one = [event(0, 3, "0.6", None), event(1, 2, "0.6", Some("0.6"))];
    assert!(linearizes(&mut one.to_vec(), Epsilon::ZERO, epsilon("1")));
    // The first was refused before the second began: it cannot have seen its charge.
    let early = [event(0, 1, "0.6", Some("0.6")), event(2, 3, "0.6", None)];
    assert!(!linearizes(
        &mut early.to_vec(),
        Epsilon::ZERO,
        epsilon("1")
    ));
}
