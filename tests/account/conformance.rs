//! Runs the reference values in `spec/vectors`, or in the directory named by `VECTORS_DIR`.
//!
//! A value on the wrong side, one outside the tolerance, an operation that is not known here and a
//! directory without rows that can be checked all fail, and name the row. Comparisons are exact.

use std::fs;
use std::path::{Path, PathBuf};

use dashu::base::{Abs, SquareRoot};
use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;
use queryables::account::time_uniform::{
    MixtureOdometer, ParameterError, RogersOdometer, Slack, StitchedOdometer, TangentOdometer,
    TimeUniformOdometer,
};
use queryables::account::{
    Accumulator, ContinuationRule, Rogers, ThroughZCdp, Whitehouse, nonadaptive,
};
use queryables::number::{Delta, Epsilon, NumberError, Quantity, Unit};
use queryables::privacy::convert::{self, gdp, rdp, zcdp};
use queryables::privacy::fdp::asymptotic::{self, Regime};
use queryables::privacy::fdp::{Direction, FdpError, Profile};
use queryables::privacy::{EpsilonDelta, RhoDelta, UnknownLoss};
use serde_json::Value;

/// Operations that nothing here computes yet.
const WAITING: &[&str] = &[
    "approx_dp.group",
    "odometer.filter_with_delta",
    "odometer.mixture_with_delta",
    "rdp.delta_exact",
    "rdp.discrete_laplace",
];

/// A number that the library gave, or one from a row.
#[derive(Clone, Debug, PartialEq)]
enum Number {
    Finite(RBig),
    Infinite,
}

