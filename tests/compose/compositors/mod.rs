//! The compositors of the papers, one by one.

mod addressed_filter;
mod concurrent;
mod erased;
mod maps;
mod messages;
mod odometers;
mod parts;
mod sequential;

use std::sync::Arc;

use crate::common::{Count, at, epsilon};
use queryables::machine::NotPrivateSeededCoins;
use queryables::prelude::*;

pub fn rows() -> Arc<Vec<u32>> {
    Arc::new(vec![1, 2, 3, 4, 5])
}

pub fn coins() -> NotPrivateSeededCoins {
    NotPrivateSeededCoins::new(0)
}

pub type Numbered = crate::common::Stated<Epsilon, Count>;

pub fn numbered(loss: &str) -> Numbered {
    at(epsilon(loss), Count::default())
}
