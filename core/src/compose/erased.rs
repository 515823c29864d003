//! How a running filter loses its measure: what is asked of it as a trait object, and what it asks of
//! a mechanism.

use std::fmt;
use std::sync::Arc;

use super::any_filter::AnyReading;
use super::{Discipline, FilterGate, LaunchError, Refusal, RunningFilter, Ticket, Unavailable};
use crate::account::{ContinuationRule, LaunchesLeft};
use crate::machine::{
    CoinSource, Coins, Description, DomainMismatch, Fault, Mechanism, Public, SystemCoins,
};
use crate::privacy::facts::Fact;
use crate::privacy::{AnyLoss, AnyMeasure, Distance, Prices, Private, Relation, UnknownLoss};

/// The error of a launch whose measure is not known.
pub type AnyLaunchError = LaunchError<AnyLoss>;

/// A running filter as a trait object.
pub trait Erased<D: ?Sized, R>: Send + Sync {
    /// Decides and charges. Whoever calls it starts the mechanism with the ticket.
    ///
    /// # Errors
    ///
    /// Why it is not launched.
    fn charge(&self, mechanism: &dyn States<D, R>) -> Result<Charged<'_, D>, AnyLaunchError>;

    /// Hears what became of a launch.
    fn ended(&self, _sequence: u64, _how: Ended) {}

    /// [`would_admit`](super::AnyFilter::would_admit).
    ///
    /// # Errors
    ///
    /// The store does not say.
    fn would_admit(&self, mechanism: &dyn States<D, R>) -> Result<bool, Unavailable>;

    /// [`preview`](super::AnyFilter::preview): the cost, and how many such launches are left.
    ///
    /// # Errors
    ///
    /// Why it could not be launched.
    fn preview(
        &self,
        mechanism: &dyn States<D, R>,
    ) -> Result<(AnyLoss, LaunchesLeft), AnyLaunchError>;

    /// [`is_interactive`](super::AnyFilter::is_interactive).
    fn is_interactive(&self) -> bool;

    /// The measure of the children.
    fn measure(&self) -> &dyn fmt::Debug;

    /// [`reading`](super::AnyFilter::reading).
    ///
    /// # Errors
    ///
    /// The store does not say.
    fn reading(&self) -> Result<AnyReading, Unavailable>;

    /// The data.
    fn data(&self) -> &Arc<D>;
}

/// A launch that was admitted, and its place in the record, if there is one.
#[allow(missing_debug_implementations, reason = "it holds the data")]
pub struct Charged<'a, D: ?Sized> {
    /// With which it is started.
    pub ticket: Ticket,
    /// The data.
    pub data: &'a Arc<D>,
    /// The place in the record; 0 if there is none.
    pub sequence: u64,
}

/// What became of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It runs.
    Started,
    /// It has answered, once.
    Answered,
    /// It has failed.
    Failed,
}

/// What must be known of a mechanism to decide on its launch in a filter under `R`.
pub trait States<D: ?Sized, R> {
    /// [`Mechanism::check`].
    ///
    /// # Errors
    ///
    /// Why it does not fit the data.
    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch>;

    /// What it states at this distance.
    ///
    /// # Errors
    ///
    /// Why it states nothing.
    fn fact(&self, distance: Distance) -> Result<Fact, UnknownLoss>;

    /// [`Mechanism::describe`].
    fn describe(&self) -> Description;
}

impl<D: ?Sized, R: Relation, M: Mechanism<D> + Private<AnyMeasure, R>> States<D, R> for M {
    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        Mechanism::check(self, data)
    }

    fn fact(&self, distance: Distance) -> Result<Fact, UnknownLoss> {
        self.loss_at(&AnyMeasure, distance)
    }

    fn describe(&self) -> Description {
        Mechanism::describe(self)
    }
}

/// The same as a mechanism of which only the price is asked.
impl<D: ?Sized, R> Mechanism<D> for dyn States<D, R> + '_ {
    type Machine = ();

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<(), Fault> {
        Err(Fault::Failed)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        States::check(self, data)
    }

    fn describe(&self) -> Description {
        States::describe(self)
    }
}

impl<D: ?Sized, Me: Prices<Fact>, R: Relation> Private<Me, R> for dyn States<D, R> + '_ {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.fact(Distance::NEIGHBOURS)?)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.fact(distance)?)
    }
}

/// A handle inside an [`AnyFilter`], which alone makes one: the handle itself gives nobody its data or
/// a charge without a start.
pub(super) struct OfHandle<H>(pub(super) H);

