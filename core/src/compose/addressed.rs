//! A compositor as a single machine, as in the papers: launches, queries to the j-th child and
//! readings are messages to it, and refusals are answers.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use super::gate::{Gate, LossOf, Takes};
use super::{CompositorMachine, Interactive, LaunchError, NonInteractive, Unavailable};
use crate::machine::{
    AnswerKind, Coins, Description, DomainMismatch, Fault, Inspect, Machine, Mechanism, Metered,
    Public, Released, ReleasesOnly, StateKey,
};
use crate::privacy::{Distance, Measure, Private, Relation, UnknownLoss};
use crate::queryable::{AskError, Child};

/// A query to a compositor (Haney et al. Alg 3, 6).
///
/// With the feature `serde` it can be read from elsewhere, for example from JSON:
/// `{"launch": …}`, `{"ask": [0, …]}`, `{"close": 0}`, `"privacy_loss"`, `"remaining"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Message<M, Q> {
    /// Launch this mechanism.
    Launch(M),
    /// Ask the child with this number, counted from 0 in the order of launches.
    Ask(usize, Q),
    /// Close the child with this number: it is dropped, and never answers again.
    Close(usize),
    /// Say what has been spent.
    PrivacyLoss,
    /// Say what is left.
    Remaining,
}

impl<M, Q> Message<M, Q> {
    /// The same message, with what is launched and what is asked made from what this one says.
    /// Programs translate what they were sent in this way: clients send no code.
    ///
    /// ```
    /// use queryables::compose::Message;
    ///
    /// let sent: Message<&str, &str> = Message::Ask(3, "65");
    /// let read = sent.try_map(|_| Err("there are no mechanisms"), |age| Ok(age.len()));
    /// assert_eq!(read, Ok(Message::<(), usize>::Ask(3, 2)));
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the two functions.
    pub fn try_map<N, P, E>(
        self,
        launch: impl FnOnce(M) -> Result<N, E>,
        ask: impl FnOnce(Q) -> Result<P, E>,
    ) -> Result<Message<N, P>, E> {
        Ok(match self {
            Self::Launch(mechanism) => Message::Launch(launch(mechanism)?),
            Self::Ask(number, query) => Message::Ask(number, ask(query)?),
            Self::Close(number) => Message::Close(number),
            Self::PrivacyLoss => Message::PrivacyLoss,
            Self::Remaining => Message::Remaining,
        })
    }
}

/// An answer of a compositor.
///
/// With the feature `serde`, the replies of an [`AddressedFilter`](super::AddressedFilter) are written
/// and read, for example as JSON: `{"launched": 0}`, `{"answered": …}`, `{"refused": {"measure": …,
/// "spent": …, …}}`, `{"not_launched": "failed"}`. `spec/embedding.md` lists all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply<A, C, W = C> {
    /// Launched, under this number.
    Launched(usize),
    /// Not launched. A child whose start failed has no number.
    NotLaunched(LaunchError<C, W>),
    /// The child's answer.
    Answered(A),
    /// The child did not answer.
    NotAnswered(AskError),
    /// The child with this number is closed.
    Closed(usize),
    /// No child has this number.
    Unknown(usize),
    /// What has been spent.
    PrivacyLoss(W),
    /// What is left of the budget; `None` for an odometer, which has none.
    Remaining(Option<C>),
    /// What has been spent and what is left cannot be read.
    NotRead(Unavailable),
}

impl<A, C, W> Reply<A, C, W> {
    /// Its kind, unless it is the answer of a child, which states its own.
    fn kind(&self) -> Option<AnswerKind> {
        Some(match self {
            Self::Answered(_) => return None,
            Self::Launched(_) => AnswerKind::Launched,
            Self::NotLaunched(_) => AnswerKind::NotLaunched,
            Self::NotAnswered(_) | Self::Unknown(_) => AnswerKind::Refused,
            Self::Closed(_) | Self::PrivacyLoss(_) | Self::Remaining(_) | Self::NotRead(_) => {
                AnswerKind::Reading
            }
        })
    }
}

/// A compositor `C` (a [`Filter`](super::Filter) or an [`Odometer`](super::Odometer)) whose
/// children, all of type `M`, are addressed by number.
///
/// The children and the decisions are those of the compositor itself; only the handles are
/// replaced by numbers, and the coins are those of each step. This is the form for
/// [`interact`](crate::machine::interact) and for persons in the middle of a compositor. Children
/// of different types fit in as [`BoxedMechanism`](super::BoxedMechanism).
///
/// ```
/// use queryables::compose::{Addressed, BoxedMechanism, Message, Reply};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// type Any = BoxedMechanism<Vec<u32>, ZCdp, AddRemove, (), i64>;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let one = Any::new(ZCdp, Count::of(adults.clone()).gaussian(rho!(0.3))?);
/// let other = Any::new(ZCdp, Count::of(adults).laplace(epsilon!(0.5))?);
///
/// let filter = Addressed::new(Filter::concurrent(ZCdp, "0.5".parse()?));
/// let filter = start(&filter, Arc::new(vec![17, 18, 43, 70]))?;
/// assert_eq!(filter.ask(Message::Launch(one))?, Reply::Launched(0));
/// assert_eq!(filter.ask(Message::Launch(other))?, Reply::Launched(1));
/// assert!(matches!(filter.ask(Message::Ask(1, ()))?, Reply::Answered(_)));
/// // Closing a child gives nothing back.
/// assert_eq!(filter.ask(Message::Close(0))?, Reply::Closed(0));
/// assert_eq!(filter.ask(Message::Ask(0, ()))?, Reply::NotAnswered(AskError::Closed));
/// assert!(matches!(filter.ask(Message::Remaining)?, Reply::Remaining(Some(_))));
/// assert_eq!(filter.ask(Message::Ask(7, ()))?, Reply::Unknown(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the compositor: numbers of children are public, and what is closed answers less.
#[derive(Debug)]
pub struct Addressed<C, M> {
    compositor: C,
    children: PhantomData<fn() -> M>,
}

