//! Running filters with their measure erased.

use std::fmt;
use std::sync::Arc;

use super::{Discipline, Halt, LaunchError, Preview, Refusal, RunningFilter, Ticket};
use crate::account::{ContinuationRule, LaunchesLeft};
use crate::machine::{
    Answered, CoinSource, Coins, Fault, Mechanism, Public, PublicFacts, SystemCoins, Unsuitable,
};
use crate::privacy::facts::Fact;
use crate::privacy::{
    AddRemove, AnyLoss, AnyMeasure, Distance, Prices, Private, Relation, UnknownLoss,
};
use crate::queryable::sealed::OPENING;
use crate::queryable::{HandleOf, IntoHandle};

/// A running filter on data of type `D` under the relation `R`, whatever its measure, its rule and
/// its discipline: so that filters of different measures live in one map.
///
/// It launches mechanisms that state what they do under [`AnyMeasure`], which the ready-made ones
/// do, typically [boxed](super::Boxed). The filter's own measure prices what is stated. Otherwise
/// it is the same filter, and shares its budget with other handles to it.
///
/// # What is checked when
///
/// **This path leaves the compile-time rule.** What elsewhere does not compile is an error here, at
/// run time, and nothing is charged:
///
/// | | with types | here |
/// |---|---|---|
/// | the measure has no price for the mechanism | does not compile | [`LaunchError::UnknownLoss`] |
/// | an interactive mechanism, where no theorem allows one | does not compile | [`LaunchError::Interactive`] |
/// | a mechanism for another neighbouring relation or other data | does not compile | does not compile |
/// | a discipline that the measure has no theorem for | does not compile | does not compile |
///
/// # Guarantee
///
/// That of the [`Filter`](super::Filter). Filters on the same data, in a map for example, have a
/// budget each: together they lose what their budgets add up to, which none of them counts.
///
/// # Example
///
/// ```
/// use queryables::compose::{AnyFilter, BoxedRelease};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{GaussianCount, NoisyCount};
/// use queryables::prelude::*;
/// use queryables::privacy::AnyMeasure;
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// type Ages = Vec<u32>;
/// type Any = BoxedRelease<Ages, AnyMeasure, AddRemove, i64>;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let pure = launch(&Filter::concurrent(PureDp, "1".parse()?), Arc::clone(&ages))?;
/// let concentrated = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), ages)?;
/// let filters: BTreeMap<&str, AnyFilter<Ages>> =
///     [("pure", pure.into()), ("zcdp", concentrated.into())].into();
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let laplace = Any::new(AnyMeasure, NoisyCount::new(adults.clone(), "0.5".parse()?)?);
/// let gaussian = Any::new(AnyMeasure, GaussianCount::new(adults, "0.1".parse()?)?);
///
/// let answer: i64 = filters["pure"].release(&laplace)?;
/// assert_eq!(filters["pure"].remaining().to_string(), "0.5");
/// // The same mechanism costs ε·tanh(ε/2) under zCDP.
/// filters["zcdp"].release(&laplace)?;
/// filters["zcdp"].release(&gaussian)?;
/// // Gaussian noise has no loss under pure privacy. Nothing is charged.
/// assert_eq!(
///     filters["pure"].release(&gaussian).unwrap_err().to_string(),
///     "no known loss: PureDp has no price for what the mechanism states",
/// );
/// assert_eq!(filters["pure"].privacy_loss().get(), Some(&"0.5".parse::<Epsilon>()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AnyFilter<D: ?Sized, R = AddRemove>(Arc<dyn Erased<D, R>>);

/// The error of a launch whose measure is not known.
type AnyLaunchError = LaunchError<AnyLoss>;

/// A running filter as a trait object.
trait Erased<D: ?Sized, R>: Send + Sync {
    /// Decides and charges. Whoever calls it starts the mechanism with the ticket.
    fn admit(&self, mechanism: &dyn States<D>) -> Result<(Ticket, &Arc<D>), AnyLaunchError>;
    fn would_admit(&self, mechanism: &dyn States<D>) -> bool;
    fn preview(&self, mechanism: &dyn States<D>)
    -> Result<(AnyLoss, LaunchesLeft), AnyLaunchError>;
    fn is_interactive(&self) -> bool;
    fn measure(&self) -> &dyn fmt::Debug;
    fn remaining(&self) -> AnyLoss;
    fn privacy_loss(&self) -> AnyLoss;
    fn set_aside(&self) -> AnyLoss;
    fn limit(&self) -> AnyLoss;
    fn launched(&self) -> u64;
    fn halt(&self) -> Option<Halt<AnyLoss>>;
    fn facts(&self) -> &D::Facts
    where
        D: PublicFacts;
}

/// What must be known of a mechanism to decide on its launch.
trait States<D: ?Sized> {
    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable>;
    fn fact(&self, distance: Distance) -> Result<Fact, UnknownLoss>;
}

