//! The menu filter for Gaussians on random samples.

use std::sync::Arc;

use super::prices::{Paid, Prices};
use crate::account::Exceeded;
use crate::number::{Delta, Mu};
use crate::privacy::EpsilonDelta;

/// The filter on a [`SampledGaussians`](super::SampledGaussians) menu: children are Gaussians on a sample, stated by
/// μ = sensitivity/σ; the whole is (ε, δ)-DP.
///
/// # Guarantee
///
/// That of the menu filter (`spec/menu_filter.md`), for launches M with the following property: for
/// every dataset and every row in it, the pair (M with the row, M without it) is dominated by the
/// one of the sampled Gaussian (Zhu, Dong and Wang 2022; Tran et al. §2). The whole is then
/// (ε, δ)-DP in both directions. The row must play the same part in all launches: it does if they
/// all see the same dataset, or subsets of it. A lease is a postprocessing of all its launches made
/// at once, so leases may be interleaved.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledGaussianFilter {
    limit: EpsilonDelta,
    rate: Delta,
    prices: Arc<Prices<Mu>>,
    paid: Paid,
    readings: Arc<[Delta]>,
}

impl SampledGaussianFilter {
    /// With a budget that is known to be within the limit, and δ after each sum of costs.
    pub(super) fn start(
        limit: EpsilonDelta,
        rate: Delta,
        prices: Prices<Mu>,
        readings: Vec<Delta>,
    ) -> Self {
        Self {
            limit,
            rate,
            paid: prices.nothing_paid(),
            prices: Arc::new(prices),
            readings: readings.into(),
        }
    }

    /// The budget.
    #[must_use]
    pub fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    /// The sampling rate of every launch.
    #[must_use]
    pub fn rate(&self) -> Delta {
        self.rate
    }

    /// A bound on everything counted so far.
    #[must_use]
    pub fn spent(&self) -> EpsilonDelta {
        if self.paid.cost() == 0 {
            return EpsilonDelta::default();
        }
        let place = usize::try_from(self.paid.cost()).unwrap_or(usize::MAX);
        EpsilonDelta {
            epsilon: self.limit.epsilon,
            delta: self
                .readings
                .get(place)
                .copied()
                .unwrap_or(self.limit.delta),
        }
    }

    /// The largest μ for which one more launch fits; anything less fits, too.
    #[must_use]
    pub fn remaining(&self) -> Mu {
        self.prices
            .largest_that_fits(&self.paid)
            .unwrap_or_default()
    }

    /// Counts one more launch.
    ///
    /// # Errors
    ///
    /// [`Exceeded`]; nothing has changed then.
    pub fn charge(&self, mu: &Mu) -> Result<Self, Exceeded> {
        let mut next = self.clone();
        if *mu > Mu::ZERO {
            next.paid = self.prices.pay(&self.paid, *mu, 1).ok_or(Exceeded)?;
        }
        Ok(next)
    }
}
