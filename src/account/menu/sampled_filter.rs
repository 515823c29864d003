//! The menu filter for Gaussians on random samples.

use std::sync::Arc;

#[cfg(feature = "serde")]
use super::SampledGaussians;
use super::prices::{Paid, PriceList};
use super::sampled_menu::Plan;
#[cfg(feature = "serde")]
use crate::account::durable::{Durable, ImpossibleCounts, Invalid};
use crate::account::{
    Accounting, ContinuationRule, Exceeded, ValidConcurrently, ValidSequentially,
};
use crate::number::{Delta, Mu};
use crate::privacy::{ApproxDp, EpsilonDelta, Reentrant, SampledGaussianDp};

/// The filter on a [`SampledGaussians`](super::SampledGaussians) menu: children are Gaussians on a
/// sample, stated by μ = sensitivity/σ ([`SampledGaussianDp`]); the whole is (ε, δ)-DP.
///
/// # Guarantee
///
/// That of the menu filter (`spec/menu_filter.md`), for launches M with the following property: for
/// every dataset and every row in it, the pair (M with the row, M without it) is dominated by the
/// one of the sampled Gaussian (Zhu, Dong and Wang 2022; Tran et al. §2). The whole is then
/// (ε, δ)-DP in both directions. The row must play the same part in all launches: it does if they
/// all see the same dataset, or subsets of it. A lease is a postprocessing of all its launches made
/// at once, so leases may be interleaved. So may interactive children with finite communication,
/// each of which is a postprocessing of one response (Haney et al. 3.3).
///
/// # Example
///
/// ```
/// use queryables::account::menu::{Detail, SampledGaussians};
/// use queryables::data::Vector;
/// use queryables::mechanisms::{Lattice, SampledGaussianSum};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let budget = EpsilonDelta::new("2", "1e-3")?;
/// let rate = "0.1".parse()?;
/// // Coarse, to be quick.
/// let detail = Detail { step: "0.005".parse()?, ratio: 4, cheapest: 4 };
/// let menu = SampledGaussians::new(rate, &["2".parse()?, "4".parse()?], 5, budget, detail)?;
/// let rule = menu.filter(budget)?;
/// let filter = start(&Filter::concurrent_with(rule), Arc::new(vec![[0.6, 0.8]; 100]))?;
///
/// // σ = 4 to look around, then σ = 2.
/// let step = |mu: &str| -> Result<_, Box<dyn std::error::Error>> {
///     let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
///     let lattice = Lattice::of_length(1.0)?;
///     Ok(SampledGaussianSum::new(AddRemove, step, 2, lattice, rate, mu.parse()?)?)
/// };
/// let sum: Vec<f64> = filter.release(&step("0.25")?)?;
/// let sum: Vec<f64> = filter.release(&step("0.5")?)?;
/// assert!(filter.privacy_loss().delta < budget.delta);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SampledGaussianFilter {
    limit: EpsilonDelta,
    measure: SampledGaussianDp,
    table: Arc<Table>,
    paid: Paid,
}

/// What never changes.
#[derive(Debug, PartialEq)]
struct Table {
    /// Kept to build the same filter again.
    plan: Plan,
    prices: PriceList<Mu>,
    /// δ at the limit's ε after each sum of costs.
    readings: Vec<Delta>,
}

impl SampledGaussianFilter {
    /// With a budget that is known to be within the limit, and δ after each sum of costs.
    pub(super) fn start(
        limit: EpsilonDelta,
        plan: Plan,
        prices: PriceList<Mu>,
        readings: Vec<Delta>,
    ) -> Self {
        Self {
            limit,
            measure: SampledGaussianDp::new(plan.rate),
            paid: prices.nothing_paid(),
            table: Arc::new(Table {
                plan,
                prices,
                readings,
            }),
        }
    }

    /// The sampling rate of every launch.
    #[must_use]
    pub fn rate(&self) -> Delta {
        self.measure.rate()
    }
}

impl Accounting for SampledGaussianFilter {
    const REENTRANT: Reentrant = Reentrant(false);

    type Children = SampledGaussianDp;
    type Whole = ApproxDp;

    fn children(&self) -> &SampledGaussianDp {
        &self.measure
    }

    fn whole(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl ContinuationRule for SampledGaussianFilter {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    /// The limit's ε, and the worst case of all that costs as much; nothing before the first launch.
    fn spent(&self) -> EpsilonDelta {
        if self.paid.cost() == 0 {
            return EpsilonDelta::default();
        }
        let place = usize::try_from(self.paid.cost()).unwrap_or(usize::MAX);
        EpsilonDelta {
            epsilon: self.limit.epsilon,
            delta: (self.table.readings.get(place).copied()).unwrap_or(self.limit.delta),
        }
    }

    /// The largest μ for which one more launch fits; anything less fits, too.
    fn remaining(&self) -> Mu {
        let largest = self.table.prices.largest_that_fits(&self.paid);
        largest.unwrap_or_default()
    }

    fn charge(&self, mu: &Mu) -> Result<Self, Exceeded> {
        let mut next = self.clone();
        if *mu > Mu::ZERO {
            let paid = self.table.prices.pay(&self.paid, *mu, 1);
            next.paid = paid.ok_or(Exceeded)?;
        }
        Ok(next)
    }
}

impl ValidSequentially for SampledGaussianFilter {}
impl ValidConcurrently for SampledGaussianFilter {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    limit: EpsilonDelta,
    menu: Plan,
}

/// The menu is composed again, and the recursion solved again, which takes as long as the first
/// time.
#[cfg(feature = "serde")]
impl Durable for SampledGaussianFilter {
    const NAME: &'static str = "SampledGaussianFilter";

    type Parameters = Parameters;
    type Counts = (u64, Vec<u64>);

    fn parameters(&self) -> Parameters {
        Parameters {
            limit: self.limit,
            menu: self.table.plan.clone(),
        }
    }

    fn build(Parameters { limit, menu }: Parameters) -> Result<Self, Invalid> {
        Ok(SampledGaussians::planned(menu)?.filter(limit)?)
    }

    fn counts(&self) -> Self::Counts {
        Paid::into_parts(self.paid.clone())
    }

    fn resume(&self, (cost, open): Self::Counts) -> Result<Self, Invalid> {
        let paid = self.table.prices.opened(cost, open);
        Ok(Self {
            paid: paid.ok_or(ImpossibleCounts)?,
            ..self.clone()
        })
    }
}
