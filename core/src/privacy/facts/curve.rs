use std::sync::Arc;

use super::Diverges;
use crate::number::{Epsilon, Order, Unit, units};
use crate::privacy::{Distance, Overflow, UnknownLoss};

/// Rényi divergences, as a function of the order.
///
/// ```
/// use queryables::privacy::facts::Curve;
/// use queryables::privacy::{Prices, Rdp, convert::rdp};
///
/// let (rate, one) = ("0.01".parse()?, "1".parse()?);
/// let sampled = Curve::new(move |order| {
///     rdp::subsampled_gaussian(order, rate, one, one)
/// });
/// assert!(Rdp::new("2".parse()?).price(&sampled)? < "0.0001719".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Curve(Arc<Divergence>);

type Divergence = dyn Fn(Order) -> Result<Epsilon, UnknownLoss> + Send + Sync;

impl Curve {
    /// The divergence at each order, rounded up; [`UnknownLoss`] where none is known.
    pub fn new(
        divergence: impl Fn(Order) -> Result<Epsilon, UnknownLoss> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(divergence))
    }

    /// What is true at a distance of at most 2^c, for the smallest such c: the divergence of order α
    /// is 3^c times that of order 2^c·α between neighbours, for α from 2 on (Mironov 2017, Prop. 2).
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the distance is more than 2^29, beyond which no order is large enough.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        // ⌈log₂ distance⌉.
        let doublings = u64::BITS - (distance.steps() - 1).leading_zeros();
        if doublings == 0 {
            return Ok(self.clone());
        }
        let (Some(orders), Some(losses)) = (
            2_u128.checked_pow(doublings).filter(|_| doublings < 30),
            3_u64.checked_pow(doublings),
        ) else {
            return Err(UnknownLoss("the distance is too large for Rényi privacy"));
        };
        let neighbours = self.clone();
        Ok(Self::new(move |order| {
            if order.units() < 2 * 10_u128.pow(units::Order::DECIMALS) {
                return Err(UnknownLoss(
                    "at a distance, Rényi privacy is known from the order 2 on",
                ));
            }
            let higher = Order::from_units(order.units().saturating_mul(orders));
            let higher = higher.map_err(|_| UnknownLoss("no order is large enough"))?;
            let loss = neighbours.divergence(higher)?;
            Ok(loss.checked_mul(losses).ok_or(Overflow)?)
        }))
    }
}

/// By definition.
/// If they are the same function in memory: functions cannot be compared.
impl PartialEq for Curve {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Diverges for Curve {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        (self.0)(order)
    }
}

crate::debug_fields!([] Curve, "Curve");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{ApproxRdp, Prices, Rdp, RdpGrid};

    fn order(text: &str) -> Order {
        text.parse().unwrap()
    }

    #[test]
    fn each_order_has_its_own_divergence() {
        let unknown = UnknownLoss("not there");
        let curve = Curve::new(move |order| order.whole().map(|_| Epsilon::ZERO).ok_or(unknown));
        assert_eq!(Rdp::new(order("2")).price(&curve), Ok(Epsilon::ZERO));
        assert_eq!(Rdp::new(order("2.5")).price(&curve), Err(unknown));
        assert_eq!(ApproxRdp::new(order("2.5")).price(&curve), Err(unknown));
        let grid = RdpGrid::new([order("2"), order("2.5")]).unwrap();
        assert_eq!(grid.price(&curve), Err(unknown));
        let linear = Curve::new(|order| Ok(Epsilon::from_units(order.units()).unwrap()));
        let loss = grid.price(&linear).unwrap();
        assert_eq!(loss.to_string(), "[2e-18, 2.5e-18]");
        assert_eq!(
            Ok(loss),
            grid.at_each_order(|order| linear.divergence(order))
        );
    }

    #[test]
    fn a_distance_doubles_the_order_and_triples_the_loss() {
        // The Gaussian with ρ = 1/100, exactly at the order asked for.
        let curve =
            Curve::new(|order| Ok(Epsilon::from_units(order.units() * 10_u128.pow(16)).unwrap()));
        let at = |distance: u64, order: &str| {
            let curve = curve.at(Distance::new(distance).unwrap())?;
            Ok(curve.divergence(order.parse().unwrap())?.to_string())
        };
        assert_eq!(at(1, "1.5"), Ok("0.015".into()));
        assert_eq!(at(2, "2"), Ok("0.12".into()));
        assert_eq!(at(3, "2"), Ok("0.72".into()));
        assert_eq!(at(4, "2"), Ok("0.72".into()));
        assert_eq!(at(5, "3"), Ok("6.48".into()));
        // What is known exactly is less: d² times as much.
        assert_eq!(at(4, "2.5"), Ok("0.9".into()));
        let low = UnknownLoss("at a distance, Rényi privacy is known from the order 2 on");
        assert_eq!(at(2, "1.999999999"), Err(low));
        assert_eq!(at(2, "6e8"), Err(UnknownLoss("no order is large enough")));
        let far = UnknownLoss("the distance is too large for Rényi privacy");
        assert_eq!(at(1 << 30, "2"), Err(far));
        assert_eq!(at(u64::MAX, "2"), Err(far));
        let unknown = UnknownLoss("not there");
        let none = Curve::new(move |_| Err(unknown))
            .at(Distance::new(2).unwrap())
            .unwrap();
        assert_eq!(none.divergence(order("2")), Err(unknown));
    }
}
