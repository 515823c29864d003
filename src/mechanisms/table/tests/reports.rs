//! What a report prints, to the letter.

use super::super::{Report, ReportRow};
use super::{VISITS, no_noise, released, schema, table_of};
use crate::machine::Mechanism;
use crate::mechanisms::QueryExt;
use crate::mechanisms::table::{MeanOf, PerGroup, TableQuery};
use crate::prelude::*;

fn row(key: [&str; 2], estimate: Option<(f64, f64, f64)>) -> ReportRow {
    ReportRow {
        key: key.map(str::to_owned).to_vec(),
        estimate,
    }
}

/// Keys that a spreadsheet would take for a formula, or a reader for several cells.
fn report() -> Report {
    Report {
        columns: ["state", "=ages"].map(str::to_owned).to_vec(),
        confidence: "0.95".to_owned(),
        rows: vec![
            row(["Kalifornien", "[0, 18)"], Some((12.5, -1.25, 26.25))),
            row(["Übersee", "-3"], Some((100.0, 99.0, 101.0))),
            row(["a \"b\"", "@SUM(A1)"], None),
            row(["-1+1", "\tx"], Some((-0.004, -1.0, f64::INFINITY))),
        ],
    }
}

#[test]
fn it_prints_aligned() {
    let expected = "\
state        =ages     estimate    low    high
Kalifornien  [0, 18)      12.50  -1.25   26.25
Übersee      -3          100.00  99.00  101.00
a \"b\"        @SUM(A1)  withheld
-1+1         \\tx          -0.00  -1.00     inf
with confidence 0.95";
    assert_eq!(report().to_string(), expected);
    assert_eq!(
        format!("{:.0}", report()).lines().nth(1),
        Some("Kalifornien  [0, 18)         12   -1    26")
    );
}

#[test]
fn csv_quotes_formulas_and_commas() {
    assert_eq!(
        report().to_csv(),
        "state,'=ages,estimate,low,high\r\n\
         Kalifornien,\"[0, 18)\",12.5,-1.25,26.25\r\n\
         Übersee,-3,100,99,101\r\n\
         \"a \"\"b\"\"\",'@SUM(A1),withheld,,\r\n\
         '-1+1,'\tx,-0.004,-1,inf\r\n"
    );
}

#[test]
fn json_has_every_digit() {
    let mut report = report();
    report.rows.truncate(3);
    report.rows.remove(1);
    assert_eq!(
        serde_json::to_string(&report).unwrap(),
        "{\"columns\":[\"state\",\"=ages\"],\"confidence\":\"0.95\",\"rows\":[\
         {\"key\":[\"Kalifornien\",\"[0, 18)\"],\"estimate\":{\"value\":12.5,\"low\":-1.25,\"high\":26.25}},\
         {\"key\":[\"a \\\"b\\\"\",\"@SUM(A1)\"],\"estimate\":null}]}"
    );
}

/// A ledger keeps it, and gives it again.
#[test]
fn it_is_read_from_its_json() {
    let report = report();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    let endless = r#"{"value":null,"low":null,"high":null}"#;
    let endless = format!(r#"{{"key":["a"],"estimate":{endless}}}"#);
    let (value, low, high) = serde_json::from_str::<ReportRow>(&endless)
        .unwrap()
        .estimate
        .unwrap();
    assert!(value.is_nan());
    assert_eq!((low, high), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn groups_have_their_keys_in_the_order_of_the_groupings() {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    let counts = schema
        .count()
        .by("state")
        .unwrap()
        .by_buckets("hours", [0, 20, 80])
        .unwrap();
    let counts = counts.rows_per_person(2).laplace(no_noise()).unwrap();
    let mechanism = counts.reported(confidence!(0.95));
    // It owns what it needs.
    drop(counts);
    let report: Report = released(&mechanism, &table);
    let expected = "\
state  hours     estimate   low  high
CA     [0, 20)       1.00  1.00  1.00
CA     [20, 80)      2.00  2.00  2.00
NY     [0, 20)       0.00  0.00  0.00
NY     [20, 80)      1.00  1.00  1.00
with confidence 0.95";
    assert_eq!(report.to_string(), expected);
}

#[test]
fn small_groups_are_withheld_by_their_noisy_count() {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    let shown = |query: TableQuery<MeanOf, PerGroup>, least: f64| {
        let means = query.rows_per_person(2).laplace(no_noise()).unwrap();
        let mechanism = means.reported_at_least(confidence!(0.95), least);
        assert!(mechanism.describe().is_complete());
        let report: Report = released(&mechanism, &table);
        let shown = report.rows.iter().map(|row| row.estimate.is_some());
        shown.collect::<Vec<_>>()
    };
    // Three rows and two.
    let by_state = || schema.mean("hours").unwrap().by("state").unwrap();
    assert_eq!(shown(by_state(), 1.5), [true, true]);
    assert_eq!(shown(by_state(), 2.5), [true, false]);
    assert_eq!(shown(by_state(), 3.5), [false, false]);
    // What is asked for must be a number.
    assert_eq!(shown(by_state(), f64::NAN), [false, false]);
}
