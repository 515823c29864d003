//! The threshold itself is left out of δ.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::ApproxDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::{approximately, ln};
use queryables::mechanisms::ThresholdHistogram;
use queryables::privacy::AddRemove;

pub(crate) const BUG: Bug = Bug {
    name: "atom_at_the_threshold",
    claim: "a key that one row has is told with probability at most P(1 + noise > τ)",
    wrong: "it is told at 1 + noise = τ, too",
    source: "https://github.com/opendp/opendp/issues/2922 (OpenDP, make_laplace_threshold and make_gaussian_threshold)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(0, 1),
            measure: ApproxDp,
            loss: approximately(ln(2, 1), "0.0834")?,
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()?.with_reference(|version| {
            // The library's δ for this threshold.
            let histogram = ThresholdHistogram::<Vec<u8>, _>::with_threshold(
                AddRemove,
                "key",
                |key: &u8| *key,
                if version.is_broken() { 3 } else { 4 },
                ln(2, 1),
            )?;
            Ok(histogram.delta() > "0.0834".parse()?)
        })
    },
};

/// τ is 3: P(1 + noise > 3) = 1/12, and P(1 + noise ≥ 3) = 1/6. Repaired: told above τ only.
fn release(version: Version, rows: &u64, coins: &mut Coins<'_>) -> Result<Option<u64>, Fault> {
    if *rows == 0 {
        return Ok(None);
    }
    let noisy = geometric(*rows, 6, 2, coins)?;
    let least = if version.is_broken() { 3 } else { 4 };
    Ok((noisy >= least).then_some(noisy))
}
