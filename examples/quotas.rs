//! A quota is not a guarantee. Ana and Ben each keep to theirs, and learn more together than either
//! quota says; the verifier finds how. What holds is the budget of the filter. Run with
//! `cargo run --example quotas --features verify`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use queryables::account::{Accumulator, Capped, ContinuationRule, DefaultAccumulator, Sum};
use queryables::prelude::*;
use queryables::verify::{Pair, Verifier, copies_of};

/// ln 3, rounded up: what one response at odds of three costs.
pub(crate) const LN_3: &str = "1.098612288668109691395245237";

/// A filter with a quota for each party, on one bit. Each question is a launch: a response at odds
/// of three to one, or the refusal.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) parties: Vec<&'static str>,
    pub(crate) quota: Epsilon,
    pub(crate) budget: Epsilon,
}

#[derive(Hash)]
pub(crate) struct Running {
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
        let loss = LN_3.parse().map_err(|_| Fault::Failed)?;
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

fn main() -> Result<(), Box<dyn Error>> {
    let quota: Epsilon = LN_3.parse()?;
    let budget = quota.checked_mul(2).ok_or("too large")?;
    let shared = Shared {
        parties: vec!["Ana", "Ben"],
        quota,
        budget,
    };
    let pair = Pair::new(false, true);
    let learn = |who: &[&'static str]| Verifier::new(copies_of(&shared), &pair, who.to_vec(), 3);

    println!("Each has a quota of {quota:.4}; the budget is {budget:.4}.");
    for who in [&["Ana"][..], &["Ben"], &["Ana", "Ben"]] {
        let verifier = learn(who);
        let within = |limit| {
            let holds = verifier.check(&PureDp, limit)?.holds();
            Ok::<_, Box<dyn Error>>(if holds { "holds" } else { "is refuted" })
        };
        println!(
            "{:12} the quota {}, the budget {}; odds of at most {} to 1",
            who.join(" and "),
            within(&quota)?,
            within(&budget)?,
            verifier.worst_ratio()?.value
        );
    }
    Ok(())
}
