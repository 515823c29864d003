//! Guarantees under one measure that imply guarantees under another.

use super::measure::checked;
use super::measures::Renyi;
use super::{
    ApproxDp, ApproxRdp, ApproxZCdp, EpsilonDelta, Gdp, Measure, ProbabilisticDp, PureDp, Rdp,
    RdpCurve, RdpGrid, RhoDelta, UnknownLoss, ZCdp, convert,
};
use crate::number::{Delta, Epsilon, Mu, Order, Quantity, Rho, U256, Unit};

/// A guarantee under this measure is also one under `To`.
///
/// Every measure implies itself: the same order, the same grid, and so on.
///
/// Example: [`ApproxRdp`](crate::privacy::ApproxRdp).
///
/// # Guarantee
///
/// Every implementation names its theorem. Losses are rounded up, never down.
#[diagnostic::on_unimplemented(
    message = "state the loss under `{To}` itself: `{Self}` is not known to imply it",
    note = "for a measure of your own, implement `Implies<{To}>` for `{Self}`"
)]
pub trait Implies<To: Measure>: Measure {
    /// The loss that follows under `to`.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it cannot be held, or if the loss does not belong to this measure.
    fn imply(&self, loss: &Self::Loss, to: &To) -> Result<To::Loss, UnknownLoss>;
}

/// By definition, if the parameters are the same.
impl<M: Measure> Implies<M> for M {
    fn imply(&self, loss: &M::Loss, to: &M) -> Result<M::Loss, UnknownLoss> {
        if self != to {
            return Err(UnknownLoss(
                "the loss is stated under the same measure with other parameters",
            ));
        }
        checked(self, loss.clone())
    }
}

/// ε-DP is (ε, 0)-DP.
impl Implies<ApproxDp> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: *loss,
            delta: Delta::ZERO,
        })
    }
}

/// ε-DP is (ε, 0)-pDP.
impl Implies<ProbabilisticDp> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &ProbabilisticDp) -> Result<EpsilonDelta, UnknownLoss> {
        self.imply(loss, &ApproxDp)
    }
}

/// (ε, δ)-pDP is (ε, δ)-DP (Rogers et al. Lemma 2.3).
impl Implies<ApproxDp> for ProbabilisticDp {
    fn imply(&self, loss: &EpsilonDelta, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(*loss)
    }
}

/// (ε, δ)-DP is (2ε, δ (1 + e^-2ε)/(1 − e^-ε))-pDP, and (ε, 0)-DP the same pDP
/// ([`convert::probabilistic`]).
impl Implies<ProbabilisticDp> for ApproxDp {
    fn imply(&self, loss: &EpsilonDelta, _: &ProbabilisticDp) -> Result<EpsilonDelta, UnknownLoss> {
        convert::probabilistic(*loss)
    }
}

/// ε-DP is ε·tanh(ε/2)-zCDP ([`convert::zcdp::pure`]).
impl Implies<ZCdp> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &ZCdp) -> Result<Rho, UnknownLoss> {
        Ok(convert::zcdp::pure(*loss))
    }
}

/// (ε, δ)-DP is δ-approximate ε·tanh(ε/2)-zCDP: with probability at least 1 − δ the answer is a
/// postprocessing of randomized response (Kairouz, Oh, Viswanath 2015). Whitehouse et al. Lemma 1
/// says ε²/2.
impl Implies<ApproxZCdp> for ApproxDp {
    fn imply(&self, loss: &EpsilonDelta, _: &ApproxZCdp) -> Result<RhoDelta, UnknownLoss> {
        Ok(RhoDelta {
            rho: convert::zcdp::pure(loss.epsilon),
            delta: loss.delta,
        })
    }
}

/// ε-DP is (ε, 0)-DP, and so 0-approximate ε·tanh(ε/2)-zCDP.
impl Implies<ApproxZCdp> for PureDp {
    fn imply(&self, loss: &Epsilon, to: &ApproxZCdp) -> Result<RhoDelta, UnknownLoss> {
        ZCdp.imply(&self.imply(loss, &ZCdp)?, to)
    }
}

/// An ε-DP mechanism has at most the Rényi divergence of randomized response, at every order
/// ([`convert::rdp::pure`]).
// Otherwise the compiler would suggest to implement `Renyi`.
#[diagnostic::do_not_recommend]
impl<To: Renyi> Implies<To> for PureDp {
    fn imply(&self, loss: &Epsilon, to: &To) -> Result<To::Loss, UnknownLoss> {
        to.at_each_order(|order| Ok(convert::rdp::pure(order, *loss)))
    }
}

