//! The table in `spec/admitted.md` is what its example prints, and says what it must.

#[path = "../examples/admitted.rs"]
#[allow(dead_code)]
mod admitted;

#[test]
fn the_table_is_up_to_date() {
    let kept = include_str!("../spec/admitted.md");
    assert_eq!(admitted::table().unwrap(), kept);
}

#[test]
fn every_count_is_reached() {
    let table = admitted::table().unwrap();
    for row in [
        "| basic | 100 | yes |",
        "| Rogers | 147 | yes |",
        "| Whitehouse | 349 | yes |",
        "| zCDP, tight | 487 | yes |",
        "| RDP, exact curve | 490 | yes |",
        "| menu, many small | 551 | yes |",
        "| fixed count | 562 | yes |",
        "the limit* | 562 | no |",
        "| GDP | 560 | yes |",
    ] {
        assert!(table.contains(row), "{row} is missing in\n{table}");
    }
}
