//! A person in the middle has no way to the data: there is no place to ask for it.

use queryables::machine::{Coins, Fault};
use queryables::middle::{Middle, Move};

struct Peeking;

impl Middle<(), bool> for Peeking {
    type OuterQuery = ();
    type OuterAnswer = bool;

    fn on_query(
        &mut self,
        (): (),
        data: &bool,
        _: &mut Coins<'_>,
    ) -> Result<Move<(), bool>, Fault> {
        Ok(Move::Answer(*data))
    }

    fn on_answer(&mut self, answer: bool, _: &mut Coins<'_>) -> Result<Move<(), bool>, Fault> {
        Ok(Move::Answer(answer))
    }
}

fn main() {}

//~ E0050
//~ on_query
