//! Noise of a scale that is the largest value in the data.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "noise_from_the_data",
    claim: "noise in proportion to the largest row hides every row",
    wrong: "the scale depends on the data: it hides nobody where the largest row differs",
    source: "https://github.com/AdRoll/privacy/issues/1 (proposed, and refuted, in the discussion)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![0, 0], vec![0, 4]),
            measure: PureDp,
            loss: ln(2, 4),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// Repaired: a public bound of 4.
fn release(version: Version, rows: &Vec<u64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let sum = rows.iter().map(|row| (*row).min(4)).sum();
    let largest = rows.iter().max().copied().unwrap_or(0);
    if version.is_broken() && largest == 0 {
        return Ok(sum);
    }
    geometric(sum, 8, 2, coins)
}
