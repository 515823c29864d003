//! Counts with a loss chosen for each query, within a budget.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{AddedNoise, Count, Counts, GaussianNoise, LaplaceNoise, RowRelation, Source, Under};
use crate::account::{ChildLoss, ContinuationRule, WholeLoss};
use crate::compose::{Filter, FilterMachine, LaunchError, NonInteractive};
use crate::machine::{AnswerKind, Coins, Description, Fault, Machine, Mechanism, ReleasesOnly};
use crate::number::{Epsilon, Rho};
use crate::privacy::{
    AddRemove, ApproxDp, Distance, Measure, Prices, Private, PureDp, Relation, UnknownLoss, ZCdp,
};

/// Answers counting queries, each with its own price, until its budget is spent.
///
/// Use it to hand out one queryable instead of a compositor: the analyst can count, and choose the
/// price of each query, but cannot launch anything else. Any rule can be used. With
/// [`ThroughRdp`](crate::account::ThroughRdp), many cheap answers cost far less than the sum of
/// their prices.
///
/// What is over budget is refused and costs nothing; a cheaper query may still be answered.
///
/// ```
/// use queryables::account::{DefaultAccumulator, Accumulator};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Priced, QueryAnswerer};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<u32>> = Arc::new((0..1000).map(|person| person % 80).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// // Half of it goes to somebody who only counts.
/// let rule = PureDp.accumulator().capped(epsilon!(0.5));
/// let counts = filter.launch(&QueryAnswerer::new(rule))?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
///
/// let rough = counts.ask(Priced::new(adults.clone(), epsilon!(0.1)))??;
/// if rough > 500 {
///     let better = counts.ask(Priced::new(adults.clone(), epsilon!(0.4)))??;
///     assert!(better.abs_diff(766) < 200);
///     let refused = counts.ask(Priced::new(adults, epsilon!(0.1)))?;
///     assert!(matches!(refused, Err(LaunchError::Refused(_))));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// The rule's limit, for neighbours under `R`, against every adaptive choice of questions and
/// prices: each answer is a [`Count`] that loses its price, launched in a non-interactive [`Filter`] with this rule. Whether a query is refused depends on prices only.
///
/// The error of an answer is that of a count at its price.
pub struct QueryAnswerer<Q, F, R = AddRemove> {
    filter: Filter<F, R, NonInteractive>,
    questions: PhantomData<fn(Q)>,
}

/// A measure in which counts have a price.
///
/// Sealed, because the guarantee of [`QueryAnswerer`] is about these counts:
///
/// | measure | price | noise |
/// |---|---|---|
/// | [`PureDp`] | ε | discrete Laplace, of scale 1/ε |
/// | [`ApproxDp`] | ε | the same, whose loss is (ε, 0) |
/// | [`ZCdp`] | ρ | rounded Gaussian, of variance 1/(2ρ) |
pub trait Pricing: Measure + Prices<<Self::Noise as AddedNoise>::Fact> + sealed::Sealed {
    /// What a count may lose.
    type Price;
    /// The noise of a count.
    type Noise: AddedNoise<Loss: From<Self::Price>>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::PureDp {}
    impl Sealed for super::ApproxDp {}
    impl Sealed for super::ZCdp {}
}

impl Pricing for PureDp {
    type Price = Epsilon;
    type Noise = LaplaceNoise;
}

impl Pricing for ApproxDp {
    type Price = Epsilon;
    type Noise = LaplaceNoise;
}

impl Pricing for ZCdp {
    type Price = Rho;
    type Noise = GaussianNoise;
}

/// A question, and the price of its count.
///
/// For a count of a wanted accuracy, take the loss of a [`Count`] that is made for it
/// ([`QueryExt::laplace_within`](super::QueryExt::laplace_within)).
#[derive(Clone, Debug)]
pub struct Priced<Q, P> {
    /// What is counted.
    pub question: Q,
    /// What the answer may lose.
    pub price: P,
}

impl<Q, P> Priced<Q, P> {
    /// This question at this price.
    pub fn new(question: Q, price: P) -> Self {
        Self { question, price }
    }
}

impl<Q: Source, F: ContinuationRule<Children: Pricing>> QueryAnswerer<Q, F> {
    /// Answers as long as this rule admits the prices.
    pub fn new(rule: F) -> Self {
        Self {
            filter: Filter::noninteractive_with(rule),
            questions: PhantomData,
        }
    }
}

