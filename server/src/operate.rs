//! The operator's commands.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use queryables::ledger::{Decision, Ledger, Line, Outcome, StoreError};
use queryables::table::{Schema, Table};
use queryables_arrow::{ArrowTable, check_csv};
use queryables_postgres::{PostgresStore, PostgresTable};

use crate::config::{
    self, Config, DatasetConfig, LedgerPlace, PostgresSource, Source, SparkSource,
};
use crate::listen::{self, Edge};
use crate::service::Service;
use crate::timeline;
use crate::token::{TokenHash, new_token};

/// Opens the rows that a curator's file names in Spark. What it says of a failure is shown to the operator.
///
/// [`run`](crate::run) takes one.
pub type OpenSpark = fn(&SparkSource, &Schema) -> Result<Arc<dyn Table>, String>;

type Done = Result<(), Box<dyn Error>>;

/// Reads a curator's file, or says what is wrong with it.
fn read(file: &Path) -> Result<Config, Box<dyn Error>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let config = config::read(&text, folder);
    Ok(config.map_err(|complaints| {
        let lines = complaints.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    })?)
}

fn open_data(
    dataset: &DatasetConfig,
    open_spark: Option<OpenSpark>,
) -> Result<Arc<dyn Table>, String> {
    let schema = &dataset.schema;
    let table = match &dataset.data {
        Source::Csv(files) => ArrowTable::csv(schema, files.paths()),
        Source::Parquet(files) => ArrowTable::parquet(schema, files.paths()),
        // Opening runs canaries: small tables whose tallies are known.
        Source::Postgres(PostgresSource {
            connection,
            namespace,
            table,
        }) => {
            let table = PostgresTable::open(connection, namespace, table, schema);
            return Ok(Arc::new(table.map_err(|error| error.to_string())?));
        }
        Source::Spark(source) => {
            let open = open_spark.ok_or(
                "this program has no client of Spark; queryables-server-spark, in interop/spark/server, has",
            )?;
            return open(source, schema);
        }
    };
    Ok(Arc::new(table.map_err(|error| error.to_string())?))
}

/// What a store says, with the commands of this program for what a program would call.
fn in_commands(error: &StoreError) -> String {
    match error {
        StoreError::NotFound => {
            "there is no ledger: if nothing is spent, make it with `ledger create`".to_owned()
        }
        StoreError::AlreadyExists => {
            "there is a ledger, or another file, already: `serve` goes on with a ledger".to_owned()
        }
        other => other.to_string(),
    }
}

fn open_ledger(dataset: &DatasetConfig) -> Result<Ledger, String> {
    match &dataset.ledger {
        LedgerPlace::File(path) => {
            let ledger = Ledger::open(path, &dataset.name);
            ledger.map_err(|error| format!("{}: {}", path.display(), in_commands(&error)))
        }
        // The parameters may contain a password.
        LedgerPlace::Postgres(parameters) => PostgresStore::connect(parameters)
            .and_then(|store| Ledger::on(store, &dataset.name))
            .map_err(|error| format!("the ledger in PostgreSQL: {}", in_commands(&error))),
    }
}

pub fn serve(file: &Path, open_spark: Option<OpenSpark>) -> Done {
    let config = read(file)?;
    let edge = Edge {
        address: config.listen,
        tls: config.tls.clone(),
        hosts: config.hosts.clone(),
        threads: config.threads,
        quantum: config.quantum,
    };
    let service = Service::new(config, |dataset| {
        Ok((
            open_data(dataset, open_spark)?,
            open_ledger(dataset)?.keeping_answers(),
        ))
    });
    let service = service.map_err(|problems| problems.join("\n"))?;
    let scheme = edge.tls.as_ref().map_or("http", |_| "https");
    listen::serve(service, edge, |address| {
        println!("listening on {scheme}://{address}");
    })?;
    Ok(())
}

