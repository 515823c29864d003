use std::sync::Arc;

use thiserror::Error;

use super::Likelihood;
use crate::machine::{Bernoulli, Coins, Fault, Mechanism, Released};
use crate::privacy::{
    ApproxDp, Delta, Epsilon, EpsilonDelta, Interval, Private, ProbabilisticDp, PureDp, Relation,
    UnknownLoss,
};

/// Randomized response RR_{ε,δ} (Rogers et al. 2.6): the worst that an (ε, δ)-private mechanism
/// can do on two neighbours (Kairouz, Oh, Viswanath 2015).
///
/// With probability δ it reveals the bit. Otherwise it tells the truth with odds e^ε : 1.
///
/// Odds are ratios of whole numbers here, so that the law is known exactly and can be enumerated;
/// where e^ε is not one, the odds are the next ones below.
///
/// ```
/// use queryables::account::games::{RandomizedResponse, Response};
/// use queryables::machine::{Mechanism, NotPrivateSeededCoins};
/// use std::sync::Arc;
///
/// let mechanism = RandomizedResponse::with_odds(3, 1, "0".parse()?)?;
/// assert!(mechanism.loss().to_string().starts_with("(1.0986122886"));
/// let answer = mechanism.start(&Arc::new(false), &mut NotPrivateSeededCoins::new(0))?.0;
/// assert!(answer == Response::Top || answer == Response::Bottom);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    truth: u64,
    lie: u64,
    reveal: Bernoulli,
    loss: EpsilonDelta,
    log_odds: f64,
}

/// What randomized response answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// The bit is 0 for sure.
    Zero,
    /// ⊤: the bit is rather 0.
    Top,
    /// ⊥: the bit is rather 1.
    Bottom,
    /// The bit is 1 for sure.
    One,
}

/// Why a randomized response cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The truth must be at least as likely as the lie, and the lie possible.
    #[error("odds must be at least 1 : 1, and finite")]
    Odds,
    /// Odds are held in 64 bits.
    #[error("the odds do not fit 64 bits")]
    TooLarge,
    /// As a fraction, δ has a numerator and a denominator of 64 bits.
    #[error("delta is not a fraction with a 64-bit denominator")]
    DeltaTooFine,
}

impl RandomizedResponse {
    /// The one with the largest odds `n : 2^k` that are at most e^ε.
    ///
    /// # Errors
    ///
    /// [`ResponseError::TooLarge`] beyond ε = 42, [`ResponseError::DeltaTooFine`].
    pub fn new(loss: EpsilonDelta) -> Result<Self, ResponseError> {
        // e^ε − 1 keeps all its digits where ε is small; below 2^62 the weights add up to less
        // than 2^64.
        let excess = Interval::from(loss.epsilon).exp_m1().low();
        let lie = (0..=62_u32)
            .rev()
            .map(|power| 1_u64 << power)
            .find(|lie| excess * (*lie as f64) < (1_u64 << 62) as f64)
            .ok_or(ResponseError::TooLarge)?;
        let truth = lie + (excess * (lie as f64)).max(0.0) as u64;
        Self::build(truth, lie, loss)
    }

    /// The one that tells the truth with odds `truth : lie`; its ε is their logarithm, rounded up.
    ///
    /// # Errors
    ///
    /// [`ResponseError::Odds`] if they are not at least 1 : 1, [`ResponseError::TooLarge`] if they
    /// add up to more than 64 bits hold, [`ResponseError::DeltaTooFine`].
    pub fn with_odds(truth: u64, lie: u64, delta: Delta) -> Result<Self, ResponseError> {
        if lie == 0 || truth < lie {
            return Err(ResponseError::Odds);
        }
        truth.checked_add(lie).ok_or(ResponseError::TooLarge)?;
        let epsilon: Epsilon = log_odds(truth, lie).up().ok_or(ResponseError::TooLarge)?;
        Self::build(truth, lie, EpsilonDelta { epsilon, delta })
    }

