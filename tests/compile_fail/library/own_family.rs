//! A family of trade-off functions without a theorem.

use queryables::account::profiles::Family;

#[derive(Clone, Debug)]
struct Mine;

impl Family for Mine {}

fn main() {}

//~ E0277
//~ Family
