//! Launches of one process that are written together.

use std::sync::atomic::{AtomicUsize, Ordering};

use ledger::{Numbered, pure};
use queryables::ledger::LedgerError;
use queryables::prelude::*;

use crate::support::Server;
use crate::{LOCK, epsilon};

const THREADS: u64 = 6;

/// Six launches of one process wait, and were decided one on what the other leaves behind, when another
/// process charges first. All of them must be decided anew: there is room for one.
#[test]
fn launches_that_wait_together_are_decided_anew_if_another_process_charges_first() {
    let Some(server) = Server::new("group") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    let (one, other) = (pure(&one, "census", "1"), pure(&other, "census", "1"));
    // Each has charged last, once: the next charge of `one` is one statement.
    assert_eq!(other.party("Ben").release(&Numbered::new(1, "0.05")), Ok(1));
    assert_eq!(one.party("Ana").release(&Numbered::new(2, "0.04")), Ok(2));
    assert_eq!(one.party("Ana").release(&Numbered::new(3, "0.01")), Ok(3));

    let mut raw = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let mut watch = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let mut wait_for = |waiting: usize| {
        let query = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while watch.query(query, &[]).unwrap().len() < waiting {
            std::thread::yield_now();
        }
    };
    let mut held = raw.transaction().unwrap();
    held.execute(LOCK, &[]).unwrap();
    let begun = AtomicUsize::new(0);
    let (first, launched) = std::thread::scope(|scope| {
        let first = scope.spawn(|| other.party("Ben").release(&Numbered::new(4, "0.6")));
        wait_for(1);
        let launched: Vec<_> = (0..THREADS)
            .map(|number| {
                let (one, begun) = (&one, &begun);
                scope.spawn(move || {
                    begun.fetch_add(1, Ordering::SeqCst);
                    one.party("Ana").release(&Numbered::new(10 + number, "0.3"))
                })
            })
            .collect();
        wait_for(2);
        while begun.load(Ordering::SeqCst) < THREADS as usize {
            std::thread::yield_now();
        }
        // Whoever has begun is in the queue some microseconds later.
        for _ in 0..100_000 {
            std::thread::yield_now();
        }
        held.rollback().unwrap();
        let launched = launched.into_iter().map(|thread| thread.join().unwrap());
        let launched: Vec<_> = launched.collect();
        (first.join().unwrap(), launched)
    });
    assert_eq!(first, Ok(4));
    let refused = launched.iter().filter(|launch| {
        matches!(launch, Err(LedgerError::Launch(LaunchError::Refused(refusal)))
            if refusal.spent == epsilon("1"))
    });
    assert_eq!(refused.count(), 5, "{launched:?}");
    assert_eq!(launched.iter().filter(|launch| launch.is_ok()).count(), 1);
    assert_eq!(one.privacy_loss(), Ok(epsilon("1")));
    assert_eq!(other.privacy_loss(), Ok(epsilon("1")));
    // Also by the record: each was charged once, in the order of its number. Refusals follow.
    let charged = ledger::admitted(&server.ledger().lines(1, usize::MAX).unwrap());
    assert_eq!(charged[..4], [1, 2, 3, 4]);
    assert_eq!(charged.len(), 5);
    assert!(one.replay().unwrap() >= 5);
}

/// Its statement has begun before another process charges another budget, so it reads what was there before: its
/// own budget is as it was, and the number of its entry is taken.
#[test]
fn a_launch_that_waits_while_another_budget_is_charged_is_decided_anew() {
    let Some(server) = Server::new("budgets") else {
        return;
    };
    let (one, other) = (server.ledger(), server.ledger());
    let (one, other) = (pure(&one, "census", "1"), pure(&other, "survey", "1"));
    assert_eq!(other.party("Ben").release(&Numbered::new(1, "0.25")), Ok(1));
    assert_eq!(one.party("Ana").release(&Numbered::new(2, "0.25")), Ok(2));
    assert_eq!(one.party("Ana").release(&Numbered::new(3, "0.25")), Ok(3));

    let mut raw = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let mut watch = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let mut wait_for = |waiting: usize| {
        let query = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while watch.query(query, &[]).unwrap().len() < waiting {
            std::thread::yield_now();
        }
    };
    let mut held = raw.transaction().unwrap();
    held.execute(LOCK, &[]).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| other.party("Ben").release(&Numbered::new(4, "0.25")));
        wait_for(1);
        let second = scope.spawn(|| one.party("Ana").release(&Numbered::new(5, "0.25")));
        wait_for(2);
        held.rollback().unwrap();
        assert_eq!(first.join().unwrap(), Ok(4));
        assert_eq!(second.join().unwrap(), Ok(5));
    });
    assert_eq!(one.privacy_loss(), Ok(epsilon("0.75")));
    assert_eq!(other.privacy_loss(), Ok(epsilon("0.5")));
    assert_eq!((one.replay(), other.replay()), (Ok(3), Ok(2)));
    let charged = ledger::admitted(&server.ledger().lines(1, usize::MAX).unwrap());
    assert_eq!(charged, [1, 2, 3, 4, 5]);
}
