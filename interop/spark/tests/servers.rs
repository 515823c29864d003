//! Against real servers, which the tests start by themselves. Where there are none, they say so.

mod ended;
mod equal;
mod interleaved;
mod killed;
mod names;
mod refused;
mod settings;
mod support;
mod visits;

use queryables::table::Table;
use queryables_spark::SparkEngine;
use support::{Kind, Server, sql};

/// Spark takes long to start: everything that does not kill it is asked of one.
#[test]
fn spark_computes_what_the_reference_does() {
    let Some(mut server) = Server::with(Kind::Spark, &ended::SHORT) else {
        return;
    };
    refused::an_engine_that_computes_something_else_is_not_opened(&server);
    // Opening asks many questions: two engines do for all of this.
    let asked = killed::Asked::new(&server);
    let engine = SparkEngine::open(&server.session()).unwrap();
    let visits = &asked.visits;
    let table = engine.parquet(&[visits.path()], &visits.schema).unwrap();
    assert_eq!(table.tally(&visits.plan), Ok(visits.totals.clone()));
    equal::compare(&server, &engine, 100);
    names::names_are_quoted(&server, &engine);
    names::names_that_differ_in_case_are_not_mixed_up(&server, &engine);
    interleaved::a_search_and_a_sparse_vector_are_interleaved(visits, &engine);
    settings::nothing_is_computed_with_other_settings(&server, &asked);
    killed::a_tally_that_takes_too_long_is_unavailable(visits, &engine);
    a_session_that_was_closed_is_made_anew(&server, &asked);
    killed::executors_are_killed(&mut server, &asked, 8);
}

fn a_session_that_was_closed_is_made_anew(server: &Server, asked: &killed::Asked) {
    let visits = &asked.visits;
    let table = asked.engine.parquet(&[visits.path()], &visits.schema);
    sql::close(&server.remote(), &asked.proxy.session());
    assert_eq!(
        table.unwrap().tally(&visits.plan),
        Ok(visits.totals.clone())
    );
}
