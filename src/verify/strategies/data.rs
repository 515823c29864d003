use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;

use crate::verify::Pair;

/// Datasets with a number of rows in this range.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn datasets<S: Strategy>(
    rows: S,
    size: impl Into<SizeRange>,
) -> impl Strategy<Value = Vec<S::Value>> {
    vec(rows, size)
}

/// Datasets, and the same with one row more, in either order: neighbours under
/// [`AddRemove`](crate::privacy::AddRemove). The size is that of the smaller one.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn neighbours<S>(
    rows: S,
    size: impl Into<SizeRange>,
) -> impl Strategy<Value = Pair<Vec<S::Value>>>
where
    S: Strategy + Clone,
    S::Value: Clone,
{
    let parts = (
        vec(rows.clone(), size),
        rows,
        any::<prop::sample::Index>(),
        any::<bool>(),
    );
    parts.prop_map(|(smaller, row, at, swap)| {
        let mut larger = smaller.clone();
        larger.insert(at.index(smaller.len() + 1), row);
        if swap {
            Pair::new(larger, smaller)
        } else {
            Pair::new(smaller, larger)
        }
    })
}

/// Datasets, and the same with one row replaced: neighbours under
/// [`Replace`](crate::privacy::Replace). Both have at least one row.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn replaced<S>(
    rows: S,
    size: impl Into<SizeRange>,
) -> impl Strategy<Value = Pair<Vec<S::Value>>>
where
    S: Strategy + Clone,
    S::Value: Clone,
{
    let parts = (
        vec(rows.clone(), size),
        rows.clone(),
        rows,
        any::<prop::sample::Index>(),
    );
    parts.prop_map(|(others, one, other, at)| {
        let with = |row: S::Value| {
            let mut data = others.clone();
            data.insert(at.index(others.len() + 1), row);
            data
        };
        Pair::new(with(one), with(other))
    })
}
