//! Six published versions of the sparse vector technique, audited.
//!
//! Each was published with a proof of privacy; four of the proofs were wrong (Lyu, Su and Li 2017).
//! An audit takes one adversary and a pair of datasets, watches many runs, and gives a lower bound
//! on ε that is wrong with a probability of at most 1e-9.
//!
//! ```text
//! cargo run --release --example audit
//! ```

mod sparse_vectors;

use std::error::Error;
use std::io::{self, Write};

use queryables::audit::{Audit, Pair, largest_epsilon};
use queryables::epsilon;
use queryables::machine::Script;
use queryables::number::Delta;
use queryables::privacy::PureDp;

const TRIALS: u32 = 8_000;

/// Audits all versions and writes down what was found.
///
/// # Errors
///
/// When there are no coins, or when nothing can be written.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // One row is replaced: the count of 7 rises while that of 8 falls.
    let pair = Pair::new(vec![8], vec![7]);
    // Misses say that the threshold is high, hits that a count is higher: five of each.
    let adversary = || Script::new([7, 7, 7, 7, 7, 8, 8, 8, 8, 8]);
    let claim = epsilon!(2);
    let most = largest_epsilon(TRIALS, "1e-9".parse()?, Delta::ZERO)?;
    writeln!(
        out,
        "All claim ε = {claim}. With {TRIALS} trials, at most ε = {most:.4} can be shown.\n"
    )?;

    for (private, version) in sparse_vectors::all(1, 2) {
        // With a seed it says the same each time. Without, each audit has coins of its own.
        let finding = Audit::new(&version, &pair, adversary, 10)
            .trials(TRIALS)
            .seed(2017)
            .run()?;
        writeln!(
            out,
            "{} (private: {private})\n{}\n",
            version.name,
            finding.check(&PureDp, &claim)
        )?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