impl<D, F, R, X> Erased<D, R> for OfHandle<RunningFilter<D, F, R, X>>
where
    D: Send + Sync + ?Sized,
    F: ContinuationRule<Children: Prices<Fact>>,
    R: Relation,
    X: Discipline,
{
    fn charge(&self, mechanism: &dyn States<D, R>) -> Result<Charged<'_, D>, AnyLaunchError> {
        let charged = RunningFilter::charge(&self.0, &mechanism, &SystemCoins::new().coins());
        let (ticket, data) = charged.map_err(|denial| self.0.erasing().error(*denial))?;
        Ok(Charged {
            ticket,
            data,
            sequence: 0,
        })
    }

    fn would_admit(&self, mechanism: &dyn States<D, R>) -> Result<bool, Unavailable> {
        let price = self.0.price(&mechanism);
        Ok(price.is_ok_and(|price| self.0.would_take(&price)))
    }

    fn preview(
        &self,
        mechanism: &dyn States<D, R>,
    ) -> Result<(AnyLoss, LaunchesLeft), AnyLaunchError> {
        let erasing = self.0.erasing();
        let preview = RunningFilter::preview(&self.0, &mechanism);
        let preview = preview.map_err(|error| erasing.error(error))?;
        Ok((
            erasing.child(preview.cost().clone()),
            preview.launches_left(),
        ))
    }

    fn is_interactive(&self) -> bool {
        X::INTERACTIVE
    }

    fn measure(&self) -> &dyn fmt::Debug {
        &self.0.terms().measure
    }

    fn reading(&self) -> Result<AnyReading, Unavailable> {
        Ok(self.0.read(FilterGate::any_reading))
    }

    fn data(&self) -> &Arc<D> {
        RunningFilter::data(&self.0)
    }
}

impl<D: ?Sized, F: ContinuationRule, R, X> RunningFilter<D, F, R, X> {
    fn erasing(&self) -> Erasing {
        self.read(|gate| Erasing::of(&*gate.rule))
    }
}

/// Erases losses, and names their measures.
#[derive(Debug)]
pub struct Erasing {
    children: String,
    whole: String,
}

impl Erasing {
    /// Under the measures of this rule.
    pub fn of<F: ContinuationRule>(rule: &F) -> Self {
        Self {
            children: format!("{:?}", rule.children()),
            whole: format!("{:?}", rule.whole()),
        }
    }

    /// A loss in the children's measure.
    pub fn child(&self, loss: impl Loss) -> AnyLoss {
        AnyLoss::new(loss).named(Some(self.children.clone()))
    }

    pub(super) fn whole(&self, loss: impl Loss) -> AnyLoss {
        AnyLoss::new(loss).named(Some(self.whole.clone()))
    }

    pub(super) fn refusal<C: Loss, W: Loss>(&self, refusal: Refusal<C, W>) -> Refusal<AnyLoss> {
        refusal.map(|loss| self.child(loss), |loss| self.whole(loss))
    }

    /// A quota's, which is in the measure of the children.
    fn quota<C: Loss>(&self, refusal: Refusal<C>) -> Refusal<AnyLoss> {
        refusal.map(|loss| self.child(loss), |loss| self.child(loss))
    }

    /// Why a mechanism is not launched.
    pub fn error<C: Loss, W: Loss>(&self, error: LaunchError<C, W>) -> AnyLaunchError {
        match error {
            LaunchError::Refused(refusal) => LaunchError::Refused(self.refusal(refusal)),
            LaunchError::OverQuota { quota, refusal } => LaunchError::OverQuota {
                quota,
                refusal: Box::new(self.quota(*refusal)),
            },
            LaunchError::CountLimit { limit } => LaunchError::CountLimit { limit },
            LaunchError::UnknownLoss(unknown) => LaunchError::UnknownLoss(unknown),
            LaunchError::DomainMismatch(mismatch) => LaunchError::DomainMismatch(mismatch),
            LaunchError::Interactive => LaunchError::Interactive,
            LaunchError::Overflow => LaunchError::Overflow,
            LaunchError::Stopped(stop) => LaunchError::Stopped(stop),
            LaunchError::RuleFailed => LaunchError::RuleFailed,
            LaunchError::Unavailable(unavailable) => LaunchError::Unavailable(unavailable),
            LaunchError::Failed => LaunchError::Failed,
        }
    }
}

/// What every loss of a measure is.
pub trait Loss: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static {}
impl<L: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static> Loss for L {}
