//! What the library gives for each operation.

use super::arguments::{Args, Failure, OrFail};
use super::runner::{Number, number, one};
use dashu_ratio::RBig;
use queryables::account::menu::MenuError;
use queryables::account::time_uniform::{
    RogersOdometer, Slack, TimeUniformOdometer, VarianceOdometer,
};
use queryables::account::{AdvancedComposition, ContinuationRule, FixedCount, Rogers, ThroughZCdp};
use queryables::number::{Delta, Epsilon, Rho, units};
use queryables::privacy::convert::{self, gdp, rdp, zcdp};
use queryables::privacy::fdp::{Adjacency, Profile};
use queryables::privacy::{ApproxDp, EpsilonDelta, Measure, RhoDelta};
use std::num::NonZeroU64;

/// What the library gives for an operation; `None` if it is not known here.
pub fn compute(op: &str, args: &Args) -> Option<Result<Vec<Number>, Failure>> {
    Some(match op {
        "approx_dp.whitehouse_epsilon" => bound(|| {
            Ok(AdvancedComposition::new(args.get("delta_prime")?)?.bound_at(args.get("sum_sq")?))
        }),
        "approx_dp.whitehouse_admits" => count(
            args,
            |limit| Ok(ThroughZCdp::simple(limit, limit.delta)?),
            "delta_prime",
        ),
        "approx_dp.rogers_admits" => count(args, |limit| Ok(Rogers::new(limit)?), "delta"),
        "approx_dp.rogers_filter_epsilon" => one(|| {
            let rule = Rogers::new(args.pair("epsilon", "delta")?)?;
            rule.bound_after(args.list("epsilons")?)
                .ok_or(Failure::from("too large"))
        }),
        "zcdp.epsilon_simple" => {
            one(|| zcdp::epsilon_simple(args.get("rho")?, args.get("delta")?).or_fail())
        }
        "zcdp.epsilon_tight" => {
            one(|| zcdp::epsilon(args.get("rho")?, args.get("delta")?).or_fail())
        }
        "zcdp.delta_tight" => one(|| Ok(zcdp::delta(args.get("rho")?, args.get("epsilon")?))),
        "zcdp.budget_simple" => {
            one(|| zcdp::budget_simple(args.get("epsilon")?, args.get("delta")?).or_fail())
        }
        "zcdp.budget_tight" => {
            one(|| zcdp::budget(args.get("epsilon")?, args.get("delta")?).or_fail())
        }
        "rdp.epsilon_mironov" => one(|| {
            rdp::epsilon_simple(args.get("alpha")?, args.get("rdp")?, args.get("delta")?).or_fail()
        }),
        "rdp.epsilon_tight" => {
            one(|| rdp::epsilon(args.get("alpha")?, args.get("rdp")?, args.get("delta")?).or_fail())
        }
        "rdp.pure_dp" => one(|| Ok(rdp::pure(args.get("alpha")?, args.get("epsilon")?))),
        "rdp.laplace" => {
            one(|| rdp::laplace(args.get("alpha")?, "1".parse()?, args.get("scale")?).or_fail())
        }
        "rdp.gaussian" => one(|| {
            rdp::gaussian(
                args.get("alpha")?,
                args.get("sensitivity")?,
                args.get("sigma")?,
            )
            .or_fail()
        }),
        "rdp.subsampled_gaussian" => one(|| {
            let (alpha, rate) = (args.get("alpha")?, args.get("rate")?);
            rdp::subsampled_gaussian(alpha, rate, "1".parse()?, args.get("sigma")?).or_fail()
        }),
        "rdp.delta_exact" => one(|| {
            Ok(rdp::delta_exact(
                args.get("alpha")?,
                args.get("rdp")?,
                args.get("epsilon")?,
            ))
        }),
        "rdp.discrete_laplace" => one(|| {
            let (steps, epsilon) = shift(args)?;
            Ok(rdp::discrete_laplace(args.get("alpha")?, steps, epsilon))
        }),
        "zcdp.discrete_laplace" => one(|| {
            let (steps, epsilon) = shift(args)?;
            Ok(zcdp::discrete_laplace(steps, epsilon))
        }),
        "gdp.discrete_laplace" => one(|| {
            let (steps, epsilon) = shift(args)?;
            gdp::discrete_laplace(steps, epsilon).or_fail()
        }),
        "approx_dp.group" => two(|| {
            let distance = args.text("distance")?.parse()?;
            ApproxDp
                .group(&args.pair("epsilon", "delta")?, distance)
                .or_fail()
        }),
        "pdp.from_approx_dp" => {
            two(|| convert::probabilistic(args.pair("epsilon", "delta")?).or_fail())
        }
        "zcdp.pure" => one(|| Ok(zcdp::pure(args.get("epsilon")?))),
        "approx_zcdp.to_approx_dp" => two(|| {
            let loss = RhoDelta {
                rho: args.get("rho")?,
                delta: args.get("delta")?,
            };
            zcdp::approximate_simple(loss, args.get("delta_prime")?).or_fail()
        }),
        "gdp.delta" => one(|| Ok(gdp::delta(args.get("mu")?, args.get("epsilon")?))),
        "gdp.epsilon" => one(|| gdp::epsilon(args.get("mu")?, args.get("delta")?).or_fail()),
        "gdp.budget" => one(|| Ok(gdp::budget(args.get("epsilon")?, args.get("delta")?))),
        "gdp.tradeoff" => one(|| Ok(gdp::tradeoff(args.get("mu")?, args.get("alpha")?))),
        "fdp.randomized_response_composed_delta" => one(|| {
            composed(
                args.whole("k")?,
                args.get("each_epsilon")?,
                args.get("epsilon")?,
            )
        }),
        "fdp.randomized_response_launches" => {
            launches(args).map(|number| vec![Number::Finite(RBig::from(number))])
        }
        "fdp.subsampled_gaussian_profile" => one(|| {
            Ok(sampled(args)?
                .height(Adjacency::Remove, args.get("gamma")?)
                .upper)
        }),
        "fdp.subsampled_gaussian_profile_reversed" => one(|| {
            Ok(sampled(args)?
                .height(Adjacency::Add, args.get("gamma")?)
                .upper)
        }),
        "fdp.subsampled_gaussian_tradeoff_plus" => one(|| {
            Ok(sampled(args)?
                .trade_off(Adjacency::Add, args.get("alpha")?)
                .lower)
        }),
        "fdp.subsampled_gaussian_composed_epsilon" => one(|| {
            let step = Profile::sampled_gaussian(args.get("rate")?, args.get("sigma")?);
            let parts = [(step, args.whole("steps")?)];
            let width = "1e-3".parse()?;
            Ok(Profile::composed_epsilon(&parts, args.get("delta")?, width)?.upper)
        }),
        "odometer.filter" => bound(|| Ok(filter(args)?.bound_at(args.get("sum_sq")?))),
        "odometer.filter_target" => filter(args).and_then(|odometer| {
            Ok(vec![Number::Finite(
                odometer.tangent_point().unwrap().try_into()?,
            )])
        }),
        "odometer.mixture" => bound(|| {
            let odometer = VarianceOdometer::mixture(args.get("gamma")?, slack(args)?);
            Ok(odometer.bound_at(args.get("sum_sq")?))
        }),
        "odometer.filter_with_delta" => bound(|| {
            let (revealing, rho) = launches_with_delta(args)?;
            let odometer =
                VarianceOdometer::tangent(args.get("epsilon")?, slack_with_delta(args)?)?;
            let odometer = odometer.add(&revealing)?.for_zcdp().add(&rho)?;
            Ok(odometer.reading().bound())
        }),
        "odometer.mixture_with_delta" => bound(|| {
            let (revealing, rho) = launches_with_delta(args)?;
            let odometer = VarianceOdometer::mixture(args.get("gamma")?, slack_with_delta(args)?);
            let odometer = odometer.add(&revealing)?.for_zcdp().add(&rho)?;
            Ok(odometer.reading().bound())
        }),
        "odometer.stitched" => bound(|| {
            let odometer = VarianceOdometer::stitched(args.get("v0")?, slack(args)?);
            Ok(odometer.bound_at(args.get("sum_sq")?))
        }),
        "odometer.rogers" => bound(|| {
            let mut odometer = RogersOdometer::new(args.whole("n")?, args.get("delta")?)?;
            for epsilon in args.list("epsilons")? {
                odometer = odometer.add(&EpsilonDelta {
                    epsilon,
                    delta: Delta::ZERO,
                })?;
            }
            Ok(odometer.reading().bound())
        }),
        _ => return None,
    })
}

