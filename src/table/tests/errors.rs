//! What a new user gets wrong, and what they are told.

use super::patients;
use crate::table::{Column, Expr, Grouping, IntoExpr, Kind, Schema, TableError, Value, col};

const VOCABULARY: &str = "a question has columns, constants, = <> < <= > >=, IN, BETWEEN, IS NULL, AND, OR, \
    NOT, + - * and parentheses";

fn message(question: impl IntoExpr) -> String {
    let schema = patients();
    schema.condition(question).unwrap_err().to_string()
}

#[test]
fn names_and_types_are_explained() {
    for (text, expected) in [
        (
            "agee >= 18",
            r#"there is no column "agee": the columns are patient, age, visits, weight, state, note, insured, born and 2 more"#,
        ),
        (
            "Age >= 18",
            r#"there is no column "Age": the columns are patient, age, visits, weight, state, note, insured, born and 2 more"#,
        ),
        (
            r#"state = "CA""#,
            r#"there is no column "CA": the columns are patient, age, visits, weight, state, note, insured, born and 2 more; if a text is meant, write 'CA'"#,
        ),
        (
            // Only the column that stands there itself may be meant as a text.
            "note = (CA > 1)",
            r#"there is no column "CA": the columns are patient, age, visits, weight, state, note, insured, born and 2 more"#,
        ),
        (
            "age = 'old'",
            "'old' in `age = 'old'` is a text, and a whole number is needed here",
        ),
        (
            "'old' = age",
            "'old' in `'old' = age` is a text, and a whole number is needed here",
        ),
        (
            "age < weight",
            "weight in `age < weight` is a real number, and a whole number is needed here",
        ),
        (
            "age > 17.5",
            "17.5 in `age > 17.5` is a real number, and a whole number is needed here",
        ),
        (
            "age IN (1, 'a')",
            "'a' in `age IN (1, 'a')` is a text, and a whole number is needed here",
        ),
        (
            "state = 5",
            "5 in `state = 5` is a whole number, and a text is needed here",
        ),
        (
            "state = 'TX'",
            r#"column "state" has no category 'TX': there are 'CA', 'NY', 'it''s'"#,
        ),
        (
            "'TX' <> state",
            r#"column "state" has no category 'TX': there are 'CA', 'NY', 'it''s'"#,
        ),
        (
            "state NOT IN ('CA', 'TX')",
            r#"column "state" has no category 'TX': there are 'CA', 'NY', 'it''s'"#,
        ),
        (
            "age",
            "age is a whole number, and a yes-or-no value is needed here",
        ),
        (
            "age AND insured",
            "age beside AND is a whole number, and a yes-or-no value is needed here",
        ),
        (
            "insured OR 1",
            "1 beside OR is a whole number, and a yes-or-no value is needed here",
        ),
        (
            "NOT age",
            "age beside NOT is a whole number, and a yes-or-no value is needed here",
        ),
        (
            "weight + 1 > 2",
            "weight beside + is a real number, and a whole number is needed here",
        ),
        (
            "born - 1 > 2",
            "born beside - is a date, and a whole number is needed here",
        ),
        (
            "insured < TRUE",
            "insured < TRUE asks for an order, and yes and no have none: use = or <>, or AND, OR, NOT",
        ),
        (
            "insured BETWEEN FALSE AND TRUE",
            "insured BETWEEN FALSE AND TRUE asks for an order, and yes and no have none: use = or <>, or AND, OR, NOT",
        ),
        (
            "born > '31.1.2024'",
            "'31.1.2024' in `born > '31.1.2024'` is not a date: write 'YYYY-MM-DD'",
        ),
        (
            "seen > '2024-01-31'",
            "'2024-01-31' in `seen > '2024-01-31'` is not a time: write 'YYYY-MM-DD hh:mm:ss' in UTC",
        ),
        (
            "seen > DATE '2024-01-31'",
            "DATE '2024-01-31' in `seen > DATE '2024-01-31'` is a date, and a time is needed here",
        ),
        (
            "weight > 9007199254740993",
            "9007199254740993 in `weight > 9007199254740993` is not exactly a real number of 64 bits: write one that is",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    // What is ordered need not be a category.
    assert!(
        patients()
            .condition("state < 'M' AND state BETWEEN 'A' AND 'Z'")
            .is_ok()
    );
    assert!(patients().condition("weight > 9007199254740992").is_ok());
}

#[test]
fn signs_and_words_are_explained() {
    for (text, place, problem) in [
        ("age == 18", 5, "`==` is not known here: write `=`"),
        (
            "age > 1 && insured",
            9,
            "`&&` is not known here: write `AND`",
        ),
        (
            "age > 1 || insured",
            9,
            "`||` is not known here: write `OR`",
        ),
        ("!insured", 1, "`!` is not known here: write `NOT`"),
        (
            "state = ‘CA’",
            9,
            "`‘` is not known here: write 'text' for a text, and \"name\" for a column",
        ),
        (
            "t.age > 1",
            2,
            "`.` is not known here: a column has no table before it",
        ),
        (
            "age > 1 -- adults",
            9,
            "there are no comments here: leave it out",
        ),
        (
            "age /* in years */ > 1",
            5,
            "there are no comments here: leave it out",
        ),
        (
            "age > 1; DROP TABLE t",
            8,
            &*format!("`;` is not known here: {VOCABULARY}"),
        ),
        (
            "age / 2 > 1",
            5,
            &*format!("`/` is not known here: {VOCABULARY}"),
        ),
        (
            "abs(age) > 1",
            1,
            &*format!("there is no function `abs`: {VOCABULARY}"),
        ),
        (
            "note LIKE 'a%'",
            6,
            &*format!("`LIKE` cannot stand before a text: {VOCABULARY}"),
        ),
        (
            "\"date\" '2024-01-31'",
            8,
            &*format!("`'2024-01-31'` cannot stand here: {VOCABULARY}"),
        ),
        (
            "CASE WHEN insured THEN 1 END",
            6,
            &*format!("`WHEN` cannot stand here: {VOCABULARY}"),
        ),
        (
            "age >",
            6,
            &*format!("something is missing here: {VOCABULARY}"),
        ),
        ("", 1, &*format!("something is missing here: {VOCABULARY}")),
        (
            "age > 1)",
            8,
            &*format!("`)` cannot stand here: {VOCABULARY}"),
        ),
        ("(age > 1", 9, "`)` is missing here"),
        ("age IN 1", 8, "`(` is missing here"),
        (
            "age IN ()",
            9,
            &*format!("`)` cannot stand here: {VOCABULARY}"),
        ),
        (
            "age IN (SELECT 1)",
            9,
            "a constant is needed here, and `SELECT` is a column",
        ),
        ("age BETWEEN 1, 2", 14, "`AND` is missing here"),
        (
            "age BETWEEN visits AND 2",
            13,
            "a constant is needed here, and `visits` is a column",
        ),
        (
            "age = NULL",
            7,
            "NULL is not a constant: write `IS NULL` or `IS NOT NULL`",
        ),
        (
            "1 < age < 5",
            9,
            "`<` cannot follow a comparison: write AND or parentheses",
        ),
        (
            "age = 1 IS NULL",
            9,
            "`IS` cannot follow a comparison: write AND or parentheses",
        ),
        (
            "-age < 1",
            1,
            "a minus sign can stand before a number only: write `0 - x`",
        ),
        (
            "age\n  >\n 99999999999999999999",
            10,
            "99999999999999999999 has more than 64 bits: write 99999999999999999999.0 for a real number",
        ),
        (
            "weight < 1e999",
            10,
            "1e999 is not a real number of 64 bits",
        ),
        (
            "born < DATE '2024-02-30'",
            8,
            "'2024-02-30' is no such day or time: write DATE 'YYYY-MM-DD'",
        ),
        (
            "state = 'CA",
            9,
            "a quote or a comment that begins here has no end",
        ),
        (
            "état = 'CA",
            8,
            "a quote or a comment that begins here has no end",
        ),
    ] {
        let problem = problem.to_owned();
        assert_eq!(
            text.parse::<Expr>(),
            Err(TableError::Syntax { place, problem }),
            "{text}"
        );
    }
}

#[test]
fn what_is_no_number_has_no_sum() {
    let message = |question: &str| match patients().number(question) {
        Ok(number) => format!("{number} is a number"),
        Err(error) => error.to_string(),
    };
    for (question, expected) in [
        ("age", "age is a number"),
        ("weight", "weight is a number"),
        ("state", "state is a text, and a number is needed here"),
        (
            "age > 3",
            "age > 3 is a yes-or-no value, and a number is needed here",
        ),
        (
            "0.5",
            "0.5 is a real number, and a whole number is needed here",
        ),
    ] {
        assert_eq!(message(question), expected);
    }
}

#[test]
fn a_key_of_another_type_is_named() {
    let grouping = Grouping::buckets(&patients(), "age", ["young", "old"]);
    assert_eq!(
        grouping.unwrap_err().to_string(),
        r#"'young' among the groups of column "age" is a text, and a whole number is needed here"#
    );
}

#[test]
fn constants_that_are_no_values_are_explained() {
    for (expr, expected) in [
        (
            col("weight").lt(f64::NAN),
            "NaN is not a finite number: write one that is",
        ),
        (
            col("age").is_in(Vec::<i64>::new()),
            "age IN () has no values: give one at least",
        ),
        (
            col("note").eq("a\0"),
            "'a\0' contains the character U+0000: leave it out",
        ),
        (
            col("weight").is_in([f64::NEG_INFINITY]),
            "-inf in `weight IN (-inf)` is not a finite number: write one that is",
        ),
        (
            col("born").between(Value::Date(i32::MAX), "2024-01-31"),
            "DATE '5881580-07-11' in `born BETWEEN DATE '5881580-07-11' AND '2024-01-31'` is not in the years 1 to 9999",
        ),
    ] {
        assert_eq!(message(expr), expected);
    }
}

#[test]
fn a_question_has_a_text_that_can_be_read() {
    // Each part is small, and the text of all of them is too long.
    let long = "x".repeat(16 * 1024);
    let error = TableError::TooLong {
        what: "bytes of text",
        most: 16 * 1024,
    };
    assert_eq!(
        patients().condition(col("note").eq(long)),
        Err(error.clone())
    );
    assert_eq!(" ".repeat(16 * 1024 + 1).parse::<Expr>(), Err(error));
}

#[test]
fn a_long_list_is_shortened() {
    let names: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let column = Column::categories("n", names.iter().map(String::as_str));
    let schema = Schema::of_rows([column, Column::new("m", Kind::Text)]).unwrap();
    let error = schema.condition("n = 'x'").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"column "n" has no category 'x': there are '0', '1', '2', '3', '4', '5', '6', '7' and 992 more"#
    );
    let list = names
        .iter()
        .map(|name| format!("'{name}'"))
        .collect::<Vec<_>>()
        .join(", ");
    let error = schema.condition(format!("m IN ({list}, 5)")).unwrap_err();
    let shown: String = format!("m IN ({list}").chars().take(80).collect();
    assert_eq!(
        error.to_string(),
        format!("5 in `{shown}…` is a whole number, and a text is needed here")
    );
}
