//! What an analyst writes is never in the text.

use super::*;
use tables::Texts;

const TEXTS: Texts<Spark> = Texts {
    dialect: Spark,
    quote: '`',
    signs: b" `:,()*+-/<=>_.'\"",
    // The ends of 64 bits, and what is asked of times.
    quoted: &[
        "-9223372036854775808",
        "9223372036854775807",
        "UTC",
        "not in UTC",
    ],
    lists_are_parameters: false,
};

#[test]
fn nothing_that_an_analyst_writes_is_in_the_text() {
    TEXTS.have_nothing_that_an_analyst_writes();
}

#[test]
fn texts_of_random_plans_hold_only_what_they_may() {
    TEXTS.hold_only_what_they_may();
}

#[test]
fn any_name_stands_in_quotes_and_nothing_of_it_outside() {
    TEXTS.have_any_name_in_quotes_and_nothing_of_it_outside();
}

#[test]
fn names_are_quoted() {
    assert_eq!(Spark.quoted("a`; DROP TABLE `b"), "`a``; DROP TABLE ``b`");
}

#[test]
fn edges_are_found_by_halves() {
    assert_eq!(
        Spark.edges_below("x", ":p1_0, :p1_1"),
        "(CASE WHEN x IS NOT NULL THEN CASE WHEN x < :p1_1 THEN \
         CASE WHEN x < :p1_0 THEN 0 ELSE 1 END ELSE 2 END END)"
    );
}
