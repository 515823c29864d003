//! Expressions to test with.

use proptest::prelude::*;

use crate::table::{Comparison, Expr, Operation, Value, col};

/// Names that need quotes, that are words of ours or of SQL, and that look like prefixes of texts.
pub(super) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_][a-zA-Z0-9_]{0,6}",
        prop::sample::select(vec![
            "and",
            "Null",
            "IN",
            "true",
            "date",
            "TIMESTAMP",
            "select",
            "case",
            "interval",
            "x",
            "N",
            "ın",
            "Größe",
            "a\"b",
            "a'b",
            "a b",
            "--",
            "1a",
            "a.b",
            "\n",
            "名",
            "é",
            "_",
        ])
        .prop_map(str::to_owned),
        "\\PC{1,5}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("it's".to_owned()),
        Just("' OR 1 = 1 --".to_owned()),
        Just("a\nb\\'".to_owned()),
        ".{0,6}",
        any::<String>(),
    ]
}

/// In the years 1 to 9999.
fn days() -> impl Strategy<Value = i32> {
    prop_oneof![Just(-719_162), Just(2_932_896), -719_162..=2_932_896]
}

/// In the same years.
fn time() -> impl Strategy<Value = i64> {
    const DAY: i64 = 86_400_000_000;
    let seconds = (days(), 0..86_400_i64)
        .prop_map(|(days, second)| i64::from(days) * DAY + second * 1_000_000);
    let any = -719_162 * DAY..2_932_897 * DAY;
    prop_oneof![seconds, any]
}

pub(super) fn real() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        (-100..100_i32).prop_map(|value| f64::from(value) / 4.0),
        POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
        prop::sample::select(vec![
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -0.0,
            1e16,
            1e-7
        ]),
    ]
}

fn whole() -> impl Strategy<Value = i64> {
    prop_oneof![-100..100_i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
}

pub(super) fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        whole().prop_map(Value::Whole),
        real().prop_map(Value::Real),
        text().prop_map(Value::Text),
        any::<bool>().prop_map(Value::Bool),
        days().prop_map(Value::Date),
        time().prop_map(Value::Time),
    ]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    prop::sample::select(Comparison::ALL.to_vec())
}

fn operation() -> impl Strategy<Value = Operation> {
    prop::sample::select(Operation::ALL.to_vec())
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

/// Expressions of any types, as they can be written: lists are not empty, and `AND` has two sides.
pub(super) fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        name().prop_map(Expr::Column),
        value().prop_map(Expr::Literal)
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let many = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            (comparison(), inner.clone(), inner.clone())
                .prop_map(|(by, one, other)| Expr::Compare(by, boxed(one), boxed(other))),
            (operation(), inner.clone(), inner.clone()).prop_map(|(by, one, other)| Expr::Compute(
                by,
                boxed(one),
                boxed(other)
            )),
            (inner.clone(), prop::collection::vec(value(), 1..4))
                .prop_map(|(one, values)| one.is_in(values)),
            (inner.clone(), value(), value()).prop_map(|(one, low, high)| one.between(low, high)),
            inner.clone().prop_map(Expr::is_null),
            many.clone().prop_map(Expr::And),
            many.prop_map(Expr::Or),
            inner.prop_map(|one| !one),
        ]
    })
}

/// Whole numbers of the [patients](super::patients).
pub(super) fn number() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        Just(col("age")),
        Just(col("visits")),
        whole().prop_map(Expr::from)
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        (operation(), inner.clone(), inner)
            .prop_map(|(by, one, other)| Expr::Compute(by, boxed(one), boxed(other)))
    })
}

/// Conditions on the [patients](super::patients), in no normal form: lists of any length in each other,
/// constants of a type that can be converted.
pub(super) fn condition() -> impl Strategy<Value = Expr> {
    let real = prop_oneof![
        Just(col("weight")),
        real().prop_map(Expr::from),
        (-1000..1000_i64).prop_map(Expr::from),
    ];
    let texts = || {
        prop_oneof![
            Just(col("note")),
            Just(col("home state")),
            text().prop_map(|text| text.replace('\0', "").into())
        ]
    };
    let dates = || {
        let date = days().prop_map(Value::Date);
        let read = Just(Value::from("2024-02-29"));
        prop_oneof![date, read]
    };
    let times = || {
        let time = time().prop_map(Value::Time);
        let read = Just(Value::from("2024-02-29T12:30:00.25Z"));
        prop_oneof![time, read]
    };
    let compared = |one: BoxedStrategy<Expr>, other: BoxedStrategy<Expr>| {
        (comparison(), one, other)
            .prop_map(|(by, one, other)| Expr::Compare(by, boxed(one), boxed(other)))
    };
    let leaf = prop_oneof![
        compared(number().boxed(), number().boxed()),
        compared(real.clone().boxed(), real.prop_map(|one| one).boxed()),
        compared(texts().boxed(), texts().boxed()),
        compared(
            Just(col("born")).boxed(),
            dates().prop_map(Expr::from).boxed()
        ),
        compared(
            times().prop_map(Expr::from).boxed(),
            Just(col("seen")).boxed()
        ),
        prop::sample::subsequence(vec!["CA", "NY", "it's"], 1..=3)
            .prop_map(|values| col("state").is_in(values)),
        (dates(), dates()).prop_map(|(low, high)| col("born").between(low, high)),
        (number(), whole(), whole()).prop_map(|(one, low, high)| one.between(low, high)),
        Just(col("insured")),
        any::<bool>().prop_map(Expr::from),
        number().prop_map(Expr::is_null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let many = prop::collection::vec(inner.clone(), 0..4);
        let equal = prop::sample::select(vec![Comparison::Eq, Comparison::Ne]);
        prop_oneof![
            many.clone().prop_map(Expr::And),
            many.prop_map(Expr::Or),
            (equal, inner.clone(), inner.clone()).prop_map(|(by, one, other)| Expr::Compare(
                by,
                boxed(one),
                boxed(other)
            )),
            inner.clone().prop_map(|one| !one),
            inner.prop_map(Expr::is_null),
        ]
    })
}