    fn build(truth: u64, lie: u64, loss: EpsilonDelta) -> Result<Self, ResponseError> {
        Ok(Self {
            truth,
            lie,
            reveal: fraction(loss.delta).ok_or(ResponseError::DeltaTooFine)?,
            loss,
            log_odds: log_odds(truth, lie).middle(),
        })
    }

    /// (ε, δ).
    #[must_use]
    pub fn loss(&self) -> EpsilonDelta {
        self.loss
    }

    /// The logarithm of the odds, to the precision of a float: what ⊤ and ⊥ realise.
    #[must_use]
    pub fn log_odds(&self) -> f64 {
        self.log_odds
    }

    /// The probability of the truth, to the precision of a float, if the bit is not revealed.
    pub(super) fn honesty(&self) -> f64 {
        let (truth, lie) = (self.truth as f64, self.lie as f64);
        truth / (truth + lie)
    }

    /// The probability that the bit is revealed, to the precision of a float.
    pub(super) fn revelation(&self) -> f64 {
        Interval::from(self.loss.delta).middle()
    }
}

/// ln(truth/lie), precise where they are nearly equal.
fn log_odds(truth: u64, lie: u64) -> Interval {
    let [lie, excess] = [lie, truth - lie].map(|weight| Interval::whole(u128::from(weight)));
    if excess == Interval::ZERO {
        return Interval::ZERO;
    }
    (excess / lie).ln_1p()
}

fn fraction(delta: Delta) -> Option<Bernoulli> {
    let (numerator, denominator) = (delta.units(), Delta::ONE.units());
    let divisor = greatest_common_divisor(numerator, denominator);
    Bernoulli::new(
        u64::try_from(numerator / divisor).ok()?,
        u64::try_from(denominator / divisor).ok()?,
    )
}

fn greatest_common_divisor(mut one: u128, mut other: u128) -> u128 {
    while one != 0 {
        (one, other) = (other % one, one);
    }
    other
}

impl Mechanism<bool> for RandomizedResponse {
    type Machine = Released<Response>;

    fn start(&self, data: &Arc<bool>, coins: &mut dyn Coins) -> Result<Self::Machine, Fault> {
        let bit = **data;
        if self.loss.delta != Delta::ZERO && coins.draw(&self.reveal)? == 1 {
            return Ok(Released(if bit { Response::One } else { Response::Zero }));
        }
        let lies = coins.weighted(&[self.truth, self.lie])? == 1;
        Ok(Released(if bit ^ lies {
            Response::Bottom
        } else {
            Response::Top
        }))
    }
}

impl Likelihood<bool> for RandomizedResponse {
    type Answer = Response;

    fn log_ratio(&self, zero: &bool, one: &bool, answer: &Response) -> f64 {
        if zero == one {
            return 0.0;
        }
        let towards_zero = match answer {
            Response::Zero => f64::INFINITY,
            Response::Top => self.log_odds,
            Response::Bottom => -self.log_odds,
            Response::One => f64::NEG_INFINITY,
        };
        if *zero { -towards_zero } else { towards_zero }
    }
}

/// Any two bits are as far apart as neighbours, whatever the relation.
impl<R: Relation> Private<ApproxDp, R> for RandomizedResponse {
    fn loss(&self, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(self.loss)
    }
}

/// What is not revealed realises exactly ±ε (Whitehouse et al. App. D).
impl<R: Relation> Private<ProbabilisticDp, R> for RandomizedResponse {
    fn loss(&self, _: &ProbabilisticDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(self.loss)
    }
}

