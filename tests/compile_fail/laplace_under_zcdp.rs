//! A Laplace mechanism states its loss under pure and Rényi privacy; elsewhere it is restated.

use std::sync::Arc;

use queryables::mechanisms::{NoisyCount, Predicate};
use queryables::prelude::*;

fn main() {
    let filter = launch(
        &Filter::concurrent(ZCdp, "1".parse().unwrap()),
        Arc::new(vec![1_u8]),
    )
    .unwrap();
    let count = Predicate::new("one", |row: &u8| *row == 1);
    let count = NoisyCount::new(count, "1".parse().unwrap()).unwrap();
    let _ = filter.release(&count);
}
