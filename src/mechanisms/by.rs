//! A statistic in each group.

use std::ops::Range;

use super::contributes::tallied;
use super::limit::BINS;
use super::query::Norm;
use super::{
    About, Change, Contributes, Contributions, Labels, MechanismError, Once, Partition, Query,
    RowRelation, Statistic, Tally, Unavailable,
};
use crate::data::Dataset;
use crate::machine::Description;
use crate::noise::Noise;
use crate::privacy::UnknownLoss;

/// A statistic that can be asked for in each group.
pub trait Grouped<D: Dataset + ?Sized>: Contributes<D> {
    /// The same in each group of a partition, at the price of one: a row is in one group at most.
    ///
    /// ```
    /// use queryables::data::Attribute;
    /// use queryables::mechanisms::{Grouped, Mean, Partition, Sum};
    /// use queryables::prelude::*;
    /// use std::collections::BTreeMap;
    /// use std::sync::Arc;
    ///
    /// let spent: Arc<Vec<(&str, i64)>> = Arc::new([("CA", 30), ("NY", 80), ("CA", 50)].repeat(1000));
    /// let filter = start(&Filter::concurrent(ZCdp, rho!(1)), spent)?;
    ///
    /// let state = Partition::by_key("state", |row: &(&str, i64)| row.0, ["CA", "NY"])?;
    /// let spent = Attribute::new("spent", |row: &(&str, i64)| row.1);
    /// let sums = Sum::of(spent, 0..=100).by(state.clone()).gaussian(rho!(0.5))?;
    /// let sums: BTreeMap<&str, i64> = filter.release(&sums)?;
    /// assert!((sums["CA"] - 80_000).abs() < 1_000);
    ///
    /// let spent = Attribute::new("spent", |row: &(&str, i64)| row.1 as f64);
    /// let means = Mean::of(spent, 0.0..=100.0).by(state).gaussian(rho!(0.5))?;
    /// let means = filter.release(&means)?;
    /// assert!((means["NY"].value() - 80.0).abs() < 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn by<L: Labels>(self, partition: Partition<D, L>) -> By<Self, Partition<D, L>> {
        By {
            statistic: self,
            partition,
        }
    }

    /// By how much the totals of all groups change where a row is replaced by one of the same or
    /// another group.
    ///
    /// # Errors
    ///
    /// As for [`Query::change`].
    fn moved(&self) -> Result<Change, MechanismError> {
        self.change()?.moved()
    }
}

/// A statistic in each group of a [`Partition`] ([`Grouped::by`]); rows of no group are in none.
///
/// # Guarantee
///
/// A row that is added or removed is in one group at most, and changes its totals alone, by what it
/// changes without groups. One that is replaced may leave one group and join another: it changes
/// what [`Grouped::moved`] says. The number of rows in a group is not public even then, so means
/// have noisy denominators in every group.
#[doc(alias = "per group")]
#[doc(alias = "group by")]
#[derive(Clone, Debug)]
pub struct By<S, P> {
    statistic: S,
    partition: P,
}

impl<S, D, L, R> Query<R> for By<S, Partition<D, L>>
where
    S: Grouped<D>,
    D: Dataset + ?Sized,
    L: Labels,
    R: RowRelation,
{
    type Answer = L::Of<S::Answer>;
    type Form = Once;
    type Value = S::Value;

    fn bounded_for(self, norm: Norm) -> Self {
        Self {
            statistic: self.statistic.bounded_for(norm),
            ..self
        }
    }

    fn change(&self) -> Result<Change, MechanismError> {
        BINS.check(
            self.partition
                .bins()
                .saturating_mul(self.statistic.totals()),
        )?;
        if R::REPLACES {
            self.statistic.moved()
        } else {
            self.statistic.change()
        }
    }

    fn totals(&self) -> usize {
        self.partition.bins() * self.statistic.totals()
    }

    fn answer(&self, totals: &[i128]) -> Self::Answer {
        let groups = totals.chunks_exact(self.statistic.totals().max(1));
        let answers = groups.map(|totals| self.statistic.answer(totals));
        self.partition.labels.label(answers.collect())
    }

    fn scale(&self) -> <S::Value as Statistic>::Scale {
        self.statistic.scale()
    }

    fn noise(&self, each: Noise) -> Noise {
        self.statistic.noise(each)
    }

    fn describe(&self) -> Description {
        let statistic = self.statistic.describe();
        self.partition.describe(statistic)
    }

    fn about(&self) -> About {
        self.statistic.about()
    }
}

impl<S, D, L, R> Tally<D, R> for By<S, Partition<D, L>>
where
    S: Grouped<D>,
    D: Dataset + ?Sized,
    L: Labels,
    R: RowRelation,
{
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        tallied(self, data, totals);
        Ok(())
    }
}

impl<S, D, L> Contributes<D> for By<S, Partition<D, L>>
where
    S: Grouped<D>,
    D: Dataset + ?Sized,
    L: Labels,
{
    /// Where the statistic says, in the totals of the group.
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let (groups, _) = self.partition.bin.values(data, records.clone());
        let mut added = self.statistic.contributions(data, records);
        for (place, group) in added.places.iter_mut().zip(groups) {
            let inside = place.saturating_add(self.width()) <= self.statistic.totals();
            *place = match inside && group < self.partition.bins() {
                true => group * self.statistic.totals() + *place,
                false => usize::MAX,
            };
        }
        added
    }

    fn width(&self) -> usize {
        self.statistic.width()
    }

    fn payable(&self) -> Result<(), UnknownLoss> {
        self.statistic.payable()
    }
}
