//! A float is not an exact decimal.
use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let adult = Predicate::<Vec<u32>>::new("at least 18", |age: &u32| *age >= 18);
    let _ = Count::of(adult).laplace(0.1);
}

//~ E0277
//~ write an ε: `epsilon!(0.1)`, or `text.parse::<Epsilon>()?` for a text from outside
//~ not an ε
//~ a float or a text is not an exact decimal: `epsilon!` reads one when it is compiled
