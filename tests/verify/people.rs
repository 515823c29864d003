//! What is stated for a person is what removing or replacing one changes at most, on every small
//! table.

use std::sync::Arc;

use crate::support::*;
use queryables::data::{Attribute, ClampedSum, Dataset, People, Person};
use queryables::machine::{Coins, Fault, Mechanism, Released};
use queryables::mechanisms::OnRows;
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Distance, Private, PureDp, Replace, UnknownLoss};
use queryables::verify::{Pair, Rational, Verdict, Verifier, copies_of};

/// Whose it is, and a number from -1 to 1.
type Row = (u8, i64);
type Table = Vec<Row>;

/// A person has at most this number of rows.
const K: u64 = 2;

/// The sum of numbers from -1 to 1, with two-sided geometric noise of ratio ½, both cut off at
/// this number.
const FAR: i64 = 4;

#[derive(Clone)]
struct NoisyTotal<D>(Attribute<D, i64>);

impl<D: Dataset> Mechanism<D> for NoisyTotal<D> {
    type Machine = Released<i64>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<i64>, Fault> {
        let mut sum = ClampedSum::new(-1..=1);
        self.0.fold(data, &mut sum);
        let total = sum.total().clamp(-FAR as i128, FAR as i128) as i64;
        // 2^-|noise| / 3, and all that is beyond an end at that end.
        let weight = |answer: i64| {
            let ends = 1 + u64::from(answer.abs() == FAR);
            ends << (2 * FAR - (answer - total).abs())
        };
        let weights: Vec<u64> = (-FAR..=FAR).map(weight).collect();
        Ok(Released(coins.weighted(&weights)? as i64 - FAR))
    }
}

/// ln 2 for each step.
macro_rules! states {
    ($($R:ty: $rows:literal)*) => {$(
        impl<D> Private<PureDp, $R> for NoisyTotal<D> {
            fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
                Ok(ln_times(2, $rows))
            }

            fn loss_at(&self, _: &PureDp, distance: Distance) -> Result<Epsilon, UnknownLoss> {
                Ok(ln_times(2, $rows * distance.steps()))
            }
        }
    )*};
}

states! { AddRemove: 1  Replace: 2 }

fn of_rows() -> OnRows<NoisyTotal<Table>, K> {
    OnRows(NoisyTotal(Attribute::new("number", |row: &Row| row.1)))
}

/// Which rows of a table are kept.
type Rule = fn(&Table) -> People<Table, K>;

/// The crate's own.
fn first_of_each(table: &Table) -> People<Table, K> {
    People::by_key(table, |row: &Row| row.0).at_most()
}

/// Wrong: as many in all as people may have, whoever comes first.
fn first_of_all(table: &Table) -> People<Table, K> {
    let people = People::by_key(table, |row: &Row| row.0).len();
    let most = people * K as usize;
    // Every row is somebody's own, so that none is dropped afterwards.
    let kept = table.iter().take(most).copied().zip(0_u8..);
    let kept: Table = kept.map(|((_, number), own)| (own, number)).collect();
    first_of_each(&kept)
}

/// Wrong: a number that somebody else has, too, is dropped.
fn without_what_others_have(table: &Table) -> People<Table, K> {
    let others_have = |row: &Row| {
        table
            .iter()
            .any(|other| other.0 != row.0 && other.1 == row.1)
    };
    let kept = table.iter().filter(|row| !others_have(row));
    first_of_each(&kept.copied().collect())
}

/// A mechanism on a table: keeps rows by a rule, and then sums.
#[derive(Clone)]
struct Kept<M> {
    rule: Rule,
    mechanism: M,
}

impl<M: Mechanism<People<Table, K>>> Mechanism<Table> for Kept<M> {
    type Machine = M::Machine;

    fn start(&self, table: &Arc<Table>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        self.mechanism.start(&Arc::new((self.rule)(table)), coins)
    }
}

fn check<M>(kept: &Kept<M>, pair: [&[Row]; 2], claim: &Epsilon) -> Verdict<(), i64>
where
    M: Mechanism<People<Table, K>, Machine = Released<i64>> + Clone + Send + Sync + 'static,
{
    let [one, other] = pair.map(<[Row]>::to_vec);
    let verifier = Verifier::new(copies_of(kept), &Pair::new(one, other), vec![()], 1);
    verifier.check(&PureDp, claim).unwrap()
}

fn without(table: &[Row], person: u8) -> Table {
    table
        .iter()
        .filter(|row| row.0 != person)
        .copied()
        .collect()
}