pub fn check(file: &Path, open_spark: Option<OpenSpark>) -> Done {
    let config = read(file)?;
    let mut problems = Vec::new();
    for dataset in &config.datasets {
        let opened = open_data(dataset, open_spark)
            .map(drop)
            .and(open_ledger(dataset).map(drop));
        if let Err(problem) = opened {
            problems.push(format!("dataset {:?}: {problem}", dataset.name));
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n").into());
    }
    // Such a table can be served. What is said here is about the data, and for the operator alone.
    for dataset in &config.datasets {
        if let Source::Csv(files) = &dataset.data {
            for unread in check_csv(&dataset.schema, files.paths())? {
                println!("dataset {:?}: {unread}", dataset.name);
            }
        }
    }
    println!(
        "{} datasets, {} analysts: all can be opened",
        config.datasets.len(),
        config.analysts.len()
    );
    Ok(())
}

pub fn token(name: &str) -> Done {
    let token = new_token()?;
    println!("The token of {name}, which is shown only now: {token}");
    println!(
        "In the curator's file: token_sha256 = \"{}\"",
        TokenHash::of(&token).to_hex()
    );
    Ok(())
}

fn dataset(file: &Path, name: &str) -> Result<DatasetConfig, Box<dyn Error>> {
    let mut datasets = read(file)?.datasets.into_iter();
    let found = datasets.find(|dataset| dataset.name == name);
    Ok(found.ok_or_else(|| format!("there is no dataset {name:?} in {}", file.display()))?)
}

pub fn create(file: &Path, name: &str) -> Done {
    let dataset = dataset(file, name)?;
    let made = match &dataset.ledger {
        LedgerPlace::File(path) => Ledger::create(path, &dataset.name),
        LedgerPlace::Postgres(parameters) => {
            PostgresStore::create(parameters).and_then(|store| Ledger::on(store, &dataset.name))
        }
    };
    made.map_err(|error| in_commands(&error))?;
    println!("made the ledger of {name:?}");
    Ok(())
}

/// Every line of the record, in their order.
fn lines(
    ledger: &Ledger,
    mut each: impl FnMut(&Line) -> io::Result<()>,
) -> Result<u64, Box<dyn Error>> {
    let mut from = 1;
    loop {
        let lines = ledger.lines(from, 1000)?;
        let Some(last) = lines.last() else {
            return Ok(from - 1);
        };
        from = last.sequence() + 1;
        for line in &lines {
            each(line)?;
        }
    }
}

/// A text for a terminal: analysts wrote parts of it, and control characters could write anything.
fn printable(text: &str) -> String {
    let escaped = |character: char| match character.is_control() {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    text.chars().map(escaped).collect()
}

pub fn show(file: &Path, name: &str) -> Done {
    let ledger = open_ledger(&dataset(file, name)?)?;
    let mut out = io::stdout().lock();
    lines(&ledger, |line| match line {
        Line::Entry(entry) => {
            let decision = match &entry.decision {
                Decision::Admitted => "admitted",
                Decision::Refused(_) => "refused",
                Decision::OverQuota { .. } => "over quota",
                _ => "denied",
            };
            let times = if entry.times > 1 {
                format!(" ({} times)", entry.times)
            } else {
                String::new()
            };
            writeln!(
                out,
                "{:>6}  {}  {:<12}  {decision}{times}  {}  {}",
                entry.sequence,
                entry.time,
                entry.party,
                entry.loss,
                printable(&entry.mechanism.to_string()),
            )
        }
        Line::Outcome(done) => {
            let outcome = match done.outcome {
                Outcome::Started => "started",
                Outcome::Answered(_) => "answered",
                Outcome::Failed => "failed",
                _ => "interrupted",
            };
            writeln!(out, "{:>6}  {outcome}", done.sequence)
        }
        _ => Ok(()),
    })?;
    Ok(())
}

pub fn timeline(file: &Path, name: &str) -> Done {
    let dataset = dataset(file, name)?;
    let ledger = open_ledger(&dataset)?;
    let mut entries = Vec::new();
    lines(&ledger, |line| {
        // Shares have a budget of their own: what they cost is an entry here.
        if let Line::Entry(entry) = line
            && entry.filter == name
        {
            entries.push((**entry).clone());
        }
        Ok(())
    })?;
    let (unit, limit) = dataset.budget.numbers().next().unwrap_or_default();
    print!("{}", timeline::svg(name, unit, limit, &entries));
    Ok(())
}

pub fn verify(file: &Path, name: &str) -> Done {
    let ledger = open_ledger(&dataset(file, name)?)?;
    let entries = lines(&ledger, |_| Ok(()))?;
    println!("{entries} entries: every line has its checksum, and follows the one before");
    Ok(())
}

pub fn export(file: &Path, name: &str) -> Done {
    let ledger = open_ledger(&dataset(file, name)?)?;
    ledger.export(io::stdout().lock())?;
    Ok(())
}
