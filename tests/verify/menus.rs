//! Filters with a price list, a fixed count and units, before the exact verifier: no adversary is
//! over the budget, and one more launch than they admit is refuted.

use std::hash::Hash;

use crate::support::*;
use queryables::account::menu::{MenuEntry, MenuError, MenuFilter, TwoPriceListFilter};
use queryables::account::{
    Accounting, ChildLoss, ContinuationRule, Exceeded, FixedCount, NaturalFilter,
    ValidConcurrently, ValidSequentially,
};
use queryables::compose::{Addressed, Filter, NonInteractive};
use queryables::number::Epsilon;
use queryables::privacy::fdp::{Profile, RepeatedMechanism, Repetitions};
use queryables::privacy::{AddRemove, ApproxDp, EpsilonDelta, Private, UnknownLoss};
use queryables::verify::{Children, Pair, Verdict, Verifier, copies_of};

/// Pure privacy is (ε, 0).
impl Private<ApproxDp, AddRemove> for Released1 {
    fn loss(&self, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(pure(ln(self.0)))
    }
}

/// In units of responses at odds of three: one for each answer.
impl Private<RepeatedMechanism, AddRemove> for Respond {
    fn loss(&self, _: &RepeatedMechanism) -> Result<Repetitions, UnknownLoss> {
        if self.odds > 3 {
            return Err(UnknownLoss("more than a unit for each answer"));
        }
        Ok(Repetitions(self.answers))
    }
}

/// The ε of odds of four, and a δ.
fn limit(delta: &str) -> EpsilonDelta {
    EpsilonDelta {
        epsilon: four(),
        delta: delta.parse().unwrap(),
    }
}

/// ln 4, as a multiple of ln 2: both are rounded up.
fn four() -> Epsilon {
    ln_times(2, 2)
}

/// A claim about a filter whose launches are answered at once.
fn released<F>(rule: F, odds: &[u64], depth: usize) -> Verdict<impl Sized, impl Sized>
where
    F: ContinuationRule<Children = ApproxDp, Whole = ApproxDp>,
{
    let claim = *rule.limit();
    let filter: Addressed<Filter<F, AddRemove, NonInteractive>, Released1> =
        Addressed::new(Filter::noninteractive_with(rule));
    let launches = odds.iter().map(|odds| Released1(*odds)).collect();
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(
        copies_of(&filter),
        &pair,
        Children::new(launches, vec![]),
        depth,
    );
    verifier.check(&ApproxDp, &claim).unwrap()
}

/// A claim about a filter whose children are asked in any order.
fn interleaved<F>(rule: F, launches: Vec<Respond>, depth: usize) -> Verdict<impl Sized, impl Sized>
where
    F: ContinuationRule<Whole = ApproxDp> + ValidConcurrently,
    Respond: Private<F::Children, AddRemove>,
    ChildLoss<F>: Eq + Hash,
{
    let claim = *rule.limit();
    let filter = Addressed::<_, Respond>::new(Filter::concurrent_with(rule));
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(
        copies_of(&filter),
        &pair,
        Children::new(launches, vec![()]),
        depth,
    );
    verifier.check(&ApproxDp, &claim).unwrap()
}

/// A price list with a given budget. Its worst case is not computed, so it is valid for some
/// budgets and not for others.
#[derive(Clone, Debug)]
struct Unchecked {
    limit: EpsilonDelta,
    prices: Vec<(EpsilonDelta, u64)>,
    left: u64,
}

impl Accounting for Unchecked {
    type Children = ApproxDp;
    type Whole = ApproxDp;

    fn children(&self) -> &ApproxDp {
        &ApproxDp
    }

