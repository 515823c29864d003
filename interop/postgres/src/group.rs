//! Charges of one process that wait together are written together.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use queryables::ledger::{Charge, Receipt, Saved, StoreError};

use crate::seen::Seen;
use crate::writing::{Outcome, Queued};

/// Charges that were decided and are yet to be written.
///
/// Each was decided on the states that the one before it leaves behind, and the first on states that the
/// server had. They are written in one statement, which compares those: if anybody else has charged
/// meanwhile, nothing is written, and all of them are decided anew. So it does not matter here whether the
/// states are still the newest.
///
/// One thread writes at a time. Meanwhile others queue up, and one of them writes all of those.
#[derive(Default)]
pub(crate) struct Group {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What the next charge is decided on. `None` if the server must be asked.
    newest: Option<Newest>,
    queue: Vec<Queued>,
    /// They need not survive, and are written with the next charges.
    outcomes: Vec<Outcome>,
    /// Whether somebody writes.
    writing: bool,
    /// How many charges were queued so far, and of how many of those the end is known.
    queued: u64,
    ended: u64,
    /// Of those, the ones that are not written, until whoever waits for them has read it.
    failed: HashMap<u64, StoreError>,
}

/// What charges are decided on.
pub(crate) struct Newest {
    /// The number of the next entry.
    next: u64,
    states: HashMap<String, Saved>,
}

impl Group {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides on a charge and queues it; `None` if the server must be asked.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`] where it is not admitted: what others have charged may be more or less than
    /// what is known here, so that is decided on what the server has.
    pub(crate) fn queue(&self, charge: &mut dyn Charge) -> Result<Option<Receipt>, StoreError> {
        let mut state = self.state();
        let Some(newest) = &state.newest else {
            return Ok(None);
        };
        let budgets = charge.budgets().iter();
        let states: Option<Vec<Saved>> = budgets
            .map(|budget| newest.states.get(budget).cloned())
            .collect();
        let (Some(states), sequence) = (states, newest.next) else {
            return Ok(None);
        };
        let decided = charge.decide(&states);
        if !matches!(decided, Ok(true)) {
            state.newest = None;
            return decided.and(Err(StoreError::Changed));
        }
        let charge = Queued::of(charge, sequence, true)?;
        if let Some(newest) = &mut state.newest {
            newest.next += 1;
            newest.states.extend(charge.changed().iter().cloned());
        }
        state.queue.push(charge);
        state.queued += 1;
        let mark = state.queued;
        Ok(Some(Receipt::Queued { sequence, mark }))
    }

    /// Waits until a charge is written: `write` says whether it was.
    pub(crate) fn wait(
        &self,
        mark: u64,
        write: impl Fn(&[Queued], &[Outcome]) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        loop {
            if let Some(error) = state.failed.remove(&mark) {
                return Err(error);
            }
            if state.ended >= mark {
                return Ok(());
            }
            state = match state.writing {
                true => self.woken(state),
                false => self.write(state, &write),
            };
        }
    }

    /// Runs something after all that is queued, while nothing else is written or queued.
    pub(crate) fn alone<T>(
        &self,
        write: impl Fn(&[Queued], &[Outcome]) -> Result<bool, StoreError>,
        run: impl FnOnce() -> Result<T, StoreError>,
        newest: impl FnOnce() -> Option<Newest>,
    ) -> Result<T, StoreError> {
        let mut state = self.state();
        loop {
            state.newest = None;
            state = match (state.writing, state.queue.is_empty()) {
                (true, _) => self.woken(state),
                (false, false) => self.write(state, &write),
                (false, true) => break,
            };
        }
        state.writing = true;
        drop(state);
        let writer = Writer(self);
        let done = run()?;
        let newest = newest();
        self.state().newest = newest;
        drop(writer);
        Ok(done)
    }

    fn woken<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is queued.
    fn write<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        write: impl Fn(&[Queued], &[Outcome]) -> Result<bool, StoreError>,
    ) -> MutexGuard<'a, State> {
        state.writing = true;
        let charges = std::mem::take(&mut state.queue);
        let mut outcomes = std::mem::take(&mut state.outcomes);
        let reaches = state.queued;
        drop(state);
        let writer = Writer(self);
        let written = write(&charges, &outcomes);
        let mut state = self.state();
        match written {
            Ok(true) => state.ended = reaches,
            Ok(false) => {
                outcomes.append(&mut state.outcomes);
                state.outcomes = outcomes;
                state.given_up(reaches, &StoreError::Changed);
            }
            Err(error) => {
                outcomes.append(&mut state.outcomes);
                state.outcomes = outcomes;
                state.given_up(reaches, &error);
            }
        }
        drop(state);
        drop(writer);
        self.state()
    }

    /// Keeps an outcome until the next charge; whether there are many.
    pub(crate) fn finish(&self, outcome: Outcome) -> bool {
        let mut state = self.state();
        state.outcomes.push(outcome);
        state.outcomes.len() >= MOST_OUTCOMES
    }

    /// Takes the outcomes that wait, and runs something that writes them; they wait on if it fails.
    pub(crate) fn with_outcomes<T>(
        &self,
        run: impl FnOnce(&[Outcome]) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut outcomes = std::mem::take(&mut self.state().outcomes);
        let done = run(&outcomes);
        if done.is_err() {
            let mut state = self.state();
            outcomes.append(&mut state.outcomes);
            state.outcomes = outcomes;
        }
        done
    }
}

/// The most outcomes that wait for a charge.
const MOST_OUTCOMES: usize = 64;

impl Newest {
    /// What the server had, if nobody else has charged since this store was last there.
    pub(crate) fn of(seen: &Seen) -> Option<Self> {
        let states = seen.all_newest();
        seen.alone.then(|| Self {
            next: seen.next(),
            states: states
                .map(|(budget, saved)| (budget.clone(), saved.clone()))
                .collect(),
        })
    }
}

impl State {
    /// What was written up to there has failed. Whatever was queued after it was decided on states that the
    /// server does not have, and was not sent.
    fn given_up(&mut self, reaches: u64, error: &StoreError) {
        for mark in self.ended + 1..=reaches {
            self.failed.insert(mark, error.clone());
        }
        for mark in reaches + 1..=self.queued {
            self.failed.insert(mark, StoreError::Changed);
        }
        self.ended = self.queued;
        self.queue.clear();
        self.newest = None;
    }
}

/// Whoever writes. Others go on when it ends, however it ends.
struct Writer<'a>(&'a Group);

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.writing = false;
        if std::thread::panicking() {
            let error = StoreError::Unavailable("a thread has ended while it wrote".to_owned());
            let reaches = state.queued - state.queue.len() as u64;
            state.given_up(reaches, &error);
        }
        drop(state);
        self.0.changed.notify_all();
    }
}
