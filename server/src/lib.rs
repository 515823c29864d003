//! A curator's server: remote analysts ask tables with a fixed vocabulary, under budgets that survive
//! restarts. `spec/server.md` describes the protocol and the configuration.
//!
//! The program is [`run`] without an engine of its own. A program that links the client of another engine
//! passes the function that opens it: `queryables-server-spark` is one, and is not part of this package
//! because its build needs `protoc`.

mod analyst;
mod answer;
mod asking;
mod body;
mod children;
mod coins;
mod config;
mod dataset;
mod demo;
mod http;
mod issuer;
mod launches;
mod limits;
mod listen;
#[cfg(test)]
mod local;
mod loss;
mod metrics;
mod openapi;
mod operate;
mod page;
mod place;
mod problem;
mod question;
mod rule;
mod seat;
mod service;
mod terminal;
mod timeline;
mod tls;
mod token;
mod view;
#[cfg(test)]
mod vocabulary_tests;
mod write_timeout;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use config::{SparkRows, SparkSource};
pub use operate::OpenSpark;

/// Answers questions about datasets under a privacy budget.
#[derive(Parser)]
#[command(version, about)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the census extract, with a new budget, a curator and two analysts.
    Demo {
        /// 0 is any that is free.
        #[arg(long, default_value_t = 8400)]
        port: u16,
    },
    /// Serves the datasets of a curator's file.
    Serve { file: PathBuf },
    /// Says what is wrong with a curator's file, line by line, and opens the data.
    Check { file: PathBuf },
    /// Makes a token, and says what to write into the curator's file.
    Token { name: String },
    /// Asks a server: once and with a reply in JSON, or at a prompt.
    Ask(terminal::Arguments),
    /// The operator's view of a dataset's ledger. The server must not be running.
    Ledger {
        #[command(subcommand)]
        command: LedgerCommand,
    },
}

#[derive(Subcommand)]
enum LedgerCommand {
    /// Makes the ledger of a new dataset. `serve` never makes one: a wrong path would be a new budget.
    Create { file: PathBuf, dataset: String },
    /// What was asked and decided.
    Show { file: PathBuf, dataset: String },
    /// Draws what was spent after each launch, as SVG.
    Timeline { file: PathBuf, dataset: String },
    /// Reads every line and compares the checksums.
    Verify { file: PathBuf, dataset: String },
    /// Writes the record as JSON Lines (`spec/ledger.md`).
    Export { file: PathBuf, dataset: String },
}

/// Runs the program with the arguments of the process. `open_spark` opens tables of Spark, where the
/// program can.
///
/// # Examples
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     queryables_server::run(None)
/// }
/// ```
#[must_use]
pub fn run(open_spark: Option<OpenSpark>) -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    queryables::machine::silence_guarded_panics();
    let done = match Program::parse().command {
        Command::Demo { port } => demo::run(port),
        Command::Serve { file } => operate::serve(&file, open_spark),
        Command::Check { file } => operate::check(&file, open_spark),
        Command::Token { name } => operate::token(&name),
        Command::Ask(arguments) => terminal::run(&arguments),
        Command::Ledger { command } => match command {
            LedgerCommand::Create { file, dataset } => operate::create(&file, &dataset),
            LedgerCommand::Show { file, dataset } => operate::show(&file, &dataset),
            LedgerCommand::Timeline { file, dataset } => operate::timeline(&file, &dataset),
            LedgerCommand::Verify { file, dataset } => operate::verify(&file, &dataset),
            LedgerCommand::Export { file, dataset } => operate::export(&file, &dataset),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
