//! A table has no attributes.
use queryables::data::Attribute;
use queryables::table::RowTable;

fn main() {
    let _ = Attribute::<RowTable, i64>::new("age", |_| 18);
}

//~ E0277
//~ `RowTable` is not a dataset
//~ a table has no closures over rows: ask what its schema offers, such as `schema.count()`
