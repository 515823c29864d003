//! Losses, measures and rules are read as they were written, and nothing else is read.

use std::fmt::Debug;

use queryables::account::menu::{MenuEntry, MenuFilter, TwoSums};
use queryables::account::{
    Accumulator, Capped, ChildLoss, ContinuationRule, DefaultAccumulator, Durable, FixedCount,
    FixedInAdvance, RestartedFilters, Rogers, RootSumSquares, Sum, ThroughRdp, ThroughZCdp,
    Whitehouse, Written,
};
use queryables::compose::{Halt, Refusal};
use queryables::machine::Description;
use queryables::number::{Delta, Epsilon, Mu, Order, Rho, Scale};
use queryables::prelude::*;
use queryables::privacy::{
    ApproxRdp, ApproxZCdp, Distance, Gdp, ProbabilisticDp, Rdp, RdpCurve, RdpGrid, RhoDelta,
    SampledGaussianDp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read<T>(text: &str) -> Result<T, String>
where
    T: DeserializeOwned,
{
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        // Without the place.
        let end = text.find(" at line").unwrap_or(text.len());
        text[..end].to_owned()
    })
}

/// Written as this text, and read again.
fn round<T>(value: T, text: &str)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert_eq!(read::<T>(text), Ok(value));
}

fn refused<T: DeserializeOwned + Debug>(text: &str, why: &str) {
    assert_eq!(
        read::<T>(text).map_err(Some).unwrap_err(),
        Some(why.to_owned()),
        "{text}"
    );
}

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