/// A sampled Gaussian, by its mean.
/// A number of steps and the ε of all of them; the row's ε is that of one step.
pub fn shift(args: &Args) -> Result<(NonZeroU64, Epsilon), Failure> {
    let steps = args.text("steps")?.parse::<NonZeroU64>()?;
    let epsilon = args.get::<units::Epsilon>("epsilon")?;
    let epsilon = epsilon.checked_mul(steps.get()).ok_or("too large")?;
    Ok((steps, epsilon))
}

pub fn sampled(args: &Args) -> Result<Profile, Failure> {
    let (rate, mu) = (args.get("rate")?, args.get("mu")?);
    Ok(Profile::sampled_gaussian_by(rate, mu))
}

/// The δ of launches at ε, which is over a budget of zero.
fn composed(launches: u64, each: Epsilon, epsilon: Epsilon) -> Result<Delta, Failure> {
    let [each, limit] = [each, epsilon].map(|epsilon| EpsilonDelta {
        epsilon,
        delta: Delta::ZERO,
    });
    match FixedCount::new(limit, each, launches) {
        Ok(_) => Ok(Delta::ZERO),
        Err(MenuError::OverBudget { delta, .. }) => Ok(delta),
        Err(other) => Err(other.into()),
    }
}

/// How many launches the tight composition allows: δ grows with their number.
pub fn launches(args: &Args) -> Result<u64, Failure> {
    let limit = args.pair("epsilon", "delta")?;
    let each = args.get("each_epsilon")?;
    if each == Epsilon::ZERO {
        return Err("launches that cost nothing never end".into());
    }
    let fits =
        |launches| composed(launches, each, limit.epsilon).is_ok_and(|delta| delta <= limit.delta);
    let (mut low, mut high) = (0, 1);
    while fits(high) {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

pub fn slack(args: &Args) -> Result<Slack, Failure> {
    Ok(Slack::pure(args.get("delta_prime")?)?)
}

pub fn filter(args: &Args) -> Result<VarianceOdometer, Failure> {
    Ok(VarianceOdometer::tangent(
        args.get("epsilon")?,
        slack(args)?,
    )?)
}

/// A bound on the realised loss, or none.
pub fn bound(value: impl Fn() -> Result<Option<Epsilon>, Failure>) -> Result<Vec<Number>, Failure> {
    Ok(vec![value()?.map_or(Number::Infinite, number)])
}

pub fn two(value: impl Fn() -> Result<EpsilonDelta, Failure>) -> Result<Vec<Number>, Failure> {
    let value = value()?;
    Ok(vec![number(value.epsilon), number(value.delta)])
}

/// δ' and room for launches with Σδ.
fn slack_with_delta(args: &Args) -> Result<Slack, Failure> {
    Ok(Slack::new(
        args.get("delta_prime")?,
        args.get("sum_delta")?,
    )?)
}

/// A launch that has all of Σδ, and one under zCDP that has Σρ, half of Σε².
fn launches_with_delta(args: &Args) -> Result<(EpsilonDelta, Rho), Failure> {
    let revealing = EpsilonDelta {
        epsilon: Epsilon::ZERO,
        delta: args.get("sum_delta")?,
    };
    let squares: Rho = args.get("sum_sq")?;
    Ok((revealing, Rho::from_units(squares.units() / 2)?))
}

/// Launches one after the other, and counts.
pub fn count<F: ContinuationRule<Children = queryables::privacy::ApproxDp>>(
    args: &Args,
    rule: impl Fn(EpsilonDelta) -> Result<F, Failure>,
    delta: &str,
) -> Result<Vec<Number>, Failure> {
    let mut rule = rule(args.pair("epsilon", delta)?)?;
    let loss = EpsilonDelta {
        epsilon: args.get("each_epsilon")?,
        delta: Delta::ZERO,
    };
    if loss.epsilon == Epsilon::ZERO {
        return Err("launches that cost nothing never end".into());
    }
    let mut launches = 0_u64;
    while let Ok(next) = rule.charge(&loss) {
        rule = next;
        launches += 1;
    }
    Ok(vec![Number::Finite(RBig::from(launches))])
}
