//! What is written is read as what it was.

use proptest::prelude::*;

use super::patients;
use super::strategies::{condition, expr, number, value};
use crate::table::{Expr, Value, col};

proptest! {
    #[test]
    fn an_expression_is_read_from_its_text(expr in expr()) {
        let text = expr.to_string();
        prop_assert_eq!(text.parse::<Expr>().map_err(|error| error.to_string()), Ok(expr), "{}", text);
    }

    #[test]
    fn an_expression_is_read_from_its_json(expr in expr()) {
        let json = serde_json::to_string(&expr).unwrap();
        let read: Expr = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&read, &expr, "{}", json);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), json);
    }

    #[test]
    fn a_value_is_read_from_its_json(value in value()) {
        let json = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
    }

    #[test]
    fn a_condition_is_read_from_its_text_and_from_its_json(expr in condition()) {
        let schema = patients();
        let condition = schema.condition(expr).unwrap();
        let json = serde_json::to_string(condition.expr()).unwrap();
        let from_json = serde_json::from_str::<Expr>(&json).unwrap();
        for read in [
            schema.condition(condition.to_string()).unwrap(),
            schema.condition(from_json).unwrap(),
            // The normal form is its own normal form.
            schema.condition(condition.expr().clone()).unwrap(),
        ] {
            prop_assert_eq!(&read, &condition);
            prop_assert_eq!(read.digest(), condition.digest());
        }
    }

    #[test]
    fn a_number_is_read_from_its_text(expr in number()) {
        let schema = patients();
        let number = schema.number(expr).unwrap();
        let read = schema.number(number.to_string()).unwrap();
        prop_assert_eq!(&read, &number);
        prop_assert_eq!(read.digest(), number.digest());
    }

    /// No pair of parentheses can be left out.
    #[test]
    fn there_are_no_needless_parentheses(expr in prop_oneof![expr(), number(), condition()]) {
        let text = expr.to_string();
        for (open, close) in pairs(&text) {
            let mut without = text.clone();
            without.replace_range(close..=close, " ");
            without.replace_range(open..=open, " ");
            prop_assert!(without.parse::<Expr>() != Ok(expr.clone()), "{}\n{}", text, without);
        }
    }
}

/// Where the parentheses are that group something, outside of quotes; those of a list are none.
fn pairs(text: &str) -> Vec<(usize, usize)> {
    let (mut pairs, mut open, mut quote) = (Vec::new(), Vec::new(), None);
    for (place, character) in text.char_indices() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(end), _) if end == character => quote = None,
            (None, '(') => open.push(place),
            (None, ')') => {
                let start = open.pop().unwrap();
                if !text[..start].ends_with(" IN ") {
                    pairs.push((start, place));
                }
            }
            _ => {}
        }
    }
    pairs
}

#[test]
fn equal_questions_have_one_normal_form() {
    let schema = patients();
    let asked = schema
        .condition("age >= 18 and (insured and weight > 2)")
        .unwrap();
    let nested = Expr::And(vec![
        Expr::Or(vec![Expr::And(vec![col("age").ge(18), col("insured")])]),
        Expr::And(vec![]),
        col("weight").gt(2.0),
    ]);
    let text = "age >= 18 AND insured AND weight > 2.0";
    assert_eq!(asked.to_string(), text);
    // The empty conjunction is true, and stays there: nothing else is rewritten.
    let with_true = schema.condition(nested).unwrap();
    assert_eq!(
        with_true.to_string(),
        "age >= 18 AND insured AND TRUE AND weight > 2.0"
    );
    assert_ne!(with_true.digest(), asked.digest());
    assert_eq!(schema.condition(text).unwrap(), asked);
    assert_eq!(
        schema.condition(Expr::Or(vec![])).unwrap().to_string(),
        "FALSE"
    );
    let either = schema.condition("insured or (age > 1 or (age > 2 or age > 3) and age > 4)");
    assert_eq!(
        either.unwrap().to_string(),
        "insured OR age > 1 OR (age > 2 OR age > 3) AND age > 4"
    );
    // Zero has one form.
    let zero = schema.condition("weight = 0.0").unwrap();
    assert_eq!(
        schema.condition("weight = -0.0").unwrap().digest(),
        zero.digest()
    );
    assert_eq!(
        schema.condition("weight = 0").unwrap().digest(),
        zero.digest()
    );
    assert_eq!(
        schema
            .condition(col("weight").between(-0.0, -0.0))
            .unwrap()
            .to_string(),
        "weight BETWEEN 0.0 AND 0.0"
    );
}

/// What a ledger has recorded is compared with what is asked later. The digests are those of `sha256sum`.
#[test]
fn digests_stay_as_they_are() {
    let schema = patients();
    let json = r#"{"person":"patient","columns":[{"name":"patient","type":"whole"},{"name":"age","type":"whole","range":[0,120]},{"name":"visits","type":"whole"},{"name":"weight","type":"real","range":[0.0,500.0]},{"name":"state","type":"text","categories":["CA","NY","it's"]},{"name":"note","type":"text"},{"name":"insured","type":"bool"},{"name":"born","type":"date"},{"name":"seen","type":"time"},{"name":"home state","type":"text"}]}"#;
    assert_eq!(serde_json::to_string(&schema).unwrap(), json);
    let digest = "024a2369848a6b5d6ed931f2dcd0eecdc48740a25adfe242a253f7d2f78cdedf";
    assert_eq!(schema.digest(), digest);
    let condition = schema.condition("age >= 18 AND state = 'CA'").unwrap();
    let json = r#"{"and":[{"ge":[{"column":"age"},18]},{"eq":[{"column":"state"},"CA"]}]}"#;
    assert_eq!(serde_json::to_string(condition.expr()).unwrap(), json);
    let digest = "97d21935ede8d932f41f423831ce3d9ef4b0bd6be2019bb0ff7929354a6a3a9b";
    assert_eq!(condition.digest(), digest);
}

#[test]
fn the_text_of_each_kind_of_expression() {
    for text in [
        "a",
        "-5 * -1.5e300",
        "a - b - c",
        "a - (b - c)",
        "(a + b) * c",
        "a * b + c",
        "a + b * c",
        "a * b * c",
        "a * (b * c)",
        // A dotless i, whose capital letter is I.
        "ın IN (1)",
        "a = b AND c OR d AND (e OR f)",
        "NOT (a OR b)",
        "NOT a = b",
        "(NOT a) = b",
        "NOT NOT a",
        "(a = b) = c",
        "(a = b) IS NULL",
        "a + 1 IS NOT NULL",
        "a NOT IN (1, -2.5, 'x', TRUE, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00.5')",
        "NOT a NOT BETWEEN 1 AND 2",
        "\"a b\" <> \"and\"",
        "date < DATE '0001-01-01'",
        "a < 9223372036854775807",
        "a > -9223372036854775808",
    ] {
        assert_eq!(text.parse::<Expr>().unwrap().to_string(), text);
    }
    // Any case, any spaces, another sign for one comparison.
    let expr: Expr = " not\tA!=b\n aNd c Is nOt nULL ".parse().unwrap();
    assert_eq!(expr.to_string(), "NOT A <> b AND c IS NOT NULL");
}
