//! What fits together in a schema, and its JSON.

use super::{patients, without_place};
use crate::table::{Column, Domain, Kind, Schema, TableError, Value};

fn refused(column: Column) -> String {
    Schema::of_rows([column]).unwrap_err().to_string()
}

fn domain(kind: Kind, domain: Domain) -> Column {
    Column::new("a", kind).with(domain)
}

fn range(low: impl Into<Value>, high: impl Into<Value>) -> Domain {
    Domain::Range(low.into(), high.into())
}

fn categories<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Domain {
    Domain::Categories(values.into_iter().map(Into::into).collect())
}

#[test]
fn names_are_short_and_different() {
    let whole = |name: &str| Column::new(name, Kind::Whole);
    assert_eq!(refused(whole("")), r#"column "" has no name: give it one"#);
    let long = "é".repeat(64);
    assert!(Schema::of_rows([whole(&long)]).is_ok());
    let longer = format!("{long}a");
    assert_eq!(
        refused(whole(&longer)),
        format!("column {longer:?} has a name of more than 128 bytes: shorten it")
    );
    assert_eq!(
        refused(whole("a\tb")),
        r#"column "a\tb" has a control character in its name: leave it out"#
    );
    let twice = Schema::of_rows([whole("a"), whole("b"), whole("a")]);
    assert_eq!(
        twice.unwrap_err().to_string(),
        r#"column "a" stands twice: rename one"#
    );
    let many = |many: usize| Schema::of_rows((0..many).map(|n| whole(&n.to_string())));
    assert_eq!(many(1024).unwrap().columns().len(), 1024);
    assert_eq!(
        many(1025).unwrap_err(),
        TableError::TooLong {
            what: "columns",
            most: 1024
        }
    );
}

#[test]
fn domains_have_the_type_of_their_column() {
    for (column, expected) in [
        (
            domain(Kind::Whole, range(0, 1.5)),
            r#"1.5 in the range of column "a" is a real number, and a whole number is needed here"#,
        ),
        (
            domain(Kind::Real, range(0, f64::INFINITY)),
            r#"inf in the range of column "a" is not a finite number: write one that is"#,
        ),
        (
            domain(Kind::Whole, range(1, 0)),
            r#"column "a" has a range that ends before it begins: swap the ends"#,
        ),
        (
            domain(Kind::Date, range("2024-01-31", "2024-01-30")),
            r#"column "a" has a range that ends before it begins: swap the ends"#,
        ),
        (
            domain(Kind::Date, range("2024-01-31", "tomorrow")),
            r#"'tomorrow' in the range of column "a" is not a date: write 'YYYY-MM-DD'"#,
        ),
        (
            domain(Kind::Bool, range(false, true)),
            r#"column "a" holds yes or no, which have no order: state no range"#,
        ),
        (
            domain(Kind::Text, categories(["x", "y", "x"])),
            r#"'x' in the categories of column "a" stands twice: list it once"#,
        ),
        (
            domain(Kind::Real, categories([0.0, -0.0])),
            r#"0.0 in the categories of column "a" stands twice: list it once"#,
        ),
        (
            domain(Kind::Text, categories([1])),
            r#"1 in the categories of column "a" is a whole number, and a text is needed here"#,
        ),
        (
            domain(Kind::Text, categories(Vec::<String>::new())),
            r#"column "a" has an empty list of categories: list one at least, or leave it out"#,
        ),
        (
            domain(Kind::Whole, categories(0..65_537)),
            r#"column "a" has more than 65536 categories: leave the list out"#,
        ),
    ] {
        assert_eq!(refused(column), expected);
    }
    assert!(Schema::of_rows([domain(Kind::Whole, categories(0..65_536))]).is_ok());
    // Constants are converted, so that equal schemas are equal.
    let one = Schema::of_rows([domain(Kind::Real, range(0, 1))]).unwrap();
    let same = Schema::of_rows([Column::real("a", -0.0..=1.0)]).unwrap();
    assert_eq!((&one, one.digest()), (&same, same.digest()));
}

#[test]
fn the_person_is_a_column_of_keys() {
    let people = |column| Schema::of_people("a", [column]).map_err(|error| error.to_string());
    let missing = people(Column::new("b", Kind::Whole));
    assert_eq!(
        missing,
        Err(r#"there is no column "a": the columns are b"#.to_owned())
    );
    for kind in [Kind::Whole, Kind::Text] {
        assert_eq!(
            people(Column::new("a", kind)).unwrap().person_column(),
            Some(0)
        );
    }
    for kind in [Kind::Real, Kind::Bool, Kind::Date, Kind::Time] {
        let wrong = r#"column "a" names the person: it must hold whole numbers or texts"#;
        assert_eq!(people(Column::new("a", kind)), Err(wrong.to_owned()));
    }
    let wrong = r#"column "a" names the person: state no range or categories for it"#;
    assert_eq!(people(Column::whole("a", 0..=9)), Err(wrong.to_owned()));
}

#[test]
fn a_schema_is_read_from_its_json() {
    let rows = Schema::of_rows([
        Column::new("b", Kind::Bool),
        domain(Kind::Date, range("2020-01-01", "2024-12-31")),
    ])
    .unwrap();
    for schema in [patients(), rows.clone()] {
        let json = serde_json::to_string(&schema).unwrap();
        let read: Schema = serde_json::from_str(&json).unwrap();
        assert_eq!((&read, read.digest()), (&schema, schema.digest()));
    }
    let by_hand = r#"{
        "person": {"each_row": true},
        "columns": [
            {"name": "b", "type": "bool"},
            {"name": "a", "type": "date", "range": ["2020-01-01", {"date": "2024-12-31"}]}
        ]
    }"#;
    assert_eq!(serde_json::from_str::<Schema>(by_hand).unwrap(), rows);
}

#[test]
fn the_digest_depends_on_everything() {
    let (a, b) = (Column::whole("a", 0..=1), Column::new("b", Kind::Whole));
    let of_rows = |columns: &[&Column]| {
        Schema::of_rows(columns.iter().map(|column| (*column).clone())).unwrap()
    };
    let schemas = [
        of_rows(&[&a, &b]),
        of_rows(&[&b, &a]),
        of_rows(&[&a]),
        of_rows(&[&Column::whole("a", 0..=2), &b]),
        of_rows(&[&a, &Column::new("b", Kind::Text)]),
        of_rows(&[&a, &Column::new("c", Kind::Whole)]),
        Schema::of_people("b", [a.clone(), b.clone()]).unwrap(),
    ];
    for (place, one) in schemas.iter().enumerate() {
        for other in &schemas[place + 1..] {
            assert_ne!(one.digest(), other.digest());
            // And so does a question's digest on its schema's.
            let asked = |schema: &Schema| schema.condition("a = 1").unwrap().digest();
            assert_ne!(asked(one), asked(other));
        }
    }
}

#[test]
fn json_with_anything_else_is_refused() {
    for (json, expected) in [
        (r#"{"columns": []}"#, "missing field `person`"),
        (
            r#"{"person": null, "columns": []}"#,
            r#"the person is the name of a column, or {"each_row": true}"#,
        ),
        (
            r#"{"person": {"each_row": true, "x": 1}, "columns": []}"#,
            r#"the person is the name of a column, or {"each_row": true}"#,
        ),
        (
            r#"{"person": {"each_row": false}, "columns": []}"#,
            "if rows are not people, write the name of the column that names the person",
        ),
        (
            r#"{"person": {"each_row": true}, "columns": [], "rows": 7}"#,
            "unknown field `rows`, expected `person` or `columns`",
        ),
        (
            r#"{"person": {"each_row": true}, "columns": [{"name": "a", "type": "int"}]}"#,
            "unknown variant `int`, expected one of `whole`, `real`, `text`, `bool`, `date`, `time`",
        ),
        (
            r#"{"person": {"each_row": true}, "columns": [{"name": "a", "type": "whole", "max": 1}]}"#,
            "unknown field `max`, expected one of `name`, `type`, `range`, `categories`",
        ),
        (
            r#"{"person": {"each_row": true}, "columns": [{"name": "a", "type": "whole", "range": [0, 1], "categories": [0]}]}"#,
            r#"column "a" has a range and categories: state one of them"#,
        ),
        (
            r#"{"person": "b", "columns": [{"name": "a", "type": "whole"}]}"#,
            r#"there is no column "b": the columns are a"#,
        ),
    ] {
        let error = serde_json::from_str::<Schema>(json).unwrap_err();
        assert_eq!(without_place(&error), expected);
    }
}

/// Also of a column that would do: what a condition holds of here is another column there.
#[test]
fn keys_are_whole_numbers_or_texts_of_this_schema() {
    let schema = patients();
    let of = |column| schema.key_column(None, column);
    assert_eq!(of("patient"), Ok((0, Kind::Whole)));
    assert_eq!(of("note"), Ok((5, Kind::Text)));
    assert_eq!(
        of("weight").unwrap_err().to_string(),
        "column \"weight\" cannot be a key: only whole numbers and texts can",
    );
    assert!(matches!(of("size"), Err(TableError::UnknownColumn { .. })));

    let here = schema.condition("age >= 18").unwrap();
    assert_eq!(schema.key_column(Some(&here), "note"), of("note"));
    let other = Schema::of_rows([Column::new("age", Kind::Whole)]).unwrap();
    let there = other.condition("age >= 18").unwrap();
    let refused = schema.key_column(Some(&there), "note");
    assert_eq!(refused, Err(TableError::OtherSchema));
}
