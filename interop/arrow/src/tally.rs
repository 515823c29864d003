//! Plans, tallied.

use std::marker::PhantomData;

use queryables::mechanisms::query::Unavailable;
use queryables::table::{Bound, Kind, Parts, Plan};

use crate::amounts::amounts;
use crate::evaluate::Batch;
use crate::groups::{Groups, NONE};
use crate::people::{Part, Pass, by_person};
use crate::person::{Entry, Group, Heap, Key, Store};
use crate::scan::Scan;

/// The totals of a plan where each row is a person: nothing is kept but the totals.
pub(crate) fn of_rows(plan: &Plan, scan: &Scan<'_>) -> Result<Vec<i128>, Unavailable> {
    let groups = Groups::of(plan)?;
    let is_plain = groups.is_one() && plan.bound() == Bound::Row && plan.parts() == Parts::Value;
    let start = || (vec![0; plan.totals()], Rows::default());
    let totals = scan.run(start, |(totals, rows), batch| {
        if is_plain {
            add(totals, 0, &[plain(plan, batch, &mut rows.amounts)?], 1);
            return Ok(());
        }
        rows.fill(plan, &groups, batch)?;
        if plan.bound() == Bound::Row && plan.parts() == Parts::Value {
            // Nothing but a sum.
            for (group, amount) in rows.groups.iter().zip(&rows.amounts) {
                if let Some(total) = totals.get_mut(*group as usize) {
                    *total += i128::from(*amount);
                }
            }
            return Ok(());
        }
        for (group, amount) in rows.groups.iter().zip(&rows.amounts) {
            if *group != NONE {
                let mut numbers = plan.numbers(*amount);
                let numbers = numbers.get_mut(..plan.parts().len()).unwrap_or_default();
                plan.bound().apply(numbers, 1);
                add(totals, *group, numbers, plan.parts().len());
            }
        }
        Ok(())
    })?;
    Ok(sum(plan, totals.into_iter().map(|(totals, _)| totals)))
}

/// The total of the plainest plan: one group, no bound, one number a row.
fn plain(plan: &Plan, batch: &Batch<'_>, buffer: &mut Vec<i64>) -> Result<i128, Unavailable> {
    let truth = plan
        .condition()
        .map(|condition| batch.truth(condition.expr()));
    let selected = truth.transpose()?.map(|truth| truth.yes);
    if plan.amount().number().is_none() {
        let counted = selected.map_or(batch.rows, |selected| selected.count_set_bits());
        return Ok(i128::from(plan.amount().range().0) * counted as i128);
    }
    amounts(plan.amount(), batch, buffer)?;
    if let Some(selected) = &selected {
        for (amount, yes) in buffer.iter_mut().zip(selected) {
            *amount *= i64::from(yes);
        }
    }
    // 2^12 amounts of at most 2^50 fit into 64 bits.
    let blocks = buffer.chunks(1 << 12);
    Ok(blocks
        .map(|amounts| i128::from(amounts.iter().sum::<i64>()))
        .sum())
}

/// The totals of a plan where a person, whom this column names, may have several rows.
pub(crate) fn of_people(
    plan: &Plan,
    scan: &Scan<'_>,
    person: usize,
    most_bytes: usize,
) -> Result<Vec<i128>, Unavailable> {
    let column = scan.schema.columns().get(person).ok_or(Unavailable)?;
    match column.kind() {
        Kind::Text => of_people_named::<str>(plan, scan, person, most_bytes),
        _ => of_people_named::<i64>(plan, scan, person, most_bytes),
    }
}

/// A person has one entry for all groups where it takes at most this many bytes, and otherwise one for
/// each group in which there are rows of theirs.
const MOST_DENSE: usize = 512;

/// Chooses what is kept for a person: no more than the plan needs.
fn of_people_named<Q: Key + ?Sized>(
    plan: &Plan,
    scan: &Scan<'_>,
    person: usize,
    most_bytes: usize,
) -> Result<Vec<i128>, Unavailable> {
    let pieces = scan.pieces.iter();
    let rows: u128 = pieces.map(|piece| u128::from(piece.most_rows())).sum();
    let is_one = plan.parts() == Parts::Value && !matches!(plan.bound(), Bound::Rows(_));
    let is_narrow = is_one && rows.saturating_mul(plan.largest_row()) < 1 << 63;
    let size = if is_narrow {
        size_of::<i64>()
    } else {
        size_of::<Wide>()
    };
    let is_dense = plan.groups().saturating_mul(size) <= MOST_DENSE;
    let tally = match (plan.groups(), is_dense, is_narrow) {
        (1, _, true) => tally_people::<Q, Single<(), i64>>,
        (1, _, false) => tally_people::<Q, Single<(), Wide>>,
        (_, true, true) => tally_people::<Q, Dense<i64>>,
        (_, true, false) => tally_people::<Q, Dense<Wide>>,
        (_, false, true) => tally_people::<Q, Single<u32, i64>>,
        (_, false, false) => tally_people::<Q, Single<u32, Wide>>,
    };
    tally(plan, scan, person, most_bytes)
}

