//! Odometers go on reading where they were.

use std::fmt::Debug;
use std::sync::Arc;

use queryables::account::time_uniform::{
    RogersOdometer, Slack, TimeUniformOdometer, VarianceOdometer,
};
use queryables::account::{
    Accumulator, AdvancedComposition, DefaultAccumulator, Durable, SavedRule, Sum,
};
use queryables::prelude::*;
use queryables::privacy::Measure;

use super::{IMPOSSIBLE, number, pair, read, refused};

/// Counts this loss many times, and after each reads it anew: it goes on as the original does.
fn goes_on<O>(fresh: O, loss: &<O::Launches as Measure>::Loss)
where
    O: TimeUniformOdometer + Durable + PartialEq + Debug,
{
    let mut odometer = fresh;
    for _ in 0..20 {
        let text = serde_json::to_string(&SavedRule(odometer.clone())).unwrap();
        let SavedRule(again) =
            read::<SavedRule<O>>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(again.reading(), odometer.reading());
        assert_eq!(again, odometer);
        odometer = odometer.add(loss).unwrap();
        assert_eq!(again.add(loss).unwrap(), odometer);
    }
}

/// The text with one thing changed, and why it is not read.
fn damaged<O: Durable + Debug>(odometer: O, changes: &[(&str, &str, &str)]) {
    let text = serde_json::to_string(&SavedRule(odometer)).unwrap();
    for (from, to, why) in changes {
        assert!(text.contains(from), "{from} is not in {text}");
        refused::<SavedRule<O>>(&text.replacen(from, to, 1), why);
    }
}

#[test]
fn time_uniform_odometers_go_on_where_they_were() {
    let slack = Slack::new(number("1e-6"), number("1e-7")).unwrap();
    let (loss, rho) = (pair("0.1", "1e-9"), number("0.001"));
    let tangent = VarianceOdometer::tangent(number("1"), slack).unwrap();
    goes_on(tangent.clone(), &loss);
    goes_on(tangent.for_zcdp(), &rho);
    // Its parameter is a float: to the last digit.
    let mixture = VarianceOdometer::mixture_at(number("0.07"), slack);
    goes_on(mixture.clone(), &loss);
    goes_on(mixture.for_zcdp(), &rho);
    let stitched = VarianceOdometer::stitched(number("0.02"), slack);
    goes_on(stitched.clone(), &loss);
    goes_on(stitched.for_zcdp(), &rho);
    goes_on(RogersOdometer::new(1000, number("1e-6")).unwrap(), &loss);
}

#[test]
fn an_odometer_that_could_not_have_been_built_is_not_read() {
    let slack = Slack::pure(number("1e-6")).unwrap();
    let mixture = VarianceOdometer::mixture(number("0.01"), slack);
    damaged(
        mixture.add(&pair("0.1", "0")).unwrap(),
        &[
            (
                r#""stray":"1e-6""#,
                r#""stray":"0""#,
                "this bound needs a slack δ′ > 0: pay for it out of δ",
            ),
            (
                r#""mixture":"0.01""#,
                r#""mixture":"NaN""#,
                "the parameter must be a positive number",
            ),
            (
                r#""mixture":"0.01""#,
                r#""mixture":"-0.01""#,
                "the parameter must be a positive number",
            ),
            (
                "ProbabilisticDp",
                "ZCdp",
                "the measure is not ProbabilisticDp",
            ),
            (
                "VarianceOdometer",
                "RogersOdometer",
                "the rule is RogersOdometer, not VarianceOdometer",
            ),
            (
                r#""squares":""#,
                r#""squares":"-"#,
                "a sum of squares must be a whole number below 2^256",
            ),
        ],
    );
    let rogers = RogersOdometer::new(1000, number("1e-6")).unwrap();
    damaged(
        rogers.add(&pair("0.1", "0")).unwrap(),
        &[
            (r#""drift":"0.005"#, r#""drift":"0.004"#, IMPOSSIBLE),
            (
                r#""rows":1000"#,
                r#""rows":1"#,
                "the number of rows is out of range: take at least 2",
            ),
        ],
    );
}

/// One without a cap is its accumulator, and a new odometer starts with what was read.
#[test]
fn an_accumulator_goes_on_where_it_was() {
    let sum = PureDp.accumulator().add(&number("0.3")).unwrap();
    let text = r#"{"rule":"Sum","parameters":{"measure":"PureDp"},"counts":"0.3"}"#;
    assert_eq!(serde_json::to_string(&SavedRule(sum)).unwrap(), text);
    let SavedRule(sum) = read::<SavedRule<Sum<PureDp>>>(text).unwrap();
    let odometer = start(&Odometer::concurrent_with(sum), Arc::new(vec![1_u8])).unwrap();
    assert_eq!(odometer.privacy_loss(), number("0.3"));
    let whitehouse = AdvancedComposition::new(number("1e-6")).unwrap();
    let whitehouse = whitehouse.add(&pair("0.1", "1e-9")).unwrap();
    let text = serde_json::to_string(&SavedRule(whitehouse)).unwrap();
    assert_eq!(read(&text), Ok(SavedRule(whitehouse)));
}
