//! An extract of the Adult (census income) data: Becker and Kohavi 1996, UCI Machine Learning
//! Repository, CC BY 4.0. See `examples/data/README.md`.
#![allow(dead_code)] // No example uses all of it.

use std::error::Error;

/// One row.
#[derive(Clone, Debug)]
pub struct Person {
    pub age: u32,
    pub years_of_education: u32,
    pub is_male: bool,
    pub hours_per_week: u32,
    pub earns_over_50k: bool,
}

/// All rows.
pub fn people() -> Result<Vec<Person>, Box<dyn Error>> {
    csv::Reader::from_reader(include_str!("../data/adult.csv").as_bytes())
        .into_records()
        .map(|record| {
            let record = record?;
            let field = |index: usize| record.get(index).ok_or("a row is too short");
            Ok(Person {
                age: field(0)?.parse()?,
                years_of_education: field(1)?.parse()?,
                is_male: field(2)? == "Male",
                hours_per_week: field(3)?.parse()?,
                earns_over_50k: field(4)? == ">50K",
            })
        })
        .collect()
}
