//! A private way to find the range of a column.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::super::{AboveThreshold, Accuracy, Counts, MechanismError, RowRelation, shown};
use super::of_table;
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Machine, Mechanism, Public, Released,
};
use crate::mechanisms::About;
use crate::number::{Confidence, Epsilon};
use crate::privacy::{AddRemove, Distance, Measure, Private, Relation, UnknownLoss};
use crate::table::{Condition, Kind, Schema, TableError, Value, col};

/// Powers of two between which a column's numbers are, but for those of a few people.
///
/// Use it to choose the range of a [sum](Schema::sum) or a [mean](Schema::mean) where nobody knows one. It
/// answers two ends, each zero or a power of two, plus or minus; or none, if there are too few people.
///
/// ```
/// use queryables::prelude::*;
/// use queryables::table::{Column, Kind, RowTable, Schema, Value};
/// use std::sync::Arc;
///
/// let schema = Schema::of_rows([Column::new("income", Kind::Whole)])?;
/// let rows = (0..10_000_i64).map(|person| vec![Some(Value::from(7 * person))]).collect();
/// let table = Arc::new(RowTable::new(&schema, rows)?);
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(3)), table)?;
///
/// // But for about 220 people at each end.
/// let search = schema.find_range(AddRemove, "income", 220, epsilon!(2))?;
/// let range = filter.release(&search)?.ok_or("too few people")?;
/// assert_eq!(range, 1_024.0..=131_072.0);
/// let mean = schema.mean("income")?.clamped(range).laplace(epsilon!(1))?;
/// println!("{:?}", filter.release(&mean)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it is not good for
///
/// It finds neither a minimum nor a maximum, and what the few people outside have is clamped: a sum of which
/// a few people hold most is lost. An end is right up to a factor of two. Where `outside` is less than the
/// [accuracy](Accuracy), noise decides. Each end takes up to 143 passes over the table. A range that is
/// known from elsewhere costs nothing.
///
/// # Guarantee
///
/// ε-DP: it asks an [`AboveThreshold`] with two hits, first whether at least `outside` people have a row above
/// an edge, from the highest edge down, until one hit; then the same from below. What it asks depends on the
/// answers alone, and what it answers is computed from them (Haney et al. 2.1).
pub struct FindRange<R = AddRemove> {
    search: AboveThreshold<Condition, R>,
    column: String,
    /// From the lowest to the highest.
    edges: Arc<[f64]>,
    /// Whether a row is above each edge, and below.
    above: Arc<[Condition]>,
    below: Arc<[Condition]>,
}

/// The highest edge is 2 to this power: ranges end there.
const HIGHEST: i32 = 50;
/// The edge of real numbers next to zero.
const LOWEST: i32 = -20;

impl Schema {
    /// The powers of two between which the numbers of a column are, but for those of about `outside` people at
    /// each end.
    /// [`FindRange`](crate::mechanisms::table::FindRange) has an example.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if there is no such column of numbers, ε is zero, or `outside` is.
    pub fn find_range<R: RowRelation>(
        &self,
        relation: R,
        column: &str,
        outside: u32,
        epsilon: Epsilon,
    ) -> Result<FindRange<R>, MechanismError> {
        let (_, stated) = self.column(column)?;
        let lowest = match stated.kind() {
            Kind::Whole => 0,
            Kind::Real => LOWEST,
            found => {
                let what = col(column).to_string();
                return Err(TableError::NotANumber { what, found }.into());
            }
        };
        if outside == 0 {
            let (what, must) = ("the number of people outside", "at least 1");
            return Err(MechanismError::parameter(what, outside, must));
        }
        let powers = (lowest..=HIGHEST).map(|power| libm::scalbn(1.0, power));
        let negative = powers.clone().rev().map(|power| -power);
        let edges: Arc<[f64]> = negative.chain([0.0]).chain(powers).collect();
        let value = |edge: &f64| match stated.kind() {
            // Whole, and far below 2^63.
            Kind::Whole => Value::Whole(*edge as i64),
            _ => Value::Real(*edge),
        };
        let above = edges
            .iter()
            .map(|edge| self.condition(col(column).gt(value(edge))));
        let below = edges
            .iter()
            .map(|edge| self.condition(col(column).lt(value(edge))));
        Ok(FindRange {
            search: AboveThreshold::new(relation, outside.into(), 2, epsilon)?,
            column: column.to_owned(),
            above: above.collect::<Result<_, _>>()?,
            below: below.collect::<Result<_, _>>()?,
            edges,
        })
    }
}

impl<R: Relation> FindRange<R> {
    fn description(&self) -> Description {
        let description = self.search.parameters("FindRange");
        let description = description
            .with("column", col(&self.column))
            .with("edges", self.edges.len());
        match self.above.first() {
            Some(condition) => of_table(condition.schema(), description),
            None => description,
        }
    }
}

impl<D: Counts<Condition> + ?Sized, R: Relation> Mechanism<D> for FindRange<R> {
    type Machine = Released<Option<RangeInclusive<f64>>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let mut search = self.search.start(data, coins)?;
        let mut hits = |condition: &Condition| search.step(condition.clone(), coins);
        let (mut low, mut high) = (None, None);
        // Where many are beyond the last edge, the range ends there.
        for (place, condition) in self.above.iter().enumerate().rev() {
            if hits(condition)? {
                high = Some(self.edges.get(place + 1).or(self.edges.last()));
                break;
            }
        }
        if high.is_none() {
            return Ok(Released(None));
        }
        for (place, condition) in self.below.iter().enumerate() {
            if hits(condition)? {
                low = Some(self.edges.get(place.saturating_sub(1)));
                break;
            }
        }
        let ends = (low.flatten(), high.flatten());
        let (Some(low), Some(high)) = ends else {
            return Ok(Released(None));
        };
        Ok(Released((low < high).then_some(*low..=*high)))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        // All are about one column of one schema. A check may be a round trip to an engine.
        let mut conditions = self.above.iter().take(1);
        conditions.try_for_each(|condition| D::check(data, condition))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<Me, R> Private<Me, R> for FindRange<R>
where
    Me: Measure,
    R: Relation,
    AboveThreshold<Condition, R>: Private<Me, R>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.search.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.search.loss_at(measure, distance)
    }
}

/// How far the number of people outside an end is from the one that was asked for, for each question.
impl<R> Accuracy for FindRange<R> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        self.search.accuracy(confidence)
    }

    fn about(&self) -> About {
        self.search.about()
    }
}

shown!(impl[R: Relation] FindRange<R>);

crate::clone_fields!([R] FindRange<R> { search, column, edges, above, below });
