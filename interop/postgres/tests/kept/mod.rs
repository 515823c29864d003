//! How many requests a launch takes, and that one charge has one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ledger::{Numbered, pure};
use queryables::ledger::{Ledger, LedgerError, Line, Outcome, Store, StoreError};
use queryables::machine::Description;
use queryables::prelude::*;
use queryables_postgres::PostgresStore;

use crate::epsilon;
use crate::support::Server;
use crate::support::proxy::Proxy;

#[test]
fn a_launch_is_one_request_while_nobody_else_launches() {
    let Some(server) = Server::new("requests") else {
        return;
    };
    let proxy = Proxy::new(server.folder());
    let store = PostgresStore::connect(&proxy.parameters()).unwrap();
    let filter = pure(&Ledger::on(store, "numbers").unwrap(), "census", "1");
    let other = pure(&server.ledger(), "census", "1");
    let quota = filter.quota("team", epsilon("1")).unwrap();
    let (ana, ben) = (filter.party("Ana"), filter.party("Ben"));
    let ben = ben.with_quota(&quota).unwrap();
    let requests = |launch: &dyn Fn()| {
        let before = proxy.requests();
        launch();
        proxy.requests() - before
    };
    let launch = || assert_eq!(ana.release(&Numbered::new(1, "0.125")), Ok(1));
    let with_quota = || assert_eq!(ben.release(&Numbered::new(1, "0.125")), Ok(1));
    launch();
    assert_eq!(
        [requests(&launch), requests(&with_quota), requests(&launch)],
        [1, 1, 1]
    );
    // What another process has charged is noticed: that launch tries again, with locks.
    assert_eq!(other.party("Eva").release(&Numbered::new(2, "0.25")), Ok(2));
    assert_eq!(requests(&launch), 3);
    assert_eq!(filter.privacy_loss(), Ok(epsilon("0.875")));
    assert_eq!(other.privacy_loss(), Ok(epsilon("0.875")));
    let over = ana.release(&Numbered::new(1, "0.25"));
    assert!(matches!(
        over,
        Err(LedgerError::Launch(LaunchError::Refused(_)))
    ));
    // All outcomes are in the record once it is read.
    let lines = filter.replay();
    assert_eq!(lines, Ok(7));
}

/// Its connection to the ledger ends while it runs.
struct Interrupted<'a> {
    server: &'a Server,
    drawn: AtomicUsize,
}

impl Mechanism<()> for Interrupted<'_> {
    type Machine = Released<usize>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        let mut client =
            postgres::Client::connect(&self.server.parameters(), postgres::NoTls).unwrap();
        let ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
                     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        client.query(ended, &[]).unwrap();
        Ok(Released(self.drawn.fetch_add(1, Ordering::Relaxed)))
    }

    fn describe(&self) -> Description {
        Description::new("Interrupted")
    }
}

impl Private<PureDp, AddRemove> for Interrupted<'_> {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.25"))
    }
}

#[test]
fn an_answer_that_cannot_be_kept_is_withheld_and_not_drawn_again() {
    let Some(server) = Server::new("kept") else {
        return;
    };
    let mechanism = Interrupted {
        server: &server,
        drawn: AtomicUsize::new(0),
    };
    let (one, other) = (
        server.ledger().keeping_answers(),
        server.ledger().keeping_answers(),
    );
    let (first, second) = (pure(&one, "census", "1"), pure(&other, "census", "1"));
    let withheld = first.party("Ana").release_once("k", &mechanism);
    let Err(LedgerError::Store(StoreError::Unavailable(_))) = withheld else {
        panic!("{withheld:?}");
    };
    // In this process and in another one, which has to connect again.
    let _ = second.privacy_loss();
    for filter in [&first, &second] {
        let again = filter.party("Ana").release_once("k", &mechanism);
        assert_eq!(again, Err(LedgerError::NoAnswer));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.25")));
    }
    assert_eq!(mechanism.drawn.into_inner(), 1);
}

#[test]
fn the_first_answer_that_is_kept_stays() {
    let Some(server) = Server::new("first") else {
        return;
    };
    let ledger = server.ledger().keeping_answers();
    let ana = pure(&ledger, "census", "1").party("Ana");
    assert_eq!(ana.release_once("k", &Numbered::new(7, "0.25")), Ok(7));
    let another = PostgresStore::connect(&server.parameters()).unwrap();
    let kept = another.finish(1, Outcome::Answered(Some(8.into())));
    let why = "another answer was kept before".to_owned();
    assert_eq!(kept, Err(StoreError::Unavailable(why)));
    assert_eq!(ana.release_once("k", &Numbered::new(7, "0.25")), Ok(7));
}

/// An outcome without an answer is in the row of the next entry.
#[test]
fn no_answer_is_kept_beside_another_outcome() {
    let Some(server) = Server::new("outcome") else {
        return;
    };
    let ledger = server.ledger();
    let ana = pure(&ledger, "census", "1").party("Ana");
    for number in 1..=3 {
        assert_eq!(ana.release(&Numbered::new(number, "0.25")), Ok(number));
    }
    let mut client = postgres::Client::connect(&server.parameters(), postgres::NoTls).unwrap();
    let query = "SELECT outcome IS NULL, outcome_before IS NULL FROM queryables_entries \
                 ORDER BY sequence";
    let rows = client.query(query, &[]).unwrap();
    let rows: Vec<(bool, bool)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    // The first was charged under the lock, and the last has none yet.
    assert_eq!(rows, [(true, true), (true, false), (true, false)]);
    let another = PostgresStore::connect(&server.parameters()).unwrap();
    let kept = |sequence| another.finish(sequence, Outcome::Answered(Some(8.into())));
    let why = "another answer was kept before".to_owned();
    assert_eq!(kept(1), Err(StoreError::Unavailable(why)));
    assert_eq!(kept(3), Ok(()));
    drop(ledger);
    // The lines are in order, each with its first outcome.
    let lines = server.ledger().lines(1, 2).unwrap();
    let outcomes = lines.iter().filter_map(|line| match line {
        Line::Outcome(done) => Some((done.sequence, done.outcome.clone())),
        _ => None,
    });
    let none = Outcome::Answered(None);
    assert!(outcomes.eq([(1, none.clone()), (2, none)]));
}
