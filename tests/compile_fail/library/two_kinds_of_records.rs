//! A dataset has one kind of record: losses about people and losses about visits do not add up.
use std::sync::Arc;

use queryables::data::{Dataset, Predicate};
use queryables::mechanisms::Count;
use queryables::prelude::*;

struct Person;
struct Visit;

struct Hospital {
    people: Vec<Person>,
    visits: Vec<Visit>,
}

impl Dataset for Hospital {
    type Record<'a> = &'a Person;

    fn len(&self) -> usize {
        self.people.len()
    }

    fn at(&self, index: usize) -> &Person {
        &self.people[index]
    }
}

fn main() {
    let hospital = Hospital { people: vec![], visits: vec![] };
    let _ = hospital.visits.len();
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(hospital)).unwrap();
    let people = Predicate::new("people", |_: &Person| true);
    let _ = filter.release(&Count::of(people).laplace(Epsilon::default()).unwrap());
    let visits = Predicate::new("visits", |_: &Visit| true);
    let _ = filter.release(&Count::of(visits).laplace(Epsilon::default()).unwrap());
}

//~ E0271
//~ <Hospital as …Dataset>::Record<'_> == &Visit
