//! The tables.

use super::super::{
    Amount, Bound, Column, Expr, Grouping, Kind, Parts, Plan, Schema, TableError, Value, col,
};

/// Rows of a table: a value for each column, or none where it is missing.
type Rows = Vec<Vec<Option<Value>>>;

/// A name, and what makes the rows and the plans.
type Canary = (&'static str, fn() -> Result<(Rows, Vec<Plan>), TableError>);

pub(super) const CANARIES: &[Canary] = &[
    ("missing values", missing_values),
    ("three-valued logic", three_valued_logic),
    ("NaN and infinity", nan_and_infinity),
    ("rounding", rounding),
    ("overflow", overflow),
    ("large sums", large_sums),
    ("a heavy person", a_heavy_person),
    ("an empty table", an_empty_table),
    ("edges", edges),
    (
        "quotes and control characters",
        quotes_and_control_characters,
    ),
    ("texts by bytes", texts_by_bytes),
    ("means and variances", means_and_variances),
];

/// A table of people with a whole number, a real number and a text.
fn people() -> Result<Schema, TableError> {
    Schema::of_people(
        "person",
        [
            Column::new("person", Kind::Whole),
            Column::new("number", Kind::Whole),
            Column::new("real", Kind::Real),
            Column::new("text", Kind::Text),
        ],
    )
}

fn row(
    person: impl Into<Option<i64>>,
    number: impl Into<Option<i64>>,
    real: impl Into<Option<f64>>,
    text: impl Into<Option<&'static str>>,
) -> Vec<Option<Value>> {
    vec![
        person.into().map(Value::from),
        number.into().map(Value::from),
        real.into().map(Value::from),
        text.into().map(Value::from),
    ]
}

/// The number of people with a row for which this is true.
fn count(schema: &Schema, condition: Expr) -> Result<Plan, TableError> {
    let condition = schema.condition(condition)?;
    let one = (Amount::one(0)?, Parts::Value);
    Plan::new(schema, Some(condition), one, vec![], Bound::Each(1))
}

/// A sum, with each person clamped to 2^50 steps.
fn sum(
    schema: &Schema,
    number: Expr,
    exponent: i32,
    range: (i64, i64),
) -> Result<Plan, TableError> {
    let amount = Amount::of(schema.number(number)?, exponent, range.0, range.1)?;
    let amount = (amount, Parts::Value);
    Plan::new(schema, None, amount, vec![], Bound::Each(1 << 50))
}

fn missing_values() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let rows = vec![
        row(1, 5, 1.5, "a"),
        row(2, None, None, None),
        row(None, 7, 2.5, "a"),
        row(3, None, 0.5, "a"),
        row(3, 4, None, None),
    ];
    let plans = vec![
        count(&schema, col("number").ge(4))?,
        count(&schema, !col("number").ge(4))?,
        count(&schema, col("text").is_null())?,
        sum(&schema, col("number"), 0, (2, 10))?,
        sum(&schema, col("number"), 0, (-10, -2))?,
        sum(&schema, col("real"), -1, (1, 10))?,
        sum(&schema, col("number") + col("person"), 0, (-10, 10))?,
    ];
    Ok((rows, plans))
}

fn three_valued_logic() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let numbers = [Some(0), Some(1), None];
    let mut rows = Rows::new();
    for (one, number) in numbers.into_iter().enumerate() {
        for (other, real) in [Some(0.0), Some(1.0), None].into_iter().enumerate() {
            let person = i64::try_from(3 * one + other).unwrap_or_default();
            rows.push(row(person, number, real, None));
        }
    }
    let one = || col("number").eq(1);
    let other = || col("real").eq(1.0);
    let plans = vec![
        count(&schema, one() & other())?,
        count(&schema, !(one() & other()))?,
        count(&schema, one() | other())?,
        count(&schema, !(one() | other()))?,
        count(&schema, (one() & other()).is_null())?,
        count(&schema, one().eq(other()))?,
        count(&schema, !col("number").is_in([1, 2]))?,
        count(&schema, !col("number").between(1, 2))?,
    ];
    Ok((rows, plans))
}

fn nan_and_infinity() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let reals = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::from_bits(1),
        -f64::from_bits(1),
        f64::MIN_POSITIVE,
        -0.0,
    ];
    let rows = (1..)
        .zip(reals)
        .map(|(person, real)| row(person, 1, real, "a"));
    let rows = rows.collect();
    let mut plans = vec![
        count(&schema, col("real").is_null())?,
        count(&schema, col("real").ge(0.0))?,
        count(&schema, !col("real").ge(0.0))?,
        count(&schema, col("real").eq(0.0))?,
        count(&schema, col("real").gt(f64::MAX))?,
    ];
    for exponent in [-200, -1, 0, 1, 200] {
        plans.push(sum(&schema, col("real"), exponent, (-3, 7))?);
        plans.push(sum(&schema, col("real"), exponent, (-(1 << 49), 1 << 50))?);
    }
    let buckets = Grouping::buckets(&schema, "real", [-1.0, 0.0, f64::MAX])?;
    let one = (Amount::one(0)?, Parts::Value);
    plans.push(Plan::new(&schema, None, one, vec![buckets], Bound::First)?);
    Ok((rows, plans))
}

