//! `cargo run -p corpus`: which method finds which bug.

use std::error::Error;
use std::io::{self, Write};

use corpus::{Method, Says, all};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<32} {:<19} {:<19} {:<19} repaired",
        "bug", "verify", "audit", "reference"
    )?;
    let (mut found, mut flagged, mut bugs) = (0, 0, 0);
    for bug in all() {
        let result = bug.find()?;
        let methods = [result.verify, result.audit, result.reference];
        write!(out, "{:<32}", bug.name)?;
        for method in methods {
            write!(out, " {:<19}", cell(method))?;
        }
        let any =
            |says: fn(&Method) -> Says| methods.iter().flatten().any(|m| says(m) == Says::Refutes);
        let repaired = any(|method| method.repaired);
        let proved = result
            .verify
            .is_some_and(|verify| verify.repaired == Says::Passes);
        let word = match (repaired, proved) {
            (true, _) => "FOUND",
            (false, true) => "proved",
            (false, false) => "passes",
        };
        writeln!(out, " {word}")?;
        bugs += 1;
        found += u32::from(any(|method| method.broken));
        flagged += u32::from(repaired);
    }
    writeln!(
        out,
        "\n{found} of {bugs} bugs are found; {flagged} repaired machines are.\n"
    )?;
    for bug in all() {
        writeln!(
            out,
            "{}\n  claim:  {}\n  wrong:  {}\n  source: {}",
            bug.name, bug.claim, bug.wrong, bug.source
        )?;
    }
    Ok(())
}

fn cell(method: Option<Method>) -> String {
    match method {
        Some(method) => format!("{} ({:.2} s)", method.broken, method.time.as_secs_f64()),
        None => "–".to_owned(),
    }
}
