//! Gaussian noise has no loss under pure privacy.

use std::sync::Arc;

use queryables::mechanisms::{GaussianCount, Predicate};
use queryables::prelude::*;

fn main() {
    let filter = launch(
        &Filter::concurrent(PureDp, "1".parse().unwrap()),
        Arc::new(vec![1_u8]),
    )
    .unwrap();
    let count = Predicate::new("one", |row: &u8| *row == 1);
    let count = GaussianCount::new(count, "1".parse().unwrap()).unwrap();
    let _ = filter.release(&count);
}
