//! Charts of ordinary and of odd reports.

#![cfg(feature = "chart")]

use queryables::mechanisms::table::{Report, ReportRow};
use queryables_arrow::chart;

/// A key, and its estimate with an interval.
type Row = (&'static str, Option<(f64, f64, f64)>);

fn report(rows: &[Row]) -> Report {
    let rows = rows.iter().map(|(key, estimate)| ReportRow {
        key: vec![(*key).to_owned()],
        estimate: *estimate,
    });
    Report {
        columns: vec!["key".to_owned()],
        confidence: "0.95".to_owned(),
        rows: rows.collect(),
    }
}

/// How many bars there are: one for each estimate.
fn bars(svg: &str) -> usize {
    svg.matches("fill=\"#78A0C8\"").count()
}

#[test]
fn each_group_has_a_bar_or_is_withheld() {
    let one = Some((3.0, 2.0, 4.0));
    let svg = chart(&report(&[("a", one), ("b", None), ("c", one)]), "Three");
    assert_eq!(bars(&svg), 2);
    assert_eq!(svg.matches("withheld").count(), 1);
    for label in [
        "Three",
        "a",
        "b",
        "c",
        "bars: estimates; lines: 95% intervals",
    ] {
        assert_eq!(
            svg.matches(&format!("\n{label}\n")).count(),
            1,
            "{label} in {svg}"
        );
    }
    let svg = chart(&report(&[("alone", one)]), "One");
    assert_eq!(bars(&svg), 1);
    assert_eq!(svg.matches("\nalone\n").count(), 1, "{svg}");
    assert_eq!(bars(&chart(&report(&[]), "None")), 0);
}

#[test]
fn labels_cannot_leave_their_place() {
    let svg = chart(&report(&[("<script>\u{1}&\"", None)]), "</svg>\u{0}");
    assert!(
        !svg.contains("<script>") && svg.matches("</svg>").count() == 1,
        "{svg}"
    );
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()), "{svg:?}");
}

#[test]
fn endless_intervals_stay_in_the_picture() {
    let rows = [
        ("a", Some((1.0, f64::NEG_INFINITY, f64::INFINITY))),
        ("b", Some((-2.0, -3.0, 1.5))),
        ("c", Some((0.0, 0.0, 0.0))),
    ];
    let svg = chart(&report(&rows), "Endless");
    assert_eq!(bars(&svg), 3, "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

/// A report may be read from JSON, with any numbers.
#[test]
fn the_largest_and_the_smallest_numbers_have_a_picture() {
    for number in [f64::MAX, 1e300, 1e-300, 5e-324] {
        let rows = [("a", Some((number, -number, number))), ("b", None)];
        let svg = chart(&report(&rows), "Ends");
        assert_eq!(bars(&svg), 1, "{number}: {svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