/// Halves, and their neighbours.
fn rounding() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let halves = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.25, 3_f64 / 7.0];
    let near = halves
        .into_iter()
        .flat_map(|half: f64| [half.next_down(), half, half.next_up()]);
    let large = [
        (1_i64 << 50) as f64 - 0.5,
        (1_i64 << 50) as f64 + 0.5,
        4_503_599_627_370_497.5,
    ];
    let reals = near.chain(large);
    let rows = (1..)
        .zip(reals)
        .map(|(person, real)| row(person, person, real, "a"));
    let rows = rows.collect();
    let plan = |number: &str, exponent| sum(&schema, col(number), exponent, (-(1 << 50), 1 << 50));
    let plans = [
        plan("real", 0)?,
        plan("real", 1)?,
        plan("real", -1)?,
        plan("real", -52)?,
        plan("number", 1)?,
        plan("number", 3)?,
    ];
    Ok((rows, plans.to_vec()))
}

fn overflow() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let numbers = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    let rows = (1..)
        .zip(numbers)
        .map(|(person, number)| row(person, number, 0.0, "a"));
    let rows = rows.collect();
    let number = || col("number");
    let plans = vec![
        count(&schema, (number() + number()).eq(i64::MAX))?,
        count(&schema, (number() * number()).eq(i64::MAX))?,
        count(&schema, (number() * i64::MIN).eq(i64::MIN))?,
        count(&schema, ((number() - i64::MAX) + i64::MAX).lt(0))?,
        sum(&schema, number(), 0, (-(1 << 50), 1 << 50))?,
        sum(&schema, number(), 200, (-5, 5))?,
        sum(&schema, number(), -200, (-5, 5))?,
        sum(
            &schema,
            number() * number() * number(),
            40,
            (-(1 << 50), 1 << 50),
        )?,
    ];
    Ok((rows, plans))
}

/// Beyond 64 bits within a person, and over all people.
fn large_sums() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = Schema::of_rows([Column::new("number", Kind::Whole)])?;
    let rows = vec![vec![Some(Value::from(1_i64 << 31))]; 9];
    let amount = || Amount::of(schema.number(col("number"))?, 0, 0, 1 << 31);
    let plan = |parts, bound| {
        let amount = (amount()?, parts);
        Plan::new(&schema, None, amount, vec![], bound)
    };
    let plans = vec![
        plan(Parts::Variance, Bound::Row)?,
        plan(Parts::Mean, Bound::Rows(1))?,
        plan(Parts::Value, Bound::L1(1 << 31))?,
        plan(Parts::Value, Bound::Each((1 << 31) - 1))?,
    ];
    Ok((rows, plans))
}

/// One person with nearly all rows, in several groups, under every bound.
fn a_heavy_person() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let texts = ["a", "b", "c"];
    let mut rows: Rows = (0..60)
        .map(|number: i64| {
            let text = texts
                .into_iter()
                .cycle()
                .nth(number.unsigned_abs() as usize % 7);
            row(1, number * number - 900, number as f64, text)
        })
        .collect();
    rows.extend([
        row(2, 3, 1.0, "c"),
        row(2, -3, 1.0, "b"),
        row(3, 1 << 40, 1.0, "a"),
    ]);
    rows.push(row(4, 5, 1.0, "other"));
    let keys = Grouping::keys(&schema, "text", ["c", "a", "b"])?;
    let mut plans = Vec::new();
    for bound in [
        Bound::Each(7),
        Bound::Each(1 << 50),
        Bound::L1(1),
        Bound::L1(1_000),
        Bound::L1(1 << 31),
        Bound::L2(1),
        Bound::L2(1_000),
        Bound::L2(1 << 31),
    ] {
        let amount = Amount::of(schema.number(col("number"))?, 0, -(1 << 50), 1 << 50)?;
        let groups = vec![keys.clone()];
        plans.push(Plan::new(
            &schema,
            None,
            (amount, Parts::Value),
            groups,
            bound,
        )?);
    }
    let one = (Amount::one(-16)?, Parts::Value);
    plans.push(Plan::new(
        &schema,
        None,
        one,
        vec![keys.clone()],
        Bound::First,
    )?);
    let amount = Amount::of(schema.number(col("number"))?, 0, -7, 11)?;
    let groups = vec![
        keys,
        Grouping::buckets(&schema, "real", [0.0, 10.0, 100.0])?,
    ];
    plans.push(Plan::new(
        &schema,
        None,
        (amount, Parts::Mean),
        groups,
        Bound::Rows(7),
    )?);
    Ok((rows, plans))
}

