//! People in public groups: choices, quantiles and counts over time.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::super::choice::Ranked;
use super::super::factorized_count::Factorized;
use super::super::{
    About, ContinualCount, CountsBy, Evaluate, GaussianLoss, GaussianNoise, MechanismError, Noised,
    NoisyQuantiles, RowRelation, Score, Sensitivity, Source, Unavailable,
};
use super::query::{One, PerGroup, TableQuery};
use super::report::key_of;
use super::statistic::RowsOf;
use super::{described, fits};
use crate::machine::{Description, DomainMismatch, Public};
use crate::number::Epsilon;
use crate::privacy::AddRemove;
use crate::table::{Amount, Bound, Grouping, Keys, Parts, Person, Plan, Table, TableError, Value};

/// The number of people in each group, where each person is in one of them: the first in which they have a
/// row. Where each row is a person, the number of rows.
///
/// It is what [quantiles](TableQuery::quantiles) and [counts over time](TableQuery::over_time) are made of.
///
/// # Guarantee
///
/// One person changes one count by one: [`Bound::First`].
#[derive(Clone, Debug)]
pub struct FirstGroups {
    plan: Plan,
}

/// The groups of a table as candidates of a [`Choice`](crate::mechanisms::Choice), scored by the number of people who have a row there.
/// Made by [`TableQuery::scores`], which has an example.
///
/// # Guarantee
///
/// With at most k rows of one person in each group, one who is added or removed changes no score by more than
/// k, and all in one direction: scores move apart by at most k. One who is replaced may lower one score by k
/// and raise another by k. The tally clamps each group by itself ([`Bound::Each`]): nothing is scaled.
#[derive(Clone, Debug)]
pub struct GroupScores {
    plan: Plan,
    most: u64,
}

/// Quantiles of a column, over a public list of edges. Made by [`TableQuery::quantiles`].
pub type TableQuantiles<R = AddRemove> = NoisyQuantiles<FirstGroups, R>;

/// People over time. Made by [`TableQuery::factorized_over_time`].
pub type TableContinualCount<R = AddRemove> = Noised<Factorized<FirstGroups>, GaussianNoise, R>;

impl TableQuery<RowsOf, PerGroup> {
    /// The groups as candidates of a choice: which one has the most people? It takes one pass over the table.
    ///
    /// ```
    /// use queryables::mechanisms::{Choice, PermuteAndFlip};
    /// use queryables::prelude::*;
    /// use queryables::table::{Column, RowTable, Schema};
    /// use std::sync::Arc;
    ///
    /// let schema = Schema::of_rows([Column::categories("state", ["CA", "NY", "TX"])])?;
    /// let rows = ["CA", "NY", "NY", "TX"].repeat(1000);
    /// let rows = rows.into_iter().map(|state| vec![Some(state.into())]).collect();
    /// let table = Arc::new(RowTable::new(&schema, rows)?);
    /// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
    ///
    /// let states = schema.count().by("state")?.scores()?;
    /// let largest = Choice::by(AddRemove, PermuteAndFlip, states.clone(), epsilon!(0.5))?;
    /// let largest = filter.release(&largest)?;
    /// assert_eq!(states.key(largest), ["NY"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if there are too many groups, or the number of rows of a person is out of its
    /// range.
    pub fn scores(&self) -> Result<GroupScores, MechanismError> {
        self.check_rows()?;
        let (bound, most) = match self.schema.person() {
            Person::EachRow => (Bound::Row, 1),
            Person::Column(_) => (Bound::Each(self.rows), self.rows),
        };
        Ok(GroupScores {
            plan: self.tallied(bound)?,
            most,
        })
    }

    /// Quantiles a/b of a column, over the edges of its buckets. Each answer is a bucket: its two edges. A
    /// person with several rows counts once, in the least bucket; rows outside all buckets do not count.
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use queryables::table::{Column, Kind, RowTable, Schema, Value};
    /// use std::sync::Arc;
    ///
    /// let schema = Schema::of_rows([Column::new("income", Kind::Whole)])?;
    /// let rows = (0..10_000_i64).map(|person| vec![Some(Value::from(7 * person))]).collect();
    /// let table = Arc::new(RowTable::new(&schema, rows)?);
    /// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
    ///
    /// let thousands = (0..=100).map(|edge| 1000 * edge);
    /// let incomes = schema.count().by_buckets("income", thousands)?;
    /// let median = incomes.quantiles(AddRemove, [(1, 2)], epsilon!(0.5))?;
    /// let found = filter.release(&median)?;
    /// let [(Value::Whole(low), Value::Whole(high))] = found[..] else { unreachable!() };
    /// assert!(low <= 36_000 && high >= 34_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Guarantee
    ///
    /// That of [`NoisyQuantiles`](super::super::NoisyQuantiles), where the numbers are those of the buckets:
    /// a person has one, or none.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if the groups are not the buckets of one column, and as
    /// [there](super::super::NoisyQuantiles).
    pub fn quantiles<R: RowRelation>(
        &self,
        relation: R,
        quantiles: impl IntoIterator<Item = (u32, u32)>,
        epsilon: Epsilon,
    ) -> Result<TableQuantiles<R>, MechanismError> {
        let groups = self.first_groups()?;
        let last = i64::try_from(groups.plan.groups()).unwrap_or(i64::MAX) - 1;
        NoisyQuantiles::new(relation, groups, 0..=last, quantiles, epsilon)
    }

