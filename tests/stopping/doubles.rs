//! Six former defects, one operation each.

use std::sync::{Arc, TryLockError};

use queryables::machine::BoxedMachine;
use queryables::prelude::*;
use queryables::queryable::{HandleOf, IntoHandle};

use super::system::{
    Asked, Boxed, Handle, Launches, Once, Query, Rows, Shared, Stated, System, boxed, rows,
};
use crate::model::{Answer, BUSY, NotLaunched};

/// A wrapped handle is not stopped with the original: the relay has the machine, not the handle.
#[derive(Clone, Copy, Debug)]
pub struct RelayEscapes;

impl System for RelayEscapes {
    fn expose(mechanism: Boxed) -> (Boxed, Option<Shared>) {
        let shared = Shared::default();
        let exposed = Exposed(mechanism, Arc::clone(&shared));
        (boxed(exposed), Some(shared))
    }

    fn relay(_: &Asked, machine: Option<&Shared>) -> Boxed {
        boxed(Escaped(Arc::clone(machine.expect("it was exposed"))))
    }
}

#[derive(Clone)]
struct Exposed(Boxed, Shared);

impl Mechanism<Rows> for Exposed {
    type Machine = Escaped;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<Escaped, Fault> {
        let machine = self.0.start(rows, coins)?;
        *self.1.machine.lock().unwrap() = Some(machine);
        Ok(Escaped(Arc::clone(&self.1)))
    }
}

#[derive(Clone)]
struct Escaped(Shared);

impl Mechanism<Rows> for Escaped {
    type Machine = Self;

    fn start(&self, _: &Arc<Rows>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(self.clone())
    }
}

impl Machine for Escaped {
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        match self.0.machine.try_lock() {
            Ok(mut machine) => machine.as_mut().ok_or(Fault::Failed)?.step(query, coins),
            Err(TryLockError::WouldBlock) => Err(Fault::InvalidQuery(BUSY)),
            Err(TryLockError::Poisoned(_)) => Err(Fault::Failed),
        }
    }
}

/// The token is checked before `loss()` and not after: what was stopped meanwhile starts anyway.
#[derive(Clone, Copy, Debug)]
pub struct CheckedBeforeOnly;

impl System for CheckedBeforeOnly {
    fn launch<C, M>(at: &C, mechanism: &Stated<M>) -> Result<HandleOf<M, Rows>, NotLaunched>
    where
        C: Launches,
        M: Mechanism<Rows, Machine: IntoHandle> + Clone,
    {
        let (Some(hook), true) = (&mechanism.while_asked, at.admits()) else {
            return at.launch(mechanism);
        };
        hook();
        let asked = Stated {
            while_asked: None,
            ..mechanism.clone()
        };
        match at.launch(&asked) {
            Err(LaunchError::Stopped(_)) => start(&asked, rows()).map_err(|_| LaunchError::Failed),
            launched => launched,
        }
    }
}

/// The context is lost between an outer compositor and what stands in one inside a machine.
#[derive(Clone, Copy, Debug)]
pub struct ContextLost;

impl System for ContextLost {
    fn inside<T>(coins: &mut Coins<'_>, run: impl FnOnce(&mut Coins<'_>) -> T) -> T {
        run(&mut Coins::new(coins.source()))
    }
}

/// A handle that is asked from inside an answer is checked against the caller's context.
#[derive(Clone, Copy, Debug)]
pub struct JudgedByTheAsker;

impl System for JudgedByTheAsker {
    fn ask(
        handle: &Asked,
        query: Query,
        coins: Option<&mut Coins<'_>>,
    ) -> Result<Answer, AskError> {
        if let Some(coins) = coins {
            coins.check()?;
        }
        handle.ask(query)
    }
}

/// An answer is checked before its code runs and not after: it is given out whoever was stopped
/// meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct AnswersUnchecked;

impl System for AnswersUnchecked {
    fn expose(mechanism: Boxed) -> (Boxed, Option<Shared>) {
        let shared = Shared::default();
        let overheard = Overheard(mechanism, Arc::clone(&shared));
        (boxed(overheard), Some(shared))
    }

    fn ask_anew(
        handle: &Asked,
        query: Query,
        machine: Option<&Shared>,
    ) -> Result<Answer, AskError> {
        let answer = &machine.expect("it was exposed").answer;
        answer.lock().unwrap().take();
        let given_out = handle.ask(query);
        let computed = answer.lock().unwrap().take();
        computed.map_or(given_out, Ok)
    }
}

#[derive(Clone)]
struct Overheard(Boxed, Shared);

struct OverheardMachine(BoxedMachine<Query, Answer>, Shared);

impl Mechanism<Rows> for Overheard {
    type Machine = OverheardMachine;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<OverheardMachine, Fault> {
        let machine = self.0.start(rows, coins)?;
        Ok(OverheardMachine(machine, Arc::clone(&self.1)))
    }
}

impl Machine for OverheardMachine {
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        let answer = self.0.step(query, coins)?;
        *self.1.answer.lock().unwrap() = Some(answer.clone());
        Ok(answer)
    }
}

/// The same for a start. Nothing here fails to start for another reason.
#[derive(Clone, Copy, Debug)]
pub struct StartsUnchecked;

impl System for StartsUnchecked {
    fn release(at: &Handle, mechanism: &Once) -> Result<(), NotLaunched> {
        match at.release(mechanism) {
            Err(LaunchError::Failed) => Ok(()),
            released => released,
        }
    }
}
