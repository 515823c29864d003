//! Keys that nobody listed, counted.

use hashbrown::HashMap;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Condition, Kind, Value};

use crate::evaluate::Batch;
use crate::people::{Entry, Kept, Key, by_person};
use crate::scan::Scan;

/// The number of people with each key, by key. Each person has one: the least of their rows.
pub(crate) fn tally_keys(
    scan: &Scan<'_>,
    condition: Option<&Condition>,
    place: usize,
    most_bytes: usize,
) -> Result<Vec<(Value, u64)>, Unavailable> {
    let columns = scan.schema.columns();
    let kind = |place: usize| columns.get(place).map(queryables::table::Column::kind);
    let person = scan.schema.person_column();
    let asked = (condition, place, most_bytes);
    match (person, person.and_then(kind), kind(place)) {
        (None, _, Some(Kind::Whole)) => of_rows::<i64>(scan, asked),
        (None, _, Some(Kind::Text)) => of_rows::<str>(scan, asked),
        (Some(person), Some(Kind::Whole), Some(Kind::Whole)) => {
            of_people::<i64, i64>(scan, person, asked)
        }
        (Some(person), Some(Kind::Whole), Some(Kind::Text)) => {
            of_people::<i64, str>(scan, person, asked)
        }
        (Some(person), Some(Kind::Text), Some(Kind::Whole)) => {
            of_people::<str, i64>(scan, person, asked)
        }
        (Some(person), Some(Kind::Text), Some(Kind::Text)) => {
            of_people::<str, str>(scan, person, asked)
        }
        _ => Err(Unavailable),
    }
}

type Asked<'a> = (Option<&'a Condition>, usize, usize);

/// Each row is a person: the keys take the place of people, and each is counted.
fn of_rows<V: Key + ?Sized>(
    scan: &Scan<'_>,
    (condition, place, most_bytes): Asked<'_>,
) -> Result<Vec<(Value, u64)>, Unavailable>
where
    V::Owned: Into<Value>,
{
    let mut counted = Vec::new();
    by_person::<V, (), u64, _>(
        scan,
        most_bytes,
        |keys, batch| {
            each_key::<V>(batch, condition, place, |_, key| {
                keys.add(key, (), u64::default, |count| *count += 1);
            })
        },
        |count, other| *count += other,
        |entries| entries,
        |entries| counted.extend(entries.into_iter().map(|entry| (entry.person, entry.kept))),
    )?;
    Ok(in_order(counted))
}

fn of_people<Q: Key + ?Sized, V: Key + ?Sized>(
    scan: &Scan<'_>,
    person: usize,
    (condition, place, most_bytes): Asked<'_>,
) -> Result<Vec<(Value, u64)>, Unavailable>
where
    V::Owned: Into<Value> + Clone + std::hash::Hash,
    Option<V::Owned>: Kept,
{
    let mut all: HashMap<V::Owned, u64> = HashMap::new();
    by_person::<Q, (), Option<V::Owned>, _>(
        scan,
        most_bytes,
        |people, batch| {
            let rows = batch.rows;
            let mut keys: Vec<Option<V::Owned>> = vec![None; rows];
            each_key::<V>(batch, condition, place, |row, key| {
                if let Some(slot) = keys.get_mut(row) {
                    *slot = Some(key.to_owned());
                }
            })?;
            Q::each(&batch.column(person)?, |row, person| {
                if let Some(key) = keys.get_mut(row).and_then(Option::take) {
                    people.add(person, (), || None, |least| keep_least(least, Some(key)));
                }
            })
        },
        keep_least,
        |entries: Vec<Entry<_, (), Option<V::Owned>>>| {
            let mut counted: HashMap<V::Owned, u64> = HashMap::new();
            for key in entries.into_iter().filter_map(|entry| entry.kept) {
                *counted.entry(key).or_default() += 1;
            }
            counted
        },
        |counted| {
            for (key, count) in counted {
                *all.entry(key).or_default() += count;
            }
        },
    )?;
    Ok(in_order(all))
}

fn keep_least<T: Ord>(least: &mut Option<T>, other: Option<T>) {
    *least = match (least.take(), other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}

/// Calls with the key of each row that satisfies the condition and has one.
fn each_key<V: Key + ?Sized>(
    batch: &Batch<'_>,
    condition: Option<&Condition>,
    place: usize,
    mut each: impl FnMut(usize, &V),
) -> Result<(), Unavailable> {
    let truth = condition.map(|condition| batch.truth(condition.expr()));
    let selected = truth.transpose()?.map(|truth| truth.yes);
    V::each(&batch.column(place)?, |row, key| {
        if selected.as_ref().is_none_or(|selected| selected.value(row)) {
            each(row, key);
        }
    })
}

fn in_order<K: Ord + Into<Value>>(
    counted: impl IntoIterator<Item = (K, u64)>,
) -> Vec<(Value, u64)> {
    let mut counted: Vec<(K, u64)> = counted.into_iter().collect();
    counted.sort_unstable();
    counted
        .into_iter()
        .map(|(key, count)| (key.into(), count))
        .collect()
}
