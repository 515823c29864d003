//! A menu of Gaussians on random samples.

use super::curve::Curve;
use super::lattice::Lattice;
use super::launch::Launch;
use super::prices::{MenuRow, PriceList};
use super::sampled::{bundle, dots};
use super::sampled_filter::SampledGaussianFilter;
use super::sum::{CostedLaunch, visit};
use super::{MenuError, window};
use crate::number::{Delta, Epsilon, Interval, Mu, Scale};
use crate::privacy::EpsilonDelta;

/// Gaussians on random samples at one rate, with several noise levels, on a price list.
///
/// Every entry is a *lease*: up to a number of launches at this noise, paid for at once. To build
/// the menu composes each lease; [`filter`](Self::filter) and [`epsilons`](Self::epsilons) solve
/// the recursion. Both take longer with a finer [`Detail`]: some 30 s for 25 noise levels, 3650
/// launches and an ε within 1 % of what a fixed order would have.
///
/// # Example
///
/// ```
/// use queryables::account::ContinuationRule;
/// use queryables::account::menu::{Detail, SampledGaussians};
/// use queryables::privacy::EpsilonDelta;
///
/// let limit = EpsilonDelta::new("2", "1e-3")?;
/// // Coarse, to be quick.
/// let detail = Detail { step: "0.005".parse()?, ratio: 4, cheapest: 4 };
/// let sigmas = ["2".parse()?, "4".parse()?];
/// let menu = SampledGaussians::new("0.1".parse()?, &sigmas, 5, limit, detail)?;
/// let mut filter = menu.filter(limit)?;
/// // σ = 3 is charged as σ = 2: μ = 1/3.
/// filter = filter.charge(&"0.333333334".parse()?)?;
/// assert!(filter.spent() <= limit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SampledGaussians {
    plan: Plan,
    lattice: Lattice,
    mus: Vec<Mu>,
    launches: Vec<Launch>,
    costs: Vec<u64>,
}

/// What a menu is built from.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(super) struct Plan {
    pub(super) rate: Delta,
    sigmas: Vec<Scale>,
    lease: u64,
    target: EpsilonDelta,
    detail: Detail,
}

/// How finely a [`SampledGaussians`] menu is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Detail {
    /// The lattice step for single launches.
    pub step: Epsilon,
    /// How many of them make a step for leases.
    pub ratio: u16,
    /// The cost of the cheapest lease.
    pub cheapest: u64,
}

impl SampledGaussians {
    /// A menu for one sampling rate, with an entry for each σ (sensitivity 1), for budgets near
    /// `target`. A launch with more noise than an entry may be charged as that entry.
    ///
    /// Costs are in proportion to 1/n, where n leases of an entry alone reach the target.
    ///
    /// # Errors
    ///
    /// [`MenuError`] says what to change.
    pub fn new(
        rate: Delta,
        sigmas: &[Scale],
        lease: u64,
        target: EpsilonDelta,
        detail: Detail,
    ) -> Result<Self, MenuError> {
        Self::planned(Plan {
            rate,
            sigmas: sigmas.to_vec(),
            lease,
            target,
            detail,
        })
    }

    pub(super) fn planned(plan: Plan) -> Result<Self, MenuError> {
        let Plan {
            rate,
            lease,
            target,
            detail,
            ..
        } = plan;
        let mut mus = plan
            .sigmas
            .iter()
            .map(|sigma| {
                (Interval::ONE / Interval::from(*sigma))
                    .up()
                    .ok_or(BAD_NOISE)
            })
            .collect::<Result<Vec<Mu>, _>>()?;
        mus.sort_unstable();
        mus.dedup();
        if mus.is_empty() {
            return Err(MenuError::Empty);
        }
        if rate == Delta::ZERO || lease == 0 || detail.cheapest == 0 || detail.ratio == 0 {
            return Err(MenuError::OutOfRange {
                what: "the rate, the lease, the ratio or the cheapest cost",
                advice: "take more than 0 of each",
            });
        }
        let ratio = i64::from(detail.ratio);
        let step = detail.step.checked_mul(u64::from(detail.ratio));
        let step = step.ok_or(MenuError::StepTooCoarse {
            step: detail.step,
            loss: target.epsilon,
        })?;
        let (_, above) = window(target.epsilon, target.delta);
        let lattice = Lattice::new(step, above, above)?;
        let fine = Lattice::new(detail.step, target.epsilon, above)?;
        if lattice.below(target.epsilon).0 == 0 || target.delta == Delta::ZERO {
            let epsilon = target.epsilon;
            return Err(MenuError::BudgetTooSmall { epsilon });
        }
        // The order at which tails matter, about.
        let goal = Interval::from(target.delta).middle();
        let order = -1.5 * libm::log(goal) / Interval::from(target.epsilon).middle();
        let negligible = goal * 1e-9 / lease as f64;
        let mut launches = Vec::new();
        for mu in &mus {
            let dots = dots(&fine, rate, *mu, negligible)?;
            let launch = Launch::chords(&fine, &dots, false);
            launches.push(bundle(&fine, &lattice, ratio, &launch, lease, order));
        }
        let counts = launches
            .iter()
            .map(|launch| leases_within(&lattice, launch, target, goal))
            .collect::<Result<Vec<f64>, _>>()?;
        let costs = whole_costs(&counts, detail.cheapest);
        Ok(Self {
            plan,
            lattice,
            mus,
            launches,
            costs,
        })
    }

