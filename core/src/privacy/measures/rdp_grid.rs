use super::written;
use crate::privacy::Reentrant;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::number::{Epsilon, Order, write_number};
use crate::privacy::{Additive, Distance, Measure, Overflow, Postprocessable, UnknownLoss};

/// Rényi privacy at every order of a grid at once: a budget holds at *every* order.
///
/// ```
/// use queryables::privacy::{Measure, RdpGrid};
///
/// let grid = RdpGrid::new(["2".parse()?, "8".parse()?])?;
/// let curve = grid.curve(["0.1".parse()?, "0.4".parse()?])?;
/// assert!(grid.is_valid(&curve));
/// assert_eq!(curve.to_string(), "[0.1, 0.4]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RdpGrid {
    orders: Arc<[Order]>,
}

/// A loss under [`RdpGrid`]: one ε for each order. `a <= b` means that it holds at every order.
///
/// It stores its orders: a curve of another grid is not a loss of this one, even if it has the same
/// number of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RdpCurve {
    orders: Arc<[Order]>,
    epsilons: Box<[Epsilon]>,
}

/// Why a grid or a curve on it cannot be built.
///
/// Example: [`RdpGrid`](crate::privacy::RdpGrid).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A grid has at least one order.
    #[error("a grid needs at least one order")]
    Empty,
    /// Orders rise.
    #[error("the orders of a grid must rise strictly")]
    NotRising,
    /// A curve has one value for each order.
    #[error("a curve on this grid needs {expected} values, not {given}")]
    Length {
        /// The number of orders.
        expected: usize,
        /// The number of values given.
        given: usize,
    },
}

impl RdpGrid {
    /// The grid of these orders.
    ///
    /// # Errors
    ///
    /// [`GridError::Empty`] or [`GridError::NotRising`].
    pub fn new(orders: impl IntoIterator<Item = Order>) -> Result<Self, GridError> {
        let orders: Arc<[Order]> = orders.into_iter().collect();
        if orders.is_empty() {
            Err(GridError::Empty)
        } else if orders.is_sorted_by(|low, high| low < high) {
            Ok(Self { orders })
        } else {
            Err(GridError::NotRising)
        }
    }

    /// The orders.
    #[must_use]
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// The loss with this divergence at each order. A mechanism whose divergence is known at every
    /// order states a [`Curve`](crate::privacy::facts::Curve) instead.
    ///
    /// # Errors
    ///
    /// The first error of `divergence`.
    pub fn at_each_order(
        &self,
        divergence: impl FnMut(Order) -> Result<Epsilon, UnknownLoss>,
    ) -> Result<RdpCurve, UnknownLoss> {
        let epsilons: Result<Box<[_]>, _> = self.orders().iter().copied().map(divergence).collect();
        epsilons.map(|epsilons| self.filled(epsilons))
    }

    /// A loss: one ε for each order.
    ///
    /// # Errors
    ///
    /// [`GridError::Length`].
    pub fn curve(
        &self,
        epsilons: impl IntoIterator<Item = Epsilon>,
    ) -> Result<RdpCurve, GridError> {
        let epsilons: Box<[Epsilon]> = epsilons.into_iter().collect();
        if epsilons.len() == self.orders.len() {
            Ok(self.filled(epsilons))
        } else {
            Err(GridError::Length {
                expected: self.orders.len(),
                given: epsilons.len(),
            })
        }
    }
}

impl RdpGrid {
    /// There is one value for each order.
    fn filled(&self, epsilons: Box<[Epsilon]>) -> RdpCurve {
        RdpCurve {
            orders: Arc::clone(&self.orders),
            epsilons,
        }
    }
}

impl RdpCurve {
    /// The ε at each order of the grid.
    #[must_use]
    pub fn epsilons(&self) -> &[Epsilon] {
        &self.epsilons
    }

    /// The grid that it belongs to.
    #[must_use]
    pub fn grid(&self) -> RdpGrid {
        RdpGrid {
            orders: Arc::clone(&self.orders),
        }
    }

    fn zip(&self, other: &Self, combine: impl Fn(Epsilon, Epsilon) -> Epsilon) -> Self {
        let pairs = self.epsilons.iter().zip(&other.epsilons);
        Self {
            orders: Arc::clone(&self.orders),
            epsilons: pairs.map(|(&one, &other)| combine(one, other)).collect(),
        }
    }
}

impl PartialOrd for RdpCurve {
    /// `None` where the curves cross, or belong to different grids.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.orders != other.orders {
            return None;
        }
        let mut order = Ordering::Equal;
        for (one, other) in self.epsilons.iter().zip(&other.epsilons) {
            match (order, one.cmp(other)) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, here) => order = here,
                (so_far, here) if so_far == here => {}
                _ => return None,
            }
        }
        Some(order)
    }
}

impl fmt::Display for RdpCurve {
    /// A precision rounds every value up. The alternate form says what it is:
    /// `ε at each order = [0.1, 0.4]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.epsilons.iter().map(|epsilon| match f.precision() {
            None => epsilon.to_string(),
            Some(digits) => format!("{epsilon:.digits$}"),
        });
        let values: Vec<_> = values.collect();
        write_number(f, "ε at each order", &format!("[{}]", values.join(", ")))
    }
}