impl<C, M> Addressed<C, M> {
    /// This compositor, with children of type `M`.
    pub fn new(compositor: C) -> Self {
        Self {
            compositor,
            children: PhantomData,
        }
    }
}

crate::clone_fields!([C: Clone, M] Addressed<C, M> { compositor, children });

impl<D, C, M> Mechanism<D> for Addressed<C, M>
where
    D: ?Sized,
    C: Mechanism<D>,
    M: Mechanism<D>,
{
    type Machine = AddressedMachine<C::Machine, M::Machine, M>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(AddressedMachine {
            compositor: self.compositor.start(data, coins)?,
            children: Vec::new(),
            mechanism: PhantomData,
        })
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.compositor.check(data)
    }

    fn describe(&self) -> Description {
        self.compositor.describe()
    }
}

impl<C: ReleasesOnly, M: ReleasesOnly> ReleasesOnly for Addressed<C, M> {}

impl<Me: Measure, R: Relation, C: Private<Me, R>, M> Private<Me, R> for Addressed<C, M> {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.compositor.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.compositor.loss_at(measure, distance)
    }
}

/// A running [`Addressed`] compositor.
#[doc(hidden)]
#[derive(Debug)]
pub struct AddressedMachine<C, S, M> {
    compositor: C,
    children: Vec<Child<S>>,
    mechanism: PhantomData<fn(M)>,
}

impl<D, G, R, X, S, M> Machine for AddressedMachine<CompositorMachine<D, G, R, X>, S, M>
where
    D: ?Sized,
    G: Takes<M, R, Reading = LossOf<<G as Gate>::Whole>>,
    R: Relation,
    X: Interactive,
    S: Machine,
    M: Mechanism<D, Machine = S> + Private<G::Children, R>,
{
    type Query = Message<M, S::Query>;
    type Answer = Reply<S::Answer, LossOf<G::Children>, G::Reading>;

    fn step(&mut self, message: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let reply = match message {
            Message::Launch(mechanism) => match self.compositor.launch(&mechanism, coins) {
                Ok(child) => {
                    self.children.push(child);
                    Reply::Launched(self.children.len() - 1)
                }
                Err(error) => Reply::NotLaunched(error),
            },
            Message::Ask(number, query) => match self.children.get_mut(number) {
                Some(child) => {
                    let answer = child.ask(query, coins);
                    answer.map_or_else(Reply::NotAnswered, Reply::Answered)
                }
                None => Reply::Unknown(number),
            },
            Message::Close(number) => match self.children.get_mut(number) {
                Some(child) => {
                    child.close();
                    Reply::Closed(number)
                }
                None => Reply::Unknown(number),
            },
            Message::PrivacyLoss => Reply::PrivacyLoss(self.compositor.privacy_loss()),
            Message::Remaining => Reply::Remaining(self.compositor.gate().remaining()),
        };
        if let Some(kind) = reply.kind() {
            coins.answered(kind);
        }
        Ok(reply)
    }
}

impl<C: Inspect, S: Inspect, M> Inspect for AddressedMachine<C, S, M> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.compositor);
        key.write(&self.children.len());
        for child in &self.children {
            key.write(child);
        }
    }
}

/// Where children answer once, a launch is answered at once and there are no children to ask (Haney
/// et al. Alg 2, 4).
impl<D, G, R, A, M> Machine
    for AddressedMachine<CompositorMachine<D, G, R, NonInteractive>, Released<A>, M>
where
    D: ?Sized,
    G: Takes<M, R, Reading = LossOf<<G as Gate>::Whole>>,
    R: Relation,
    M: Mechanism<D, Machine = Released<A>> + Private<G::Children, R>,
{
    type Query = Message<M, Infallible>;
    type Answer = Reply<A, LossOf<G::Children>, G::Reading>;

    fn step(&mut self, message: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let reply = match message {
            Message::Launch(mechanism) => {
                let answer = self.compositor.release(&mechanism, coins);
                answer.map_or_else(Reply::NotLaunched, Reply::Answered)
            }
            Message::Ask(_, never) => match never {},
            Message::Close(number) => Reply::Unknown(number),
            Message::PrivacyLoss => Reply::PrivacyLoss(self.compositor.privacy_loss()),
            Message::Remaining => Reply::Remaining(self.compositor.gate().remaining()),
        };
        coins.answered(reply.kind().unwrap_or(AnswerKind::Informative));
        Ok(reply)
    }
}

impl<C: Metered, S, M> Metered for AddressedMachine<C, S, M> {
    type Loss = C::Loss;

    fn privacy_loss(&self) -> C::Loss {
        self.compositor.privacy_loss()
    }
}

/// Filters and odometers. Not what bounds the realised loss: no view is truncated where that is large.
impl<D, G, R, X> Metered for CompositorMachine<D, G, R, X>
where
    D: ?Sized,
    G: Gate<Reading = LossOf<<G as Gate>::Whole>>,
{
    type Loss = G::Reading;

    fn privacy_loss(&self) -> G::Reading {
        Self::privacy_loss(self)
    }
}
