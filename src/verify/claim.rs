//! Claims of privacy, checked against the worst adversary.

use std::fmt::{self, Debug};
use std::hash::Hash;

use super::goal::{Checkable, Goal, goals_of};
use super::judge::judge;
use super::menu::Menu;
use super::verifier::Verifier;
use super::worst::{Completeness, Worst};
use super::{Interval, Pair, Rational, VerifyError};
use crate::machine::{Machine, Mechanism};
use crate::number::Epsilon;

/// The result of checking a claim. It prints with its scope ([`Worst::scope`]).
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict<Q, A> {
    /// What had to hold.
    pub goal: Goal,
    /// What the claim allows.
    pub allowed: Interval,
    /// What a slightly larger loss allows (see [`holds`](Self::holds)).
    nearly: Interval,
    /// What the worst adversary attains.
    pub worst: Worst<Q, A>,
    /// Why more is not known, if a search for a better bound ended early.
    stopped: Option<VerifyError>,
    /// The cut at which it was found, and all that came before it.
    pub(super) cut: Rational,
}

impl<Q, A> Verdict<Q, A> {
    pub(super) fn new(goal: Goal, worst: Worst<Q, A>, cut: &Rational) -> Result<Self, VerifyError> {
        Ok(Self {
            goal,
            allowed: goal.allowed()?,
            nearly: goal.nearly()?,
            worst,
            stopped: None,
            cut: cut.clone(),
        })
    }

    /// Whether the claim certainly holds, within the verdict's scope. There is a tolerance where
    /// two irrational numbers may be equal: then it certainly holds for a slightly larger ε, by one
    /// unit in the last place (10⁻²⁷) for the ratio of probabilities, and by 10⁻⁹ for a Rényi
    /// divergence. The verdict prints this.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.is_refuted() && self.worst.value.is_at_most(&self.nearly)
    }

    /// Whether it holds without a tolerance.
    #[must_use]
    pub fn holds_exactly(&self) -> bool {
        self.worst.value.is_at_most(&self.allowed)
    }

    /// Whether the claim is certainly false. If something was cut off, or if numbers are irrational
    /// and very close, neither may be certain. A [bound](Completeness::Bounded) refutes nothing.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.worst.completeness != Completeness::Bounded
            && self.worst.value.is_more_than(&self.allowed)
    }

    /// Whether one of the two is certain.
    pub(super) fn is_decided(&self) -> bool {
        self.holds() || self.is_refuted()
    }

    /// The same, where the search for more ended so.
    pub(super) fn stopped_by(mut self, stopped: Option<VerifyError>) -> Self {
        self.stopped = stopped.or(self.stopped);
        self
    }

    /// How many digits show that what is allowed is not what is attained; `None` if those that are
    /// always printed do, or if none do.
    fn digits(&self) -> Option<usize> {
        if self.allowed.to_string() != self.worst.value.to_string() {
            return None;
        }
        let differ = |digits: &usize| {
            let digits = *digits;
            format!("{:.digits$}", self.allowed) != format!("{:.digits$}", self.worst.value)
        };
        // Intervals are no finer than 2⁻²⁵⁶.
        (1..8).map(|tens| 10 * tens).find(differ)
    }

    /// Why neither is certain, and what to do.
    fn way_out(&self) -> &'static str {
        // A smaller cut does not help here: something is always beyond it.
        let unbounded = self.worst.value.high().is_none();
        match (&self.worst.completeness, unbounded) {
            (Completeness::Truncated { .. }, bounded) if bounded || self.allowed.is_zero() => {
                "undecided because samplers were cut, and what is beyond may have any ratio: \
                 add `releases_only` if the mechanism promises it, or check under ApproxDp, with \
                 a δ above what was not followed"
            }
            (Completeness::Truncated { .. }, _) => {
                "undecided because samplers were cut: cut at a smaller probability"
            }
            (Completeness::Bounded, _) => {
                "undecided because only a bound is known where noise is released, and the claim is \
                 below it, by little: claim a little more"
            }
            (Completeness::Complete, true) => {
                "undecided because something on one dataset may be impossible on the other: its \
                 probability is too small to be told from zero, so that nothing bounds the \
                 divergence: check under ApproxDp"
            }
            (Completeness::Complete, false) => {
                "undecided because both are irrational and closer than the digits that are \
                 computed, or equal: claim one unit more in the last place, or check under \
                 ApproxDp with a small δ"
            }
        }
    }
}

