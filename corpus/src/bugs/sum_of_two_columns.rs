//! The sum of two columns has the sensitivity of one.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::{Setup, ln};

pub(crate) const BUG: Bug = Bug {
    name: "sum_of_two_columns",
    claim: "columns in [0, 2] change a sum by at most 2",
    wrong: "a sum of two columns changes by 4: their sensitivities add up",
    source: "https://github.com/opendp/smartnoise-sdk/issues/319 (found by reading: sums of expressions were refused elsewhere at that time)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![[1, 1]], vec![[1, 1], [2, 2]]),
            measure: PureDp,
            loss: ln(2, 2),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// The sum of a + b. Repaired: a + b is clamped to the bound for which there is noise.
fn release(version: Version, rows: &Vec<[u64; 2]>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let both = |row: &[u64; 2]| match version {
        Version::Broken => row[0].min(2) + row[1].min(2),
        Version::Repaired => (row[0] + row[1]).min(2),
    };
    geometric(rows.iter().map(both).sum(), 10, 2, coins)
}