fn tally_people<Q: Key + ?Sized, L: Layout>(
    plan: &Plan,
    scan: &Scan<'_>,
    person: usize,
    most_bytes: usize,
) -> Result<Vec<i128>, Unavailable> {
    let tally = Tally::<Q, L> {
        plan,
        groups: Groups::of(plan)?,
        person,
        kinds: PhantomData,
    };
    let mut totals = vec![0; plan.totals()];
    by_person(&tally, scan, most_bytes, |part| {
        add(&mut totals, 0, &part, 1);
    })?;
    Ok(totals)
}

/// A plan over people whom `person` names.
struct Tally<'p, Q: ?Sized, L> {
    plan: &'p Plan,
    groups: Groups<'p>,
    person: usize,
    kinds: PhantomData<fn(&Q, L)>,
}

impl<Q: Key + ?Sized, L: Layout> Pass for Tally<'_, Q, L> {
    type Key = Q;
    type Group = L::Group;
    type Kept = L::Kept;
    type Store = L::Store;
    type Update = L::Update;
    type Scratch = Rows;
    type Total = Vec<i128>;

    fn read(
        &self,
        batch: &Batch<'_>,
        rows: &mut Rows,
        mut row: impl FnMut(&Q, L::Group, L::Update),
    ) -> Result<(), Unavailable> {
        rows.fill(self.plan, &self.groups, batch)?;
        Q::each(&batch.column(self.person)?, |number, person| {
            let group = rows.groups.get(number).copied().unwrap_or(NONE);
            if group != NONE {
                let amount = rows.amounts.get(number).copied().unwrap_or_default();
                let (group, update) = L::row(group, amount);
                row(person, group, update);
            }
        })
    }

    fn start(&self, store: &mut L::Store) -> L::Kept {
        L::start(self.plan, store)
    }

    #[inline]
    fn add(&self, store: &mut L::Store, kept: &mut L::Kept, update: L::Update) {
        L::add(self.plan, store, kept, update);
    }

    fn move_to(&self, store: &mut L::Store, other: &L::Store, kept: L::Kept) -> L::Kept {
        L::move_to(self.plan, store, other, kept)
    }

    fn total(&self) -> Vec<i128> {
        vec![0; self.plan.totals()]
    }

    fn finish(&self, totals: &mut Vec<i128>, part: Part<Self>) {
        let Part { table, store, .. } = part;
        let mut numbers = Vec::new();
        let mut bounded = |person: &[_]| {
            bounded::<_, L>(self.plan, person, &store, &mut numbers, totals);
        };
        if !L::Group::IS_SEVERAL {
            for entry in table {
                bounded(std::slice::from_ref(&entry));
            }
            return;
        }
        // The groups of a person stand together, in their order.
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_unstable_by(|one, other| {
            (&one.person, one.group).cmp(&(&other.person, other.group))
        });
        for person in entries.chunk_by(|one, other| one.person == other.person) {
            bounded(person);
        }
    }
}

/// Adds what one person adds to the totals, bounded. `numbers` is scratch.
fn bounded<K, L: Layout>(
    plan: &Plan,
    person: &[Entry<K, L::Group, L::Kept>],
    store: &L::Store,
    numbers: &mut Vec<i128>,
    totals: &mut [i128],
) {
    let parts = plan.parts().len();
    numbers.clear();
    let mut rows = 0;
    for sums in person
        .iter()
        .flat_map(|entry| L::sums(plan, store, &entry.kept))
    {
        rows += sums.rows();
        numbers.extend(sums.numbers().into_iter().take(parts));
    }
    if plan.bound() == Bound::First {
        // However many rows there are in a group: one. A group without rows has zero.
        for number in numbers.iter_mut().filter(|number| **number != 0) {
            *number = plan.amount().range().0.into();
        }
    }
    plan.bound().apply(numbers, rows);
    let mut numbers = numbers.as_slice();
    for entry in person {
        let groups = L::sums(plan, store, &entry.kept).len();
        let (these, others) = numbers.split_at(parts * groups);
        add(totals, entry.group.number(), these, parts);
        numbers = others;
    }
}

/// How the sums of a person in all groups are kept.
trait Layout {
    type Group: Group;
    type Sums: Sums;
    type Kept: Heap + Send;
    type Store: Store;
    type Update: Heap + Send;

    /// Where a row goes, and what it adds there.
    fn row(group: u32, amount: i64) -> (Self::Group, Self::Update);
    fn start(plan: &Plan, store: &mut Self::Store) -> Self::Kept;
    fn add(plan: &Plan, store: &mut Self::Store, kept: &mut Self::Kept, update: Self::Update);
    /// The sums of an entry: those of its group, or of all groups.
    fn sums<'a>(plan: &Plan, store: &'a Self::Store, kept: &'a Self::Kept) -> &'a [Self::Sums];
    fn move_to(
        plan: &Plan,
        store: &mut Self::Store,
        other: &Self::Store,
        kept: Self::Kept,
    ) -> Self::Kept;
}

