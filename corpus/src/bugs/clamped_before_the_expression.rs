//! A column is clamped, and then multiplied.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "clamped_before_the_expression",
    claim: "rows are clamped to [0, 1], so that a sum changes by at most 1",
    wrong: "the sum is of an expression of the column, which can be larger",
    source: "https://github.com/opendp/smartnoise-sdk/issues/201",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![1], vec![1, 1]),
            measure: PureDp,
            loss: ln(2, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// The sum of 3·x. Repaired: the expression is clamped.
fn release(version: Version, rows: &Vec<u64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let term = |row: &u64| match version {
        Version::Broken => 3 * (*row).min(1),
        Version::Repaired => (3 * *row).min(1),
    };
    geometric(rows.iter().map(term).sum(), 8, 2, coins)
}
