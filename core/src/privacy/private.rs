//! How a mechanism states what it costs.

use super::{Distance, Measure, Relation, UnknownLoss};

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
    note = "stated under another neighbouring relation? losses do not carry over: state it again",
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