    fn whole(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl ContinuationRule for Unchecked {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    fn spent(&self) -> EpsilonDelta {
        self.limit
    }

    fn remaining(&self) -> EpsilonDelta {
        EpsilonDelta::default()
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        let entry = self.prices.iter().find(|(entry, _)| loss <= entry);
        let cost = entry.ok_or(Exceeded)?.1;
        let left = self.left.checked_sub(cost).ok_or(Exceeded)?;
        Ok(Self {
            left,
            ..self.clone()
        })
    }
}

impl ValidSequentially for Unchecked {}
impl ValidConcurrently for Unchecked {}

fn unchecked(limit: EpsilonDelta, prices: &[(u64, u64)], left: u64) -> Unchecked {
    Unchecked {
        limit,
        prices: prices
            .iter()
            .map(|(odds, cost)| (pure(ln(*odds)), *cost))
            .collect(),
        left,
    }
}

/// Odds of two for 1 and of four for 3, in (ln 4, δ): as many as every adversary may have, and no
/// budget that is one larger.
#[test]
fn a_menu_filter_admits_what_no_adversary_can_use() {
    for (delta, budget) in [("0.15", 3), ("0.29", 4)] {
        let limit = limit(delta);
        let entries = [MenuEntry::new(ln(2), 1), MenuEntry::new(four(), 3)];
        let rule = MenuFilter::new(limit, limit.delta, ln(2), &entries).unwrap();
        assert_eq!(rule.budget(), budget, "{delta}");
        assert!(released(rule.clone(), &[2, 4], 5).holds());
        let prices = [(2, 1), (4, 3)];
        assert!(released(unchecked(limit, &prices, budget), &[2, 4], 5).holds());
        assert!(released(unchecked(limit, &prices, budget + 1), &[2, 4], 5).is_refuted());
        // Interactive children, asked in any order.
        assert!(interleaved(rule, vec![once(2), once(4)], 5).holds());
    }
}

/// Prices in proportion to ε are too cheap for large launches: an adversary that goes on with the
/// large one where it is ahead is over the budget, where the same budget of small launches is not.
#[test]
fn prices_that_are_too_low_are_refuted() {
    let limit = limit("0.15");
    let cheap = [(2, 1), (4, 2)];
    assert!(released(unchecked(limit, &cheap, 4), &[2], 5).holds());
    assert!(released(unchecked(limit, &cheap, 4), &[2, 4], 5).is_refuted());
    let entries = [MenuEntry::new(ln(2), 1), MenuEntry::new(four(), 2)];
    let rule = MenuFilter::new(limit, limit.delta, ln(2), &entries).unwrap();
    assert!(rule.budget() < 4);
    assert!(released(rule, &[2, 4], 5).holds());
}

/// Two price lists of which either may fit: the worst case is that of an adversary who uses both.
#[test]
fn two_sums_together_are_within_the_budget() {
    let limit = limit("0.333");
    let entries = [(ln(2), [1, 2]), (four(), [4, 5])];
    let build = |budgets| TwoPriceListFilter::new(limit, limit.delta, ln(2), &entries, budgets);
    let rule = build([6, 8]).unwrap();
    assert!(released(rule, &[2, 4], 6).holds());
    assert!(matches!(build([6, 10]), Err(MenuError::OverBudget { .. })));
}

#[test]
fn the_fixed_count_is_exact_on_small_cases() {
    let limit = limit("0.29");
    let rule = FixedCount::most(limit, pure(ln(2))).unwrap();
    assert_eq!(rule.count(), 6);
    assert!(released(rule.clone(), &[2], 7).holds());
    // A launch that is too large is refused, and nothing else is changed by that.
    assert!(released(rule.clone(), &[2, 4], 5).holds());
    assert!(interleaved(rule, vec![once(2)], 6).holds());
    assert!(released(unchecked(limit, &[(2, 1)], 7), &[2], 7).is_refuted());
}

#[test]
fn units_are_exact_on_small_cases() {
    // Three responses at odds of three reveal δ = 27/64 · (1 − 4/27) = 0.359… at ε = ln 4.
    let limit = limit("0.36");
    let base = RepeatedMechanism::new(Profile::randomized_response(ln(3)));
    let rule = NaturalFilter::new(limit, base.clone()).unwrap();
    assert_eq!(*rule.most(), Repetitions(3));
    let twice = Respond {
        odds: 3,
        answers: 2,
    };
    assert!(interleaved(rule, vec![once(3), twice], 6).holds());
    // One that says that it is worth two, and is not: nine to one is less private than twice three
    // to one.
    let rule = NaturalFilter::new(limit, base).unwrap();
    let claim = *rule.limit();
    let filter = Addressed::<_, Pretends>::new(Filter::concurrent_with(rule));
    let pair = Pair::new(false, true);
    let menu = Children::new(vec![Pretends(once(3), 1), Pretends(once(9), 2)], vec![()]);
    let verifier = Verifier::new(copies_of(&filter), &pair, menu, 6);
    assert!(verifier.check(&ApproxDp, &claim).unwrap().is_refuted());
}

/// A response that claims to be worth a number of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pretends(Respond, u64);

impl queryables::machine::Mechanism<bool> for Pretends {
    type Machine = Responding;

    fn start(
        &self,
        data: &std::sync::Arc<bool>,
        coins: &mut queryables::machine::Coins<'_>,
    ) -> Result<Responding, queryables::machine::Fault> {
        self.0.start(data, coins)
    }
}

impl Private<RepeatedMechanism, AddRemove> for Pretends {
    fn loss(&self, _: &RepeatedMechanism) -> Result<Repetitions, UnknownLoss> {
        Ok(Repetitions(self.1))
    }
}
