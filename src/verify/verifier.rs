//! The question that is put to the verifier, and its answer.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::bounds::Limits;
use super::exploration::{Exploration, Question};
use super::menu::Menu;
use super::meter::{Meter, Progress};
use super::objective::Objective;
use super::runner::Precision;
use super::scope::{both_in_short, in_short};
use super::side::Side;
use super::watch::{on_watch, to_terminal};
use super::worst::{Worst, exp_of, order_of};
use super::{Interval, Pair, Rational, VerifyError};
use crate::machine::{Inspect, Machine, Mechanism, ReleasesOnly};
use crate::number::{Epsilon, Order};

/// A mechanism, two datasets, a menu and a depth: together they define all adversaries.
///
/// [`new`](Self::new) takes any mechanism; [`by_state`](Self::by_state) is much faster, because it
/// recognises states, and takes machines that show theirs ([`Inspect`]).
///
/// The mechanism is given as a factory, a closure that makes it: every run begins with a new one.
/// So a mechanism that keeps state from one start to the next, such as a cached count, cannot hide
/// a leak that way. [`copies_of`](super::copies_of) makes a factory of a mechanism that can be
/// cloned. `M` is its type, by which it makes promises ([`releases_only`](Self::releases_only)).
///
/// # Limits
///
/// An exploration ends with an error after two million runs of the machine or points of the
/// conversation ([`limit`](Self::limit)), when it holds about 1 GB ([`memory`](Self::memory)),
/// after 60 seconds ([`time`](Self::time)), or when it is cancelled
/// ([`cancelled_by`](Self::cancelled_by)). What machines hold themselves is not counted, nor what
/// answers allocate. It runs on a thread of its own. A machine that does not return cannot be
/// interrupted in safe Rust: a second after the time is over, the result is
/// [`VerifyError::Stuck`], or [`VerifyError::Cancelled`] if it is cancelled before, and the thread is
/// left behind, running, until the process ends.
///
/// # Example
///
/// Randomized response that tells the truth three times in four, asked twice.
///
/// ```
/// use queryables::machine::{Coins, Fault, Machine, Mechanism};
/// use queryables::verify::{Pair, Rational, Verifier};
/// use std::sync::Arc;
///
/// #[derive(Hash)]
/// struct Respond(bool);
///
/// struct Responding;
///
/// impl Mechanism<bool> for Responding {
///     type Machine = Respond;
///     fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Respond, Fault> {
///         Ok(Respond(**data))
///     }
/// }
///
/// impl Machine for Respond {
///     type Query = ();
///     type Answer = bool;
///     fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
///         Ok(self.0 ^ (coins.weighted(&[3, 1])? == 1))
///     }
/// }
///
/// let pair = Pair::new(false, true);
/// let worst = Verifier::by_state(|| Responding, &pair, vec![()], 2).worst_ratio()?;
/// assert_eq!(worst.value.exact(), Some(&Rational::from(9_u8)));
/// # Ok::<(), queryables::verify::VerifyError>(())
/// ```
pub struct Verifier<Q, A, N, M = ()> {
    question: Question<Q, A, N>,
    bounds: Limits,
    progress: Option<Box<Report>>,
    /// What makes promises; nothing where two mechanisms are compared.
    mechanism: PhantomData<fn() -> M>,
}

type Report = dyn Fn(&Progress);