fn an_empty_table() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let keys = Grouping::keys(&schema, "text", ["a", "b"])?;
    let amount = Amount::of(schema.number(col("real"))?, 0, 1, 2)?;
    let grouped = Plan::new(
        &schema,
        None,
        (amount, Parts::Mean),
        vec![keys],
        Bound::Rows(5),
    )?;
    let plans = vec![
        count(&schema, col("number").is_null())?,
        sum(&schema, col("number"), 0, (1, 2))?,
        grouped,
    ];
    Ok((Rows::new(), plans))
}

/// Values that are edges.
fn edges() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let rows = (0..=40).map(|number| {
        let text = ["", "a", "aa", "b"]
            .into_iter()
            .cycle()
            .nth(number as usize);
        row(number / 2, number - 20, (number - 20) as f64 / 4.0, text)
    });
    let rows = rows.collect();
    let one = || Ok((Amount::one(0)?, Parts::Value));
    let groupings = [
        Grouping::buckets(&schema, "number", [-20, -1, 0, 19, 20])?,
        Grouping::buckets(&schema, "real", [-5.0, -0.25, 0.0, 0.25, 5.0])?,
        Grouping::buckets(&schema, "text", ["", "a", "b"])?,
        Grouping::keys(&schema, "number", [3, -20, 20, 21])?,
    ];
    let plan = |grouping| Plan::new(&schema, None, one()?, vec![grouping], Bound::First);
    let plans = groupings.into_iter().map(plan);
    Ok((rows, plans.collect::<Result<_, TableError>>()?))
}

fn quotes_and_control_characters() -> Result<(Rows, Vec<Plan>), TableError> {
    let texts = [
        "'", "\"", "\\", "\\'", "''", "$1", ":p1", "?", "%s", "--", "/*", ";", "\n", "\r\n", "\t",
        "\u{1}", "\u{7f}", "\u{85}", " ", "", "a ", "a", "{a,b}", "NULL", "x', ('y",
    ];
    let schema = Schema::of_people(
        "a person's \"name\"",
        [
            Column::new("a person's \"name\"", Kind::Text),
            Column::new("text; --", Kind::Text),
        ],
    )?;
    let rows = texts
        .map(|text| vec![Some(text.into()), Some(text.into())])
        .to_vec();
    let keys = Grouping::keys(&schema, "text; --", texts)?;
    let one = || Ok((Amount::one(0)?, Parts::Value));
    let plan = |grouping| Plan::new(&schema, None, one()?, vec![grouping], Bound::First);
    let text = || col("text; --");
    let plans = vec![
        plan(keys)?,
        count(
            &schema,
            text().eq("x', ('y") | text().eq("\\'") | text().eq("\n"),
        )?,
        count(&schema, text().is_in(texts))?,
        count(&schema, text().le("a\u{1}b"))?,
    ];
    Ok((rows, plans))
}

/// In an order that no language has.
fn texts_by_bytes() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = Schema::of_people(
        "person",
        [
            Column::new("person", Kind::Text),
            Column::new("text", Kind::Text),
        ],
    )?;
    let texts = [
        "a",
        "A",
        "b",
        "B",
        "ä",
        "z",
        "Z",
        "_a",
        "a b",
        "a-b",
        "ab",
        "e\u{301}",
        "\u{e9}",
        "ß",
        "ss",
        "\u{ffff}",
        "\u{10000}",
        "1",
        "10",
        "9",
    ];
    let rows = texts
        .map(|text| vec![Some(text.into()), Some(text.into())])
        .to_vec();
    let mut sorted = texts;
    sorted.sort_unstable();
    let one = || Ok((Amount::one(0)?, Parts::Value));
    let plan = |grouping| Plan::new(&schema, None, one()?, vec![grouping], Bound::First);
    let text = || col("text");
    let plans = vec![
        plan(Grouping::keys(&schema, "text", texts)?)?,
        plan(Grouping::buckets(&schema, "text", sorted)?)?,
        count(&schema, text().lt("a") | text().ge("\u{ffff}"))?,
        count(&schema, text().between("A", "_"))?,
        count(&schema, col("person").eq(text()))?,
    ];
    Ok((rows, plans))
}

fn means_and_variances() -> Result<(Rows, Vec<Plan>), TableError> {
    let schema = people()?;
    let rows = (0..30).map(|number: i64| {
        let text = if number % 2 == 0 { "a" } else { "b" };
        row(number / 4, number, number as f64 / 3.0, text)
    });
    let rows = rows.collect();
    let keys = Grouping::keys(&schema, "text", ["a", "b"])?;
    let mut plans = Vec::new();
    for parts in [Parts::Mean, Parts::Variance] {
        for groupings in [vec![], vec![keys.clone()]] {
            for bound in [Bound::Rows(1), Bound::Rows(3), Bound::Rows(100)] {
                let amount = Amount::of(schema.number(col("real"))?, -1, -3, 17)?;
                let groupings = groupings.clone();
                plans.push(Plan::new(&schema, None, (amount, parts), groupings, bound)?);
            }
        }
    }
    Ok((rows, plans))
}
