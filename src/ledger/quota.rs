//! Limits for parties, which are not a privacy guarantee.

use std::sync::Arc;

use serde::Serialize;

use super::StoreError;
use super::filter::LedgerRule;
use super::seal::seal;
use super::state::{read_state, write_state};
use crate::account::{Accumulator, ContinuationRule, DefaultAccumulator, Durable, LaunchesLeft};
use crate::compose::{Refusal, refusal};
use crate::privacy::Measure;

/// A limit on what some parties spend of a filter's budget, in the measure of its children.
///
/// **A quota is not a guarantee.** A party with a quota of ε may learn more than ε about a person:
/// parties may talk to each other, and one of them may choose queries by what another one saw. Only
/// the filter's budget bounds what all of them together learn. Give a quota to share a budget
/// fairly; state privacy by [`LedgerFilter::limit`](super::LedgerFilter::limit).
///
/// Quotas may overlap, and need not add up to the budget: nothing is set aside for them. What is set
/// aside for a party is a *share*: [`LedgerFilter::reserve`](super::LedgerFilter::reserve).
///
/// [`Party`](super::Party) has an example.
#[derive(Clone, Debug)]
pub struct Quota {
    pub(super) name: Arc<str>,
    /// Whose it is.
    pub(super) filter: Arc<str>,
}

impl Quota {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its budget: its own and the filter's, which may hold anything, a separator too.
    pub(super) fn budget(&self) -> String {
        format!("{:?}", (&*self.filter, &*self.name))
    }
}

/// The rule of a quota, of which only the losses are known.
pub(super) trait QuotaRule<L>: Send + Sync {
    /// The rule after one more loss.
    fn charge(&self, loss: &L) -> Result<SharedRule<L>, Box<Refusal<L>>>;

    fn spent(&self) -> L;

    fn remaining(&self) -> L;

    fn launches_left(&self, loss: &L) -> LaunchesLeft;

    fn state(&self) -> Result<String, StoreError>;

    /// With the counts of a state that was written.
    fn resumed(&self, state: &str) -> Option<SharedRule<L>>;
}

/// Copied without running its code.
pub(super) type SharedRule<L> = Arc<dyn QuotaRule<L>>;

struct Kept<F>(F);

impl<L, F> QuotaRule<L> for Kept<F>
where
    L: Clone,
    F: LedgerRule + ContinuationRule<Children: Measure<Loss = L>, Whole: Measure<Loss = L>>,
{
    fn charge(&self, loss: &L) -> Result<SharedRule<L>, Box<Refusal<L>>> {
        match self.0.charge(loss) {
            Ok(rule) => Ok(Arc::new(Self(rule))),
            Err(_) => Err(Box::new(refusal(&self.0, loss))),
        }
    }

    fn spent(&self) -> L {
        self.0.spent()
    }

    fn remaining(&self) -> L {
        self.0.remaining()
    }

    fn launches_left(&self, loss: &L) -> LaunchesLeft {
        self.0.admits(loss)
    }

    fn state(&self) -> Result<String, StoreError> {
        write_state::<F>(&self.0, 0, None)
    }

    fn resumed(&self, state: &str) -> Option<SharedRule<L>> {
        let state = read_state(&self.0, state)?;
        // A quota counts no launches, and does not halt.
        let is_plain = state.launched == 0 && state.halt.is_none();
        is_plain.then(|| Arc::new(Self(state.rule)) as _)
    }
}

/// A quota's rule, and its terms.
pub(super) fn quota_rule<Me>(
    measure: &Me,
    limit: Me::Loss,
) -> Result<(SharedRule<Me::Loss>, String), StoreError>
where
    Me: DefaultAccumulator,
    crate::account::Capped<Me::Accumulator>: LedgerRule<Children = Me, Whole = Me>,
{
    #[derive(Serialize)]
    struct Terms<P> {
        ledger: u32,
        quota: &'static str,
        parameters: P,
    }
    let rule = measure.accumulator().capped(limit);
    let terms = seal(&Terms {
        ledger: super::seal::VERSION,
        quota: <crate::account::Capped<Me::Accumulator> as Durable>::NAME,
        parameters: rule.parameters(),
    })?;
    Ok((Arc::new(Kept(rule)), terms))
}
