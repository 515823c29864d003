//! What a condition says of a row.

use super::patients;
use crate::table::{Column, Expr, Kind, Schema, Value, col};

const TRUTHS: [Option<bool>; 3] = [Some(true), Some(false), None];

/// The tables of SQL, written out: true, false and unknown are `T`, `F` and `?`.
#[test]
fn logic_has_three_values() {
    let schema =
        Schema::of_rows([Column::new("a", Kind::Bool), Column::new("b", Kind::Bool)]).unwrap();
    let letter = |truth| match truth {
        Some(true) => 'T',
        Some(false) => 'F',
        None => '?',
    };
    for (text, expected) in [
        // a: TTTFFF???, b: TF?TF?TF?.
        ("a AND b", "TF?FFF?F?"),
        ("a OR b", "TTTTF?T??"),
        ("NOT a", "FFFTTT???"),
        ("a IS NULL", "FFFFFFTTT"),
        ("a IS NOT NULL", "TTTTTTFFF"),
        ("a = b", "TF?FT????"),
        ("a <> b", "FT?TF????"),
        ("a IN (TRUE)", "TTTFFF???"),
        ("a NOT IN (TRUE, FALSE)", "FFFFFF???"),
        ("(a AND b) IS NULL", "FFTFFFTFT"),
        ("a AND NOT a", "FFFFFF???"),
        ("a OR b OR TRUE", "TTTTTTTTT"),
        ("a AND b AND FALSE", "FFFFFFFFF"),
    ] {
        let condition = schema.condition(text).unwrap();
        let rows = TRUTHS.into_iter().flat_map(|a| TRUTHS.map(|b| [a, b]));
        let found: String = rows
            .map(|row| letter(condition.holds(&row.map(|truth| truth.map(Value::from)))))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
    // Three parts: false if one is false, otherwise unknown if one is unknown.
    let constant = |truth: Option<bool>| match truth {
        Some(truth) => Expr::from(truth),
        None => col("a"),
    };
    for (a, b, c) in TRUTHS.into_iter().flat_map(|a| {
        TRUTHS
            .into_iter()
            .flat_map(move |b| TRUTHS.map(|c| (a, b, c)))
    }) {
        let all = [a, b, c];
        let parts = all.map(constant).to_vec();
        let holds = |expr| schema.condition(expr).unwrap().holds(&[None, None]);
        let deciding = |truth: bool| match () {
            () if all.contains(&Some(truth)) => Some(truth),
            () if all.contains(&None) => None,
            () => Some(!truth),
        };
        assert_eq!(holds(Expr::And(parts.clone())), deciding(false));
        assert_eq!(holds(Expr::Or(parts)), deciding(true));
    }
}

fn row(values: [(usize, Value); 2]) -> Vec<Option<Value>> {
    let mut row = vec![None; 10];
    for (place, value) in values {
        row[place] = Some(value);
    }
    row
}

#[test]
fn comparisons_are_those_of_their_types() {
    let schema = patients();
    let holds = |text: &str, row: &[Option<Value>]| schema.condition(text).unwrap().holds(row);
    let person = [
        Some(7.into()),
        Some(30.into()),
        Some(2.into()),
        Some(70.5.into()),
        Some("CA".into()),
        Some("Zoe".into()),
        Some(true.into()),
        Some(Value::Date(0)),
        Some(Value::Time(-1)),
        None,
    ];
    for text in [
        "age = 30",
        "age <> 31",
        "age < 31",
        "age <= 30",
        "age > 29",
        "age >= 30",
        "age BETWEEN 30 AND 30",
        "weight = 70.5",
        "weight > 70",
        "state = 'CA'",
        "state IN ('NY', 'CA')",
        "insured",
        "NOT (NOT insured)",
        "born = '1970-01-01'",
        "seen < '1970-01-01 00:00:00'",
        "born BETWEEN '1969-12-31' AND '1970-01-01'",
        "\"home state\" IS NULL",
        "age + visits * 2 = 34",
        "age - visits = 28",
        "1 < 2",
        // By bytes: capital letters are before small ones, and ASCII is before the rest.
        "note < 'a'",
        "note < 'Zoé'",
        "note > 'Zo'",
    ] {
        assert_eq!(holds(text, &person), Some(true), "{text}");
        assert_eq!(
            holds(&format!("NOT ({text})"), &person),
            Some(false),
            "{text}"
        );
    }
    for text in [
        "age = 31",
        "age BETWEEN 31 AND 29",
        "age NOT IN (30)",
        "1 > 2",
    ] {
        assert_eq!(holds(text, &person), Some(false), "{text}");
    }
    assert_eq!(holds("\"home state\" = note", &person), None);
    // NaN is missing, and so is a value of another type, and what is beyond the end of a row.
    let nan = row([(1, 1.5.into()), (3, f64::NAN.into())]);
    for text in [
        "weight = 1",
        "weight <> 1",
        "weight IN (1)",
        "weight BETWEEN 0 AND 1",
        "age = 1",
        "age + 1 = 2",
    ] {
        assert_eq!(holds(text, &nan), None, "{text}");
        assert_eq!(holds(text, &[]), None, "{text}");
    }
    assert_eq!(holds("weight IS NULL AND age IS NULL", &nan), Some(true));
    assert_eq!(
        holds(
            "weight > 500",
            &row([(3, f64::INFINITY.into()), (1, 1.into())])
        ),
        Some(true)
    );
    assert_eq!(
        holds("weight = 0", &row([(3, (-0.0).into()), (1, 1.into())])),
        Some(true)
    );
}

#[test]
fn whole_numbers_saturate_after_each_operation() {
    let schema = patients();
    const ENDS: [i64; 7] = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    for (one, other) in ENDS
        .into_iter()
        .flat_map(|one| ENDS.map(|other| (one, other)))
    {
        let row = row([(1, one.into()), (2, other.into())]);
        let (wide_one, wide_other) = (i128::from(one), i128::from(other));
        for (text, exact) in [
            ("age + visits", wide_one + wide_other),
            ("age - visits", wide_one - wide_other),
            ("age * visits", wide_one * wide_other),
        ] {
            let saturated = exact.clamp(i64::MIN.into(), i64::MAX.into());
            let expected = Value::Whole(i64::try_from(saturated).unwrap());
            assert_eq!(
                schema.number(text).unwrap().value(&row),
                Some(expected),
                "{one} {text} {other}"
            );
        }
    }
    // It is not the exact result that is saturated.
    let top = row([(1, i64::MAX.into()), (2, 1.into())]);
    let value = schema.number("age + visits - visits").unwrap().value(&top);
    assert_eq!(value, Some(Value::Whole(i64::MAX - 1)));
}

#[test]
fn a_real_column_is_a_number() {
    let weight = patients().number("weight").unwrap();
    assert_eq!((weight.kind(), weight.columns()), (Kind::Real, vec![3]));
    assert_eq!(
        weight.value(&row([(3, 70.5.into()), (1, 1.into())])),
        Some(Value::Real(70.5))
    );
    assert_eq!(
        weight.value(&row([(3, f64::NAN.into()), (1, 1.into())])),
        None
    );
}

#[test]
fn columns_are_places_in_order_each_once() {
    let schema = patients();
    let condition = schema
        .condition("state = 'CA' AND (age > 3 OR age + visits < 2) AND born IS NULL")
        .unwrap();
    assert_eq!(condition.columns(), [1, 2, 4, 7]);
    assert_eq!(schema.condition("1 = 1").unwrap().columns(), [0; 0]);
    assert_eq!(schema.number("visits * visits").unwrap().columns(), [2]);
}

#[test]
fn a_condition_is_shown_as_its_text() {
    let condition = patients().condition("age>=18").unwrap();
    assert_eq!(condition.text(), "age >= 18");
    assert_eq!(format!("{condition:?}"), r#"Condition("age >= 18")"#);
}
