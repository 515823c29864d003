use super::advanced_composition::{simple_epsilon, simple_threshold};
use super::budget::{Budget, checked_slack};
use super::sealed::Converted;
use super::twice_rho::{largest_epsilon, twice_rho};
use super::{Accounting, ContinuationRule, Exceeded, LaunchesLeft, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially};
#[cfg(feature = "serde")]
use super::{
    budget::Counts,
    durable::{Durable, Invalid},
};
use crate::number::{Delta, Epsilon, Interval, Rho, U256, Unit, units};
use crate::privacy::Reentrant;
use crate::privacy::convert::zcdp;
use crate::privacy::{ApproxDp, EpsilonDelta, Measure, ZCdp};

/// The (ε, δ) filter through zCDP: go on while `Σρ ≤ ρ*` and `δ′ + Σδ ≤ δ`, where ρ* is the
/// largest ρ for which ρ-zCDP implies (ε, δ′)-DP.
///
/// The budget is (ε, δ). Children state their losses in one of two measures `C`:
///
/// | children | count as | constructors |
/// |---|---|---|
/// | [`ApproxDp`] | ρ = ε·tanh(ε/2), less than ε²/2, and δ | [`tight`](Self::tight), [`simple`](Self::simple) |
/// | [`ZCdp`] | ρ | [`for_zcdp`](Self::for_zcdp), [`for_zcdp_simple`](Self::for_zcdp_simple) |
///
/// ρ* is computed once, rounded down; a launch adds integers and compares them. δ′, the slack, is
/// chosen in advance: all of δ if every child is pure, less if their own δ must fit, too. Children
/// under zCDP have no δ, so there the slack is all of δ.
///
/// # Guarantee
///
/// (ε, δ) children: a child of loss (ε, δ) is a postprocessing of a mechanism that with probability
/// δ reveals everything, and else is randomized response (Kairouz, Oh, Viswanath 2015), which is
/// ρ-zCDP with ρ = ε·tanh(ε/2) ([`zcdp::pure`]). So the child is δ-approximate ρ-zCDP; Whitehouse et
/// al. have ε²/2 for ρ. Such losses add up under a filter (Thm 1; Feldman and Zrnic 4.7 for δ = 0),
/// and the sum implies (ε, δ′ + Σδ)-DP. ρ is rounded up by at most 1e-5 of it while ε ≤ 1. For
/// interleaved children Haney et al. 1.20, with finite communication: losses and budget are (ε, δ),
/// whatever the proof passes through.
///
/// zCDP children: adding up is a valid filter for interleaved children (Haney et al. 4.10, 4.11), so
/// the whole is ρ*-zCDP, which implies (ε, δ)-DP. Communication need not be finite.
///
/// [`simple`](Self::simple) is Whitehouse et al. Thm 2, [`tight`](Self::tight) admits more.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded, ThroughZCdp};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let mut rule = ThroughZCdp::tight(budget, budget.delta)?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// for _ in 0..487 {
///     rule = rule.charge(&loss)?;
/// }
/// assert_eq!(rule.charge(&loss), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub struct ThroughZCdp<C = ApproxDp> {
    children: C,
    log: Interval,
    conversion: Conversion,
    /// The largest 2Σρ.
    threshold: U256,
    /// In 2Σρ, which is at most Σε².
    budget: Budget<U256>,
}

/// From ρ to ε.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
enum Conversion {
    Simple,
    Tight,
}

impl ThroughZCdp {
    /// For (ε, δ) children, with `ε = ρ + 2√(ρ ln(1/δ′))`: Whitehouse et al. Thm 2, with
    /// ε·tanh(ε/2) in place of ε²/2.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] or [`RuleError::SlackTooLarge`].
    pub fn simple(limit: EpsilonDelta, slack: Delta) -> Result<Self, RuleError> {
        Self::new(ApproxDp, limit, slack, Conversion::Simple)
    }

    /// For (ε, δ) children, with the conversion of Canonne, Kamath and Steinke
    /// 2020.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] or [`RuleError::SlackTooLarge`].
    pub fn tight(limit: EpsilonDelta, slack: Delta) -> Result<Self, RuleError> {
        Self::new(ApproxDp, limit, slack, Conversion::Tight)
    }
}

