//! What a compositor should do, the naive way.

use super::{Launch, Probe};
use crate::number::Epsilon;

/// Charges the stated loss before a child is run, and gives nothing back. It shares no code with the
/// compositors of this crate.
pub(super) struct Reference {
    budget: Option<Epsilon>,
    sequential: bool,
    spent: Epsilon,
    /// How many answers each child has left, in the order of all launches.
    children: Vec<u32>,
}

impl Reference {
    pub(super) fn new(budget: Option<Epsilon>, sequential: bool) -> Self {
        Self {
            budget,
            sequential,
            spent: Epsilon::ZERO,
            children: Vec::new(),
        }
    }

    pub(super) fn launch(&mut self, probe: &Probe) -> Launch {
        let spent = self.spent.checked_add(probe.loss());
        let admitted = spent.filter(|spent| self.budget.is_none_or(|budget| *spent <= budget));
        let Some(spent) = admitted else {
            self.children.push(0);
            return Launch::Refused;
        };
        self.spent = spent;
        if self.sequential {
            self.children.fill(0);
        }
        let answers = if probe.fails() { 0 } else { probe.answers() };
        self.children.push(answers);
        if probe.fails() {
            Launch::Failed
        } else {
            Launch::Started
        }
    }

    /// Whether the child of this launch answers.
    pub(super) fn ask(&mut self, launch: usize) -> bool {
        match self.children.get_mut(launch) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    pub(super) fn reading(&self) -> Epsilon {
        self.spent
    }
}
