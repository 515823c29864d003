//! A handle draws from the operating system: a caller that could choose its coins would know its
//! noise.
use std::sync::Arc;

use queryables::machine::{CoinSource, NotPrivateSeededCoins};
use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let filter = Filter::concurrent(PureDp, Epsilon::default());
    let filter = start(&filter, Arc::new(vec![1_u8])).unwrap();
    let all = Predicate::new("all", |_: &u8| true);
    let count = Count::of(all).laplace(Epsilon::default()).unwrap();
    let _ = filter.release(&count, &mut NotPrivateSeededCoins::new(7).coins());
}

//~ E0061
//~ NotPrivateSeededCoins
