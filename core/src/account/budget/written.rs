use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Budget, Cost};
use crate::account::durable::impossible;
use crate::number::Delta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts<T> {
    total: T,
    deltas: Delta,
}

impl<T: Cost + Serialize> Budget<T> {
    pub(in crate::account) fn counts<S: Serializer>(
        &self,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let counts = Counts {
            total: self.total,
            deltas: self.deltas.children(),
        };
        counts.serialize(serializer)
    }
}

impl<T: Cost> Budget<T> {
    pub(in crate::account) fn resume<'de, D: Deserializer<'de>>(
        &self,
        deserializer: D,
    ) -> Result<Self, D::Error>
    where
        T: Deserialize<'de>,
    {
        let Counts { total, deltas } = Counts::<T>::deserialize(deserializer)?;
        let fresh = Self::new(self.limit, self.deltas.slack(), self.threshold);
        // One launch with all of it leads there.
        fresh.charge(total, deltas).map_err(|_| impossible())
    }
}
