//! The curator's file.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use queryables::table::Schema;
use serde::Deserialize;
use tokio_rustls::TlsAcceptor;
use toml::Spanned;

use crate::issuer::{Issuer, IssuerConfig};
use crate::limits::Limits;
use crate::loss::LossText;
use crate::problem::advised;
use crate::rule::{Rule, RuleText};
use crate::tls::TlsFiles;
use crate::token::TokenHash;

/// A curator's file, as it is written. `spec/server.md` describes every field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    #[serde(default = "loopback")]
    listen: Spanned<String>,
    #[serde(default)]
    plain_on_network: bool,
    #[serde(default)]
    tls: Option<Spanned<TlsFiles>>,
    #[serde(default)]
    issuer: Option<Spanned<IssuerConfig>>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default = "two")]
    threads: Spanned<usize>,
    #[serde(default)]
    response_quantum_milliseconds: u64,
    #[serde(default)]
    limits: Limits,
    curator: WrittenPerson,
    #[serde(default)]
    analyst: Vec<WrittenAnalyst>,
    dataset: Vec<WrittenDataset>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPerson {
    token_sha256: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnalyst {
    name: Spanned<String>,
    token_sha256: Spanned<String>,
    #[serde(default)]
    subject: Option<Spanned<String>>,
    #[serde(default)]
    expires: Option<Spanned<toml::value::Datetime>>,
    #[serde(default)]
    limits: Option<Limits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDataset {
    name: Spanned<String>,
    data: Spanned<Source>,
    ledger: Spanned<LedgerPlace>,
    schema: Spanned<toml::Value>,
    budget: Spanned<LossText>,
    #[serde(default)]
    rule: Option<Spanned<RuleText>>,
    #[serde(default)]
    halting: bool,
    #[serde(default)]
    smallest: Option<Spanned<LossText>>,
    #[serde(default)]
    share_questions: bool,
    #[serde(default)]
    analysts: BTreeMap<String, Spanned<WrittenSeat>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSeat {
    #[serde(default)]
    quota: Option<LossText>,
}

fn loopback() -> Spanned<String> {
    Spanned::new(0..0, "127.0.0.1:8400".to_owned())
}

fn two() -> Spanned<usize> {
    Spanned::new(0..0, 2)
}

/// Where data is. It is opened for reading.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    Csv(Files),
    Parquet(Files),
    Postgres(PostgresSource),
    Spark(SparkSource),
}

/// A table of PostgreSQL.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresSource {
    /// The parameters of a connection, such as `host=/run/postgresql dbname=census`.
    pub connection: String,
    #[serde(default = "public")]
    pub namespace: String,
    pub table: String,
}

/// Rows that Apache Spark or Sail reads, as a curator's file names them: what a function that is passed to
/// `run` opens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparkSource {
    /// Its address, such as `sc://127.0.0.1:15002`.
    pub engine: String,
    /// Which rows.
    pub rows: SparkRows,
}

/// Which rows of a [`SparkSource`] a dataset has.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SparkRows {
    /// A table or a view of the catalog, by the parts of its name.
    Table(Vec<String>),
    /// Files or folders of Parquet, as the engine finds them.
    Parquet(Vec<String>),
}

fn public() -> String {
    "public".to_owned()
}

/// One file, or several with the same columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Files {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl Files {
    /// Where they are, if relative paths begin in this folder.
    fn in_folder(&self, folder: &Path) -> Vec<PathBuf> {
        let files = match self {
            Self::One(file) => std::slice::from_ref(file),
            Self::Several(files) => files,
        };
        files.iter().map(|file| folder.join(file)).collect()
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        self.in_folder(Path::new(""))
    }
}

impl Source {
    fn in_folder(self, folder: &Path) -> Self {
        match self {
            Self::Csv(files) => Self::Csv(Files::Several(files.in_folder(folder))),
            Self::Parquet(files) => Self::Parquet(Files::Several(files.in_folder(folder))),
            Self::Postgres(_) | Self::Spark(_) => self,
        }
    }
}

/// Where a ledger is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LedgerPlace {
    /// A file of redb.
    File(PathBuf),
    /// The parameters of a connection, such as `host=/run/postgresql dbname=census`.
    Postgres(String),
}

impl LedgerPlace {
    fn in_folder(self, folder: &Path) -> Self {
        match self {
            Self::File(file) => Self::File(folder.join(file)),
            Self::Postgres(parameters) => Self::Postgres(parameters),
        }
    }
}

