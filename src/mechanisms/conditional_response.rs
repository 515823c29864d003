//! Randomized response whose parameters depend on what was seen before.

use std::fmt;
use std::sync::Arc;

use super::ApproxRandomizedResponse;
use super::approx_randomized_response::Response;
use crate::account::{ChildLoss, ContinuationRule, WholeLoss};
use crate::compose::{Filter, FilterMachine, LaunchError, NonInteractive};
use crate::machine::{AnswerKind, Coins, Description, Fault, Machine, Mechanism};
use crate::privacy::{AddRemove, Distance, EpsilonDelta, Private, Relation, UnknownLoss};

/// Conditional randomized response (Whitehouse et al. Def. 7): asked with what was seen so far,
/// `z`, it answers with RR_{ε(z),δ(z)} of its bit.
///
/// Use it to test claims about *adaptive* composition: whatever mechanisms an analyst chooses one
/// after the other, on two neighbours they do no worse than this with the same parameters
/// (Whitehouse et al. Lemma 11). The caller chooses `z`: the answers so far, or anything else that
/// is public.
///
/// The parameters are charged to a rule of its own, and what the rule does not admit is refused. So
/// its loss is its budget, and it can be launched like any other mechanism.
///
/// ```
/// use queryables::account::{DefaultAccumulator, Accumulator};
/// use queryables::mechanisms::{ConditionalResponse, Response};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // More is spent on the second answer if the first was ⊤.
/// let (little, much) = (EpsilonDelta::new("0.1", "0")?, EpsilonDelta::new("0.5", "1e-6")?);
/// let parameters = move |seen: &Option<Response>| match seen {
///     Some(Response::Top) => much,
///     _ => little,
/// };
/// let rule = ApproxDp.accumulator().capped(EpsilonDelta::new("0.6", "1e-6")?);
/// let bit = start(&ConditionalResponse::new(rule, parameters), Arc::new(true))?;
///
/// let first = bit.ask(None)??;
/// let second = bit.ask(Some(first))??;
/// assert!(first != Response::Zero && second != Response::Zero);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// The rule's limit, under every neighbouring relation: each answer is a [`ApproxRandomizedResponse`], and
/// they are launched in a non-interactive [`Filter`] with this rule.
pub struct ConditionalResponse<F, Z, R = AddRemove> {
    filter: Filter<F, R, NonInteractive>,
    parameters: Parameters<Z>,
}

type Parameters<Z> = Arc<dyn Fn(&Z) -> EpsilonDelta + Send + Sync>;

impl<F: ContinuationRule, Z> ConditionalResponse<F, Z> {
    /// Answers with the parameters that the function gives for `z`, as long as the rule admits
    /// them.
    ///
    /// The function is public, as its argument is: it must not know the bit.
    pub fn new(rule: F, parameters: impl Fn(&Z) -> EpsilonDelta + Send + Sync + 'static) -> Self {
        Self {
            filter: Filter::noninteractive_with(rule),
            parameters: Arc::new(parameters),
        }
    }
}

impl<F, Z, R> ConditionalResponse<F, Z, R> {
    /// The same, with its guarantee stated under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, relation: S) -> ConditionalResponse<F, Z, S> {
        ConditionalResponse {
            filter: self.filter.under(relation),
            parameters: self.parameters,
        }
    }
}

impl<F: ContinuationRule, Z, R: Relation> Mechanism<bool> for ConditionalResponse<F, Z, R> {
    type Machine = ConditionalResponseMachine<F, Z, R>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(ConditionalResponseMachine {
            filter: self.filter.start(data, coins)?,
            parameters: Arc::clone(&self.parameters),
        })
    }

    fn describe(&self) -> Description {
        let filter = Mechanism::<bool>::describe(&self.filter);
        let description = Description::new("ConditionalResponse");
        description.with_inner("filter", filter).incomplete()
    }
}

impl<F: ContinuationRule, Z, R: Relation> Private<F::Whole, R> for ConditionalResponse<F, Z, R> {
    fn loss(&self, measure: &F::Whole) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filter.loss(measure)
    }

    fn loss_at(&self, measure: &F::Whole, distance: Distance) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filter.loss_at(measure, distance)
    }
}

impl<F: Clone, Z, R: Relation> Clone for ConditionalResponse<F, Z, R> {
    fn clone(&self) -> Self {
        Self {
            filter: self.filter.clone(),
            parameters: Arc::clone(&self.parameters),
        }
    }
}

impl<F: fmt::Debug, Z, R: Relation> fmt::Debug for ConditionalResponse<F, Z, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConditionalResponse")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

/// A running [`ConditionalResponse`]: a query is what was seen, and the answer is a [`Response`],
/// or the reason why there is none.
pub struct ConditionalResponseMachine<F: ContinuationRule, Z, R> {
    filter: FilterMachine<bool, F, R, NonInteractive>,
    parameters: Parameters<Z>,
}

impl<F: ContinuationRule, Z, R: Relation> Machine for ConditionalResponseMachine<F, Z, R>
where
    ApproxRandomizedResponse: Private<F::Children, R>,
{
    type Query = Z;
    type Answer = Result<Response, LaunchError<ChildLoss<F>, WholeLoss<F>>>;

    fn step(&mut self, seen: Z, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let parameters = coins.guarded(|_| Ok((self.parameters)(&seen)))?;
        let response = ApproxRandomizedResponse::new(parameters);
        match self.filter.release(&response, coins) {
            Err(LaunchError::Failed) => {
                // A start that was stopped fails, too. If only the caller was, others may ask on.
                coins.check()?;
                Err(Fault::Failed)
            }
            Err(refused) => {
                coins.answered(AnswerKind::NotLaunched);
                Ok(Err(refused))
            }
            answer => Ok(answer),
        }
    }
}

