//! Guarantees that imply (ε, δ)-DP for a chosen δ.

use std::sync::Arc;

use super::measure::checked;
use super::{
    ApproxDp, ApproxRdp, ApproxZCdp, Distance, EpsilonDelta, Gdp, Measure, Private, Rdp, RdpCurve,
    RdpGrid, Relation, RhoDelta, UnknownLoss, ZCdp, convert,
};
use crate::machine::{Coins, Description, DomainMismatch, Fault, Mechanism, Public, ReleasesOnly};
use crate::number::{Delta, Epsilon, Mu, Rho};

/// A guarantee under this measure implies (ε, δ)-DP for every δ, with an ε that depends on it.
///
/// The loss is rounded up, never down.
///
/// Example: [`RestatedAt`](crate::privacy::RestatedAt).
#[diagnostic::on_unimplemented(
    message = "a guarantee under `{Self}` is not known to imply (ε, δ)-DP for a δ of your choice"
)]
pub trait ImpliesAt: Measure {
    /// The loss that follows with `slack` as the chosen δ, in addition to the δ that the loss may
    /// have.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if `slack` is zero, if ε cannot be held, or if the loss does not belong to
    /// this measure.
    fn imply_at(&self, loss: &Self::Loss, slack: Delta) -> Result<EpsilonDelta, UnknownLoss>;
}

/// Canonne, Kamath, Steinke 2020, Prop. 12, at the best order.
impl ImpliesAt for ZCdp {
    fn imply_at(&self, loss: &Rho, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        let epsilon = convert::zcdp::epsilon(*loss, slack)?;
        Ok(EpsilonDelta {
            epsilon,
            delta: slack,
        })
    }
}

/// [`convert::zcdp::approximate`].
impl ImpliesAt for ApproxZCdp {
    fn imply_at(&self, loss: &RhoDelta, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        convert::zcdp::approximate(*loss, slack)
    }
}

/// The tight conversion at one order, [`convert::rdp::epsilon_exact`].
impl ImpliesAt for Rdp {
    fn imply_at(&self, loss: &Epsilon, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        let epsilon = convert::rdp::epsilon_exact(self.order(), *loss, slack)?;
        Ok(EpsilonDelta {
            epsilon,
            delta: slack,
        })
    }
}

/// [`convert::rdp::approximate`].
impl ImpliesAt for ApproxRdp {
    fn imply_at(&self, loss: &EpsilonDelta, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        convert::rdp::approximate(self.order(), *loss, slack)
    }
}

/// The tight conversion at one order, [`convert::rdp::epsilon_exact`], at the best order of the grid.
impl ImpliesAt for RdpGrid {
    fn imply_at(&self, loss: &RdpCurve, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        let loss = checked(self, loss)?;
        let mut best = Err(UnknownLoss("a grid has as many values as orders"));
        for (order, epsilon) in self.orders().iter().zip(loss.epsilons()) {
            let here = convert::rdp::epsilon_exact(*order, *epsilon, slack);
            best = match (best, here) {
                (Ok(best), Ok(here)) => Ok(here.min(best)),
                (Err(_), here) => here,
                (best, Err(_)) => best,
            };
        }
        Ok(EpsilonDelta {
            epsilon: best?,
            delta: slack,
        })
    }
}

/// Dong, Roth, Su 2022, Cor. 2.13.
impl ImpliesAt for Gdp {
    fn imply_at(&self, loss: &Mu, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        let epsilon = convert::gdp::epsilon(*loss, slack)?;
        Ok(EpsilonDelta {
            epsilon,
            delta: slack,
        })
    }
}

/// A mechanism that states its loss under `From`, to be launched where (ε, δ) is used, with a δ
/// chosen in advance.
///
/// ```
/// use queryables::number::Rho;
/// use queryables::privacy::{AddRemove, ApproxDp, Private, RestatedAt, UnknownLoss, ZCdp};
///
/// #[derive(Clone)]
/// struct Gaussian;
///
/// impl Private<ZCdp, AddRemove> for Gaussian {
///     fn loss(&self, _: &ZCdp) -> Result<Rho, UnknownLoss> {
///         Rho::try_from("0.005").map_err(|_| UnknownLoss("not a number"))
///     }
/// }
///
/// let restated = RestatedAt::new(ZCdp, "1e-6".parse()?, Gaussian);
/// let loss = Private::<ApproxDp, AddRemove>::loss(&restated, &ApproxDp)?;
/// assert!(loss.epsilon < "0.43".parse()?);
/// assert_eq!(loss.delta, "1e-6".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RestatedAt<From, M> {
    from: From,
    slack: Delta,
    mechanism: M,
}

