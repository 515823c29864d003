//! A text is not a number.
use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let adult = Predicate::<Vec<u32>>::new("at least 18", |age: &u32| *age >= 18);
    let _ = Count::of(adult).gaussian("0.1");
}

//~ E0277
//~ write a ρ or a μ: `rho!(0.02)`, `mu!(0.5)`, or `text.parse::<Rho>()?` for a text from outside
//~ neither a ρ nor a μ
