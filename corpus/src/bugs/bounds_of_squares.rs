//! Squares keep the bounds of what was squared.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "bounds_of_squares",
    claim: "the sum of squares of numbers in [0, 3] changes by at most 3",
    wrong: "a square can be 9",
    source: "https://github.com/opendp/smartnoise-sdk/issues/203",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![1], vec![1, 3]),
            measure: PureDp,
            loss: ln(2, 3),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// Repaired: squares are clamped to 3, the bound for which there is noise.
fn release(version: Version, rows: &Vec<u64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let square = |row: &u64| match version {
        Version::Broken => row * row,
        Version::Repaired => (row * row).min(3),
    };
    geometric(rows.iter().map(square).sum(), 16, 2, coins)
}
