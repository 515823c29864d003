//! One bit, with a known probability of a lie, and sometimes revealed.

use std::sync::Arc;

use super::sampled_sum::happens;
use super::{MechanismError, RandomizedResponse};
use crate::machine::{Coins, CoinsError, Description, Fault, Mechanism, Released};
use crate::number::{Delta, Ratio, WideInterval};
use crate::privacy::facts::Probabilistic;
use crate::privacy::{Distance, EpsilonDelta, Prices, Private, Relation, UnknownLoss};

/// Randomized response RR_{ε,δ} (Rogers et al. 2.6): with probability δ it reveals the bit for
/// sure, otherwise it tells the truth with odds of e^ε to 1.
///
/// Use it to test claims about composition: it is the worst case of an (ε, δ)-private mechanism on
/// two neighbours, and every other one is a postprocessing of it (Kairouz, Oh and Viswanath 2015;
/// Rogers et al. 2.7). For people's answers use [`RandomizedResponse`], which never reveals.
///
/// ```
/// use queryables::mechanisms::{Response, ApproxRandomizedResponse};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let filter = start(&Filter::concurrent(ApproxDp, budget), Arc::new(true))?;
/// let told = filter.release(&ApproxRandomizedResponse::new(budget))?;
/// assert_ne!(told, Response::Zero);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// (ε, δ)-DP and (ε, δ)-pDP, and both are tight (Whitehouse et al. App. D), under every
/// neighbouring relation and at every distance, because there are only two datasets. If δ is zero,
/// ε-DP. If the bit is not revealed, the realised loss is exactly ±ε. The probabilities are exactly
/// those of the definition, for every ε and δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApproxRandomizedResponse {
    told: RandomizedResponse,
    delta: Delta,
}

/// What [`ApproxRandomizedResponse`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Response {
    /// The bit is 0 for sure.
    Zero,
    /// ⊤: the bit is more likely 0.
    Top,
    /// ⊥: the bit is more likely 1.
    Bottom,
    /// The bit is 1 for sure.
    One,
}

impl ApproxRandomizedResponse {
    /// RR_{ε,δ}. Both may be zero: RR_{0,0} tosses a fair coin, whatever the bit is.
    #[must_use]
    pub fn new(loss: EpsilonDelta) -> Self {
        Self {
            told: RandomizedResponse::with_epsilon(loss.epsilon),
            delta: loss.delta,
        }
    }

    /// Tells the truth with odds of `truth` to `lie`, if it does not reveal the bit. Its ε is the
    /// logarithm of the odds, rounded up by less than 1e-13.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] unless `truth >= lie > 0` and both add up to less than 2^64.
    pub fn with_odds(truth: u64, lie: u64, delta: Delta) -> Result<Self, MechanismError> {
        let told = RandomizedResponse::with_odds_or_even(truth, lie)?;
        Ok(Self { told, delta })
    }

    /// (ε, δ).
    #[must_use]
    pub fn epsilon_delta(&self) -> EpsilonDelta {
        EpsilonDelta {
            epsilon: self.told.epsilon(),
            delta: self.delta,
        }
    }

    /// The probability that the answer points to the bit, for sure or as the more likely one, rounded
    /// down: δ, and the rest times the [truth](RandomizedResponse::truth) of what is told.
    ///
    /// ```
    /// use queryables::delta;
    /// use queryables::mechanisms::ApproxRandomizedResponse;
    ///
    /// let three_in_four = ApproxRandomizedResponse::with_odds(3, 1, delta!(0.2))?;
    /// // 1/5 and 4/5 of 3/4.
    /// let truth = three_in_four.truth();
    /// assert!(truth > delta!(0.7999999999) && truth <= delta!(0.8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn truth(&self) -> Delta {
        let one = WideInterval::whole(1);
        let hidden = one - WideInterval::from(self.delta);
        let lies = one - WideInterval::from(self.told.truth());
        (one - hidden * lies).down().unwrap_or_default()
    }

    fn reveals(&self, coins: &mut Coins<'_>) -> Result<bool, CoinsError> {
        if self.delta == Delta::ZERO {
            return Ok(false);
        }
        happens(Ratio::from(self.delta), coins)
    }
}