/// A mechanism that states facts under `R`.
struct Stating<'a, M, R>(&'a M, std::marker::PhantomData<R>);

impl<D, M, R> States<D> for Stating<'_, M, R>
where
    D: ?Sized,
    M: Mechanism<D> + Private<AnyMeasure, R>,
    R: Relation,
{
    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable> {
        self.0.check(data)
    }

    fn fact(&self, distance: Distance) -> Result<Fact, UnknownLoss> {
        self.0.loss_at(&AnyMeasure, distance)
    }
}

/// The same as a mechanism of which only the price is asked.
struct Quoted<'a, D: ?Sized>(&'a dyn States<D>);

impl<D: ?Sized> Mechanism<D> for Quoted<'_, D> {
    type Machine = ();

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<(), Fault> {
        Err(Fault::Failed)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable> {
        self.0.check(data)
    }
}

/// The relation is that of the filter: [`AnyFilter`] takes no other mechanism.
impl<D: ?Sized, Me: Prices<Fact>, R: Relation> Private<Me, R> for Quoted<'_, D> {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.0.fact(Distance::NEIGHBOURS)?)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.0.fact(distance)?)
    }
}

impl<D, F, R, X> Erased<D, R> for RunningFilter<D, F, R, X>
where
    D: Send + Sync + ?Sized,
    F: ContinuationRule<Children: Prices<Fact>>,
    R: Relation,
    X: Discipline,
{
    fn admit(&self, mechanism: &dyn States<D>) -> Result<(Ticket, &Arc<D>), AnyLaunchError> {
        let charged = self.charge(&Quoted(mechanism), &SystemCoins::new().coins());
        charged.map_err(|denial| erased(*denial))
    }

    fn would_admit(&self, mechanism: &dyn States<D>) -> bool {
        let price = self.price(&Quoted(mechanism));
        price.is_ok_and(|price| RunningFilter::would_admit(self, &price.first))
    }

    fn preview(
        &self,
        mechanism: &dyn States<D>,
    ) -> Result<(AnyLoss, LaunchesLeft), AnyLaunchError> {
        let quoted = Quoted(mechanism);
        let preview = RunningFilter::preview(self, &quoted).map_err(erased)?;
        Ok((
            AnyLoss::new(preview.cost().clone()),
            preview.launches_left(),
        ))
    }

    fn is_interactive(&self) -> bool {
        X::INTERACTIVE
    }

    fn measure(&self) -> &dyn fmt::Debug {
        &self.terms().measure
    }

    fn remaining(&self) -> AnyLoss {
        AnyLoss::new(RunningFilter::remaining(self))
    }

    fn privacy_loss(&self) -> AnyLoss {
        AnyLoss::new(RunningFilter::privacy_loss(self))
    }

    fn set_aside(&self) -> AnyLoss {
        AnyLoss::new(RunningFilter::set_aside(self))
    }

    fn limit(&self) -> AnyLoss {
        AnyLoss::new(RunningFilter::limit(self))
    }

    fn launched(&self) -> u64 {
        RunningFilter::launched(self)
    }

    fn halt(&self) -> Option<Halt<AnyLoss>> {
        Some(match RunningFilter::halt(self)? {
            Halt::OverBudget(refusal) => Halt::OverBudget(any(refusal)),
            Halt::CountLimit { limit } => Halt::CountLimit { limit },
        })
    }

    fn facts(&self) -> &D::Facts
    where
        D: PublicFacts,
    {
        RunningFilter::facts(self)
    }
}

/// The same refusal, with its losses erased.
fn any<C: Loss, W: Loss>(refusal: Refusal<C, W>) -> Refusal<AnyLoss> {
    Refusal {
        spent: AnyLoss::new(refusal.spent),
        set_aside: refusal
            .set_aside
            .map(|aside| Box::new(AnyLoss::new(*aside))),
        requested: AnyLoss::new(refusal.requested),
        remaining: AnyLoss::new(refusal.remaining),
        limit: AnyLoss::new(refusal.limit),
    }
}

fn erased<C: Loss, W: Loss>(error: LaunchError<C, W>) -> AnyLaunchError {
    match error {
        LaunchError::Refused(refusal) => LaunchError::Refused(any(refusal)),
        LaunchError::CountLimit { limit } => LaunchError::CountLimit { limit },
        LaunchError::UnknownLoss(unknown) => LaunchError::UnknownLoss(unknown),
        LaunchError::Unsuitable(unsuitable) => LaunchError::Unsuitable(unsuitable),
        LaunchError::Interactive => LaunchError::Interactive,
        LaunchError::Overflow => LaunchError::Overflow,
        LaunchError::Stopped(stop) => LaunchError::Stopped(stop),
        LaunchError::RuleFailed => LaunchError::RuleFailed,
        LaunchError::Failed => LaunchError::Failed,
    }
}

/// What every loss of a measure is.
trait Loss: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static {}
impl<L: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static> Loss for L {}

