//! Only machines can be inspected: inspecting a handle would confirm a guess about its data.
use queryables::compose::RunningFilterOf;
use queryables::machine::{Inspect, StateKey};
use queryables::prelude::*;

struct Oracle(RunningFilterOf<Vec<u8>, PureDp>);

impl Inspect for Oracle {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.0);
    }
}

fn main() {}

//~ E0277
//~ Inspect
