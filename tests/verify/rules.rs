//! The (ε, δ) filters of Whitehouse and Rogers, through zCDP and through RDP show their state: the
//! verifier recognises it, and finds what it finds without.

use crate::support::*;
use queryables::account::{AdvancedComposition, Rogers, ThroughRdp, ThroughZCdp};
use queryables::compose::{Addressed, Filter};
use queryables::machine::Inspect;
use queryables::mechanisms::ApproxRandomizedResponse;
use queryables::privacy::{ApproxDp, EpsilonDelta};
use queryables::verify::{Children, Pair, Verifier, copies_of};

fn loss(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

/// Checks a filter with this rule by state, and finds the same as without looking at the state.
macro_rules! assert_filter {
    ($rule:expr) => {{
        let budget = loss("30", "0.3");
        let rule = $rule(budget);
        let filter: Addressed<_, ApproxRandomizedResponse> =
            Addressed::new(Filter::concurrent_with(rule));
        let child = ApproxRandomizedResponse::with_odds(2, 1, "0.01".parse().unwrap()).unwrap();
        let pair = Pair::new(false, true);
        let menu = Children::new(vec![child], vec![()]).without_reading();
        let by_state = Verifier::by_state(copies_of(&filter), &pair, menu.clone(), 4);
        by_state.assert_private(&ApproxDp, &budget);
        let opaque = Verifier::new(copies_of(&filter), &pair, menu, 4);
        assert_eq!(
            by_state.worst_delta(ratio(3, 2)).unwrap().value,
            opaque.worst_delta(ratio(3, 2)).unwrap().value,
        );
    }};
}

#[test]
fn filters_for_approximate_privacy_are_checked_by_state() {
    let slack = || "0.05".parse().unwrap();
    // Whitehouse et al. Thm 2, and the same with the tight conversion.
    assert_filter!(|budget| ThroughZCdp::simple(budget, slack()).unwrap());
    assert_filter!(|budget| Rogers::new(budget).unwrap());
    assert_filter!(|budget| ThroughZCdp::tight(budget, slack()).unwrap());
    assert_filter!(|budget: EpsilonDelta| {
        ThroughRdp::chosen_for(budget, slack(), "0.69".parse().unwrap()).unwrap()
    });
    fn shows(_: &impl Inspect) {}
    shows(&AdvancedComposition::new(slack()).unwrap());
}
