//! The correspondence between OpenDP's measures and those of this crate.

use opendp::core::{Function, Measure as OpenDpMeasure};
use opendp::measures::{Approximate, MaxDivergence, RenyiDivergence, ZeroConcentratedDivergence};

use crate::error;
use queryables_core::number::{Epsilon, NumberError, Order, Quantity, Rho, Unit};
use queryables_core::privacy::{
    ApproxDp, ApproxZCdp, EpsilonDelta, Measure, PureDp, Rdp, RdpCurve, RdpGrid, RhoDelta,
    UnknownLoss, ZCdp,
};

/// An OpenDP measure whose distances mean the same as losses under `Me`.
///
/// | OpenDP | here |
/// |---|---|
/// | `MaxDivergence` | [`PureDp`] |
/// | `Approximate<MaxDivergence>` | [`ApproxDp`] |
/// | `ZeroConcentratedDivergence` | [`ZCdp`] |
/// | `Approximate<ZeroConcentratedDivergence>` | [`ApproxZCdp`] |
/// | `RenyiDivergence` | [`Rdp`] at its order, [`RdpGrid`] at each of its orders |
///
/// Implement it for a measure of your own.
#[diagnostic::on_unimplemented(
    message = "OpenDP's measure `{Self}` has no counterpart in `{Me}`",
    label = "its distances are not losses under `{Me}`",
    note = "`MaxDivergence` is `PureDp`, `Approximate<MaxDivergence>` is `ApproxDp`, \
            `ZeroConcentratedDivergence` is `ZCdp`, `Approximate<ZeroConcentratedDivergence>` is \
            `ApproxZCdp`, `RenyiDivergence` is `Rdp` or `RdpGrid`",
    note = "a privacy profile (`SmoothedMaxDivergence`) becomes one pair with OpenDP's \
            `make_fix_delta`"
)]
pub trait Counterpart<Me: Measure>: OpenDpMeasure {
    /// The smallest loss that is at least this distance.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if there is none: for what is negative, NaN, infinite or too large.
    fn loss(measure: &Me, distance: &Self::Distance) -> Result<Me::Loss, UnknownLoss>;
}

impl Counterpart<PureDp> for MaxDivergence {
    fn loss(_: &PureDp, epsilon: &f64) -> Result<Epsilon, UnknownLoss> {
        loss_from(*epsilon)
    }
}

impl Counterpart<ZCdp> for ZeroConcentratedDivergence {
    fn loss(_: &ZCdp, rho: &f64) -> Result<Rho, UnknownLoss> {
        loss_from(*rho)
    }
}

impl Counterpart<ApproxDp> for Approximate<MaxDivergence> {
    fn loss(_: &ApproxDp, (epsilon, delta): &(f64, f64)) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: loss_from(*epsilon)?,
            delta: loss_from(*delta)?,
        })
    }
}

impl Counterpart<ApproxZCdp> for Approximate<ZeroConcentratedDivergence> {
    fn loss(_: &ApproxZCdp, (rho, delta): &(f64, f64)) -> Result<RhoDelta, UnknownLoss> {
        Ok(RhoDelta {
            rho: loss_from(*rho)?,
            delta: loss_from(*delta)?,
        })
    }
}

/// At the order, or at the next float above it: Rényi divergence does not fall as its order grows
/// (van Erven and Harremoës 2014, Theorem 3).
impl Counterpart<Rdp> for RenyiDivergence {
    fn loss(measure: &Rdp, curve: &Function<f64, f64>) -> Result<Epsilon, UnknownLoss> {
        at_order(curve, measure.order())
    }
}

/// At each order, as for [`Rdp`].
impl Counterpart<RdpGrid> for RenyiDivergence {
    fn loss(grid: &RdpGrid, curve: &Function<f64, f64>) -> Result<RdpCurve, UnknownLoss> {
        let epsilons = grid.orders().iter().map(|order| at_order(curve, *order));
        let epsilons: Vec<_> = epsilons.collect::<Result<_, _>>()?;
        grid.curve(epsilons)
            .map_err(|_| UnknownLoss("a grid has as many values as orders"))
    }
}

