//! A sum that overflows is an error.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "overflow_is_told",
    claim: "a noisy sum is ε-DP, and an error says nothing about the data",
    wrong: "whether the sum overflows depends on the data",
    source: "https://github.com/google/differential-privacy/issues/40 (the repair that was proposed first; capping was chosen)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![200, 50], vec![200, 50, 6]),
            measure: PureDp,
            loss: ln(2, 6),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// Repaired: clamped, and nothing is told.
fn release(version: Version, rows: &Vec<u8>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let sum = match version {
        Version::Broken => rows
            .iter()
            .try_fold(0_u8, |sum, row| sum.checked_add(*row))
            .ok_or(Fault::Failed)?,
        Version::Repaired => rows.iter().fold(0_u8, |sum, row| sum.saturating_add(*row)),
    };
    geometric(u64::from(sum).saturating_sub(245), 10, 2, coins)
}