impl<Q: Debug, A: Debug> fmt::Display for Verdict<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() {
            "private"
        } else if self.is_refuted() {
            "not private"
        } else {
            "undecided"
        };
        write!(f, "{verdict}: {} may be at most ", self.goal.what())?;
        match self.digits() {
            Some(digits) => write!(
                f,
                "{:.digits$}, and is {:.digits$}",
                self.allowed, self.worst
            )?,
            None => write!(f, "{}, and is {}", self.allowed, self.worst)?,
        }
        if self.holds() && !self.holds_exactly() {
            write!(f, "\n{}", self.goal.tolerance())?;
        }
        if self.is_decided() {
            return Ok(());
        }
        write!(f, "\n{}", self.way_out())?;
        match &self.stopped {
            Some(stopped) => write!(f, "\nthe search for more was {stopped}"),
            None => Ok(()),
        }
    }
}

/// The smallest ε with `e^ε` at least this: what pure privacy costs a mechanism whose
/// probabilities differ by this factor at most.
///
/// ```
/// use queryables::verify::{epsilon_of_ratio, Rational};
///
/// let epsilon = epsilon_of_ratio(&Rational::from(3_u8));
/// assert_eq!(epsilon.unwrap().to_string(), "1.098612288668109691395245237");
/// ```
#[must_use]
pub fn epsilon_of_ratio(ratio: &Rational) -> Option<Epsilon> {
    let log = Interval::ln(ratio)?;
    let units = (log.high() * Rational::from(10_u128.pow(27))).ceil();
    Epsilon::from_units(u128::try_from(units).ok()?).ok()
}

impl<Q, A, N, M> Verifier<Q, A, N, M>
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    /// Checks a claim against the worst adversary. Of several goals, the verdict is about the first
    /// that is refuted, or else the first that is undecided, or else the last.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn check<Me: Checkable>(
        &self,
        measure: &Me,
        loss: &Me::Loss,
    ) -> Result<Verdict<Q, A>, VerifyError> {
        let goals = goals_of(measure, loss)?;
        self.explore(move |exploration| judge(exploration, &goals))
    }

    /// [`check`](Self::check), for tests.
    ///
    /// # Panics
    ///
    /// If the claim does not certainly hold, or cannot be checked; the message shows the worst
    /// adversary.
    #[track_caller]
    pub fn assert_private<Me: Checkable>(&self, measure: &Me, loss: &Me::Loss)
    where
        A: Debug,
    {
        match self.check(measure, loss) {
            Ok(verdict) if verdict.holds() => (),
            Ok(verdict) => fail(&format!("claimed loss {loss}: {verdict}")),
            Err(error) => fail(&format!("claimed loss {loss}: not verified: {error}")),
        }
    }
}

/// Panics unless the mechanism is private on this pair, with this loss, against every adversary
/// that chooses from this menu up to this depth.
///
/// For machines that show their state, [`Verifier::by_state`] with
/// [`Verifier::assert_private`] is faster.
///
/// ```
/// use queryables::machine::{Coins, Fault, Mechanism, Released};
/// use queryables::privacy::PureDp;
/// use queryables::verify::{assert_private, Pair};
/// use std::sync::Arc;
///
/// /// Tells the truth three times in four.
/// struct Respond;
///
/// impl Mechanism<bool> for Respond {
///     type Machine = Released<bool>;
///     fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
///         Ok(Released(**data ^ (coins.weighted(&[3, 1])? == 1)))
///     }
/// }
///
/// // ln 3 = 1.0986...
/// let pair = Pair::new(false, true);
/// assert_private(|| Respond, &pair, &PureDp, &"1.0987".parse()?, vec![()], 2);
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
///
/// # Panics
///
/// If the claim does not certainly hold, or cannot be checked; the message shows the worst
/// adversary.
#[track_caller]
pub fn assert_private<D, M, Me, N>(
    mechanism: impl Fn() -> M + Send + Sync + 'static,
    pair: &Pair<D>,
    measure: &Me,
    loss: &Me::Loss,
    menu: N,
    depth: usize,
) where
    D: Debug + PartialEq + Send + Sync + ?Sized + 'static,
    M: Mechanism<D>,
    M::Machine: Machine<
            Query: Clone + Debug + Send + Sync + 'static,
            Answer: Clone + Debug + Eq + Hash + Send + Sync + 'static,
        > + 'static,
    Me: Checkable,
    N: Menu<<M::Machine as Machine>::Query, <M::Machine as Machine>::Answer>,
{
    Verifier::reporting(mechanism, pair, menu, depth).assert_private(measure, loss);
}

#[track_caller]
#[expect(clippy::panic, reason = "this is an assertion, for tests")]
fn fail(message: &str) -> ! {
    panic!("{message}")
}