impl<D: ?Sized, R: Relation> AnyFilter<D, R> {
    /// Launches a mechanism and returns the handle to it, as
    /// [`RunningFilter::launch`] does.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    /// [`LaunchError::Interactive`] if the filter takes only mechanisms that answer once.
    pub fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, D>, AnyLaunchError>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<AnyMeasure, R>,
    {
        if !self.0.is_interactive() {
            return Err(LaunchError::Interactive);
        }
        let (ticket, data) = self.0.admit(&stating(mechanism))?;
        let mut coins = SystemCoins::new();
        let child = ticket.start(mechanism, data, &mut coins.coins());
        let handle = child.and_then(|child| M::Machine::into_handle(child, coins, OPENING));
        handle.map_err(|_| LaunchError::Failed)
    }

    /// Launches a non-interactive mechanism and returns its answer, as
    /// [`RunningFilter::release`] does.
    ///
    /// # Errors
    ///
    /// Why there is no answer; only after [`LaunchError::Failed`] has anything been charged.
    pub fn release<M>(
        &self,
        mechanism: &M,
    ) -> Result<<M::Machine as Answered>::Value, AnyLaunchError>
    where
        M: Mechanism<D, Machine: Answered> + Private<AnyMeasure, R>,
    {
        let (ticket, data) = self.0.admit(&stating(mechanism))?;
        let answer = ticket.release(mechanism, data, &mut SystemCoins::new().coins());
        answer.map_err(|_| LaunchError::Failed)
    }

    /// Whether this mechanism would be admitted now: whether it has a price and fits the data, the
    /// budget and the limit on the number of launches allow it, and the filter was not stopped. Whether
    /// it answers once, where it has to, is not asked: see [`is_interactive`](Self::is_interactive).
    #[must_use]
    pub fn would_admit<M>(&self, mechanism: &M) -> bool
    where
        M: Mechanism<D> + Private<AnyMeasure, R>,
    {
        self.0.would_admit(&stating(mechanism))
    }

    /// What a launch of this mechanism would cost and how many such launches are left, as
    /// [`RunningFilter::preview`] does.
    ///
    /// # Errors
    ///
    /// Why no such mechanism could be launched, whatever is left of the budget.
    pub fn preview<'m, M>(
        &self,
        mechanism: &'m M,
    ) -> Result<Preview<'m, M, AnyLoss>, AnyLaunchError>
    where
        M: Mechanism<D> + Private<AnyMeasure, R>,
    {
        let (cost, left) = self.0.preview(&stating(mechanism))?;
        Ok(Preview::new(mechanism, cost, left))
    }

    /// Whether it takes mechanisms that answer more than once.
    #[must_use]
    pub fn is_interactive(&self) -> bool {
        self.0.is_interactive()
    }

    /// What is left of the budget: see [`RunningFilter::remaining`].
    #[must_use]
    pub fn remaining(&self) -> AnyLoss {
        self.0.remaining()
    }

    /// What the launches so far add up to: see [`RunningFilter::privacy_loss`].
    #[must_use]
    pub fn privacy_loss(&self) -> AnyLoss {
        self.0.privacy_loss()
    }

    /// The part of it that no launch has cost: see [`RunningFilter::set_aside`].
    #[must_use]
    pub fn set_aside(&self) -> AnyLoss {
        self.0.set_aside()
    }

    /// The budget.
    #[must_use]
    pub fn limit(&self) -> AnyLoss {
        self.0.limit()
    }

    /// The number of mechanisms launched so far.
    #[must_use]
    pub fn launched(&self) -> u64 {
        self.0.launched()
    }

    /// Why it halted, if it did.
    #[must_use]
    pub fn halt(&self) -> Option<Halt<AnyLoss>> {
        self.0.halt()
    }

    /// The public facts of the data.
    ///
    /// # Panics
    ///
    /// If the dataset's own code panics. The message says only that.
    #[must_use]
    pub fn facts(&self) -> &D::Facts
    where
        D: PublicFacts,
    {
        self.0.facts()
    }
}

fn stating<M, R>(mechanism: &M) -> Stating<'_, M, R> {
    Stating(mechanism, std::marker::PhantomData)
}

impl<D, F, R, X> From<RunningFilter<D, F, R, X>> for AnyFilter<D, R>
where
    D: Send + Sync + ?Sized + 'static,
    F: ContinuationRule<Children: Prices<Fact>>,
    R: Relation,
    X: Discipline,
{
    /// Erases the measure, the rule and the discipline.
    fn from(filter: RunningFilter<D, F, R, X>) -> Self {
        Self(Arc::new(filter))
    }
}

impl<D: ?Sized, R> Clone for AnyFilter<D, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: ?Sized, R> fmt::Debug for AnyFilter<D, R> {
    /// The measure of the children, and nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyFilter({:?})", self.0.measure())
    }
}
