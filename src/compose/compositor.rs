//! What all compositors that launch one mechanism after the other have in common.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};

use super::child::{Child, guarded};
use super::leash::{Cut, Knife, Leash};
use super::{Discipline, Interactive, LaunchError, patience};
use crate::machine::{Coins, Inspect, Mechanism, Released, StateKey};
use crate::privacy::{Measure, Private, Relation, UnknownLoss};

/// Decides launches: the part of a compositor that knows what has been spent.
///
/// Deciding and charging is one operation, under one lock; nothing but public values is in sight.
/// [`FilterGate`](super::FilterGate), [`OdometerGate`](super::OdometerGate) and
/// [`TimeUniformGate`](super::TimeUniformGate) are the three here.
pub trait Gate: Send + 'static {
    /// In which children state their losses.
    type Measure: Measure;
    /// In which the guarantee of the whole is stated.
    type Whole: Measure;
    /// What a mechanism is asked for before a launch; it does not change.
    type Tariff: Send + Sync;
    /// What the mechanism says.
    type Price;

    /// Asks a mechanism for its price. No lock is held: this is the mechanism's own code.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the mechanism has none.
    fn price<R: Relation>(
        tariff: &Self::Tariff,
        mechanism: &dyn Private<Self::Measure, R>,
    ) -> Result<Self::Price, UnknownLoss>;

    /// Decides on a launch and charges it.
    ///
    /// # Errors
    ///
    /// Why it is not admitted. Nothing has been charged then.
    fn charge(&mut self, price: Self::Price) -> Result<(), LaunchErrorOf<Self>>;

    /// Whether an earlier refusal has ended everything.
    fn is_halted(&self) -> bool {
        false
    }
}

pub(crate) type LaunchErrorOf<G> =
    LaunchError<<<G as Gate>::Measure as Measure>::Loss, <<G as Gate>::Whole as Measure>::Loss>;

/// A running filter or odometer, on data of type `D`.
///
/// It is a handle: clones share one budget, and it can be sent between threads. What it launches
/// lives on its own: children may outlive it, run on other threads, and block neither each other
/// nor their parent. See [`Filter`](super::Filter) and [`Odometer`](super::Odometer) for what can
/// be read from it.
pub struct Compositor<D: ?Sized, G: Gate, R, X> {
    shared: Arc<Shared<D, G>>,
    /// Held by the handle and not by what is shared: it is that of whoever launched it.
    leash: Leash,
    types: PhantomData<fn() -> (R, X)>,
}

struct Shared<D: ?Sized, G: Gate> {
    tariff: G::Tariff,
    state: Mutex<State<G>>,
    data: Arc<D>,
}

struct State<G> {
    gate: G,
    /// Set for good when the gate panics: what it knows may be half changed.
    broken: bool,
    /// The link that all children hang on, where a halt must be able to stop them.
    common: Option<(Leash, Knife)>,
    /// Freezes the latest child.
    latest: Option<Knife>,
}

impl<D: ?Sized, G: Gate, R, X> Compositor<D, G, R, X> {
    pub(super) fn new(data: &Arc<D>, tariff: G::Tariff, gate: G, may_halt: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                tariff,
                state: Mutex::new(State {
                    gate,
                    broken: false,
                    common: may_halt.then(|| Leash::default().extended()),
                    latest: None,
                }),
                data: Arc::clone(data),
            }),
            leash: Leash::default(),
            types: PhantomData,
        }
    }

    /// The same compositor, held by this leash.
    pub(crate) fn on_leash(self, leash: Leash) -> Self {
        Self { leash, ..self }
    }

    pub(super) fn tariff(&self) -> &G::Tariff {
        &self.shared.tariff
    }

    #[cfg(feature = "opendp")]
    pub(crate) fn data(&self) -> &D {
        &self.shared.data
    }

    /// Reads what has been spent. Always possible: these are public values.
    pub(super) fn read<T>(&self, read: impl FnOnce(&G) -> T) -> T {
        read(&self.state().gate)
    }

    /// Whether an ancestor has stopped it.
    pub(super) fn check_leash(&self) -> Result<(), Cut> {
        self.leash.check()
    }

    fn state(&self) -> MutexGuard<'_, State<G>> {
        // Poisoned by a rule that panicked as it was read: reading changes nothing.
        patience::lock(&self.shared.state)
    }
}

