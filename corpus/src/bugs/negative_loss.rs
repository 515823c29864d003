//! A loss below zero.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "negative_loss",
    claim: "a filter with a budget of ln 3 answers at most one question at ln 3",
    wrong: "a child that claims a negative loss gives back what others have spent",
    source: "OpenDP 0.16, make_privacy_filter: run here by queryables-opendp, differences::negative_losses_and_budgets_that_are_none. https://github.com/opendp/opendp",
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
            menu: vec![1, -1],
            depth: 3,
            script: vec![1, -1, 1],
        };
        setup.run()
    },
};

/// What was spent, in units of ln 3.
#[derive(Hash)]
struct State {
    version: Version,
    bit: bool,
    spent: i8,
}

fn start(version: Version, bit: &bool, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        bit: *bit,
        spent: 0,
    })
}

/// Launches what claims this loss: at 1 it responds, at −1 it says nothing.
fn step(state: &mut State, claims: i8, coins: &mut Coins<'_>) -> Result<Option<bool>, Fault> {
    if claims < 0 && !state.version.is_broken() || state.spent + claims > 1 {
        return Ok(None);
    }
    state.spent += claims;
    match claims {
        1 => respond(state.bit, 3, coins).map(Some),
        _ => Ok(None),
    }
}
