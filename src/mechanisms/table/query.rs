//! A statistic of the rows that satisfy a condition, in each group, with a bound for each person.

use std::marker::PhantomData;

use super::super::lattice::of_steps;
use super::super::query::Norm;
use super::super::{
    About, Change, MechanismError, Once, Query, RealRange, RowRelation, Statistic, Tally,
    Unavailable,
};
use super::change::change_of;
use super::statistic::{OfNumbers, TableStatistic};
use super::steps::{MOST_ROWS, SCALED_ROW, Stated};
use super::{MeanOf, RowsOf, SumOf, VarianceOf};
use super::{fits, json, of_table};
use crate::machine::{Description, DomainMismatch, Public};
use crate::noise::Noise;
use crate::table::{
    Amount, Bound, Condition, Domain, Expr, Grouping, IntoExpr, Kind, Number, Parts, Person, Plan,
    Schema, Table, TableError, Value,
};

/// A statistic of a table ([`Schema::count`], [`sum`](Schema::sum), [`mean`](Schema::mean),
/// [`variance`](Schema::variance)), which waits for its noise
/// ([`QueryExt`](super::super::QueryExt)). The [module](super) has an example.
///
/// # Guarantee
///
/// Neighbours differ by one *person*, as the schema says who that is. What a person adds is bounded as
/// the [`Plan`] says, and the noise follows from the same plan.
#[derive(Clone, Debug)]
pub struct TableQuery<S, G = One> {
    pub(super) schema: Schema,
    pub(super) condition: Option<Condition>,
    number: Option<Number>,
    range: Option<Stated>,
    groupings: Vec<Grouping>,
    pub(super) rows: u64,
    norm: Norm,
    of: PhantomData<(S, G)>,
}

/// One value.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
#[derive(Clone, Copy, Debug)]
pub struct One;

/// One value for each group, in the order of the groups.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
#[derive(Clone, Copy, Debug)]
pub struct PerGroup;

/// How values become an answer.
pub trait Shape: Clone + Send + Sync {
    #[doc(hidden)]
    type Of<V>;
    #[doc(hidden)]
    fn shape<V>(first: V, others: impl Iterator<Item = V>) -> Self::Of<V>;
}

impl Shape for One {
    type Of<V> = V;

    fn shape<V>(first: V, _: impl Iterator<Item = V>) -> V {
        first
    }
}

impl Shape for PerGroup {
    type Of<V> = Vec<V>;

    fn shape<V>(first: V, others: impl Iterator<Item = V>) -> Vec<V> {
        std::iter::once(first).chain(others).collect()
    }
}

impl Schema {
    /// The number of people with a row, or with [`rows_per_person`](TableQuery::rows_per_person) the number of
    /// rows. In groups, a person who is in several of them counts as a part of one in each.
    #[must_use]
    pub fn count(&self) -> TableQuery<RowsOf> {
        TableQuery::new(self, None)
    }

    /// The sum of a number, clamped to the range of its column, or to [another](TableQuery::clamped).
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, or it is no number.
    pub fn sum(&self, number: impl IntoExpr) -> Result<TableQuery<SumOf>, TableError> {
        Ok(TableQuery::new(self, Some(self.number(number)?)))
    }

    /// The mean of a number, clamped to the range of its column, or to [another](TableQuery::clamped).
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, or it is no number.
    pub fn mean(&self, number: impl IntoExpr) -> Result<TableQuery<MeanOf>, TableError> {
        Ok(TableQuery::new(self, Some(self.number(number)?)))
    }

    /// The variance of a number, clamped to the range of its column, or to
    /// [another](TableQuery::clamped).
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, or it is no number.
    pub fn variance(&self, number: impl IntoExpr) -> Result<TableQuery<VarianceOf>, TableError> {
        Ok(TableQuery::new(self, Some(self.number(number)?)))
    }
}

impl<S, G> TableQuery<S, G> {
    fn new(schema: &Schema, number: Option<Number>) -> Self {
        let range = number.as_ref().and_then(|number| stated(schema, number));
        Self {
            schema: schema.clone(),
            condition: None,
            number,
            range,
            groupings: Vec::new(),
            rows: 1,
            norm: Norm::L1,
            of: PhantomData,
        }
    }

    /// Of the rows that satisfy a condition only.
    ///
    /// # Errors
    ///
    /// [`TableError`] if the condition does not fit the schema.
    pub fn filter(self, condition: impl IntoExpr) -> Result<Self, TableError> {
        let condition = condition.into_expr()?;
        let condition = match &self.condition {
            None => condition,
            Some(other) => other.expr().clone() & condition,
        };
        Ok(Self {
            condition: Some(self.schema.condition(condition)?),
            ..self
        })
    }