impl<F: ContinuationRule, Z, R> fmt::Debug for ConditionalResponseMachine<F, Z, R> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConditionalResponseMachine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Accumulator, Capped, DefaultAccumulator, Sum};
    use crate::compose::Refusal;
    use crate::machine::CoinSource;
    use crate::machine::{NotPrivateSeededCoins, Replay};
    use crate::number::{Delta, Epsilon};
    use crate::prelude::*;
    use crate::privacy::{ApproxDp, PureDp, Replace};
    use crate::tests::enumerate::{Enumeration, enumerate};
    use dashu_ratio::RBig;

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    type Seen = Option<Response>;

    /// A fair coin, and after ⊤ one that is revealed with probability 1/4: parameters that depend
    /// on the answers, with odds that are rational.
    fn adaptive() -> ConditionalResponse<Capped<Sum<ApproxDp>>, Seen> {
        let rule = ApproxDp.accumulator().capped(pair("0", "0.5"));
        ConditionalResponse::new(rule, |seen: &Seen| match seen {
            None => pair("0", "0.25"),
            Some(Response::Top) => pair("0", "0.25"),
            Some(_) => pair("0", "0.125"),
        })
    }

    fn views(bit: bool) -> Enumeration<[Response; 2]> {
        enumerate(0.0, |coins| {
            let mut machine = adaptive()
                .start(&Arc::new(bit), &mut Coins::new(&mut *coins))
                .unwrap();
            let first = machine
                .step(None, &mut Coins::new(&mut *coins))
                .unwrap()
                .unwrap();
            [
                first,
                machine
                    .step(Some(first), &mut Coins::new(&mut *coins))
                    .unwrap()
                    .unwrap(),
            ]
        })
    }

    #[test]
    fn given_what_was_seen_the_law_is_that_of_its_parameters() {
        let views = views(true);
        assert_eq!(views.cut, RBig::ZERO);
        let probability = |first, then| views.probability(&[first, then]).to_f64_fast();
        // ⊤ has 3/8. After it the bit is revealed with 1/4, after the others with 1/8.
        assert_eq!(probability(Response::Top, Response::One), 0.375 * 0.25);
        assert_eq!(probability(Response::Bottom, Response::One), 0.375 * 0.125);
        assert_eq!(probability(Response::One, Response::One), 0.25 * 0.125);
        assert_eq!(probability(Response::Top, Response::Top), 0.375 * 0.375);
        assert_eq!(probability(Response::Top, Response::Zero), 0.0);
    }

    /// At ε = 0 the hockey stick is the total variation distance. A view reveals with 1/4 in the
    /// first round, and else with 1/4 after ⊤ and 1/8 after ⊥, each of which has 3/8.
    #[test]
    fn views_on_neighbours_are_within_the_budget() {
        let (zero, one) = (views(false), views(true));
        let distance: f64 = zero
            .outcomes
            .iter()
            .map(|(view, mass)| (mass - one.probability(view)).to_f64_fast().max(0.0))
            .sum();
        assert_eq!(distance, 0.25 + 0.375 * 0.25 + 0.375 * 0.125);
        let loss = Private::<ApproxDp, AddRemove>::loss(&adaptive(), &ApproxDp).unwrap();
        assert!(loss.delta >= Delta::try_from(distance).unwrap());
    }

    #[test]
    fn what_is_over_budget_is_refused_and_costs_nothing() {
        let epsilon = |text: &str| text.parse::<Epsilon>().unwrap();
        let rule = PureDp.accumulator().capped(epsilon("1"));
        let mechanism = ConditionalResponse::new(rule, |loss: &EpsilonDelta| *loss).under(Replace);
        let mut coins = NotPrivateSeededCoins::new(3);
        let mut machine = mechanism
            .start(&Arc::new(true), &mut coins.coins())
            .unwrap();
        let mut ask = |text, delta| machine.step(pair(text, delta), &mut coins.coins()).unwrap();
        assert!(ask("0.75", "0").is_ok());
        let refusal = Refusal {
            spent: epsilon("0.75"),
            set_aside: None,
            requested: epsilon("0.5"),
            remaining: epsilon("0.25"),
            limit: epsilon("1"),
        };
        assert_eq!(ask("0.5", "0"), Err(LaunchError::Refused(refusal)));
        // Pure privacy has no loss for a mechanism that may reveal the bit.
        let unknown = UnknownLoss("this measure has no loss where δ > 0");
        assert_eq!(ask("0.1", "0.1"), Err(LaunchError::UnknownLoss(unknown)));
        assert!(ask("0.25", "0").is_ok());
        assert!(matches!(ask("1e-27", "0"), Err(LaunchError::Refused(_))));
    }

    #[test]
    fn coins_that_fail_end_it() {
        let mut none = Replay::of([]);
        let mut machine = adaptive()
            .start(&Arc::new(true), &mut none.coins())
            .unwrap();
        assert_eq!(machine.step(None, &mut none.coins()), Err(Fault::Failed));
    }
}
