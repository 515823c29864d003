//! What a stranger may send.

use proptest::prelude::*;

use super::{patients, without_place};
use crate::table::{Expr, TableError, Value, col};

/// Words and signs of the vocabulary, of the rest of SQL, and of nothing.
const SOUP: &[&str] = &[
    "a",
    "b",
    "age",
    "\"a b\"",
    "\"\"",
    "\"and\"",
    "5",
    "-",
    "-5",
    "0.5",
    ".5",
    "5.",
    "1e5",
    "1e999",
    "1e",
    "0x1F",
    "99999999999999999999",
    "1_000",
    "5L",
    "'CA'",
    "''",
    "'it''s'",
    "DATE '2024-01-31'",
    "DATE",
    "TIMESTAMP",
    "timestamp '2024-01-31 12:00:00'",
    "DATE '2024-02-30'",
    "TRUE",
    "false",
    "NULL",
    "=",
    "<>",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "IN",
    "(",
    ")",
    "(1, 2)",
    "(",
    ")",
    ",",
    "BETWEEN",
    "1 AND 2",
    "AND",
    "and",
    "OR",
    "NOT",
    "IS",
    "IS NULL",
    "IS NOT NULL",
    "+",
    "*",
    "==",
    "&&",
    "||",
    "!",
    "/",
    "%",
    "^",
    "~",
    ";",
    "--",
    "/*",
    "*/",
    "#",
    "::",
    ":",
    "::int",
    ".",
    "[",
    "]",
    "{",
    "}",
    "?",
    "$1",
    "$$",
    "@",
    "\\",
    "`a`",
    "‘",
    "’",
    "“",
    "\u{0}",
    "\u{a0}",
    "\n",
    "\r",
    "\t",
    " ",
    "'",
    "\"",
    "N'x'",
    "x'1F'",
    "E'\\n'",
    "U&'x'",
    "B'1'",
    "q'[x]'",
    "count(*)",
    "abs(a)",
    "CAST(a AS int)",
    "CASE WHEN a THEN b END",
    "case",
    "EXISTS (SELECT 1)",
    "(SELECT age FROM t)",
    "SELECT",
    "UNION",
    "LIKE",
    "ILIKE",
    "SIMILAR TO",
    "ANY",
    "ALL",
    "INTERVAL '1' DAY",
    "CURRENT_DATE",
    "AT TIME ZONE 'UTC'",
    "COLLATE",
    "OVERLAPS",
    "IS DISTINCT FROM",
    "IS TRUE",
    "ARRAY[1]",
    "ROW(1)",
    "t.*",
    "*",
    "OVER ()",
    "WITH",
    "xml 'a'",
    "ın",
    "名",
    "é",
];

/// Everything that is printed outside of quotes.
fn is_in_the_vocabulary(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "IS",
        "NULL",
        "TRUE",
        "FALSE",
        "DATE",
        "TIMESTAMP",
    ];
    let mut quote = None;
    let outside = text.chars().map(|character| match (quote, character) {
        (None, '\'' | '"') => {
            quote = Some(character);
            ' '
        }
        (Some(end), _) => {
            if end == character {
                quote = None;
            }
            ' '
        }
        (None, _) => character,
    });
    let outside: String = outside.collect();
    let words = outside.split(|character: char| " ()=<>+-*,".contains(character));
    words.filter(|word| !word.is_empty()).all(|word| {
        let first = word.chars().next().unwrap();
        let is_name = first.is_alphabetic() || first == '_';
        let rest = word
            .chars()
            .all(|character| character.is_alphanumeric() || character == '_');
        // Numbers may have an exponent, whose sign was cut off.
        let is_number = word.ends_with('e') || word.parse::<f64>().is_ok();
        WORDS.contains(&word) || is_number || (is_name && rest)
    })
}

