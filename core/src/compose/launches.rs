//! Admitting launches, and stopping what was launched.

use std::sync::Arc;

use super::gate::{DenialOf, Gate, PriceOf};
use super::{Discipline, LaunchError};
use crate::machine::{
    Answered, CoinSource, Coins, Fault, Mechanism, Stop, StopToken, Stopper, SystemCoins, guarded,
};
use crate::queryable::sealed::OPENING;
use crate::queryable::{Child, HandleOf, IntoHandle};

/// A launch that was admitted: charged, and not yet started.
///
/// A compositor's `launch` has two steps, admit and start. To run the mechanism elsewhere, in
/// another process for example, do only the first and keep the ticket: its token says whether the
/// compositor has stopped the child meanwhile. Check it when an answer has arrived, and give the
/// answer out only if the check passes: code that ran for it may have seen a later launch.
///
/// ```
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let filter = launch(&Filter::sequential(PureDp, "1".parse()?), Arc::new(()))?;
/// let ticket = filter.admit(&"0.5".parse()?)?;
/// let answer = std::thread::spawn(|| 42).join();
/// // The answer is there, and only now is it decided whether it is given out.
/// ticket.token().check()?;
/// assert_eq!(answer.ok(), Some(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the launch is charged already"]
pub struct Ticket {
    token: StopToken,
}

