//! A running filter of any measure whose children are addressed by number.

use std::fmt;
use std::marker::PhantomData;

use super::{AnyFilter, AnyReading, Boxed, BoxedMechanism, BoxedRelease, Message, Reply};
use crate::machine::{BoxedMachine, Coins, Fault, Machine, Mechanism, Released, discard};
use crate::privacy::{AddRemove, AnyLoss, AnyMeasure, Private, Relation};
use crate::queryable::{AskError, Queryable};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// A running filter of any measure, for programs that get [`Message`]s from elsewhere: it keeps
/// the open children, and a message addresses one by its number.
///
/// It answers as an [`Addressed`](super::Addressed) filter does. That is one machine, and waits
/// for one answer before it gives the next; this is a handle, to be shared by threads, which do not
/// wait for each other unless they ask the same child.
///
/// What answers once is answered at its launch, and has no number. Where the filter takes nothing
/// else, what would be open is refused with [`LaunchError::Interactive`](super::LaunchError).
///
/// # Guarantee
///
/// That of the [`AnyFilter`], which says what is checked when.
///
/// # Example
///
/// ```
/// use queryables::compose::{AddressedFilter, AnyMechanism, Message, Reply};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{AboveThreshold, Count};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// type Ages = Vec<u32>;
/// type Any = AnyMechanism<Ages, Predicate<Ages>, i64>;
///
/// let filter = Filter::concurrent(PureDp, "1".parse()?);
/// let filter = start(&filter, Arc::new(vec![17, 18, 43, 70]))?;
/// let filter = AddressedFilter::new(filter);
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = Any::once(Count::of(adults.clone()).laplace(epsilon!(0.25))?);
/// let search = Any::open(AboveThreshold::new(AddRemove, 1000, 1, "0.25".parse()?)?);
///
/// assert!(matches!(filter.ask(Message::Launch(count)), Reply::Answered(_)));
/// assert_eq!(filter.ask(Message::Launch(search)), Reply::Launched(0));
/// assert_eq!(filter.ask(Message::Ask(0, adults.clone())), Reply::Answered(0));
/// // Closing a child gives nothing back.
/// assert_eq!(filter.ask(Message::Close(0)), Reply::Closed(0));
/// assert_eq!(filter.ask(Message::Ask(0, adults.clone())), Reply::NotAnswered(AskError::Closed));
/// assert_eq!(filter.ask(Message::Ask(7, adults)), Reply::Unknown(7));
/// let Reply::Remaining(Some(left)) = filter.ask(Message::Remaining) else {
///     return Err("a filter has a budget".into());
/// };
/// assert_eq!(format!("{left:#}"), "ε = 0.5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AddressedFilter<D: ?Sized, Q, A, R = AddRemove> {
    filter: AnyFilter<D, R>,
    /// By number; `None` if it was closed.
    children: Mutex<Vec<Option<Queryable<Q, A>>>>,
}

/// A mechanism that a program chose at run time: with its type erased, for an [`AddressedFilter`].
///
/// Its `Debug` is that of a [`Boxed`] mechanism.
///
/// # Guarantee
///
/// That of the mechanism inside, of which this is a postprocessing: answers are converted.
pub enum AnyMechanism<D: ?Sized, Q, A, R = AddRemove> {
    /// It answers once, at its launch.
    Once(BoxedRelease<D, AnyMeasure, R, A>),
    /// It is open after its launch, and can be asked.
    Open(BoxedMechanism<D, AnyMeasure, R, Q, A>),
}

impl<D: ?Sized, Q, A, R: Relation> AnyMechanism<D, Q, A, R> {
    /// Erases the type of a mechanism that answers once, with what can be converted to an `A`.
    pub fn once<M, B>(mechanism: M) -> Self
    where
        M: Mechanism<D, Machine = Released<B>> + Private<AnyMeasure, R>,
        M: Clone + Send + Sync + 'static,
        B: Into<A>,
    {
        let erase = |Released(answer): Released<B>| Released(answer.into());
        Self::Once(Boxed::erasing(AnyMeasure, mechanism, erase))
    }