impl<Q, A, N, M> Verifier<Q, A, N, M> {
    /// Any mechanism; only its answers are seen.
    pub fn new<D>(
        mechanism: impl Fn() -> M + Send + Sync + 'static,
        pair: &Pair<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Debug + PartialEq + Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + 'static>,
    {
        let mechanism = Arc::new(mechanism);
        let sides = [pair.one(), pair.other()].map(|data| Side::opaque(&mechanism, data));
        Self::of(sides, names(pair), menu, depth)
    }

    /// The same, and it reports its progress on the terminal.
    pub(super) fn reporting<D>(
        mechanism: impl Fn() -> M + Send + Sync + 'static,
        pair: &Pair<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Debug + PartialEq + Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + 'static>,
    {
        Self::new(mechanism, pair, menu, depth).progress(to_terminal)
    }

    /// A mechanism whose machines show their state.
    pub fn by_state<D>(
        mechanism: impl Fn() -> M + Send + Sync + 'static,
        pair: &Pair<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Debug + PartialEq + Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect + 'static>,
    {
        let mechanism = Arc::new(mechanism);
        let sides = [pair.one(), pair.other()].map(|data| Side::transparent(&mechanism, data));
        Self::of(sides, names(pair), menu, depth)
    }

    fn of(
        sides: [Side<Q, A>; 2],
        names: Result<[String; 2], VerifyError>,
        menu: N,
        depth: usize,
    ) -> Self {
        Self {
            question: Question {
                sides: Arc::new(sides),
                names,
                menu: Arc::new(menu),
                depth,
                threads: std::thread::available_parallelism().map_or(1, usize::from),
                care: Precision::default(),
                releases_only: false,
            },
            bounds: Limits::default(),
            progress: None,
            mechanism: PhantomData,
        }
    }

    /// Takes the mechanism at its promise to do nothing with released values but say them
    /// ([`ReleasesOnly`]). Then [`check`](Self::check) need not cut their noise, and proves pure and
    /// Rényi claims that it cannot prove otherwise ([how](super#released-values)). It refutes the
    /// same claims with and without.
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::Count;
    /// use queryables::prelude::*;
    /// use queryables::verify::{copies_of, Pair, Verifier};
    ///
    /// let all = Predicate::new("all", |_: &u8| true);
    /// let count = Count::of(all).laplace(epsilon!(0.5))?;
    /// let pair = Pair::new(vec![7_u8], vec![7, 7]);
    /// let verifier = || Verifier::new(copies_of(&count), &pair, vec![()], 1);
    /// assert!(verifier().releases_only().check(&PureDp, &"0.5".parse()?)?.holds());
    /// // Without the promise there may be anything beyond the cut.
    /// assert!(!verifier().check(&PureDp, &"0.5".parse()?)?.holds());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn releases_only(mut self) -> Self
    where
        M: ReleasesOnly,
    {
        self.question.releases_only = true;
        self
    }

    /// Gives up, with an error, after this number of runs of the machine, or of explored points of
    /// the conversation; two million by default.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.bounds = self.bounds.limit(limit);
        self
    }

    /// Gives up, with an error, when it holds about this number of bytes; 1 GB by default.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.bounds = self.bounds.memory(bytes);
        self
    }

    /// Gives up, with an error, after this time; 60 seconds by default.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.bounds = self.bounds.time(time);
        self
    }

    /// Gives up, with an error, when this is set, by another thread for example.
    ///
    /// ```
    /// use queryables::mechanisms::RandomizedResponse;
    /// use queryables::verify::{copies_of, Pair, Verifier, VerifyError};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// let respond = RandomizedResponse::with_odds(3, 1)?;
    /// let cancel = Arc::new(AtomicBool::new(false));
    /// let pair = Pair::new(false, true);
    /// let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1).cancelled_by(&cancel);
    /// // Somebody presses a key, in another thread.
    /// cancel.store(true, Ordering::Relaxed);
    /// assert_eq!(verifier.worst_ratio().unwrap_err(), VerifyError::Cancelled);
    /// # Ok::<(), queryables::mechanisms::MechanismError>(())
    /// ```
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &Arc<AtomicBool>) -> Self {
        self.bounds = self.bounds.cancelled_by(cancel);
        self
    }

    /// Reports once a second how far it has come. [`to_terminal`](super::to_terminal) writes it
    /// on the terminal.
    #[must_use]
    pub fn progress(mut self, report: impl Fn(&Progress) + 'static) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// Does not follow a sampler beyond a path of this probability; 2⁻³⁰ by default.
    #[must_use]
    pub fn cut(mut self, mass: Rational) -> Self {
        self.question.care.cut = mass;
        self
    }

    /// Runs each of the first 64 steps at least this number of times, on all paths of its coins
    /// together, to notice randomness or state outside the machine; 100 by default. All others are
    /// run twice on every path.
    #[must_use]
    pub fn replays(mut self, replays: u32) -> Self {
        self.question.care.replays = replays;
        self
    }

    /// Uses this number of threads; one for each core by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.question.threads = threads;
        self
    }
}

