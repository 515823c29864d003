//! Running filters with their measure erased.

use std::fmt;
use std::sync::Arc;

use super::erased::{AnyLaunchError, Ended, Erased, Erasing, OfHandle};
use super::running::public_facts;
use super::{Discipline, FilterGate, Halt, LaunchError, Preview, RunningFilter, Unavailable};
use crate::account::ContinuationRule;
use crate::machine::{Answered, CoinSource, Mechanism, PublicMetadata, SystemCoins};
use crate::privacy::facts::Fact;
use crate::privacy::{AddRemove, AnyLoss, AnyMeasure, Prices, Private, Relation};
use crate::queryable::{HandleOf, IntoHandle};

/// A running filter on data of type `D` under the relation `R`, whatever its measure, its rule and
/// its discipline: so that filters of different measures live in one map.
///
/// It launches mechanisms that state what they do under [`AnyMeasure`], which the ready-made ones
/// do, typically [boxed](super::Boxed). The filter's own measure prices what is stated. Otherwise
/// it is the same filter, and shares its budget with other handles to it.
///
/// It is made of a [`RunningFilter`], or of a `Party` of the toolkit in a filter that a
/// ledger keeps: then its budget survives the process, and what asks the store may be
/// [`Unavailable`].
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
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use queryables::privacy::AnyMeasure;
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// type Ages = Vec<u32>;
/// type Any = BoxedRelease<Ages, AnyMeasure, AddRemove, i64>;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let pure = start(&Filter::concurrent(PureDp, "1".parse()?), Arc::clone(&ages))?;
/// let concentrated = start(&Filter::concurrent(ZCdp, "0.5".parse()?), ages)?;
/// let filters: BTreeMap<&str, AnyFilter<Ages>> =
///     [("pure", pure.into()), ("zcdp", concentrated.into())].into();
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let laplace = Any::new(AnyMeasure, Count::of(adults.clone()).laplace(epsilon!(0.5))?);
/// let gaussian = Any::new(AnyMeasure, Count::of(adults).gaussian(rho!(0.1))?);
///
/// let answer: i64 = filters["pure"].release(&laplace)?;
/// assert_eq!(filters["pure"].reading()?.remaining.to_string(), "0.5");
/// // The same mechanism costs ε·tanh(ε/2) under zCDP.
/// filters["zcdp"].release(&laplace)?;
/// filters["zcdp"].release(&gaussian)?;
/// // Gaussian noise has no loss under pure privacy. Nothing is charged.
/// assert_eq!(
///     filters["pure"].release(&gaussian).unwrap_err().to_string(),
///     "no known loss: PureDp has no price for what the mechanism states",
/// );
/// let spent = filters["pure"].reading()?.privacy_loss;
/// assert_eq!(spent.get(), Some(&"0.5".parse::<Epsilon>()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AnyFilter<D: ?Sized, R = AddRemove>(Arc<dyn Erased<D, R>>);

/// What can be read from a filter whose measure is erased, all at the same moment.
///
/// Example: [`AnyFilter`](crate::compose::AnyFilter).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnyReading {
    /// What the launches so far add up to: see [`RunningFilter::privacy_loss`].
    pub privacy_loss: AnyLoss,
    /// The part of it that no launch has cost: see [`RunningFilter::set_aside`].
    pub set_aside: AnyLoss,
    /// What is left of the budget: see [`RunningFilter::remaining`].
    pub remaining: AnyLoss,
    /// The budget.
    pub limit: AnyLoss,
    /// The number of mechanisms launched so far.
    pub launched: u64,
    /// Why it halted, if it did.
    pub halt: Option<Halt<AnyLoss>>,
}

impl<F: ContinuationRule> FilterGate<F> {
    /// What can be read, with the losses erased.
    pub fn any_reading(&self) -> AnyReading {
        let rule = &*self.rule;
        let erasing = Erasing::of(rule);
        AnyReading {
            privacy_loss: erasing.whole(rule.spent()),
            set_aside: erasing.whole(rule.set_aside()),
            remaining: erasing.child(rule.remaining()),
            limit: erasing.whole(rule.limit().clone()),
            launched: self.launched,
            halt: self.halt.as_deref().cloned().map(|halt| match halt {
                Halt::OverBudget(refusal) => Halt::OverBudget(erasing.refusal(refusal)),
                Halt::CountLimit { limit } => Halt::CountLimit { limit },
            }),
        }
    }
}

