//! A borrowed context cannot be replaced by another: the next machine would draw from known coins,
//! and could not be stopped.
use queryables::machine::NotPrivateSeededCoins;
use queryables::middle::{Middle, Move};
use queryables::prelude::*;

#[derive(Clone)]
struct Swaps;

impl Middle<(), u8> for Swaps {
    type OuterQuery = ();
    type OuterAnswer = u8;

    fn on_query(&mut self, (): (), coins: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        let known = Box::leak(Box::new(NotPrivateSeededCoins::new(7)));
        let known: &mut Coins<'_> = Box::leak(Box::new(Coins::new(known)));
        std::mem::swap(coins, known);
        Ok(Move::Ask(()))
    }

    fn on_answer(&mut self, answer: u8, _: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        Ok(Move::Answer(answer))
    }
}

fn main() {}

//~ E0277
//~ CoinSource
