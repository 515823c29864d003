//! Schemas with every kind of column.

use queryables::table::{Column, Domain, Kind, Schema, Value};

use crate::Draw;

/// Categories that need quotes, or are no words.
pub(crate) const CATEGORIES: [&str; 6] = ["CA", "NY", "it's", "\"quoted\"", "é", "a\tb\n"];

impl Draw {
    /// A schema. Columns of a kind may be there twice, or not at all.
    pub fn schema(&mut self) -> Schema {
        let mut columns = Vec::new();
        for name in [
            "n", "m", "small", "x", "y", "state", "word", "is it", "day", "at",
        ] {
            if self.one_in(5) {
                continue;
            }
            let column = match name {
                "n" => Column::new(name, Kind::Whole),
                "m" => Column::whole(name, -100..=100),
                "small" => {
                    let categories = (0..4).map(Value::Whole).collect();
                    Column::new(name, Kind::Whole).with(Domain::Categories(categories))
                }
                "x" => Column::new(name, Kind::Real),
                "y" => Column::real(name, -1.5..=80.0),
                "state" => Column::categories(name, CATEGORIES),
                "word" => Column::new(name, Kind::Text),
                "is it" => Column::new(name, Kind::Bool),
                "day" => Column::new(name, Kind::Date),
                _ => Column::new(name, Kind::Time),
            };
            columns.insert(self.below(columns.len() + 1), column);
        }
        if columns.is_empty() || !self.one_in(4) {
            let kind = *self.one_of(&[Kind::Whole, Kind::Whole, Kind::Text]);
            let place = self.below(columns.len() + 1);
            columns.insert(place, Column::new("the \"person\"", kind));
            Schema::of_people("the \"person\"", columns).unwrap()
        } else {
            Schema::of_rows(columns).unwrap()
        }
    }
}
