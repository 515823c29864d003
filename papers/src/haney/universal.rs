//! A reserved place for one mechanism.

use std::marker::PhantomData;
use std::sync::Arc;

use queryables::machine::{AnswerKind, Coins, Description, Fault, Machine, Mechanism};
use queryables::privacy::{Measure, Postprocessable, Private, Relation, UnknownLoss};

/// A mechanism that becomes the first mechanism that is named to it, if that one's loss is within
/// its budget (Haney et al. Alg 10).
///
/// # Guarantee
///
/// Its loss is its budget. A deterministic adversary's first admissible query fixes the mechanism,
/// and deterministic adversaries suffice where the measure is jointly convex (Haney et al. 2.3).
///
/// ```
/// use papers::haney::universal::{Universal, UniversalAnswer, UniversalQuery};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let too_dear = Count::of(adults.clone()).laplace(epsilon!(0.6))?;
/// let count = Count::of(adults).laplace(epsilon!(0.5))?;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let place = start(&Universal::new(PureDp, AddRemove, "0.5".parse()?), ages)?;
/// assert_eq!(
///     place.ask(UniversalQuery::Become(too_dear)),
///     Err(AskError::Fault(Fault::InvalidQuery("the mechanism's loss is over the budget"))),
/// );
/// assert_eq!(place.ask(UniversalQuery::Become(count))?, UniversalAnswer::Became);
/// assert!(matches!(place.ask(UniversalQuery::Ask(()))?, UniversalAnswer::Answered(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Universal<Me: Measure, R, M> {
    measure: Me,
    budget: Me::Loss,
    types: PhantomData<fn() -> (R, M)>,
}

impl<Me: Measure, R: Relation, M> Universal<Me, R, M> {
    /// A place for one mechanism with a loss of at most `budget`.
    pub fn new(measure: Me, _relation: R, budget: Me::Loss) -> Self {
        Self {
            measure,
            budget,
            types: PhantomData,
        }
    }
}

impl<Me: Measure, R, M> Clone for Universal<Me, R, M> {
    fn clone(&self) -> Self {
        Self {
            measure: self.measure.clone(),
            budget: self.budget.clone(),
            types: PhantomData,
        }
    }
}

impl<D, Me, R, M> Mechanism<D> for Universal<Me, R, M>
where
    D: ?Sized,
    Me: Measure,
    M: Mechanism<D>,
{
    type Machine = UniversalMachine<D, Me, R, M>;

    fn start(&self, data: &Arc<D>, _coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(UniversalMachine {
            description: self.clone(),
            state: State::Waiting(Arc::clone(data)),
        })
    }

    fn describe(&self) -> Description {
        Description::new("Universal")
            .with("measure", format_args!("{:?}", self.measure))
            .with("budget", &self.budget)
    }
}

impl<Me: Postprocessable, R: Relation, M> Private<Me, R> for Universal<Me, R, M> {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        if *measure == self.measure {
            Ok(self.budget.clone())
        } else {
            Err(UnknownLoss("the universal mechanism has another measure"))
        }
    }
}

/// A query to a [`Universal`] mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UniversalQuery<M, Q> {
    /// Become this mechanism.
    Become(M),
    /// Ask the mechanism that it has become.
    Ask(Q),
}

/// An answer of a [`Universal`] mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UniversalAnswer<A> {
    /// It is that mechanism now.
    Became,
    /// The answer of the mechanism that it has become.
    Answered(A),
}

/// A running [`Universal`] mechanism.
pub struct UniversalMachine<D: ?Sized, Me: Measure, R, M: Mechanism<D>> {
    description: Universal<Me, R, M>,
    state: State<D, M::Machine>,
}

enum State<D: ?Sized, S> {
    Waiting(Arc<D>),
    Became(S),
}

impl<D, Me, R, M> Machine for UniversalMachine<D, Me, R, M>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
    M: Mechanism<D, Machine: Machine> + Private<Me, R>,
{
    type Query = UniversalQuery<M, <M::Machine as Machine>::Query>;
    type Answer = UniversalAnswer<<M::Machine as Machine>::Answer>;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        match (&mut self.state, query) {
            (State::Waiting(data), UniversalQuery::Become(mechanism)) => {
                let Universal {
                    measure, budget, ..
                } = &self.description;
                // The mechanism's own code: this machine may have been stopped when it returns.
                let fits = coins.guarded(|_| {
                    let loss = mechanism.loss(measure);
                    Ok(loss.is_ok_and(|loss| measure.is_valid(&loss) && loss <= *budget))
                })?;
                if !fits {
                    return Err(Fault::InvalidQuery(
                        "the mechanism's loss is over the budget",
                    ));
                }
                // Whatever the fault is, even if only the caller was stopped: the data was touched,
                // and the place is taken.
                let machine = mechanism.start(data, coins).map_err(|_| Fault::Failed)?;
                self.state = State::Became(machine);
                coins.answered(AnswerKind::Launched);
                Ok(UniversalAnswer::Became)
            }
            (State::Became(machine), UniversalQuery::Ask(query)) => {
                machine.step(query, coins).map(UniversalAnswer::Answered)
            }
            (State::Waiting(_), UniversalQuery::Ask(_)) => {
                Err(Fault::InvalidQuery("it has not become a mechanism yet"))
            }
            (State::Became(_), UniversalQuery::Become(_)) => {
                Err(Fault::InvalidQuery("it has become a mechanism already"))
            }
        }
    }
}

impl<D: ?Sized, Me: Measure, R, M: Mechanism<D>> std::fmt::Debug for UniversalMachine<D, Me, R, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UniversalMachine")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Universal, UniversalAnswer, UniversalQuery};
    use crate::support::*;
    use queryables::prelude::*;
    use queryables::privacy::Rdp;

    #[test]
    fn a_universal_mechanism_becomes_one_mechanism_within_its_budget() {
        let universal = Universal::new(PureDp, AddRemove, ln_times(3, 2));
        let budget = universal.loss(&PureDp).unwrap();
        let filter = start(&Filter::concurrent(PureDp, ln_times(3, 4)), Arc::new(true)).unwrap();
        let place = filter.launch(&universal).unwrap();
        assert_eq!(filter.privacy_loss(), budget);
        let becoming = |odds| place.ask(UniversalQuery::Become(once(odds)));
        let invalid = |why| Err(AskError::Fault(Fault::InvalidQuery(why)));
        assert_eq!(
            place.ask(UniversalQuery::Ask(())),
            invalid("it has not become a mechanism yet")
        );
        assert_eq!(
            becoming(10),
            invalid("the mechanism's loss is over the budget")
        );
        assert_eq!(becoming(9), Ok(UniversalAnswer::Became));
        assert!(matches!(
            place.ask(UniversalQuery::Ask(())),
            Ok(UniversalAnswer::Answered(_))
        ));
        assert_eq!(becoming(3), invalid("it has become a mechanism already"));
        assert_eq!(filter.privacy_loss(), budget);
    }

    #[test]
    fn a_universal_mechanism_has_a_loss_under_its_own_measure_only() {
        let order = |text: &str| Rdp::new(text.parse().unwrap());
        let universal = Universal::<_, AddRemove, Respond>::new(order("2"), AddRemove, ln(3));
        assert_eq!(
            universal.loss(&order("4")),
            Err(UnknownLoss("the universal mechanism has another measure"))
        );
        assert_eq!(universal.loss(&order("2")), Ok(ln(3)));
    }
}
