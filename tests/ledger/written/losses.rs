//! Quantities, losses, measures, refusals.

use queryables::compose::{Halt, Refusal};
use queryables::machine::Description;
use queryables::number::{Mu, Order, Rho, Scale};
use queryables::prelude::*;
use queryables::privacy::{
    ApproxRdp, ApproxZCdp, Distance, Gdp, ProbabilisticDp, Rdp, RdpCurve, RdpGrid, RhoDelta,
    SampledGaussianDp,
};

use super::{number, pair, refused, round};

#[test]
fn quantities_are_decimal_strings() {
    round(number::<Epsilon>("0.1"), r#""0.1""#);
    round(number::<Epsilon>("340000000000"), r#""340000000000""#);
    round(number::<Delta>("1e-38"), r#""1e-38""#);
    round(number::<Rho>("12.5"), r#""12.5""#);
    round(number::<Mu>("0"), r#""0""#);
    round(number::<Order>("1.5"), r#""1.5""#);
    round(number::<Scale>("3"), r#""3""#);
    refused::<Epsilon>(r#""-1""#, "epsilon must not be negative");
    refused::<Epsilon>(
        r#""NaN""#,
        r#"epsilon must be a decimal number such as 0.1 or 1e-6, not "NaN""#,
    );
    refused::<Epsilon>(
        r#""""#,
        r#"epsilon must be a decimal number such as 0.1 or 1e-6, not """#,
    );
    refused::<Delta>(r#""1.1""#, "delta must be at most 1");
    refused::<Order>(r#""1""#, "order must be greater than 1");
    refused::<Scale>(r#""0""#, "scale must be greater than 0");
    // To most readers a number in JSON is a float.
    refused::<Epsilon>(
        "0.1",
        "invalid type: floating point `0.1`, expected a string",
    );
}

#[test]
fn losses_and_measures_say_what_they_are() {
    round(pair("0.1", "1e-6"), r#"{"epsilon":"0.1","delta":"1e-6"}"#);
    round(
        RhoDelta::new("0.1", "0").unwrap(),
        r#"{"rho":"0.1","delta":"0"}"#,
    );
    refused::<EpsilonDelta>(r#"{"epsilon":"0.1"}"#, "missing field `delta`");
    refused::<EpsilonDelta>(
        r#"{"epsilon":"0.1","delta":"0","rho":"1"}"#,
        "unknown field `rho`, expected `epsilon` or `delta`",
    );
    refused::<EpsilonDelta>(
        r#"{"epsilon":"0.1","delta":"2"}"#,
        "delta must be at most 1",
    );

    round(PureDp, r#"{"measure":"PureDp"}"#);
    round(ApproxDp, r#"{"measure":"ApproxDp"}"#);
    round(ProbabilisticDp, r#"{"measure":"ProbabilisticDp"}"#);
    round(ZCdp, r#"{"measure":"ZCdp"}"#);
    round(ApproxZCdp, r#"{"measure":"ApproxZCdp"}"#);
    round(Gdp, r#"{"measure":"Gdp"}"#);
    round(Rdp::new(number("2")), r#"{"measure":"Rdp","order":"2"}"#);
    round(
        ApproxRdp::new(number("2")),
        r#"{"measure":"ApproxRdp","order":"2"}"#,
    );
    round(
        SampledGaussianDp::new(number("0.01")),
        r#"{"measure":"SampledGaussianDp","rate":"0.01"}"#,
    );
    refused::<PureDp>(
        r#"{"measure":"PureDp","order":"2"}"#,
        "unknown field `order`, there are no fields",
    );
    refused::<PureDp>(r#"{"measure":"Nothing"}"#, "the measure is not PureDp");
    refused::<PureDp>(r#"{"measure":"ZCdp"}"#, "the measure is not PureDp");
    refused::<Rdp>(r#"{"measure":"Rdp"}"#, "missing field `order`");
    refused::<Rdp>(
        r#"{"measure":"Rdp","order":"0.5"}"#,
        "order must be greater than 1",
    );
    refused::<Rdp>(
        r#"{"measure":"ApproxRdp","order":"2"}"#,
        "the measure is not Rdp",
    );

    let grid = RdpGrid::new([number("2"), number("4")]).unwrap();
    let curve = grid.curve([number("0.1"), number("0.3")]).unwrap();
    round(grid, r#"{"measure":"RdpGrid","orders":["2","4"]}"#);
    round(curve, r#"{"orders":["2","4"],"epsilons":["0.1","0.3"]}"#);
    refused::<RdpGrid>(
        r#"{"measure":"RdpGrid","orders":[]}"#,
        "a grid needs at least one order",
    );
    refused::<RdpCurve>(
        r#"{"orders":["4","2"],"epsilons":["0.1","0.3"]}"#,
        "the orders of a grid must rise strictly",
    );
    refused::<RdpCurve>(
        r#"{"orders":["2","4"],"epsilons":["0.1"]}"#,
        "a curve on this grid needs 2 values, not 1",
    );

    round(Distance::new(3).unwrap(), "3");
    refused::<Distance>("0", "a distance is at least one step");
}

#[test]
fn descriptions_refusals_and_halts_are_read_as_they_were_written() {
    let description = Description::new("Count")
        .with("predicate", "a \"b\"\n")
        .with("epsilon", 1);
    round(
        description,
        r#"{"name":"Count","parameters":[["predicate","a \"b\"\n"],["epsilon","1"]]}"#,
    );
    refused::<Description>(r#"{"name":"Count"}"#, "missing field `parameters`");

    let refusal = Refusal {
        spent: pair("0.9", "0"),
        set_aside: None,
        requested: number::<Rho>("0.2"),
        remaining: number::<Rho>("0.1"),
        limit: pair("1", "1e-6"),
    };
    // What was written before rules said what they set aside.
    round(
        refusal.clone(),
        r#"{"spent":{"epsilon":"0.9","delta":"0"},"requested":"0.2","remaining":"0.1","limit":{"epsilon":"1","delta":"1e-6"}}"#,
    );
    let refusal = Refusal {
        spent: pair("0.9", "5e-7"),
        set_aside: Some(Box::new(pair("0", "5e-7"))),
        ..refusal
    };
    round(
        refusal,
        r#"{"spent":{"epsilon":"0.9","delta":"5e-7"},"set_aside":{"epsilon":"0","delta":"5e-7"},"requested":"0.2","remaining":"0.1","limit":{"epsilon":"1","delta":"1e-6"}}"#,
    );
    refused::<Refusal<Epsilon>>(
        r#"{"spent":"1","requested":"1","remaining":"1","limit":"-1"}"#,
        "epsilon must not be negative",
    );
    round(
        Halt::<Epsilon>::CountLimit { limit: 3 },
        r#"{"count_limit":{"limit":3}}"#,
    );
    refused::<Halt<Epsilon>>(
        r#"{"bored":{}}"#,
        "unknown variant `bored`, expected `over_budget` or `count_limit`",
    );
}