    fn priced(&self) -> Vec<CostedLaunch> {
        self.launches
            .iter()
            .cloned()
            .zip(self.costs.iter().copied())
            .collect()
    }

    /// The costs of the entries, from the most noise to the least.
    #[must_use]
    pub fn costs(&self) -> &[u64] {
        &self.costs
    }

    /// How many dots the entries have: the time of the recursion grows with them.
    #[must_use]
    pub fn dots(&self) -> Vec<usize> {
        self.launches
            .iter()
            .map(|launch| launch.weights.len())
            .collect()
    }

    /// What the leases for a plan cost: σ and how often, in any order.
    ///
    /// # Errors
    ///
    /// [`MenuError::OutOfRange`] for less noise than any entry has.
    pub fn cost_of(&self, plan: &[(Scale, u64)]) -> Result<u64, MenuError> {
        let mut leases = vec![0_u64; self.mus.len()];
        for (sigma, times) in plan {
            let mu: Mu = (Interval::ONE / Interval::from(*sigma))
                .up()
                .ok_or(BAD_NOISE)?;
            let place = self.mus.partition_point(|entry| *entry < mu);
            *leases.get_mut(place).ok_or(BAD_NOISE)? += times;
        }
        let cost = |(launches, cost): (&u64, &u64)| launches.div_ceil(self.plan.lease) * cost;
        Ok(leases.iter().zip(&self.costs).map(cost).sum())
    }

    /// For each δ, an upper bound of the smallest ε such that every adaptive interaction whose leases
    /// cost at most `budget` is (ε, δ)-DP. All are read from one curve, so more of them take no time.
    ///
    /// # Errors
    ///
    /// [`MenuError::OutOfRange`] if no ε within the computed window does.
    pub fn epsilons(&self, budget: u64, deltas: &[Delta]) -> Result<Vec<Epsilon>, MenuError> {
        let mut epsilons = None;
        visit(&self.lattice, &self.priced(), |left, curve: &Curve| {
            if left == budget {
                let epsilon = |delta: &Delta| curve.epsilon(&self.lattice, *delta, false);
                epsilons = deltas.iter().map(epsilon).collect();
            }
            left < budget
        })?;
        epsilons.ok_or(MenuError::OutOfRange {
            what: "the budget",
            advice: "build the menu for a larger target",
        })
    }

    /// The filter with the largest budget that is within the limit.
    ///
    /// # Errors
    ///
    /// [`MenuError`] says what to change.
    pub fn filter(&self, limit: EpsilonDelta) -> Result<SampledGaussianFilter, MenuError> {
        let readings = super::sum::largest_budget(&self.lattice, &self.priced(), limit)?;
        let entries = self.mus.iter().zip(&self.costs).map(|(mu, cost)| MenuRow {
            loss: *mu,
            count: self.plan.lease,
            cost: *cost,
        });
        let prices = PriceList {
            entries: entries.collect(),
            budget: readings.len().saturating_sub(1) as u64,
        };
        let plan = self.plan.clone();
        Ok(SampledGaussianFilter::start(limit, plan, prices, readings))
    }
}

/// How many leases of one entry reach the target, with a fraction: a guess, for the costs.
fn leases_within(
    lattice: &Lattice,
    launch: &Launch,
    target: EpsilonDelta,
    goal: f64,
) -> Result<f64, MenuError> {
    let (mut before, mut count) = (0.0_f64, 0.0);
    visit(lattice, &[(launch.clone(), 1)], |left, curve| {
        let delta = Interval::from(curve.delta(lattice, target.epsilon, false)).middle();
        if delta <= goal {
            before = delta;
            return true;
        }
        let logs = [before.max(1e-300), delta, goal].map(libm::log);
        count = left as f64 - 1.0 + (logs[2] - logs[0]) / (logs[1] - logs[0]);
        false
    })?;
    Ok(count.max(f64::MIN_POSITIVE))
}

/// Whole costs in proportion to 1/n, the cheapest at least as asked for and at most a quarter more:
/// those of 256 scales whose proportions are best kept.
///
/// An adversary uses what rounding made cheapest, others pay what it costs on average; any costs
/// give a valid filter.
fn whole_costs(counts: &[f64], cheapest: u64) -> Vec<u64> {
    let most = counts.iter().copied().fold(0.0, f64::max);
    let at = |index: i32| {
        let scale = cheapest as f64 * most * (1.0 + f64::from(index) / 1024.0);
        let costs: Vec<f64> = counts
            .iter()
            .map(|count| (scale / count).round().max(1.0))
            .collect();
        let relative = || {
            costs
                .iter()
                .zip(counts)
                .map(|(cost, count)| cost * count / scale)
        };
        let worst = relative().fold(f64::INFINITY, f64::min);
        (relative().sum::<f64>() / worst, costs)
    };
    let first = at(0);
    let best = (1..256).map(at).fold(
        first,
        |best, next| if next.0 < best.0 { next } else { best },
    );
    best.1.into_iter().map(|cost| cost as u64).collect()
}

const BAD_NOISE: MenuError = MenuError::OutOfRange {
    what: "the noise σ",
    advice: "take at least that of the entry with the least noise",
};
