//! Rules under which every record can have a budget of its own: how a rule's losses become the
//! units that a record pays.
//!
//! The filter that keeps the accounts is in [`compose`](crate::compose::IndividualFilter), and the
//! queries that it answers are in [`mechanisms::individual`](crate::mechanisms::individual).

#[cfg(feature = "fdp")]
use super::NaturalFilter;
use super::menu::MenuFilter;
use super::{
    Capped, ChildLoss, ContinuationRule, RdpChildren, RootSumSquares, Sum, ThroughRdp, ThroughZCdp,
    ZCdpChildren, rdp_left, zcdp_left,
};
use crate::number::{Delta, Epsilon, Mu, Rho, U256};
#[cfg(feature = "fdp")]
use crate::privacy::Gdp;
#[cfg(feature = "fdp")]
use crate::privacy::fdp::{RepeatedMechanism, Repetitions};
use crate::privacy::{
    ApproxDp, EpsilonDelta, Overflow, PureDp, Rdp, RdpGrid, UnknownLoss, ZCdp, half_square,
};

/// A rule whose theorem needs two views to be close on one pair of datasets only, and for which
/// what a record has spent is a number, and δ where children may have one ([`RecordCost`]).
///
/// With such a rule each record can pay for itself
/// ([`IndividualFilter`](crate::compose::IndividualFilter)): the record is charged what it can lose
/// by each query, and takes part as long as its own budget allows.
///
/// | rule | the number counts | δ that a record may spend |
/// |---|---|---|
/// | [`Sum`] under pure DP and Rényi DP of one order | ε | – |
/// | [`Sum`] under (ε, δ)-DP | ε | that of the limit |
/// | [`Sum`] under zCDP | ρ | – |
/// | [`ThroughZCdp`], of which [`simple`](ThroughZCdp::simple) is Whitehouse et al. Thm 2 | ρ | what the slack leaves |
/// | [`RootSumSquares`], [`NaturalFilter`] on [`Gdp`] | μ²/2 | – |
/// | [`ThroughRdp`] | ε at its order | what the slack leaves |
/// | [`Sum`] and [`NaturalFilter`] on [`RepeatedMechanism`] | launches of the base mechanism | – |
/// | [`MenuFilter`] | costs of its price list | what the slack leaves |
///
/// Where a record may spend δ, its account is two numbers, and it takes part while it can pay with
/// both. A curve on a grid would be more: choose one order of it, by [`ThroughRdp`] or [`Rdp`].
/// [`Rogers`](super::Rogers) adds up two numbers and δ, and admits less than [`ThroughZCdp`].
///
/// # Guarantee
///
/// For whoever implements it: if the laws of each answer, given those before, are within the loss
/// of each other *on one fixed pair of datasets*, and the prices of these losses add up to at most
/// [`record_budget`](Self::record_budget), then the laws of all answers on this pair are within the
/// [`limit`](ContinuationRule::limit). The rules here are stated for one pair in their sources: sums
/// (Rogers et al. 3.3; Feldman and Zrnic 4.3 and Rem. 4.4), GDP and other chains (Tran et al. 2.11,
/// 3.6), the conversions of such sums to (ε, δ), and the price list (`spec/menu_filter.md`). That a
/// pair of laws within (ε, δ) is, with probability at least 1 − δ, within ε is a statement about this pair,
/// too (Kairouz, Oh, Viswanath 2015), so it holds where children have a δ (Whitehouse et al. Thm 1
/// and 2). `spec/individual.md` has the theorem that uses this.
#[diagnostic::on_unimplemented(
    message = "no theorem lets each record pay for itself under `{Self}`",
    label = "this rule has no individual form",
    note = "individual budgets need a rule that is valid on one pair of datasets, and one number \
            per record beside δ: pure DP, (ε, δ)-DP, Rényi DP of one order, zCDP, GDP, `ThroughZCdp`, \
            `ThroughRdp`, `NaturalFilter` or `MenuFilter`",
    note = "for a grid of Rényi orders, choose one of them: `Rdp::new(order)`, or \
            `ThroughRdp::on_grid_at`"
)]
pub trait ValidIndividually: ContinuationRule {
    /// Whether a change of s steps costs exactly s times what one step costs, under noise for which
    /// pure privacy says so.
    const STEPS_ADD_UP: bool = false;

