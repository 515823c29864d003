//! Keys above a threshold, and nobody counts the keys of a person.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::ApproxDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::{approximately, ln};

pub(crate) const BUG: Bug = Bug {
    name: "keys_without_a_bound",
    claim: "keys are told above a threshold, which costs δ",
    wrong: "this is for one key; a person with several keys that nobody else has tells one of them with a larger probability",
    source: "Qrlew before 0.9.26, whose changelog says: groups of a user are limited when keys are selected. https://github.com/Qrlew/qrlew/blob/main/CHANGELOG.md",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![], vec![5, 6, 7]),
            measure: ApproxDp,
            loss: approximately(ln(2, 1), "0.167")?,
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// The keys of one person. Repaired: the first of them counts.
fn release(version: Version, keys: &Vec<u8>, coins: &mut Coins<'_>) -> Result<Vec<u8>, Fault> {
    let most = if version.is_broken() { keys.len() } else { 1 };
    let mut told = Vec::new();
    for key in keys.iter().take(most) {
        if geometric(1, 6, 2, coins)? >= 3 {
            told.push(*key);
        }
    }
    Ok(told)
}
