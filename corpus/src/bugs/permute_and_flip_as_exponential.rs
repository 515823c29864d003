//! Permute-and-flip with the price of the exponential mechanism.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::Rdp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::setup::Setup;
use queryables::data::Predicate;
use queryables::mechanisms::{Choice, CountScores, ExponentialMechanism, PermuteAndFlip};
use queryables::privacy::{AddRemove, Private, ZCdp};

pub(crate) const BUG: Bug = Bug {
    name: "permute_and_flip_as_exponential",
    claim: "choosing by permute-and-flip at ε is ε²/8-zCDP, so that the Rényi divergence of order 2 is at most ε²/4",
    wrong: "this is the price of the exponential mechanism, whose losses lie in a range of ε; those of permute-and-flip do not",
    source: "https://github.com/opendp/opendp/issues/2911 (OpenDP 0.15.1, make_noisy_max)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new([0, 0], [1, -1]),
            measure: Rdp::new("2".parse()?),
            loss: queryables::epsilon!(0.4805),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()?.with_reference(|version| {
            let epsilon = queryables::epsilon!(1);
            let is = |value: u8| Predicate::<Vec<u8>>::new("value", move |row: &u8| *row == value);
            let two = CountScores::of([1, 2].map(is));
            let rho = match version {
                Version::Broken => {
                    let choice = Choice::by(AddRemove, PermuteAndFlip, two, epsilon)?;
                    Private::<ZCdp, AddRemove>::loss(&choice, &ZCdp)?
                }
                Version::Repaired => {
                    let choice = Choice::by(AddRemove, ExponentialMechanism, two, epsilon)?;
                    Private::<ZCdp, AddRemove>::loss(&choice, &ZCdp)?
                }
            };
            Ok(rho > "0.125".parse()?)
        })
    },
};

/// ε = 2 ln 2: a candidate that is one behind has half the weight. Repaired: the exponential mechanism.
fn release(version: Version, scores: &[i64; 2], coins: &mut Coins<'_>) -> Result<usize, Fault> {
    let largest = scores[0].max(scores[1]);
    let weight = |candidate: usize| 1_u64 << (4 - (largest - scores[candidate]));
    if !version.is_broken() {
        return Ok(coins.weighted(&[weight(0), weight(1)])?);
    }
    let first = coins.weighted(&[1, 1])?;
    let taken = coins.weighted(&[weight(first), 16 - weight(first)])? == 0;
    Ok(if taken { first } else { 1 - first })
}
