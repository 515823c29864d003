//! How far a choice may be behind the best one.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::least_loss::least_loss;
use super::score::shared;
use super::{
    About, Accuracy, ExponentialMechanism, MechanismError, NoisyMax, NoisyQuantiles,
    PermuteAndFlip, RowRelation, Score, TopK,
};
use crate::data::Attribute;
use crate::number::{Confidence, Ratio, WideInterval};
use crate::privacy::Relation;

/// The least distance that holds; none is larger than a `u64`.
fn least(holds: impl Fn(u64) -> bool) -> u128 {
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low.into()
}

/// Whether a distance holds.
fn at_most(within: u128, holds: impl Fn(u64) -> bool) -> bool {
    u64::try_from(within).map_or(true, holds)
}

/// The weight of a candidate with a larger gap than this, at most, where the best one has one.
fn weight_beyond(gap: u64, rate: Ratio) -> WideInterval {
    let exponent = WideInterval::from(rate) * WideInterval::whole(u128::from(gap) + 1);
    exponent.exp_of_minus()
}

/// The worst case of the exponential mechanism: one candidate is the best, and all others are far
/// behind. With w the weight of each, that is (n − 1)·w/(1 + (n − 1)·w), and it rises with each of
/// them.
fn exponential(others: u128, rate: Ratio, gap: u64, confidence: Confidence) -> bool {
    let far = WideInterval::whole(others) * weight_beyond(gap, rate);
    let odds = far / (WideInterval::whole(1) + far);
    odds.certainly_at_most(confidence.failure().into())
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> ExponentialMechanism<D, R, S> {
    fn is_within(&self, gap: u64, confidence: Confidence) -> bool {
        let others = self.score.candidates() as u128 - 1;
        exponential(others, self.rate, gap, confidence)
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> TopK<D, R, S> {
    fn is_within(&self, gap: u64, confidence: Confidence) -> bool {
        let others = self.score.candidates() as u128 - 1;
        exponential(others, self.rate, gap, confidence)
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> PermuteAndFlip<D, R, S> {
    /// A candidate that is taken with probability w when it is met is chosen with w/2 at most: the best
    /// one must come later, and its place is uniform. So far behind there are n − 1 at most.
    fn is_within(&self, gap: u64, confidence: Confidence) -> bool {
        let others = WideInterval::whole(self.score.candidates() as u128 - 1);
        let odds = (others * weight_beyond(gap, self.rate)).half();
        odds.certainly_at_most(confidence.failure().into())
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> NoisyMax<D, R, S> {
    /// The noise of the chosen one and that of the best one differ by at least the gap; so one of the n
    /// noises is at least half of it away from zero.
    fn is_within(&self, gap: u64, confidence: Confidence) -> bool {
        let each = confidence.for_each_of(self.score.candidates() as u64);
        each.is_some_and(|each| self.noise().is_within((gap / 2).into(), each))
    }
}

impl<D: ?Sized, R> NoisyQuantiles<D, R> {
    /// For one quantile it is the exact worst case over all data. Several are sorted, and so an answer
    /// may be off because another draw was: if none of the m draws is off by more than this, no answer
    /// is, as the numbers that are near enough to a quantile rise with it. So each draw may fail with a
    /// part of what is left.
    fn is_within(&self, rows: u64, confidence: Confidence) -> bool {
        let others = self.range.end().abs_diff(*self.range.start());
        let each = confidence.for_each_of(self.quantiles.len() as u64);
        each.is_some_and(|each| {
            self.quantiles.iter().all(|quantile| {
                let error = rows.saturating_mul(quantile.whole.into());
                exponential(others.into(), quantile.rate, error, each)
            })
        })
    }
}

/// How many rows the rank of an answer is off, at most, rounded up, for all answers at once.
impl<D: ?Sized, R> Accuracy for NoisyQuantiles<D, R> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        least(|rows| self.is_within(rows, confidence))
    }

    fn about(&self) -> About {
        About::all_rows().clamped(format_args!("{:?}", self.range))
    }
}

impl<D: ?Sized, R: RowRelation> NoisyQuantiles<D, R> {
    /// The same with the smallest ε for which the rank of no answer is off by more than `within` rows,
    /// with at least this confidence ([`Accuracy`]). It is rounded up to six digits.
    ///
    /// ```
    /// use queryables::data::Attribute;
    /// use queryables::mechanisms::{Accuracy, NoisyQuantiles};
    /// use queryables::prelude::*;
    ///
    /// let age = Attribute::<Vec<i64>, i64>::new("age", |age: &i64| *age);
    /// // The median of 10 000 people, and at most one in a hundred on its wrong side.
    /// let median = [(1, 2)];
    /// let median =
    ///     NoisyQuantiles::with_accuracy(AddRemove, age, 0..=120, median, 100, "0.95".parse()?)?;
    /// let loss: Epsilon = median.loss(&PureDp)?;
    /// assert_eq!(loss.to_string(), "0.0769347");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        quantiles: impl IntoIterator<Item = (u32, u32)>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        let quantiles: Vec<_> = quantiles.into_iter().collect();
        let make = |epsilon| {
            let quantiles = quantiles.iter().copied();
            Self::new(
                relation,
                attribute.clone(),
                range.clone(),
                quantiles,
                epsilon,
            )
        };
        let (_, made) = least_loss(make, |made: &Self| {
            at_most(within, |rows| made.is_within(rows, confidence))
        })?;
        Ok(made)
    }
}

/// What is the same for all that choose by a score: with the doc of the distance, and arguments beside
/// the score.
macro_rules! behind {
    ($Choice:ident, $of:literal $(, $k:ident: $K:ty)?) => {
        #[doc = concat!("How far the score of ", $of, ", at most.")]
        impl<D: ?Sized, R: Relation, S: Score<D, R>> Accuracy for $Choice<D, R, S> {
            type Distance = u128;

            fn accuracy(&self, confidence: Confidence) -> u128 {
                least(|gap| self.is_within(gap, confidence))
            }

            fn about(&self) -> About {
                About::all_rows()
            }
        }

        impl<D: ?Sized, R: Relation, S: Score<D, R>> $Choice<D, R, S> {
            /// Chooses by a score ([`Counts`](super::Counts), for predicates), with the smallest ε for
            #[doc = concat!("which the score of ", $of)]
            /// by at most `within`, with at least this confidence ([`Accuracy`]). It is rounded up to six
            /// digits.
            ///
            /// ```
            /// use queryables::data::Predicate;
            #[doc = concat!("use queryables::mechanisms::{Accuracy, CountScores, ", stringify!($Choice), "};")]
            /// use queryables::prelude::*;
            ///
            /// let is = |value: u8| Predicate::new(value.to_string(), move |row: &u8| *row == value);
            /// let counts = CountScores::<Vec<u8>>::new([1, 2, 3].map(is));
            $(#[doc = concat!("let ", stringify!($k), " = 2;")])?
            #[doc = concat!("let choice = ", stringify!($Choice), "::with_accuracy(")]
            #[doc = concat!("    AddRemove,", $(" ", stringify!($k), ",",)? " counts, 20, \"0.95\".parse()?)?;")]
            /// assert!(choice.accuracy("0.95".parse()?) <= 20);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            ///
            /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of
            /// [`by_score`](Self::by_score).
            pub fn with_accuracy(
                _relation: R,
                $($k: $K,)?
                score: S,
                within: u128,
                confidence: Confidence,
            ) -> Result<Self, MechanismError> {
                let score = shared(score)?;
                let make = |epsilon| Self::of($($k,)? Arc::clone(&score), epsilon);
                let (_, made) = least_loss(make, |made: &Self| {
                    at_most(within, |gap| made.is_within(gap, confidence))
                })?;
                Ok(made)
            }
        }
    };
}

behind!(
    ExponentialMechanism,
    "the chosen candidate is behind the largest one"
);
behind!(
    PermuteAndFlip,
    "the chosen candidate is behind the largest one"
);
behind!(NoisyMax, "the chosen candidate is behind the largest one");
behind!(TopK, "each chosen candidate is behind the largest of those that were left", k: usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Mechanism;
    use crate::machine::Released;
    use crate::mechanisms::CountScores;
    use crate::number::Epsilon;
    use crate::privacy::{AddRemove, Private, PureDp, Replace};
    use crate::tests::exact::{answers, rows_of};

    type Rows = Vec<u8>;

    fn confidence(text: &str) -> Confidence {
        text.parse().unwrap()
    }

    /// Four candidates, of which the first is this far ahead.
    fn ahead(rows: usize) -> Rows {
        vec![0; rows]
    }

    /// The probability that another than the first is chosen.
    fn wrong(choice: &impl Mechanism<Rows, Machine = Released<usize>>, rows: &Rows) -> f64 {
        let found = answers(choice, rows, &[()], 24);
        1.0 - found.probability(&vec![Ok(0)]).to_f64_fast()
    }

    fn candidates() -> CountScores<Rows> {
        CountScores::new([0, 1, 2, 3].map(rows_of))
    }

    /// It is the worst case: one less would be wrong too often.
    #[test]
    fn the_exponential_mechanism_is_as_far_off_as_stated() {
        let epsilon = "0.5".parse().unwrap();
        let choice = ExponentialMechanism::by_score(AddRemove, candidates(), epsilon).unwrap();
        let within = choice.accuracy(confidence("0.95"));
        assert_eq!(within, 8);
        assert!(wrong(&choice, &ahead(within as usize + 1)) <= 0.05);
        assert!(wrong(&choice, &ahead(within as usize)) > 0.05);
        // ln(3·19)/0.5 = 8.09 and ln(3/(2·0.05))/0.5 = 6.8.
        let flip = PermuteAndFlip::by_score(AddRemove, candidates(), epsilon).unwrap();
        assert_eq!(flip.accuracy(confidence("0.95")), 6);
        let top = TopK::by_score(AddRemove, 2, candidates(), epsilon).unwrap();
        assert_eq!(top.accuracy(confidence("0.95")), 16);
    }

    #[test]
    fn the_noisy_maximum_is_no_further_off_than_stated() {
        let epsilon = "1".parse().unwrap();
        let choice = NoisyMax::by_score(AddRemove, candidates(), epsilon).unwrap();
        let within = choice.accuracy(confidence("0.9")) as usize;
        assert_eq!(within, 8);
        let max = NoisyMax::new(AddRemove, [0, 1].map(rows_of), epsilon).unwrap();
        assert!(wrong(&max, &ahead(max.accuracy(confidence("0.9")) as usize + 1)) <= 0.1);
    }

    /// What is made for an accuracy has it, and a loss that is smaller by one in the sixth digit has not.
    #[test]
    fn what_is_made_for_an_accuracy_has_it_and_a_smaller_loss_has_not() {
        fn is_least<M: Accuracy<Distance = u128> + Private<PureDp, R>, R: Relation>(
            within: u128,
            confidence: Confidence,
            made: Result<M, MechanismError>,
            make: impl Fn(Epsilon) -> Result<M, MechanismError>,
        ) {
            let made = made.unwrap();
            assert!(made.accuracy(confidence) <= within);
            let loss = made.loss(&PureDp).unwrap();
            let digit = 10_u128.pow(loss.units().ilog10().saturating_sub(5));
            assert!(loss.units().is_multiple_of(digit), "{loss}");
            let less = make(Epsilon::from_units(loss.units() - digit).unwrap());
            assert!(
                less.unwrap().accuracy(confidence) > within,
                "{within} {loss}"
            );
        }
        let age = || Attribute::<Rows, i64>::new("age", |row: &u8| i64::from(*row));
        let quarters = [(1, 4), (1, 2), (3, 4)];
        for (within, text) in [(0, "0.9"), (7, "0.5"), (30, "0.95"), (1 << 40, "0.999999")] {
            let likely = confidence(text);
            macro_rules! least {
                ($R:ident, $Choice:ident, $($more:tt)*) => {
                    is_least::<_, $R>(
                        within,
                        likely,
                        $Choice::with_accuracy($R, $($more)* candidates(), within, likely),
                        |epsilon| $Choice::by_score($R, $($more)* candidates(), epsilon),
                    );
                };
            }
            least!(AddRemove, ExponentialMechanism,);
            least!(Replace, PermuteAndFlip,);
            least!(AddRemove, NoisyMax,);
            least!(Replace, TopK, 2,);
            is_least::<_, AddRemove>(
                within,
                likely,
                NoisyQuantiles::with_accuracy(AddRemove, age(), 0..=99, quarters, within, likely),
                |epsilon| NoisyQuantiles::new(AddRemove, age(), 0..=99, quarters, epsilon),
            );
        }
        let none = ExponentialMechanism::<Rows, _, _>::with_accuracy(
            AddRemove,
            CountScores::new([]),
            1,
            confidence("0.9"),
        );
        assert_eq!(none.unwrap_err(), MechanismError::NoChoice);
        // More than the widest gap needs no loss, but for its last digit.
        let any = NoisyMax::with_accuracy(AddRemove, candidates(), u128::MAX, confidence("0.9"));
        assert_eq!(any.unwrap().loss(&PureDp), Ok("1e-27".parse().unwrap()));
    }

    #[test]
    fn a_tiny_loss_says_nothing() {
        let epsilon = "1e-27".parse().unwrap();
        let choice = ExponentialMechanism::by_score(AddRemove, candidates(), epsilon).unwrap();
        assert_eq!(choice.accuracy(confidence("0.95")), u64::MAX.into());
    }
}
