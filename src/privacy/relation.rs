//! Which datasets count as neighbours.
//!
//! A loss means nothing without its neighbouring relation, so the relation is part of the type:
//! a mechanism stated under one cannot be launched by a compositor that works under another.

use std::fmt::{self, Debug};
use std::num::NonZeroU64;

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
    /// How it is called in messages.
    const NAME: &'static str;
}

/// Neighbours differ by adding or removing one row; the others keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddRemove;

impl Relation for AddRemove {
    const NAME: &'static str = "add or remove one row";
}

/// Neighbours have the same number of rows and differ in one of them; the others keep their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replace;

impl Relation for Replace {
    const NAME: &'static str = "replace one row";
}

/// How many steps from neighbour to neighbour lie between two datasets, at most: `d_in`.
///
/// ```
/// use queryables::privacy::Distance;
///
/// assert_eq!(Distance::new(1), Some(Distance::NEIGHBOURS));
/// assert_eq!(Distance::new(0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance(NonZeroU64);

impl Distance {
    /// One step.
    pub const NEIGHBOURS: Self = Self(NonZeroU64::MIN);

    /// So many steps; `None` for zero steps, where nothing is lost by any mechanism.
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

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
