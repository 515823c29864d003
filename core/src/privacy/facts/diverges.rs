use crate::number::{Delta, Epsilon, Order};
use crate::privacy::{ApproxRdp, EpsilonDelta, Prices, Rdp, RdpCurve, RdpGrid, UnknownLoss};

/// A fact from which the Rényi divergences follow.
///
/// [`Rdp`], [`RdpGrid`] and [`ApproxRdp`] price every such fact, those of other crates too.
pub trait Diverges {
    /// The largest Rényi divergence of this order, rounded up.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if none is known at this order, or it cannot be held.
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss>;
}

/// The divergence is the loss, by definition (Haney et al. 1.3).
impl<Fact: Diverges> Prices<Fact> for Rdp {
    fn price(&self, fact: &Fact) -> Result<Epsilon, UnknownLoss> {
        fact.divergence(self.order())
    }
}

/// The divergences are the loss, by definition (Haney et al. 1.3).
impl<Fact: Diverges> Prices<Fact> for RdpGrid {
    fn price(&self, fact: &Fact) -> Result<RdpCurve, UnknownLoss> {
        self.at_each_order(|order| fact.divergence(order))
    }
}

/// (α, ε)-RDP is 0-approximate (α, ε)-RDP, by definition.
impl<Fact: Diverges> Prices<Fact> for ApproxRdp {
    fn price(&self, fact: &Fact) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: fact.divergence(self.order())?,
            delta: Delta::ZERO,
        })
    }
}
