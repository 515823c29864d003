//! The sensitivity of added rows, for rows that are replaced.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;
use queryables::data::Attribute;
use queryables::mechanisms::{QueryExt, Sum};
use queryables::privacy::Replace;

pub(crate) const BUG: Bug = Bug {
    name: "replaced_row",
    claim: "a sum of numbers in [−1, 1] changes by at most 1",
    wrong: "so it does if a row is added; the promise was for a row that is replaced, which changes it by 2",
    source: "The two relations: Kifer, Machanavajjhala: No Free Lunch in Data Privacy. SIGMOD 2011. https://doi.org/10.1145/1989323.1989345",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![1, -1], vec![1, 1]),
            measure: PureDp,
            loss: ln(2, 2),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()?.with_reference(|version| {
            // The noise of the library for a row that is added, or replaced, and what is claimed of it.
            let sum = || {
                let value = Attribute::<Vec<i64>, _>::new("value", |row: &i64| *row);
                Sum::of(value, -1..=1)
            };
            let claim = queryables::epsilon!(1);
            let needed = sum().under(Replace).laplace(claim)?.noise();
            let used = match version {
                Version::Broken => sum().laplace(claim)?.noise(),
                Version::Repaired => sum().under(Replace).laplace(claim)?.noise(),
            };
            Ok(used.variance() < needed.variance())
        })
    },
};

/// Repaired: noise for a change of 2.
fn release(version: Version, rows: &Vec<i8>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let sum: i8 = rows.iter().sum();
    let sum = u64::try_from(4 + sum).map_err(|_| Fault::Failed)?;
    geometric(sum, 8, if version.is_broken() { 4 } else { 2 }, coins)
}
