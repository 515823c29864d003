//! A count has no numbers, so that clamping it would do nothing.
use queryables::table::{Column, Schema};

fn main() {
    let schema = Schema::of_rows([Column::whole("age", 0..=120)]).unwrap();
    let _ = schema.count().clamped(0..=10);
}

//~ E0277
//~ ask for a sum, a mean or a variance: a count has no numbers to clamp