/// The smallest loss that is at least what OpenDP says, whose floats stand for their binary value.
fn loss_from<U: Unit>(float: f64) -> Result<Quantity<U>, UnknownLoss> {
    Quantity::at_least(float).map_err(|error| {
        UnknownLoss(match error {
            NumberError::NotANumber { .. } => "OpenDP's privacy map returned NaN",
            NumberError::Negative { .. } => "OpenDP's privacy map returned a negative loss",
            NumberError::Infinite { .. } => "OpenDP's privacy map returned an infinite loss",
            _ => "OpenDP's privacy map returned a loss that is too large",
        })
    })
}

fn at_order(curve: &Function<f64, f64>, order: Order) -> Result<Epsilon, UnknownLoss> {
    // The error may contain anything, and is not passed on.
    let epsilon = curve.eval(&order.to_f64_up());
    loss_from(epsilon.map_err(|_| {
        UnknownLoss::because(format_args!(
            "OpenDP's privacy curve has no value at order {order}"
        ))
    })?)
}

/// A measure of this crate whose mechanisms can be composed inside OpenDP
/// ([`make_interactive`](crate::make_interactive); an example is in [the crate](crate)).
///
/// Approximate zCDP is not one: OpenDP would have to freeze what it has composed before, and it can
/// freeze only its own queryables, not the handles of this crate.
#[diagnostic::on_unimplemented(
    message = "a mechanism with a loss in `{Self}` cannot be handed to OpenDP",
    note = "OpenDP has the measures of `PureDp`, `ApproxDp`, `ZCdp`, `Rdp` and `RdpGrid`",
    note = "under approximate zCDP it must be able to freeze what it launched, and it cannot \
            freeze the handles of this crate"
)]
pub trait Embeddable: Measure {
    /// OpenDP's measure.
    type OpenDp: Counterpart<Self> + 'static;

    /// The smallest distance of OpenDP's that is at least this loss.
    fn distance(&self, loss: &Self::Loss) -> <Self::OpenDp as OpenDpMeasure>::Distance;
}

impl Embeddable for PureDp {
    type OpenDp = MaxDivergence;

    fn distance(&self, loss: &Epsilon) -> f64 {
        loss.to_f64_up()
    }
}

impl Embeddable for ZCdp {
    type OpenDp = ZeroConcentratedDivergence;

    fn distance(&self, loss: &Rho) -> f64 {
        loss.to_f64_up()
    }
}

impl Embeddable for ApproxDp {
    type OpenDp = Approximate<MaxDivergence>;

    fn distance(&self, loss: &EpsilonDelta) -> (f64, f64) {
        (loss.epsilon.to_f64_up(), loss.delta.to_f64_up())
    }
}

/// A curve that is known up to the order.
impl Embeddable for Rdp {
    type OpenDp = RenyiDivergence;

    fn distance(&self, loss: &Epsilon) -> Function<f64, f64> {
        step_curve(vec![(self.order(), *loss)])
    }
}

/// A curve that is known up to the largest order.
impl Embeddable for RdpGrid {
    type OpenDp = RenyiDivergence;

    fn distance(&self, loss: &RdpCurve) -> Function<f64, f64> {
        let steps = self.orders().iter().zip(loss.epsilons());
        step_curve(steps.map(|(order, epsilon)| (*order, *epsilon)).collect())
    }
}

/// OpenDP asks with floats. That nearest to 1.1 is larger than 1.1, and nothing is known there.
const UNKNOWN_ORDER: &str = "no privacy loss is known at this order: it is larger than all that are \
                             known, or than its decimal; take orders that are floats, such as 1.125";