    /// What one record may spend, rounded down.
    fn record_budget(&self) -> RecordCost;

    /// What a record pays for this loss, rounded up.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the rule has no price for it.
    fn record_price(&self, loss: &ChildLoss<Self>) -> Result<RecordCost, UnknownLoss>;

    /// A budget as a cost: what a record with this budget of its own can pay for. If losses add up
    /// as they are, it is rounded down. If they are converted first, several that it pays for may
    /// lose more than this together.
    fn record_worth(&self, budget: &ChildLoss<Self>) -> RecordCost;

    /// A loss that costs at least this, rounded up; `None`, as by default, if the number is not a
    /// loss.
    fn record_loss(&self, _cost: RecordCost) -> Option<ChildLoss<Self>> {
        None
    }
}

/// What a record spends under a rule that is [`ValidIndividually`].
///
/// ```
/// use queryables::account::{Accumulator, RecordCost, Sum, ValidIndividually};
/// use queryables::privacy::{ApproxDp, EpsilonDelta};
///
/// let rule = Sum::new(ApproxDp).capped(EpsilonDelta::new("1", "1e-6")?);
/// let price = rule.record_price(&EpsilonDelta::new("0.1", "1e-9")?)?;
/// assert_eq!(price, RecordCost { number: 10_u128.pow(26), delta: "1e-9".parse()? });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordCost {
    /// In the smallest units of the rule.
    pub number: u128,
    /// The δ of children, which add up beside the number.
    pub delta: Delta,
}

impl RecordCost {
    fn without_delta(number: u128) -> Self {
        Self {
            number,
            delta: Delta::ZERO,
        }
    }
}

/// A rule under which Gaussian noise costs a record in proportion to the square of its
/// contribution's length.
///
/// Example: [`RecordCost`](crate::account::RecordCost).
///
/// # Guarantee
///
/// ρ = ‖v‖²/(2σ²) under zCDP, α times that under Rényi DP of order α, and μ²/2 is ρ under GDP. So
/// the price of a vector is the price of the longest, times the ratio of their squares.
#[diagnostic::on_unimplemented(
    message = "Gaussian noise does not cost a record the square of its contribution under `{Self}`",
    note = "use zCDP, GDP, Rényi DP of one order, `ThroughZCdp::for_zcdp`, \
            `ThroughRdp::on_grid_at`, or `NaturalFilter` on `Gdp`"
)]
pub trait SquaresAddUp: ValidIndividually {}

impl SquaresAddUp for Capped<Sum<ZCdp>> {}
impl SquaresAddUp for Capped<Sum<Rdp>> {}
impl SquaresAddUp for Capped<RootSumSquares> {}
#[cfg(feature = "fdp")]
impl SquaresAddUp for NaturalFilter<Gdp> {}
impl SquaresAddUp for ThroughZCdp<ZCdp> {}
impl SquaresAddUp for ThroughRdp<RdpGrid> {}

/// A loss that is one number, or one number and δ, that records can spend.
trait Spendable: Sized {
    /// The loss with this cost, rounded up.
    fn of(cost: RecordCost) -> Option<Self>;

    /// The cost, rounded up.
    fn price(&self) -> Result<RecordCost, UnknownLoss>;

    /// The cost, rounded down.
    fn worth(&self) -> RecordCost;
}

impl Spendable for EpsilonDelta {
    fn of(cost: RecordCost) -> Option<Self> {
        Some(Self {
            epsilon: Epsilon::from_units(cost.number).ok()?,
            delta: cost.delta,
        })
    }

    fn price(&self) -> Result<RecordCost, UnknownLoss> {
        Ok(self.worth())
    }

