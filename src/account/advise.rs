use super::{Accounting, ContinuationRule, NaturalFilter, ThroughZCdp, compare};
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::convert::search::largest;
use crate::privacy::convert::{rdp, sampled};
use crate::privacy::fdp::{FdpError, Profile, RepeatedMechanism};
use crate::privacy::{EpsilonDelta, Gdp, Implies};

/// A filter, how many launches of a typical mechanism it admits, and what else it takes.
///
/// Example: [`advise`](fn@crate::account::advise).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The name of the filter.
    pub filter: &'static str,
    /// The number of launches that it admits.
    pub admits: u64,
    /// Which other launches it accepts.
    pub takes: &'static str,
    /// How to build it.
    pub build: &'static str,
}

/// All filters for an (ε, δ) budget that accept a mechanism with this profile, sorted by the number
/// of launches, largest first: the rules of [`compare`] where it is (ε, δ)-DP, units of the
/// mechanism, and rules for Gaussian noise and for Gaussian noise on samples.
///
/// # Errors
///
/// As [`NaturalFilter::new`].
///
/// # Example
///
/// ```
/// use queryables::account::advise;
/// use queryables::privacy::EpsilonDelta;
/// use queryables::privacy::fdp::Profile;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let advice = advise(budget, &Profile::gaussian("0.01".parse()?))?;
/// let best: Vec<_> = advice.iter().map(|row| (row.filter, row.admits)).collect();
/// assert_eq!(best, [("natural, Gaussians", 560), ("natural, units", 560), ("zCDP, tight", 487)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advise(budget: EpsilonDelta, typical: &Profile) -> Result<Vec<Advice>, FdpError> {
    let mut advice = Vec::new();
    if let Some(loss) = typical.approximate() {
        advice.extend(compare(budget, loss).into_iter().map(|(rule, admits)| {
            let filter = rule.name();
            let (takes, build) = of_rule(filter);
            Advice {
                filter,
                admits,
                takes,
                build,
            }
        }));
    }
    if let Some(mu) = typical.gaussian_noise() {
        advice.extend(of_gaussian(budget, mu)?);
    }
    if let Some((rate, mu)) = typical.sampled_noise() {
        advice.extend(of_sampled(budget, rate, mu));
    }
    let units = NaturalFilter::new(budget, RepeatedMechanism::new(typical.clone()))?;
    advice.push(Advice {
        filter: "natural, units",
        admits: units.most().0,
        takes: "this mechanism and whatever tells no more, several units at once",
        build: "NaturalFilter::new(budget, RepeatedMechanism::new(profile))",
    });
    // The sort is stable: among equals, the filter that accepts more kinds of launches stays first.
    advice.sort_by_key(|row| std::cmp::Reverse(row.admits));
    Ok(advice)
}

/// Which launches a rule of [`compare`] accepts.
fn of_rule(name: &str) -> (&'static str, &'static str) {
    match name {
        "fixed count" => (
            "launches that are at most as large",
            "FixedCount::most(budget, typical)",
        ),
        "menu, many small" => (
            "launches of several sizes, small ones cheap",
            "MenuFilter::many_small(budget, slack, typical)",
        ),
        "RDP, exact curve" => (
            "launches of every size",
            "ThroughRdp::chosen_for(budget, slack, typical)",
        ),
        _ => ("launches of every size", "compare(budget, typical)"),
    }
}

