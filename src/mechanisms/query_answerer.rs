//! Counts with a loss chosen for each query, within a budget.

use std::fmt;
use std::sync::Arc;

use super::least_loss::least_loss;
use super::{GaussianCount, MechanismError, Noisy, NoisyCount};
use crate::account::{ChildLoss, ContinuationRule, WholeLoss};
use crate::compose::{Filter, FilterMachine, LaunchError, NonInteractive};
use crate::data::{Dataset, Predicate};
use crate::machine::{
    AnswerKind, Coins, Description, Fault, Machine, Mechanism, Released, ReleasesOnly,
};
use crate::number::{Confidence, Epsilon, Rho};
use crate::privacy::{
    AddRemove, ApproxDp, Distance, Measure, Private, PureDp, Relation, UnknownLoss, ZCdp,
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
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
///
/// // Half of it goes to somebody who only counts.
/// let rule = PureDp.accumulator().capped("0.5".parse()?);
/// let counts = filter.launch(&QueryAnswerer::new(rule))?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
///
/// let rough = counts.ask(Priced::new(adults.clone(), "0.1".parse()?))??;
/// if rough > 500 {
///     let better = counts.ask(Priced::new(adults.clone(), "0.4".parse()?))??;
///     assert!(better.abs_diff(766) < 200);
///     let refused = counts.ask(Priced::new(adults, "0.1".parse()?))?;
///     assert!(matches!(refused, Err(LaunchError::Refused(_))));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// The rule's limit, for neighbours under `R`, against every adaptive choice of predicates and
/// prices: each answer is a [`NoisyCount`] or a [`GaussianCount`] that loses its price, launched in
/// a non-interactive [`Filter`] with this rule. Whether a query is refused depends on prices only.
///
/// The error of an answer is that of a count at its price: [`Priced::with_accuracy`] offers the price for
/// a wanted accuracy.
pub struct QueryAnswerer<F, R = AddRemove> {
    filter: Filter<F, R, NonInteractive>,
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
pub trait Pricing: Measure + sealed::Sealed {
    /// What a query offers.
    type Price;
    /// What answers it.
    type Count<D: ?Sized>;

    /// The count at this price.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if no noise has this price.
    fn count<D: ?Sized>(
        predicate: Predicate<D>,
        price: Self::Price,
    ) -> Result<Self::Count<D>, MechanismError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::PureDp {}
    impl Sealed for super::ApproxDp {}
    impl Sealed for super::ZCdp {}
}

impl Pricing for PureDp {
    type Price = Epsilon;
    type Count<D: ?Sized> = NoisyCount<D>;

    fn count<D: ?Sized>(
        predicate: Predicate<D>,
        price: Epsilon,
    ) -> Result<NoisyCount<D>, MechanismError> {
        NoisyCount::new(predicate, price)
    }
}

impl Pricing for ApproxDp {
    type Price = Epsilon;
    type Count<D: ?Sized> = NoisyCount<D>;

    fn count<D: ?Sized>(
        predicate: Predicate<D>,
        price: Epsilon,
    ) -> Result<NoisyCount<D>, MechanismError> {
        NoisyCount::new(predicate, price)
    }
}

impl Pricing for ZCdp {
    type Price = Rho;
    type Count<D: ?Sized> = GaussianCount<D>;

    fn count<D: ?Sized>(
        predicate: Predicate<D>,
        price: Rho,
    ) -> Result<GaussianCount<D>, MechanismError> {
        GaussianCount::new(predicate, price)
    }
}

/// A predicate, and the price of its count.
pub struct Priced<D: ?Sized, P> {
    /// What is counted.
    pub predicate: Predicate<D>,
    /// What the answer may lose.
    pub price: P,
}

impl<D: ?Sized, P> Priced<D, P> {
    /// This predicate at this price.
    pub fn new(predicate: Predicate<D>, price: P) -> Self {
        Self { predicate, price }
    }
}

/// Queries by their accuracy, for each kind of noise.
macro_rules! by_accuracy {
    ($($Price:ident: $Count:ident, $name:literal;)*) => {$(
        impl<D: ?Sized> Priced<D, $Price> {
            #[doc = concat!("This predicate at the smallest ", $name, " for which its count is at most")]
            #[doc = concat!("`within` away from the true one, with at least this confidence: that of [`",
                stringify!($Count), "`]. It is rounded up to six digits.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("[`MechanismError::TooAccurate`] if no ", $name, " up to 10^6 suffices.")]
            pub fn with_accuracy(
                predicate: Predicate<D>,
                within: u128,
                confidence: Confidence,
            ) -> Result<Self, MechanismError> {
                let make = |price| $Count::new(predicate.clone(), price);
                let is_enough = |made: &$Count<D>| made.noise().is_within(within, confidence);
                let (price, _) = least_loss(make, is_enough)?;
                Ok(Self::new(predicate, price))
            }
        }
    )*};
}

by_accuracy! {
    Epsilon: NoisyCount, "ε";
    Rho: GaussianCount, "ρ";
}

impl<D: ?Sized, P: Clone> Clone for Priced<D, P> {
    fn clone(&self) -> Self {
        Self::new(self.predicate.clone(), self.price.clone())
    }
}

impl<D: ?Sized, P: fmt::Debug> fmt::Debug for Priced<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Priced")
            .field("predicate", &self.predicate)
            .field("price", &self.price)
            .finish()
    }
}

