//! A quota is not a guarantee: two parties who keep to theirs learn more than either could, and the
//! verifier finds how.

#[path = "../../examples/quotas.rs"]
#[allow(dead_code)]
mod example;

use example::{LN_3, Shared};
use queryables::prelude::*;
use queryables::verify::{Pair, Verifier, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

#[test]
fn two_parties_within_their_quotas_refute_a_claim_for_each() {
    let quota = epsilon(LN_3);
    let budget = quota.checked_mul(2).unwrap();
    let shared = Shared {
        parties: vec!["Ana", "Ben"],
        quota,
        budget,
    };
    let pair = Pair::new(false, true);
    let menu = |parties: &[&'static str]| parties.to_vec();

    // Alone, each learns what the quota says.
    for party in ["Ana", "Ben"] {
        let alone = Verifier::new(copies_of(&shared), &pair, menu(&[party]), 3);
        alone.assert_private(&PureDp, &quota);
    }
    // Together they learn more, and nobody has asked more than the quota allows.
    let together = Verifier::new(copies_of(&shared), &pair, menu(&["Ana", "Ben"]), 3);
    let verdict = together.check(&PureDp, &quota).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
    // Nine to one: exactly what two responses tell.
    let ratio = together.worst_ratio().unwrap();
    assert_eq!(ratio.value.exact(), Some(&9_u8.into()));
    // What holds, whoever talks to whom, is the budget.
    together.assert_private(&PureDp, &budget);
}

#[test]
fn the_budget_bounds_what_any_number_of_parties_learns() {
    let quota = epsilon(LN_3);
    let budget = quota.checked_mul(2).unwrap();
    let parties = vec!["Ana", "Ben", "Eva"];
    let shared = Shared {
        parties: parties.clone(),
        quota,
        budget,
    };
    // Three quotas that overlap a budget for two.
    let pair = Pair::new(false, true);
    Verifier::new(copies_of(&shared), &pair, parties, 4).assert_private(&PureDp, &budget);
}
