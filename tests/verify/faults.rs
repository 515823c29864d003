//! What a fault says is seen, as an answer is.

use std::sync::Arc;

use crate::support::*;
use queryables::machine::{Coins, Fault, Machine, Mechanism, Script};
use queryables::privacy::PureDp;
use queryables::verify::{Pair, Verifier, VerifyError, copies_of, views};

/// Answers every query with the same kind of fault, made from the data.
#[derive(Clone)]
struct Complaining(fn(u8) -> Fault);

struct Complaint(Fault);

impl Mechanism<u8> for Complaining {
    type Machine = Complaint;

    fn start(&self, data: &Arc<u8>, _: &mut Coins<'_>) -> Result<Complaint, Fault> {
        Ok(Complaint(self.0(**data)))
    }
}

impl Machine for Complaint {
    type Query = ();
    type Answer = ();

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Err(self.0)
    }
}

fn holds(fault: fn(u8) -> Fault) -> bool {
    let (mechanism, pair) = (Complaining(fault), Pair::new(0, 1));
    let verifier = Verifier::new(copies_of(&mechanism), &pair, vec![()], 2);
    match verifier.check(&PureDp, &ln_times(2, 1)) {
        Ok(verdict) => verdict.holds(),
        // No answer, and no difference either.
        Err(error) => error == VerifyError::NothingAnswered,
    }
}

/// Never starts, and says why.
#[derive(Clone)]
struct NeverStarts(fn(u8) -> Fault);

impl Mechanism<u8> for NeverStarts {
    type Machine = Complaint;

    fn start(&self, data: &Arc<u8>, _: &mut Coins<'_>) -> Result<Complaint, Fault> {
        Err(self.0(**data))
    }
}

/// A launch tells the two apart, so a view must do so too.
#[test]
fn how_a_start_fails_is_part_of_the_view() {
    let law = |fault: fn(u8) -> Fault, data| {
        views(
            move || NeverStarts(fault),
            &Arc::new(data),
            || Script::new([()]),
            1,
        )
        .unwrap()
    };
    let same = |fault| law(fault, 0).is_same_as(&law(fault, 1));
    assert!(same(|_| Fault::Failed));
    assert!(!same(|data| match data {
        0 => Fault::Failed,
        _ => Fault::InvalidQuery("the row is there"),
    }));
}

#[test]
fn what_a_fault_says_is_compared_too() {
    assert!(holds(|_| Fault::InvalidQuery("always")));
    assert!(!holds(|data| Fault::InvalidQuery(format!("{data}").leak())));
    assert!(holds(|_| Fault::RoundLimit(7)));
    assert!(!holds(|data| Fault::RoundLimit(data.into())));
}
