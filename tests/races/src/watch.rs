//! Mechanisms and middles that notice whether they go on after a stop that they may have seen.

use std::sync::Arc;

use queryables::middle::{Middle, Move};
use queryables::prelude::*;
use shuttle::sync::atomic::{AtomicBool, Ordering};

pub fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// What the threads of a race tell each other.
#[derive(Clone, Default)]
pub struct Watch {
    /// The freeze or halt has returned.
    returned: Arc<AtomicBool>,
    /// Third-party code has seen that it has, and wants to go on.
    seen: Arc<AtomicBool>,
    /// It was let go on.
    went_on: Arc<AtomicBool>,
}

impl Watch {
    /// The same race, as seen by other code.
    pub fn by_others(&self) -> Self {
        Self {
            seen: Arc::default(),
            ..self.clone()
        }
    }

    pub fn done(&self) {
        self.returned.store(true, Ordering::SeqCst);
    }

    pub fn is_done(&self) -> bool {
        self.returned.load(Ordering::SeqCst)
    }

    /// Whether third-party code has seen that the stop has returned.
    pub fn is_seen(&self) -> bool {
        self.seen.load(Ordering::SeqCst)
    }

    /// Before a check.
    fn look(&self) {
        self.seen.store(self.is_done(), Ordering::SeqCst);
    }

    /// After the check.
    fn pass(&self) {
        if self.is_seen() {
            self.went_on.store(true, Ordering::SeqCst);
        }
    }

    pub fn assert_nobody_went_on(&self) {
        assert!(
            !self.went_on.load(Ordering::SeqCst),
            "a check has passed after the stop had returned"
        );
    }
}

/// Answers 7, once or as often as it is asked. It looks while its loss is asked for, and passes
/// when it starts and when it is asked.
#[derive(Clone)]
pub struct Seven {
    pub loss: Epsilon,
    pub watch: Watch,
}

impl Private<PureDp, AddRemove> for Seven {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.watch.look();
        Ok(self.loss)
    }
}

impl Mechanism<()> for Seven {
    type Machine = Self;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        self.watch.pass();
        Ok(self.clone())
    }
}

impl Machine for Seven {
    type Query = ();
    type Answer = u8;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u8, Fault> {
        self.watch.pass();
        Ok(7)
    }
}

/// Looks before each of three questions inward.
#[derive(Clone)]
pub struct Thrice(pub Watch, pub u8);

impl Middle<(), u8> for Thrice {
    type OuterQuery = ();
    type OuterAnswer = u8;

    fn on_query(&mut self, (): (), _: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        self.1 = 0;
        self.0.look();
        Ok(Move::Ask(()))
    }

    fn on_answer(&mut self, answer: u8, _: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        self.1 += 1;
        if self.1 == 3 {
            return Ok(Move::Answer(answer));
        }
        self.0.look();
        Ok(Move::Ask(()))
    }
}

/// Answers 7, once.
#[derive(Clone)]
pub struct Once(pub &'static str);

impl Private<PureDp, AddRemove> for Once {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon(self.0))
    }
}

impl Mechanism<()> for Once {
    type Machine = Released<u8>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
        Ok(Released(7))
    }
}