impl Mechanism<bool> for ApproxRandomizedResponse {
    type Machine = Released<Response>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let response = if self.reveals(coins)? {
            match **data {
                false => Response::Zero,
                true => Response::One,
            }
        } else {
            match self.told.start(data, coins)? {
                Released(false) => Response::Top,
                Released(true) => Response::Bottom,
            }
        };
        Ok(Released(response))
    }

    fn describe(&self) -> Description {
        let described = self.told.describe_as("ApproxRandomizedResponse");
        described.with("delta", self.delta)
    }
}

impl<R: Relation, Me: Prices<Probabilistic>> Private<Me, R> for ApproxRandomizedResponse {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        let loss = self.epsilon_delta();
        measure.price(&Probabilistic { loss })
    }

    /// There are only two datasets.
    fn loss_at(&self, measure: &Me, _: Distance) -> Result<Me::Loss, UnknownLoss> {
        Private::<Me, R>::loss(self, measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::Replay;
    use crate::number::Epsilon;
    use crate::privacy::{ApproxDp, ProbabilisticDp, PureDp, Replace};
    use crate::tests::enumerate::enumerate;
    use dashu_ratio::RBig;
    use std::num::NonZeroU64;

    const ANSWERS: [Response; 4] = [
        Response::Zero,
        Response::Top,
        Response::Bottom,
        Response::One,
    ];

    fn told(
        mechanism: ApproxRandomizedResponse,
        bit: bool,
        coins: &mut Coins<'_>,
    ) -> Result<Response, Fault> {
        let Released(response) = mechanism.start(&Arc::new(bit), coins)?;
        Ok(response)
    }

    /// The exact probabilities, in sixteenths; odds of 3 to 1, δ = 1/4.
    fn sixteenths(bit: bool) -> [i32; 4] {
        let mechanism = ApproxRandomizedResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
        let found = enumerate(0.0, |coins| {
            told(mechanism, bit, &mut Coins::new(&mut *coins)).unwrap()
        });
        assert_eq!(found.cut, RBig::ZERO);
        ANSWERS.map(|answer| {
            let sixteenths = found.probability(&answer) * RBig::from(16);
            i32::try_from(sixteenths.numerator().clone()).unwrap()
        })
    }

    #[test]
    fn the_law_is_that_of_the_definition() {
        // δ is 4, and (1 - δ) · 3/4 and (1 - δ) · 1/4 are 9 and 3.
        assert_eq!(sixteenths(false), [4, 9, 3, 0]);
        assert_eq!(sixteenths(true), [0, 3, 9, 4]);
    }

    /// What is above e^ε times the other's probability adds up to exactly δ.
    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        let (zero, one) = (sixteenths(false), sixteenths(true));
        let hockey_stick = |one: [i32; 4], other: [i32; 4], factor: i32| {
            let excess = one.iter().zip(other).map(|(p, q)| (p - factor * q).max(0));
            excess.sum::<i32>()
        };
        for (one, other) in [(zero, one), (one, zero)] {
            assert_eq!(hockey_stick(one, other, 3), 4);
            assert!(hockey_stick(one, other, 2) > 4);
        }
    }

    /// Whitehouse et al. App. F: rounding ⊥ to 1 keeps (ε, δ)-privacy and loses the probabilistic
    /// kind (App. F has ⊤ on that side). So there may be no middle between a time-uniform odometer
    /// and its mechanisms.
    #[test]
    fn probabilistic_privacy_does_not_survive_postprocessing() {
        let says_one = |[_, _, bottom, one]: [i32; 4]| bottom + one;
        let (under_one, under_zero) = (says_one(sixteenths(true)), says_one(sixteenths(false)));
        assert_eq!((under_one, under_zero), (13, 3));
        // e^ε = 3, δ = 4/16. (ε, δ)-privacy holds, with equality:
        assert_eq!(under_one, 3 * under_zero + 4);
        // But the realised loss ln(13/3) is above ε = ln 3, with probability 13/16 > δ.
        assert!(under_one > 3 * under_zero && under_one > 4);
    }

    /// A decimal ε has irrational odds: as exact as what is cut is small.
    #[test]
    fn decimal_parameters_have_their_law() {
        let mechanism = ApproxRandomizedResponse::new(EpsilonDelta::new("0.7", "0.2").unwrap());
        let found = enumerate(1e-12, |coins| {
            told(mechanism, true, &mut Coins::new(&mut *coins)).ok()
        });
        let truth = 0.7_f64.exp() / (1.0 + 0.7_f64.exp());
        let expected = [0.0, 0.8 * (1.0 - truth), 0.8 * truth, 0.2];
        let cut = found.cut.to_f64_fast();
        assert!(cut < 1e-7);
        for (answer, expected) in ANSWERS.into_iter().zip(expected) {
            let found = found.probability(&Some(answer)).to_f64_fast();
            assert!((expected - cut - 1e-15..=expected + 1e-15).contains(&found));
        }
    }

    /// Of 10^38 numbers all but the last reveal: more than 64 bits can weigh.
    #[test]
    fn a_fine_delta_is_exact() {
        let number = 10_u128.pow(38);
        let mechanism = ApproxRandomizedResponse::new(EpsilonDelta {
            epsilon: Epsilon::ZERO,
            delta: Delta::from_units(number - 1).unwrap(),
        });
        let reveals = |drawn: u128| {
            let below = |below: u128| NonZeroU64::new(below.try_into().unwrap()).unwrap();
            let digit = 1_u128 << 63;
            let first = (below((number - 1) / digit + 1), (drawn / digit) as u64);
            let last = (below(digit), (drawn % digit) as u64);
            mechanism.reveals(&mut Replay::of([first, last]).coins())
        };
        assert_eq!(reveals(0), Ok(true));
        assert_eq!(reveals(number - 2), Ok(true));
        assert_eq!(reveals(number - 1), Ok(false));
    }

    #[test]
    fn certainty_is_certain() {
        let certain = ApproxRandomizedResponse::new(EpsilonDelta {
            epsilon: Epsilon::ZERO,
            delta: Delta::ONE,
        });
        let found = enumerate(0.0, |coins| {
            told(certain, true, &mut Coins::new(&mut *coins)).unwrap()
        });
        assert_eq!(found.probability(&Response::One), RBig::ONE);
    }

    #[test]
    fn it_is_purely_private_only_if_it_reveals_nothing() {
        let far = Distance::new(5).unwrap();
        let loss = |delta: &str| {
            let loss = EpsilonDelta::new("0.7", delta).unwrap();
            Private::<PureDp, Replace>::loss_at(&ApproxRandomizedResponse::new(loss), &PureDp, far)
        };
        assert_eq!(loss("0"), Ok("0.7".parse().unwrap()));
        assert_eq!(
            loss("0.1"),
            Err(UnknownLoss("this measure has no loss where δ > 0"))
        );
    }

    #[test]
    fn the_loss_does_not_grow_with_the_distance() {
        let loss = EpsilonDelta::new("0.7", "0.1").unwrap();
        let (mechanism, far) = (
            ApproxRandomizedResponse::new(loss),
            Distance::new(5).unwrap(),
        );
        let approximate = Private::<ApproxDp, Replace>::loss_at(&mechanism, &ApproxDp, far);
        assert_eq!(approximate, Ok(loss));
        let probabilistic =
            Private::<ProbabilisticDp, Replace>::loss_at(&mechanism, &ProbabilisticDp, far);
        assert_eq!(probabilistic, Ok(loss));
    }

    #[test]
    fn bad_odds_are_refused_and_even_ones_are_not() {
        for (truth, lie) in [(1, 2), (1, 0), (0, 0), (u64::MAX, 1)] {
            assert_eq!(
                ApproxRandomizedResponse::with_odds(truth, lie, Delta::ZERO)
                    .unwrap_err()
                    .to_string(),
                format!(
                    "the odds of the truth must be greater than those of a lie, both positive and \
                     together below 2^64, not {truth} to {lie}"
                )
            );
        }
        let even = ApproxRandomizedResponse::with_odds(2, 2, Delta::ZERO).unwrap();
        assert!(even.epsilon_delta().epsilon < "1e-13".parse().unwrap());
    }
}
