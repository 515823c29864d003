//! A threshold is rounded to a whole number, the wrong way.

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
    name: "threshold_rounded_down",
    claim: "with a threshold of τ, a key that one row has is told with probability δ",
    wrong: "τ = 3.5 became 3, at which more is told",
    source: "https://github.com/google/differential-privacy/pull/101",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(0, 1),
            measure: ApproxDp,
            loss: approximately(ln(2, 1), "0.12")?,
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
            Ok(histogram.delta() > "0.12".parse()?)
        })
    },
};

/// Halfway between P(1 + noise ≥ 3) = 1/6 and P(1 + noise ≥ 4) = 1/12. Repaired: rounded up.
fn release(version: Version, rows: &u64, coins: &mut Coins<'_>) -> Result<Option<u64>, Fault> {
    if *rows == 0 {
        return Ok(None);
    }
    let noisy = geometric(*rows, 6, 2, coins)?;
    let threshold = if version.is_broken() {
        3.5_f64.floor()
    } else {
        3.5_f64.ceil()
    };
    Ok((noisy >= threshold as u64).then_some(noisy))
}
