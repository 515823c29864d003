//! A sum of floats that one row changes by more than its bound.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "float_sum",
    claim: "a sum of numbers in [0, U] changes by at most U with one row more",
    wrong: "floats are rounded after every addition: a row that moves the sum to coarser floats changes how all later rows are rounded",
    source: "Casacuberta, Shoemate, Vadhan, Wagaman: Widespread Underestimation of Sensitivity in Differentially Private Libraries and How to Fix It. CCS 2022. https://arxiv.org/abs/2207.10635",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(
                vec![2.0, 2.0, 2.0, 1.25, 1.25],
                vec![2.0, 2.0, 2.0, 2.0, 1.25, 1.25],
            ),
            measure: PureDp,
            loss: ln(2, 2),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// Floats with three significant bits, rounded to the nearest.
fn rounded(number: f64) -> f64 {
    let unit = number.log2().floor().exp2() / 4.0;
    (number / unit).round_ties_even() * unit
}

/// U is 2. Repaired: rows are rounded to whole numbers before they are added.
fn release(version: Version, rows: &Vec<f64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let sum = match version {
        Version::Broken => rows.iter().fold(0.0, |sum, row| rounded(sum + row)),
        Version::Repaired => rows.iter().map(|row| row.floor()).sum(),
    };
    geometric(sum as u64, 20, 2, coins)
}