impl ThroughZCdp<ZCdp> {
    /// For children under zCDP, Gaussian noise for example, with the conversion
    /// of Canonne, Kamath and Steinke 2020.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] if δ is zero.
    ///
    /// ```
    /// use queryables::account::{ContinuationRule, Exceeded, ThroughZCdp};
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let budget = EpsilonDelta::new("1", "1e-6")?;
    /// let mut rule = ThroughZCdp::for_zcdp(budget)?;
    /// let rho = "0.001".parse()?;
    /// for _ in 0..24 {
    ///     rule = rule.charge(&rho)?;
    /// }
    /// assert_eq!(rule.charge(&rho), Err(Exceeded));
    /// // ρ* is 0.02435…
    /// assert!(rule.remaining() > "0.00035".parse()?);
    /// assert!(rule.spent() < *rule.limit());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_zcdp(limit: EpsilonDelta) -> Result<Self, RuleError> {
        Self::new(ZCdp, limit, limit.delta, Conversion::Tight)
    }

    /// As [`for_zcdp`](Self::for_zcdp), with `ε = ρ + 2√(ρ ln(1/δ))` (Bun and Steinke 2016,
    /// Prop. 1.3), which admits less.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] if δ is zero.
    pub fn for_zcdp_simple(limit: EpsilonDelta) -> Result<Self, RuleError> {
        Self::new(ZCdp, limit, limit.delta, Conversion::Simple)
    }
}

impl<C> ThroughZCdp<C> {
    fn new(
        children: C,
        limit: EpsilonDelta,
        slack: Delta,
        conversion: Conversion,
    ) -> Result<Self, RuleError> {
        let log = checked_slack(limit, slack)?;
        let threshold = match conversion {
            Conversion::Simple => simple_threshold(limit.epsilon, log),
            // Never less than the simple one, whatever the search for the best order finds.
            Conversion::Tight => {
                let rho = zcdp::tight_budget(limit.epsilon.into(), log);
                (Interval::TWO * rho).squares_down(27)
            }
        };
        Ok(Self {
            children,
            log,
            conversion,
            threshold,
            budget: Budget::new(limit, slack),
        })
    }

    /// What is left for children, in the units of Σε².
    pub(crate) fn cost_left(&self) -> U256 {
        let left = self.threshold.checked_sub(self.budget.total);
        left.unwrap_or_default()
    }

    /// What is left of δ for children.
    pub(crate) fn delta_left(&self) -> Delta {
        self.budget.delta_left()
    }

    fn with(&self, budget: Budget<U256>) -> Self
    where
        C: Clone,
    {
        Self {
            budget,
            children: self.children.clone(),
            ..*self
        }
    }

    fn epsilon(&self, squares: U256) -> Option<Epsilon> {
        match self.conversion {
            Conversion::Simple => simple_epsilon(squares, self.log),
            Conversion::Tight => {
                let rho = Interval::squares(squares, 27) / Interval::TWO;
                zcdp::tight(rho, self.log).up()
            }
        }
    }
}

/// A measure in which children of [`ThroughZCdp`] state their losses. Sealed: each conversion is a
/// theorem, and the guarantee of the rule rests on it.
#[diagnostic::on_unimplemented(
    message = "`ThroughZCdp` takes children under `ApproxDp` or `ZCdp`, not under `{Self}`"
)]
pub trait ZCdpChildren: Measure + Default + Converted {
    /// The rule's name in serialized form.
    #[cfg(feature = "serde")]
    const NAME: &'static str;

    /// Whether a part of δ is for the losses of children.
    #[cfg(feature = "serde")]
    const HAVE_DELTA: bool;

    /// Twice ρ, in the units of Σε², and δ.
    fn cost(loss: &Self::Loss) -> Option<(U256, Delta)>;

    /// The largest loss that costs no more, rounded down.
    fn largest(squares: U256, delta: Delta) -> Self::Loss;
}

