//! A middle may choose by a released value what to ask next: so what is behind one does not promise
//! that released values are only said, whatever the mechanism itself promises.
use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::middle::{MapAnswer, ThroughExt};
use queryables::prelude::*;
use queryables::verify::{Pair, Verifier, copies_of};

fn main() {
    let all = Predicate::new("all", |_: &u8| true);
    let count = Count::of(all).laplace(Epsilon::default()).unwrap();
    let pair = Pair::new(vec![7_u8], vec![7, 7]);
    let _ = Verifier::new(copies_of(&count), &pair, vec![()], 1).releases_only();

    let behind = count.through(MapAnswer::new(|count: i64| count));
    let _ = Verifier::new(copies_of(&behind), &pair, vec![()], 1).releases_only();
}

//~ E0277
//~ leave out `releases_only`
//~ does not promise to do nothing with released values but say them