impl<Q, F, R> QueryAnswerer<Q, F, R> {
    /// The same, with its guarantee stated under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, relation: S) -> QueryAnswerer<Q, F, S> {
        QueryAnswerer {
            filter: self.filter.under(relation),
            questions: PhantomData,
        }
    }
}

impl<D, Q, F, R> Mechanism<D> for QueryAnswerer<Q, F, R>
where
    D: Counts<Q> + ?Sized,
    F: ContinuationRule,
    R: Relation,
{
    type Machine = QueryAnswererMachine<D, Q, F, R>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(QueryAnswererMachine {
            filter: self.filter.start(data, coins)?,
            questions: PhantomData,
        })
    }

    fn describe(&self) -> Description {
        let filter = Mechanism::<D>::describe(&self.filter);
        Description::new("QueryAnswerer").with_inner("filter", filter)
    }
}

impl<Q, F, R: Relation> ReleasesOnly for QueryAnswerer<Q, F, R> {}

impl<Q, F: ContinuationRule, R: Relation> Private<F::Whole, R> for QueryAnswerer<Q, F, R> {
    fn loss(&self, measure: &F::Whole) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filter.loss(measure)
    }

    fn loss_at(&self, measure: &F::Whole, distance: Distance) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filter.loss_at(measure, distance)
    }
}

crate::clone_fields!([Q, F: Clone, R: Relation] QueryAnswerer<Q, F, R> { filter, questions });
crate::debug_fields!([Q, F: std::fmt::Debug, R: Relation] QueryAnswerer<Q, F, R>, "QueryAnswerer" { filter });

/// A running [`QueryAnswerer`]: a query is a [`Priced`] predicate, and the answer is a noisy count,
/// or the reason why there is none.
pub struct QueryAnswererMachine<D: ?Sized, Q, F: ContinuationRule, R> {
    filter: FilterMachine<D, F, R, NonInteractive>,
    questions: PhantomData<fn(Q)>,
}

impl<D, Q, F, R> Machine for QueryAnswererMachine<D, Q, F, R>
where
    D: Counts<Q> + ?Sized,
    Q: Source,
    F: ContinuationRule<Children: Pricing>,
    R: RowRelation,
{
    type Query = Priced<Q, <F::Children as Pricing>::Price>;
    type Answer = Result<i64, LaunchError<ChildLoss<F>, WholeLoss<F>>>;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let count = Under::<_, R>::new(Count::of(query.question));
        let count = count
            .noise::<<F::Children as Pricing>::Noise>(query.price.into())
            .map_err(|_| Fault::InvalidQuery("no noise has this price"))?;
        match self.filter.release(&count, coins) {
            Err(LaunchError::Failed) => {
                // A start that was stopped fails, too. If only the caller was, others may ask on.
                coins.check()?;
                Err(Fault::Failed)
            }
            Err(LaunchError::DomainMismatch(mismatch)) => Err(mismatch.into()),
            Err(refused) => {
                coins.answered(AnswerKind::NotLaunched);
                Ok(Err(refused))
            }
            answer => Ok(answer),
        }
    }
}

