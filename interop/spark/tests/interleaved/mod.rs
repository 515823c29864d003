//! The example, as a test.

use queryables_spark::SparkEngine;

use crate::support::{Kind, Server};
use crate::visits::Visits;

#[allow(dead_code)]
#[path = "../../examples/interleaved.rs"]
mod example;

/// Each answer is compared with what is in the rows: 15 000 people, of whom 7 131 have a visit of 20 hours or
/// less, 8 616 one of 25 or less, and all a longer one; 375 in each state. The noise of a count has scale
/// 2, and that of the searches at most 16: what is asserted fails with a probability below 10⁻⁹.
pub fn a_search_and_a_sparse_vector_are_interleaved(visits: &Visits, engine: &SparkEngine) {
    let table = engine.parquet(&[visits.path()], &visits.schema).unwrap();
    let found = example::ask(table).unwrap();
    assert_eq!(found.spent, "2".parse().unwrap());
    assert!((found.all - 15_000.0).abs() < 3_000.0);
    assert!((found.late - 15_000.0).abs() < 3_000.0);
    assert_eq!(found.median, 25);
    let large: Vec<i64> = found.large.iter().map(|(_, people)| *people).collect();
    let is_near = |people: &i64| people.abs_diff(375) < 300;
    assert!(large.len() == 2 && large.iter().all(is_near), "{large:?}");
}

#[test]
fn a_search_and_a_sparse_vector_are_interleaved_on_sail() {
    if let Some(server) = Server::new(Kind::Sail) {
        let engine = SparkEngine::open(&server.remote()).unwrap();
        a_search_and_a_sparse_vector_are_interleaved(&Visits::new(&server), &engine);
    }
}
