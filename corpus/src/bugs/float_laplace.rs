//! Laplace noise from a logarithm of a float.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "float_laplace",
    claim: "x plus a float −ln(u), with a sign, is ε-DP, as Laplace noise is",
    wrong: "the floats that x + noise can be depend on x: an answer may be possible for one x only",
    source: "Mironov: On Significance of the Least Significant Bits for Differential Privacy. CCS 2012. https://doi.org/10.1145/2382196.2382264",
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

/// In floats: 64 values of u, which is enough to see the holes. Repaired: noise on whole numbers.
fn release(version: Version, truth: &u8, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    if !version.is_broken() {
        return geometric(u64::from(*truth) + 8, 17, 2, coins);
    }
    let uniform = coins.uniform(std::num::NonZeroU64::new(64).ok_or(Fault::Failed)?)? + 1;
    let magnitude = -(uniform as f64 / 64.0).ln();
    let noise = if coins.weighted(&[1, 1])? == 0 {
        magnitude
    } else {
        -magnitude
    };
    Ok((f64::from(*truth) + noise).to_bits())
}
