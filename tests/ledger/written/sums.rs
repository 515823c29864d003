//! Rules that add up.

use queryables::account::{
    Accumulator, AdvancedComposition, Capped, ContinuationRule, DefaultAccumulator,
    RestartedFilters, RootSumSquares, SavedRule, Sum,
};
use queryables::number::{Mu, Rho};
use queryables::prelude::*;
use queryables::privacy::{ApproxRdp, ApproxZCdp, Gdp, ProbabilisticDp, Rdp, RdpGrid, RhoDelta};

use super::{IMPOSSIBLE, continues, damaged, number, pair, read, refused};

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
    let whitehouse = AdvancedComposition::new(number("1e-7")).unwrap();
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
                "the step of a restarted odometer is out of range: choose one greater than 0",
            ),
        ],
    );
    let whitehouse = AdvancedComposition::new(number("1e-7")).unwrap();
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

/// A rule that is read is used under the same types.
#[test]
fn the_types_of_what_is_read_are_named() {
    type Rule = Capped<Sum<PureDp>>;
    type Gaussian = Capped<RootSumSquares>;
    let rule =
        r#"{"rule":"Sum","parameters":{"of":{"measure":"PureDp"},"limit":"1"},"counts":"0.5"}"#;
    assert_eq!(
        read::<SavedRule<Rule>>(rule).unwrap().0.remaining(),
        number("0.5")
    );
    refused::<SavedRule<Gaussian>>(rule, "the rule is Sum, not RootSumSquares");
}