fn number<T: std::str::FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

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
        "epsilon must be a decimal number such as 0.1 or 1e-6",
    );
    refused::<Epsilon>(
        r#""""#,
        "epsilon must be a decimal number such as 0.1 or 1e-6",
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
        requested: number::<Rho>("0.2"),
        remaining: number::<Rho>("0.1"),
        limit: pair("1", "1e-6"),
    };
    round(
        refusal,
        r#"{"spent":{"epsilon":"0.9","delta":"0"},"requested":"0.2","remaining":"0.1","limit":{"epsilon":"1","delta":"1e-6"}}"#,
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

/// Charges this rule many times, and after each charge reads it anew: it goes on as the original
/// does, to the last digit.
fn continues<F>(fresh: F, losses: &[ChildLoss<F>])
where
    F: ContinuationRule + Durable + PartialEq,
{
    let (mut rule, mut admitted, mut refused) = (fresh.clone(), 0, 0);
    for turn in 0..200 {
        let text = serde_json::to_string(&Written(rule.clone())).unwrap();
        let again = read::<Written<F>>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        let Written(again) = again;
        assert_eq!(again.spent(), rule.spent());
        assert_eq!(again.remaining(), rule.remaining());
        let loss = &losses[(turn * 7 + turn / 3) % losses.len()];
        match (rule.charge(loss), again.charge(loss)) {
            (Ok(next), Ok(also)) => {
                assert_eq!(next, also);
                admitted += 1;
                rule = next;
            }
            (Err(one), Err(other)) => {
                assert_eq!(one, other);
                refused += 1;
            }
            different => panic!("{different:?}"),
        }
    }
    // Otherwise the limit was never near.
    assert!(admitted > 0 && refused > 0, "{admitted} {refused}");
}

/// The text with one thing changed, and why it is not read.
fn damaged<F: ContinuationRule + Durable + PartialEq>(rule: F, changes: &[(&str, &str, &str)]) {
    let text = serde_json::to_string(&Written(rule)).unwrap();
    for (from, to, why) in changes {
        assert!(text.contains(from), "{from} is not in {text}");
        refused::<Written<F>>(&text.replacen(from, to, 1), why);
    }
}

const IMPOSSIBLE: &str = "no launches lead to these counts";

#[test]
fn rules_that_add_up_continue_where_they_were() {
    let few = ["0.1", "0.03", "0.25"].map(number::<Epsilon>);
    continues(PureDp.accumulator().capped(number("1")), &few);
    continues(
        Rdp::new(number("3")).accumulator().capped(number("1")),
        &few,
    );
    let rhos = ["0.1", "0.03"].map(number::<Rho>);
    continues(ZCdp.accumulator().capped(number("1")), &rhos);
    let pairs = [pair("0.1", "1e-7"), pair("0.03", "0")];
    continues(ApproxDp.accumulator().capped(pair("1", "1e-6")), &pairs);
    continues(
        ProbabilisticDp.accumulator().capped(pair("1", "1e-6")),
        &pairs,
    );
    continues(
        ApproxRdp::new(number("2"))
            .accumulator()
            .capped(pair("1", "1e-6")),
        &pairs,
    );
    let rho = RhoDelta::new("0.1", "1e-7").unwrap();
    let limit = RhoDelta::new("1", "1e-6").unwrap();
    continues(ApproxZCdp.accumulator().capped(limit), &[rho]);
    let grid = RdpGrid::new([number("2"), number("4")]).unwrap();
    let curve = |low: &str, high: &str| grid.curve([number(low), number(high)]).unwrap();
    continues(
        grid.accumulator().capped(curve("1", "2")),
        &[curve("0.1", "0.1")],
    );
    continues(
        Gdp.accumulator().capped(number("1")),
        &["0.1", "0.21"].map(number::<Mu>),
    );
    let restarted = RestartedFilters::new(Rdp::new(number("2")), number("0.5")).unwrap();
    continues(restarted.capped(number("3")), &few);
    let whitehouse = Whitehouse::new(number("1e-7")).unwrap();
    continues(whitehouse.capped(pair("1", "1e-6")), &pairs);
}

#[test]
fn a_sum_over_its_limit_or_of_another_measure_is_not_read() {
    let rule = PureDp.accumulator().capped(number("1"));
    let rule = rule.charge(&number("0.5")).unwrap();
    damaged(
        rule,
        &[
            (r#""counts":"0.5""#, r#""counts":"1.1""#, IMPOSSIBLE),
            (
                r#""counts":"0.5""#,
                r#""counts":"-1""#,
                "epsilon must not be negative",
            ),
            (r#""limit":"1""#, r#""limit":"0.4""#, IMPOSSIBLE),
            ("PureDp", "ZCdp", "the measure is not PureDp"),
            (
                r#""rule":"Sum""#,
                r#""rule":"Rogers""#,
                "the rule is Rogers, not Sum",
            ),
            (r#""rule":"Sum","#, "", "missing field `rule`"),
            (r#","counts":"0.5""#, "", "missing field `counts`"),
            (
                r#"}"#,
                r#"}, "more": 1}"#,
                "unknown field `more`, expected `of` or `limit`",
            ),
        ],
    );
    let grid = RdpGrid::new([number("2")]).unwrap();
    let curve = |text| grid.curve([number(text)]).unwrap();
    let rule = grid.accumulator().capped(curve("1"));
    damaged(
        rule.charge(&curve("0.5")).unwrap(),
        &[(
            r#""counts":{"orders":["2"]"#,
            r#""counts":{"orders":["3"]"#,
            "no known loss: the stated loss does not belong to the measure",
        )],
    );
    damaged(
        Gdp.accumulator()
            .capped(number("1"))
            .charge(&number("1"))
            .unwrap(),
        &[
            (r#"counts":"1000"#, r#"counts":"1001"#, IMPOSSIBLE),
            (
                r#"counts":"1000"#,
                r#"counts":"-000"#,
                "a sum of squares must be a whole number below 2^256",
            ),
        ],
    );
    let restarted = RestartedFilters::new(Rdp::new(number("2")), number("0.5")).unwrap();
    damaged(
        restarted
            .capped(number("3"))
            .charge(&number("0.2"))
            .unwrap(),
        &[
            (r#""total":"0.5""#, r#""total":"0.6""#, IMPOSSIBLE),
            (r#""total":"0.5""#, r#""total":"0""#, IMPOSSIBLE),
            (r#""total":"0.5""#, r#""total":"3.5""#, IMPOSSIBLE),
            (r#""left":"0.3""#, r#""left":"0.5""#, IMPOSSIBLE),
            (
                r#""step":"0.5""#,
                r#""step":"0""#,
                "the step of a restarted odometer must be greater than 0",
            ),
        ],
    );
    let whitehouse = Whitehouse::new(number("1e-7")).unwrap();
    damaged(
        whitehouse
            .capped(pair("1", "1e-6"))
            .charge(&pair("0.1", "1e-8"))
            .unwrap(),
        &[
            (r#""squares":"9"#, r#""squares":"1000009"#, IMPOSSIBLE),
            (r#""deltas":"1e-8""#, r#""deltas":"1e-6""#, IMPOSSIBLE),
            (
                r#""of":"1e-7""#,
                r#""of":"0""#,
                "this bound needs a slack δ′ > 0: pay for it out of δ",
            ),
        ],
    );
}

#[test]
fn rules_with_a_threshold_continue_where_they_were() {
    let limit = pair("1", "1e-6");
    let pairs = [pair("0.1", "1e-8"), pair("0.03", "0")];
    let slack = number("5e-7");
    continues(ThroughZCdp::simple(limit, slack).unwrap(), &pairs);
    continues(ThroughZCdp::tight(limit, slack).unwrap(), &pairs);
    let rhos = ["0.001", "0.0003"].map(number::<Rho>);
    continues(ThroughZCdp::for_zcdp(limit).unwrap(), &rhos);
    continues(ThroughZCdp::for_zcdp_simple(limit).unwrap(), &rhos);
    continues(
        Rogers::new(limit).unwrap(),
        &[pair("0.01", "1e-8"), pair("0.02", "0")],
    );
    let grid = RdpGrid::new([number("8"), number("32")]).unwrap();
    let curve = grid.curve([number("0.01"), number("0.04")]).unwrap();
    continues(
        ThroughRdp::on_grid_at(grid, number("32"), limit).unwrap(),
        &[curve],
    );

    let zcdp = ThroughZCdp::for_zcdp(limit)
        .unwrap()
        .charge(&number("0.001"))
        .unwrap();
    damaged(
        zcdp,
        &[
            (
                r#""slack":"1e-6""#,
                r#""slack":"5e-7""#,
                "the slack must be the whole of delta",
            ),
            (
                "tight",
                "loose",
                "unknown variant `loose`, expected `simple` or `tight`",
            ),
            (r#""total":"2000"#, r#""total":"2000000000"#, IMPOSSIBLE),
            (
                "ThroughZCdp of zCDP",
                "ThroughZCdp",
                "the rule is ThroughZCdp, not ThroughZCdp of zCDP",
            ),
        ],
    );
    let zcdp = ThroughZCdp::tight(limit, slack)
        .unwrap()
        .charge(&pairs[0])
        .unwrap();
    damaged(
        zcdp,
        &[
            (r#""deltas":"1e-8""#, r#""deltas":"6e-7""#, IMPOSSIBLE),
            (
                r#""slack":"5e-7""#,
                r#""slack":"5e-6""#,
                "the slack 5e-6 is more than the budget's δ = 1e-6",
            ),
        ],
    );
    damaged(
        Rogers::new(limit)
            .unwrap()
            .charge(&pair("0.01", "0"))
            .unwrap(),
        &[
            (r#""squares":"1000"#, r#""squares":"10000000"#, IMPOSSIBLE),
            (r#""drift":""#, r#""drift":"1000000"#, IMPOSSIBLE),
            (r#""deltas":"0""#, r#""deltas":"6e-7""#, IMPOSSIBLE),
            (
                r#""epsilon":"1""#,
                r#""epsilon":"0""#,
                "Rogers et al. Thm 5.1 needs ε > 0 and 0 < δ < 1/e",
            ),
        ],
    );
    // What it keeps of the last price is not written: a rule that was read has none.
    let rdp = ThroughRdp::at(number("20"), limit, slack).unwrap();
    let charged = rdp.charge(&pairs[0]).unwrap();
    let Written(again) =
        read::<Written<ThroughRdp>>(&serde_json::to_string(&Written(charged)).unwrap()).unwrap();
    assert_eq!(again.charge(&pairs[1]), charged.charge(&pairs[1]));
    damaged(
        charged,
        &[
            (r#""total":""#, r#""total":"9"#, IMPOSSIBLE),
            (
                r#""order":"20""#,
                r#""order":"1""#,
                "order must be greater than 1",
            ),
        ],
    );
}

#[test]
fn rules_with_a_plan_continue_where_they_were() {
    let limit = pair("1", "1e-6");
    let each = pair("0.1", "0");
    let count = FixedCount::new(limit, each, 5).unwrap();
    continues(count.clone(), &[each]);
    damaged(
        count,
        &[
            (r#""counts":0"#, r#""counts":6"#, IMPOSSIBLE),
            (
                r#""counts":0"#,
                r#""counts":-1"#,
                "invalid value: integer `-1`, expected u64",
            ),
        ],
    );
    let step = number("0.01");
    let plan = FixedInAdvance::new(limit, step, vec![each, pair("0.2", "0"), each]).unwrap();
    continues(plan.clone(), &[each]);
    damaged(
        plan,
        &[
            (r#""counts":0"#, r#""counts":4"#, IMPOSSIBLE),
            (
                r#""step":"0.01""#,
                r#""step":"0""#,
                "the lattice step is 0: choose one that divides the losses",
            ),
        ],
    );
    let entries = [
        MenuEntry::new(number("0.1"), 1),
        MenuEntry {
            epsilon: number("0.1"),
            count: 5,
            cost: 4,
        },
        MenuEntry::new(number("0.2"), 4),
    ];
    let menu = MenuFilter::new(limit, number("1e-7"), number("0.05"), &entries).unwrap();
    continues(
        menu.clone(),
        &[each, pair("0.15", "1e-8"), pair("0.3", "0")],
    );
    let menu = menu.charge(&pair("0.1", "1e-7")).unwrap();
    damaged(
        menu,
        &[
            (r#""paid":["#, r#""paid":[9999"#, IMPOSSIBLE),
            (r#""deltas":"1e-7""#, r#""deltas":"1e-6""#, IMPOSSIBLE),
            (r#""epsilons":"0.1""#, r#""epsilons":"7""#, IMPOSSIBLE),
            (
                r#""name":"menu""#,
                r#""name":"mine""#,
                "no menu has this name",
            ),
            (
                r#""slack":"1e-7""#,
                r#""slack":"0""#,
                "this filter needs a slack δ′ > 0: pay for it out of δ",
            ),
        ],
    );
    let entries = [(number("0.1"), [1, 1]), (number("0.2"), [2, 4])];
    let sums = TwoSums::new(limit, number("5e-7"), number("0.05"), &entries, [6, 5]).unwrap();
    continues(sums.clone(), &[each, pair("0.2", "1e-8")]);
    let sums = sums.charge(&each).unwrap();
    damaged(
        sums,
        &[
            (r#""left":[5,4]"#, r#""left":[7,4]"#, IMPOSSIBLE),
            (r#""left":[5,4]"#, r#""left":[6,5]"#, IMPOSSIBLE),
            (r#""epsilons":"0.1""#, r#""epsilons":"5""#, IMPOSSIBLE),
        ],
    );
}

/// A rule that is read is used under the same types.
#[test]
fn the_types_of_what_is_read_are_named() {
    type Rule = Capped<Sum<PureDp>>;
    type Gaussian = Capped<RootSumSquares>;
    let rule =
        r#"{"rule":"Sum","parameters":{"of":{"measure":"PureDp"},"limit":"1"},"counts":"0.5"}"#;
    assert_eq!(
        read::<Written<Rule>>(rule).unwrap().0.remaining(),
        number("0.5")
    );
    refused::<Written<Gaussian>>(rule, "the rule is Sum, not RootSumSquares");
}
