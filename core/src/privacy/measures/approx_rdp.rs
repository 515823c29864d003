use super::{additive, written};
use crate::number::Order;
use crate::privacy::Reentrant;
use crate::privacy::{Distance, EpsilonDelta, Measure, Postprocessable, UnknownLoss};

/// δ-approximate Rényi privacy of one fixed order: but for a part of weight δ on either side, the
/// Rényi divergence of order α is at most ε (Papernot and Steinke 2022; it is Condition 2 of
/// Whitehouse et al. App. C.1, at one order).
///
/// No concurrent composition theorem is known for it (Haney et al. §4): its compositors are
/// sequential.
///
/// ```
/// use queryables::number::NumberError;
/// use queryables::privacy::{ApproxRdp, Implies, Rdp};
///
/// let order = "2.5".parse()?;
/// let loss = Rdp::new(order).imply(&"0.1".parse()?, &ApproxRdp::new(order));
/// assert_eq!(loss.map(|loss| loss.to_string()), Ok("(0.1, 0)".into()));
/// # Ok::<(), NumberError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApproxRdp {
    order: Order,
}

impl ApproxRdp {
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

impl Measure for ApproxRdp {
    type Loss = EpsilonDelta;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> EpsilonDelta {
        EpsilonDelta::default()
    }

    fn join(&self, one: &EpsilonDelta, other: &EpsilonDelta) -> EpsilonDelta {
        one.join(*other)
    }

    fn group(&self, _: &EpsilonDelta, _: Distance) -> Result<EpsilonDelta, UnknownLoss> {
        Err(UnknownLoss(
            "group privacy changes the order of a Rényi guarantee",
        ))
    }
}

impl Postprocessable for ApproxRdp {}

additive!(ApproxRdp);

written!(ApproxRdp { order: Order } => Ok::<_, std::convert::Infallible>(ApproxRdp::new(order)));