/// All tables with up to this number of rows, of two people and the numbers -1 and 1.
fn tables(rows: usize) -> Vec<Table> {
    let kinds = [(0, -1), (0, 1), (1, -1), (1, 1)];
    let mut tables = vec![vec![]];
    let mut last = tables.clone();
    for _ in 0..rows {
        let longer = |table: &Table| kinds.map(|row| [table.as_slice(), &[row]].concat());
        last = last.iter().flat_map(longer).collect();
        tables.extend(last.iter().cloned());
    }
    tables
}

/// The largest ratio of probabilities over all small tables and people in them; the claim holds for
/// each.
fn worst<M>(kept: &Kept<M>, claim: &Epsilon) -> Rational
where
    M: Mechanism<People<Table, K>, Machine = Released<i64>> + Clone + Send + Sync + 'static,
{
    let mut worst = Rational::ONE;
    for table in tables(3) {
        if !table.iter().any(|row| row.0 == 0) {
            continue;
        }
        let verdict = check(kept, [&table, &without(&table, 0)], claim);
        assert!(verdict.holds(), "{verdict}");
        worst = worst.max(verdict.worst.value.exact().unwrap().clone());
    }
    worst
}

#[test]
fn removing_a_person_changes_sums_of_rows_by_what_is_stated_and_this_is_attained() {
    let kept = Kept {
        rule: first_of_each,
        mechanism: of_rows(),
    };
    let claim = Private::<PureDp, AddRemove>::loss(&kept.mechanism, &PureDp).unwrap();
    assert_eq!(claim, ln_times(2, K));
    assert_eq!(worst(&kept, &claim), Rational::from(4_u8));
}

/// One person in a sum of people is one step, whatever number of rows they have.
#[test]
fn removing_a_person_changes_sums_of_people_by_one_step() {
    let number = |person: Person<'_, Table>| person.rows().map(|row| row.1).sum();
    let mechanism = NoisyTotal(Attribute::new("number", number));
    let claim = Private::<PureDp, AddRemove>::loss(&mechanism, &PureDp).unwrap();
    let kept = Kept {
        rule: first_of_each,
        mechanism,
    };
    assert_eq!(worst(&kept, &claim), Rational::from(2_u8));
}

/// All pairs of people with up to three rows, beside somebody else.
#[test]
fn replacing_a_person_changes_sums_of_rows_by_what_is_stated_and_this_is_attained() {
    let mechanism = of_rows();
    let claim = Private::<PureDp, Replace>::loss(&mechanism, &PureDp).unwrap();
    assert_eq!(claim, ln_times(2, 2 * K));
    let others: Table = vec![(1, 1), (1, -1)];
    let of_one: Vec<Table> = tables(3)
        .into_iter()
        .filter(|table| !table.is_empty() && table.iter().all(|row| row.0 == 0))
        .map(|table| [table, others.clone()].concat())
        .collect();
    let mut worst = Rational::ONE;
    for (index, one) in of_one.iter().enumerate() {
        for other in &of_one[..index] {
            let [one, other] = [one, other].map(first_of_each);
            if one == other {
                continue;
            }
            let verifier =
                Verifier::new(copies_of(&mechanism), &Pair::new(one, other), vec![()], 1);
            let verdict = verifier.check(&PureDp, &claim).unwrap();
            assert!(verdict.holds(), "{verdict}");
            worst = worst.max(verdict.worst.value.exact().unwrap().clone());
        }
    }
    assert_eq!(worst, Rational::from(16_u8));
}

/// The first person has more rows than all may have, and so the others come in only without them.
#[test]
fn a_rule_that_looks_at_the_rows_of_others_is_refuted() {
    let claim = Private::<PureDp, AddRemove>::loss(&of_rows(), &PureDp).unwrap();
    let [zeros, ones] = [[(0, 0); 6], [(1, 1); 6]];
    let crowded = [&zeros[..], &ones[..2], &[(2, 1), (2, 1)]].concat();
    let copied: Table = vec![(0, 5), (0, 6), (1, 5), (1, 5), (2, 6), (2, 6)];
    for (rule, table) in [
        (first_of_all as Rule, &crowded),
        (without_what_others_have, &copied),
    ] {
        let mechanism = of_rows();
        let right = Kept {
            rule: first_of_each,
            mechanism: mechanism.clone(),
        };
        let wrong = Kept { rule, mechanism };
        let pair = [&table[..], &without(table, 0)];
        assert!(check(&right, pair, &claim).holds());
        let verdict = check(&wrong, pair, &claim);
        assert!(verdict.is_refuted(), "{verdict}");
        assert_eq!(verdict.worst.value.exact(), Some(&Rational::from(16_u8)));
    }
}
