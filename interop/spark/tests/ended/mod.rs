//! Streams that end before all was sent.

use queryables::mechanisms::query::Unavailable;
use queryables::table::Table;
use queryables_spark::SparkEngine;

use crate::support::proxy::Proxy;
use crate::support::{Kind, Server};
use crate::visits::Visits;

/// Spark ends each stream after one message, in order and without an error, as it does by default after two
/// minutes; and each message has two groups. Whoever takes the end of a stream for the end of the answer
/// gets some of the groups, or none.
pub const SHORT: [&str; 3] = [
    "spark.connect.execute.reattachable.senderMaxStreamSize=1b",
    "spark.sql.execution.arrow.maxRecordsPerBatch=2",
    "spark.connect.grpc.arrow.maxBatchSize=1b",
];

/// The connection is cut at many places of an answer.
#[test]
fn an_answer_that_is_cut_is_right_or_unavailable() {
    let Some(server) = Server::new(Kind::Sail) else {
        return;
    };
    let visits = Visits::new(&server);
    let proxy = Proxy::new(server.port());
    let engine = SparkEngine::open(&proxy.remote()).unwrap();
    let table = engine.parquet(&[visits.path()], &visits.schema).unwrap();
    proxy.bytes();
    assert_eq!(table.tally(&visits.plan), Ok(visits.totals.clone()));
    let all = proxy.bytes();
    let mut unavailable = 0;
    for part in 0..40 {
        proxy.cut_after(all * part / 40);
        match table.tally(&visits.plan) {
            Ok(found) => assert_eq!(found, visits.totals, "cut after {part}/40"),
            Err(Unavailable) => unavailable += 1,
        }
    }
    // The last bytes say only that what was asked is forgotten.
    assert!(unavailable > 10, "{unavailable} of 40");
}