/// At each order the value at the next order that is known (van Erven and Harremoës 2014,
/// Theorem 3).
fn step_curve(steps: Vec<(Order, Epsilon)>) -> Function<f64, f64> {
    Function::new_fallible(move |&alpha: &f64| {
        let asked = Order::at_least(alpha).ok();
        let known = |asked| steps.iter().find(|(order, _)| *order >= asked);
        match asked.and_then(known) {
            Some((_, epsilon)) => Ok(epsilon.to_f64_up()),
            None => Err(error::map(UNKNOWN_ORDER)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Order {
        text.parse().unwrap()
    }

    fn gaussian() -> Function<f64, f64> {
        Function::new(|alpha: &f64| alpha / 2.0)
    }

    #[test]
    fn pairs_are_read_coordinate_by_coordinate() {
        assert_eq!(
            <Approximate<MaxDivergence>>::loss(&ApproxDp, &(0.5, 0.25)),
            Ok(EpsilonDelta::new("0.5", "0.25").unwrap())
        );
        assert_eq!(
            <Approximate<ZeroConcentratedDivergence>>::loss(&ApproxZCdp, &(0.5, 0.25)),
            Ok(RhoDelta::new("0.5", "0.25").unwrap())
        );
        let negative = UnknownLoss("OpenDP's privacy map returned a negative loss");
        let large = UnknownLoss("OpenDP's privacy map returned a loss that is too large");
        for (pair, error) in [
            ((-0.5, 0.0), negative),
            ((0.5, -1e-9), negative),
            ((0.5, 1.5), large),
        ] {
            assert_eq!(
                <Approximate<MaxDivergence>>::loss(&ApproxDp, &pair),
                Err(error)
            );
            assert_eq!(
                <Approximate<ZeroConcentratedDivergence>>::loss(&ApproxZCdp, &pair),
                Err(error)
            );
        }
        assert_eq!(
            MaxDivergence::loss(&PureDp, &0.5),
            Ok("0.5".parse().unwrap())
        );
        assert_eq!(
            ZeroConcentratedDivergence::loss(&ZCdp, &0.5),
            Ok("0.5".parse().unwrap())
        );
    }

    #[test]
    fn a_curve_is_read_at_the_order_or_just_above() {
        let at = |text| RenyiDivergence::loss(&Rdp::new(order(text)), &gaussian());
        assert_eq!(at("4"), Ok("2".parse().unwrap()));
        // The float nearest to 2.3 is below it; the next one is taken.
        assert!(at("2.3").unwrap() > "1.15".parse().unwrap());
        let grid = RdpGrid::new([order("2"), order("8")]).unwrap();
        let curve = RenyiDivergence::loss(&grid, &gaussian()).unwrap();
        assert_eq!(curve.to_string(), "[1, 4]");
        let failing = Function::new_fallible(|_: &f64| Err(error::map("secret")));
        assert_eq!(
            RenyiDivergence::loss(&Rdp::new(order("2")), &failing),
            Err(UnknownLoss(
                "OpenDP's privacy curve has no value at order 2"
            ))
        );
    }

    #[test]
    fn a_budget_at_some_orders_is_a_curve_up_to_the_largest() {
        let grid = RdpGrid::new([order("2"), order("8")]).unwrap();
        let loss = grid
            .curve(["0.5", "2"].map(|text| text.parse().unwrap()))
            .unwrap();
        let curve = grid.distance(&loss);
        for (alpha, epsilon) in [(1.5, 0.5), (2.0, 0.5), (2.0_f64.next_up(), 2.0), (8.0, 2.0)] {
            assert_eq!(curve.eval(&alpha), Ok(epsilon), "{alpha}");
        }
        let one = Rdp::new(order("4")).distance(&"0.25".parse().unwrap());
        assert_eq!(one.eval(&3.0), Ok(0.25));
        for (curve, alpha) in [
            (&curve, 8.0_f64.next_up()),
            (&curve, f64::INFINITY),
            (&curve, f64::NAN),
            (&curve, 1.0),
            (&curve, -2.0),
            (&one, 5.0),
        ] {
            let unknown = error::map(UNKNOWN_ORDER);
            assert_eq!(curve.eval(&alpha), Err(unknown), "{alpha}");
        }
    }
}