    /// With numbers clamped to this range: `0.0..=80.0`, or whole numbers.
    #[must_use]
    pub fn clamped(self, range: impl Into<RealRange>) -> Self
    where
        S: OfNumbers,
    {
        let range = range.into();
        Self {
            range: Some(Stated {
                range,
                whole: range.is_exact(),
                stepped: range.has_step() && !range.is_exact(),
            }),
            ..self
        }
    }

    /// With at most this number of rows of one person, or what that many rows can add; those of a person who
    /// has more weigh less. It is 1 by default, and stays 1 where each row is a person.
    #[must_use]
    pub fn rows_per_person(self, rows: u64) -> Self {
        Self { rows, ..self }
    }

    /// In each category of a column.
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, or it has no categories.
    pub fn by(self, column: &str) -> Result<TableQuery<S, PerGroup>, TableError> {
        let grouping = Grouping::of(&self.schema, column)?;
        Ok(self.grouped(grouping))
    }

    /// From each edge of a column up to, and without, the next one.
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, or the edges do not fit it.
    pub fn by_buckets<V: Into<Value>>(
        self,
        column: &str,
        edges: impl IntoIterator<Item = V>,
    ) -> Result<TableQuery<S, PerGroup>, TableError> {
        let grouping = Grouping::buckets(&self.schema, column, edges)?;
        Ok(self.grouped(grouping))
    }

    /// In groups, one more for each of those that are there.
    #[must_use]
    pub fn grouped(self, grouping: Grouping) -> TableQuery<S, PerGroup> {
        let mut groupings = self.groupings;
        groupings.push(grouping);
        TableQuery {
            schema: self.schema,
            condition: self.condition,
            number: self.number,
            range: self.range,
            groupings,
            rows: self.rows,
            norm: self.norm,
            of: PhantomData,
        }
    }

    /// The groupings, in their order.
    #[must_use]
    pub fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }
}

/// The range of a column, where the number is one and has one.
fn stated(schema: &Schema, number: &Number) -> Option<Stated> {
    let Expr::Column(column) = number.expr() else {
        return None;
    };
    let (_, column) = schema.column(column).ok()?;
    let Some(Domain::Range(low, high)) = column.domain() else {
        return None;
    };
    let range = match (low, high) {
        (Value::Whole(low), Value::Whole(high)) => RealRange::of_whole_numbers(*low..=*high),
        (Value::Real(low), Value::Real(high)) => RealRange::from(*low..=*high),
        _ => return None,
    };
    Some(Stated {
        range,
        whole: column.kind() == Kind::Whole,
        stepped: false,
    })
}

impl<S: TableStatistic, G> TableQuery<S, G> {
    /// Whether the numbers of one person are several, and are scaled together.
    fn is_scaled(&self) -> bool {
        let several = S::PARTS != Parts::Value || !self.groupings.is_empty();
        several && *self.schema.person() != Person::EachRow
    }

    /// The range of amounts, in steps.
    fn range(&self) -> Result<RealRange, MechanismError> {
        if self.number.is_none() {
            let exponent = if self.is_scaled() { SCALED_ROW } else { 0 };
            return Ok(RealRange::of_multiples(0.0..=1.0, exponent));
        }
        let Some(stated) = self.range else {
            let number = self.number.as_ref().map(ToString::to_string);
            let number = number.unwrap_or_default();
            return Err(TableError::NoRange { number }.into());
        };
        Ok(stated.in_steps(S::PARTS, self.rows, self.is_scaled()))
    }

    /// What is tallied.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if there is no range, or a parameter is out of its own.
    pub fn plan(&self) -> Result<Plan, MechanismError> {
        self.check_rows()?;
        let range = self.range()?.in_steps();
        let range = range.map_err(|error| match &self.number {
            None => error,
            Some(number) => error.of_attribute(&number.to_string()),
        })?;
        let (low, high) = range.range().into_inner();
        let amount = match &self.number {
            None => Amount::one(range.exponent)?,
            Some(number) => Amount::of(number.clone(), range.exponent, low, high)?,
        };
        // Where the numbers of a person are not scaled by rows, each row is a number.
        let most = low.unsigned_abs().max(high.unsigned_abs());
        let most = most.checked_mul(self.rows).ok_or(MechanismError::TooFine)?;
        let bound = match (self.schema.person(), S::PARTS, self.norm) {
            (Person::EachRow, ..) => Bound::Row,
            (_, Parts::Mean | Parts::Variance, _) => Bound::Rows(self.rows),
            (_, Parts::Value, _) if self.groupings.is_empty() => Bound::Each(most),
            (_, Parts::Value, Norm::L1) => Bound::L1(most),
            (_, Parts::Value, Norm::L2) => Bound::L2(most),
        };
        Ok(Plan::new(
            &self.schema,
            self.condition.clone(),
            (amount, S::PARTS),
            self.groupings.clone(),
            bound,
        )?)
    }