/// Only if nothing is ever revealed.
impl<R: Relation> Private<PureDp, R> for RandomizedResponse {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        if self.loss.delta == Delta::ZERO {
            Ok(self.loss.epsilon)
        } else {
            Err(UnknownLoss("it reveals the bit with probability delta"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Replay;
    use crate::privacy::Replace;
    use std::num::NonZeroU64;

    const FOUR: NonZeroU64 = NonZeroU64::new(4).unwrap();

    /// How many of the 16 pairs of coins give each answer; odds 3 : 1, δ = 1/4.
    fn counts(bit: bool) -> [u32; 4] {
        let mechanism = RandomizedResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
        let mut counts = [0; 4];
        for first in 0..4 {
            for second in 0..4 {
                let mut coins = Replay::of([(FOUR, first), (FOUR, second)]);
                let Released(answer) = mechanism.start(&Arc::new(bit), &mut coins).unwrap();
                counts[answer as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn the_law_is_that_of_the_definition() {
        // Of 16: δ is 4, and (1 − δ) · 3/4 and (1 − δ) · 1/4 are 9 and 3.
        assert_eq!(counts(false), [4, 9, 3, 0]);
        assert_eq!(counts(true), [0, 3, 9, 4]);
    }

    /// Whitehouse et al. App. F: rounding ⊤ to 1 keeps (ε, δ)-privacy and loses the probabilistic
    /// kind. So nobody may stand between a time-uniform odometer and its mechanisms.
    #[test]
    fn probabilistic_privacy_does_not_survive_postprocessing() {
        let says_one = |bit| {
            let [_, top, _, one] = counts(bit);
            // App. F has ⊤ on the side of 1; here ⊥ is.
            let bottom = 16 - counts(bit)[0] - top - one;
            bottom + one
        };
        let (under_one, under_zero) = (says_one(true), says_one(false));
        assert_eq!((under_one, under_zero), (13, 3));
        // e^ε = 3, δ = 4/16. As (ε, δ)-privacy asks, and no less:
        assert_eq!(under_one, 3 * under_zero + 4);
        // But the realised loss ln(13/3) is above ε = ln 3, with probability 13/16 > δ.
        assert!(under_one > 3 * under_zero && under_one > 4);
    }

    #[test]
    fn answers_realise_the_odds() {
        let mechanism = RandomizedResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
        let ln_3 = 3_f64.ln();
        for (answer, loss) in [
            (Response::Zero, f64::INFINITY),
            (Response::Top, ln_3),
            (Response::Bottom, -ln_3),
            (Response::One, f64::NEG_INFINITY),
        ] {
            let realised = mechanism.log_ratio(&false, &true, &answer);
            assert!(realised == loss || (realised - loss).abs() < 1e-15);
            assert_eq!(mechanism.log_ratio(&true, &false, &answer), -realised);
            assert_eq!(mechanism.log_ratio(&true, &true, &answer), 0.0);
        }
    }

    #[test]
    fn odds_are_below_what_is_stated_and_close() {
        for text in ["0", "1e-9", "0.1", "0.6931471805599453", "1", "20", "42"] {
            let loss = EpsilonDelta::new(text, "0").unwrap();
            let mechanism = RandomizedResponse::new(loss).unwrap();
            let epsilon: f64 = text.parse().unwrap();
            assert!(mechanism.log_odds() <= epsilon * (1.0 + 1e-15), "{text}");
            assert!(mechanism.log_odds() >= epsilon * (1.0 - 1e-9), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_built() {
        let zero = Delta::ZERO;
        for (truth, lie, error) in [
            (1, 0, ResponseError::Odds),
            (1, 2, ResponseError::Odds),
            (u64::MAX, 1, ResponseError::TooLarge),
        ] {
            assert_eq!(RandomizedResponse::with_odds(truth, lie, zero), Err(error));
        }
        assert_eq!(
            RandomizedResponse::new(EpsilonDelta::new("50", "0").unwrap()),
            Err(ResponseError::TooLarge)
        );
        assert_eq!(
            RandomizedResponse::with_odds(1, 1, "1e-38".parse().unwrap()),
            Err(ResponseError::DeltaTooFine)
        );
    }

    #[test]
    fn it_is_purely_private_only_if_it_reveals_nothing() {
        let loss = |delta: &str| {
            let mechanism = RandomizedResponse::with_odds(1, 1, delta.parse().unwrap()).unwrap();
            Private::<PureDp, Replace>::loss(&mechanism, &PureDp)
        };
        assert_eq!(loss("0"), Ok(Epsilon::ZERO));
        assert_eq!(
            loss("0.1"),
            Err(UnknownLoss("it reveals the bit with probability delta"))
        );
    }
}
