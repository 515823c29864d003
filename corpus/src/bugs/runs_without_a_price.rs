//! A measurement runs although its price is unknown.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "runs_without_a_price",
    claim: "what has no privacy map costs an error, and nothing else",
    wrong: "it is run, and released",
    source: "https://github.com/opendp/opendp/issues/1908",
    run: || {
        let setup = Setup {
            machine: |version| Talk {
                version,
                start,
                step,
            },
            pair: Pair::new(false, true),
            measure: PureDp,
            loss: ln(3, 1),
            menu: vec![true, false],
            depth: 2,
            script: vec![false, false],
        };
        setup.run()
    },
};

#[derive(Hash)]
struct State {
    version: Version,
    bit: bool,
    left: bool,
}

fn start(version: Version, bit: &bool, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        bit: *bit,
        left: true,
    })
}

/// Launches a response, which has a price or not.
fn step(state: &mut State, priced: bool, coins: &mut Coins<'_>) -> Result<Option<bool>, Fault> {
    if !priced && !state.version.is_broken() || priced && !state.left {
        return Ok(None);
    }
    if priced {
        state.left = false;
    }
    respond(state.bit, 3, coins).map(Some)
}
