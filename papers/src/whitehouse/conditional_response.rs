//! Randomized response whose parameters depend on what was seen before.

use std::fmt;
use std::sync::Arc;

use queryables::account::{ChildLoss, ContinuationRule, WholeLoss};
use queryables::compose::{Filter, FilterMachine, LaunchError, NonInteractive};
use queryables::machine::{AnswerKind, Coins, Description, Fault, Machine, Mechanism};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};
use queryables::privacy::{AddRemove, Distance, EpsilonDelta, Private, Relation, UnknownLoss};

/// Conditional randomized response (W Def. 7): asked with what was seen so far,
/// `z`, it answers with RR_{ε(z),δ(z)} of its bit.
///
/// Use it to test claims about *adaptive* composition: whatever mechanisms an analyst chooses one
/// after the other, on two neighbours they do no worse than this with the same parameters
/// (W Lemma 11). The caller chooses `z`: the answers so far, or anything else that
/// is public.
///
/// The parameters are charged to a rule of its own, and what the rule does not admit is refused. So
/// its loss is its budget, and it can be launched like any other mechanism.
///
/// ```
/// use queryables::account::{DefaultAccumulator, Accumulator};
/// use papers::whitehouse::ConditionalResponse;
/// use queryables::mechanisms::Response;
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
    use queryables::account::{Accumulator, Capped, DefaultAccumulator, Sum};
    use queryables::compose::Refusal;
    use queryables::machine::{CoinSource, NotPrivateSeededCoins, Replay};
    use queryables::number::Epsilon;
    use queryables::privacy::{ApproxDp, PureDp, Replace};
    use queryables::verify::{Pair, Verifier, VerifyError, copies_of};

    use crate::support::{exact, ratio};

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    /// With the parameters that it is asked for.
    fn respond(
        budget: EpsilonDelta,
    ) -> ConditionalResponse<Capped<Sum<ApproxDp>>, EpsilonDelta, AddRemove> {
        let rule = ApproxDp.accumulator().capped(budget);
        ConditionalResponse::new(rule, |seen: &EpsilonDelta| *seen)
    }

    /// What was seen decides: after ⊤ the bit is revealed twice as often.
    #[test]
    fn given_what_was_seen_the_law_is_that_of_its_parameters() {
        let rule = || ApproxDp.accumulator().capped(pair("0", "0.25"));
        let adaptive = ConditionalResponse::new(rule(), |seen: &Option<Response>| match seen {
            Some(Response::Top) => pair("0", "0.25"),
            _ => pair("0", "0.125"),
        });
        let bits = Pair::new(false, true);
        let revealed = |seen| {
            let verifier = Verifier::new(copies_of(&adaptive), &bits, vec![seen], 1);
            verifier.worst_delta_at(Epsilon::ZERO).unwrap()
        };
        for (seen, revealed_in) in [
            (Some(Response::Top), 4),
            (Some(Response::One), 8),
            (None, 8),
        ] {
            assert_eq!(exact(&revealed(seen)), ratio(1, revealed_in));
        }
    }

    #[test]
    fn views_on_neighbours_are_within_the_budget() {
        let respond = respond(pair("0", "0.5"));
        let bits = Pair::new(false, true);
        let menu = vec![pair("0", "0.25"), pair("0", "0.125")];
        let verifier = Verifier::new(copies_of(&respond), &bits, menu, 3);
        verifier.assert_private(&ApproxDp, &pair("0", "0.5"));
        // The bit is revealed by one of two with probability 7/16 = 0.4375, and by a quarter and two
        // eighths with 1 - 3/4 · (7/8)² = 0.42578.
        let less = verifier.check(&ApproxDp, &pair("0", "0.4374"));
        assert!(less.unwrap().is_refuted());
        verifier.assert_private(&ApproxDp, &pair("0", "0.43751"));
    }

    #[test]
    fn responses_that_are_all_refused_are_an_error_of_the_verifier() {
        let asked = |budget| {
            let respond = respond(budget);
            let bits = Pair::new(false, true);
            Verifier::new(copies_of(&respond), &bits, vec![pair("5", "0.5")], 1)
                .check(&ApproxDp, &pair("0", "0"))
                .map(|verdict| verdict.holds())
        };
        assert_eq!(asked(pair("0.1", "0")), Err(VerifyError::NothingLaunched));
        assert_eq!(asked(pair("5", "0.5")), Ok(false));
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
        let mut machine = respond(pair("0", "0.5"))
            .start(&Arc::new(true), &mut none.coins())
            .unwrap();
        let asked = machine.step(pair("0", "0.25"), &mut none.coins());
        assert_eq!(asked, Err(Fault::Failed));
    }
}
