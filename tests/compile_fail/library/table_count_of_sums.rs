//! A sum does not say from how many rows it is, so that small groups cannot be withheld.
use queryables::prelude::*;
use queryables::table::{Column, RowTable, Schema};

fn main() {
    let columns = [Column::whole("age", 0..=120), Column::categories("state", ["CA", "NY"])];
    let schema = Schema::of_rows(columns).unwrap();
    let sums = schema.sum("age").unwrap().by("state").unwrap().laplace(epsilon!(1)).unwrap();
    let _ = sums.reported_at_least::<RowTable>(confidence!(0.95), 10.0);
}

//~ E0277
//~ ask for a count, a mean or a variance: a sum does not say from how many rows it is
