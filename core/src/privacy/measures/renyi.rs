use crate::number::{Epsilon, Order};
use crate::privacy::{Measure, Rdp, RdpCurve, RdpGrid, UnknownLoss};

/// A measure that is made of Rényi divergences: [`Rdp`] at one order, [`RdpGrid`] at several.
///
/// If the divergence of a mechanism is known at every order, its loss can be stated under both at
/// once:
///
/// ```
/// use queryables::number::Epsilon;
/// use queryables::privacy::{AddRemove, Private, PureDp, Renyi, UnknownLoss, convert::rdp};
///
/// struct NoisyCount {
///     epsilon: Epsilon,
/// }
///
/// impl<Me: Renyi> Private<Me, AddRemove> for NoisyCount {
///     fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
///         measure.at_each_order(|order| Ok(rdp::pure(order, self.epsilon)))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "use `Rdp` or `RdpGrid`: `{Self}` is not made of Rényi divergences",
    label = "no proved loss under `{Self}`"
)]
pub trait Renyi: Measure {
    /// The loss, from the divergence at each of its orders.
    ///
    /// # Errors
    ///
    /// The first error of `divergence`.
    fn at_each_order(
        &self,
        divergence: impl FnMut(Order) -> Result<Epsilon, UnknownLoss>,
    ) -> Result<Self::Loss, UnknownLoss>;
}

impl Renyi for Rdp {
    fn at_each_order(
        &self,
        mut divergence: impl FnMut(Order) -> Result<Epsilon, UnknownLoss>,
    ) -> Result<Epsilon, UnknownLoss> {
        divergence(self.order())
    }
}

impl Renyi for RdpGrid {
    fn at_each_order(
        &self,
        divergence: impl FnMut(Order) -> Result<Epsilon, UnknownLoss>,
    ) -> Result<RdpCurve, UnknownLoss> {
        let epsilons: Result<Box<[_]>, _> = self.orders().iter().copied().map(divergence).collect();
        epsilons.map(|epsilons| self.filled(epsilons))
    }
}