/// What the library gives for an operation; `None` if it is not known here.
fn compute(op: &str, args: &Args) -> Option<Result<Vec<Number>, Failure>> {
    Some(match op {
        "approx_dp.whitehouse_epsilon" => whitehouse_epsilon(args),
        "approx_dp.advanced_epsilon" => one(|| {
            nonadaptive::advanced(
                args.whole("k")?,
                args.get("epsilon")?,
                args.get("delta_prime")?,
            )
            .or_fail()
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
            let order = u32::try_from(args.whole("alpha")?)?;
            rdp::subsampled_gaussian(order, args.get("rate")?, "1".parse()?, args.get("sigma")?)
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
            zcdp::approximate(loss, args.get("delta_prime")?).or_fail()
        }),
        "gdp.delta" => one(|| Ok(gdp::delta(args.get("mu")?, args.get("epsilon")?))),
        "gdp.epsilon" => one(|| gdp::epsilon(args.get("mu")?, args.get("delta")?).or_fail()),
        "gdp.budget" => one(|| Ok(gdp::budget(args.get("epsilon")?, args.get("delta")?))),
        "gdp.tradeoff" => one(|| Ok(gdp::tradeoff(args.get("mu")?, args.get("alpha")?))),
        "fdp.randomized_response_composed_delta" => one(|| {
            Ok(nonadaptive::tight_delta(
                args.whole("k")?,
                args.get("each_epsilon")?,
                args.get("epsilon")?,
            ))
        }),
        "fdp.randomized_response_launches" => {
            launches(args).map(|number| vec![Number::Finite(RBig::from(number))])
        }
        "fdp.subsampled_gaussian_profile" => one(|| {
            Ok(sampled(args)?
                .height(Direction::Remove, args.get("gamma")?)
                .upper)
        }),
        "fdp.subsampled_gaussian_profile_reversed" => one(|| {
            Ok(sampled(args)?
                .height(Direction::Add, args.get("gamma")?)
                .upper)
        }),
        "fdp.subsampled_gaussian_tradeoff_plus" => one(|| {
            Ok(sampled(args)?
                .trade_off(Direction::Add, args.get("alpha")?)
                .lower)
        }),
        "fdp.subsampled_gaussian_composed_epsilon" => one(|| {
            let step = Profile::sampled_gaussian(args.get("rate")?, args.get("sigma")?);
            let parts = [(step, args.whole("steps")?)];
            let width = "1e-3".parse()?;
            Ok(Profile::composed_epsilon(&parts, args.get("delta")?, width)?.upper)
        }),
        "gdp.approx_cost" => one(|| {
            let (rate, sigma) = (args.get("rate")?, args.get("sigma")?);
            Ok(asymptotic::cost(
                regime(args)?,
                rate,
                sigma,
                args.get("norm")?,
            )?)
        }),
        "gdp.approx_norm_for_budget" => one(|| {
            let (rate, sigma) = (args.get("rate")?, args.get("sigma")?);
            asymptotic::norm_for_budget(regime(args)?, rate, sigma, args.get("budget")?)
                .ok_or(Failure::from("no norm"))
        }),
        "gdp.plrv_mean_p" => moment(args, |moments| moments.mean_p),
        "gdp.plrv_mean_q" => moment(args, |moments| moments.mean_q),
        "gdp.plrv_var_p" => moment(args, |moments| moments.variance_p),
        "gdp.schedule_cost" => one(|| Ok(schedule(args)?.0)),
        "gdp.schedule_mu" => one(|| Ok(schedule(args)?.1)),
        "odometer.filter" => bound(|| Ok(filter(args)?.bound_at(args.get("sum_sq")?))),
        "odometer.filter_target" => filter(args)
            .and_then(|odometer| Ok(vec![Number::Finite(odometer.tangent().try_into()?)])),
        "odometer.mixture" => bound(|| {
            let odometer = MixtureOdometer::new(args.get("gamma")?, slack(args)?);
            Ok(odometer.bound_at(args.get("sum_sq")?))
        }),
        "odometer.stitched" => bound(|| {
            let odometer = StitchedOdometer::new(args.get("v0")?, slack(args)?);
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
fn sampled(args: &Args) -> Result<Profile, Failure> {
    let (rate, mu) = (args.get("rate")?, args.get("mu")?);
    Ok(Profile::sampled_gaussian_by(rate, mu))
}

/// How many launches the tight composition allows: δ grows with their number.
fn launches(args: &Args) -> Result<u64, Failure> {
    let limit = args.pair("epsilon", "delta")?;
    let each = args.get("each_epsilon")?;
    if each == Epsilon::ZERO {
        return Err("launches that cost nothing never end".into());
    }
    let fits = |launches| nonadaptive::tight_delta(launches, each, limit.epsilon) <= limit.delta;
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

fn regime(args: &Args) -> Result<Regime, Failure> {
    match args.text("regime")?.as_str() {
        "small" => Ok(Regime::Small),
        "large" => Ok(Regime::Large),
        other => Err(format!("unknown regime {other}").into()),
    }
}

/// A moment, which may be negative, as the float that it is.
fn moment(args: &Args, part: impl Fn(asymptotic::Moments) -> f64) -> Result<Vec<Number>, Failure> {
    let [rate, sigma] = ["rate", "sigma"].map(|name| args.float(name));
    let moment = part(asymptotic::moments(rate?, sigma?));
    Ok(vec![Number::Finite(decimal(&format!("{moment:e}"))?)])
}

fn schedule(args: &Args) -> Result<(Epsilon, queryables::number::Mu), Failure> {
    let (steps, block) = (args.whole("steps")?, args.whole("block")?);
    let (rate, norm) = (args.get("rate")?, args.get("norm")?);
    Ok(asymptotic::schedule(
        steps,
        rate,
        block,
        args.float("offset")?,
        norm,
    )?)
}

fn slack(args: &Args) -> Result<Slack, Failure> {
    Ok(Slack::pure(args.get("delta_prime")?)?)
}

fn filter(args: &Args) -> Result<TangentOdometer, Failure> {
    Ok(TangentOdometer::new(args.get("epsilon")?, slack(args)?)?)
}

/// A bound on the realised loss, or none.
fn bound(value: impl Fn() -> Result<Option<Epsilon>, Failure>) -> Result<Vec<Number>, Failure> {
    Ok(vec![value()?.map_or(Number::Infinite, number)])
}

fn one<U: Unit>(value: impl Fn() -> Result<Quantity<U>, Failure>) -> Result<Vec<Number>, Failure> {
    Ok(vec![number(value()?)])
}

fn two(value: impl Fn() -> Result<EpsilonDelta, Failure>) -> Result<Vec<Number>, Failure> {
    let value = value()?;
    Ok(vec![number(value.epsilon), number(value.delta)])
}

/// Launches losses with the given sum of squares, and reads the total.
fn whitehouse_epsilon(args: &Args) -> Result<Vec<Number>, Failure> {
    one(|| {
        let mut total = Whitehouse::new(args.get("delta_prime")?)?;
        for epsilon in roots(&args.rational("sum_sq")?)? {
            total = total.add(&EpsilonDelta {
                epsilon,
                delta: Delta::ZERO,
            })?;
        }
        Ok(total.total().epsilon)
    })
}

/// Launches one after the other, and counts.
fn count<F: ContinuationRule<Children = queryables::privacy::ApproxDp>>(
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

/// Losses whose squares sum up to exactly this: the largest that fits, again and again.
fn roots(sum: &RBig) -> Result<Vec<Epsilon>, Failure> {
    let unit = IBig::from(10).pow(54);
    let scaled = sum * RBig::from(unit);
    let mut left = UBig::try_from(IBig::try_from(scaled).map_err(|_| "too many digits")?)
        .map_err(|_| "negative")?;
    let mut losses = Vec::new();
    while left > UBig::ZERO {
        let root = left.sqrt();
        left -= &root * &root;
        losses.push(Epsilon::from_units(u128::try_from(root)?)?);
    }
    Ok(losses)
}

/// A quantity as the exact number that it is.
fn number<U: Unit>(quantity: Quantity<U>) -> Number {
    let scale = UBig::from(10_u8).pow(U::DECIMALS as usize);
    Number::Finite(RBig::from_parts(IBig::from(quantity.units()), scale))
}

/// The arguments of a row.
struct Args<'a>(&'a Value);

impl Args<'_> {
    fn text(&self, name: &str) -> Result<String, Failure> {
        text(
            self.0
                .get(name)
                .ok_or_else(|| format!("no argument {name}"))?,
        )
    }

    fn get<U: Unit>(&self, name: &str) -> Result<Quantity<U>, Failure> {
        Ok(self.text(name)?.parse()?)
    }

    fn whole(&self, name: &str) -> Result<u64, Failure> {
        Ok(self.text(name)?.parse()?)
    }

    fn float(&self, name: &str) -> Result<f64, Failure> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| Failure(format!("{text} is no float")))
    }

    fn rational(&self, name: &str) -> Result<RBig, Failure> {
        decimal(&self.text(name)?)
    }

    fn pair(&self, epsilon: &str, delta: &str) -> Result<EpsilonDelta, Failure> {
        Ok(EpsilonDelta {
            epsilon: self.get(epsilon)?,
            delta: self.get(delta)?,
        })
    }

    fn list<U: Unit>(&self, name: &str) -> Result<Vec<Quantity<U>>, Failure> {
        let list = self
            .0
            .get(name)
            .and_then(Value::as_array)
            .ok_or_else(|| format!("no list {name}"))?;
        list.iter().map(|value| Ok(text(value)?.parse()?)).collect()
    }
}

fn text(value: &Value) -> Result<String, Failure> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_u64() => Ok(number.to_string()),
        other => Err(format!("{other} is no number").into()),
    }
}

/// A decimal number, exactly.
fn decimal(text: &str) -> Result<RBig, Failure> {
    let bad = || Failure(format!("{text} is no decimal number"));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: IBig = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
    let exponent: i32 = exponent.parse().map_err(|_| bad())?;
    let exponent = exponent - fraction.len() as i32;
    let power = UBig::from(10_u8).pow(exponent.unsigned_abs() as usize);
    Ok(if exponent < 0 {
        RBig::from_parts(digits, power)
    } else {
        RBig::from(digits * IBig::from(power))
    })
}

/// Why a row fails.
#[derive(Debug, PartialEq)]
struct Failure(String);

macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        }
    )*};
}

