//! Runs the reference values in `spec/vectors`, or in the directory named by `VECTORS_DIR`.
//!
//! A value on the wrong side, one outside the tolerance, an operation that is not known here and a
//! directory without rows all fail, and name the row. Comparisons are exact.

mod arguments;
mod can_fail;
mod compute;

use std::fs;
use std::path::{Path, PathBuf};

use arguments::{Args, Failure, decimal, text};
use compute::compute;
use dashu_base::Abs;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use serde_json::Value;

/// A number that the library gave, or one from a row.
#[derive(Clone, Debug, PartialEq)]
enum Number {
    Finite(RBig),
    Infinite,
}

/// Whether a value is where the row says.
fn agrees(given: &Number, wanted: &Number, round: &str, rel: &RBig) -> Result<bool, Failure> {
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

/// Whether the library gives the value of a row.
fn check(row: &Value) -> Result<(), Failure> {
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

/// Runs every row of every `*.json`; the failures, each naming its row, or how many rows passed.
fn run(directory: &Path) -> Result<usize, Vec<String>> {
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
    let (mut rows, mut failed) = (0, Vec::new());
    for path in files {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        match serde_json::from_str::<Vec<Value>>(&text) {
            Ok(list) => {
                for (index, row) in list.iter().enumerate() {
                    rows += 1;
                    if let Err(Failure(why)) = check(row) {
                        failed.push(format!("{name}, row {}: {why}\n    {row}", index + 1));
                    }
                }
            }
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    if rows == 0 {
        failed.push(format!("{}: no rows at all", directory.display()));
    }
    if failed.is_empty() {
        Ok(rows)
    } else {
        Err(failed)
    }
}

#[test]
fn every_reference_value_is_met() {
    let directory = std::env::var_os("VECTORS_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/vectors"),
        PathBuf::from,
    );
    match run(&directory) {
        Ok(rows) => println!("{rows} rows passed"),
        Err(failed) => panic!("{} rows failed:\n{}", failed.len(), failed.join("\n")),
    }
}
