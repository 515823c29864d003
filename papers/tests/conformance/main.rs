//! The rows of `spec/vectors` for what is in this package: approximations and bounds that are for
//! comparison only. The others are run by the library's own tests, with the same runner.
#![allow(dead_code, reason = "the library's tests use all of the runner")]

#[path = "../../../tests/account/conformance/arguments.rs"]
mod arguments;
#[path = "../../../tests/account/conformance/runner.rs"]
mod runner;

use std::path::Path;

use arguments::{Args, Failure, OrFail, decimal};
use papers::tran::asymptotic::{self, MeanLoss, Moments, Regime};
use papers::whitehouse::advanced;
use runner::{Number, Package, assert_met, directory, one};

/// What this package gives for an operation; `None` if it is not known here.
fn compute(op: &str, args: &Args) -> Option<Result<Vec<Number>, Failure>> {
    Some(match op {
        "approx_dp.advanced_epsilon" => one(|| {
            let (k, epsilon) = (args.whole("k")?, args.get("epsilon")?);
            advanced(k, epsilon, args.get("delta_prime")?).or_fail()
        }),
        "gdp.approx_cost" => one(|| {
            let (rate, sigma) = (args.get("rate")?, args.get("sigma")?);
            Ok(asymptotic::cost(regime(args)?, rate, sigma, args.get("norm")?)?.0)
        }),
        "gdp.approx_norm_for_budget" => one(|| {
            let (rate, sigma) = (args.get("rate")?, args.get("sigma")?);
            asymptotic::norm_for_budget(regime(args)?, rate, sigma, MeanLoss(args.get("budget")?))
                .ok_or(Failure::from("no norm"))
        }),
        "gdp.plrv_mean_p" => moment(args, |moments| moments.mean_p),
        "gdp.plrv_mean_q" => moment(args, |moments| moments.mean_q),
        "gdp.plrv_var_p" => moment(args, |moments| moments.variance_p),
        "gdp.schedule_cost" => one(|| Ok(schedule(args)?.0)),
        "gdp.schedule_mu" => {
            schedule(args).and_then(|cost| Ok(vec![Number::Finite(cost.about_mu().try_into()?)]))
        }
        _ => return None,
    })
}

fn regime(args: &Args) -> Result<Regime, Failure> {
    match args.text("regime")?.as_str() {
        "small" => Ok(Regime::Small),
        "large" => Ok(Regime::Large),
        other => Err(format!("unknown regime {other}").into()),
    }
}

fn float(args: &Args, name: &str) -> Result<f64, Failure> {
    let text = args.text(name)?;
    let number = text.parse();
    number.map_err(|_| Failure(format!("{text} is no float")))
}

/// A moment, which may be negative, as the float that it is.
fn moment(args: &Args, part: impl Fn(Moments) -> f64) -> Result<Vec<Number>, Failure> {
    let [rate, sigma] = ["rate", "sigma"].map(|name| float(args, name));
    let moment = part(asymptotic::moments(rate?, sigma?));
    Ok(vec![Number::Finite(decimal(&format!("{moment:e}"))?)])
}

fn schedule(args: &Args) -> Result<MeanLoss, Failure> {
    let (steps, block) = (args.whole("steps")?, args.whole("block")?);
    let (rate, norm) = (args.get("rate")?, args.get("norm")?);
    Ok(asymptotic::schedule(
        steps,
        rate,
        block,
        float(args, "offset")?,
        norm,
    )?)
}

#[test]
fn every_reference_value_is_met() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let rows = assert_met(&directory(&root), Package::Papers, compute);
    // Others may keep no such rows.
    assert!(rows > 0 || std::env::var_os("VECTORS_DIR").is_some());
}