fn of_gaussian(budget: EpsilonDelta, mu: Mu) -> Result<Vec<Advice>, FdpError> {
    let rule = NaturalFilter::new(budget, Gdp)?;
    let admits = largest(|launches| {
        let all = Interval::whole(launches.into()).sqrt() * Interval::from(mu);
        all.up().is_some_and(|all: Mu| all <= *rule.most())
    });
    let gaussians = Advice {
        filter: "natural, Gaussians",
        admits,
        takes: "Gaussian noise of every size, and whatever has a μ",
        build: "NaturalFilter::new(budget, Gdp)",
    };
    let zcdp = ThroughZCdp::for_zcdp(budget).ok().and_then(|rule| {
        let rho = Gdp.imply(&mu, rule.children()).ok()?;
        let fits = |launches| {
            let all = rho.checked_mul(launches);
            all.is_some_and(|all| rule.charge(&all).is_ok())
        };
        Some(Advice {
            filter: "zCDP, tight",
            admits: largest(fits),
            takes: "whatever has a ρ",
            build: "ThroughZCdp::for_zcdp(budget)",
        })
    });
    Ok(std::iter::once(gaussians).chain(zcdp).collect())
}

/// The Rényi filter at the best whole order up to 64.
fn of_sampled(budget: EpsilonDelta, rate: Delta, mu: Mu) -> Option<Advice> {
    let half = Interval::from(mu).square() / Interval::TWO;
    let admits = (2..=64_u32).filter_map(|order| {
        let order = order.to_string().parse().ok()?;
        let each = sampled::added(order, rate, half).ok()?;
        let all = rdp::budget(order, budget.epsilon, budget.delta).ok()?;
        (each > Epsilon::ZERO).then(|| all.units() / each.units())
    });
    Some(Advice {
        filter: "RDP, whole orders",
        admits: u64::try_from(admits.max()?).unwrap_or(u64::MAX),
        takes: "Gaussian noise on samples at every rate, and whatever has a Rényi curve",
        build: "ThroughRdp::on_grid_chosen_for(grid, budget, curve)",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(budget: &EpsilonDelta, profile: &Profile) -> Vec<(&'static str, u64)> {
        let rows = advise(*budget, profile).unwrap();
        rows.iter().map(|row| (row.filter, row.admits)).collect()
    }

    #[test]
    fn as_many_samples_are_named_as_the_best_order_admits() {
        let budget = EpsilonDelta::new("1", "1e-5").unwrap();
        let (rate, mu): (Delta, Mu) = ("0.01".parse().unwrap(), "1".parse().unwrap());
        let fit = |launches: u64| {
            (2..=64_u32).any(|order| {
                let order = order.to_string().parse().unwrap();
                let each = sampled::added(order, rate, Interval::ONE / Interval::TWO).unwrap();
                let all = rdp::budget(order, budget.epsilon, budget.delta);
                all.is_ok_and(|all| each.checked_mul(launches).unwrap() <= all)
            })
        };
        let admits = of_sampled(budget, rate, mu).unwrap().admits;
        assert!(admits > 1 && fit(admits) && !fit(admits + 1), "{admits}");
    }

    #[test]
    fn every_filter_that_takes_a_mechanism_is_named() {
        let budget = EpsilonDelta::new("1", "1e-6").unwrap();
        let pure = Profile::randomized_response("0.01".parse().unwrap());
        assert_eq!(
            rows(&budget, &pure),
            [
                ("fixed count", 562),
                ("natural, units", 562),
                ("menu, many small", 551),
                ("RDP, exact curve", 490),
                ("zCDP, tight", 487),
                ("Whitehouse", 349),
                ("Rogers", 147),
                ("basic", 100),
            ]
        );
        // Laplace noise reveals less than randomized response, so at least as many units fit.
        let laplace = rows(&budget, &Profile::laplace("0.05".parse().unwrap()));
        let admits = |name| laplace.iter().find(|row| row.0 == name).unwrap().1;
        assert!(
            admits("natural, units") >= admits("fixed count"),
            "{laplace:?}"
        );
        let sampled = Profile::sampled_gaussian("0.1".parse().unwrap(), "2".parse().unwrap());
        let sampled = rows(&EpsilonDelta::new("1", "1e-5").unwrap(), &sampled);
        assert_eq!(sampled[0], ("natural, units", 16));
        assert_eq!(sampled[1].0, "RDP, whole orders");
        assert!(sampled[1].1 < 16);
    }
}
