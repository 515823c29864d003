use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{MenuEntry, MenuFilter, Table};
use crate::account::Durable;
use crate::account::durable::impossible;
use crate::account::menu::prices::Paid;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    name: String,
    limit: EpsilonDelta,
    slack: Delta,
    step: Epsilon,
    /// Loss, number of launches, cost.
    entries: Vec<(Epsilon, u64, u64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// What was paid and how many launches of each entry are paid for and open.
    paid: Option<(u64, Vec<u64>)>,
    epsilons: Epsilon,
    deltas: Delta,
}

/// The menus with a name.
const NAMES: [&str; 3] = ["menu", "menu, many small", "menu, balanced"];

impl Durable for MenuFilter {
    const NAME: &'static str = "MenuFilter";

    fn parameters<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Table { name, step, .. } = *self.table;
        let entry = |entry: MenuEntry| (entry.epsilon, entry.count, entry.cost);
        let parameters = Parameters {
            name: name.to_owned(),
            limit: self.sums.limit,
            slack: self.sums.deltas.slack(),
            step,
            entries: self.entries().map(entry).collect(),
        };
        parameters.serialize(serializer)
    }

    fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Parameters::deserialize(deserializer)?;
        let name = NAMES.into_iter().find(|name| *name == read.name);
        let name = name.ok_or_else(|| D::Error::custom("no menu has this name"))?;
        let entry = |(epsilon, count, cost)| MenuEntry {
            epsilon,
            count,
            cost,
        };
        let entries: Vec<_> = read.entries.into_iter().map(entry).collect();
        Self::named(name, read.limit, read.slack, read.step, &entries).map_err(D::Error::custom)
    }

    fn counts<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = Counts {
            paid: self.paid.clone().map(Paid::into_parts),
            epsilons: self.sums.epsilons,
            deltas: self.sums.deltas.children(),
        };
        counts.serialize(serializer)
    }

    /// Checks that what is open was paid for and that the sum of the losses fits what was used,
    /// where a bundle of each entry is weighed by its cost.
    fn resume<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Self, D::Error> {
        let Counts {
            paid,
            epsilons,
            deltas,
        } = Counts::deserialize(deserializer)?;
        let sums = self.sums.resumed(epsilons, deltas);
        let sums = sums.ok_or_else(impossible::<D::Error>)?;
        let paid = match paid {
            // What the menu could not pay for was within the budget by itself.
            None if sums.are_within() && epsilons > Epsilon::ZERO => None,
            None => return Err(impossible()),
            Some((cost, open)) => {
                let paid = self.table.prices.paid(cost, open, epsilons);
                Some(paid.ok_or_else(impossible::<D::Error>)?)
            }
        };
        let table = self.table.clone();
        Ok(Self { sums, table, paid })
    }
}
