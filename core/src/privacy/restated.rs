//! Mechanisms that state a loss under one measure, launched under another.

use std::sync::Arc;

use super::measure::checked;
use super::{Distance, Implies, Measure, Private, Relation, UnknownLoss};
use crate::machine::{Coins, Description, DomainMismatch, Fault, Mechanism, Public, ReleasesOnly};

/// A mechanism that states its loss under one measure, to be launched where another one is used.
///
/// For mechanisms that state a fact, as the ready-made ones do, it is not needed: every measure
/// prices them ([`Prices`](super::Prices)).
///
/// # Guarantee
///
/// What follows from the mechanism's own guarantee, by the theorem that the implementation of
/// [`Implies`] names.
///
/// ```
/// use queryables::number::Epsilon;
/// use queryables::privacy::{AddRemove, ApproxDp, Private, PureDp, Restated, UnknownLoss};
///
/// #[derive(Clone)]
/// struct Tenth;
///
/// impl Private<PureDp, AddRemove> for Tenth {
///     fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
///         Epsilon::try_from("0.1").map_err(|_| UnknownLoss("not a number"))
///     }
/// }
///
/// let restated = Restated::new(PureDp, Tenth);
/// let loss = Private::<ApproxDp, AddRemove>::loss(&restated, &ApproxDp)?;
/// assert_eq!(loss.to_string(), "(0.1, 0)");
/// # Ok::<(), UnknownLoss>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Restated<From, M> {
    from: From,
    mechanism: M,
}

impl<From, M> Restated<From, M> {
    /// The mechanism, with what follows from its loss under `from`.
    pub fn new(from: From, mechanism: M) -> Self {
        Self { from, mechanism }
    }
}

impl<D: ?Sized, From, M: Mechanism<D>> Mechanism<D> for Restated<From, M> {
    type Machine = M::Machine;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        self.mechanism.start(data, coins)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanism.check(data)
    }

    fn describe(&self) -> Description {
        self.mechanism.describe()
    }
}

impl<From, M: ReleasesOnly> ReleasesOnly for Restated<From, M> {}

impl<From, To, R, M> Private<To, R> for Restated<From, M>
where
    From: Implies<To>,
    To: Measure,
    R: Relation,
    M: Private<From, R>,
{
    fn loss(&self, measure: &To) -> Result<To::Loss, UnknownLoss> {
        let loss = checked(&self.from, self.mechanism.loss(&self.from)?)?;
        self.from.imply(&loss, measure)
    }

    fn loss_at(&self, measure: &To, distance: Distance) -> Result<To::Loss, UnknownLoss> {
        let loss = self.mechanism.loss_at(&self.from, distance)?;
        let loss = checked(&self.from, loss)?;
        self.from.imply(&loss, measure)
    }
}