impl<F: ContinuationRule<Children: Pricing>> QueryAnswerer<F> {
    /// Answers as long as this rule admits the prices.
    pub fn new(rule: F) -> Self {
        Self {
            filter: Filter::noninteractive_with(rule),
        }
    }
}

impl<F, R> QueryAnswerer<F, R> {
    /// The same, with its guarantee stated under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, relation: S) -> QueryAnswerer<F, S> {
        QueryAnswerer {
            filter: self.filter.under(relation),
        }
    }
}

impl<D, F, R> Mechanism<D> for QueryAnswerer<F, R>
where
    D: Dataset + ?Sized,
    F: ContinuationRule,
    R: Relation,
{
    type Machine = QueryAnswererMachine<D, F, R>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(QueryAnswererMachine {
            filter: self.filter.start(data, coins)?,
        })
    }

    fn describe(&self) -> Description {
        let filter = Mechanism::<D>::describe(&self.filter);
        Description::new("QueryAnswerer").with_inner("filter", filter)
    }
}

impl<F, R: Relation> ReleasesOnly for QueryAnswerer<F, R> {}

impl<F: ContinuationRule, R: Relation> Private<F::Whole, R> for QueryAnswerer<F, R> {
    fn loss(&self, measure: &F::Whole) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filter.loss(measure)
    }

    fn loss_at(&self, measure: &F::Whole, distance: Distance) -> Result<WholeLoss<F>, UnknownLoss> {
        self.filter.loss_at(measure, distance)
    }
}

impl<F: Clone, R: Relation> Clone for QueryAnswerer<F, R> {
    fn clone(&self) -> Self {
        Self {
            filter: self.filter.clone(),
        }
    }
}

impl<F: fmt::Debug, R: Relation> fmt::Debug for QueryAnswerer<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryAnswerer")
            .field("filter", &self.filter)
            .finish()
    }
}

/// A running [`QueryAnswerer`]: a query is a [`Priced`] predicate, and the answer is a noisy count,
/// or the reason why there is none.
pub struct QueryAnswererMachine<D: ?Sized, F: ContinuationRule, R> {
    filter: FilterMachine<D, F, R, NonInteractive>,
}

impl<D, F, R> Machine for QueryAnswererMachine<D, F, R>
where
    D: Dataset + ?Sized,
    F: ContinuationRule<Children: Pricing>,
    R: Relation,
    <F::Children as Pricing>::Count<D>:
        Mechanism<D, Machine = Released<i64>> + Private<F::Children, R>,
{
    type Query = Priced<D, <F::Children as Pricing>::Price>;
    type Answer = Result<i64, LaunchError<ChildLoss<F>, WholeLoss<F>>>;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let count = F::Children::count(query.predicate, query.price)
            .map_err(|_| Fault::InvalidQuery("no noise has this price"))?;
        match self.filter.release(&count, coins) {
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

impl<D: ?Sized, F: ContinuationRule, R> fmt::Debug for QueryAnswererMachine<D, F, R> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueryAnswererMachine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Accumulator, DefaultAccumulator, ThroughZCdp};
    use crate::compose::Refusal;
    use crate::machine::CoinSource;
    use crate::machine::{NotPrivateSeededCoins, Replay};
    use crate::mechanisms::Accuracy;
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
    fn a_price_is_the_least_for_its_accuracy() {
        let likely = "0.95".parse().unwrap();
        let query = Priced::<Vec<u8>, Epsilon>::with_accuracy(rows_of(1), 30, likely).unwrap();
        assert_eq!(query.price, epsilon("0.0981813"));
        let query = Priced::<Vec<u8>, Rho>::with_accuracy(rows_of(1), 30, likely).unwrap();
        let count = |units: u128| {
            let rho = Rho::from_units(units).unwrap();
            GaussianCount::<Vec<u8>>::new(rows_of(1), rho).unwrap()
        };
        let units = query.price.units();
        assert_eq!(count(units).accuracy(likely), 30);
        let digit = 10_u128.pow(units.ilog10() - 5);
        assert_eq!(count(units - digit).accuracy(likely), 31);
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
