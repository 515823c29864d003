//! Claims of privacy, held against the worst adversary.

use std::fmt::{self, Debug};
use std::hash::Hash;

use super::menu::Menu;
use super::verifier::Verifier;
use super::worst::{Completeness, Worst, exp_of, order_of};
use super::{Interval, Pair, Rational, VerifyError};
use crate::machine::{Machine, Mechanism};
use crate::number::{Epsilon, Order};
use crate::privacy::{ApproxDp, EpsilonDelta, Measure, PureDp, Rdp, RdpCurve, RdpGrid};

/// A measure whose losses can be checked on a finite conversation.
///
/// zCDP and GDP are not among them: they are about infinitely many orders. Check them at the
/// orders that matter to you, with [`RdpGrid`].
pub trait Checkable: Measure {
    /// Finds the worst adversary, and what the claim allows it.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    fn check<Q, A, N>(
        &self,
        loss: &Self::Loss,
        verifier: &Verifier<'_, Q, A, N>,
    ) -> Result<Verdict<Q, A>, VerifyError>
    where
        Q: Clone + Send + Sync,
        A: Clone + Eq + Hash + Send + Sync,
        N: Menu<Q, A>;
}

/// What became of a claim.
#[derive(Clone, Debug)]
pub struct Verdict<Q, A> {
    /// What was compared, in words.
    what: &'static str,
    /// What the claim allows.
    pub allowed: Interval,
    /// What the worst adversary attains.
    pub worst: Worst<Q, A>,
}

impl<Q, A> Verdict<Q, A> {
    /// Whether the claim holds for this pair, menu and depth, certainly.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.worst.value.is_at_most(&self.allowed)
    }

    /// Whether the claim is false, certainly. Where something was cut off, or where numbers are
    /// irrational and very close, neither may be certain.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.worst.value.is_more_than(&self.allowed)
    }

    /// Why neither is certain, and what to do.
    fn way_out(&self) -> &'static str {
        // A smaller cut does not help here: something is always beyond it.
        let unbounded = self.allowed.is_zero() || self.worst.value.high().is_none();
        match (&self.worst.completeness, unbounded) {
            (Completeness::Truncated { .. }, true) => {
                "undecided because samplers were cut, and what is beyond may have any ratio: \
                 check under ApproxDp, with a δ above what was not followed"
            }
            (Completeness::Truncated { .. }, false) => {
                "undecided because samplers were cut: cut at a smaller probability"
            }
            (Completeness::Complete, _) => {
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
        write!(
            f,
            "{verdict}: {} may be at most {}, and is {}",
            self.what, self.allowed, self.worst
        )?;
        if self.holds() || self.is_refuted() {
            return Ok(());
        }
        write!(f, "\n{}", self.way_out())
    }
}

/// `p / q ≤ e^ε` for every view.
impl Checkable for PureDp {
    fn check<Q, A, N>(
        &self,
        loss: &Epsilon,
        verifier: &Verifier<'_, Q, A, N>,
    ) -> Result<Verdict<Q, A>, VerifyError>
    where
        Q: Clone + Send + Sync,
        A: Clone + Eq + Hash + Send + Sync,
        N: Menu<Q, A>,
    {
        let allowed = exp_of(*loss)?;
        let worst = verifier.worst_ratio()?;
        // The largest ratio needs all of both laws; after a cut, δ(ε) can still be bounded.
        if worst.completeness == Completeness::Complete {
            return Ok(Verdict {
                what: "the ratio of the probabilities of a view",
                allowed,
                worst,
            });
        }
        Ok(Verdict {
            what: "δ(ε)",
            worst: verifier.worst_delta(allowed)?,
            allowed: Interval::ZERO,
        })
    }
}

