//! A person in the middle has no way to the data: there is no place to ask for it.

use queryables::machine::{Coins, Fault};
use queryables::middle::{Middle, Move, MoveOf};

struct Peeking;

impl Middle for Peeking {
    type OuterQuery = ();
    type OuterAnswer = bool;
    type InnerQuery = ();
    type InnerAnswer = bool;

    fn on_query(
        &mut self,
        (): (),
        data: &bool,
        _: &mut Coins<'_>,
    ) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Answer(*data))
    }

    fn on_answer(&mut self, answer: bool, _: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Answer(answer))
    }
}

fn main() {}
