//! A column without bounds gets no noise.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::{Setup, ln};

pub(crate) const BUG: Bug = Bug {
    name: "no_bounds_no_noise",
    claim: "every sum that is released has noise",
    wrong: "the sensitivity of a column without bounds is unknown, and an unknown sensitivity switched the noise off",
    source: "https://github.com/opendp/smartnoise-sdk/issues/317",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![1], vec![1, 1]),
            measure: PureDp,
            loss: ln(2, 2),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// Repaired: a bound of 2 is asked for.
fn release(version: Version, rows: &Vec<u64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let bound = if version.is_broken() { None } else { Some(2) };
    match bound {
        None => Ok(rows.iter().sum()),
        Some(bound) => {
            let sum = rows.iter().map(|row| (*row).min(bound)).sum();
            geometric(sum, 8, 2, coins)
        }
    }
}