impl ZCdpChildren for ApproxDp {
    #[cfg(feature = "serde")]
    const NAME: &'static str = "ThroughZCdp";
    #[cfg(feature = "serde")]
    const HAVE_DELTA: bool = true;

    fn cost(loss: &EpsilonDelta) -> Option<(U256, Delta)> {
        Some((twice_rho(loss.epsilon), loss.delta))
    }

    fn largest(squares: U256, delta: Delta) -> EpsilonDelta {
        EpsilonDelta {
            epsilon: largest_epsilon(squares),
            delta,
        }
    }
}

/// A unit of ρ in the units of Σε²: twice 10⁻²⁷ in units of 10⁻⁵⁴.
const RHO: u128 = 2 * 10_u128.pow(<units::Rho as Unit>::DECIMALS);

impl ZCdpChildren for ZCdp {
    #[cfg(feature = "serde")]
    const NAME: &'static str = "ThroughZCdp of zCDP";
    #[cfg(feature = "serde")]
    const HAVE_DELTA: bool = false;

    fn cost(loss: &Rho) -> Option<(U256, Delta)> {
        let squares = U256::whole(loss.units()).checked_mul(RHO);
        squares.map(|squares| (squares, Delta::ZERO))
    }

    fn largest(squares: U256, _: Delta) -> Rho {
        let (units, _) = squares.div_rem(RHO);
        units
            .to_u128()
            .and_then(|units| Rho::from_units(units).ok())
            .unwrap_or(Rho::LARGEST)
    }
}

impl<C: ZCdpChildren> Accounting for ThroughZCdp<C> {
    const REENTRANT: Reentrant = Reentrant(false);

    type Children = C;
    type Whole = ApproxDp;

    fn children(&self) -> &C {
        &self.children
    }

