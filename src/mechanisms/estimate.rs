//! An answer with the interval in which the truth is, and what truth that is.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use super::Accuracy;
use crate::number::{Confidence, Interval};

/// A mechanism whose answers have an interval in which the truth is.
///
/// It is asked of the very mechanism that was launched, which knows what its answers are about: of
/// [`OnRows`](super::OnRows) for instance, if that was launched.
///
/// ```
/// use queryables::data::{Attribute, People};
/// use queryables::mechanisms::{Estimates, OnRows, Sum};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let visits = vec![("Ada", 50), ("Bob", 90), ("Ada", 10)];
/// let people = People::by_key(&visits, |visit: &(&str, i64)| visit.0.to_owned()).at_most::<3>();
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(3)), Arc::new(people))?;
///
/// let minutes = Attribute::new("minutes", |visit: &(&str, i64)| visit.1);
/// let total = OnRows(Sum::of(minutes, 0..=60).laplace(epsilon!(1))?);
/// let answer = filter.release(&total)?;
/// let estimate = total.estimate(answer, confidence!(0.95));
/// assert_eq!(estimate.about.to_string(), "of at most 3 rows a person, clamped to 0..=60");
/// println!("{estimate}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "confidence interval")]
#[doc(alias = "margin of error")]
pub trait Estimates: Accuracy {
    /// What it answers, or one of several numbers of that.
    type Answer;

    /// The type of the estimate: `i64` or `f64`.
    type Number;

    /// The best guess of the truth, and the interval in which it is with this confidence.
    fn interval(
        &self,
        answer: Self::Answer,
        confidence: Confidence,
    ) -> (Self::Number, RangeInclusive<Self::Number>);

    /// The answer with the interval in which the truth is, with this confidence, and what it is about.
    ///
    /// This is postprocessing, and costs nothing.
    fn estimate(&self, answer: Self::Answer, confidence: Confidence) -> Estimate<Self::Number> {
        let (value, interval) = self.interval(answer, confidence);
        Estimate {
            value,
            interval,
            confidence,
            about: self.about(),
        }
    }
}

/// An answer with the interval in which the truth is.
///
/// ```
/// use queryables::confidence;
/// use queryables::mechanisms::{About, Estimate};
///
/// let estimate = Estimate {
///     value: 1234,
///     interval: 1204..=1264,
///     confidence: confidence!(0.95),
///     about: About::all_rows(),
/// };
/// assert_eq!(
///     estimate.to_string(),
///     "1234 (from 1204 to 1264 with confidence 0.95, of all rows in the dataset)"
/// );
/// ```
///
/// # Guarantee
///
/// The interval contains the truth that [`about`](Self::about) names, with at least this confidence.
/// The probability is that of the noise, before the answer was seen, whatever the truth is (a
/// confidence interval, not a belief about this one answer). An end at the end of the type means that
/// the truth may be beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate<T> {
    /// The answer.
    pub value: T,
    /// Where the truth is.
    pub interval: RangeInclusive<T>,
    /// With at least this probability.
    pub confidence: Confidence,
    /// Which truth: that of which rows, and of which values.
    pub about: About,
}

impl Estimate<f64> {
    /// The same for the sum of values as they were before they were rounded, if at most this number of
    /// rows was summed: an interval that is wider by half a step for each. It is the same interval
    /// where [`about`](Self::about) says nothing of rounding.
    ///
    /// The number of rows must be a public bound, or a noisy count and what it is certain to be below. The
    /// true number, where it is not public, would be told by the width of the interval.
    ///
    /// ```
    /// use queryables::data::Attribute;
    /// use queryables::mechanisms::{Estimates, Sum};
    /// use queryables::prelude::*;
    ///
    /// let litres = Attribute::<Vec<f64>, f64>::new("litres", |litres: &f64| *litres);
    /// let total = Sum::of(litres, 0.0..=2.0).laplace(epsilon!(1))?;
    /// let rounded = total.estimate(4.5, confidence!(0.95));
    /// let about = "of all rows in the dataset, clamped to 0..=2, rounded to multiples of 2^-19";
    /// assert_eq!(rounded.about.to_string(), about);
    /// let estimate = rounded.before_rounding(1_000_000);
    /// let about = "of all rows in the dataset, clamped to 0..=2";
    /// assert_eq!(estimate.about.to_string(), about);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn before_rounding(mut self, rows: u64) -> Self {
        if let Some((_, most)) = self.about.rounding.take() {
            let change = (Interval::whole(rows.into()) * Interval::exactly(most)).high();
            let (low, high) = self.interval.into_inner();
            self.interval = (low - change).next_down()..=(high + change).next_up();
        }
        self
    }
}

