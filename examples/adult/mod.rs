//! An extract of the Adult (census income) data: Becker and Kohavi 1996, UCI Machine Learning
//! Repository, CC BY 4.0. See `examples/data/README.md`.
#![allow(dead_code)] // No example uses all of it.

use std::error::Error;
use std::fmt;
use std::num::ParseIntError;

/// What an example returns.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Levels of education, from the lowest to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Education {
    School,
    HighSchool,
    College,
    Bachelor,
    Master,
}

use Education::*;

impl Education {
    pub const ALL: [Self; 5] = [School, HighSchool, College, Bachelor, Master];
}

impl fmt::Display for Education {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            School => "school",
            HighSchool => "high school",
            College => "college",
            Bachelor => "bachelor",
            Master => "master",
        })
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Person {
    pub age: u32,
    pub years_of_education: u32,
    pub is_male: bool,
    pub hours_per_week: u32,
    pub earns_over_50k: bool,
}

impl Person {
    pub fn education(&self) -> Education {
        match self.years_of_education {
            0..=8 => School,
            9 => HighSchool,
            10..=12 => College,
            13 => Bachelor,
            _ => Master,
        }
    }
}

/// All rows.
pub fn people() -> Result<Vec<Person>, ParseIntError> {
    let rows = include_str!("../data/adult.csv").lines().skip(1);
    rows.map(|row| {
        let mut fields = row.split(',');
        let mut next = || fields.next().unwrap_or_default();
        Ok(Person {
            age: next().parse()?,
            years_of_education: next().parse()?,
            is_male: next() == "Male",
            hours_per_week: next().parse()?,
            earns_over_50k: next() == ">50K",
        })
    })
    .collect()
}