    /// The number of people so far, at every edge of the buckets of a column of times: a query is the number
    /// t of buckets that have passed, and the answer counts the people whose first row is in one of them.
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use queryables::table::{Column, Kind, RowTable, Schema, Value};
    /// use std::sync::Arc;
    ///
    /// let columns = [Column::new("guest", Kind::Whole), Column::new("day", Kind::Whole)];
    /// let schema = Schema::of_people("guest", columns)?;
    /// let visit = |guest: i64, day: i64| vec![Some(guest.into()), Some(Value::from(day))];
    /// // Each day a hundred new guests; everybody comes again on the last day.
    /// let visits = (0..2800).flat_map(|guest| [visit(guest, guest / 100), visit(guest, 27)]);
    /// let table = Arc::new(RowTable::new(&schema, visits.collect())?);
    /// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
    ///
    /// let guests = schema.count().by_buckets("day", 0..=28)?.over_time()?;
    /// let guests = filter.launch(&guests.laplace(epsilon!(1))?)?;
    /// assert!((guests.ask(14)? - 1400).abs() < 500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Guarantee
    ///
    /// That of [`ContinualCount`]: a person arrives once, or not at all. The table is complete when it is
    /// asked.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if the groups are not the buckets of one column.
    pub fn over_time(&self) -> Result<ContinualCount<FirstGroups>, MechanismError> {
        let groups = self.first_groups()?;
        let horizon = groups.plan.groups() as u64;
        Ok(ContinualCount::of(groups, horizon))
    }

    /// The same as [`over_time`](Self::over_time) with much less noise, for a ρ or a μ: a
    /// [`FactorizedContinualCount`](super::super::FactorizedContinualCount) over the edges of the buckets.
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use queryables::table::{Column, Kind, RowTable, Schema, Value};
    /// use std::sync::Arc;
    ///
    /// let columns = [Column::new("guest", Kind::Whole), Column::new("day", Kind::Whole)];
    /// let schema = Schema::of_people("guest", columns)?;
    /// let visit = |guest: i64, day: i64| vec![Some(guest.into()), Some(Value::from(day))];
    /// let visits = (0..2800).flat_map(|guest| [visit(guest, guest / 100), visit(guest, 27)]);
    /// let table = Arc::new(RowTable::new(&schema, visits.collect())?);
    /// let filter = start(&Filter::concurrent(ZCdp, rho!(0.5)), table)?;
    ///
    /// let days = schema.count().by_buckets("day", 0..=28)?;
    /// let guests = filter.launch(&days.factorized_over_time(AddRemove, rho!(0.5))?)?;
    /// assert!((guests.ask(14)? - 1400).abs() < 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Guarantee
    ///
    /// That of [`FactorizedContinualCount`](super::super::FactorizedContinualCount): a person arrives once, or
    /// not at all ([`Bound::First`]). The table is complete when it is asked.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if the groups are not the buckets of one column, and as
    /// [there](super::super::FactorizedContinualCount).
    pub fn factorized_over_time<R: RowRelation>(
        &self,
        relation: R,
        loss: impl GaussianLoss,
    ) -> Result<TableContinualCount<R>, MechanismError> {
        let groups = self.first_groups()?;
        let horizon = groups.plan.groups() as u64;
        TableContinualCount::new(relation, groups, horizon, loss)
    }

    /// Each person in one bucket.
    pub(super) fn first_groups(&self) -> Result<FirstGroups, MechanismError> {
        let [grouping] = self.groupings() else {
            return Err(not_buckets(self.groupings()));
        };
        if !matches!(grouping.groups(), Keys::Buckets(_)) {
            return Err(not_buckets(self.groupings()));
        }
        if self.rows != 1 {
            let (what, must) = (
                "the number of rows of a person",
                "1, because each person is in one bucket",
            );
            return Err(MechanismError::parameter(what, self.rows, must));
        }
        Ok(FirstGroups {
            plan: self.tallied(Bound::First)?,
        })
    }

    /// The plan that counts rows, one step each.
    fn tallied(&self, bound: Bound) -> Result<Plan, MechanismError> {
        Ok(Plan::new(
            &self.schema,
            self.condition.clone(),
            (Amount::one(0)?, Parts::Value),
            self.groupings().to_vec(),
            bound,
        )?)
    }
}

