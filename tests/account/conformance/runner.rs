//! Runs the reference values of a directory. The library and the package `papers` share this file.

use std::fs;
use std::path::{Path, PathBuf};

use super::arguments::{Args, Failure, decimal, text};
use dashu_base::Abs;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use queryables::number::{Quantity, Unit};
use serde_json::Value;

/// A number that the library gave, or one from a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    Finite(RBig),
    Infinite,
}

/// Whether a value is where the row says.
pub fn agrees(given: &Number, wanted: &Number, round: &str, rel: &RBig) -> Result<bool, Failure> {
    let (given, wanted) = match (given, wanted) {
        (Number::Finite(given), Number::Finite(wanted)) => (given, wanted),
        (given, wanted) => return Ok(given == wanted),
    };
    // References have 60 digits: one of less than 1e-50 in size is zero.
    let tiny = RBig::from_parts(IBig::from(1), UBig::from(10_u8).pow(50));
    let wanted = if wanted.clone().abs() < tiny {
        &RBig::ZERO
    } else {
        wanted
    };
    let margin = wanted.clone().abs() * rel;
    Ok(match round {
        "up" => given >= wanted && *given <= wanted + &margin,
        "down" => given <= wanted && *given >= wanted - &margin,
        "nearest" => (given - wanted).abs() <= margin,
        "exact" => given == wanted,
        other => return Err(format!("unknown rounding {other}").into()),
    })
}

/// What is given for an operation; `None` if it is not known.
pub type Compute = fn(&str, &Args) -> Option<Result<Vec<Number>, Failure>>;

/// Operations of what is for comparison only, which the package `papers` computes.
const OF_PAPERS: [&str; 4] = [
    "approx_dp.advanced_epsilon",
    "gdp.approx_",
    "gdp.plrv_",
    "gdp.schedule_",
];

/// Whether the value of a row is given, by the package that computes such rows.
pub fn check(row: &Value, compute: Compute) -> Result<(), Failure> {
    let field = |name: &str| row.get(name).ok_or_else(|| Failure(format!("no {name}")));
    let op = text(field("op")?)?;
    let given = match compute(&op, &Args(field("args")?)) {
        Some(given) => given?,
        None => return Err(format!("unknown op {op}").into()),
    };
    let wanted = match field("value")? {
        Value::Array(parts) => parts.iter().map(parse).collect::<Result<Vec<_>, _>>()?,
        value => vec![parse(value)?],
    };
    if given.len() != wanted.len() {
        return Err(format!("{} values, not {}", given.len(), wanted.len()).into());
    }
    let (round, rel) = (text(field("round")?)?, decimal(&text(field("rel")?)?)?);
    for (given, wanted) in given.iter().zip(&wanted) {
        if !agrees(given, wanted, &round, &rel)? {
            return Err(
                format!("{given:?} is not {wanted:?}, rounded {round}, within {rel}").into(),
            );
        }
    }
    Ok(())
}

fn parse(value: &Value) -> Result<Number, Failure> {
    let text = text(value)?;
    if text == "inf" {
        return Ok(Number::Infinite);
    }
    Ok(Number::Finite(decimal(&text)?))
}

/// Which of two packages computes a row.
#[derive(Clone, Copy, PartialEq)]
pub enum Package {
    /// The library.
    Library,
    /// The package `papers`.
    Papers,
}

impl Package {
    fn of(row: &Value) -> Self {
        let op = row.get("op").and_then(Value::as_str).unwrap_or_default();
        if OF_PAPERS.iter().any(|start| op.starts_with(start)) {
            Self::Papers
        } else {
            Self::Library
        }
    }
}

/// Runs every row of a package in every `*.json`; the failures, each naming its row, or how many rows
/// passed.
pub fn run(directory: &Path, package: Package, compute: Compute) -> Result<usize, Vec<String>> {
    let unreadable = |error: std::io::Error| vec![format!("{}: {error}", directory.display())];
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    let (mut any, mut rows, mut failed) = (false, 0, Vec::new());
    for path in files {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        match serde_json::from_str::<Vec<Value>>(&text) {
            Ok(list) => {
                for (index, row) in list.iter().enumerate() {
                    any = true;
                    if Package::of(row) != package {
                        continue;
                    }
                    rows += 1;
                    if let Err(Failure(why)) = check(row, compute) {
                        failed.push(format!("{name}, row {}: {why}\n    {row}", index + 1));
                    }
                }
            }
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    if !any {
        failed.push(format!("{}: no rows at all", directory.display()));
    }
    if failed.is_empty() {
        Ok(rows)
    } else {
        Err(failed)
    }
}

/// The directory that `VECTORS_DIR` names, or `spec/vectors`.
pub fn directory(root: &Path) -> PathBuf {
    std::env::var_os("VECTORS_DIR").map_or_else(|| root.join("spec/vectors"), PathBuf::from)
}

/// How many rows passed; panics with those that failed.
#[track_caller]
pub fn assert_met(directory: &Path, package: Package, compute: Compute) -> usize {
    match run(directory, package, compute) {
        Ok(rows) => {
            println!("{rows} rows passed");
            rows
        }
        Err(failed) => panic!("{} rows failed:\n{}", failed.len(), failed.join("\n")),
    }
}

/// A quantity as the exact number that it is.
pub fn number<U: Unit>(quantity: Quantity<U>) -> Number {
    let scale = UBig::from(10_u8).pow(U::DECIMALS as usize);
    Number::Finite(RBig::from_parts(IBig::from(quantity.units()), scale))
}

pub fn one<U: Unit>(
    value: impl Fn() -> Result<Quantity<U>, Failure>,
) -> Result<Vec<Number>, Failure> {
    Ok(vec![number(value()?)])
}
