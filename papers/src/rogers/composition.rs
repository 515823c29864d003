use std::marker::PhantomData;
use std::sync::Arc;

use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::privacy::{AddRemove, ApproxDp, EpsilonDelta, Private, Relation};

/// A mechanism whose realised loss can be computed.
pub trait Likelihood<D: ?Sized> {
    /// What it answers.
    type Answer;

    /// `ln(P[M(zero) = answer] / P[M(one) = answer])`, to the precision of a float.
    fn log_ratio(&self, zero: &D, one: &D, answer: &Self::Answer) -> f64;
}

/// What the adversary names in a round: two neighbouring datasets, and a mechanism.
///
/// The mechanism carries its parameters, as every mechanism here does.
#[derive(Clone, Debug)]
pub struct Challenge<M, D> {
    /// x⁰ and x¹.
    pub pair: [Arc<D>; 2],
    /// The mechanism that is run on one of them.
    pub mechanism: M,
}

/// The game in which the adversary chooses the parameters too (Rogers et al. Alg 2).
///
/// [`interact`](queryables::machine::interact) plays it.
///
/// ```
/// use papers::rogers::{AdaptParamComp, Challenge};
/// use queryables::machine::{interact, NotPrivateSeededCoins, Script};
/// use queryables::mechanisms::ApproxRandomizedResponse;
/// use std::sync::Arc;
///
/// let round = Challenge {
///     pair: [Arc::new(false), Arc::new(true)],
///     mechanism: ApproxRandomizedResponse::with_odds(3, 1, "0".parse()?)?,
/// };
/// let mut game = AdaptParamComp::new(2, false);
/// interact(
///     &mut Script::new([round.clone(), round]),
///     &mut game,
///     &mut NotPrivateSeededCoins::new(1),
///     &mut NotPrivateSeededCoins::new(2),
///     10,
/// );
/// assert_eq!(game.parameters().len(), 2);
/// assert!(game.loss().abs() <= 2.0 * 3_f64.ln() + 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AdaptParamComp<M, D, R = AddRemove> {
    rounds: usize,
    secret: bool,
    loss: f64,
    parameters: Vec<EpsilonDelta>,
    types: PhantomData<fn(Challenge<M, D>) -> R>,
}

impl<M, D> AdaptParamComp<M, D> {
    /// At most `rounds` rounds against this secret bit.
    #[must_use]
    pub fn new(rounds: usize, secret: bool) -> Self {
        Self {
            rounds,
            secret,
            loss: 0.0,
            parameters: Vec::new(),
            types: PhantomData,
        }
    }
}

impl<M, D, R> AdaptParamComp<M, D, R> {
    /// The same game, for mechanisms stated under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, _relation: S) -> AdaptParamComp<M, D, S> {
        AdaptParamComp {
            rounds: self.rounds,
            secret: self.secret,
            loss: self.loss,
            parameters: self.parameters,
            types: PhantomData,
        }
    }

    /// The loss realised by the view so far, `ln(P[V⁰ = v] / P[V¹ = v])` (Rogers et al. eq. 1).
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// The parameters that the adversary has chosen so far.
    #[must_use]
    pub fn parameters(&self) -> &[EpsilonDelta] {
        &self.parameters
    }
}

impl<M, D, R, A> Machine for AdaptParamComp<M, D, R>
where
    M: Mechanism<D, Machine = Released<A>> + Likelihood<D, Answer = A> + Private<ApproxDp, R>,
    R: Relation,
{
    type Query = Challenge<M, D>;
    type Answer = A;

    fn step(&mut self, challenge: Self::Query, coins: &mut Coins<'_>) -> Result<A, Fault> {
        if self.parameters.len() >= self.rounds {
            return Err(Fault::Exhausted);
        }
        let Challenge { pair, mechanism } = challenge;
        let parameters = mechanism
            .loss(&ApproxDp)
            .map_err(|unknown| Fault::InvalidQuery(unknown.0))?;
        let [zero, one] = &pair;
        let data = if self.secret { one } else { zero };
        let Released(answer) = mechanism.start(data, coins)?;
        self.parameters.push(parameters);
        self.loss += mechanism.log_ratio(zero, one, &answer);
        Ok(answer)
    }
}

/// The game in which the parameters of every round are fixed in advance (Rogers et al. Alg 1).
///
/// A round takes mechanisms whose loss is at most that of the round, and there are as many rounds
/// as there are parameters.
#[derive(Clone, Debug)]
pub struct FixedParamComp<M, D, R = AddRemove> {
    classes: Vec<EpsilonDelta>,
    game: AdaptParamComp<M, D, R>,
}

impl<M, D> FixedParamComp<M, D> {
    /// One round for each of these parameters, against this secret bit.
    #[must_use]
    pub fn new(classes: Vec<EpsilonDelta>, secret: bool) -> Self {
        let game = AdaptParamComp::new(classes.len(), secret);
        Self { classes, game }
    }
}

impl<M, D, R> FixedParamComp<M, D, R> {
    /// The same game, for mechanisms stated under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, relation: S) -> FixedParamComp<M, D, S> {
        FixedParamComp {
            classes: self.classes,
            game: self.game.under(relation),
        }
    }

    /// The loss realised by the view so far (Rogers et al. eq. 1).
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.game.loss()
    }
}