impl Measure for RdpGrid {
    type Loss = RdpCurve;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> RdpCurve {
        self.filled(self.orders.iter().map(|_| Epsilon::ZERO).collect())
    }

    fn is_valid(&self, loss: &RdpCurve) -> bool {
        loss.orders == self.orders
    }

    fn join(&self, one: &RdpCurve, other: &RdpCurve) -> RdpCurve {
        one.zip(other, Ord::max)
    }

    fn group(&self, _: &RdpCurve, _: Distance) -> Result<RdpCurve, UnknownLoss> {
        Err(UnknownLoss(
            "group privacy changes the order of a Rényi guarantee",
        ))
    }
}

impl Postprocessable for RdpGrid {}

impl Additive for RdpGrid {
    fn plus(&self, one: &RdpCurve, other: &RdpCurve) -> Result<RdpCurve, Overflow> {
        // Curves of other grids have no sum here; a shorter one must not cut the other.
        if !(self.is_valid(one) && self.is_valid(other)) {
            return Err(Overflow);
        }
        let pairs = one.epsilons.iter().zip(&other.epsilons);
        let epsilons: Option<_> = pairs.map(|(one, other)| one.checked_add(*other)).collect();
        Ok(self.filled(epsilons.ok_or(Overflow)?))
    }

    fn minus(&self, whole: &RdpCurve, part: &RdpCurve) -> RdpCurve {
        whole.zip(part, Epsilon::saturating_sub)
    }
}

written!(RdpGrid { orders: Vec<Order> } => RdpGrid::new(orders));

/// A curve in serialized form, which says at which orders.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    orders: Vec<Order>,
    epsilons: Vec<Epsilon>,
}

#[cfg(feature = "serde")]
impl serde::Serialize for RdpCurve {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let curve = Written {
            orders: self.grid().orders().to_vec(),
            epsilons: self.epsilons().to_vec(),
        };
        curve.serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for RdpCurve {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { orders, epsilons } = Written::deserialize(deserializer)?;
        let grid = RdpGrid::new(orders).map_err(serde::de::Error::custom)?;
        grid.curve(epsilons).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> RdpGrid {
        RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap()
    }

    fn curve(low: &str, high: &str) -> RdpCurve {
        grid()
            .curve([low, high].map(|epsilon| epsilon.parse().unwrap()))
            .unwrap()
    }

    #[test]
    fn grids_and_curves_are_checked() {
        let two: Order = "2".parse().unwrap();
        assert_eq!(RdpGrid::new([]), Err(GridError::Empty));
        assert_eq!(RdpGrid::new([two, two]), Err(GridError::NotRising));
        assert_eq!(
            grid().curve([Epsilon::ZERO]),
            Err(GridError::Length {
                expected: 2,
                given: 1
            })
        );
        let short = RdpGrid::new([two]).unwrap().zero();
        assert!(!grid().is_valid(&short));
        assert_eq!(short.partial_cmp(&curve("0", "0")), None);
        let others = RdpGrid::new(["2", "8"].map(|order| order.parse().unwrap())).unwrap();
        assert!(!grid().is_valid(&others.zero()));
        assert_eq!(others.zero().partial_cmp(&curve("1", "1")), None);
        assert!(grid().is_valid(&curve("1", "1")));
    }

    #[test]
    fn curves_that_cross_are_incomparable() {
        assert_eq!(
            curve("1", "2").partial_cmp(&curve("1", "2")),
            Some(Ordering::Equal)
        );
        assert_eq!(
            curve("1", "2").partial_cmp(&curve("1", "3")),
            Some(Ordering::Less)
        );
        assert_eq!(
            curve("2", "3").partial_cmp(&curve("1", "3")),
            Some(Ordering::Greater)
        );
        assert_eq!(curve("1", "3").partial_cmp(&curve("2", "2")), None);
    }

    #[test]
    fn a_curve_prints_its_values() {
        let curve = curve("0.123", "2");
        assert_eq!(curve.to_string(), "[0.123, 2]");
        assert_eq!(format!("{curve:.1}"), "[0.2, 2.0]");
        assert_eq!(format!("{curve:#}"), "ε at each order = [0.123, 2]");
        assert_eq!(format!("{curve:>12}"), "  [0.123, 2]");
    }

    #[test]
    fn arithmetic_is_order_by_order() {
        let grid = grid();
        assert_eq!(
            grid.plus(&curve("1", "2"), &curve("3", "5")),
            Ok(curve("4", "7"))
        );
        assert_eq!(
            grid.minus(&curve("1", "5"), &curve("3", "2")),
            curve("0", "3")
        );
        assert_eq!(
            grid.join(&curve("1", "5"), &curve("3", "2")),
            curve("3", "5")
        );
        assert_eq!(
            grid.plus(&curve("1", "3e11"), &curve("1", "3e11")),
            Err(Overflow)
        );
    }
}
