//! Rules under which every record can have a budget of its own.

use super::menu::MenuFilter;
use super::through_rdp::RdpChildren;
use super::through_zcdp::ZCdpChildren;
use super::{
    Capped, ChildLoss, ContinuationRule, NaturalFilter, RootSumSquares, Sum, ThroughRdp,
    ThroughZCdp,
};
use crate::number::{Delta, Epsilon, Mu, Rho, U256};
use crate::privacy::fdp::{PowersOf, Units};
use crate::privacy::{
    ApproxDp, EpsilonDelta, Gdp, Overflow, PureDp, Rdp, RdpGrid, UnknownLoss, ZCdp, half_square,
};

/// A rule whose theorem needs two views to be close on one pair of datasets only, and for which
/// what a record has spent is one number.
///
/// With such a rule each record can pay for itself
/// ([`IndividualFilter`](crate::compose::IndividualFilter)): the record is charged what it can lose
/// by each query, and takes part as long as its own budget allows.
///
/// | rule | one unit counts |
/// |---|---|
/// | [`Sum`] under pure DP, (ε, 0) and Rényi DP of one order | ε |
/// | [`Sum`] under zCDP, [`ThroughZCdp`] | ρ |
/// | [`RootSumSquares`], [`NaturalFilter`] on [`Gdp`] | μ²/2 |
/// | [`ThroughRdp`] | ε at its order |
/// | [`Sum`] and [`NaturalFilter`] on [`PowersOf`] | launches of the base mechanism |
/// | [`MenuFilter`] | costs of its price list |
///
/// Where children may have a δ, those with δ > 0 have no price here: a record's account is one
/// number. A curve on a grid is several numbers: choose one order of it, by [`ThroughRdp`] or
/// [`Rdp`].
///
/// # Guarantee
///
/// For whoever implements it: if the laws of each answer, given those before, are within the loss
/// of each other *on one fixed pair of datasets*, and the prices of these losses add up to at most
/// [`record_budget`](Self::record_budget), then the laws of all answers on this pair are within the
/// [`limit`](ContinuationRule::limit). The rules here are stated for one pair in their sources: sums
/// (Rogers et al. 3.3; Feldman and Zrnic 4.3 and Rem. 4.4), GDP and other chains (Tran et al. 2.11,
/// 3.6), the conversions of such sums to (ε, δ), and the price list (`spec/menu_filter.md`).
/// `spec/individual.md` has the theorem that uses this.
#[diagnostic::on_unimplemented(
    message = "no theorem lets each record pay for itself under `{Self}`",
    label = "this rule has no individual form",
    note = "individual budgets need a rule that is valid on one pair of datasets, and one number \
            per record: pure DP, (ε, δ)-DP, Rényi DP of one order, zCDP, GDP, `ThroughZCdp`, \
            `ThroughRdp`, `NaturalFilter` or `MenuFilter`",
    note = "for a grid of Rényi orders, choose one of them: `Rdp::new(order)`, or \
            `ThroughRdp::on_grid_at`"
)]
pub trait ValidIndividually: ContinuationRule {
    /// Whether a change of s steps costs exactly s times what one step costs, under noise for which
    /// pure privacy says so.
    const STEPS_ADD_UP: bool = false;

    /// What one record may spend, in the smallest units of the rule, rounded down.
    fn record_budget(&self) -> u128;

    /// What a record pays for this loss, in the same units, rounded up.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the loss cannot be paid for by one number.
    fn record_price(&self, loss: &ChildLoss<Self>) -> Result<u128, UnknownLoss>;

    /// A budget in the same units: what a record with this budget of its own can pay for. If losses
    /// add up as they are, it is rounded down. If they are converted first, several that it pays for
    /// may lose more than this together.
    fn record_worth(&self, budget: &ChildLoss<Self>) -> u128;

    /// A loss that costs at least this many units, rounded up; `None`, as by default, if units are
    /// not losses.
    fn record_loss(&self, _units: u128) -> Option<ChildLoss<Self>> {
        None
    }
}

/// A rule under which Gaussian noise costs a record in proportion to the square of its
/// contribution's length.
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
impl SquaresAddUp for NaturalFilter<Gdp> {}
impl SquaresAddUp for ThroughZCdp<ZCdp> {}
impl SquaresAddUp for ThroughRdp<RdpGrid> {}

