//! Canaries on real engines.

use queryables::table::CanaryError;
use queryables_spark::{OpenError, SparkEngine};

use crate::support::proxy::Proxy;
use crate::support::{Kind, Server};

/// Without canaries an engine would be used that rounds otherwise.
pub fn an_engine_that_computes_something_else_is_not_opened(server: &Server) {
    let proxy = Proxy::new(server.port());
    proxy.replace("FLOOR(", "ROUND(");
    let canary = "missing values";
    let refused = OpenError::Canary(CanaryError::Differs { canary });
    assert_eq!(SparkEngine::open(&proxy.remote()).map(drop), Err(refused));
    // Zero instead of a missing value where two are compared.
    let proxy = Proxy::new(server.port());
    proxy.replace(" IS NOT NULL", " IS NULL    ");
    let refused = SparkEngine::open(&proxy.remote()).map(drop);
    assert!(matches!(
        refused,
        Err(OpenError::Canary(CanaryError::Differs { .. }))
    ));
}

#[test]
fn sail_is_refused_if_a_canary_differs() {
    if let Some(server) = Server::new(Kind::Sail) {
        an_engine_that_computes_something_else_is_not_opened(&server);
    }
}

/// Nobody is there, and nobody is waited for.
#[test]
fn an_engine_that_is_not_there_is_not_opened() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let opened = SparkEngine::open(&format!("sc://127.0.0.1:{port}"));
    assert!(matches!(opened, Err(OpenError::Unavailable(_))));
}
