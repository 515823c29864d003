//! Concurrent composition of mechanisms that are all started up front.

use std::sync::Arc;

use crate::account::ComposesConcurrently;
use crate::machine::{
    AnswerKind, Coins, Description, DomainMismatch, Fault, Inspect, Machine, Mechanism, Public,
    StateKey, StopToken,
};
use crate::privacy::{Distance, Private, Relation, UnknownLoss, checked_under};
use crate::queryable::{AskError, Child};

/// Several mechanisms, started together and asked in any order (Haney et al. Alg 1).
///
/// A query is a pair: the number of a mechanism, counted from 0, and a query to it. To combine
/// mechanisms of different types, use [`BoxedMechanism`](super::BoxedMechanism). A mechanism that
/// fails to answer is closed, and the others go on: each answer is a result of its own. If one
/// fails to start, the whole start fails.
///
/// # Guarantee
///
/// The losses of the mechanisms add up as the measure's accumulator says; under
/// f-DP it is the tensor product, which holds because all of them are known
/// before the first answer. Haney et al. 1.8 (for (ε, δ)-DP and f-DP, finite communication), 4.3
/// (Rényi), 4.5 (zCDP).
///
/// ```
/// use queryables::compose::ConcurrentComposition;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let seniors = Predicate::new("at least 65", |age: &u32| *age >= 65);
/// let both = ConcurrentComposition::new([
///     Count::of(adults).laplace(epsilon!(0.5))?,
///     Count::of(seniors).laplace(epsilon!(0.25))?,
/// ]);
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
/// let both = filter.launch(&both)?;
/// assert_eq!(filter.privacy_loss(), "0.75".parse()?);
///
/// let seniors: i64 = both.ask((1, ()))??;
/// let adults: i64 = both.ask((0, ()))??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrentComposition<M> {
    mechanisms: Vec<M>,
}

impl<M> ConcurrentComposition<M> {
    /// These mechanisms, together.
    pub fn new(mechanisms: impl IntoIterator<Item = M>) -> Self {
        Self {
            mechanisms: mechanisms.into_iter().collect(),
        }
    }
}

impl<D: ?Sized, M: Mechanism<D>> Mechanism<D> for ConcurrentComposition<M> {
    type Machine = ConcurrentMachine<M::Machine>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let children = self
            .mechanisms
            .iter()
            .map(|mechanism| Child::start(mechanism, data, StopToken::default(), coins))
            .collect::<Result<_, _>>()
            .map_err(Fault::after_tries)?;
        Ok(ConcurrentMachine { children })
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanisms.iter().try_for_each(|each| each.check(data))
    }

    fn describe(&self) -> Description {
        let each = Description::new("ConcurrentComposition");
        let numbered = self.mechanisms.iter().enumerate();
        numbered.fold(each, |all, (number, mechanism)| {
            all.with_inner(number.to_string(), mechanism.describe())
        })
    }
}

impl<Me, R, M> Private<Me, R> for ConcurrentComposition<M>
where
    Me: ComposesConcurrently,
    R: Relation,
    M: Private<Me, R>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.loss_at(measure, Distance::NEIGHBOURS)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        let losses = self.mechanisms.iter().map(|mechanism| {
            let loss = mechanism.loss_at(measure, distance)?;
            checked_under::<R, _>(measure, loss, distance)
        });
        measure.composed(&losses.collect::<Result<Vec<_>, _>>()?)
    }
}

/// A running [`ConcurrentComposition`].
#[derive(Debug)] // A child shows nothing.
pub struct ConcurrentMachine<S> {
    children: Vec<Child<S>>,
}

impl<S: Machine> Machine for ConcurrentMachine<S> {
    type Query = (usize, S::Query);
    type Answer = Result<S::Answer, AskError>;

    fn step(
        &mut self,
        (number, query): Self::Query,
        coins: &mut Coins<'_>,
    ) -> Result<Self::Answer, Fault> {
        let child = self.children.get_mut(number);
        let child = child.ok_or(Fault::InvalidQuery("no mechanism has this number"))?;
        let answer = child.ask(query, coins);
        if answer.is_err() {
            coins.answered(AnswerKind::Refused);
        }
        Ok(answer)
    }
}

impl<S: Inspect> Inspect for ConcurrentMachine<S> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.children.len());
        for child in &self.children {
            key.write(child);
        }
    }
}
