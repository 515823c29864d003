//! What a measure of privacy is, and how a mechanism states what it costs under one.

use std::borrow::Borrow;
use std::fmt::{Debug, Display};

use thiserror::Error;

use super::{Distance, Relation};

/// Whether code may call the compositor that uses it. Third-party code may: only this crate and its
/// toolkit set it to `false`.
#[derive(Clone, Copy, Debug)]
pub struct Reentrant(pub bool);

/// A way to measure privacy: a partially ordered set of losses (Haney et al. 2.1).
///
/// A measure is a value, because some have parameters: the order of [`Rdp`](super::Rdp), the orders
/// of [`RdpGrid`](super::RdpGrid). A compositor has one measure, and asks each mechanism for its
/// loss under exactly that one ([`Private`]): a bare number, such as an ε, may be a
/// loss under several.
pub trait Measure: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// How much privacy is lost. `a <= b` says that a guarantee of `a` is one of `b`; two losses
    /// may be incomparable. Refusals print it in the alternate form (`{:#}`), in which the losses of
    /// this crate name their unit: `ρ = 0.1`.
    type Loss: Clone + Debug + Display + PartialOrd + Send + Sync + 'static;

    /// Whether its code may call the compositor that uses it. Only the measures of this crate set
    /// this to `false`; see [`Accounting`](crate::account::Accounting).
    #[doc(hidden)]
    const REENTRANT: Reentrant = Reentrant(true);

    /// The loss of a mechanism that reveals nothing.
    fn zero(&self) -> Self::Loss;

    /// Whether a loss belongs to this measure, where the type alone does not ensure it.
    fn is_valid(&self, _loss: &Self::Loss) -> bool {
        true
    }

    /// The loss for both orders of two datasets, of one that was stated for one order. Compositors ask
    /// this where no dataset comes first: under a relation that is not
    /// [`ORDERED`](super::Relation::ORDERED), and for datasets that are more than one step apart. Then
    /// one mechanism may have the first dataset first, and another one the second, so that losses of
    /// one direction say nothing about both together.
    ///
    /// By default the loss itself: most measures are about both orders by definition. The measure `FDp`
    /// of the toolkit has an example of another one.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] where no such loss is known.
    fn in_both_orders(&self, loss: Self::Loss) -> Result<Self::Loss, UnknownLoss> {
        Ok(loss)
    }

    /// The least loss that is at least both.
    fn join(&self, one: &Self::Loss, other: &Self::Loss) -> Self::Loss;

    /// What a loss stated for neighbours implies at a distance: group privacy.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] where no theorem gives one.
    fn group(&self, loss: &Self::Loss, distance: Distance) -> Result<Self::Loss, UnknownLoss>;
}

/// The loss, owned or borrowed, if it belongs to the measure.
///
/// # Errors
///
/// [`UnknownLoss::FOREIGN`] if it does not.
pub fn checked<Me, L>(measure: &Me, loss: L) -> Result<L, UnknownLoss>
where
    Me: Measure,
    L: Borrow<Me::Loss>,
{
    if measure.is_valid(loss.borrow()) {
        Ok(loss)
    } else {
        Err(UnknownLoss::FOREIGN)
    }
}

/// A loss that was stated under `R` at this distance, as compositors take it: it belongs to the
/// measure, and where no dataset comes first it holds for both orders.
///
/// # Errors
///
/// [`UnknownLoss`] if it does not belong to the measure, or if there is no such loss.
pub fn checked_under<R: Relation, Me: Measure>(
    measure: &Me,
    loss: Me::Loss,
    distance: Distance,
) -> Result<Me::Loss, UnknownLoss> {
    let loss = checked(measure, loss)?;
    match R::ORDERED && distance == Distance::NEIGHBOURS {
        true => Ok(loss),
        false => measure.in_both_orders(loss),
    }
}

/// A measure that is closed under postprocessing and jointly convex, as Haney et al. 2.1 require.
///
/// A person in the middle ([`Middle`](crate::middle::Middle)) keeps such a guarantee (Haney et al.
/// 2.17), and it is enough to consider deterministic adversaries (2.3). Probabilistic privacy does
/// not have this property (Whitehouse et al. App. F).
#[diagnostic::on_unimplemented(
    message = "a guarantee in `{Self}` is not kept by postprocessing",
    note = "probabilistic DP is not closed under postprocessing (Whitehouse et al., App. F): \
            restate the mechanism under `ApproxDp` first, with `Restated::new(ProbabilisticDp, mechanism)`"
)]
pub trait Postprocessable: Measure {}