/// An error with a place in the text, or an expression whose text is read back.
fn check(text: &str) -> Result<bool, TestCaseError> {
    match text.parse::<Expr>() {
        Ok(expr) => {
            let printed = expr.to_string();
            prop_assert!(is_in_the_vocabulary(&printed), "{}", printed);
            prop_assert!(printed.parse::<Expr>().as_ref() == Ok(&expr), "{}", printed);
            Ok(true)
        }
        Err(TableError::Syntax { place, problem }) => {
            prop_assert!(
                (1..=text.chars().count() + 1).contains(&place),
                "{}: {}",
                place,
                problem
            );
            Ok(false)
        }
        Err(TableError::TooLong { .. }) => Ok(false),
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_soup_of_words_is_read_or_refused(
        words in prop::collection::vec((prop::sample::select(SOUP), prop::sample::select(vec!["", " ", " "])), 0..16)
    ) {
        let text: String = words.iter().flat_map(|(word, space)| [*word, *space]).collect();
        check(&text)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        check(&text)?;
        check(&String::from_utf8_lossy(&bytes))?;
        check(&bytes.iter().map(|byte| char::from(byte & 127)).collect::<String>())?;
    }
}

/// Of three words, these are read: with `x` for `a` or `5`, four each of `x = x`, `x AND x` and `x + x`, and two
/// each of `( x )`, `NOT NOT x`, `NOT x IS NULL`, `NOT x IN (1)` and `x NOT IN (1)`.
#[test]
fn exactly_the_grammar_is_read() {
    let words = [
        "a", "5", "=", "AND", "NOT", "(", ")", "IS NULL", "+", "IN (1)",
    ];
    let texts = words.iter().flat_map(|one| {
        words
            .iter()
            .flat_map(move |two| words.map(|three| format!("{one} {two} {three}")))
    });
    let read = texts.filter(|text| check(text).unwrap()).count();
    assert_eq!(read, 3 * 4 + 5 * 2);
}

/// A process has 8 MiB of stack, a thread 2 MiB, and one of a server may have less.
fn on_a_small_stack(question: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1024 * 1024);
    thread.spawn(question).unwrap().join().unwrap();
}

#[test]
fn deep_and_long_texts_are_refused() {
    on_a_small_stack(|| {
        let deep = TableError::TooLong {
            what: "levels",
            most: 32,
        };
        let many = TableError::TooLong {
            what: "columns, constants and operators",
            most: 1024,
        };
        let long = TableError::TooLong {
            what: "bytes of text",
            most: 16 * 1024,
        };
        let around = |open: &str, close: &str, times: usize| {
            format!("{}a{}", open.repeat(times), close.repeat(times))
        };
        for (text, expected) in [
            (around("(", ")", 100_000), &long),
            (around("NOT ", "", 100_000), &long),
            (around("(", ")", 8_000), &deep),
            (around("(", "", 16_000), &deep),
            (around("(", ")", 65), &deep),
            (around("NOT ", "", 4_000), &deep),
            (around("NOT(", ")", 3_000), &deep),
            (around("NOT ", "", 32), &deep),
            (around("", " = (b)", 1_025), &many),
            (around("", " + b", 32), &deep),
            (around("", " + b", 1_023), &deep),
            (around("", " + b", 1_024), &many),
            (around("", "+b", 8_000), &many),
            (around("", " AND b", 1_023), &many),
            (around("b OR (", ")", 64), &deep),
            (around("b + (", ")", 32), &deep),
            (format!("a IN ({}1)", "1,".repeat(8_000)), &many),
            (format!("a IN ({}1)", "1,".repeat(1_022)), &many),
        ] {
            let start: String = text.chars().take(20).collect();
            assert_eq!(text.parse::<Expr>().as_ref(), Err(expected), "{start}");
        }
        for text in [
            around("(", ")", 64),
            around("NOT ", "", 31),
            around("NOT (NOT ", ")", 15),
            around("", " + b", 31),
            around("b + (", ")", 31),
            around("", " AND b", 1_022),
            format!("a IN ({}1)", "1,".repeat(1_021)),
        ] {
            assert!(check(&text).unwrap(), "{text}");
        }
        for (text, times) in [
            ("case-", 3_000),
            ("a=", 8_000),
            ("a is null ", 1_600),
            ("(a,", 5_000),
            ("/*", 8_000),
        ] {
            let start = text;
            let text = text.repeat(times);
            let text = &text[..text.len().min(16 * 1024)];
            assert!(!check(text).unwrap(), "{start}");
        }
        let digits = "9".repeat(16_000);
        for text in [
            format!("a < {digits}"),
            format!("a < 0.{digits}e{digits}"),
            format!("a < {digits}.0"),
        ] {
            assert!(!check(&text).unwrap());
        }
        assert!(check(&format!("a < 0.{digits}")).unwrap());
    });
}