    fn worth(&self) -> RecordCost {
        RecordCost {
            number: self.epsilon.units(),
            delta: self.delta,
        }
    }
}

macro_rules! one_number {
    ($($Loss:ty, |$loss:ident| $number:expr, |$units:ident| $of:expr;)*) => {$(
        impl Spendable for $Loss {
            fn of(cost: RecordCost) -> Option<Self> {
                let $units = cost.number;
                $of
            }

            fn price(&self) -> Result<RecordCost, UnknownLoss> {
                Ok(self.worth())
            }

            fn worth(&self) -> RecordCost {
                let $loss = self;
                RecordCost::without_delta($number)
            }
        }
    )*};
}

one_number! {
    Epsilon, |epsilon| epsilon.units(), |units| Self::from_units(units).ok();
    Rho, |rho| rho.units(), |units| Self::from_units(units).ok();
}

#[cfg(feature = "fdp")]
one_number! {
    Repetitions, |units| units.0.into(), |units| u64::try_from(units).ok().map(Self);
}

macro_rules! by_the_number {
    ($($Rule:ty, $steps_add_up:literal;)*) => {$(
        impl ValidIndividually for $Rule {
            const STEPS_ADD_UP: bool = $steps_add_up;

            fn record_budget(&self) -> RecordCost {
                self.remaining().worth()
            }

            fn record_price(&self, loss: &ChildLoss<Self>) -> Result<RecordCost, UnknownLoss> {
                loss.price()
            }

            fn record_worth(&self, budget: &ChildLoss<Self>) -> RecordCost {
                budget.worth()
            }

            fn record_loss(&self, cost: RecordCost) -> Option<ChildLoss<Self>> {
                Spendable::of(cost)
            }
        }
    )*};
}

by_the_number! {
    Capped<Sum<PureDp>>, true;
    Capped<Sum<ApproxDp>>, true;
    Capped<Sum<Rdp>>, false;
    Capped<Sum<ZCdp>>, false;
    Capped<RootSumSquares>, false;
}

#[cfg(feature = "fdp")]
by_the_number! {
    Capped<Sum<RepeatedMechanism>>, false;
    NaturalFilter<Gdp>, false;
    NaturalFilter<RepeatedMechanism>, false;
}

/// A unit of μ²/2, which is 10^-27, in those of μ², which are 10^-54.
const HALF: u128 = 2 * 10_u128.pow(27);

/// μ²/2, which adds up.
impl Spendable for Mu {
    fn of(cost: RecordCost) -> Option<Self> {
        let square = U256::whole(cost.number).checked_mul(HALF)?;
        Self::from_units(square.root_up()?).ok()
    }

    fn price(&self) -> Result<RecordCost, UnknownLoss> {
        Ok(RecordCost::without_delta(half_square(*self)?.units()))
    }

    fn worth(&self) -> RecordCost {
        let (units, _) = U256::of(*self).div_rem(HALF);
        RecordCost::without_delta(units.to_u128().unwrap_or(u128::MAX))
    }
}

/// Sums of squares are in units of 10^-54; a record's account is in units of 10^-27.
const COARSER: u128 = 10_u128.pow(27);

impl<C: ZCdpChildren> ValidIndividually for ThroughZCdp<C> {
    fn record_budget(&self) -> RecordCost {
        let (squares, delta) = zcdp_left(self);
        let (units, _) = squares.div_rem(COARSER);
        RecordCost {
            number: units.to_u128().unwrap_or(u128::MAX),
            delta,
        }
    }

    fn record_price(&self, loss: &C::Loss) -> Result<RecordCost, UnknownLoss> {
        let (squares, delta) = C::cost(loss).ok_or(Overflow)?;
        let (units, rest) = squares.div_rem(COARSER);
        let units = units.to_u128().ok_or(Overflow)?;
        Ok(RecordCost {
            number: units.saturating_add(u128::from(rest != 0)),
            delta,
        })
    }

