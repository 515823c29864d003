//! Distances and curves in serialized form. Measures have theirs in their own files.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Distance, RdpCurve, RdpGrid};
use crate::number::{Epsilon, Order};

/// A curve says at which orders.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    orders: Vec<Order>,
    epsilons: Vec<Epsilon>,
}

impl Serialize for RdpCurve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let curve = Curve {
            orders: self.grid().orders().to_vec(),
            epsilons: self.epsilons().to_vec(),
        };
        curve.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RdpCurve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Curve { orders, epsilons } = Curve::deserialize(deserializer)?;
        let grid = RdpGrid::new(orders).map_err(D::Error::custom)?;
        grid.curve(epsilons).map_err(D::Error::custom)
    }
}

impl Serialize for Distance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.steps())
    }
}

impl<'de> Deserialize<'de> for Distance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let steps = u64::deserialize(deserializer)?;
        Self::new(steps).ok_or_else(|| D::Error::custom("a distance is at least one step"))
    }
}
