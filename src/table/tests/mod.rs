//! The language of questions: what is read is what was written, and nothing else is read.

mod errors;
mod evaluation;
mod hostile;
mod round_trips;
mod schemas;
mod strategies;

use super::{Column, Kind, Schema};

/// A table with a column of each type.
fn patients() -> Schema {
    let columns = [
        Column::new("patient", Kind::Whole),
        Column::whole("age", 0..=120),
        Column::new("visits", Kind::Whole),
        Column::real("weight", 0.0..=500.0),
        Column::categories("state", ["CA", "NY", "it's"]),
        Column::new("note", Kind::Text),
        Column::new("insured", Kind::Bool),
        Column::new("born", Kind::Date),
        Column::new("seen", Kind::Time),
        Column::new("home state", Kind::Text),
    ];
    Schema::of_people("patient", columns).unwrap()
}

/// The message of an error, without its line and column in the JSON.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap().to_owned()
}