    /// Erases the type of a mechanism that can be asked, and whose answers can be converted to an
    /// `A`.
    pub fn open<M, S>(mechanism: M) -> Self
    where
        M: Mechanism<D, Machine = S> + Private<AnyMeasure, R> + Clone + Send + Sync + 'static,
        S: Machine<Query = Q, Answer: Into<A>> + Send + 'static,
        A: 'static,
    {
        let erase = |machine: S| Box::new(Converted(machine, PhantomData)) as BoxedMachine<Q, A>;
        Self::Open(Boxed::erasing(AnyMeasure, mechanism, erase))
    }
}

/// A machine whose answers are converted, which is postprocessing.
struct Converted<S, A>(S, PhantomData<fn() -> A>);

impl<S: Machine<Answer: Into<A>>, A> Machine for Converted<S, A> {
    type Query = S::Query;
    type Answer = A;

    fn step(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<A, Fault> {
        self.0.step(query, coins).map(Into::into)
    }
}

impl<D, Q, A, R> AddressedFilter<D, Q, A, R>
where
    D: ?Sized,
    Q: 'static,
    A: 'static,
    R: Relation,
{
    /// This filter, without open children.
    pub fn new(filter: impl Into<AnyFilter<D, R>>) -> Self {
        Self {
            filter: filter.into(),
            children: Mutex::new(vec![]),
        }
    }

    /// Answers a message.
    pub fn ask(&self, message: Message<AnyMechanism<D, Q, A, R>, Q>) -> Reply<A, AnyLoss> {
        match message {
            Message::Launch(AnyMechanism::Once(mechanism)) => {
                let answer = self.filter.release(&mechanism);
                answer.map_or_else(Reply::NotLaunched, Reply::Answered)
            }
            Message::Launch(AnyMechanism::Open(mechanism)) => {
                match self.filter.launch(&mechanism) {
                    Ok(child) => {
                        let mut children = self.children();
                        children.push(Some(child));
                        Reply::Launched(children.len() - 1)
                    }
                    Err(error) => Reply::NotLaunched(error),
                }
            }
            Message::Ask(number, query) => {
                // A clone of the handle: others are not kept waiting while it answers.
                let child = self.children().get(number).cloned();
                match child {
                    Some(Some(child)) => {
                        let answer = child.ask(query);
                        answer.map_or_else(Reply::NotAnswered, Reply::Answered)
                    }
                    Some(None) => Reply::NotAnswered(AskError::Closed),
                    None => Reply::Unknown(number),
                }
            }
            Message::Close(number) => {
                // It is dropped after the lock is released: that is third-party code.
                let child = self.children().get_mut(number).map(Option::take);
                match child {
                    Some(child) => {
                        discard(child);
                        Reply::Closed(number)
                    }
                    None => Reply::Unknown(number),
                }
            }
            Message::PrivacyLoss => self.read(|reading| Reply::PrivacyLoss(reading.privacy_loss)),
            Message::Remaining => self.read(|reading| Reply::Remaining(Some(reading.remaining))),
        }
    }

    fn read(&self, tell: impl FnOnce(AnyReading) -> Reply<A, AnyLoss>) -> Reply<A, AnyLoss> {
        self.filter.reading().map_or_else(Reply::NotRead, tell)
    }

    /// The filter itself.
    #[must_use]
    pub fn filter(&self) -> &AnyFilter<D, R> {
        &self.filter
    }

    /// Poison is ignored: no third-party code runs under the lock.
    fn children(&self) -> MutexGuard<'_, Vec<Option<Queryable<Q, A>>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: ?Sized, Q, A, R: Relation> Clone for AnyMechanism<D, Q, A, R> {
    fn clone(&self) -> Self {
        match self {
            Self::Once(mechanism) => Self::Once(mechanism.clone()),
            Self::Open(mechanism) => Self::Open(mechanism.clone()),
        }
    }
}

impl<D: ?Sized, Q, A, R: Relation> fmt::Debug for AnyMechanism<D, Q, A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(mechanism) => mechanism.fmt(f),
            Self::Open(mechanism) => mechanism.fmt(f),
        }
    }
}

impl<D: ?Sized, Q, A, R> fmt::Debug for AddressedFilter<D, Q, A, R> {
    /// The measure of the children, and nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddressedFilter")
            .field(&self.filter)
            .finish()
    }
}
