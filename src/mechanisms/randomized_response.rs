//! One bit, with a known probability of a lie.

use std::sync::Arc;

use super::MechanismError;
use super::logarithm::logarithm_up;
use crate::machine::{Bernoulli, Coins, Description, Fault, Law, Mechanism, Released, odds};
use crate::noise::Logistic;
use crate::number::{Delta, Epsilon, Ratio, WideInterval};
use crate::privacy::facts::Pure;
use crate::privacy::{Distance, Prices, Private, Relation, UnknownLoss};

/// A bit, or with known odds its opposite (Warner 1965; RR_ε of Rogers et al. 2.6).
///
/// Use it where each person answers for themselves, and as the simplest mechanism whose loss is
/// attained: every ε-DP mechanism on two datasets is a postprocessing of it (Whitehouse et al.
/// Lemma 12, after Kairouz, Oh and Viswanath 2015), which is why claims about composition are
/// tested with it. RR_{ε,δ} is [`ApproxRandomizedResponse`](super::ApproxRandomizedResponse).
///
/// ```
/// use queryables::mechanisms::{MechanismError, RandomizedResponse};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(true))?;
/// let _told: bool = filter.release(&RandomizedResponse::new(epsilon!(0.5))?)?;
///
/// // The truth three times in four: ε = ln 3, rounded up.
/// let odds = RandomizedResponse::with_odds(3, 1)?;
/// let loss: Epsilon = Private::<PureDp, Replace>::loss(&odds, &PureDp)?;
/// assert!(loss.to_string().starts_with("1.0986122886681"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, under every neighbouring relation and at every distance, because there
/// are only two datasets: the odds of a truth to those of a lie are e^ε to 1.
#[doc(alias = "local DP")]
#[doc(alias = "survey")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomizedResponse {
    epsilon: Epsilon,
    lie: Lie,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    Logistic(Logistic),
    Bernoulli(Bernoulli),
}

fn bad_odds(truth: u64, lie: u64) -> MechanismError {
    MechanismError::parameter(
        "the odds of the truth",
        format_args!("{truth} to {lie}"),
        "greater than those of a lie, both positive and together below 2^64",
    )
}

impl RandomizedResponse {
    /// Under this name. Several odds may have one ε, which is rounded.
    pub(super) fn describe_as(&self, name: &'static str) -> Description {
        let description = Description::new(name).with("epsilon", self.epsilon);
        match &self.lie {
            Lie::Logistic(_) => description,
            Lie::Bernoulli(law) => description.with("lie", odds(law)),
        }
    }

    /// The truth with probability e^ε / (1 + e^ε).
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(epsilon: Epsilon) -> Result<Self, MechanismError> {
        if epsilon == Epsilon::ZERO {
            return Err(MechanismError::NoLoss("epsilon"));
        }
        Ok(Self::with_epsilon(epsilon))
    }

    /// [`new`](Self::new), where an ε of zero makes sense too.
    pub(super) fn with_epsilon(epsilon: Epsilon) -> Self {
        let lie = Lie::Logistic(Logistic::new(Ratio::from(epsilon)));
        Self { epsilon, lie }
    }

    /// The truth with odds of `truth` to `lie`. The loss is ln(truth / lie), rounded up by less
    /// than 1e-13.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] unless `truth > lie > 0` and both add up to less than 2^64.
    pub fn with_odds(truth: u64, lie: u64) -> Result<Self, MechanismError> {
        if truth == lie {
            return Err(bad_odds(truth, lie));
        }
        Self::with_odds_or_even(truth, lie)
    }

    /// [`with_odds`](Self::with_odds), where a fair coin makes sense too.
    pub(super) fn with_odds_or_even(truth: u64, lie: u64) -> Result<Self, MechanismError> {
        let bad = || bad_odds(truth, lie);
        let total = truth.checked_add(lie).ok_or_else(bad)?;
        if lie == 0 || truth < lie {
            return Err(bad());
        }
        let law = Bernoulli::new(lie, total).ok_or_else(bad)?;
        let epsilon = logarithm_up(truth, lie).ok_or(MechanismError::TooLarge)?;
        let lie = Lie::Bernoulli(law);
        Ok(Self { epsilon, lie })
    }

    /// The probability of the truth, rounded down: e^ε/(1 + e^ε), or that of the odds.
    ///
    /// ```
    /// use queryables::epsilon;
    /// use queryables::mechanisms::RandomizedResponse;
    ///
    /// let three_in_four = RandomizedResponse::with_odds(3, 1)?;
    /// assert_eq!(three_in_four.truth().to_string(), "0.75");
    /// let even = RandomizedResponse::new(epsilon!(1))?;
    /// assert!(even.truth().to_string().starts_with("0.7310585786300048"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn truth(&self) -> Delta {
        let one = WideInterval::whole(1);
        let truth = match &self.lie {
            Lie::Logistic(_) => one / (one + WideInterval::from(self.epsilon).exp_of_minus()),
            Lie::Bernoulli(law) => {
                let lie = odds(law);
                one - WideInterval::from(lie)
            }
        };
        truth.down().unwrap_or_default()
    }

    pub(super) fn epsilon(&self) -> Epsilon {
        self.epsilon
    }
}

