//! An attribute has a whole or a real number, which is not converted silently.
use queryables::data::Attribute;

fn main() {
    let _ = Attribute::<Vec<u32>, _>::new("age", |age: &u32| *age);
}

//~ E0277
//~ let the closure return an `i64`, an `f64`, a `bool` or a `usize`: `u32` is not the value of an attribute
//~ convert it: `i64::from(…)`, `f64::from(…)`
//~ for a type of your own, implement `queryables::data::Value`
