use crate::number::{Epsilon, Order};
use crate::privacy::{Measure, Rdp, RdpCurve, RdpGrid, UnknownLoss};

/// A measure that is made of Rényi divergences: [`Rdp`] at one order, [`RdpGrid`] at several.
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
        self.at_each_order(divergence)
    }
}