failures!(
    &str,
    String,
    NumberError,
    UnknownLoss,
    ParameterError,
    FdpError,
    queryables::account::RuleError,
    queryables::privacy::Overflow,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    dashu::base::ConversionError,
    serde_json::Error
);

trait OrFail<T> {
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> OrFail<T> for Result<T, UnknownLoss> {
    fn or_fail(self) -> Result<T, Failure> {
        Ok(self?)
    }
}

/// Whether a value is where the row says.
fn agrees(given: &Number, wanted: &Number, round: &str, rel: &RBig) -> Result<bool, Failure> {
    let (given, wanted) = match (given, wanted) {
        (Number::Finite(given), Number::Finite(wanted)) => (given, wanted),
        (given, wanted) => return Ok(given == wanted),
    };
    // References have 60 digits: one of less than 1e-50 in size is zero.
    let tiny = RBig::from_parts(IBig::from(1), UBig::from(10_u8).pow(50));
    let wanted = if wanted.clone().abs() < tiny {
        &RBig::ZERO
    } else {
        wanted
    };
    let margin = wanted.clone().abs() * rel;
    Ok(match round {
        "up" => given >= wanted && *given <= wanted + &margin,
        "down" => given <= wanted && *given >= wanted - &margin,
        "nearest" => (given - wanted).abs() <= margin,
        "exact" => given == wanted,
        other => return Err(format!("unknown rounding {other}").into()),
    })
}

/// What became of a row.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// The library gives the value.
    Passed,
    Waiting,
}

