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
    let rows = include_str!("../data/adult.csv").lines().skip(1);
    rows.map(|row| {
        let mut fields = row.split(',');
        let mut next = || fields.next().ok_or("a row is too short");
        Ok(Person {
            age: next()?.parse()?,
            years_of_education: next()?.parse()?,
            is_male: next()? == "Male",
            hours_per_week: next()?.parse()?,
            earns_over_50k: next()? == ">50K",
        })
    })
    .collect()
}
