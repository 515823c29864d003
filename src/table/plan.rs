//! What a table is asked to tally: whole numbers, bounded for each person.

use super::{Bound, Condition, Grouping, Number, Schema, TableError, Value};

/// What is tallied: for each group, the amounts of the rows that satisfy a condition, bounded for each
/// person.
///
/// It is public, and one value of it serves both sides: a table computes what it says, and a mechanism
/// prices what it says.
///
/// Example: [`RowTable`](crate::table::RowTable).
///
/// # What is computed
///
/// 1. The rows where the condition is true, the person is known, and every grouping has a group.
/// 2. For each such row the [`Amount`], and from it one to three whole numbers ([`Parts`]).
/// 3. For each person the sums of these numbers in each group, bounded by [`Bound`]. Where the bound asks
///    for a person's number of rows, it is that of the rows of step 1.
/// 4. The sum over all people: `groups() · parts` totals, group by group. Those of a group without rows
///    are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    schema: Schema,
    condition: Option<Condition>,
    amount: Amount,
    parts: Parts,
    groupings: Vec<Grouping>,
    bound: Bound,
}

/// The largest number of totals that a plan may have.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
pub const MOST_TOTALS: usize = 1 << 20;

/// The most that one row may add: 2^64 of them have a sum that 38 digits hold.
const MOST_ROW: u128 = 1 << 62;

/// A number for each row, in whole steps of 2^`exponent`, clamped to a range after everything else.
///
/// A number x is `floor(x · 2^-exponent + 1/2)`, in IEEE doubles, and then clamped. A whole number is
/// clamped to ±2^50 before, so that a double holds it exactly. A missing number is the number of the range
/// that is nearest to zero.
///
/// Example: [`RowTable`](crate::table::RowTable).
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    number: Option<Number>,
    exponent: i32,
    low: i64,
    high: i64,
}

/// The largest number of steps that an amount may have: doubles hold it and its halves exactly.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
pub const MOST_STEPS: i64 = 1 << 50;

/// The whole numbers that a row adds, made of its amount v in the range from `low` to `high`, with
/// u = v − low and w = high − low.
///
/// Example: [`RowTable`](crate::table::RowTable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parts {
    /// v: for counts and sums.
    Value,
    /// u and w − u, which add up to w: for means.
    Mean,
    /// u², 2u(w − u) and (w − u)², which add up to w²: for variances.
    Variance,
}

impl Parts {
    /// How many numbers there are.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Value => 1,
            Self::Mean => 2,
            Self::Variance => 3,
        }
    }

    /// Never.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }
}

impl Amount {
    /// One for each row, in steps of 2^`exponent`.
    ///
    /// # Errors
    ///
    /// [`TableError::BadAmount`] if the exponent is above zero or below −50.
    pub fn one(exponent: i32) -> Result<Self, TableError> {
        if !(-50..=0).contains(&exponent) {
            return Err(TableError::BadAmount(
                "a row is divided into 1 to 2^50 steps",
            ));
        }
        let one = 1 << exponent.unsigned_abs();
        Ok(Self {
            number: None,
            exponent,
            low: one,
            high: one,
        })
    }

    /// A number of each row, clamped to a range of steps of 2^`exponent`.
    ///
    /// # Errors
    ///
    /// [`TableError::BadAmount`] if the range is empty or ends beyond 2^50 steps, or the exponent is
    /// beyond ±200.
    pub fn of(number: Number, exponent: i32, low: i64, high: i64) -> Result<Self, TableError> {
        let fits = |end: i64| end.unsigned_abs() <= MOST_STEPS.unsigned_abs();
        if low > high || !fits(low) || !fits(high) {
            return Err(TableError::BadAmount(
                "a range must not be empty, and must end within 2^50 steps of zero",
            ));
        }
        if !(-200..=200).contains(&exponent) {
            return Err(TableError::BadAmount("a step must be 2^-200 to 2^200"));
        }
        Ok(Self {
            number: Some(number),
            exponent,
            low,
            high,
        })
    }

    /// Of which number; of one for each row if of none.
    #[must_use]
    pub fn number(&self) -> Option<&Number> {
        self.number.as_ref()
    }

