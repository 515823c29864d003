//! A literal is a number, not a text.
use queryables::prelude::*;

fn main() {
    let _ = epsilon!("0.1");
}

//~ E0080
//~ write the number without quotes
