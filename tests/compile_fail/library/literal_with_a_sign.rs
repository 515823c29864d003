//! A literal is read when the program is compiled.
use queryables::prelude::*;

fn main() {
    let _ = epsilon!(-0.1);
}

//~ E0080
//~ write a number that is not negative
