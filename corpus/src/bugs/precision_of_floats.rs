//! Noise whose last bits survive next to zero only.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "precision_of_floats",
    claim: "noise that is a float, however fine, added to a float is as private as the noise",
    wrong: "next to zero the sum keeps bits of the noise that are rounded away next to one",
    source: "Haney, Desfontaines, Hartman, Shrestha, Hay: Precision-based Attacks and Interval Refining. 2022. https://arxiv.org/abs/2207.13793",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(0, 1),
            measure: PureDp,
            loss: ln(3, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// The noise is a multiple of 1, and has a fine part of its own. Repaired: rounded to the grid.
fn release(version: Version, truth: &u8, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let noisy = geometric(u64::from(*truth) + 8, 17, 2, coins)?;
    let fine = if coins.weighted(&[1, 1])? == 0 {
        1e-17
    } else {
        3e-17
    };
    let noise = noisy as f64 - 8.0 - f64::from(*truth) + fine;
    let sum = f64::from(*truth) + noise;
    Ok(if version.is_broken() {
        sum.to_bits()
    } else {
        sum.round().to_bits()
    })
}
