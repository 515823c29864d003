//! Expressions as text, which is read back as the same expression.

use std::fmt::{self, Display};

use super::Expr;
use super::words::is_plain;

/// How tightly the parts of a text hold together. A part that holds less tightly than its place needs
/// gets parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    /// Comparisons, `IN`, `BETWEEN`, `IS NULL`. They do not chain: `a = b = c` has two readings.
    Predicate,
    Sum,
    Product,
    Single,
}

impl Expr {
    fn level(&self) -> Level {
        match self {
            Self::And(parts) | Self::Or(parts) if parts.is_empty() => Level::Single,
            Self::And(parts) | Self::Or(parts) if parts.len() == 1 => {
                parts.first().map_or(Level::Single, Self::level)
            }
            Self::Or(_) => Level::Or,
            Self::And(_) => Level::And,
            Self::Not(one)
                if !matches!(**one, Self::In(..) | Self::Between(..) | Self::IsNull(_)) =>
            {
                Level::Not
            }
            Self::Not(_)
            | Self::Compare(..)
            | Self::In(..)
            | Self::Between(..)
            | Self::IsNull(_) => Level::Predicate,
            Self::Compute(operation, ..) => operation.level(),
            Self::Column(_) | Self::Literal(_) => Level::Single,
        }
    }
}

impl super::Operation {
    fn level(self) -> Level {
        match self {
            Self::Add | Self::Sub => Level::Sum,
            Self::Mul => Level::Product,
        }
    }
}

/// An expression where this level is needed.
struct At<'a>(Level, &'a Expr);

impl Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(needed, expr) = self;
        if expr.level() < *needed {
            write!(f, "({expr})")
        } else {
            expr.fmt(f)
        }
    }
}

/// A column as it is named in a question.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) {
            f.write_str(self.0)
        } else {
            write!(f, "\"{}\"", self.0.replace('"', "\"\""))
        }
    }
}

/// In the vocabulary of [`FromStr`](std::str::FromStr), with the fewest parentheses.
impl Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => Name(name).fmt(f),
            Self::Literal(value) => value.fmt(f),
            Self::Compare(comparison, one, other) => {
                let sign = comparison.sign();
                write!(
                    f,
                    "{} {sign} {}",
                    At(Level::Sum, one),
                    At(Level::Sum, other)
                )
            }
            Self::In(..) | Self::Between(..) | Self::IsNull(_) => predicate(f, self, ""),
            Self::Not(one) => match **one {
                Self::In(..) | Self::Between(..) | Self::IsNull(_) => predicate(f, one, "NOT "),
                _ => write!(f, "NOT {}", At(Level::Not, one)),
            },
            Self::And(parts) => joined(f, parts, " AND ", Level::Not, "TRUE"),
            Self::Or(parts) => joined(f, parts, " OR ", Level::And, "FALSE"),
            Self::Compute(operation, one, other) => {
                let (sign, level) = (operation.sign(), operation.level());
                // Equal levels are read from the left.
                let right = match level {
                    Level::Sum => Level::Product,
                    _ => Level::Single,
                };
                write!(f, "{} {sign} {}", At(level, one), At(right, other))
            }
        }
    }
}

/// What SQL negates by a word inside: `a IS NOT NULL`.
fn predicate(f: &mut fmt::Formatter<'_>, expr: &Expr, not: &str) -> fmt::Result {
    match expr {
        Expr::In(one, values) => {
            write!(f, "{} {not}IN (", At(Level::Sum, one))?;
            for (place, value) in values.iter().enumerate() {
                let comma = if place == 0 { "" } else { ", " };
                write!(f, "{comma}{value}")?;
            }
            f.write_str(")")
        }
        Expr::Between(one, low, high) => {
            write!(f, "{} {not}BETWEEN {low} AND {high}", At(Level::Sum, one))
        }
        Expr::IsNull(one) => write!(f, "{} IS {not}NULL", At(Level::Sum, one)),
        other => other.fmt(f),
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expr],
    word: &str,
    needed: Level,
    empty: &str,
) -> fmt::Result {
    match parts {
        [] => f.write_str(empty),
        [single] => single.fmt(f),
        [first, rest @ ..] => {
            At(needed, first).fmt(f)?;
            rest.iter()
                .try_for_each(|part| write!(f, "{word}{}", At(needed, part)))
        }
    }
}

/// The text of something, or its beginning: for messages.
pub(super) struct Shortened<'a, T>(pub(super) &'a T);

impl<T: Display> Display for Shortened<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 80;
        let text = self.0.to_string();
        let end = text.char_indices().nth(SHOWN).map(|(end, _)| end);
        match end.and_then(|end| text.get(..end)) {
            None => f.write_str(&text),
            Some(beginning) => write!(f, "{beginning}…"),
        }
    }
}
