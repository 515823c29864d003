//! The number of rows is told without noise.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "public_number_of_rows",
    claim: "metadata such as lengths is public and costs nothing",
    wrong: "the number of rows tells whether one row is there",
    source: "https://github.com/dscc-admin-ch/lomas/pull/310 (mended there)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![7, 7], vec![7, 7, 7]),
            measure: PureDp,
            loss: ln(2, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

fn release(version: Version, rows: &Vec<u8>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let rows = rows.len() as u64;
    match version {
        Version::Broken => Ok(rows),
        Version::Repaired => geometric(rows, 6, 2, coins),
    }
}
