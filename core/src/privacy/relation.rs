//! Which datasets count as neighbours.
//!
//! A loss means nothing without its neighbouring relation, so the relation is part of the type:
//! a mechanism stated under one cannot be launched by a compositor that works under another.

use std::fmt::{self, Debug};
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

use crate::number::NumberError;

/// A neighbouring relation on datasets.
///
/// Implement it for a type of your own to state guarantees under your own relation.
///
/// ```
/// use queryables::privacy::Relation;
///
/// /// Datasets that differ in all rows of one household.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct OneHousehold;
///
/// impl Relation for OneHousehold {
///     const NAME: &'static str = "one household";
/// }
/// ```
pub trait Relation: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Its name in messages.
    const NAME: &'static str;

    /// Whether one of two neighbours comes first, for every mechanism alike: the dataset with the row,
    /// under [`AddRemove`]. A loss that has a direction, such as a trade-off function, is stated in this
    /// order. Without an order, compositors take it for both
    /// ([`Measure::in_both_orders`](super::Measure::in_both_orders)).
    const ORDERED: bool = false;
}

/// Neighbours differ by adding or removing one row; the others keep their order.
///
/// Example: [`Private`](crate::privacy::Private).
#[doc(alias = "neighbouring")]
#[doc(alias = "unbounded DP")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddRemove;

impl Relation for AddRemove {
    const NAME: &'static str = "add or remove one row";
    const ORDERED: bool = true;
}

/// Neighbours have the same number of rows and differ in one of them; the others keep their places.
///
/// Example: [the crate](crate).
#[doc(alias = "bounded DP")]
#[doc(alias = "substitution")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replace;

impl Relation for Replace {
    const NAME: &'static str = "replace one row";
}

/// An upper bound on the number of steps from neighbour to neighbour between two datasets: `d_in`.
///
/// ```
/// use queryables::privacy::Distance;
///
/// assert_eq!(Distance::new(1), Some(Distance::NEIGHBOURS));
/// assert_eq!(Distance::new(0), None);
/// assert_eq!("3".parse(), Distance::try_from(3_u32));
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
#[doc(alias = "group privacy")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance(NonZeroU64);

impl Distance {
    /// One step.
    pub const NEIGHBOURS: Self = Self(NonZeroU64::MIN);

    /// This number of steps; `None` for zero steps, where nothing is lost by any mechanism.
    #[must_use]
    pub fn new(steps: u64) -> Option<Self> {
        NonZeroU64::new(steps).map(Self)
    }

    /// The number of steps.
    #[must_use]
    pub fn steps(self) -> u64 {
        self.0.get()
    }
}

const WHAT: &str = "distance";

impl From<NonZeroU64> for Distance {
    fn from(steps: NonZeroU64) -> Self {
        Self(steps)
    }
}

impl From<NonZeroU32> for Distance {
    fn from(steps: NonZeroU32) -> Self {
        Self(steps.into())
    }
}

impl TryFrom<u64> for Distance {
    type Error = NumberError;

    /// [`NumberError::TooSmall`] for zero.
    fn try_from(steps: u64) -> Result<Self, NumberError> {
        let zero = NumberError::TooSmall {
            what: WHAT,
            bound: "0",
        };
        Self::new(steps).ok_or(zero)
    }
}

impl TryFrom<u32> for Distance {
    type Error = NumberError;

    /// [`NumberError::TooSmall`] for zero.
    fn try_from(steps: u32) -> Result<Self, NumberError> {
        u64::from(steps).try_into()
    }
}

impl FromStr for Distance {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NumberError::NotWhole {
                what: WHAT,
                given: NumberError::given(text),
            });
        }
        if digits.len() < text.len() {
            return Err(NumberError::Negative { what: WHAT });
        }
        let steps: u64 = digits.parse().map_err(|_| NumberError::TooLarge {
            what: WHAT,
            largest: "18446744073709551615",
        })?;
        steps.try_into()
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Distance {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.steps())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Distance {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let distance = Self::new(u64::deserialize(deserializer)?);
        distance.ok_or_else(|| serde::de::Error::custom("a distance is at least one step"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_whole_and_not_zero() {
        let what = "distance";
        let (zero, largest) = ("0", "18446744073709551615");
        let three = Distance::new(3).unwrap();
        assert_eq!("3".parse(), Ok(three));
        assert_eq!(three.to_string().parse(), Ok(three));
        assert_eq!(largest.parse(), Distance::try_from(u64::MAX));
        assert_eq!(Distance::try_from(3_u32), Ok(three));
        assert_eq!(Distance::from(NonZeroU32::new(3).unwrap()), three);
        assert_eq!(Distance::from(NonZeroU64::new(3).unwrap()), three);
        let too_small = NumberError::TooSmall { what, bound: zero };
        assert_eq!(Distance::try_from(0_u32), Err(too_small.clone()));
        assert_eq!("0".parse::<Distance>(), Err(too_small));
        assert_eq!(
            "-3".parse::<Distance>(),
            Err(NumberError::Negative { what })
        );
        assert_eq!(
            "18446744073709551616".parse::<Distance>(),
            Err(NumberError::TooLarge { what, largest })
        );
        for text in ["", "-", "1.5", "1e3", "three", "+3", " 3"] {
            assert_eq!(
                text.parse::<Distance>(),
                Err(NumberError::NotWhole {
                    what,
                    given: text.into()
                }),
                "{text}"
            );
        }
    }
}