impl Ticket {
    /// Starts the mechanism that was admitted, with these coins.
    ///
    /// # Errors
    ///
    /// The mechanism's fault; [`Fault::Stopped`] if it was stopped since it was admitted.
    #[inline]
    pub fn start<D: ?Sized, M: Mechanism<D> + ?Sized>(
        self,
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, Fault> {
        Child::start(mechanism, data, self.token, coins)
    }

    /// Starts the mechanism that was admitted, and makes the handle to it.
    pub(crate) fn open<D: ?Sized, M: Mechanism<D, Machine: IntoHandle>>(
        self,
        mechanism: &M,
        data: &Arc<D>,
    ) -> Result<HandleOf<M, D>, Fault> {
        let mut coins = SystemCoins::new();
        let child = self.start(mechanism, data, &mut coins.coins())?;
        M::Machine::into_handle(child, coins, OPENING)
    }

    /// Starts a mechanism that answers once: there is nothing left to stop afterwards.
    #[inline]
    pub(crate) fn release<D: ?Sized, M: Mechanism<D, Machine: Answered> + ?Sized>(
        &self,
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<<M::Machine as Answered>::Value, Fault> {
        Child::run(mechanism, data, &self.token, coins).map(Answered::into_value)
    }

    /// The same, for a child that `other` stops too.
    pub(crate) fn joined(self, other: &StopToken) -> Self {
        // Beside its own, which is asked first, for a precise reason.
        let token = self.token.joined(other);
        Self { token }
    }

    /// Says whether the child has been stopped.
    #[must_use]
    pub fn token(&self) -> &StopToken {
        &self.token
    }
}

/// What has been launched: the gate, and what stops the children.
#[derive(Debug)]
pub(super) struct Launches<G> {
    pub(super) gate: G,
    /// Counts how often the gate was replaced.
    version: u64,
    /// Above every child's token.
    base: StopToken,
    /// Where the gate may halt: a token above every child's, and what stops it.
    halting: Option<(StopToken, Stopper)>,
    /// Where a launch freezes the earlier child: what stops the latest.
    latest: Option<Stopper>,
}

impl<G> Launches<G> {
    /// Whether a machine that owns them may go on: it is stopped by the token under which it was
    /// started, as a handle is, and by the tokens of whoever runs it.
    #[inline]
    pub(super) fn check(&self, coins: &Coins<'_>) -> Result<(), Stop> {
        coins.check()?;
        self.base.check()
    }
}

impl<G: Gate> Launches<G> {
    /// `base` stops everything that is launched.
    pub(super) fn new(gate: G, base: StopToken) -> Self {
        Self {
            version: 0,
            halting: gate.may_halt().then(|| base.extended()),
            latest: None,
            gate,
            base,
        }
    }

    /// Puts all later launches below `base`, another token for the same machine. Earlier children
    /// stay below the token with which they started.
    pub(super) fn rebase(&mut self, base: &StopToken) {
        if let Some((_, stopper)) = &self.halting {
            // Nobody can halt the earlier children any more.
            stopper.stop(Stop::Frozen);
            self.halting = Some(base.extended());
        }
        if let Some(stopper) = self.latest.take() {
            stopper.stop(Stop::Frozen);
        }
        self.base = base.clone();
    }

    /// Decides on a launch in place, and carries the decision out.
    #[inline]
    pub(super) fn decide<X: Discipline>(
        &mut self,
        price: &PriceOf<G>,
        note: impl Fn(&mut G),
    ) -> Result<Ticket, DenialOf<G>> {
        let admitted = admitted(&mut self.gate, price, note);
        self.carry_out::<X>(admitted)
    }

    /// What stops every child, whenever it was launched.
    pub(super) fn child_token(&self) -> StopToken {
        match &self.halting {
            Some((token, _)) => token.clone(),
            None => self.base.clone(),
        }
    }

    /// Changes the gate to one that was written down.
    pub(super) fn take_up(&mut self, change: impl FnOnce(&mut G)) {
        change(&mut self.gate);
        self.version += 1;
        if let Some((_, stopper)) = &self.halting
            && self.gate.is_halted()
        {
            stopper.stop(Stop::Halted);
        }
    }

    /// A copy of the gate that stops nobody, to decide with elsewhere.
    pub(super) fn detached(&self) -> Self {
        Self {
            version: self.version,
            ..Self::new(self.gate.clone(), StopToken::default())
        }
    }

    /// Whether the gate was replaced since this copy was made.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Exchanges the gate for that of a copy, which has decided or has read a later state.
    pub(super) fn exchange(&mut self, copy: &mut Self) {
        self.take_up(|gate| std::mem::swap(gate, &mut copy.gate));
    }

    /// A copy of the gate, to decide with elsewhere.
    pub(super) fn snapshot(&self) -> GateSnapshot<G> {
        GateSnapshot {
            gate: self.gate.clone(),
            version: self.version,
        }
    }

    /// Replaces the gate by a copy that has decided, and carries the decision out; `None` if the
    /// gate was replaced since the copy was made. The old gate is left in the copy, to be dropped
    /// outside the lock.
    pub(super) fn replace<X: Discipline>(
        &mut self,
        copy: &mut GateSnapshot<G>,
        admitted: Result<(), DenialOf<G>>,
    ) -> Option<Result<Ticket, DenialOf<G>>> {
        if copy.version != self.version {
            return None;
        }
        std::mem::swap(&mut self.gate, &mut copy.gate);
        Some(self.carry_out::<X>(admitted))
    }

    #[inline]
    fn carry_out<X: Discipline>(
        &mut self,
        admitted: Result<(), DenialOf<G>>,
    ) -> Result<Ticket, DenialOf<G>> {
        self.version += 1;
        if let Err(denial) = admitted {
            if let Some((_, stopper)) = &self.halting
                && self.gate.is_halted()
            {
                stopper.stop(Stop::Halted);
            }
            return Err(denial);
        }
        Ok(self.ticket::<X>())
    }

    /// A token for one more child.
    pub(super) fn ticket<X: Discipline>(&mut self) -> Ticket {
        let above = match &self.halting {
            Some((token, _)) => token,
            None => &self.base,
        };
        if !X::FREEZES {
            return Ticket {
                token: above.clone(),
            };
        }
        let (token, stopper) = above.extended();
        if let Some(earlier) = self.latest.replace(stopper) {
            earlier.stop(Stop::Frozen);
        }
        Ticket { token }
    }
}

/// A copy of the gate, and the version that was copied.
pub(super) struct GateSnapshot<G> {
    pub(super) gate: G,
    version: u64,
}

/// Asks a gate for its decision, and notes a launch that it admits. A third-party rule may panic:
/// then nothing has changed, because the gate replaces its rule only after the rule has returned.
#[inline]
pub(super) fn admitted<G: Gate>(
    gate: &mut G,
    price: &PriceOf<G>,
    note: impl Fn(&mut G),
) -> Result<(), DenialOf<G>> {
    let failed = |_| Err(LaunchError::RuleFailed.into());
    guarded(|| Ok(gate.admit(price))).unwrap_or_else(failed)?;
    note(gate);
    Ok(())
}
