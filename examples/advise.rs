//! Which filter to choose for a budget and a typical mechanism, and how many launches it admits.
//!
//! ```sh
//! cargo run --release --example advise
//! cargo run --release --example advise -- 1 1e-6 pure 0.01
//! cargo run --release --example advise -- 1 1e-6 laplace 0.05
//! cargo run --release --example advise -- 1 1e-6 gaussian 0.01
//! cargo run --release --example advise -- 1 1e-5 sampled 0.1 2
//! ```
//!
//! The arguments are the budget's ε and δ, and the mechanism: ε of a pure one or of Laplace noise, μ of
//! Gaussian noise, or the rate and the σ of Gaussian noise on a sample.

use std::error::Error;
use std::io::Write;

use queryables::account::advise;
use queryables::privacy::EpsilonDelta;
use queryables::privacy::fdp::Profile;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let out = &mut std::io::stdout();
    if words.is_empty() || words == ["--quick"] {
        return run(out);
    }
    print(out, &words)
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for words in [
        ["1", "1e-6", "pure", "0.01"].as_slice(),
        &["1", "1e-6", "gaussian", "0.01"],
        &["1", "1e-5", "sampled", "0.1", "2"],
    ] {
        print(out, words)?;
    }
    Ok(())
}

fn print(out: &mut impl Write, words: &[&str]) -> Result<(), Box<dyn Error>> {
    let [epsilon, delta, mechanism @ ..] = words else {
        return Err("give ε and δ of the budget, and a mechanism".into());
    };
    let budget = EpsilonDelta::new(*epsilon, *delta)?;
    let profile = match mechanism {
        ["pure", epsilon] => Profile::randomized_response(epsilon.parse()?),
        ["laplace", epsilon] => Profile::laplace(epsilon.parse()?),
        ["gaussian", mu] => Profile::gaussian(mu.parse()?),
        ["sampled", rate, sigma] => Profile::sampled_gaussian(rate.parse()?, sigma.parse()?),
        _ => return Err("the mechanism is pure ε, laplace ε, gaussian μ or sampled q σ".into()),
    };
    let advice = advise(budget, &profile)?;
    writeln!(out, "{profile} in {budget}")?;
    writeln!(out, "| filter | launches | takes |")?;
    writeln!(out, "|---|---:|---|")?;
    for row in &advice {
        writeln!(out, "| {} | {} | {} |", row.filter, row.admits, row.takes)?;
    }
    if let Some(best) = advice.first() {
        writeln!(out, "take: {}", best.build)?;
    }
    writeln!(out)?;
    Ok(())
}
