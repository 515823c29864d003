//! Which (ε, δ) rule admits most.

use std::cmp::Reverse;

use super::best_slack::with_best_slack;
use super::menu::MenuFilter;
use super::{
    Accumulator, ApproxDpRule, ContinuationRule, FixedCount, Rogers, RuleError, Sum, ThroughRdp,
    ThroughZCdp,
};
use crate::number::Delta;
use crate::privacy::{ApproxDp, EpsilonDelta};

/// All (ε, δ) rules that are valid for a budget, with nothing counted, each with the number of
/// launches of a typical loss that it admits; those that admit most come first.
///
/// For rules with a slack, the slack is all of δ if the typical loss is pure, and otherwise the
/// best part of δ. A rule whose slack is all of δ refuses children with δ > 0. The menu takes half
/// of δ as slack if the typical loss has δ > 0.
///
/// The fixed count refuses every launch that is larger than the typical one. The menu is the one
/// for many small launches. It is left out if a typical launch is less than 1/200 of ε. The balanced
/// menu ([`MenuFilter::balanced`]) is not here, because it takes seconds to build.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, compare};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let typical = EpsilonDelta::new("0.01", "0")?;
/// let rules = compare(budget, typical);
/// let names: Vec<_> = rules.iter().map(|(rule, admits)| (rule.name(), *admits)).collect();
/// assert_eq!(names[0], ("fixed count", 562));
/// assert_eq!(names[1], ("menu, many small", 551));
/// assert_eq!(names[2], ("RDP, exact curve", 490));
///
/// // For few launches nothing beats adding up.
/// let typical = EpsilonDelta::new("0.5", "0")?;
/// let (rule, admits) = compare(budget, typical).swap_remove(0);
/// assert_eq!((rule.name(), admits), ("basic", 2));
/// let rule = rule.charge(&typical)?;
/// assert_eq!(rule.remaining(), EpsilonDelta::new("0.5", "1e-6")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn compare(budget: EpsilonDelta, typical: EpsilonDelta) -> Vec<(ApproxDpRule, u64)> {
    let slack = |rule: &dyn Fn(Delta) -> Result<ApproxDpRule, RuleError>| {
        with_best_slack(budget, typical, rule).ok()
    };
    // The simplest first: it stays first among equals.
    let rules = [
        Some(ApproxDpRule::Basic(Sum::new(ApproxDp).capped(budget))),
        Rogers::new(budget).ok().map(ApproxDpRule::Rogers),
        slack(&|slack| ThroughZCdp::simple(budget, slack).map(ApproxDpRule::Whitehouse)),
        slack(&|slack| ThroughZCdp::tight(budget, slack).map(ApproxDpRule::ThroughZCdp)),
        slack(&|slack| {
            let rule = ThroughRdp::chosen_for(budget, slack, typical.epsilon);
            rule.map(ApproxDpRule::ThroughRdp)
        }),
        many_small(budget, typical).map(ApproxDpRule::Menu),
        fixed_count(budget, typical).map(ApproxDpRule::FixedCount),
    ];
    let counted = rules.into_iter().flatten().map(|rule| {
        let admits = rule.admits(&typical).certainly();
        (rule, admits)
    });
    let mut rules: Vec<_> = counted.collect();
    // A stable sort.
    rules.sort_by_key(|(_, admits)| Reverse(*admits));
    rules
}

/// The largest number of launches that is fixed in advance; without δ it only adds up.
fn fixed_count(budget: EpsilonDelta, typical: EpsilonDelta) -> Option<FixedCount> {
    if budget.delta == Delta::ZERO {
        return None;
    }
    FixedCount::most(budget, typical).ok()
}

