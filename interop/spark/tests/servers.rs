//! Against real servers, which the tests start by themselves. Where there are none, they say so.

mod ended;
mod equal;
mod interleaved;
mod killed;
mod names;
mod refused;
mod support;
mod visits;

use queryables::table::Table;
use queryables_spark::SparkEngine;
use support::proxy::Proxy;
use support::{Kind, Server, sql};

/// Spark takes long to start: everything that does not kill it is asked of one.
#[test]
fn spark_computes_what_the_reference_does() {
    let Some(mut server) = Server::with(Kind::Spark, &ended::SHORT) else {
        return;
    };
    refused::an_engine_is_opened_if_it_computes_what_it_should(&server);
    let visits = visits::Visits::new(&server);
    let engine = SparkEngine::open(&server.session()).unwrap();
    let table = engine.parquet(&[visits.path()], &visits.schema).unwrap();
    assert_eq!(table.tally(&visits.plan), Ok(visits.totals.clone()));
    equal::compare(&server, &engine, 100);
    names::names_are_quoted(&server);
    names::names_that_differ_in_case_are_not_mixed_up(&server);
    interleaved::a_search_and_a_sparse_vector_are_interleaved(&server);
    a_session_that_was_closed_is_made_anew(&server, &visits);
    killed::a_tally_that_takes_too_long_is_unavailable(&server);
    killed::executors_are_killed(&mut server, 8);
}

fn a_session_that_was_closed_is_made_anew(server: &Server, visits: &visits::Visits) {
    let proxy = Proxy::new(server.port());
    let engine = SparkEngine::open(&proxy.remote()).unwrap();
    let table = engine.parquet(&[visits.path()], &visits.schema).unwrap();
    sql::close(&server.remote(), &proxy.session());
    assert_eq!(table.tally(&visits.plan), Ok(visits.totals.clone()));
}
