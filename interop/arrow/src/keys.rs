//! Keys that nobody listed, counted.

use std::marker::PhantomData;

use hashbrown::HashMap;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Condition, Kind, Value};

use crate::evaluate::Batch;
use crate::people::{Part, Pass, by_person};
use crate::person::{Heap, Key};
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
    let pass = Rows::<V> {
        condition,
        place,
        keys: PhantomData,
    };
    by_person(&pass, scan, most_bytes, |keys| counted.extend(keys))?;
    Ok(in_order(counted))
}

struct Rows<'a, V: ?Sized> {
    condition: Option<&'a Condition>,
    place: usize,
    keys: PhantomData<fn(&V)>,
}

impl<V: Key + ?Sized> Pass for Rows<'_, V> {
    type Key = V;
    type Group = ();
    type Kept = u64;
    type Store = ();
    type Update = ();
    type Scratch = ();
    type Total = Vec<(V::Owned, u64)>;

    fn read(
        &self,
        batch: &Batch<'_>,
        (): &mut (),
        mut row: impl FnMut(&V, (), ()),
    ) -> Result<(), Unavailable> {
        each_key::<V>(batch, self.condition, self.place, |_, key| row(key, (), ()))
    }

    fn start(&self, (): &mut ()) -> u64 {
        0
    }

    fn add(&self, (): &mut (), count: &mut u64, (): ()) {
        *count += 1;
    }

    fn move_to(&self, (): &mut (), (): &(), count: u64) -> u64 {
        count
    }

    fn total(&self) -> Self::Total {
        Vec::new()
    }

    fn finish(&self, counted: &mut Self::Total, keys: Part<Self>) {
        let keys = keys.table.into_iter();
        counted.extend(keys.map(|entry| (entry.person, entry.kept)));
    }
}

fn of_people<Q: Key + ?Sized, V: Key + ?Sized>(
    scan: &Scan<'_>,
    person: usize,
    (condition, place, most_bytes): Asked<'_>,
) -> Result<Vec<(Value, u64)>, Unavailable>
where
    V::Owned: Into<Value> + Clone + std::hash::Hash,
    Option<V::Owned>: Heap,
{
    let mut all: HashMap<V::Owned, u64> = HashMap::new();
    let pass = People::<Q, V> {
        rows: Rows {
            condition,
            place,
            keys: PhantomData,
        },
        person,
        persons: PhantomData,
    };
    by_person(&pass, scan, most_bytes, |counted| {
        for (key, count) in counted {
            *all.entry(key).or_default() += count;
        }
    })?;
    Ok(in_order(all))
}

struct People<'a, Q: ?Sized, V: ?Sized> {
    rows: Rows<'a, V>,
    person: usize,
    persons: PhantomData<fn(&Q)>,
}

impl<Q: Key + ?Sized, V: Key + ?Sized> Pass for People<'_, Q, V>
where
    V::Owned: Clone + std::hash::Hash,
    Option<V::Owned>: Heap,
{
    type Key = Q;
    type Group = ();
    type Kept = Option<V::Owned>;
    type Store = ();
    type Update = Option<V::Owned>;
    type Scratch = ();
    type Total = HashMap<V::Owned, u64>;

    fn read(
        &self,
        batch: &Batch<'_>,
        (): &mut (),
        mut row: impl FnMut(&Q, (), Option<V::Owned>),
    ) -> Result<(), Unavailable> {
        let mut keys: Vec<Option<V::Owned>> = vec![None; batch.rows];
        let Rows {
            condition, place, ..
        } = self.rows;
        each_key::<V>(batch, condition, place, |number, key| {
            if let Some(slot) = keys.get_mut(number) {
                *slot = Some(key.to_owned());
            }
        })?;
        Q::each(&batch.column(self.person)?, |number, person| {
            if let Some(key) = keys.get_mut(number).and_then(Option::take) {
                row(person, (), Some(key));
            }
        })
    }

    fn start(&self, (): &mut ()) -> Option<V::Owned> {
        None
    }

    fn add(&self, (): &mut (), least: &mut Option<V::Owned>, key: Option<V::Owned>) {
        *least = match (least.take(), key) {
            (Some(least), Some(key)) => Some(least.min(key)),
            (least, key) => least.or(key),
        };
    }

    fn move_to(&self, (): &mut (), (): &(), least: Option<V::Owned>) -> Option<V::Owned> {
        least
    }

    fn total(&self) -> Self::Total {
        HashMap::new()
    }

    fn finish(&self, counted: &mut Self::Total, people: Part<Self>) {
        let people = people.table.into_iter();
        for key in people.filter_map(|entry| entry.kept) {
            *counted.entry(key).or_default() += 1;
        }
    }
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
