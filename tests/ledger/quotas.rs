//! A quota is not a guarantee: two parties who keep to theirs learn more than either could, and the
//! verifier finds how.

use std::collections::BTreeMap;
use std::sync::Arc;

use queryables::account::{Accumulator, Capped, ContinuationRule, DefaultAccumulator, Sum};
use queryables::prelude::*;
use queryables::verify::{Pair, Verifier, copies_of};

/// ln 3, rounded up: what one response at odds of three costs.
const LN_3: &str = "1.098612288668109691395245237";

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// A filter with a quota for each party, on one bit. Each question is a launch: a response at odds
/// of three to one, or the refusal.
#[derive(Clone, Debug)]
struct Shared {
    parties: Vec<&'static str>,
    quota: Epsilon,
    budget: Epsilon,
}

#[derive(Hash)]
struct Running {
    bit: bool,
    budget: Capped<Sum<PureDp>>,
    quotas: BTreeMap<&'static str, Capped<Sum<PureDp>>>,
}

impl Mechanism<bool> for Shared {
    type Machine = Running;

    fn start(&self, bit: &Arc<bool>, _: &mut Coins<'_>) -> Result<Running, Fault> {
        let rule = |limit| PureDp.accumulator().capped(limit);
        let quotas = self.parties.iter().map(|party| (*party, rule(self.quota)));
        Ok(Running {
            bit: **bit,
            budget: rule(self.budget),
            quotas: quotas.collect(),
        })
    }
}

impl Machine for Running {
    type Query = &'static str;
    type Answer = Option<bool>;

    /// All or nothing, as in the ledger.
    fn step(&mut self, party: &'static str, coins: &mut Coins<'_>) -> Result<Option<bool>, Fault> {
        let loss = epsilon(LN_3);
        let quota = self.quotas.get(party).map(|quota| quota.charge(&loss));
        let Some(Ok(quota)) = quota else {
            return Ok(None);
        };
        let Ok(budget) = self.budget.charge(&loss) else {
            return Ok(None);
        };
        self.budget = budget;
        self.quotas.insert(party, quota);
        Ok(Some(self.bit ^ (coins.weighted(&[3, 1])? == 1)))
    }
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
