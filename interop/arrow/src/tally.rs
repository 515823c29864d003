//! Plans, tallied.

use queryables::mechanisms::query::Unavailable;
use queryables::table::{Bound, Kind, Parts, Plan};

use crate::amounts::amounts;
use crate::evaluate::Batch;
use crate::groups::{Groups, NONE};
use crate::people::{Entry, Group, Kept, Key, by_person};
use crate::scan::Scan;

/// The totals of a plan where each row is a person: nothing is kept but the totals.
pub(crate) fn of_rows(plan: &Plan, scan: &Scan<'_>) -> Result<Vec<i128>, Unavailable> {
    let groups = Groups::of(plan)?;
    let is_plain = groups.is_one() && plan.bound() == Bound::Row && plan.parts() == Parts::Value;
    let start = || (vec![0; plan.totals()], Rows::default());
    let totals = scan.run(start, |(totals, rows), batch| {
        if is_plain {
            add(totals, 0, &[plain(plan, batch, &mut rows.amounts)?]);
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
                add(totals, *group, numbers);
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
    let tally = match (plan.groups(), is_narrow) {
        (1, true) => tally_people::<Q, (), i64>,
        (1, false) => tally_people::<Q, (), Wide>,
        (_, true) => tally_people::<Q, u32, i64>,
        (_, false) => tally_people::<Q, u32, Wide>,
    };
    tally(plan, scan, person, most_bytes)
}

fn tally_people<Q: Key + ?Sized, G: Group, S: Sums>(
    plan: &Plan,
    scan: &Scan<'_>,
    person: usize,
    most_bytes: usize,
) -> Result<Vec<i128>, Unavailable> {
    let groups = Groups::of(plan)?;
    let mut totals = vec![0; plan.totals()];
    by_person::<Q, G, S, _>(
        scan,
        most_bytes,
        |people, batch| {
            let mut rows = Rows::default();
            rows.fill(plan, &groups, batch)?;
            Q::each(&batch.column(person)?, |row, person| {
                let group = rows.groups.get(row).copied().unwrap_or(NONE);
                if group != NONE {
                    let amount = rows.amounts.get(row).copied().unwrap_or_default();
                    people.add(person, G::of(group), S::default, |sums| {
                        sums.add(plan, amount);
                    });
                }
            })
        },
        S::merge,
        |entries| bounded(plan, entries),
        |part| add(&mut totals, 0, &part),
    )?;
    Ok(totals)
}

/// The totals of some people, each bounded.
fn bounded<K: Ord, G: Group, S: Sums>(plan: &Plan, mut entries: Vec<Entry<K, G, S>>) -> Vec<i128> {
    let mut totals = vec![0; plan.totals()];
    let parts = plan.parts().len();
    if plan.groups() > 1 {
        // The groups of a person stand together, in their order.
        entries.sort_unstable_by(|one, other| {
            (&one.person, one.group).cmp(&(&other.person, other.group))
        });
    }
    let mut numbers = Vec::new();
    for person in entries.chunk_by(|one, other| one.person == other.person) {
        numbers.clear();
        for entry in person {
            let sums = match plan.bound() {
                // However many rows there are: one.
                Bound::First => [plan.amount().range().0.into(), 0, 0],
                _ => entry.kept.numbers(),
            };
            numbers.extend(sums.into_iter().take(parts));
        }
        let rows = person.iter().map(|entry| entry.kept.rows()).sum();
        plan.bound().apply(&mut numbers, rows);
        for (entry, numbers) in person.iter().zip(numbers.chunks(parts)) {
            add(&mut totals, entry.group.number(), numbers);
        }
    }
    totals
}

/// The sums of the numbers of a person in a group.
trait Sums: Default + Kept {
    fn add(&mut self, plan: &Plan, amount: i64);
    fn merge(&mut self, other: Self);
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

    fn merge(&mut self, other: Self) {
        *self += other;
    }

    fn numbers(&self) -> [i128; 3] {
        [i128::from(*self), 0, 0]
    }

    fn rows(&self) -> u64 {
        0
    }
}

/// Whatever a plan may ask for. A row adds at most 2^62, so that the sums of 2^64 rows fit.
#[derive(Default)]
struct Wide {
    numbers: [i128; 3],
    rows: u64,
}

impl Kept for Wide {}

impl Sums for Wide {
    fn add(&mut self, plan: &Plan, amount: i64) {
        self.merge(Self {
            numbers: plan.numbers(amount),
            rows: 1,
        });
    }

    fn merge(&mut self, other: Self) {
        for (sum, number) in self.numbers.iter_mut().zip(other.numbers) {
            *sum += number;
        }
        self.rows += other.rows;
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

/// Adds the numbers of a group to its totals.
fn add(totals: &mut [i128], group: u32, numbers: &[i128]) {
    let start = group as usize * numbers.len();
    let totals = totals.get_mut(start..).unwrap_or_default();
    for (total, number) in totals.iter_mut().zip(numbers) {
        *total += number;
    }
}

fn sum(plan: &Plan, parts: impl IntoIterator<Item = Vec<i128>>) -> Vec<i128> {
    parts
        .into_iter()
        .fold(vec![0; plan.totals()], |mut totals, part| {
            add(&mut totals, 0, &part);
            totals
        })
}