impl<Q, A, N> Verifier<Q, A, N> {
    /// Two mechanisms on one dataset, for [`difference`](Self::difference).
    pub fn comparing<D, M, O>(
        one: impl Fn() -> M + Send + Sync + 'static,
        other: impl Fn() -> O + Send + Sync + 'static,
        data: &Arc<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Debug + Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + 'static>,
        O: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + 'static>,
    {
        let sides = [
            Side::opaque(&Arc::new(one), data),
            Side::opaque(&Arc::new(other), data),
        ];
        Self::of(sides, two_mechanisms(data), menu, depth)
    }

    /// Two mechanisms whose machines show their state, on one dataset.
    pub fn comparing_by_state<D, M, O>(
        one: impl Fn() -> M + Send + Sync + 'static,
        other: impl Fn() -> O + Send + Sync + 'static,
        data: &Arc<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Debug + Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect + 'static>,
        O: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect + 'static>,
    {
        let sides = [
            Side::transparent(&Arc::new(one), data),
            Side::transparent(&Arc::new(other), data),
        ];
        Self::of(sides, two_mechanisms(data), menu, depth)
    }
}

/// The names of the two datasets; an error if they are equal.
fn names<D: Debug + PartialEq + ?Sized>(pair: &Pair<D>) -> Result<[String; 2], VerifyError> {
    let (one, other) = (&**pair.one(), &**pair.other());
    // What does not equal itself, such as NaN, is compared by how it prints.
    let equal = |one: &D, other: &D| one == other;
    let odd = !equal(one, one) || !equal(other, other);
    if equal(one, other) || odd && format!("{one:?}") == format!("{other:?}") {
        return Err(VerifyError::SameDataset);
    }
    Ok(both_in_short(one, other))
}

/// Two mechanisms on this.
fn two_mechanisms<D: Debug + ?Sized>(data: &D) -> Result<[String; 2], VerifyError> {
    let data = in_short(data);
    Ok([
        format!("one mechanism on {data}"),
        "the other on the same".to_owned(),
    ])
}

impl<Q, A, N, M> Debug for Verifier<Q, A, N, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("depth", &self.question.depth)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

impl<Q, A, N, M> Verifier<Q, A, N, M>
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    /// The largest δ(ε) for this `e^ε`: the hockey-stick divergence `Σ max(0, p - e^ε q)`.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_delta(
        &self,
        exp_epsilon: impl Into<Interval>,
    ) -> Result<Worst<Q, A>, VerifyError> {
        self.worst(Objective::HockeyStick(exp_epsilon.into()))
    }

    /// The largest δ(ε) for this ε. As `e^ε` is irrational, the result is an interval.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_delta_at(&self, epsilon: Epsilon) -> Result<Worst<Q, A>, VerifyError> {
        self.worst_delta(exp_of(epsilon)?)
    }

    /// The largest `e^((α-1) D_α)`, where `D_α` is the Rényi divergence: exact where the order is a
    /// whole number up to 1000. [`renyi_divergence`](super::renyi_divergence) makes a divergence of it.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_renyi(&self, order: Order) -> Result<Worst<Q, A>, VerifyError> {
        self.worst(Objective::Renyi(order_of(order)))
    }

    /// The largest ratio of the probabilities of a view, which is `e^ε` for pure privacy.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_ratio(&self) -> Result<Worst<Q, A>, VerifyError> {
        self.worst(Objective::Ratio)
    }

    /// The largest total variation between the two sides. It is 0 if and only if every adversary
    /// has identically distributed views on both; otherwise the returned adversary tells them
    /// apart.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn difference(&self) -> Result<Worst<Q, A>, VerifyError> {
        self.worst_delta(Rational::ONE)
    }

    fn worst(&self, objective: Objective) -> Result<Worst<Q, A>, VerifyError> {
        self.explore(move |exploration| {
            let worst = exploration.worst(&[objective])?;
            worst.into_iter().next().ok_or(VerifyError::Diverged)
        })
    }

    /// Explores on a thread of its own, within the bounds.
    pub(super) fn explore<T: Send + 'static>(
        &self,
        code: impl FnOnce(&Exploration<Q, A, N>) -> Result<T, VerifyError> + Send + 'static,
    ) -> Result<T, VerifyError> {
        self.question.check()?;
        let meter = Arc::new(Meter::new(self.bounds.clone()));
        let question = self.question.clone();
        let counted = Arc::clone(&meter);
        on_watch(
            self.question.depth,
            &meter,
            self.progress.as_deref(),
            move || code(&Exploration::new(question, &counted)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::RandomizedResponse;
    use crate::verify::copies_of;

    #[test]
    fn an_assertion_reports_its_progress() {
        let respond = RandomizedResponse::with_odds(3, 1).unwrap();
        let pair = Pair::new(false, true);
        let quiet = Verifier::new(copies_of(&respond), &pair, vec![()], 1);
        assert!(quiet.progress.is_none());
        let reporting = Verifier::reporting(copies_of(&respond), &pair, vec![()], 1);
        assert!(reporting.progress.is_some());
    }
}