fn without_delta(delta: Delta) -> Result<(), UnknownLoss> {
    if delta == Delta::ZERO {
        return Ok(());
    }
    Err(UnknownLoss(
        "a record pays with one number, so individual budgets take losses without a δ only",
    ))
}

/// A loss that is one number, or a pair with one number that records can spend.
trait OneNumber: Sized {
    /// The loss with this number, rounded up.
    fn of(number: u128) -> Option<Self>;

    /// The price, if all of the loss is in the number.
    fn price(&self) -> Result<u128, UnknownLoss>;

    /// The number.
    fn worth(&self) -> u128;
}

impl OneNumber for EpsilonDelta {
    fn of(number: u128) -> Option<Self> {
        let epsilon = Epsilon::of(number)?;
        Some(Self {
            epsilon,
            ..Self::default()
        })
    }

    fn price(&self) -> Result<u128, UnknownLoss> {
        without_delta(self.delta)?;
        Ok(self.worth())
    }

    fn worth(&self) -> u128 {
        self.epsilon.units()
    }
}

macro_rules! one_number {
    ($($Loss:ty, |$loss:ident| $number:expr, |$units:ident| $of:expr;)*) => {$(
        impl OneNumber for $Loss {
            fn of($units: u128) -> Option<Self> {
                $of
            }

            fn price(&self) -> Result<u128, UnknownLoss> {
                Ok(self.worth())
            }

            fn worth(&self) -> u128 {
                let $loss = self;
                $number
            }
        }
    )*};
}

one_number! {
    Epsilon, |epsilon| epsilon.units(), |units| Self::from_units(units).ok();
    Rho, |rho| rho.units(), |units| Self::from_units(units).ok();
    Units, |units| units.0.into(), |units| u64::try_from(units).ok().map(Self);
}

macro_rules! by_the_number {
    ($($Rule:ty, $steps_add_up:literal;)*) => {$(
        impl ValidIndividually for $Rule {
            const STEPS_ADD_UP: bool = $steps_add_up;

            fn record_budget(&self) -> u128 {
                self.remaining().worth()
            }

            fn record_price(&self, loss: &ChildLoss<Self>) -> Result<u128, UnknownLoss> {
                loss.price()
            }

            fn record_worth(&self, budget: &ChildLoss<Self>) -> u128 {
                budget.worth()
            }

            fn record_loss(&self, units: u128) -> Option<ChildLoss<Self>> {
                OneNumber::of(units)
            }
        }
    )*};
}

by_the_number! {
    Capped<Sum<PureDp>>, true;
    Capped<Sum<ApproxDp>>, true;
    Capped<Sum<Rdp>>, false;
    Capped<Sum<ZCdp>>, false;
    Capped<Sum<PowersOf>>, false;
    Capped<RootSumSquares>, false;
    NaturalFilter<Gdp>, false;
    NaturalFilter<PowersOf>, false;
}

/// A unit of μ²/2, which is 10^-27, in those of μ², which are 10^-54.
const HALF: u128 = 2 * 10_u128.pow(27);

/// μ²/2, which adds up.
impl OneNumber for Mu {
    fn of(number: u128) -> Option<Self> {
        let square = U256::whole(number).checked_mul(HALF)?;
        Self::from_units(square.root_up()?).ok()
    }

    fn price(&self) -> Result<u128, UnknownLoss> {
        Ok(half_square(*self)?.units())
    }

    /// Rounded down.
    fn worth(&self) -> u128 {
        let (units, _) = U256::of(*self).div_rem(HALF);
        units.to_u128().unwrap_or(u128::MAX)
    }
}

/// Sums of squares are in units of 10^-54; a record's account is in units of 10^-27.
const COARSER: u128 = 10_u128.pow(27);

impl<C: ZCdpChildren> ValidIndividually for ThroughZCdp<C> {
    fn record_budget(&self) -> u128 {
        let (units, _) = self.cost_left().div_rem(COARSER);
        units.to_u128().unwrap_or(u128::MAX)
    }