/// The deepest expressions that can be asked can be printed and read back.
#[test]
fn the_deepest_expressions_have_a_text() {
    on_a_small_stack(|| {
        let wraps: [fn(Expr) -> Expr; 7] = [
            |expr| !expr,
            Expr::is_null,
            |expr| expr.eq(true),
            |expr| Expr::from(true).eq(expr),
            |expr| expr & col("b"),
            |expr| col("b") | expr,
            |expr| Expr::from(1) - expr,
        ];
        for (one, two) in wraps.iter().flat_map(|one| wraps.map(|two| (one, two))) {
            for three in wraps {
                let expr = (0..10).fold(col("a"), |expr, _| three(two(one(expr))));
                assert_eq!(expr.to_string().parse::<Expr>().as_ref(), Ok(&expr));
                let json = serde_json::to_string(&expr).unwrap();
                assert_eq!(serde_json::from_str::<Expr>(&json).unwrap(), expr);
            }
        }
    });
}

#[test]
fn the_deepest_conditions_are_typed_and_evaluated() {
    on_a_small_stack(|| {
        let schema = patients();
        let wraps: [fn(Expr) -> Expr; 5] = [
            |expr| !expr,
            Expr::is_null,
            |expr| expr.is_in([true]),
            |expr| Expr::from(true).eq(expr),
            |expr| Expr::Or(vec![col("insured") & expr]).eq(false),
        ];
        for wrap in wraps {
            let deepest = (0..31)
                .scan(col("insured"), |expr, _| {
                    *expr = wrap(expr.clone());
                    Some(expr.clone())
                })
                .filter(|expr| expr.clone().bounded().is_ok())
                .last()
                .unwrap();
            let condition = schema.condition(deepest).unwrap();
            assert_eq!(
                schema.condition(condition.to_string()).as_ref(),
                Ok(&condition)
            );
            assert!(condition.holds(&vec![Some(true.into()); 10]).is_some());
        }
    });
}

#[test]
fn json_is_bounded_and_strict() {
    on_a_small_stack(|| {
        let read =
            |json: &str| serde_json::from_str::<Expr>(json).map_err(|error| without_place(&error));
        let around = |open: &str, close: &str, times: usize| {
            format!("{}1{}", open.repeat(times), close.repeat(times))
        };
        for (json, expected) in [
            (around(r#"{"not":"#, "}", 32), "at most 32 levels are allowed".to_owned()),
            (around(r#"{"and":["#, "]}", 10_000), "at most 32 levels are allowed".to_owned()),
            (
                format!("{{\"or\":[{}1]}}", "1,".repeat(100_000)),
                "at most 1024 columns, constants and operators are allowed".to_owned(),
            ),
            (
                format!(r#"{{"in":[{{"column":"a"}},[{}1]]}}"#, "1,".repeat(1_022)),
                "at most 1024 columns, constants and operators are allowed".to_owned(),
            ),
            (r#"{"column":"a","date":"2024-01-31"}"#.to_owned(), r#"one object has the keys "column" and "date": it may have one"#.to_owned()),
            (r#"{"eq":[1]}"#.to_owned(), "a list has 1 parts, and 2 are needed here".to_owned()),
            (r#"{"between":[1,{"column":"a"},3]}"#.to_owned(), "a stands where a constant is needed".to_owned()),
            (r#"{"date":"2024-02-30"}"#.to_owned(), r#"invalid value: string "2024-02-30", expected a date: YYYY-MM-DD"#.to_owned()),
            (r#"{"like":[1,2]}"#.to_owned(), "unknown field `like`, expected one of `column`, `date`, `time`, `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `in`, `between`, `is_null`, `and`, `or`, `not`, `add`, `sub`, `mul`".to_owned()),
            ("null".to_owned(), r#"invalid type: null, expected a constant, or an object with one key such as {"column": "age"}"#.to_owned()),
            ("{}".to_owned(), r#"invalid length 0, expected a constant, or an object with one key such as {"column": "age"}"#.to_owned()),
            ("9223372036854775808".to_owned(), "9223372036854775808 is larger than a whole number of 64 bits".to_owned()),
            (r#"{"in":[1,[2],3]}"#.to_owned(), "invalid length 3, expected an expression and a list of constants".to_owned()),
        ] {
            assert_eq!(read(&json), Err(expected));
        }
        assert!(read(&around(r#"{"not":"#, "}", 31)).is_ok());
        assert!(read(&format!("{{\"or\":[{}1]}}", "1,".repeat(1_022))).is_ok());
        // Another format may have no limit of its own on its depth.
        let nested = (0..100).fold(
            serde_json::json!(true),
            |json, _| serde_json::json!({ "not": json }),
        );
        let error = serde_json::from_value::<Expr>(nested).unwrap_err();
        assert_eq!(error.to_string(), "at most 32 levels are allowed");
        let error = serde_json::to_string(&Value::Real(f64::NAN)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a number that is not finite is no constant"
        );
    });
}
