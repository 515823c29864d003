//! A filter that checks, runs, and then charges.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::{Setup, ln};

pub(crate) const BUG: Bug = Bug {
    name: "charged_after_running",
    claim: "a filter with a budget of ln 3 answers at most one question at ln 3",
    wrong: "the budget is checked when a question comes in, and charged when it was answered: two that come in together both pass",
    source: "lomas checks, queries, and then charges. https://github.com/dscc-admin-ch/lomas",
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
            menu: vec![Event::ComesIn, Event::IsAnswered],
            depth: 4,
            script: vec![
                Event::ComesIn,
                Event::ComesIn,
                Event::IsAnswered,
                Event::IsAnswered,
            ],
        };
        setup.run()
    },
};

/// What an analyst with two connections can bring about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    ComesIn,
    IsAnswered,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Reply {
    Waits,
    Refused,
    Answer(bool),
    Nothing,
}

#[derive(Hash)]
struct State {
    version: Version,
    bit: bool,
    spent: bool,
    waiting: u8,
}

fn start(version: Version, bit: &bool, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        bit: *bit,
        spent: false,
        waiting: 0,
    })
}

fn step(state: &mut State, event: Event, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
    Ok(match event {
        Event::ComesIn if state.spent => Reply::Refused,
        Event::ComesIn => {
            state.spent = !state.version.is_broken();
            state.waiting += 1;
            Reply::Waits
        }
        Event::IsAnswered if state.waiting == 0 => Reply::Nothing,
        Event::IsAnswered => {
            state.waiting -= 1;
            state.spent = true;
            Reply::Answer(respond(state.bit, 3, coins)?)
        }
    })
}
