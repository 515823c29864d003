//! A small home-made filter and odometer, and what can go wrong in it: each [`Bug`] is one
//! condition, next to the correct line.

use std::sync::Arc;

use queryables::machine::{Coins, Fault, Machine, Mechanism};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bug {
    Nothing,
    CheckAfterRelease,
    StrictlyLess,
    RefundAfterFailure,
    LeakyRefusal,
    ForkedState,
    ReusedNoise,
    OutlivesFreeze,
    NegativeLoss,
    RoundingDown,
    OneLaunchTooMany,
    HaltForgetsChildren,
    ForgottenGrandchild,
}

/// The loss of one response at odds of three, ln 3 = 1.0986..., in thousandths, rounded up.
pub(crate) const COST: i64 = 1099;

/// What can be launched, all about one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kid {
    /// Responds once, at odds of three.
    Respond,
    /// The same about nothing: it responds to `false`.
    RespondToNothing,
    /// Responds while starting: fails if the response is `true`, and says nothing otherwise.
    Failing,
    /// Says nothing, and claims this loss.
    Claiming(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Query {
    Launch(Kid),
    /// Launch under a child, one level down.
    LaunchUnder(Kid),
    Ask(usize),
    /// Another handle to a child.
    Clone(usize),
    Loss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    Child(usize),
    Refused,
    /// With what the refusal lets slip.
    RefusedBecause(bool),
    NotALoss,
    Failed,
    Answer(bool),
    NoAnswer,
    Loss(i64),
}

#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) bug: Bug,
    /// `None` for an odometer.
    pub(crate) budget: Option<i64>,
    pub(crate) most: usize,
    /// Whether a launch freezes the earlier children.
    pub(crate) sequential: bool,
    /// Whether a refusal ends everything.
    pub(crate) halts: bool,
}

impl Home {
    pub(crate) fn filter(bug: Bug, budget: i64) -> Self {
        Self {
            bug,
            budget: Some(budget),
            most: usize::MAX,
            sequential: false,
            halts: false,
        }
    }
}

#[derive(Debug, Hash)]
pub(crate) struct Running {
    bug: Bug,
    bit: bool,
    budget: Option<i64>,
    most: usize,
    sequential: bool,
    halts: bool,
    spent: i64,
    launched: usize,
    halted: bool,
    /// Handles point to children.
    handles: Vec<usize>,
    children: Vec<Child>,
    noise: Option<bool>,
}

#[derive(Clone, Debug, Hash)]
struct Child {
    kid: Kid,
    done: bool,
}

impl Mechanism<bool> for Home {
    type Machine = Running;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Running, Fault> {
        Ok(Running {
            bug: self.bug,
            bit: **data,
            budget: self.budget,
            most: self.most,
            sequential: self.sequential,
            halts: self.halts,
            spent: 0,
            launched: 0,
            halted: false,
            handles: Vec::new(),
            children: Vec::new(),
            noise: None,
        })
    }
}

impl Running {
    fn noise(&mut self, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        if self.bug == Bug::ReusedNoise
            && let Some(noise) = self.noise
        {
            return Ok(noise);
        }
        let noise = coins.weighted(&[3, 1])? == 1;
        if self.bug == Bug::ReusedNoise {
            self.noise = Some(noise);
        }
        Ok(noise)
    }

    fn admits(&self, cost: i64) -> bool {
        let limit = self
            .most
            .saturating_add(usize::from(self.bug == Bug::OneLaunchTooMany));
        let within = |budget: i64| {
            if self.bug == Bug::StrictlyLess {
                self.spent + cost < budget
            } else {
                self.spent + cost <= budget
            }
        };
        self.launched < limit && self.budget.is_none_or(within)
    }

    fn push(&mut self, kid: Kid) -> Reply {
        if self.sequential && self.bug != Bug::OutlivesFreeze {
            for child in &mut self.children {
                child.done = true;
            }
        }
        self.children.push(Child { kid, done: false });
        self.handles.push(self.children.len() - 1);
        Reply::Child(self.handles.len() - 1)
    }

    fn launch(&mut self, kid: Kid, under: bool, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
        let cost = match kid {
            Kid::Claiming(cost) if cost < 0 && self.bug != Bug::NegativeLoss => {
                return Ok(Reply::NotALoss);
            }
            Kid::Claiming(cost) => cost,
            // In hundredths, and the rest forgotten.
            _ if self.bug == Bug::RoundingDown => COST / 10 * 10,
            _ => COST,
        };
        if self.bug == Bug::CheckAfterRelease {
            self.push(kid);
        }
        if !self.admits(cost) {
            if self.halts {
                self.halted = true;
            }
            return Ok(if self.bug == Bug::LeakyRefusal {
                Reply::RefusedBecause(self.bit)
            } else {
                Reply::Refused
            });
        }
        if !(under && self.bug == Bug::ForgottenGrandchild) {
            self.spent += cost;
        }
        self.launched += 1;
        if kid == Kid::Failing && self.bit ^ self.noise(coins)? {
            if self.bug == Bug::RefundAfterFailure {
                self.spent -= cost;
            }
            return Ok(Reply::Failed);
        }
        if self.bug == Bug::CheckAfterRelease {
            return Ok(Reply::Child(self.handles.len() - 1));
        }
        Ok(self.push(kid))
    }

    fn ask(&mut self, handle: usize, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
        let halted = self.halted && self.bug != Bug::HaltForgetsChildren;
        let Some(&number) = self.handles.get(handle) else {
            return Err(Fault::InvalidQuery("no such child"));
        };
        let child = &mut self.children[number];
        if halted || std::mem::replace(&mut child.done, true) {
            return Ok(Reply::NoAnswer);
        }
        Ok(match child.kid {
            Kid::Respond => Reply::Answer(self.bit ^ self.noise(coins)?),
            Kid::RespondToNothing => Reply::Answer(self.noise(coins)?),
            Kid::Failing | Kid::Claiming(_) => Reply::NoAnswer,
        })
    }
}

impl Machine for Running {
    type Query = Query;
    type Answer = Reply;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
        match query {
            Query::Launch(_) | Query::LaunchUnder(_) if self.halted => Ok(Reply::Refused),
            Query::Launch(kid) => self.launch(kid, false, coins),
            Query::LaunchUnder(kid) => self.launch(kid, true, coins),
            Query::Ask(handle) => self.ask(handle, coins),
            Query::Clone(handle) => {
                let Some(&number) = self.handles.get(handle) else {
                    return Err(Fault::InvalidQuery("no such child"));
                };
                if self.bug == Bug::ForkedState {
                    let fork = self.children[number].clone();
                    self.children.push(fork);
                    self.handles.push(self.children.len() - 1);
                } else {
                    self.handles.push(number);
                }
                Ok(Reply::Child(self.handles.len() - 1))
            }
            Query::Loss => Ok(Reply::Loss(self.spent)),
        }
    }
}

impl queryables::machine::Metered for Running {
    type Loss = i64;

    fn privacy_loss(&self) -> i64 {
        self.spent
    }
}
