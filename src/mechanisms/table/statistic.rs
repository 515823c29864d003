//! What is computed from the rows of a person: their number, a sum, a mean, a variance.

use super::super::lattice::of_steps;
use super::super::statistic::Statistic;
use super::super::{
    About, Change, Mean, MechanismError, NoisyMean, NoisyVariance, Once, Query, RealRange, Source,
    Summand, Variance,
};
use crate::machine::Description;
use crate::privacy::AddRemove;
use crate::table::{Number, Parts};

/// What is computed of a table, in each group.
pub trait TableStatistic: Clone + Send + Sync {
    /// What answers mean. By how much they change is none of its business: a plan says that.
    #[doc(hidden)]
    type Inner: Query<AddRemove, Answer = Self::Value, Value = Self::Value>;
    /// One value of the answer.
    type Value: Statistic<Number = f64> + Copy;

    #[doc(hidden)]
    const PARTS: Parts;
    #[doc(hidden)]
    fn inner(number: Option<&Number>, range: RealRange) -> Self::Inner;
}

/// A statistic whose answers say from how many rows they are, with noise: a sum does not.
#[diagnostic::on_unimplemented(
    message = "ask for a count, a mean or a variance: a sum does not say from how many rows it is"
)]
pub trait SaysRows: TableStatistic {
    #[doc(hidden)]
    fn rows(value: &Self::Value) -> f64;
}

/// A statistic of numbers, which can be clamped: a count has none.
#[diagnostic::on_unimplemented(
    message = "ask for a sum, a mean or a variance: a count has no numbers to clamp"
)]
pub trait OfNumbers: TableStatistic {}

impl OfNumbers for SumOf {}
impl OfNumbers for MeanOf {}
impl OfNumbers for VarianceOf {}

/// A number of rows.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
#[derive(Clone, Copy, Debug)]
pub struct RowsOf;
/// A sum.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
#[derive(Clone, Copy, Debug)]
pub struct SumOf;
/// A mean.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
#[derive(Clone, Copy, Debug)]
pub struct MeanOf;
/// A variance.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
#[derive(Clone, Copy, Debug)]
pub struct VarianceOf;

impl TableStatistic for RowsOf {
    type Inner = Total;
    type Value = f64;
    const PARTS: Parts = Parts::Value;

    fn inner(_: Option<&Number>, range: RealRange) -> Total {
        Total {
            name: "Count",
            of: None,
            range,
        }
    }
}

impl SaysRows for RowsOf {
    fn rows(value: &f64) -> f64 {
        *value
    }
}

impl TableStatistic for SumOf {
    type Inner = Total;
    type Value = f64;
    const PARTS: Parts = Parts::Value;

    fn inner(number: Option<&Number>, range: RealRange) -> Total {
        Total {
            name: "Sum",
            of: number.map(ToString::to_string),
            range,
        }
    }
}

impl TableStatistic for MeanOf {
    type Inner = Mean<Named>;
    type Value = NoisyMean;
    const PARTS: Parts = Parts::Mean;

    fn inner(number: Option<&Number>, range: RealRange) -> Mean<Named> {
        Mean::of(Named::of(number), range)
    }
}

impl SaysRows for MeanOf {
    fn rows(value: &NoisyMean) -> f64 {
        value.rows()
    }
}

impl TableStatistic for VarianceOf {
    type Inner = Variance<Named>;
    type Value = NoisyVariance;
    const PARTS: Parts = Parts::Variance;

    fn inner(number: Option<&Number>, range: RealRange) -> Variance<Named> {
        Variance::of(Named::of(number), range)
    }
}

impl SaysRows for VarianceOf {
    fn rows(value: &NoisyVariance) -> f64 {
        value.rows()
    }
}

/// A number of a table, which has a name and is summed elsewhere.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Named(String);

impl Named {
    fn of(number: Option<&Number>) -> Self {
        Self(number.map(ToString::to_string).unwrap_or_default())
    }
}

impl Summand for Named {
    type Number = f64;
}

impl Source for Named {
    fn name(&self) -> std::borrow::Cow<'_, str> {
        self.0.as_str().into()
    }
}

/// A total in steps, which means a real number.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Total {
    name: &'static str,
    of: Option<String>,
    range: RealRange,
}

impl Query<AddRemove> for Total {
    type Answer = f64;
    type Form = Once;
    type Value = f64;

    fn change(&self) -> Result<Change, MechanismError> {
        let (low, high) = self.range.in_steps()?.range().into_inner();
        Change::of(low.unsigned_abs().max(high.unsigned_abs()))
    }

    fn answer(&self, totals: &[i128]) -> f64 {
        of_steps(totals.first().copied().unwrap_or_default(), self.scale())
    }

    fn scale(&self) -> i32 {
        self.range.steps().exponent
    }

    fn describe(&self) -> Description {
        let description = Description::new(self.name);
        match &self.of {
            None => description,
            Some(of) => self.range.describe(description.with("of", of)),
        }
    }

    fn about(&self) -> About {
        match self.of {
            None => About::all_rows(),
            Some(_) => self.range.about_rounded(),
        }
    }
}