/// An ε-DP mechanism has at most the Rényi divergence of randomized response, at every order
/// ([`convert::rdp::pure`]).
impl Implies<ApproxRdp> for PureDp {
    fn imply(&self, loss: &Epsilon, to: &ApproxRdp) -> Result<EpsilonDelta, UnknownLoss> {
        let rdp = Rdp::new(to.order());
        rdp.imply(&self.imply(loss, &rdp)?, to)
    }
}

/// ε-DP is μ-GDP where Φ(−μ/2) = 1/(1 + e^ε): the trade-off functions then touch where they cross
/// the diagonal.
impl Implies<Gdp> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &Gdp) -> Result<Mu, UnknownLoss> {
        convert::gdp::pure(*loss)
    }
}

/// μ-GDP is μ²/2-zCDP: a postprocessing of N(0, 1) and N(μ, 1) (Dong, Roth, Su 2022, Theorem 2.10),
/// whose Rényi divergence of order α is αμ²/2.
impl Implies<ZCdp> for Gdp {
    fn imply(&self, loss: &Mu, _: &ZCdp) -> Result<Rho, UnknownLoss> {
        half_square(*loss)
    }
}

/// μ-GDP has at most the Rényi divergence αμ²/2 of the Gaussians, at every order α.
// Otherwise the compiler would suggest to implement `Renyi`.
#[diagnostic::do_not_recommend]
impl<To: Renyi> Implies<To> for Gdp {
    fn imply(&self, loss: &Mu, to: &To) -> Result<To::Loss, UnknownLoss> {
        to.at_each_order(|order| half_square_at_order(*loss, order))
    }
}

/// ρ-zCDP is 0-approximate ρ-zCDP.
impl Implies<ApproxZCdp> for ZCdp {
    fn imply(&self, loss: &Rho, _: &ApproxZCdp) -> Result<RhoDelta, UnknownLoss> {
        Ok(RhoDelta {
            rho: *loss,
            delta: Delta::ZERO,
        })
    }
}

/// ρ-zCDP is ρα-RDP at every order α, by definition.
// Otherwise the compiler would suggest to implement `Renyi`.
#[diagnostic::do_not_recommend]
impl<To: Renyi> Implies<To> for ZCdp {
    fn imply(&self, loss: &Rho, to: &To) -> Result<To::Loss, UnknownLoss> {
        to.at_each_order(|order| at_order(*loss, order))
    }
}

/// A curve holds at each of its orders.
impl Implies<Rdp> for RdpGrid {
    fn imply(&self, loss: &RdpCurve, to: &Rdp) -> Result<Epsilon, UnknownLoss> {
        let loss = checked(self, loss)?;
        let at = self.orders().iter().position(|order| *order == to.order());
        at.and_then(|at| loss.epsilons().get(at).copied())
            .ok_or(UnknownLoss("the grid has no such order"))
    }
}

/// (α, ε)-RDP is 0-approximate (α, ε)-RDP, and at smaller orders too: the divergence rises with
/// the order (van Erven and Harremoës 2014, Theorem 3).
impl Implies<ApproxRdp> for Rdp {
    fn imply(&self, loss: &Epsilon, to: &ApproxRdp) -> Result<EpsilonDelta, UnknownLoss> {
        if to.order() > self.order() {
            return Err(UnknownLoss(
                "a Rényi guarantee says nothing about larger orders",
            ));
        }
        Ok(EpsilonDelta {
            epsilon: *loss,
            delta: Delta::ZERO,
        })
    }
}

/// ρ-zCDP is 0-approximate (α, ρα)-RDP at every order α, by definition.
impl Implies<ApproxRdp> for ZCdp {
    fn imply(&self, loss: &Rho, to: &ApproxRdp) -> Result<EpsilonDelta, UnknownLoss> {
        ApproxZCdp.imply(&self.imply(loss, &ApproxZCdp)?, to)
    }
}

/// δ-approximate ρ-zCDP is δ-approximate (α, ρα)-RDP at every order α, by definition.
impl Implies<ApproxRdp> for ApproxZCdp {
    fn imply(&self, loss: &RhoDelta, to: &ApproxRdp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: at_order(loss.rho, to.order())?,
            delta: loss.delta,
        })
    }
}

/// (ε, δ)-DP is δ-approximate (α, D_α(ε))-RDP, where D_α(ε) is the divergence of randomized
/// response: with probability at least 1 − δ the answer is a postprocessing of it (Kairouz, Oh, Viswanath
/// 2015).
impl Implies<ApproxRdp> for ApproxDp {
    fn imply(&self, loss: &EpsilonDelta, to: &ApproxRdp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: convert::rdp::pure(to.order(), loss.epsilon),
            delta: loss.delta,
        })
    }
}

/// x²/2, rounded up.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
pub fn half_square<U: Unit>(quantity: Quantity<U>) -> Result<Rho, UnknownLoss> {
    let units = U256::of(quantity).half_in_units(U::DECIMALS);
    let rho = units.and_then(|units| Rho::from_units(units).ok());
    Ok(rho.ok_or(super::Overflow)?)
}

