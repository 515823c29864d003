//! Measures, distances and curves in serialized form.
//!
//! An ε alone does not say to which measure it belongs, so a measure has a tag of its own:
//! `{"measure": "Rdp", "order": "2"}`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    ApproxDp, ApproxRdp, ApproxZCdp, Distance, Gdp, ProbabilisticDp, PureDp, Rdp, RdpCurve,
    RdpGrid, ZCdp,
};
use crate::number::{Epsilon, Order};

/// Every measure of this crate that can be serialized.
#[derive(Serialize, Deserialize)]
#[serde(tag = "measure", deny_unknown_fields)]
enum Tagged {
    PureDp,
    ApproxDp,
    ProbabilisticDp,
    ZCdp,
    ApproxZCdp,
    Gdp,
    Rdp { order: Order },
    ApproxRdp { order: Order },
    RdpGrid { orders: Vec<Order> },
}

macro_rules! written {
    ($($measure:ident: $written:expr, $read:pat => $value:expr;)*) => {$(
        impl Serialize for $measure {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$measure) -> Tagged = $written;
                write(self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $measure {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Tagged::deserialize(deserializer)? {
                    $read => $value.map_err(D::Error::custom),
                    _ => Err(D::Error::custom(concat!(
                        "the measure is not ",
                        stringify!($measure)
                    ))),
                }
            }
        }
    )*};
}

/// For the measures whose reading cannot fail.
type Sure<T> = Result<T, std::convert::Infallible>;

written! {
    PureDp: |_| Tagged::PureDp, Tagged::PureDp => Sure::Ok(PureDp);
    ApproxDp: |_| Tagged::ApproxDp, Tagged::ApproxDp => Sure::Ok(ApproxDp);
    ProbabilisticDp: |_| Tagged::ProbabilisticDp,
        Tagged::ProbabilisticDp => Sure::Ok(ProbabilisticDp);
    ZCdp: |_| Tagged::ZCdp, Tagged::ZCdp => Sure::Ok(ZCdp);
    ApproxZCdp: |_| Tagged::ApproxZCdp, Tagged::ApproxZCdp => Sure::Ok(ApproxZCdp);
    Gdp: |_| Tagged::Gdp, Tagged::Gdp => Sure::Ok(Gdp);
    Rdp: |rdp| Tagged::Rdp { order: rdp.order() },
        Tagged::Rdp { order } => Sure::Ok(Rdp::new(order));
    ApproxRdp: |rdp| Tagged::ApproxRdp { order: rdp.order() },
        Tagged::ApproxRdp { order } => Sure::Ok(ApproxRdp::new(order));
    RdpGrid: |grid| Tagged::RdpGrid { orders: grid.orders().to_vec() },
        Tagged::RdpGrid { orders } => RdpGrid::new(orders);
}

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
