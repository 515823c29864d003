//! OpenDP's queryables are made by OpenDP only.
use opendp::interactive::Queryable;

fn main() {
    let _ = Queryable::new_external(|query: &u8| Ok(*query));
}

//~ E0624
//~ new_external