    fn record_price(&self, loss: &C::Loss) -> Result<u128, UnknownLoss> {
        let (squares, delta) = C::cost(loss).ok_or(Overflow)?;
        without_delta(delta)?;
        let (units, rest) = squares.div_rem(COARSER);
        let units = units.to_u128().ok_or(Overflow)?;
        Ok(units.saturating_add(u128::from(rest != 0)))
    }

    fn record_worth(&self, budget: &C::Loss) -> u128 {
        let units = C::cost(budget).and_then(|(squares, _)| squares.div_rem(COARSER).0.to_u128());
        units.unwrap_or(u128::MAX)
    }
}

impl<C: RdpChildren> ValidIndividually for ThroughRdp<C> {
    fn record_budget(&self) -> u128 {
        self.cost_left().units()
    }

    fn record_price(&self, loss: &C::Loss) -> Result<u128, UnknownLoss> {
        let (cost, delta, _) = C::cost(self, loss).ok_or(UnknownLoss::FOREIGN)?;
        without_delta(delta)?;
        Ok(cost.units())
    }

    fn record_worth(&self, budget: &C::Loss) -> u128 {
        C::cost(self, budget).map_or(0, |(cost, ..)| cost.units())
    }
}

impl MenuFilter {
    /// What one launch of at most this ε costs; `None` if the menu has none.
    fn cost_of(&self, epsilon: Epsilon) -> Option<u64> {
        // A lease for several launches is paid in full by each record for one of them.
        let enough = self.entries().filter(|entry| entry.epsilon >= epsilon);
        enough.map(|entry| entry.cost).min()
    }
}

impl ValidIndividually for MenuFilter {
    fn record_budget(&self) -> u128 {
        self.cost().map_or(0, |cost| (self.budget() - cost).into())
    }

    fn record_price(&self, loss: &EpsilonDelta) -> Result<u128, UnknownLoss> {
        without_delta(loss.delta)?;
        if loss.epsilon == Epsilon::ZERO {
            return Ok(0);
        }
        let cost = self.cost_of(loss.epsilon);
        let cost = cost.ok_or(UnknownLoss("the menu has no entry for this loss"))?;
        Ok(cost.into())
    }

    /// The cost of the largest entry that is within it.
    fn record_worth(&self, budget: &EpsilonDelta) -> u128 {
        let within = self
            .entries()
            .filter(|entry| entry.epsilon <= budget.epsilon);
        within.map(|entry| entry.cost).max().unwrap_or(0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Accumulator, DefaultAccumulator};
    use proptest::prelude::*;

    fn gdp(limit: &str) -> Capped<RootSumSquares> {
        Gdp.accumulator().capped(limit.parse().unwrap())
    }

    #[test]
    fn prices_are_rounded_up_and_budgets_down() {
        let rule = gdp("1");
        assert_eq!(rule.record_budget(), 5 * 10_u128.pow(26));
        let tiny: Mu = "1e-27".parse().unwrap();
        assert_eq!(rule.record_price(&tiny), Ok(1));
        assert_eq!(rule.record_worth(&tiny), 0);
        // Ten thousand of a hundredth.
        let price = rule.record_price(&"0.01".parse().unwrap()).unwrap();
        assert_eq!(price * 10_000, rule.record_budget());
    }

    #[test]
    fn a_delta_has_no_price() {
        let rule = ApproxDp
            .accumulator()
            .capped(EpsilonDelta::new("1", "1e-6").unwrap());
        assert_eq!(rule.record_budget(), 10_u128.pow(27));
        let loss = EpsilonDelta::new("0.1", "1e-9").unwrap();
        let refused = UnknownLoss(
            "a record pays with one number, so individual budgets take losses without a δ only",
        );
        assert_eq!(rule.record_price(&loss), Err(refused));
        let through = ThroughZCdp::simple(
            EpsilonDelta::new("1", "1e-6").unwrap(),
            "5e-7".parse().unwrap(),
        );
        assert_eq!(through.unwrap().record_price(&loss), Err(refused));
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
            rule.record_budget() / rule.record_price(loss).unwrap()
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
            let loss = rule.record_loss(units).unwrap();
            prop_assert!(rule.record_price(&loss).unwrap() >= units);
            let rule = PureDp.accumulator().capped("1".parse().unwrap());
            prop_assert_eq!(rule.record_price(&rule.record_loss(units).unwrap()), Ok(units));
        }
    }
}