fn not_buckets(groupings: &[Grouping]) -> MechanismError {
    let column = groupings.first().map(Grouping::column);
    let column = column.unwrap_or_default().to_owned();
    let problem = "must be grouped by buckets, and nothing else must be";
    TableError::BadColumn { column, problem }.into()
}

impl GroupScores {
    /// What a candidate is: a label for each grouped column.
    #[must_use]
    pub fn key(&self, candidate: usize) -> Vec<String> {
        key_of(self.plan.groupings(), candidate)
    }
}

impl<R: RowRelation> Score<R> for GroupScores {
    fn candidates(&self) -> usize {
        self.plan.groups()
    }

    fn sensitivity(&self) -> Sensitivity {
        if R::REPLACES {
            Sensitivity::each(self.most)
        } else {
            Sensitivity::monotone(self.most)
        }
    }

    fn description(&self) -> Description {
        described(&self.plan, Description::new("Groups")).with("rows of a person", self.most)
    }
}

impl<T: Table + ?Sized> Evaluate<T> for GroupScores {
    fn check(&self, data: Public<'_, T>) -> Result<(), DomainMismatch> {
        fits(self.plan.schema(), data)
    }

    fn evaluate(&self, data: &T, scores: &mut [i64]) -> Result<(), Unavailable> {
        let totals = data.tally(&self.plan)?;
        if totals.len() != scores.len() {
            return Err(Unavailable);
        }
        for (score, total) in scores.iter_mut().zip(totals) {
            *score = i64::try_from(total).unwrap_or(i64::MAX);
        }
        Ok(())
    }
}

impl Source for FirstGroups {
    fn name(&self) -> Cow<'_, str> {
        let column = self.plan.groupings().first().map(Grouping::column);
        column.unwrap_or_default().into()
    }

    fn describe(&self, _: &'static str, description: Description) -> Description {
        described(&self.plan, description)
    }

    /// Nothing is clamped: what is outside all buckets is left out.
    fn about_in(&self, _: &RangeInclusive<i64>) -> About {
        let about = About::all_rows().with("in buckets");
        match self.plan.schema().person() {
            Person::EachRow => about,
            Person::Column(_) => about.with("each person in their least one"),
        }
    }
}

impl Ranked for FirstGroups {
    type Value = (Value, Value);

    /// The edges of a bucket.
    fn value(&self, number: i64) -> (Value, Value) {
        let place = usize::try_from(number).unwrap_or_default();
        let grouping = self.plan.groupings().first();
        let edges = grouping.map(|grouping| match grouping.groups() {
            Keys::Values(values) | Keys::Buckets(values) => values.as_slice(),
        });
        match edges.and_then(|edges| edges.get(place..)) {
            Some([low, high, ..]) => (low.clone(), high.clone()),
            // There is no such bucket.
            _ => (Value::Bool(false), Value::Bool(false)),
        }
    }
}

impl<T: Table + ?Sized> CountsBy<T, u64> for FirstGroups {
    fn check(&self, data: Public<'_, T>) -> Result<(), DomainMismatch> {
        fits(self.plan.schema(), data)
    }

    fn counts(&self, data: &T) -> Result<Vec<(u64, u64)>, Unavailable> {
        let totals = data.tally(&self.plan)?;
        let counted = (0..).zip(totals).map(|(group, total)| {
            let total = u64::try_from(total).map_err(|_| Unavailable)?;
            Ok((group, total))
        });
        counted.collect()
    }
}

impl<T: Table + ?Sized> CountsBy<T, i64> for FirstGroups {
    fn check(&self, data: Public<'_, T>) -> Result<(), DomainMismatch> {
        CountsBy::<T, u64>::check(self, data)
    }

    fn counts(&self, data: &T) -> Result<Vec<(i64, u64)>, Unavailable> {
        let counts = CountsBy::<T, u64>::counts(self, data)?;
        Ok((0..)
            .zip(counts)
            .map(|(group, (_, count))| (group, count))
            .collect())
    }
}

impl TableQuery<RowsOf, One> {
    /// The number of people with each value of a column, for values that nobody listed. It waits for its
    /// noise and a threshold: [`TableKeys`](super::TableKeys).
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column of whole numbers or texts, or if
    /// [several rows of a person](TableQuery::rows_per_person) are to count: each person has one key.
    pub fn keys(&self, column: &str) -> Result<super::TableKeys, TableError> {
        if self.rows != 1 {
            let problem = "each person has one key: leave out the number of rows of a person";
            return Err(TableError::BadAmount(problem));
        }
        super::TableKeys::new(&self.schema, self.condition.clone(), column)
    }
}
