use std::fmt;
use std::sync::Arc;

use super::Diverges;
use crate::number::{Epsilon, Order};
use crate::privacy::{Distance, UnknownLoss};

/// Rényi divergences, as a function of the order.
///
/// ```
/// use queryables::privacy::facts::Curve;
/// use queryables::privacy::{Prices, Rdp, UnknownLoss, convert::rdp};
///
/// let (rate, one) = ("0.01".parse()?, "1".parse()?);
/// let sampled = Curve::new(move |order| {
///     let whole = order.whole().ok_or(UnknownLoss("known at whole orders only"))?;
///     rdp::subsampled_gaussian(whole, rate, one, one)
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

    /// What is true at a distance: known for neighbours only.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] unless the distance is that of neighbours: Mironov 2017, Proposition 11,
    /// pays with the order.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        if distance == Distance::NEIGHBOURS {
            return Ok(self.clone());
        }
        Err(UnknownLoss(
            "group privacy changes the order of a Rényi guarantee",
        ))
    }
}

/// By definition.
impl Diverges for Curve {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        (self.0)(order)
    }
}

impl fmt::Debug for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Curve")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{ApproxRdp, Prices, Rdp, RdpGrid, Renyi};

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
    fn it_is_known_for_neighbours_only() {
        let curve = Curve::new(|_| Ok(Epsilon::ZERO));
        assert!(curve.at(Distance::NEIGHBOURS).is_ok());
        assert_eq!(
            curve.at(Distance::new(2).unwrap()).map(|_| ()),
            Err(UnknownLoss(
                "group privacy changes the order of a Rényi guarantee"
            ))
        );
    }
}
