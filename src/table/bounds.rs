//! How large a question may be.
//!
//! Whoever asks is not trusted. What recurses over an expression does so after it was found to be
//! shallow, and what reads one stops where it would become too deep.

use super::{Expr, TableError};

/// The longest text of a question, in bytes.
pub(super) const LONGEST_TEXT: usize = 16 * 1024;
/// The deepest expression: a column or a literal has one level.
pub(super) const DEEPEST: usize = 32;
/// The most parts: nodes, and literals in lists.
pub(super) const MOST_PARTS: usize = 1024;

pub(super) const TEXT_TOO_LONG: TableError = too_long("bytes of text", LONGEST_TEXT);
pub(super) const TOO_DEEP: TableError = too_long("levels", DEEPEST);
pub(super) const TOO_MANY_PARTS: TableError =
    too_long("columns, constants and operators", MOST_PARTS);

const fn too_long(what: &'static str, most: usize) -> TableError {
    TableError::TooLong { what, most }
}

impl Expr {
    /// The same, if it is small enough to recurse over.
    pub(super) fn bounded(self) -> Result<Self, TableError> {
        match self.check_bounds() {
            Ok(()) => Ok(self),
            Err(error) => {
                self.dismantle();
                Err(error)
            }
        }
    }

    fn check_bounds(&self) -> Result<(), TableError> {
        let mut parts = 0;
        let mut open = vec![(self, 1)];
        while let Some((expr, level)) = open.pop() {
            if level > DEEPEST {
                return Err(TOO_DEEP);
            }
            parts += 1 + match expr {
                Self::In(_, values) => values.len(),
                Self::Between(..) => 2,
                _ => 0,
            };
            open.extend(expr.children().map(|child| (child, level + 1)));
            if parts + open.len() > MOST_PARTS {
                return Err(TOO_MANY_PARTS);
            }
        }
        Ok(())
    }

    /// The expressions that it is made of directly.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        let (boxed, list): ([Option<&Self>; 2], &[Self]) = match self {
            Self::Column(_) | Self::Literal(_) => ([None, None], &[]),
            Self::Compare(_, one, other) | Self::Compute(_, one, other) => {
                ([Some(one), Some(other)], &[])
            }
            Self::In(one, _) | Self::Between(one, ..) | Self::IsNull(one) | Self::Not(one) => {
                ([Some(one), None], &[])
            }
            Self::And(parts) | Self::Or(parts) => ([None, None], parts),
        };
        boxed.into_iter().flatten().chain(list)
    }

    /// Drops it without recursion, which could overflow the stack.
    fn dismantle(self) {
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            match expr {
                Self::Column(_) | Self::Literal(_) => {}
                Self::Compare(_, one, other) | Self::Compute(_, one, other) => {
                    open.extend([*one, *other]);
                }
                Self::In(one, _) | Self::Between(one, ..) | Self::IsNull(one) | Self::Not(one) => {
                    open.push(*one);
                }
                Self::And(parts) | Self::Or(parts) => open.extend(parts),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::col;

    fn nested(levels: usize) -> Expr {
        (1..levels).fold(col("a"), |expr, _| !expr)
    }

    #[test]
    fn the_deepest_expression_has_32_levels() {
        assert_eq!(nested(32).bounded(), Ok(nested(32)));
        assert_eq!(nested(33).bounded(), Err(TOO_DEEP));
        // Deep enough to overflow the stack if it were dropped as usual.
        assert_eq!(nested(1_000_000).bounded(), Err(TOO_DEEP));
    }

    #[test]
    fn the_largest_expression_has_1024_parts() {
        // The conjunction and its columns; the comparison, its column and its values.
        let columns = |many: usize| Expr::And(vec![col("a"); many]);
        assert_eq!(columns(1023).bounded(), Ok(columns(1023)));
        assert_eq!(columns(1024).bounded(), Err(TOO_MANY_PARTS));
        let values = |many: usize| col("a").is_in(vec![1; many]);
        assert_eq!(values(1022).bounded(), Ok(values(1022)));
        assert_eq!(values(1023).bounded(), Err(TOO_MANY_PARTS));
        let between = |many: usize| Expr::Or(vec![col("a").between(1, 2); many]);
        assert_eq!(between(255).bounded(), Ok(between(255)));
        assert_eq!(between(256).bounded(), Err(TOO_MANY_PARTS));
    }
}