/// The menu for many small launches, where it takes little time. All of δ is slack for pure launches,
/// else half of it.
fn many_small(budget: EpsilonDelta, typical: EpsilonDelta) -> Option<MenuFilter> {
    if typical.epsilon.checked_mul(200)? < budget.epsilon || typical.epsilon > budget.epsilon {
        return None;
    }
    let slack = match typical.delta == Delta::ZERO {
        true => budget.delta,
        false => Delta::from_units(budget.delta.units() / 2).ok()?,
    };
    MenuFilter::many_small(budget, slack, typical.epsilon).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::ChildLoss;
    use crate::account::{Exceeded, LaunchesLeft};
    use crate::number::{Epsilon, units};
    use crate::tests::oracle::sizes;
    use proptest::prelude::*;

    /// The number is what charging one by one admits, now and after a few launches.
    fn is_what_charging_admits<F: ContinuationRule>(mut rule: F, loss: &ChildLoss<F>) {
        for _ in 0..3 {
            let mut counted = 0;
            let mut next = rule.charge(loss);
            while let Ok(charged) = next {
                counted += 1;
                next = charged.charge(loss);
            }
            assert_eq!(
                rule.admits(loss),
                LaunchesLeft::Exactly(counted),
                "{rule:?}"
            );
            let Ok(next) = rule.charge(loss) else { return };
            rule = next;
        }
    }

    #[test]
    fn every_rule_admits_as_many_as_it_says() {
        let budget = EpsilonDelta::new("1", "1e-6").unwrap();
        let slack = "5e-7".parse().unwrap();
        for (epsilon, delta) in [("0.1", "0"), ("0.013", "1e-9"), ("0.007", "0"), ("2", "0")] {
            let loss = EpsilonDelta::new(epsilon, delta).unwrap();
            let renyi = ThroughRdp::chosen_for(budget, slack, loss.epsilon).unwrap();
            is_what_charging_admits(ApproxDpRule::ThroughRdp(renyi), &loss);
            if let Ok(fixed) = FixedCount::most(budget, loss) {
                is_what_charging_admits(fixed, &loss);
            }
        }
        #[cfg(feature = "fdp")]
        for mu in ["0.1", "0.03", "1", "1.1"] {
            let gdp = crate::privacy::Gdp;
            let rule = crate::account::NaturalFilter::new(budget, gdp).unwrap();
            is_what_charging_admits(rule, &mu.parse().unwrap());
        }
    }

    #[test]
    fn what_is_set_aside_is_spent_from_the_start() {
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let found = compare(limit, EpsilonDelta::new("0.01", "1e-10").unwrap());
        // Most rules have a slack; adding up has none; whatever has one has spent it.
        assert!(found.len() > 4);
        for (rule, _) in found {
            assert_eq!(rule.set_aside(), rule.spent());
        }
    }

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    fn names(rules: &[(ApproxDpRule, u64)]) -> Vec<(&'static str, u64)> {
        let names = rules.iter().map(|(rule, admits)| (rule.name(), *admits));
        names.collect()
    }

    #[test]
    fn what_each_rule_admits() {
        assert_eq!(
            names(&compare(pair("1", "1e-6"), pair("0.01", "0"))),
            [
                ("fixed count", 562),
                ("menu, many small", 551),
                ("RDP, exact curve", 490),
                ("zCDP, tight", 487),
                ("Whitehouse", 349),
                ("Rogers", 147),
                ("basic", 100),
            ]
        );
    }

    #[test]
    fn without_delta_only_adding_up_is_left() {
        assert_eq!(
            names(&compare(pair("1", "0"), pair("0.01", "0"))),
            [("basic", 100)]
        );
    }

    #[test]
    fn the_slack_leaves_room_for_the_children() {
        let (budget, typical) = (pair("1", "1e-6"), pair("0.01", "1e-9"));
        let candidates = compare(budget, typical);
        let best = candidates
            .iter()
            .find(|(rule, _)| rule.name() == "RDP, exact curve")
            .unwrap();
        // Of 490 for pure ones; 1e-6 alone would be enough for a thousand of 1e-9.
        assert_eq!(best.1, 465);
        assert_eq!(candidates[0].0.name(), "fixed count");
        assert!(candidates[0].1 > 500);
        // Another slack admits no more.
        for slack in ["1e-7", "3e-7", "5.34e-7", "6e-7", "9e-7"] {
            let rule = ThroughRdp::chosen_for(budget, slack.parse().unwrap(), typical.epsilon);
            assert!(rule.unwrap().admits(&typical).certainly() <= best.1);
        }
    }

    #[test]
    fn a_tiny_delta_of_the_children_costs_next_to_nothing() {
        let budget = pair("1", "1e-6");
        let pure = names(&compare(budget, pair("0.01", "0")));
        let find = |names: &[(&'static str, u64)], wanted| {
            let found = names.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, admits)| *admits).unwrap()
        };
        for delta in ["1e-13", "1e-15", "1e-18", "1e-24", "1e-38"] {
            let names = names(&compare(budget, pair("0.01", delta)));
            for rule in ["Whitehouse", "zCDP, tight", "RDP, exact curve"] {
                assert_eq!(find(&names, rule), find(&pure, rule), "{rule} {delta}");
            }
        }
    }

    #[test]
    fn nothing_fits_and_everything_fits() {
        let candidates = compare(pair("0.5", "1e-6"), pair("0.6", "0"));
        assert!(candidates.iter().all(|(_, admits)| *admits == 0));
        assert_eq!(candidates[0].0.name(), "basic");
        let candidates = compare(pair("0.5", "1e-6"), pair("0", "0"));
        assert_eq!(candidates[0].1, u64::MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// For every rule: what `admits` says is what one launch after the other gives; spent and
        /// remaining stay true on the way; no more than the limit is ever spent.
        #[test]
        fn counting_launches_agrees_with_launching(
            limit in sizes::<units::Epsilon>(-1.0..1.0),
            delta in sizes::<units::Delta>(-30.0..-0.4),
            part in 0.02..0.6_f64,
            child in prop_oneof![Just(0_u128), 1..400_u128],
        ) {
            let units = (limit.units() as f64 * part) as u128;
            let typical = EpsilonDelta {
                epsilon: Epsilon::from_units(units).unwrap(),
                delta: Delta::from_units(delta.units() / 1000 * child / 100).unwrap(),
            };
            for (mut rule, admits) in compare(EpsilonDelta { epsilon: limit, delta }, typical) {
                let mut launched = 0;
                prop_assert!(admits == 0 || rule.remaining().epsilon > Epsilon::ZERO);
                loop {
                    let remaining = rule.remaining();
                    let fits = typical <= remaining;
                    let spent = rule.spent();
                    let Ok(next) = rule.charge(&typical) else {
                        prop_assert!(!fits, "{} {launched}", rule.name());
                        break;
                    };
                    rule = next;
                    launched += 1;
                    prop_assert!(spent <= rule.spent(), "{}: what is spent rises", rule.name());
                    prop_assert!(rule.spent() <= *rule.limit());
                    prop_assert!(launched < 10_000, "{} never ends", rule.name());
                }
                prop_assert_eq!(launched, admits, "{}", rule.name());
            }
        }

        /// A larger launch is never admitted where a smaller one is not, and leaves no more behind.
        #[test]
        fn rules_fall_in_every_argument(
            losses in proptest::collection::vec((0..10_u128.pow(26), 0..10_u128.pow(31)), 1..12),
            at in 0..12_usize, more in 0..10_u128.pow(26), choice in 0..7_usize,
        ) {
            let budget = pair("1", "1e-5");
            let mut candidates = compare(budget, pair("0.01", "1e-9"));
            let rule = candidates.swap_remove(choice).0;
            let run = |change: Option<usize>| {
                let mut admitted = Ok(rule.clone());
                for (index, (epsilon, delta)) in losses.iter().enumerate() {
                    let more = if change == Some(index) { more } else { 0 };
                    let loss = EpsilonDelta {
                        epsilon: Epsilon::from_units(epsilon + more).unwrap(),
                        delta: Delta::from_units(delta + more).unwrap(),
                    };
                    admitted = admitted.and_then(|rule| rule.charge(&loss));
                }
                admitted
            };
            let (small, large) = (run(None), run(Some(at % losses.len())));
            prop_assert!(small.is_ok() || large == Err(Exceeded));
            if let (Ok(less), Ok(greater)) = (small, large) {
                prop_assert!(less.spent() <= greater.spent());
                prop_assert!(greater.remaining() <= less.remaining());
            }
        }

        /// The same losses in another order: the same state.
        #[test]
        fn the_order_of_launches_does_not_matter(
            mut losses in proptest::collection::vec(0..10_u128.pow(25), 1..12),
            choice in 0..7_usize,
        ) {
            let mut candidates = compare(pair("1", "1e-5"), pair("0.01", "0"));
            let rule = candidates.swap_remove(choice).0;
            let run = |losses: &[u128]| {
                let mut rule = rule.clone();
                for units in losses {
                    let epsilon = Epsilon::from_units(*units).unwrap();
                    rule = rule.charge(&EpsilonDelta { epsilon, delta: Delta::ZERO }).unwrap();
                }
                (rule.spent(), rule.remaining())
            };
            let forth = run(&losses);
            losses.reverse();
            prop_assert_eq!(forth, run(&losses));
        }
    }
}