/// How many rows came to which end.
#[derive(Debug, Default, PartialEq)]
struct Summary {
    passed: usize,
    waiting: usize,
}

fn check(row: &Value) -> Result<Outcome, Failure> {
    let field = |name: &str| row.get(name).ok_or_else(|| Failure(format!("no {name}")));
    let op = text(field("op")?)?;
    let given = match compute(&op, &Args(field("args")?)) {
        Some(given) => given?,
        None if WAITING.contains(&op.as_str()) => return Ok(Outcome::Waiting),
        None => return Err(format!("unknown op {op}").into()),
    };
    let wanted = match field("value")? {
        Value::Array(parts) => parts.iter().map(parse).collect::<Result<Vec<_>, _>>()?,
        value => vec![parse(value)?],
    };
    if given.len() != wanted.len() {
        return Err(format!("{} values, not {}", given.len(), wanted.len()).into());
    }
    let (round, rel) = (text(field("round")?)?, decimal(&text(field("rel")?)?)?);
    for (given, wanted) in given.iter().zip(&wanted) {
        if !agrees(given, wanted, &round, &rel)? {
            return Err(
                format!("{given:?} is not {wanted:?}, rounded {round}, within {rel}").into(),
            );
        }
    }
    Ok(Outcome::Passed)
}

fn parse(value: &Value) -> Result<Number, Failure> {
    let text = text(value)?;
    if text == "inf" {
        return Ok(Number::Infinite);
    }
    Ok(Number::Finite(decimal(&text)?))
}