impl<T: fmt::Display> fmt::Display for Estimate<T> {
    /// A precision is that of the numbers. It rounds both ends to the nearest, so that the interval that
    /// is printed may be narrower by a unit of the last digit: the confidence is that of all digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.interval.start(), self.interval.end());
        self.value.fmt(f)?;
        f.write_str(" (from ")?;
        low.fmt(f)?;
        f.write_str(" to ")?;
        high.fmt(f)?;
        write!(f, " with confidence {}, {})", self.confidence, self.about)
    }
}

/// What an estimate, or the stated accuracy of a mechanism, is about: which rows, and what became of
/// their values before anything was computed.
///
/// It is public: it has the parameters of the mechanism, and nothing of the data.
///
/// Example: [`Estimate`](crate::mechanisms::Estimate).
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    rows_of_a_person: Option<u64>,
    values: Vec<Cow<'static, str>>,
    /// The exponent of the step, and the most by which rounding changes the value of one row.
    rounding: Option<(i32, f64)>,
}

impl About {
    /// All rows that are in the dataset, as they are there.
    #[must_use]
    pub fn all_rows() -> Self {
        Self {
            rows_of_a_person: None,
            values: Vec::new(),
            rounding: None,
        }
    }

    /// The same, with what else became of rows or of their values, in a few words.
    #[must_use]
    pub fn with(mut self, words: impl Into<Cow<'static, str>>) -> Self {
        self.values.push(words.into());
        self
    }

    /// Values are clamped to a range.
    #[must_use]
    pub fn clamped(self, range: impl fmt::Display) -> Self {
        self.with(format!("clamped to {range}"))
    }

    /// Of each person, at most this number of rows is there.
    #[must_use]
    pub fn of_people(self, rows: u64) -> Self {
        Self {
            rows_of_a_person: Some(rows),
            ..self
        }
    }

    /// The most rows of a person, where rows beyond it were left out.
    #[must_use]
    pub fn rows_of_a_person(&self) -> Option<u64> {
        self.rows_of_a_person
    }

    /// Values are said to be multiples of 2 to this power, and are made so.
    pub(super) fn of_multiples(self, exponent: i32) -> Self {
        self.with(match exponent {
            0 => Cow::from("rounded to whole numbers"),
            _ => Cow::from(format!("rounded to multiples of 2^{exponent}")),
        })
    }

    /// Values are rounded to multiples of 2 to this power, which changes each by at most this.
    pub(super) fn rounded(self, exponent: i32, most: f64) -> Self {
        Self {
            rounding: Some((exponent, most)),
            ..self
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows_of_a_person {
            None => f.write_str("of all rows in the dataset")?,
            Some(1) => f.write_str("of at most 1 row a person")?,
            Some(rows) => write!(f, "of at most {rows} rows a person")?,
        }
        for words in &self.values {
            write!(f, ", {words}")?;
        }
        match self.rounding {
            None => Ok(()),
            Some((exponent, _)) => write!(f, ", rounded to multiples of 2^{exponent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_shown_with_the_precision_that_is_asked_for() {
        let estimate = Estimate {
            value: 2.0,
            interval: 1.25..=2.75,
            confidence: "0.9".parse().unwrap(),
            about: About::all_rows().of_people(1).clamped("0..=60"),
        };
        assert_eq!(
            format!("{estimate:.1}"),
            "2.0 (from 1.2 to 2.8 with confidence 0.9, of at most 1 row a person, clamped to 0..=60)"
        );
    }

    #[test]
    fn an_interval_is_widened_once_by_half_a_step_a_row() {
        let estimate = Estimate {
            value: 2.0,
            interval: 1.0..=3.0,
            confidence: "0.9".parse().unwrap(),
            about: About::all_rows().rounded(-1, 0.25),
        };
        let wider = estimate.before_rounding(4);
        let (low, high) = wider.interval.clone().into_inner();
        assert!((-1e-15..0.0).contains(&low) && (4.0..4.0 + 1e-14).contains(&high));
        assert_eq!(wider.about, About::all_rows());
        assert_eq!(wider.clone().before_rounding(4), wider);
    }
}
