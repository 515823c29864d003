//! The curator's server, with tables of Apache Spark and Sail as well. It has the commands and the curator's
//! file of `queryables-server`; there, a dataset may say
//! `data = { spark = { engine = "sc://127.0.0.1:15002", rows = { table = ["default", "visits"] } } }`, or
//! `rows = { parquet = ["/data/visits"] }`.

use std::process::ExitCode;
use std::sync::Arc;

use queryables::table::{Schema, Table};
use queryables_server::{SparkRows, SparkSource};
use queryables_spark::{OpenError, SparkEngine, SparkTable};

fn main() -> ExitCode {
    queryables_server::run(Some(open))
}

fn open(source: &SparkSource, schema: &Schema) -> Result<Arc<dyn Table>, String> {
    let table = table(source, schema).map_err(|error| error.to_string())?;
    Ok(Arc::new(table))
}

fn table(source: &SparkSource, schema: &Schema) -> Result<SparkTable, OpenError> {
    let engine = SparkEngine::open(&source.engine)?;
    match &source.rows {
        SparkRows::Table(name) => engine.table(&parts(name), schema),
        SparkRows::Parquet(paths) => engine.parquet(&parts(paths), schema),
    }
}

fn parts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