/// The sums stand in the entry: of the only group, or of one of those in which a person has rows.
struct Single<G, S>(PhantomData<(G, S)>);

impl<G: Group, S: Sums> Layout for Single<G, S> {
    type Group = G;
    type Sums = S;
    type Kept = S;
    type Store = ();
    type Update = i64;

    #[inline]
    fn row(group: u32, amount: i64) -> (G, i64) {
        (G::of(group), amount)
    }

    #[inline]
    fn start(_: &Plan, (): &mut ()) -> S {
        S::default()
    }

    #[inline]
    fn add(plan: &Plan, (): &mut (), kept: &mut S, amount: i64) {
        kept.add(plan, amount);
    }

    #[inline]
    fn sums<'a>(_: &Plan, (): &'a (), kept: &'a S) -> &'a [S] {
        std::slice::from_ref(kept)
    }

    fn move_to(_: &Plan, (): &mut (), (): &(), kept: S) -> S {
        kept
    }
}

/// The sums in all groups stand together, person after person. An entry says where those of a person begin.
struct Dense<S>(PhantomData<S>);

impl<S: Sums> Layout for Dense<S> {
    type Group = ();
    type Sums = S;
    type Kept = usize;
    type Store = Vec<S>;
    type Update = (u32, i64);

    #[inline]
    fn row(group: u32, amount: i64) -> ((), (u32, i64)) {
        ((), (group, amount))
    }

    fn start(plan: &Plan, store: &mut Vec<S>) -> usize {
        let start = store.len();
        store.resize_with(start + plan.groups(), S::default);
        start
    }

    #[inline]
    fn add(plan: &Plan, store: &mut Vec<S>, start: &mut usize, (group, amount): (u32, i64)) {
        if let Some(sums) = store.get_mut(*start + group as usize) {
            sums.add(plan, amount);
        }
    }

    fn sums<'a>(plan: &Plan, store: &'a Vec<S>, start: &usize) -> &'a [S] {
        store
            .get(*start..*start + plan.groups())
            .unwrap_or_default()
    }

    fn move_to(plan: &Plan, store: &mut Vec<S>, other: &Vec<S>, start: usize) -> usize {
        let moved = store.len();
        store.extend_from_slice(Self::sums(plan, other, &start));
        moved
    }
}

/// The sums of the numbers of a person in a group.
trait Sums: Clone + Default + Heap + Send {
    fn add(&mut self, plan: &Plan, amount: i64);
    fn numbers(&self) -> [i128; 3];
    /// How many rows there are.
    fn rows(&self) -> u64;
}

/// One number, where all rows of the table together cannot exceed 64 bits, and where nobody asks for the
/// number of rows.
impl Sums for i64 {
    #[inline]
    fn add(&mut self, _: &Plan, amount: i64) {
        *self += amount;
    }

    fn numbers(&self) -> [i128; 3] {
        [i128::from(*self), 0, 0]
    }

    fn rows(&self) -> u64 {
        0
    }
}

/// Whatever a plan may ask for. A row adds at most 2^62, so that the sums of 2^64 rows fit.
#[derive(Clone, Default)]
struct Wide {
    numbers: [i128; 3],
    rows: u64,
}

impl Heap for Wide {}

impl Sums for Wide {
    fn add(&mut self, plan: &Plan, amount: i64) {
        for (sum, number) in self.numbers.iter_mut().zip(plan.numbers(amount)) {
            *sum += number;
        }
        self.rows += 1;
    }

    fn numbers(&self) -> [i128; 3] {
        self.numbers
    }

    fn rows(&self) -> u64 {
        self.rows
    }
}

/// The group and the amount of each row of a batch.
#[derive(Default)]
struct Rows {
    groups: Vec<u32>,
    amounts: Vec<i64>,
}

impl Rows {
    fn fill(
        &mut self,
        plan: &Plan,
        groups: &Groups<'_>,
        batch: &Batch<'_>,
    ) -> Result<(), Unavailable> {
        let truth = plan
            .condition()
            .map(|condition| batch.truth(condition.expr()));
        let selected = truth.transpose()?.map(|truth| truth.yes);
        groups.find(batch, selected.as_ref(), &mut self.groups)?;
        amounts(plan.amount(), batch, &mut self.amounts)
    }
}

/// Adds the numbers of a group, and of those after it, to the totals: `parts` for each group.
fn add(totals: &mut [i128], group: u32, numbers: &[i128], parts: usize) {
    let start = group as usize * parts;
    let totals = totals.get_mut(start..).unwrap_or_default();
    for (total, number) in totals.iter_mut().zip(numbers) {
        *total += number;
    }
}

fn sum(plan: &Plan, parts: impl IntoIterator<Item = Vec<i128>>) -> Vec<i128> {
    parts
        .into_iter()
        .fold(vec![0; plan.totals()], |mut totals, part| {
            add(&mut totals, 0, &part, 1);
            totals
        })
}
