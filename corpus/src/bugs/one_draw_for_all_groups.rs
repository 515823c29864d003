//! One draw of noise for all groups.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "one_draw_for_all_groups",
    claim: "a row is in one group, so that noisy counts by group cost as much as one count",
    wrong: "the noise was drawn once, and broadcast: the difference of two groups is exact",
    source: "https://github.com/opendp/opendp/issues/2344",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![3, 3], vec![3, 4]),
            measure: PureDp,
            loss: ln(2, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

fn release(version: Version, counts: &Vec<u64>, coins: &mut Coins<'_>) -> Result<Vec<u64>, Fault> {
    if !version.is_broken() {
        return counts
            .iter()
            .map(|count| geometric(*count, 7, 2, coins))
            .collect();
    }
    let shared = geometric(8, 16, 2, coins)?;
    Ok(counts.iter().map(|count| count + shared).collect())
}