impl<From, M> RestatedAt<From, M> {
    /// The mechanism, with what follows from its loss under `from`, with `slack` as the chosen δ.
    pub fn new(from: From, slack: Delta, mechanism: M) -> Self {
        Self {
            from,
            slack,
            mechanism,
        }
    }
}

impl<D: ?Sized, From, M: Mechanism<D>> Mechanism<D> for RestatedAt<From, M> {
    type Machine = M::Machine;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        self.mechanism.start(data, coins)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanism.check(data)
    }

    fn describe(&self) -> Description {
        self.mechanism.describe().with("slack", self.slack)
    }
}

impl<From, M: ReleasesOnly> ReleasesOnly for RestatedAt<From, M> {}

impl<From, R, M> Private<ApproxDp, R> for RestatedAt<From, M>
where
    From: ImpliesAt,
    R: Relation,
    M: Private<From, R>,
{
    fn loss(&self, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        let loss = checked(&self.from, self.mechanism.loss(&self.from)?)?;
        self.from.imply_at(&loss, self.slack)
    }

    fn loss_at(&self, _: &ApproxDp, distance: Distance) -> Result<EpsilonDelta, UnknownLoss> {
        let loss = self.mechanism.loss_at(&self.from, distance)?;
        let loss = checked(&self.from, loss)?;
        self.from.imply_at(&loss, self.slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Epsilon;

    #[test]
    fn a_grid_takes_its_best_order() {
        let grid = RdpGrid::new(["4", "16", "64"].map(|order| order.parse().unwrap())).unwrap();
        let curve = grid
            .curve(["0.1", "0.4", "1.6"].map(|epsilon| epsilon.parse().unwrap()))
            .unwrap();
        let slack = "1e-6".parse().unwrap();
        let best = grid.imply_at(&curve, slack).unwrap();
        let at = |order: &str, loss: &str| -> Epsilon {
            let rdp = Rdp::new(order.parse().unwrap());
            rdp.imply_at(&loss.parse().unwrap(), slack).unwrap().epsilon
        };
        assert_eq!(best.epsilon, at("16", "0.4"));
        assert!(best.epsilon < at("4", "0.1") && best.epsilon < at("64", "1.6"));
        assert_eq!(
            grid.imply_at(&curve, Delta::ZERO),
            Err(UnknownLoss("this conversion needs δ > 0"))
        );
        let other = RdpGrid::new(["5", "17", "65"].map(|order| order.parse().unwrap())).unwrap();
        assert_eq!(other.imply_at(&curve, slack), Err(UnknownLoss::FOREIGN));
    }

    #[test]
    fn the_slack_comes_on_top() {
        let loss = RhoDelta::new("0.2", "1e-7").unwrap();
        let pair = ApproxZCdp.imply_at(&loss, "1e-6".parse().unwrap()).unwrap();
        assert_eq!(pair.delta, "1.0999999e-6".parse().unwrap());
        let rdp = ApproxRdp::new("8".parse().unwrap());
        let loss = EpsilonDelta::new("0.5", "1e-7").unwrap();
        let slack = "1e-6".parse().unwrap();
        let pair = rdp.imply_at(&loss, slack).unwrap();
        assert_eq!(pair.delta, "1.0999999e-6".parse().unwrap());
        let renyi = Rdp::new(rdp.order()).imply_at(&loss.epsilon, slack);
        assert_eq!(pair.epsilon, renyi.unwrap().epsilon);
        let mu = "1".parse().unwrap();
        let pair = Gdp.imply_at(&mu, "1e-5".parse().unwrap()).unwrap();
        assert_eq!(pair.epsilon, convert::gdp::epsilon(mu, pair.delta).unwrap());
    }
}