/// What a curator's file says, checked.
pub struct Config {
    pub listen: SocketAddr,
    pub tls: Option<TlsAcceptor>,
    pub issuer: Option<Issuer>,
    pub hosts: Vec<String>,
    pub threads: usize,
    /// Replies to questions take a multiple of this; zero is no such thing.
    pub quantum: Duration,
    pub curator: TokenHash,
    pub analysts: Vec<AnalystConfig>,
    pub datasets: Vec<DatasetConfig>,
}

pub struct AnalystConfig {
    pub name: String,
    pub token: TokenHash,
    /// The `sub` of the issuer's tokens for this analyst.
    pub subject: Option<String>,
    /// In seconds since 1970.
    pub expires: Option<u64>,
    pub limits: Limits,
}

pub struct DatasetConfig {
    pub name: String,
    pub data: Source,
    pub ledger: LedgerPlace,
    pub schema: Schema,
    pub budget: LossText,
    pub rule_text: RuleText,
    pub rule: Rule,
    pub halting: bool,
    pub smallest: Option<LossText>,
    pub share_questions: bool,
    /// Who may ask it, each with a quota or without.
    pub analysts: Vec<(String, Option<LossText>)>,
}

/// Something is wrong in a line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// From 1.
    pub line: usize,
    pub problem: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

/// Collects what is wrong, with its line.
struct Complaints<'a> {
    text: &'a str,
    found: Vec<Complaint>,
}

impl Complaints<'_> {
    fn at(&mut self, place: usize, problem: impl Into<String>) {
        let before = self.text.get(..place).unwrap_or_default();
        self.found.push(Complaint {
            line: before.matches('\n').count() + 1,
            problem: problem.into(),
        });
    }

    fn token(&mut self, text: &Spanned<String>) -> TokenHash {
        TokenHash::read(text.get_ref()).unwrap_or_else(|| {
            let problem = "a token's SHA-256 has 64 hexadecimal digits: make one with `token NAME`";
            self.at(text.span().start, problem);
            TokenHash::of("")
        })
    }

    fn name(&mut self, text: &Spanned<String>, what: &str) -> String {
        let name = text.get_ref();
        if !is_name(name) {
            let problem = format!("{what}'s name has 1 to 64 letters, digits, `-`, `_` and `.`");
            self.at(text.span().start, problem);
        }
        name.clone()
    }
}

/// Whether this names a dataset, an analyst or a share: nothing in it needs an escape anywhere.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