    fn whole(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl<C: ZCdpChildren> ContinuationRule for ThroughZCdp<C> {
    fn limit(&self) -> &EpsilonDelta {
        &self.budget.limit
    }

    fn spent(&self) -> EpsilonDelta {
        self.budget.spent(|squares| self.epsilon(squares))
    }

    fn set_aside(&self) -> EpsilonDelta {
        self.budget.deltas.set_aside()
    }

    fn remaining(&self) -> C::Loss {
        C::largest(self.cost_left(), self.delta_left())
    }

    fn charge(&self, loss: &C::Loss) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &C::Loss) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl<C: ZCdpChildren> Repeats for ThroughZCdp<C> {
    fn charge_times(&self, loss: &C::Loss, times: u64) -> Result<Self, Exceeded> {
        let (squares, delta) = C::cost(loss).ok_or(Exceeded)?;
        Ok(self.with(
            self.budget
                .charge_times(squares, delta, times, |total| *total <= self.threshold)?,
        ))
    }
}

impl<C: ZCdpChildren> ValidSequentially for ThroughZCdp<C> {}
impl<C: ZCdpChildren> ValidConcurrently for ThroughZCdp<C> {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    conversion: Conversion,
    limit: EpsilonDelta,
    slack: Delta,
}

#[cfg(feature = "serde")]
impl<C: ZCdpChildren> Durable for ThroughZCdp<C> {
    const NAME: &'static str = C::NAME;

    type Parameters = Parameters;
    type Counts = Counts<U256>;

    fn parameters(&self) -> Parameters {
        Parameters {
            conversion: self.conversion,
            limit: self.budget.limit,
            slack: self.budget.deltas.slack(),
        }
    }

    fn build(parameters: Parameters) -> Result<Self, Invalid> {
        let Parameters {
            conversion,
            limit,
            slack,
        } = parameters;
        if !C::HAVE_DELTA && slack != limit.delta {
            return Err("the slack must be the whole of delta".into());
        }
        Ok(Self::new(C::default(), limit, slack, conversion)?)
    }

    fn counts(&self) -> Counts<U256> {
        self.budget.counts()
    }

    fn resume(&self, counts: Counts<U256>) -> Result<Self, Invalid> {
        Ok(self.with(
            self.budget
                .resume(counts, |total| *total <= self.threshold)?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle::{
        Real, better_epsilon, deltas, epsilons, quantity, real, simple_epsilon, squares,
    };
    use proptest::prelude::*;

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn the_slack_must_be_there_and_affordable() {
        let (slack, delta) = ("2e-6".parse().unwrap(), "1e-6".parse().unwrap());
        let budget = pair("1", "1e-6");
        for new in [ThroughZCdp::simple, ThroughZCdp::tight] {
            assert_eq!(new(budget, Delta::ZERO), Err(RuleError::NoSlack));
            assert_eq!(
                new(budget, slack),
                Err(RuleError::SlackTooLarge { slack, delta })
            );
        }
    }

    #[test]
    fn deltas_of_children_share_what_the_slack_leaves() {
        let mut rule = ThroughZCdp::tight(pair("1", "1e-6"), "4e-7".parse().unwrap()).unwrap();
        rule = rule.charge(&pair("0.01", "5e-7")).unwrap();
        assert_eq!(rule.remaining().delta, "1e-7".parse().unwrap());
        assert_eq!(rule.charge(&pair("0.01", "2e-7")), Err(Exceeded));
        rule = rule.charge(&pair("0.01", "1e-7")).unwrap();
        assert_eq!(rule.spent().delta, "1e-6".parse().unwrap());
        assert_eq!(rule.charge(&pair("0.01", "1e-38")), Err(Exceeded));
        assert!(rule.charge(&pair("0.01", "0")).is_ok());
    }

    #[test]
    fn no_epsilon_admits_only_launches_that_cost_none() {
        let rule = ThroughZCdp::simple(pair("0", "1e-6"), "1e-7".parse().unwrap()).unwrap();
        assert_eq!(rule.charge(&pair("1e-27", "0")), Err(Exceeded));
        assert!(rule.charge(&pair("0", "9e-7")).is_ok());
    }

    #[test]
    fn a_billion_launches() {
        // Of 1e-6 each, in (0.5, 1e-9).
        let budget = pair("0.5", "1e-9");
        let mut rule = ThroughZCdp::simple(budget, budget.delta).unwrap();
        let loss = pair("1e-6", "0");
        rule = rule.charge_times(&loss, 5_960_000_000).unwrap();
        assert_eq!(rule.charge_times(&loss, 1_000_000_000), Err(Exceeded));
    }

    #[test]
    fn zcdp_children_need_a_delta() {
        for new in [ThroughZCdp::for_zcdp, ThroughZCdp::for_zcdp_simple] {
            assert_eq!(new(pair("1", "0")), Err(RuleError::NoSlack));
        }
    }

    #[test]
    fn zcdp_children_fill_the_budget_to_the_last_unit() {
        let rho = |units: u128| Rho::from_units(units).unwrap();
        let budget = pair("1", "1e-6");
        let converted = [zcdp::budget_simple, zcdp::budget];
        for (new, converted) in [ThroughZCdp::for_zcdp_simple, ThroughZCdp::for_zcdp]
            .into_iter()
            .zip(converted)
        {
            let rule = new(budget).unwrap();
            let most = rule.remaining();
            // To the last digits of a float.
            let converted = converted(budget.epsilon, budget.delta).unwrap().units();
            assert!(most.units().abs_diff(converted) < converted >> 50);
            assert_eq!(rule.spent(), pair("0", "1e-6"));
            assert_eq!(rule.charge(&rho(most.units() + 1)), Err(Exceeded));
            assert_eq!(rule.charge(&Rho::LARGEST), Err(Exceeded));
            let rule = rule.charge(&rho(most.units() - 1)).unwrap();
            assert_eq!(rule.remaining(), rho(1));
            assert_eq!(rule.charge(&rho(2)), Err(Exceeded));
            let rule = rule.charge(&rho(1)).unwrap();
            assert_eq!(rule.remaining(), Rho::ZERO);
            assert_eq!(rule.charge(&rho(1)), Err(Exceeded));
            assert!(rule.charge(&Rho::ZERO).is_ok());
            assert!(rule.spent() <= budget);
            assert!(rule.spent().epsilon > "0.999999999".parse().unwrap());
        }
    }

    /// A Gaussian with σ = 20 on a count is 1/800-zCDP.
    #[test]
    fn a_budget_of_one_takes_gaussian_counts_at_their_rho() {
        let (budget, rho) = (pair("1", "1e-6"), "0.00125".parse().unwrap());
        let admits = |mut rule: ThroughZCdp<ZCdp>| {
            let mut launches = 0;
            while let Ok(next) = rule.charge(&rho) {
                rule = next;
                launches += 1;
            }
            launches
        };
        // 0.01746/0.00125 = 13.9…, 0.02435/0.00125 = 19.4….
        assert_eq!(admits(ThroughZCdp::for_zcdp_simple(budget).unwrap()), 13);
        assert_eq!(admits(ThroughZCdp::for_zcdp(budget).unwrap()), 19);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// What is left to zCDP children is the largest ρ that implies the budget, rounded down, to
        /// 1e-9 or one unit.
        #[test]
        fn the_largest_rho_is_rounded_down(epsilon in epsilons(), delta in deltas()) {
            let limit = EpsilonDelta { epsilon, delta };
            let (target, exact) = (quantity(epsilon), quantity(delta));
            let check = |rule: ThroughZCdp<ZCdp>, bound: &dyn Fn(&Real) -> Real| {
                let most = rule.remaining();
                assert!(bound(&quantity(most)) <= target);
                let more = quantity(Rho::from_units(most.units() + 1).unwrap());
                assert!(bound(&(more * real(1.0 + 1e-9))) > target);
            };
            check(ThroughZCdp::for_zcdp_simple(limit).unwrap(), &|rho| simple_epsilon(rho, &exact));
            check(ThroughZCdp::for_zcdp(limit).unwrap(), &|rho| better_epsilon(rho, &exact));
        }

        /// A pure child counts as ε·tanh(ε/2), rounded up by no more than 1e-5 and one unit.
        #[test]
        fn pure_children_and_their_rho_cost_the_same(
            losses in proptest::collection::vec(0..200_000_000_000_u128, 1..20),
        ) {
            let budget = pair("1", "1e-6");
            let mut pairs = ThroughZCdp::tight(budget, budget.delta).unwrap();
            let mut rhos = ThroughZCdp::for_zcdp(budget).unwrap();
            for loss in losses {
                let epsilon = Epsilon::from_units(loss * 10_u128.pow(15)).unwrap();
                let pure = EpsilonDelta { epsilon, delta: Delta::ZERO };
                if let (Ok(one), Ok(other)) = (pairs.charge(&pure), rhos.charge(&zcdp::pure(epsilon))) {
                    (pairs, rhos) = (one, other);
                }
            }
            let [one, other] = [pairs.budget.total, rhos.budget.total].map(squares);
            let unit = real(2e-27) * real(20.0);
            // The conversion is computed in floats.
            prop_assert!(&one + &unit >= &other * real(1.0 - 1e-14));
            prop_assert!(one <= other * real(1.0 + 1e-5) + unit);
        }

        /// The threshold is the largest 2Σρ within the bound, rounded down, to 1e-9.
        #[test]
        fn the_threshold_is_rounded_down(epsilon in epsilons(), delta in deltas()) {
            let rule = ThroughZCdp::simple(EpsilonDelta { epsilon, delta }, delta).unwrap();
            let largest = squares(rule.threshold) / real(2.0);
            let bound = |rho: &Real| simple_epsilon(rho, &quantity(delta));
            prop_assert!(bound(&largest) <= quantity(epsilon));
            prop_assert!(bound(&(largest * real(1.0 + 1e-9))) > quantity(epsilon));
        }

        /// The same for the better of the two conversions.
        #[test]
        fn the_tight_threshold_is_rounded_down(epsilon in epsilons(), delta in deltas()) {
            let rule = ThroughZCdp::tight(EpsilonDelta { epsilon, delta }, delta).unwrap();
            let largest = squares(rule.threshold) / real(2.0);
            let (target, exact) = (quantity(epsilon), quantity(delta));
            let admits = |rho: &Real| better_epsilon(rho, &exact) <= target;
            prop_assert!(admits(&largest));
            prop_assert!(!admits(&(largest * real(1.0 + 1e-9))));
        }
    }
}