impl<D: ?Sized, R: Relation> AnyFilter<D, R> {
    /// Launches a mechanism and returns the handle to it, as
    /// [`RunningFilter::launch`] does.
    ///
    /// # Errors
    ///
    /// Why there is no child. Only after [`LaunchError::Failed`], and perhaps after
    /// [`LaunchError::Unavailable`], has anything been charged.
    /// [`LaunchError::Interactive`] if the filter takes only mechanisms that answer once.
    pub fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, D>, AnyLaunchError>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<AnyMeasure, R>,
    {
        if !self.0.is_interactive() {
            return Err(LaunchError::Interactive);
        }
        let charged = self.0.charge(mechanism)?;
        let handle = charged.ticket.open(mechanism, charged.data);
        let how = handle.as_ref().map_or(Ended::Failed, |_| Ended::Started);
        self.0.ended(charged.sequence, how);
        handle.map_err(|_| LaunchError::Failed)
    }

    /// Launches a non-interactive mechanism and returns its answer, as
    /// [`RunningFilter::release`] does.
    ///
    /// # Errors
    ///
    /// Why there is no answer. Only after [`LaunchError::Failed`], and perhaps after
    /// [`LaunchError::Unavailable`], has anything been charged.
    pub fn release<M>(
        &self,
        mechanism: &M,
    ) -> Result<<M::Machine as Answered>::Value, AnyLaunchError>
    where
        M: Mechanism<D, Machine: Answered> + Private<AnyMeasure, R>,
    {
        let charged = self.0.charge(mechanism)?;
        let mut coins = SystemCoins::new();
        let answer = charged
            .ticket
            .release(mechanism, charged.data, &mut coins.coins());
        let how = answer.as_ref().map_or(Ended::Failed, |_| Ended::Answered);
        self.0.ended(charged.sequence, how);
        answer.map_err(|_| LaunchError::Failed)
    }

    /// Whether this mechanism would be admitted now: whether it has a price and fits the data, the
    /// budget and the limit on the number of launches allow it, and the filter was not stopped. Whether
    /// it answers once, where it has to, is not asked: see [`is_interactive`](Self::is_interactive).
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the store that keeps the budget does not say.
    pub fn would_admit<M>(&self, mechanism: &M) -> Result<bool, Unavailable>
    where
        M: Mechanism<D> + Private<AnyMeasure, R>,
    {
        self.0.would_admit(mechanism)
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
        let (cost, left) = self.0.preview(mechanism)?;
        Ok(Preview::new(mechanism, cost, left))
    }

    /// Whether it takes mechanisms that answer more than once.
    #[must_use]
    pub fn is_interactive(&self) -> bool {
        self.0.is_interactive()
    }

    /// What can be read, at any time, without changing anything.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the store that keeps the budget does not say. A filter that no ledger keeps
    /// always says it.
    pub fn reading(&self) -> Result<AnyReading, Unavailable> {
        self.0.reading()
    }

    /// The public facts of the data.
    ///
    /// # Panics
    ///
    /// If the dataset's own code panics. The message says only that.
    #[must_use]
    pub fn metadata(&self) -> &D::Metadata
    where
        D: PublicMetadata,
    {
        public_facts(self.0.data())
    }
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
        Self(Arc::new(OfHandle(filter)))
    }
}

impl<D: ?Sized, R> AnyFilter<D, R> {
    /// Of anything that can be erased.
    pub(crate) fn of(filter: Arc<dyn Erased<D, R>>) -> Self {
        Self(filter)
    }
}

crate::clone_fields!([D: ?Sized, R] AnyFilter<D, R> { 0 });

impl<D: ?Sized, R> fmt::Debug for AnyFilter<D, R> {
    /// The measure of the children, and nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyFilter({:?})", self.0.measure())
    }
}