impl<D: ?Sized, G: Gate, R: Relation, X: Discipline> Compositor<D, G, R, X> {
    /// Launches a mechanism with these coins: decides, charges, starts, in this order.
    ///
    /// [`launch`](Self::launch) is the same with the operating system's randomness.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    pub fn launch_with<M>(
        &self,
        mechanism: &M,
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, LaunchErrorOf<G>>
    where
        M: Mechanism<D> + Private<G::Measure, R>,
        X: Interactive,
    {
        self.start(mechanism, coins)
    }

    /// Launches a non-interactive mechanism with these coins and returns its answer.
    ///
    /// [`release`](Self::release) is the same with the operating system's randomness.
    ///
    /// # Errors
    ///
    /// As for [`launch_with`](Self::launch_with).
    pub fn release_with<M, A>(
        &self,
        mechanism: &M,
        coins: &mut Coins<'_>,
    ) -> Result<A, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine = Released<A>> + Private<G::Measure, R>,
    {
        let child = self.start(mechanism, coins)?;
        let (Released(answer), _) = child.into_parts().ok_or(LaunchError::Failed)?;
        Ok(answer)
    }

    fn start<M>(
        &self,
        mechanism: &M,
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, LaunchErrorOf<G>>
    where
        M: Mechanism<D> + Private<G::Measure, R>,
    {
        let leash = self.admit(mechanism)?;
        let child = Child::start(mechanism, &self.shared.data, leash, coins);
        child.map_err(|_| LaunchError::Failed)
    }

    /// Decides and charges, from public values only; the leash is for the child.
    fn admit(&self, mechanism: &dyn Private<G::Measure, R>) -> Result<Leash, LaunchErrorOf<G>> {
        self.leash.check()?;
        let price = guarded(|| Ok(G::price(&self.shared.tariff, mechanism)))
            .unwrap_or(Err(UnknownLoss("the mechanism failed to state its loss")))?;
        let mut state = self.state();
        if state.broken {
            return Err(LaunchError::RuleFailed);
        }
        // A rule may be anybody's.
        let Ok(charged) = guarded(|| Ok(state.gate.charge(price))) else {
            state.broken = true;
            return Err(LaunchError::RuleFailed);
        };
        if let Some((_, knife)) = &state.common
            && state.gate.is_halted()
        {
            knife.cut(Cut::Halted);
        }
        charged?;
        let leash = match &state.common {
            Some((common, _)) => self.leash.joined(common),
            None => self.leash.clone(),
        };
        if !X::FREEZES {
            return Ok(leash);
        }
        let (leash, knife) = leash.extended();
        if let Some(earlier) = state.latest.replace(knife) {
            earlier.cut(Cut::Frozen);
        }
        Ok(leash)
    }
}

/// The data, what it asks of mechanisms, what has been spent, and whether an ancestor has stopped it. Which children it may
/// yet stop follows from their order: all of them, or the latest.
impl<D, G, R, X> Inspect for Compositor<D, G, R, X>
where
    D: Inspect + ?Sized,
    G: Gate<Tariff: Inspect> + Inspect,
{
    fn inspect(&self, key: &mut StateKey) {
        key.write(&*self.shared.data);
        key.write(&self.shared.tariff);
        key.write(&self.leash.check());
        key.write(&self.state().gate);
    }
}

impl<D: ?Sized, G: Gate, R, X> Clone for Compositor<D, G, R, X> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            leash: self.leash.clone(),
            types: PhantomData,
        }
    }
}

impl<D: ?Sized, G: Gate, R, X> fmt::Debug for Compositor<D, G, R, X> {
    /// Nothing of what is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compositor")
    }
}