/// `δ(ε) ≤ δ`.
impl Checkable for ApproxDp {
    fn check<Q, A, N>(
        &self,
        loss: &EpsilonDelta,
        verifier: &Verifier<'_, Q, A, N>,
    ) -> Result<Verdict<Q, A>, VerifyError>
    where
        Q: Clone + Send + Sync,
        A: Clone + Eq + Hash + Send + Sync,
        N: Menu<Q, A>,
    {
        let delta = Rational::from_parts(loss.delta.units().into(), 10_u128.pow(38).into());
        Ok(Verdict {
            what: "δ(ε)",
            allowed: delta.into(),
            worst: verifier.worst_delta_at(loss.epsilon)?,
        })
    }
}

/// `e^((α-1) D_α) ≤ e^((α-1) ε)`.
impl Checkable for Rdp {
    fn check<Q, A, N>(
        &self,
        loss: &Epsilon,
        verifier: &Verifier<'_, Q, A, N>,
    ) -> Result<Verdict<Q, A>, VerifyError>
    where
        Q: Clone + Send + Sync,
        A: Clone + Eq + Hash + Send + Sync,
        N: Menu<Q, A>,
    {
        Ok(Verdict {
            what: "e^((α-1) D_α)",
            allowed: renyi_allowance(*loss, self.order())?,
            worst: verifier.worst_renyi(self.order())?,
        })
    }
}

/// At every order of the grid; the verdict is about the first order where the claim does not
/// hold, or else about the last.
impl Checkable for RdpGrid {
    fn check<Q, A, N>(
        &self,
        loss: &RdpCurve,
        verifier: &Verifier<'_, Q, A, N>,
    ) -> Result<Verdict<Q, A>, VerifyError>
    where
        Q: Clone + Send + Sync,
        A: Clone + Eq + Hash + Send + Sync,
        N: Menu<Q, A>,
    {
        let mut last = None;
        for (order, epsilon) in self.orders().iter().zip(loss.epsilons()) {
            let verdict = Rdp::new(*order).check(epsilon, verifier)?;
            let holds = verdict.holds();
            last = Some(verdict);
            if !holds {
                break;
            }
        }
        last.ok_or(VerifyError::OutOfRange("an empty grid"))
    }
}

/// `e^((α-1) ε)`.
fn renyi_allowance(epsilon: Epsilon, order: Order) -> Result<Interval, VerifyError> {
    let epsilon = Rational::from_parts(epsilon.units().into(), 10_u128.pow(27).into());
    let exponent = epsilon * (order_of(order) - Rational::ONE);
    Interval::exp(&exponent).ok_or(VerifyError::OutOfRange("epsilon"))
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

impl<Q, A, N> Verifier<'_, Q, A, N>
where
    Q: Clone + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    /// Holds a claim against the worst adversary.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn check<Me: Checkable>(
        &self,
        measure: &Me,
        loss: &Me::Loss,
    ) -> Result<Verdict<Q, A>, VerifyError> {
        measure.check(loss, self)
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
        Q: Debug,
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
/// assert_private(&Respond, &pair, &PureDp, &"1.0987".parse()?, vec![()], 2);
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
///
/// # Panics
///
/// If the claim does not certainly hold, or cannot be checked; the message shows the worst
/// adversary.
#[track_caller]
pub fn assert_private<D, M, Me, N>(
    mechanism: &M,
    pair: &Pair<D>,
    measure: &Me,
    loss: &Me::Loss,
    menu: N,
    depth: usize,
) where
    D: Send + Sync + ?Sized,
    M: Mechanism<D> + Sync + ?Sized,
    M::Machine: Machine<Query: Clone + Debug + Send + Sync, Answer: Clone + Debug + Eq + Hash + Send + Sync>,
    Me: Checkable,
    N: Menu<<M::Machine as Machine>::Query, <M::Machine as Machine>::Answer>,
{
    Verifier::new(mechanism, pair, menu, depth).assert_private(measure, loss);
}

#[track_caller]
#[expect(clippy::panic, reason = "this is an assertion, for tests")]
fn fail(message: &str) -> ! {
    panic!("{message}")
}