    fn record_worth(&self, budget: &C::Loss) -> RecordCost {
        // What cannot be held is more than any budget.
        let (number, delta) =
            C::cost(budget).map_or((u128::MAX, Delta::ONE), |(squares, delta)| {
                let (units, _) = squares.div_rem(COARSER);
                (units.to_u128().unwrap_or(u128::MAX), delta)
            });
        RecordCost { number, delta }
    }
}

impl<C: RdpChildren> ValidIndividually for ThroughRdp<C> {
    fn record_budget(&self) -> RecordCost {
        let (cost, delta) = rdp_left(self);
        RecordCost {
            number: cost.units(),
            delta,
        }
    }

    fn record_price(&self, loss: &C::Loss) -> Result<RecordCost, UnknownLoss> {
        let (cost, delta, _) = C::cost(self, loss).ok_or(UnknownLoss::FOREIGN)?;
        Ok(RecordCost {
            number: cost.units(),
            delta,
        })
    }

    fn record_worth(&self, budget: &C::Loss) -> RecordCost {
        self.record_price(budget).unwrap_or_default()
    }
}

impl MenuFilter {
    /// What one launch of at most this ε costs; `None` if the menu has none.
    fn cost_of(&self, epsilon: Epsilon) -> Option<u64> {
        if epsilon == Epsilon::ZERO {
            return Some(0);
        }
        // A lease for several launches is paid in full by each record for one of them.
        let enough = self.entries().filter(|entry| entry.epsilon >= epsilon);
        enough.map(|entry| entry.cost).min()
    }
}

impl ValidIndividually for MenuFilter {
    fn record_budget(&self) -> RecordCost {
        RecordCost {
            number: self.cost().map_or(0, |cost| (self.budget() - cost).into()),
            delta: self.remaining().delta,
        }
    }

    fn record_price(&self, loss: &EpsilonDelta) -> Result<RecordCost, UnknownLoss> {
        let cost = self.cost_of(loss.epsilon);
        let cost = cost.ok_or(UnknownLoss("the menu has no entry for this loss"))?;
        Ok(RecordCost {
            number: cost.into(),
            delta: loss.delta,
        })
    }

