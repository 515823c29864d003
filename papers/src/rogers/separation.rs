use std::sync::Arc;

use super::response::{honesty, log_odds, revelation};
use super::{Challenge, Claim, Likelihood};
use queryables::machine::{Adversary, CoinSource, CoinsError, Fault};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};

/// The adversary of Rogers et al. 6.1: plays randomized response round by round and stops as soon
/// as the realised loss exceeds the claim.
///
/// Against a rule that holds only at each fixed time, stopping early is enough to be ahead more
/// often than the rule allows. The parameters come from a schedule; one in which they grow, so that
/// `Σε²` runs through many orders of magnitude, gives it more independent looks.
#[derive(Clone, Debug)]
pub struct StopWhenAhead<C, I> {
    rule: C,
    schedule: I,
    last: Option<ApproxRandomizedResponse>,
    loss: f64,
    ahead: bool,
}

impl<C: Claim, I: Iterator<Item = ApproxRandomizedResponse>> StopWhenAhead<C, I> {
    /// Plays the mechanisms of the schedule against what `rule` claims.
    pub fn new(rule: C, schedule: impl IntoIterator<IntoIter = I>) -> Self {
        Self {
            rule,
            schedule: schedule.into_iter(),
            last: None,
            loss: 0.0,
            ahead: false,
        }
    }

    /// Whether it stopped because the loss exceeds the claim.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.ahead
    }
}

impl<C, I> Adversary for StopWhenAhead<C, I>
where
    C: Claim,
    I: Iterator<Item = ApproxRandomizedResponse>,
{
    type Query = Challenge<ApproxRandomizedResponse, bool>;
    type Answer = Response;

    fn ask(
        &mut self,
        last: Option<&Result<Response, Fault>>,
        _coins: &mut dyn CoinSource,
    ) -> Result<Option<Self::Query>, CoinsError> {
        if let (Some(mechanism), Some(Ok(answer))) = (self.last.take(), last) {
            self.loss += mechanism.log_ratio(&false, &true, answer);
            self.rule.count(&mechanism.epsilon_delta());
            self.ahead = self.loss > self.rule.claimed();
        }
        if self.ahead {
            return Ok(None);
        }
        self.last = self.schedule.next();
        Ok(self.last.map(|mechanism| Challenge {
            pair: [Arc::new(false), Arc::new(true)],
            mechanism,
        }))
    }
}

/// The probability that [`StopWhenAhead`] gets ahead within `rounds` rounds of the same mechanism,
/// if the secret bit is 0.
///
/// The loss is then a walk on the multiples of the log-odds, and its law is followed from round to
/// round. All terms are positive, so that the relative error is below `5·rounds·2⁻⁵³`, except for a
/// claim that is within rounding of a multiple.
///
/// ```
/// use papers::rogers::{NaiveAdvanced, probability_of_getting_ahead};
/// use queryables::mechanisms::ApproxRandomizedResponse;
///
/// let mechanism = ApproxRandomizedResponse::with_odds(11, 10, "0".parse()?)?;
/// let naive = NaiveAdvanced::new("0.01".parse()?);
/// assert!(probability_of_getting_ahead(naive, &mechanism, 1000) > 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probability_of_getting_ahead(
    mut rule: impl Claim,
    mechanism: &ApproxRandomizedResponse,
    rounds: u32,
) -> f64 {
    let (step, reveals) = (log_odds(mechanism), revelation(mechanism));
    let honesty = honesty(mechanism);
    let [up, down] = [honesty, 1.0 - honesty].map(|probability| (1.0 - reveals) * probability);
    // Probability of each position not ahead so far; index i stands for i − rounds − 1, and the
    // ends stay empty.
    let middle = rounds as usize + 1;
    let mut positions = vec![0.0; 2 * middle + 1];
    if let Some(start) = positions.get_mut(middle) {
        *start = 1.0;
    }
    let mut ahead = 0.0;
    for _ in 0..rounds {
        rule.count(&mechanism.epsilon_delta());
        let claim = rule.claimed();
        if claim < f64::INFINITY {
            // A revealed bit is an infinite loss.
            ahead += reveals * positions.iter().sum::<f64>();
        }
        let mut next = vec![0.0; positions.len()];
        let neighbours = positions.iter().zip(positions.iter().skip(2));
        for (offset, (target, (below, above))) in
            next.iter_mut().skip(1).zip(neighbours).enumerate()
        {
            let probability = up * below + down * above;
            let position = (offset + 1) as f64 - middle as f64;
            if position * step > claim {
                ahead += probability;
            } else {
                *target = probability;
            }
        }
        positions = next;
    }
    ahead
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::privacy::EpsilonDelta;

    /// Always claims the same.
    struct Constant(f64);

    impl Claim for Constant {
        fn count(&mut self, _: &EpsilonDelta) {}

        fn claimed(&self) -> f64 {
            self.0
        }
    }

    fn probability(claim: f64, delta: &str, rounds: u32) -> f64 {
        let mechanism = ApproxRandomizedResponse::with_odds(3, 1, delta.parse().unwrap()).unwrap();
        probability_of_getting_ahead(Constant(claim), &mechanism, rounds)
    }

    #[test]
    fn short_walks_by_hand() {
        // Up with 3/4. One step up is a loss of ln 3 = 1.0986….
        for (claim, rounds, expected) in [
            (2.0, 1, 0.0),
            (1.0, 1, 0.75),
            (-1.0, 1, 0.75),
            (-1.1, 1, 1.0),
            // Up; or down, up, up.
            (1.0, 3, 0.75 + 0.25 * 0.5625),
            // Up, up; or one pair up and down, in either order, and then up, up.
            (2.0, 4, 0.5625 + 2.0 * 0.1875 * 0.5625),
        ] {
            let found = probability(claim, "0", rounds);
            assert!((found - expected).abs() < 1e-15, "{claim} {rounds} {found}");
        }
    }

    #[test]
    fn a_revealed_bit_is_ahead_of_every_finite_claim() {
        assert!((probability(100.0, "0.25", 2) - (0.25 + 0.75 * 0.25)).abs() < 1e-15);
        assert_eq!(probability(f64::INFINITY, "0.25", 2), 0.0);
    }
}