crate::debug_fields!([D: ?Sized, Q, F: ContinuationRule, R] QueryAnswererMachine<D, Q, F, R>, "QueryAnswererMachine");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Accumulator, DefaultAccumulator, ThroughZCdp};
    use crate::compose::Refusal;
    use crate::machine::CoinSource;
    use crate::machine::{NotPrivateSeededCoins, Replay};
    use crate::prelude::*;
    use crate::privacy::{EpsilonDelta, Replace};
    use crate::tests::enumerate::{Enumeration, enumerate_laws};
    use crate::tests::exact::{rows_of, violation};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    /// The view of an analyst who pays 1 for a first count, and for a second one 1 if the first was
    /// zero and otherwise 2, within this budget.
    fn views(rows: &[u8], budget: &str) -> Enumeration<[Option<i64>; 2]> {
        let data = Arc::new(rows.to_vec());
        let rule = PureDp.accumulator().capped(epsilon(budget));
        let mechanism = QueryAnswerer::new(rule).under(Replace);
        enumerate_laws(9, |coins| {
            let mut machine = mechanism
                .start(&data, &mut Coins::new(&mut *coins))
                .unwrap();
            let mut ask = |price| {
                let query = Priced::new(rows_of(1), epsilon(price));
                machine.step(query, &mut Coins::new(&mut *coins)).ok()?.ok()
            };
            let first = ask("1");
            let second = ask(if first == Some(0) { "1" } else { "2" });
            [first, second]
        })
    }

    #[test]
    fn adaptive_views_on_neighbours_are_within_the_budget() {
        let exceeds = |budget: &str, loss: &str| {
            let (one, other) = (views(&[1], budget), views(&[2], budget));
            assert!(one.cut.to_f64_fast() < 0.001 && other.cut.to_f64_fast() < 0.001);
            let loss = epsilon(loss);
            violation(&one, &other, loss).is_some() || violation(&other, &one, loss).is_some()
        };
        // The more expensive way costs 3, and is refused where only 2 may be spent.
        assert!(!exceeds("3", "3"));
        assert!(exceeds("3", "2.9"));
        assert!(!exceeds("2", "2"));
        assert!(exceeds("2", "1.9"));
    }

    #[test]
    fn what_is_over_budget_is_refused_and_costs_nothing() {
        let rule = PureDp.accumulator().capped(epsilon("1"));
        let mechanism = QueryAnswerer::new(rule);
        assert_eq!(mechanism.loss(&PureDp), Ok(epsilon("1")));
        let mut coins = NotPrivateSeededCoins::new(3);
        let data = Arc::new(vec![1_u8, 2]);
        let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
        let mut ask =
            |price| machine.step(Priced::new(rows_of(1), epsilon(price)), &mut coins.coins());
        assert!(ask("0.75").unwrap().is_ok());
        let refusal = Refusal {
            spent: epsilon("0.75"),
            set_aside: None,
            requested: epsilon("0.5"),
            remaining: epsilon("0.25"),
            limit: epsilon("1"),
        };
        assert_eq!(ask("0.5"), Ok(Err(LaunchError::Refused(refusal))));
        assert_eq!(
            ask("0"),
            Err(Fault::InvalidQuery("no noise has this price"))
        );
        assert!(ask("0.25").unwrap().is_ok());
        assert!(matches!(ask("1e-27"), Ok(Err(LaunchError::Refused(_)))));
    }

    #[test]
    fn a_better_rule_answers_more() {
        let answered = |mut ask: Box<dyn FnMut() -> bool>| (0..1000).take_while(|_| ask()).count();
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let query = || Priced::new(rows_of(1), epsilon("0.01"));
        macro_rules! count {
            ($rule:expr) => {{
                let mut coins = NotPrivateSeededCoins::new(3);
                let mechanism = QueryAnswerer::new($rule);
                let mut machine = mechanism
                    .start(&Arc::new(vec![1_u8]), &mut coins.coins())
                    .unwrap();
                answered(Box::new(move || {
                    machine.step(query(), &mut coins.coins()).unwrap().is_ok()
                }))
            }};
        }
        assert_eq!(count!(ApproxDp.accumulator().capped(limit)), 100);
        assert!(count!(ThroughZCdp::tight(limit, limit.delta).unwrap()) > 400);
    }

    #[test]
    fn counts_are_sold_by_the_rho_too() {
        let rule = ZCdp.accumulator().capped("1000000".parse().unwrap());
        let mechanism = QueryAnswerer::new(rule);
        let mut coins = NotPrivateSeededCoins::new(3);
        let data = Arc::new(vec![1_u8, 2, 1]);
        let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
        // With a ρ of a million the noise is negligible.
        let query = Priced::new(rows_of(1), "1000000".parse().unwrap());
        assert_eq!(machine.step(query.clone(), &mut coins.coins()), Ok(Ok(2)));
        let over = machine.step(query, &mut coins.coins()).unwrap();
        assert!(matches!(over, Err(LaunchError::Refused(_))));
    }

    #[test]
    fn coins_that_fail_end_it() {
        let rule = PureDp.accumulator().capped(epsilon("1"));
        let mechanism = QueryAnswerer::new(rule);
        let mut none = Replay::of([]);
        let mut machine = mechanism
            .start(&Arc::new(vec![1_u8]), &mut none.coins())
            .unwrap();
        let query = Priced::new(rows_of(1), epsilon("0.5"));
        assert_eq!(machine.step(query, &mut none.coins()), Err(Fault::Failed));
    }
}