    /// The exponent of a step.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The range, in steps.
    #[must_use]
    pub fn range(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    /// The amount of a row, in steps.
    #[must_use]
    pub fn steps(&self, row: &[Option<Value>]) -> i64 {
        let Some(number) = &self.number else {
            return self.low;
        };
        let number = match number.value(row) {
            Some(Value::Whole(number)) => number.clamp(-MOST_STEPS, MOST_STEPS) as f64,
            Some(Value::Real(number)) if !number.is_nan() => number,
            _ => return 0.clamp(self.low, self.high),
        };
        let steps = (number * libm::scalbn(1.0, -self.exponent) + 0.5).floor();
        // Doubles hold both ends.
        steps.clamp(self.low as f64, self.high as f64) as i64
    }
}

impl Plan {
    /// A plan.
    ///
    /// # Errors
    ///
    /// [`TableError::OtherSchema`] if a part of it was typed against another schema;
    /// [`TableError::TooLong`] if there are too many totals; [`TableError::BadAmount`] if a row may add more
    /// than 2^62, or the bound does not fit the person of the schema, the parts, or [its own range](Bound).
    pub fn new(
        schema: &Schema,
        condition: Option<Condition>,
        (amount, parts): (Amount, Parts),
        groupings: Vec<Grouping>,
        bound: Bound,
    ) -> Result<Self, TableError> {
        let typed = condition.iter().map(Condition::schema);
        let typed = typed.chain(amount.number().map(Number::schema));
        if typed.into_iter().any(|other| other != schema) {
            return Err(TableError::OtherSchema);
        }
        let plan = Self {
            schema: schema.clone(),
            condition,
            amount,
            parts,
            groupings,
            bound,
        };
        if !plan.groupings.iter().all(|grouping| grouping.is_of(schema)) {
            return Err(TableError::OtherSchema);
        }
        let groups = plan.groupings.iter().try_fold(1_usize, |groups, grouping| {
            groups.checked_mul(grouping.len())
        });
        let totals = groups.and_then(|groups| groups.checked_mul(parts.len()));
        if totals.is_none_or(|totals| totals > MOST_TOTALS) {
            return Err(TableError::TooLong {
                what: "totals",
                most: MOST_TOTALS,
            });
        }
        if plan.largest_row() > MOST_ROW {
            return Err(TableError::BadAmount(
                "the range of a variance is at most 2^31 steps wide: take larger steps",
            ));
        }
        bound.check(&plan)?;
        Ok(plan)
    }

    /// The schema that it is for.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Which rows; all of them if there is no condition.
    #[must_use]
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// The number of each row.
    #[must_use]
    pub fn amount(&self) -> &Amount {
        &self.amount
    }

    /// The whole numbers that are made of it.
    #[must_use]
    pub fn parts(&self) -> Parts {
        self.parts
    }

    /// The groupings: a group of the plan is a group of each of them. The last one changes fastest.
    #[must_use]
    pub fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    /// How one person is bounded.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// How many groups there are; one if nothing is grouped.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groupings.iter().map(Grouping::len).product()
    }

    /// How many totals there are.
    #[must_use]
    pub fn totals(&self) -> usize {
        self.groups() * self.parts.len()
    }

    /// The largest sum of the absolute numbers that one row adds.
    #[must_use]
    pub fn largest_row(&self) -> u128 {
        let (low, high) = self.amount.range();
        let width = u128::from(low.abs_diff(high));
        match self.parts {
            Parts::Value => low.unsigned_abs().max(high.unsigned_abs()).into(),
            Parts::Mean => width,
            Parts::Variance => width * width,
        }
    }

    /// Whether no two rows move a total in opposite directions.
    #[must_use]
    pub fn moves_one_way(&self) -> bool {
        let (low, high) = self.amount.range();
        self.parts != Parts::Value || low >= 0 || high <= 0
    }

    /// The group of a row.
    #[must_use]
    pub fn group_of(&self, row: &[Option<Value>]) -> Option<usize> {
        let mut groups = self.groupings.iter();
        groups.try_fold(0, |group, grouping| {
            let value = row.get(grouping.place())?.as_ref()?;
            Some(group * grouping.len() + grouping.group_of(value)?)
        })
    }

    /// The numbers that an amount adds. Those beyond the plan's parts are zero.
    #[must_use]
    pub fn numbers(&self, amount: i64) -> [i128; 3] {
        let (low, high) = self.amount.range();
        let above = i128::from(amount) - i128::from(low);
        let below = i128::from(high) - i128::from(amount);
        match self.parts {
            Parts::Value => [amount.into(), 0, 0],
            Parts::Mean => [above, below, 0],
            Parts::Variance => [above * above, 2 * above * below, below * below],
        }
    }
}