    /// The cost of the largest entry that is within it.
    fn record_worth(&self, budget: &EpsilonDelta) -> RecordCost {
        let within = self
            .entries()
            .filter(|entry| entry.epsilon <= budget.epsilon);
        RecordCost {
            number: within.map(|entry| entry.cost).max().unwrap_or(0).into(),
            delta: budget.delta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::menu::MenuEntry;
    use crate::account::{Accumulator, DefaultAccumulator};
    use proptest::prelude::*;

    fn gdp(limit: &str) -> Capped<RootSumSquares> {
        Gdp.accumulator().capped(limit.parse().unwrap())
    }

    fn number(number: u128) -> RecordCost {
        RecordCost::without_delta(number)
    }

    #[test]
    fn prices_are_rounded_up_and_budgets_down() {
        let rule = gdp("1");
        assert_eq!(rule.record_budget(), number(5 * 10_u128.pow(26)));
        let tiny: Mu = "1e-27".parse().unwrap();
        assert_eq!(rule.record_price(&tiny), Ok(number(1)));
        assert_eq!(rule.record_worth(&tiny), number(0));
        // Ten thousand of a hundredth.
        let price = rule.record_price(&"0.01".parse().unwrap()).unwrap();
        assert_eq!(price.number * 10_000, rule.record_budget().number);
    }

    /// δ is that of the loss under every rule, and what records may spend of it is what the rule's
    /// own slack leaves.
    #[test]
    fn a_delta_is_paid_beside_the_number() {
        fn deltas<F: ValidIndividually<Children = ApproxDp>>(rule: F) -> [String; 3] {
            let loss = EpsilonDelta::new("0.02", "1e-9").unwrap();
            let own = EpsilonDelta::new("0.04", "3e-7").unwrap();
            let costs = [
                rule.record_budget(),
                rule.record_price(&loss).unwrap(),
                rule.record_worth(&own),
            ];
            assert!(costs.iter().all(|cost| cost.number > 0));
            costs.map(|cost| cost.delta.to_string())
        }
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let [slack, order] = ["4e-7", "20"];
        let sum = ApproxDp.accumulator().capped(limit);
        assert_eq!(deltas(sum), ["1e-6", "1e-9", "3e-7"]);
        let some = ["6e-7", "1e-9", "3e-7"];
        let slack: Delta = slack.parse().unwrap();
        assert_eq!(deltas(ThroughZCdp::simple(limit, slack).unwrap()), some);
        assert_eq!(deltas(ThroughZCdp::tight(limit, slack).unwrap()), some);
        let order = order.parse().unwrap();
        assert_eq!(deltas(ThroughRdp::at(order, limit, slack).unwrap()), some);
        let step = "0.02".parse().unwrap();
        let menu = [MenuEntry::new(step, 1)];
        assert_eq!(
            deltas(MenuFilter::new(limit, slack, step, &menu).unwrap()),
            some
        );
    }

    #[test]
    fn a_price_list_charges_delta_alone_for_no_epsilon() {
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let step = "0.02".parse().unwrap();
        let slack = "4e-7".parse().unwrap();
        let menu = MenuFilter::new(limit, slack, step, &[MenuEntry::new(step, 3)]).unwrap();
        let price = |epsilon| menu.record_price(&EpsilonDelta::new(epsilon, "1e-9").unwrap());
        let delta: Delta = "1e-9".parse().unwrap();
        let costs = |number| Ok(RecordCost { number, delta });
        assert_eq!([price("0"), price("0.01")], [costs(0), costs(3)]);
        let unknown = UnknownLoss("the menu has no entry for this loss");
        assert_eq!(price("0.03"), Err(unknown));
    }

    /// As many launches of one loss as the rule itself admits, up to the rounding of units.
    #[test]
    fn a_record_pays_what_the_rule_charges() {
        fn admits<F: ContinuationRule>(rule: &F, loss: &ChildLoss<F>) -> u128 {
            let mut rule = rule.clone();
            let mut count = 0;
            while let Ok(next) = rule.charge(loss) {
                rule = next;
                count += 1;
            }
            count
        }
        fn pays<F: ValidIndividually>(rule: &F, loss: &ChildLoss<F>) -> u128 {
            rule.record_budget().number / rule.record_price(loss).unwrap().number
        }
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let loss = EpsilonDelta::new("0.01", "0").unwrap();
        let through = ThroughZCdp::tight(limit, limit.delta).unwrap();
        assert_eq!(pays(&through, &loss), admits(&through, &loss));
        let rho = "0.0001".parse().unwrap();
        let through = ThroughZCdp::for_zcdp(limit).unwrap();
        assert_eq!(pays(&through, &rho), admits(&through, &rho));
        let order = "20".parse().unwrap();
        let through = ThroughRdp::at(order, limit, limit.delta).unwrap();
        assert_eq!(pays(&through, &loss), admits(&through, &loss));
        let natural = NaturalFilter::new(limit, Gdp).unwrap();
        let mu = "0.01".parse().unwrap();
        assert_eq!(pays(&natural, &mu), admits(&natural, &mu));
    }

    proptest! {
        #[test]
        fn a_loss_costs_at_least_the_units_that_it_stands_for(units in 1..10_u128.pow(30)) {
            let rule = gdp("1");
            let loss = rule.record_loss(number(units)).unwrap();
            prop_assert!(rule.record_price(&loss).unwrap().number >= units);
            let rule = PureDp.accumulator().capped("1".parse().unwrap());
            let loss = rule.record_loss(number(units)).unwrap();
            prop_assert_eq!(rule.record_price(&loss), Ok(number(units)));
            let rule = ApproxDp.accumulator().capped(EpsilonDelta::new("1", "1e-6").unwrap());
            let cost = RecordCost { number: units, delta: Delta::from_units(units).unwrap() };
            prop_assert_eq!(rule.record_price(&rule.record_loss(cost).unwrap()), Ok(cost));
        }
    }
}