impl Mechanism<bool> for RandomizedResponse {
    type Machine = Released<bool>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let law: &dyn Law = match &self.lie {
            Lie::Logistic(law) => law,
            Lie::Bernoulli(law) => law,
        };
        let lie = coins.draw(law)? == 1;
        Ok(Released(**data ^ lie))
    }

    fn describe(&self) -> Description {
        self.describe_as("RandomizedResponse")
    }
}

impl<R: Relation, Me: Prices<Pure>> Private<Me, R> for RandomizedResponse {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        let epsilon = self.epsilon;
        measure.price(&Pure { epsilon })
    }

    /// There are only two datasets.
    fn loss_at(&self, measure: &Me, _: Distance) -> Result<Me::Loss, UnknownLoss> {
        Private::<Me, R>::loss(self, measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{PureDp, Replace};
    use crate::tests::enumerate::{Enumeration, enumerate};
    use dashu_ratio::RBig;

    fn told(mechanism: RandomizedResponse, truth: bool) -> Enumeration<Option<bool>> {
        enumerate(1e-12, |coins| {
            let released = mechanism.start(&Arc::new(truth), &mut Coins::new(coins));
            released.ok().map(|Released(told)| told)
        })
    }

    /// The largest ratio of probabilities between the two datasets: e to the max divergence.
    fn largest_ratio(mechanism: RandomizedResponse) -> RBig {
        let (yes, no) = (told(mechanism, true), told(mechanism, false));
        assert_eq!((&yes.cut, &no.cut), (&RBig::ZERO, &RBig::ZERO));
        [(&yes, &no), (&no, &yes)]
            .into_iter()
            .flat_map(|(one, other)| {
                one.outcomes
                    .iter()
                    .map(|(told, mass)| mass / other.probability(told))
            })
            .max()
            .unwrap()
    }

    #[test]
    fn the_max_divergence_is_the_odds_exactly() {
        for (truth, lie) in [(3, 1), (2, 1), (7, 5), (1000, 999)] {
            let mechanism = RandomizedResponse::with_odds(truth, lie).unwrap();
            let odds = RBig::from_parts(truth.into(), lie.into());
            assert_eq!(largest_ratio(mechanism), odds);
        }
    }

    /// δ(ε) = Σ max(0, p - e^ε q): at e^ε = 2, odds of 3 to 1 leave 3/4 - 2/4 = 1/4.
    #[test]
    fn the_hockey_stick_is_that_of_the_odds() {
        let mechanism = RandomizedResponse::with_odds(3, 1).unwrap();
        let (yes, no) = (told(mechanism, true), told(mechanism, false));
        let hockey_stick = |factor: u32| {
            yes.outcomes
                .iter()
                .map(|(told, mass)| mass - RBig::from(factor) * no.probability(told))
                .filter(|excess| *excess > RBig::ZERO)
                .fold(RBig::ZERO, |sum, excess| sum + excess)
        };
        assert_eq!(hockey_stick(1), RBig::from_parts(1.into(), 2_u8.into()));
        assert_eq!(hockey_stick(2), RBig::from_parts(1.into(), 4_u8.into()));
        assert_eq!(hockey_stick(3), RBig::ZERO);
    }

    /// At a decimal ε the odds are e^ε, up to what was cut.
    #[test]
    fn a_decimal_loss_is_attained() {
        let mechanism = RandomizedResponse::new("0.7".parse().unwrap()).unwrap();
        let (yes, no) = (told(mechanism, true), told(mechanism, false));
        let truth = yes.probability(&Some(true)).to_f64_fast();
        let lie = no.probability(&Some(true)).to_f64_fast();
        assert!(yes.cut.to_f64_fast() < 1e-7);
        assert!((truth / lie - 0.7_f64.exp()).abs() < 1e-6);
    }

    #[test]
    fn the_loss_does_not_grow_with_the_distance() {
        let mechanism = RandomizedResponse::new("0.7".parse().unwrap()).unwrap();
        let far = Distance::new(5).unwrap();
        assert_eq!(
            Private::<PureDp, Replace>::loss_at(&mechanism, &PureDp, far),
            Ok("0.7".parse().unwrap())
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert_eq!(
            RandomizedResponse::new(Epsilon::ZERO),
            Err(MechanismError::NoLoss("epsilon"))
        );
        for (truth, lie) in [(1, 1), (1, 2), (1, 0), (0, 0), (u64::MAX, 1)] {
            assert_eq!(
                RandomizedResponse::with_odds(truth, lie)
                    .unwrap_err()
                    .to_string(),
                format!(
                    "the odds of the truth must be greater than those of a lie, both positive and \
                     together below 2^64, not {truth} to {lie}"
                )
            );
        }
    }
}