    pub(super) fn check_rows(&self) -> Result<(), MechanismError> {
        let (most, must) = match self.schema.person() {
            Person::EachRow => (1, "1, because each row is a person"),
            _ if self.is_scaled() => (MOST_ROWS, "from 1 to 2^14"),
            _ => (1 << 20, "from 1 to 2^20"),
        };
        if (1..=most).contains(&self.rows) {
            return Ok(());
        }
        let what = "the number of rows of a person";
        Err(MechanismError::parameter(what, self.rows, must))
    }

    /// What becomes of a person with many rows, in words.
    fn per_person(&self) -> Option<String> {
        let plan = self.plan().ok()?;
        let exponent = plan.amount().exponent();
        let units = |steps: u64| of_steps(steps.into(), exponent);
        let to = match plan.bound() {
            Bound::Row | Bound::First => return None,
            Bound::Each(most) => return Some(format!("at most {} from each person", units(most))),
            Bound::L1(most) => format!("a sum of {}", units(most)),
            Bound::L2(most) => format!("a norm of {}", units(most)),
            Bound::Rows(most) => format!("{most} rows"),
        };
        Some(format!(
            "each person scaled to {to} at most, in steps of 2^{exponent}"
        ))
    }

    fn inner(&self) -> S::Inner {
        let range = self
            .range()
            .unwrap_or(RealRange::of_multiples(0.0..=1.0, 0));
        S::inner(self.number.as_ref(), range)
    }
}

impl<S: TableStatistic, G: Shape, R: RowRelation> Query<R> for TableQuery<S, G> {
    type Answer = G::Of<S::Value>;
    type Form = Once;
    type Value = S::Value;

    fn bounded_for(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    fn change(&self) -> Result<Change, MechanismError> {
        change_of::<R>(&self.plan()?)
    }

    fn totals(&self) -> usize {
        // A plan with as many as that is refused, and the product must not overflow before.
        let groups = self.groupings.iter().map(Grouping::len);
        groups.fold(S::PARTS.len(), usize::saturating_mul)
    }

    fn answer(&self, totals: &[i128]) -> Self::Answer {
        let inner = self.inner();
        let parts = S::PARTS.len();
        let first = totals.get(..parts).unwrap_or_default();
        let others = totals.get(parts..).unwrap_or_default();
        let others = others.chunks_exact(parts);
        G::shape(
            inner.answer(first),
            others.map(|totals| inner.answer(totals)),
        )
    }

    fn scale(&self) -> <S::Value as Statistic>::Scale {
        self.inner().scale()
    }

    fn noise(&self, each: Noise) -> Noise {
        self.inner().noise(each)
    }

    fn describe(&self) -> Description {
        let mut description = self.inner().describe();
        if let Some(condition) = &self.condition {
            description = description.with("where", condition);
        }
        for grouping in &self.groupings {
            description = description.with("by", grouping);
        }
        if let Some(bounded) = self.per_person() {
            description = description.with("person", bounded);
        }
        let (number, condition) = (self.number.as_ref(), self.condition.as_ref());
        let question = json(number, condition, &self.groupings);
        of_table(&self.schema, description.with_json("question", question))
    }

    fn about(&self) -> About {
        let about = self.inner().about();
        match self.per_person() {
            None => about,
            Some(bounded) => about.with(bounded),
        }
    }
}

impl<S, G, T, R> Tally<T, R> for TableQuery<S, G>
where
    S: TableStatistic,
    G: Shape,
    T: Table + ?Sized,
    R: RowRelation,
{
    fn check(&self, data: Public<'_, T>) -> Result<(), DomainMismatch> {
        fits(&self.schema, data)
    }

    fn tally(&self, data: &T, totals: &mut [i128]) -> Result<(), Unavailable> {
        let plan = self.plan().map_err(|_| Unavailable)?;
        let tallied = data.tally(&plan)?;
        if tallied.len() != totals.len() {
            return Err(Unavailable);
        }
        totals.copy_from_slice(&tallied);
        Ok(())
    }
}
