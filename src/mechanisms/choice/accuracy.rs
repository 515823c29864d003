//! How far a choice may be behind the best one.

use crate::number::{Confidence, Ratio, WideInterval};

/// The weight of a candidate with a larger gap than this, at most, where the best one has one.
pub(super) fn weight_beyond(gap: u64, rate: Ratio) -> WideInterval {
    let exponent = WideInterval::from(rate) * WideInterval::whole(u128::from(gap) + 1);
    exponent.exp_of_minus()
}

/// The worst case of the exponential mechanism: one candidate is the best, and all others are far
/// behind. With w the weight of each, that is (n − 1)·w/(1 + (n − 1)·w), and it rises with each of
/// them.
pub(super) fn exponential(others: u128, rate: Ratio, gap: u64, confidence: Confidence) -> bool {
    let far = WideInterval::whole(others) * weight_beyond(gap, rate);
    let odds = far / (WideInterval::whole(1) + far);
    odds.certainly_at_most(confidence.failure().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Predicate};
    use crate::machine::Mechanism;
    use crate::machine::Released;
    use crate::mechanisms::CountScores;
    use crate::mechanisms::{
        Accuracy, Choice, ExponentialMechanism, MechanismError, NoisyMax, NoisyQuantiles,
        PermuteAndFlip, TopK,
    };
    use crate::number::Epsilon;
    use crate::privacy::Relation;
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

    fn candidates() -> CountScores<Predicate<Rows>> {
        CountScores::of([0, 1, 2, 3].map(rows_of))
    }

    /// It is the worst case: one less would be wrong too often.
    #[test]
    fn the_exponential_mechanism_is_as_far_off_as_stated() {
        let epsilon = "0.5".parse().unwrap();
        let choice = Choice::by(AddRemove, ExponentialMechanism, candidates(), epsilon).unwrap();
        let within = choice.accuracy(confidence("0.95"));
        assert_eq!(within, 8);
        assert!(wrong(&choice, &ahead(within as usize + 1)) <= 0.05);
        assert!(wrong(&choice, &ahead(within as usize)) > 0.05);
        // ln(3·19)/0.5 = 8.09 and ln(3/(2·0.05))/0.5 = 6.8.
        let flip = Choice::by(AddRemove, PermuteAndFlip, candidates(), epsilon).unwrap();
        assert_eq!(flip.accuracy(confidence("0.95")), 6);
        let top = Choice::by(AddRemove, TopK(2), candidates(), epsilon).unwrap();
        assert_eq!(top.accuracy(confidence("0.95")), 16);
    }

    #[test]
    fn the_noisy_maximum_is_no_further_off_than_stated() {
        let epsilon = "1".parse().unwrap();
        let choice = Choice::by(AddRemove, NoisyMax, candidates(), epsilon).unwrap();
        let within = choice.accuracy(confidence("0.9")) as usize;
        assert_eq!(within, 8);
        let max = Choice::by(
            AddRemove,
            NoisyMax,
            CountScores::of([0, 1].map(rows_of)),
            epsilon,
        )
        .unwrap();
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
                ($R:ident, $law:expr) => {
                    is_least::<_, $R>(
                        within,
                        likely,
                        Choice::by_within($R, $law, candidates(), within, likely),
                        |epsilon| Choice::by($R, $law, candidates(), epsilon),
                    );
                };
            }
            least!(AddRemove, ExponentialMechanism);
            least!(Replace, PermuteAndFlip);
            least!(AddRemove, NoisyMax);
            least!(Replace, TopK(2));
            is_least::<_, AddRemove>(
                within,
                likely,
                NoisyQuantiles::with_accuracy(AddRemove, age(), 0..=99, quarters, within, likely),
                |epsilon| NoisyQuantiles::new(AddRemove, age(), 0..=99, quarters, epsilon),
            );
        }
        let none = Choice::by_within(
            AddRemove,
            ExponentialMechanism,
            CountScores::<Predicate<Rows>>::of([]),
            1,
            confidence("0.9"),
        );
        assert_eq!(none.unwrap_err(), MechanismError::none("candidates"));
        // More than the widest gap needs no loss, but for its last digit.
        let any = Choice::by_within(
            AddRemove,
            NoisyMax,
            candidates(),
            u128::MAX,
            confidence("0.9"),
        );
        assert_eq!(any.unwrap().loss(&PureDp), Ok("1e-27".parse().unwrap()));
    }

    #[test]
    fn a_tiny_loss_says_nothing() {
        let epsilon = "1e-27".parse().unwrap();
        let choice = Choice::by(AddRemove, ExponentialMechanism, candidates(), epsilon).unwrap();
        assert_eq!(choice.accuracy(confidence("0.95")), u64::MAX.into());
    }
}