/// A measure in which losses add up, coordinate by coordinate.
///
/// Example: [`Sum`](crate::account::Sum).
pub trait Additive: Measure {
    /// The sum.
    ///
    /// # Errors
    ///
    /// [`Overflow`] if it is more than can be held.
    fn plus(&self, one: &Self::Loss, other: &Self::Loss) -> Result<Self::Loss, Overflow>;

    /// What is left of `whole` after `part`, never below zero.
    fn minus(&self, whole: &Self::Loss, part: &Self::Loss) -> Self::Loss;
}

/// A claim: run on any two datasets that are neighbours under `R`, against any adversary, the two
/// views are within the stated loss of each other, measured by `Me` (Haney et al. 2.2).
///
/// The loss is public. It is read before the data is touched, and must not depend on it.
///
/// A mechanism with a known fact, such as Laplace noise of some scale, states its loss under every
/// measure at once: see [`Prices`](super::Prices).
///
/// # Guarantee
///
/// Every guarantee of this crate depends on the implementations of this trait being true. Cite the
/// theorem in the doc of yours, or check it exactly.
///
/// # Example
///
/// ```
/// use queryables::number::Epsilon;
/// use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
///
/// /// Adds discrete Laplace noise of scale 1/ε to a count.
/// #[derive(Clone)]
/// struct NoisyCount {
///     epsilon: Epsilon,
/// }
///
/// impl Private<PureDp, AddRemove> for NoisyCount {
///     fn loss(&self, _measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
///         Ok(self.epsilon)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "launch a mechanism that states a loss under `{Me}` for neighbours under `{R}`: `{Self}` does not",
    label = "no proved loss here",
    note = "a compositor launches mechanisms whose loss is proved under its own measure and \
            neighbouring relation",
    note = "stated under a stronger measure? wrap it: `Restated::new(PureDp, mechanism)`",
    note = "stated under another neighbouring relation? losses do not carry over: state it again, or start \
            the compositor under that relation, with `.under(relation)`",
    note = "an odometer has no bound and so no loss: cap it first, with `Odometer::capped`"
)]
pub trait Private<Me: Measure, R: Relation> {
    /// The loss for neighbours.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if none is known under this measure, at this order for example.
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss>;

    /// The loss for datasets at most this distance apart: the privacy map of Haney et al. §5.1. It
    /// does not fall as the distance grows.
    ///
    /// By default, what the measure's group privacy implies. Override it if something better is
    /// known.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if none is known at this distance.
    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        let loss = self.loss(measure)?;
        if distance == Distance::NEIGHBOURS {
            Ok(loss)
        } else {
            measure.group(&loss, distance)
        }
    }
}

impl<Me: Measure, R: Relation, M: Private<Me, R> + ?Sized> Private<Me, R> for &M {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        (**self).loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        (**self).loss_at(measure, distance)
    }
}

/// No theorem gives this mechanism a loss under this measure at this distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("no known loss: {0}")]
pub struct UnknownLoss(pub &'static str);

impl UnknownLoss {
    /// The stated loss does not belong to the measure: a curve of another grid, for instance.
    pub const FOREIGN: Self = Self("the stated loss does not belong to the measure");

    /// With words that are put together when the program runs, as for
    /// [`DomainMismatch::because`](crate::machine::DomainMismatch::because).
    ///
    /// ```
    /// use queryables::privacy::UnknownLoss;
    ///
    /// let unknown = UnknownLoss::because(format_args!("no map for a metric of order {}", 3));
    /// assert_eq!(unknown.to_string(), "no known loss: no map for a metric of order 3");
    /// ```
    #[must_use]
    pub fn because(words: impl std::fmt::Display) -> Self {
        Self(crate::machine::kept(words))
    }
}

/// The total is more than can be held.
///
/// Example: [`Quantity`](crate::number::Quantity).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the total loss is more than can be held")]
pub struct Overflow;

impl From<Overflow> for UnknownLoss {
    fn from(_: Overflow) -> Self {
        Self("the loss is more than can be held")
    }
}
