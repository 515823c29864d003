//! The group of each row.

use arrow_buffer::BooleanBuffer;
use hashbrown::HashMap;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Grouping, Keys, Kind, Plan, Value};

use crate::evaluate::{Batch, real, text, whole};
use crate::vector::{Numbers, Vector};

/// The number of a group that no row has: the row does not count.
pub(crate) const NONE: u32 = u32::MAX;

/// The groupings of a plan, made ready for many lookups.
pub(crate) struct Groups<'p> {
    lookups: Vec<(usize, u32, Lookup<'p>)>,
}

/// How a value finds its group.
enum Lookup<'p> {
    /// Whole numbers that lie close together, from the first.
    Table(i64, Vec<u32>),
    Whole(HashMap<i64, u32>),
    Text(HashMap<&'p str, u32>),
    Bool {
        no: u32,
        yes: u32,
    },
    WholeEdges(Vec<i64>),
    RealEdges(Vec<f64>),
    TextEdges(Vec<&'p str>),
}

/// A table of keys may have this many places.
const MOST_PLACES: u64 = 1 << 16;

impl<'p> Groups<'p> {
    pub(crate) fn of(plan: &'p Plan) -> Result<Self, Unavailable> {
        let lookups = plan.groupings().iter().map(|grouping| {
            let (_, column) = plan
                .schema()
                .column(grouping.column())
                .map_err(|_| Unavailable)?;
            let groups = u32::try_from(grouping.len()).map_err(|_| Unavailable)?;
            Ok((
                grouping.place(),
                groups,
                Lookup::of(grouping, column.kind())?,
            ))
        });
        Ok(Self {
            lookups: lookups.collect::<Result<_, _>>()?,
        })
    }

    /// Whether there is one group, which has all rows.
    pub(crate) fn is_one(&self) -> bool {
        self.lookups.is_empty()
    }

    /// The group of each row, [`NONE`] for those that are not `selected` or have none.
    pub(crate) fn find(
        &self,
        batch: &Batch<'_>,
        selected: Option<&BooleanBuffer>,
        groups: &mut Vec<u32>,
    ) -> Result<(), Unavailable> {
        groups.clear();
        match selected {
            None => groups.resize(batch.rows, 0),
            Some(selected) => {
                groups.extend(selected.iter().map(|yes| if yes { 0 } else { NONE }));
            }
        }
        for (place, count, lookup) in &self.lookups {
            lookup.find(&batch.column(*place)?, *count, groups)?;
        }
        Ok(())
    }
}

impl<'p> Lookup<'p> {
    fn of(grouping: &'p Grouping, kind: Kind) -> Result<Self, Unavailable> {
        if kind == Kind::Bool {
            let group = |yes| {
                let group = grouping.group_of(&Value::Bool(yes));
                group
                    .and_then(|group| u32::try_from(group).ok())
                    .unwrap_or(NONE)
            };
            return Ok(Self::Bool {
                no: group(false),
                yes: group(true),
            });
        }
        Ok(match (grouping.groups(), kind) {
            (Keys::Values(keys), Kind::Text) => {
                let keys = keys.iter().zip(0..);
                let keys = keys.map(|(key, group)| Ok((text(key)?, group)));
                Self::Text(keys.collect::<Result<_, _>>()?)
            }
            (Keys::Values(keys), Kind::Whole | Kind::Date | Kind::Time) => {
                let keys = keys.iter().zip(0..);
                let keys = keys.map(|(key, group)| Ok((whole(key)?, group)));
                Self::of_whole_keys(keys.collect::<Result<_, _>>()?)
            }
            (Keys::Buckets(edges), Kind::Real) => {
                Self::RealEdges(edges.iter().map(real).collect::<Result<_, _>>()?)
            }
            (Keys::Buckets(edges), Kind::Text) => {
                Self::TextEdges(edges.iter().map(text).collect::<Result<_, _>>()?)
            }
            (Keys::Buckets(edges), _) => {
                Self::WholeEdges(edges.iter().map(whole).collect::<Result<_, _>>()?)
            }
            _ => return Err(Unavailable),
        })
    }

    fn of_whole_keys(keys: HashMap<i64, u32>) -> Self {
        let (first, last) = (keys.keys().min(), keys.keys().max());
        let (Some(first), Some(last)) = (first.copied(), last.copied()) else {
            return Self::Whole(keys);
        };
        if first.abs_diff(last) >= MOST_PLACES {
            return Self::Whole(keys);
        }
        let group = |number| keys.get(&number).copied().unwrap_or(NONE);
        Self::Table(first, (first..=last).map(group).collect())
    }

    fn find(&self, column: &Vector<'_>, count: u32, groups: &mut [u32]) -> Result<(), Unavailable> {
        match (self, column) {
            (Self::Table(first, table), Vector::Whole(numbers)) => {
                let group = |number: i64| {
                    // A number before the first wraps to a large place, where there is nothing.
                    let place = number.wrapping_sub(*first).cast_unsigned();
                    let place = usize::try_from(place).unwrap_or(usize::MAX);
                    table.get(place).copied().unwrap_or(NONE)
                };
                find_numbers(numbers, count, groups, group);
            }
            (Self::Whole(keys), Vector::Whole(numbers)) => {
                let group = |number| keys.get(&number).copied().unwrap_or(NONE);
                find_numbers(numbers, count, groups, group);
            }
            (Self::WholeEdges(edges), Vector::Whole(numbers)) => {
                find_numbers(numbers, count, groups, |number| {
                    bucket(edges, |edge| *edge <= number)
                });
            }
            (Self::RealEdges(edges), Vector::Real(numbers)) => {
                find_numbers(numbers, count, groups, |number| {
                    bucket(edges, |edge| *edge <= number)
                });
            }
            (Self::Text(keys), Vector::Text(texts)) => {
                let found = texts.map(groups.len(), |text| keys.get(text).copied().unwrap_or(NONE));
                let known = |row| texts.known.as_ref().is_none_or(|known| known.is_valid(row));
                combine(groups, count, found, known);
            }
            (Self::TextEdges(edges), Vector::Text(texts)) => {
                let found = texts.map(groups.len(), |text| bucket(edges, |edge| *edge <= text));
                let known = |row| texts.known.as_ref().is_none_or(|known| known.is_valid(row));
                combine(groups, count, found, known);
            }
            (Self::Bool { no, yes }, Vector::Truth(truth)) => {
                let found = truth
                    .yes
                    .iter()
                    .map(|is_yes| if is_yes { *yes } else { *no });
                let known = |row| truth.yes.value(row) || truth.no.value(row);
                combine(groups, count, found, known);
            }
            _ => return Err(Unavailable),
        }
        Ok(())
    }
}

fn find_numbers<T: Copy>(
    numbers: &Numbers<'_, T>,
    count: u32,
    groups: &mut [u32],
    group: impl Fn(T) -> u32,
) {
    let crate::vector::Values::Each(values) = &numbers.values else {
        return;
    };
    let found = values.iter().map(|number| group(*number));
    match &numbers.known {
        None => combine(groups, count, found, |_| true),
        Some(known) => combine(groups, count, found, |row| known.is_valid(row)),
    }
}

/// One more grouping, with `count` groups. A row without a group has none from then on.
fn combine(
    groups: &mut [u32],
    count: u32,
    found: impl IntoIterator<Item = u32>,
    known: impl Fn(usize) -> bool,
) {
    for (row, (group, found)) in groups.iter_mut().zip(found).enumerate() {
        *group = if *group == NONE || found == NONE || !known(row) {
            NONE
        } else {
            // A plan has at most 2^20 groups.
            *group * count + found
        };
    }
}

/// The bucket of a value that is at least the edges for which `is_at_most` holds.
fn bucket<T>(edges: &[T], is_at_most: impl Fn(&T) -> bool) -> u32 {
    let below = edges.partition_point(is_at_most);
    match below.checked_sub(1) {
        Some(bucket) if below < edges.len() => u32::try_from(bucket).unwrap_or(NONE),
        _ => NONE,
    }
}