/// Reads a curator's file. Relative paths in it are relative to its folder.
pub fn read(text: &str, folder: &Path) -> Result<Config, Vec<Complaint>> {
    let mut complaints = Complaints {
        text,
        found: Vec::new(),
    };
    let written: Written = match toml::from_str(text) {
        Ok(written) => written,
        Err(error) => {
            let place = error.span().map_or(0, |span| span.start);
            let problem = advised(error.message());
            let brackets = match problem.ends_with("invalid type: map, expected a sequence") {
                true => ": a table that can be there several times is written `[[…]]`",
                false => "",
            };
            complaints.at(place, problem + brackets);
            return Err(complaints.found);
        }
    };
    let listen = written.listen.get_ref().parse();
    let listen = listen.unwrap_or_else(|_| {
        let problem = "an address is written as 127.0.0.1:8400";
        complaints.at(written.listen.span().start, problem);
        SocketAddr::from(([127, 0, 0, 1], 0))
    });
    let tls = written.tls.as_ref().and_then(|files| {
        let acceptor = files.get_ref().in_folder(folder).acceptor();
        acceptor
            .map_err(|problem| complaints.at(files.span().start, problem))
            .ok()
    });
    let issuer = written.issuer.and_then(|issuer| {
        let place = issuer.span().start;
        let opened = issuer.into_inner().in_folder(folder).open();
        opened.map_err(|problem| complaints.at(place, problem)).ok()
    });
    if !listen.ip().is_loopback() && written.tls.is_none() && !written.plain_on_network {
        let problem = "this address is not loopback, and the server would speak plain HTTP: name a \
                       certificate in `tls`, put a proxy with TLS in front of it, or say \
                       `plain_on_network = true`";
        complaints.at(written.listen.span().start, problem);
    }
    if !(1..=256).contains(written.threads.get_ref()) {
        complaints.at(written.threads.span().start, "threads are from 1 to 256");
    }
    let curator = complaints.token(&written.curator.token_sha256);
    let mut analysts: Vec<AnalystConfig> = Vec::new();
    for analyst in &written.analyst {
        let name = complaints.name(&analyst.name, "an analyst");
        let token = complaints.token(&analyst.token_sha256);
        let place = analyst.name.span().start;
        if name == "curator" || analysts.iter().any(|other| other.name == name) {
            complaints.at(place, format!("there is another {name:?}"));
        }
        if token.is(curator) || analysts.iter().any(|other| other.token.is(token)) {
            complaints.at(
                analyst.token_sha256.span().start,
                "this token belongs to another",
            );
        }
        let subject = analyst.subject.as_ref().map(|subject| {
            let taken = |other: &AnalystConfig| other.subject.as_ref() == Some(subject.get_ref());
            if issuer.is_none() || analysts.iter().any(taken) {
                let problem = "a subject needs an `issuer`, and belongs to one analyst";
                complaints.at(subject.span().start, problem);
            }
            subject.get_ref().clone()
        });
        let expires = analyst.expires.as_ref().and_then(|date| {
            let seconds = seconds(date.get_ref());
            if seconds.is_none() {
                let problem = "a moment is written with its time and zone: 2027-01-01T00:00:00Z";
                complaints.at(date.span().start, problem);
            }
            seconds
        });
        analysts.push(AnalystConfig {
            name,
            token,
            subject,
            expires,
            limits: analyst.limits.unwrap_or(written.limits),
        });
    }
    let mut datasets: Vec<DatasetConfig> = Vec::new();
    for dataset in written.dataset {
        let name = complaints.name(&dataset.name, "a dataset");
        if datasets.iter().any(|other| other.name == name) {
            complaints.at(
                dataset.name.span().start,
                format!("there is another {name:?}"),
            );
        }
        let place = dataset.schema.span().start;
        let schema = match Schema::deserialize(dataset.schema.into_inner()) {
            Ok(schema) => Some(schema),
            Err(error) => {
                complaints.at(
                    place,
                    format!("the schema of {name:?}: {}", error.message()),
                );
                None
            }
        };
        let budget = dataset.budget.get_ref();
        let rule_text = dataset.rule.as_ref().map(|rule| rule.get_ref().clone());
        let rule_text = rule_text.unwrap_or_default();
        let rule = Rule::read(budget, &rule_text).map_err(|problem| {
            let written = dataset.rule.as_ref().map(Spanned::span);
            complaints.at(written.unwrap_or(dataset.budget.span()).start, problem);
        });
        // What launches lose is stated in one way; an error has been said where the rule has one.
        let reads = |loss: &LossText| rule.as_ref().map_or(Ok(()), |rule| rule.reads(loss));
        if let Some(smallest) = &dataset.smallest
            && let Err(problem) = reads(smallest.get_ref())
        {
            let problem = format!("the smallest loss: {problem}");
            complaints.at(smallest.span().start, problem);
        }
        let mut seats = Vec::new();
        for (analyst, seat) in dataset.analysts {
            let place = seat.span().start;
            if !analysts.iter().any(|other| other.name == analyst) {
                complaints.at(place, format!("there is no analyst {analyst:?}"));
            }
            let quota = seat.into_inner().quota;
            if let Some(Err(problem)) = quota.as_ref().map(&reads) {
                complaints.at(place, format!("a quota: {problem}"));
            }
            seats.push((analyst, quota));
        }
        if let (Some(schema), Ok(rule)) = (schema, rule) {
            datasets.push(DatasetConfig {
                name,
                data: dataset.data.into_inner().in_folder(folder),
                ledger: dataset.ledger.into_inner().in_folder(folder),
                schema,
                budget: dataset.budget.into_inner(),
                rule_text,
                rule,
                halting: dataset.halting,
                smallest: dataset.smallest.map(Spanned::into_inner),
                share_questions: dataset.share_questions,
                analysts: seats,
            });
        }
    }
    if !complaints.found.is_empty() {
        return Err(complaints.found);
    }
    Ok(Config {
        listen,
        tls,
        issuer,
        hosts: written.hosts,
        threads: written.threads.into_inner(),
        quantum: Duration::from_millis(written.response_quantum_milliseconds),
        curator,
        analysts,
        datasets,
    })
}

/// Seconds since 1970 of a moment with a zone.
fn seconds(moment: &toml::value::Datetime) -> Option<u64> {
    let (date, time) = (moment.date?, moment.time?);
    let minutes = match moment.offset? {
        toml::value::Offset::Z => 0,
        toml::value::Offset::Custom { minutes } => i64::from(minutes),
    };
    // Days since 1970-01-01, in years that begin in March.
    let (year, month, day) = (
        i64::from(date.year),
        i64::from(date.month),
        i64::from(date.day),
    );
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let year_of_era = year.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let of_day = i64::from(time.hour) * 3600
        + i64::from(time.minute) * 60
        + i64::from(time.second.unwrap_or(0));
    u64::try_from(days * 86_400 + of_day - minutes * 60).ok()
}