/// αμ²/2, rounded up once.
fn half_square_at_order(mu: Mu, order: Order) -> Result<Epsilon, UnknownLoss> {
    // In units, that is μ² α / (2·10^27·10^9). Where the product needs more than 256 bits, the
    // quotient is more than can be held.
    const DIVISOR: u128 = 2 * 10_u128.pow(27 + 9);
    let units = U256::of(mu).checked_mul(order.units()).and_then(|product| {
        let (units, rest) = product.div_rem(DIVISOR);
        units.to_u128()?.checked_add(u128::from(rest != 0))
    });
    let loss = units.and_then(|units| Epsilon::from_units(units).ok());
    Ok(loss.ok_or(super::Overflow)?)
}

/// ρα, rounded up.
fn at_order(rho: Rho, order: Order) -> Result<Epsilon, UnknownLoss> {
    const TOO_LARGE: UnknownLoss = UnknownLoss("the loss is more than can be held");
    const ONE: u128 = 1_000_000_000;
    // α is a number of billionths: the whole billions of units of ρ exactly, the rest rounded up.
    let (billions, rest) = (rho.units() / ONE, rho.units() % ONE);
    billions
        .checked_mul(order.units())
        .and_then(|units| units.checked_add((rest * order.units()).div_ceil(ONE)))
        .and_then(|units| Epsilon::from_units(units).ok())
        .ok_or(TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_square_rounds_up() {
        let rho = |mu: &str| Gdp.imply(&mu.parse().unwrap(), &ZCdp).unwrap().to_string();
        assert_eq!(rho("0.1"), "0.005");
        assert_eq!(rho("1"), "0.5");
        assert_eq!(rho("0"), "0");
        // μ² / 2 = 5e-55, one unit is 1e-27.
        assert_eq!(rho("1e-27"), "1e-27");
        assert_eq!(rho("1.00000000000001"), "0.500000000000010000000000001");
    }

    #[test]
    fn orders_multiply_and_round_up() {
        let epsilon = |rho: &str, order: &str| {
            ZCdp.imply(&rho.parse().unwrap(), &Rdp::new(order.parse().unwrap()))
                .map(|epsilon| epsilon.to_string())
        };
        assert_eq!(epsilon("0.1", "2.5").unwrap(), "0.25");
        assert_eq!(epsilon("0.1", "16").unwrap(), "1.6");
        assert_eq!(epsilon("1e-27", "1.000000001").unwrap(), "2e-27");
        assert_eq!(epsilon("700", "2.5").unwrap(), "1750");
        assert_eq!(epsilon("1e11", "3.4").unwrap(), "340000000000");
        assert_eq!(
            epsilon("3e11", "2"),
            Err(UnknownLoss("the loss is more than can be held"))
        );
    }

    #[test]
    fn approximate_renyi_losses_follow_at_the_order_asked_for() {
        let measure = |order: &str| ApproxRdp::new(order.parse().unwrap());
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        assert_eq!(
            ApproxZCdp.imply(&RhoDelta::new("0.1", "1e-9").unwrap(), &measure("2.5")),
            Ok(pair("0.25", "1e-9"))
        );
        let rdp = Rdp::new("4".parse().unwrap());
        let loss = "0.3".parse().unwrap();
        assert_eq!(rdp.imply(&loss, &measure("4")), Ok(pair("0.3", "0")));
        assert_eq!(rdp.imply(&loss, &measure("2")), Ok(pair("0.3", "0")));
        assert_eq!(
            rdp.imply(&loss, &measure("4.1")),
            Err(UnknownLoss(
                "a Rényi guarantee says nothing about larger orders"
            ))
        );
    }

    #[test]
    fn what_pure_and_gaussian_mechanisms_imply() {
        let tenth = "0.1".parse().unwrap();
        let rdp = Rdp::new("16".parse().unwrap());
        let grid = RdpGrid::new([rdp.order()]).unwrap();
        // Reference: 0.0599778205243…, less than αε²/2 = 0.08.
        let loss: Epsilon = PureDp.imply(&tenth, &rdp).unwrap();
        assert!(loss > "0.05997782052".parse().unwrap() && loss < "0.05997782053".parse().unwrap());
        let on_grid = PureDp.imply(&tenth, &grid).unwrap();
        assert_eq!(on_grid.epsilons(), [loss]);
        // −2Φ⁻¹(1/(1 + e^0.1)) = 0.12531…, from √(π/2)·ε·(1 + …).
        let mu: Mu = PureDp.imply(&tenth, &Gdp).unwrap();
        assert!(mu > "0.1253".parse().unwrap() && mu < "0.1254".parse().unwrap());
        // αμ²/2, exactly.
        let mu = "0.1".parse().unwrap();
        assert_eq!(Gdp.imply(&mu, &ZCdp), Ok("0.005".parse().unwrap()));
        assert_eq!(Gdp.imply(&mu, &rdp), Ok("0.08".parse().unwrap()));
        let on_grid = Gdp.imply(&mu, &grid).unwrap();
        assert_eq!(on_grid.to_string(), "[0.08]");
    }

    #[test]
    fn what_approximate_mechanisms_imply() {
        let loss = EpsilonDelta::new("1", "1e-6").unwrap();
        let zcdp = ApproxDp.imply(&loss, &ApproxZCdp).unwrap();
        assert_eq!(
            zcdp,
            RhoDelta {
                rho: convert::zcdp::pure("1".parse().unwrap()),
                delta: "1e-6".parse().unwrap(),
            }
        );
        let pdp = Implies::<ProbabilisticDp>::imply(&ApproxDp, &loss, &ProbabilisticDp).unwrap();
        assert_eq!(pdp, convert::probabilistic(loss).unwrap());
        // D_2(1) = 0.73532566….
        let rdp = ApproxRdp::new("2".parse().unwrap());
        let renyi = Implies::<ApproxRdp>::imply(&ApproxDp, &loss, &rdp).unwrap();
        assert_eq!(renyi.delta, loss.delta);
        assert!(renyi.epsilon > "0.735325664".parse().unwrap());
        assert!(renyi.epsilon < "0.735325665".parse().unwrap());
    }

    #[test]
    fn a_grid_is_read_at_its_orders_only() {
        let order = |text: &str| text.parse::<Order>().unwrap();
        let grid = RdpGrid::new([order("2"), order("4")]).unwrap();
        let curve = ZCdp.imply(&"0.1".parse().unwrap(), &grid).unwrap();
        assert_eq!(curve.to_string(), "[0.2, 0.4]");
        assert_eq!(
            grid.imply(&curve, &Rdp::new(order("4"))),
            Ok("0.4".parse().unwrap())
        );
        assert_eq!(
            grid.imply(&curve, &Rdp::new(order("3"))),
            Err(UnknownLoss("the grid has no such order"))
        );
    }

    #[test]
    fn a_curve_of_another_grid_is_not_read() {
        let order = |text: &str| text.parse::<Order>().unwrap();
        let small = RdpGrid::new([order("2"), order("64")]).unwrap();
        let large = RdpGrid::new([order("64"), order("128")]).unwrap();
        let curve = small.curve(["0.1", "3.2"].map(|text| text.parse().unwrap()));
        let curve = curve.unwrap();
        let at = Rdp::new(order("64"));
        assert_eq!(small.imply(&curve, &at), Ok("3.2".parse().unwrap()));
        // Its first value is that at the order 2.
        assert_eq!(large.imply(&curve, &at), Err(UnknownLoss::FOREIGN));
    }

    #[test]
    fn a_measure_implies_itself_and_no_other_order_or_grid() {
        let epsilon: Epsilon = "0.3".parse().unwrap();
        assert_eq!(PureDp.imply(&epsilon, &PureDp), Ok(epsilon));
        let other = UnknownLoss("the loss is stated under the same measure with other parameters");
        let [two, four] = ["2", "4"].map(|text| text.parse::<Order>().unwrap());
        assert_eq!(Rdp::new(two).imply(&epsilon, &Rdp::new(two)), Ok(epsilon));
        assert_eq!(Rdp::new(two).imply(&epsilon, &Rdp::new(four)), Err(other));
        // Not at smaller orders either: there, `ApproxRdp` has a theorem.
        assert_eq!(Rdp::new(four).imply(&epsilon, &Rdp::new(two)), Err(other));
        let [small, large] = [two, four].map(|order| RdpGrid::new([order]).unwrap());
        let curve = small.curve([epsilon]).unwrap();
        assert_eq!(small.imply(&curve, &small), Ok(curve.clone()));
        assert_eq!(small.imply(&curve, &large), Err(other));
        assert_eq!(large.imply(&curve, &large), Err(UnknownLoss::FOREIGN));
    }

    #[test]
    fn without_a_delta_approximate_losses_are_those_of_the_measure_itself() {
        let epsilon: Epsilon = "0.5".parse().unwrap();
        let rho = convert::zcdp::pure(epsilon);
        let zcdp = PureDp.imply(&epsilon, &ApproxZCdp).unwrap();
        assert_eq!((zcdp.rho, zcdp.delta), (rho, Delta::ZERO));
        let order = "3".parse().unwrap();
        let rdp = PureDp.imply(&epsilon, &ApproxRdp::new(order)).unwrap();
        let alone = convert::rdp::pure(order, epsilon);
        assert_eq!((rdp.epsilon, rdp.delta), (alone, Delta::ZERO));
    }
}