/// Runs every row of every `*.json`; the failures, each naming its row, or how many rows passed.
fn run(directory: &Path) -> Result<Summary, Vec<String>> {
    let unreadable = |error: std::io::Error| vec![format!("{}: {error}", directory.display())];
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    let (mut summary, mut rows, mut failed) = (Summary::default(), 0, Vec::new());
    for path in files {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        match serde_json::from_str::<Vec<Value>>(&text) {
            Ok(list) => {
                for (index, row) in list.iter().enumerate() {
                    rows += 1;
                    match check(row) {
                        Ok(Outcome::Passed) => summary.passed += 1,
                        Ok(Outcome::Waiting) => summary.waiting += 1,
                        Err(Failure(why)) => {
                            failed.push(format!("{name}, row {}: {why}\n    {row}", index + 1));
                        }
                    }
                }
            }
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    if rows == 0 {
        failed.push(format!("{}: no rows at all", directory.display()));
    } else if failed.is_empty() && summary.passed == 0 {
        failed.push(format!(
            "{}: none of {rows} rows checks the library",
            directory.display()
        ));
    }
    if failed.is_empty() {
        Ok(summary)
    } else {
        Err(failed)
    }
}

#[test]
fn every_reference_value_is_met() {
    let directory = std::env::var_os("VECTORS_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/vectors"),
        PathBuf::from,
    );
    match run(&directory) {
        Ok(summary) => println!(
            "{} rows passed; {} wait for an operation",
            summary.passed, summary.waiting
        ),
        Err(failed) => panic!("{} rows failed:\n{}", failed.len(), failed.join("\n")),
    }
}

mod can_fail {
    use super::*;

    fn row(op: &str, value: &str, round: &str, rel: &str) -> Value {
        serde_json::json!({
            "op": op,
            "args": {"rho": "0.05", "delta": "1e-6"},
            "value": value, "round": round, "rel": rel,
        })
    }

    const TRUTH: &str = "1.7122581362691099250390944075";
    const OP: &str = "zcdp.epsilon_simple";

    #[test]
    fn the_truth_passes_up_and_not_down() {
        assert_eq!(check(&row(OP, TRUTH, "up", "1e-9")), Ok(Outcome::Passed));
        assert_eq!(
            check(&row(OP, TRUTH, "nearest", "1e-9")),
            Ok(Outcome::Passed)
        );
        for round in ["down", "exact"] {
            let Err(Failure(why)) = check(&row(OP, TRUTH, round, "1e-9")) else {
                panic!("{round} must fail");
            };
            assert!(why.contains(&format!("rounded {round}")), "{why}");
        }
    }

    #[test]
    fn the_wrong_side_and_a_wide_miss_fail() {
        for value in ["1.71225813628", "1.7122581"] {
            let Err(Failure(why)) = check(&row(OP, value, "up", "1e-9")) else {
                panic!("{value} must fail");
            };
            assert!(why.contains("within"), "{why}");
        }
    }

    #[test]
    fn what_is_not_known_fails() {
        for (op, round, why) in [
            ("zcdp.no_such_thing", "up", "unknown op zcdp.no_such_thing"),
            ("gdp.approximately", "up", "unknown op gdp.approximately"),
            ("fdp.subsampled", "up", "unknown op fdp.subsampled"),
            (
                "fdp.subsampled_gaussian_profil",
                "up",
                "unknown op fdp.subsampled_gaussian_profil",
            ),
            (OP, "sideways", "unknown rounding sideways"),
        ] {
            assert_eq!(
                check(&row(op, TRUTH, round, "1e-9")),
                Err(Failure(why.into()))
            );
        }
        let row = serde_json::json!({"op": OP, "args": {"rho": "0.05"}});
        assert_eq!(check(&row), Err(Failure("no argument delta".into())));
    }

    #[test]
    fn a_directory_without_rows_fails() {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_vectors");
        fs::create_dir_all(&directory).unwrap();
        let nothing = vec![format!("{}: no rows at all", directory.display())];
        assert_eq!(run(&directory), Err(nothing));
    }

    #[test]
    fn a_directory_where_nothing_is_checked_fails() {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("waiting_vectors");
        fs::create_dir_all(&directory).unwrap();
        let waiting = row("rdp.delta_exact", "1", "up", "0");
        assert_eq!(check(&waiting), Ok(Outcome::Waiting));
        let rows = serde_json::json!([waiting, waiting]);
        fs::write(directory.join("rows.json"), rows.to_string()).unwrap();
        let why = format!("{}: none of 2 rows checks the library", directory.display());
        assert_eq!(run(&directory), Err(vec![why]));
    }

    #[test]
    fn what_is_waited_for_is_not_known() {
        for op in WAITING {
            assert!(compute(op, &Args(&Value::Null)).is_none(), "{op} is here");
        }
    }

    #[test]
    fn launches_that_cost_nothing_are_not_counted() {
        for op in ["approx_dp.whitehouse_admits", "approx_dp.rogers_admits"] {
            let free = serde_json::json!({
                "op": op,
                "args": {
                    "epsilon": "1", "delta": "1e-6", "delta_prime": "1e-6", "each_epsilon": "0",
                },
                "value": "1", "round": "exact", "rel": "0",
            });
            let why = Failure("launches that cost nothing never end".into());
            assert_eq!(check(&free), Err(why), "{op}");
        }
    }

    #[test]
    fn a_bad_row_is_named() {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_vectors");
        fs::create_dir_all(&directory).unwrap();
        let rows = serde_json::json!([row(OP, TRUTH, "up", "1e-9"), row("new.op", "1", "up", "0")]);
        fs::write(directory.join("rows.json"), rows.to_string()).unwrap();
        let failed = run(&directory).unwrap_err();
        assert_eq!(failed.len(), 1);
        assert!(
            failed[0].contains("rows.json, row 2: unknown op new.op"),
            "{failed:?}"
        );
    }
}
