//! A custom measure prices ε-DP only if it states what ε-DP implies.

use queryables::mechanisms::RandomizedResponse;
use queryables::prelude::*;
use queryables::privacy::{Distance, Measure};

#[derive(Clone, Debug, PartialEq)]
struct Own;

impl Measure for Own {
    type Loss = Delta;

    fn zero(&self) -> Delta {
        Delta::ZERO
    }

    fn join(&self, one: &Delta, other: &Delta) -> Delta {
        *one.max(other)
    }

    fn group(&self, _: &Delta, _: Distance) -> Result<Delta, UnknownLoss> {
        Err(UnknownLoss("none"))
    }
}

fn loss_of(mechanism: &impl Private<Own, AddRemove>) {
    let _ = mechanism.loss(&Own);
}

fn main() {
    loss_of(&RandomizedResponse::new("1".parse().unwrap()).unwrap());
}

//~ E0277
//~ state the loss under … itself: … is not known to imply it
//~ for a measure of your own, implement `Implies<…>` for …
