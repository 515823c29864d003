use super::{additive, written};
use crate::number::{Epsilon, Order};
use crate::privacy::Reentrant;
use crate::privacy::{Distance, Measure, Postprocessable, UnknownLoss};

/// Rényi privacy of one fixed order: the Rényi divergence of order α (Haney et al. 1.3).
///
/// ```
/// use queryables::number::NumberError;
/// use queryables::privacy::Rdp;
///
/// let measure = Rdp::new("2.5".parse()?);
/// assert_eq!(measure.order().to_string(), "2.5");
/// # Ok::<(), NumberError>(())
/// ```
#[doc(alias = "moments accountant")]
#[doc(alias = "renyi")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rdp {
    order: Order,
}

impl Rdp {
    /// The measure at this order.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self { order }
    }

    /// The order α.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }
}

impl Measure for Rdp {
    type Loss = Epsilon;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn join(&self, one: &Epsilon, other: &Epsilon) -> Epsilon {
        *one.max(other)
    }

    /// None: Mironov 2017, Proposition 11, needs a larger order.
    fn group(&self, _: &Epsilon, _: Distance) -> Result<Epsilon, UnknownLoss> {
        Err(UnknownLoss(
            "group privacy changes the order of a Rényi guarantee",
        ))
    }
}

impl Postprocessable for Rdp {}

additive!(Rdp);

written!(Rdp { order: Order } => Ok::<_, std::convert::Infallible>(Rdp::new(order)));
