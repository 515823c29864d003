use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Conversion, ThroughZCdp};
use crate::account::Durable;
use crate::number::Delta;
use crate::privacy::{ApproxDp, EpsilonDelta, ZCdp};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    conversion: Written,
    limit: EpsilonDelta,
    slack: Delta,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Simple,
    Tight,
}

macro_rules! durable {
    ($($children:ident $name:literal, slack: $slack:expr;)*) => {$(
        impl Durable for ThroughZCdp<$children> {
            const NAME: &'static str = $name;

            fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let parameters = Parameters {
                    conversion: match self.conversion {
                        Conversion::Simple => Written::Simple,
                        Conversion::Tight => Written::Tight,
                    },
                    limit: self.budget.limit,
                    slack: self.budget.deltas.slack(),
                };
                parameters.serialize(serializer)
            }

            fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let Parameters { conversion, limit, slack } = Parameters::deserialize(deserializer)?;
                let conversion = match conversion {
                    Written::Simple => Conversion::Simple,
                    Written::Tight => Conversion::Tight,
                };
                let is_possible: fn(EpsilonDelta, Delta) -> bool = $slack;
                if !is_possible(limit, slack) {
                    return Err(D::Error::custom("the slack must be the whole of delta"));
                }
                Self::new($children, limit, slack, conversion).map_err(D::Error::custom)
            }

            fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.budget.counts(serializer)
            }

            fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
                Ok(self.with(self.budget.resume(deserializer)?))
            }
        }
    )*};
}

durable! {
    ApproxDp "ThroughZCdp", slack: |_, _| true;
    ZCdp "ThroughZCdp of zCDP", slack: |limit, slack| slack == limit.delta;
}