impl<M, D, R, A> Machine for FixedParamComp<M, D, R>
where
    M: Mechanism<D, Machine = Released<A>> + Likelihood<D, Answer = A> + Private<ApproxDp, R>,
    R: Relation,
{
    type Query = Challenge<M, D>;
    type Answer = A;

    fn step(&mut self, challenge: Self::Query, coins: &mut Coins<'_>) -> Result<A, Fault> {
        let class = self
            .classes
            .get(self.game.parameters.len())
            .ok_or(Fault::Exhausted)?;
        let loss = challenge
            .mechanism
            .loss(&ApproxDp)
            .map_err(|unknown| Fault::InvalidQuery(unknown.0))?;
        if loss <= *class {
            self.game.step(challenge, coins)
        } else {
            Err(Fault::InvalidQuery("more than this round's parameters"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::machine::CoinSource;
    use queryables::machine::{NotPrivateSeededCoins, Replay};
    use queryables::mechanisms::{ApproxRandomizedResponse, Response};
    use queryables::privacy::Replace;
    use std::collections::HashMap;
    use std::num::NonZeroU64;

    type Bits = Challenge<ApproxRandomizedResponse, bool>;

    fn odds(truth: u64, lie: u64) -> ApproxRandomizedResponse {
        ApproxRandomizedResponse::with_odds(truth, lie, "0".parse().unwrap()).unwrap()
    }

    fn round(mechanism: ApproxRandomizedResponse) -> Bits {
        Challenge {
            pair: [Arc::new(false), Arc::new(true)],
            mechanism,
        }
    }

    fn swapped(mechanism: ApproxRandomizedResponse) -> Bits {
        let Challenge {
            pair: [zero, one],
            mechanism,
        } = round(mechanism);
        Challenge {
            pair: [one, zero],
            mechanism,
        }
    }

    /// Odds 3 : 1, then 6 : 2 with the datasets swapped after ⊤, or 7 : 1 after ⊥.
    fn second(first: Response) -> Bits {
        match first {
            Response::Top => swapped(odds(6, 2)),
            _ => round(odds(7, 1)),
        }
    }

    /// Of 32 equally likely coins, how many lead to each view, and the loss that the game states.
    fn views(secret: bool) -> HashMap<(Response, Response), (u32, f64)> {
        let mut views = HashMap::new();
        for first in 0..4 {
            for then in 0..8 {
                let mut coins = Replay::of([
                    (NonZeroU64::new(4).unwrap(), first),
                    (NonZeroU64::new(8).unwrap(), then),
                ]);
                let mut game = AdaptParamComp::new(2, secret);
                let first = game.step(round(odds(3, 1)), &mut coins.coins()).unwrap();
                let then = game.step(second(first), &mut coins.coins()).unwrap();
                let view = views.entry((first, then)).or_insert((0, game.loss()));
                view.0 += 1;
                assert_eq!(view.1, game.loss());
            }
        }
        views
    }

    #[test]
    fn the_loss_is_the_log_ratio_of_the_views() {
        let (zero, one) = (views(false), views(true));
        assert_eq!(zero.len(), 4);
        for (view, (count, loss)) in &zero {
            let (other_count, other_loss) = one[view];
            let ratio = (f64::from(*count) / f64::from(other_count)).ln();
            assert!((loss - ratio).abs() < 1e-13, "{view:?}");
            // It is a function of the view, not of the secret.
            assert_eq!(*loss, other_loss);
        }
    }

    #[test]
    fn the_adversary_chooses_parameters_and_the_game_remembers_them() {
        let mut coins = NotPrivateSeededCoins::new(0);
        let mut game = AdaptParamComp::new(2, true);
        game.step(round(odds(3, 1)), &mut coins.coins()).unwrap();
        game.step(round(odds(7, 1)), &mut coins.coins()).unwrap();
        assert_eq!(
            game.parameters(),
            [odds(3, 1).epsilon_delta(), odds(7, 1).epsilon_delta()]
        );
        assert_eq!(
            game.step(round(odds(3, 1)), &mut coins.coins()),
            Err(Fault::Exhausted)
        );
        assert_eq!(game.parameters().len(), 2);
    }

    #[test]
    fn fixed_parameters_are_enforced_round_by_round() {
        let mut coins = NotPrivateSeededCoins::new(0);
        let classes = vec![odds(3, 1).epsilon_delta(), odds(7, 1).epsilon_delta()];
        let mut game = FixedParamComp::new(classes, false).under(Replace);
        let too_much = Err(Fault::InvalidQuery("more than this round's parameters"));
        assert_eq!(game.step(round(odds(7, 1)), &mut coins.coins()), too_much);
        assert_eq!(game.loss(), 0.0);
        assert!(game.step(round(odds(2, 1)), &mut coins.coins()).is_ok());
        assert!(game.step(round(odds(7, 1)), &mut coins.coins()).is_ok());
        assert_ne!(game.loss(), 0.0);
        assert_eq!(
            game.step(round(odds(1, 1)), &mut coins.coins()),
            Err(Fault::Exhausted)
        );
    }
}
