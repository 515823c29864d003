//! A filter that charges for what succeeds.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "failed_child_not_charged",
    claim: "a filter with a budget of ln 3 answers at most one question at ln 3",
    wrong: "a child that fails is not charged, though whether it fails depends on the data",
    source: "OpenDP 0.16, make_privacy_filter: run in tests/opendp.rs, a_filter_that_forgets_failed_children. https://github.com/opendp/opendp",
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
            menu: vec![Child::Responds, Child::FailsIfTrue],
            depth: 3,
            script: vec![Child::FailsIfTrue; 3],
        };
        setup.run()
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Child {
    /// Tells its response.
    Responds,
    /// Fails if the response is true, and says nothing.
    FailsIfTrue,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Reply {
    Answer(bool),
    Silent,
    Failed,
    Refused,
}

#[derive(Hash)]
struct State {
    version: Version,
    bit: bool,
    spent: bool,
}

fn start(version: Version, bit: &bool, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        bit: *bit,
        spent: false,
    })
}

fn step(state: &mut State, child: Child, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
    if state.spent {
        return Ok(Reply::Refused);
    }
    state.spent = true;
    let response = respond(state.bit, 3, coins)?;
    Ok(match child {
        Child::Responds => Reply::Answer(response),
        Child::FailsIfTrue if response => {
            if state.version.is_broken() {
                state.spent = false;
            }
            Reply::Failed
        }
        Child::FailsIfTrue => Reply::Silent,
    })
}
