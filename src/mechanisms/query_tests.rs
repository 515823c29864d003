//! Every query's totals, on all neighbours among small tables of ugly rows, against what it states;
//! and what the noise states, against that.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use dashu_ratio::RBig;

use super::*;
use crate::account::{ChildLoss, ValidIndividually};
use crate::compose::{
    IndividualFilter, IndividualQuery, Payers, RecordUnits, Tariff, start_individual,
};
use crate::data::{Attribute, Predicate, Vector};
use crate::machine::{ClosedForm, Coins, DrawnNoise, Fault, Law, silence_guarded_panics};
use crate::mechanisms::contributes::tallied;
use crate::mechanisms::{
    Accuracy, ContinualCount, Count, Grouped, Histogram, Lattice, Mean, Partition, Proportion,
    RealRange, Sum, Variance, VectorSum,
};
use crate::noise::NoiseError;
use crate::number::Ratio;
use crate::prelude::*;
use crate::privacy::facts::Laplace;
use crate::privacy::{Prices, UnknownLoss, ZCdp};

/// A group and a number.
type Rows = Vec<(u8, f64)>;

/// Two groups, none, and one that cannot be read.
const GROUPS: [u8; 4] = [0, 1, 2, 3];
/// Beyond both ends of all ranges, between them, and what cannot be read.
const NUMBERS: [f64; 7] = [-1e300, -0.4, 0.3, 1e300, f64::NAN, f64::INFINITY, 77.0];

/// All of them, by number: tables are lists of these.
fn row(index: usize) -> (u8, f64) {
    (
        GROUPS[index / NUMBERS.len()],
        NUMBERS[index % NUMBERS.len()],
    )
}

const ROWS: usize = GROUPS.len() * NUMBERS.len();

fn table(rows: &[usize]) -> Rows {
    rows.iter().map(|index| row(*index)).collect()
}

fn number(row: &(u8, f64)) -> f64 {
    assert!(row.1 != 77.0, "an unlucky row");
    row.1
}

fn whole() -> Attribute<Rows, i64> {
    Attribute::new("whole", |row: &(u8, f64)| number(row) as i64)
}

fn real() -> Attribute<Rows, f64> {
    Attribute::new("real", number)
}

fn positive() -> Predicate<Rows> {
    Predicate::new("positive", |row: &(u8, f64)| number(row) > 0.0)
}

fn among() -> Predicate<Rows> {
    Predicate::new("among", |row: &(u8, f64)| number(row) > -1.0)
}

fn partition() -> Partition<Rows> {
    let group = Attribute::new("group", |row: &(u8, f64)| match row.0 {
        3 => panic!("an unlucky row"),
        2 => usize::MAX,
        group => group.into(),
    });
    Partition::numbered(group, 2).unwrap()
}

/// The tables with at most two rows.
fn tables() -> Vec<Vec<usize>> {
    let pairs = (0..ROWS).flat_map(|one| (0..ROWS).map(move |other| vec![one, other]));
    let single = (0..ROWS).map(|one| vec![one]);
    [vec![]].into_iter().chain(single).chain(pairs).collect()
}

/// All ordered pairs of neighbours among them: where rows are added, the second has one more.
fn neighbours(replaced: bool) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut pairs = Vec::new();
    for table in tables() {
        for at in 0..table.len() {
            if replaced {
                pairs.extend((0..ROWS).map(|row| {
                    let mut other = table.clone();
                    other[at] = row;
                    (table.clone(), other)
                }));
            } else {
                let mut other = table.clone();
                other.remove(at);
                pairs.push((other, table.clone()));
            }
        }
    }
    pairs
}

/// The largest change of all together, and the largest sum of squares.
type Largest = [u128; 2];

fn stated(change: &Change) -> Largest {
    let each = u128::from(change.each.get());
    [each * u128::from(change.places.get()), change.square]
}

fn sizes(moved: &[i128]) -> Largest {
    let sizes = moved.iter().map(|moved| moved.unsigned_abs());
    [sizes.clone().sum(), sizes.map(|size| size * size).sum()]
}

/// Whether all neighbours' totals move within what is stated; and the largest that they do.
fn within<R: RowRelation>(name: &str, query: &impl Tally<Rows, R>) -> Largest {
    let change = query.change().unwrap();
    let noisy = query.totals() - query.public_totals();
    let tallies = tables().into_iter().map(|rows| {
        let mut totals = vec![0; query.totals()];
        query.tally(&table(&rows), &mut totals).unwrap();
        (rows, totals)
    });
    let tallies: BTreeMap<_, _> = tallies.collect();
    let mut largest = [0; 2];
    // Which way each total was seen to move.
    let mut ways = vec![0; noisy];
    for (one, other) in neighbours(R::REPLACES) {
        let pair = tallies[&one].iter().zip(&tallies[&other]);
        let moved: Vec<i128> = pair.map(|(one, other)| other - one).collect();
        let (moved, public) = moved.split_at(noisy);
        let context = || format!("{name} under {}: {one:?} {other:?} {moved:?}", R::NAME);
        assert!(public.iter().all(|moved| *moved == 0), "{}", context());
        let [together, square] = sizes(moved);
        let [most_together, most_square] = stated(&change);
        assert!(together <= most_together, "{}", context());
        assert!(square <= most_square, "{}", context());
        for (moved, way) in moved.iter().zip(&mut ways) {
            assert!(
                moved.unsigned_abs() <= change.each.get().into(),
                "{}",
                context()
            );
            assert!(
                !change.one_way || R::REPLACES || *way * moved >= 0,
                "{}",
                context()
            );
            *way = if *moved == 0 { *way } else { moved.signum() };
        }
        largest = [largest[0].max(together), largest[1].max(square)];
    }
    largest
}

/// Whether the noise is that for the change, and what it states is true of it.
fn fits<R: RowRelation>(name: &str, query: &impl Query<R>) {
    let change = query.change().unwrap();
    let [together, square] = stated(&change);
    let under = || Under::<_, R>::new(query.clone());
    let laplace = under().laplace(epsilon!(0.5)).unwrap().noise;
    let scale = Ratio::new(2 * together, 1).unwrap();
    assert_eq!(
        laplace.law().closed_form(),
        ClosedForm::DiscreteLaplace { scale },
        "{name}"
    );
    let fact = laplace.fact();
    assert_eq!(
        (fact.epsilon, fact.steps, fact.answers),
        (epsilon!(0.5), change.each, change.places)
    );
    if square >> 90 > 0 {
        // Such a variance cannot be drawn.
        let refused = under().gaussian(rho!(0.5)).unwrap_err();
        let (what, bits) = ("variance in cells", 124);
        let too_fine = MechanismError::Noise(NoiseError::TooFine { what, bits });
        assert_eq!(refused, too_fine, "{name}");
        return;
    }
    let (rho, mu) = (rho!(0.5), mu!(2));
    for (loss, over, count, other) in [
        (
            Gaussian::Rho(rho),
            1,
            Gaussian::CountRho(rho),
            Gaussian::Rho(rho),
        ),
        (Gaussian::Mu(mu), 4, Gaussian::CountMu(mu), Gaussian::Mu(mu)),
    ] {
        let noise = under().gaussian(loss).unwrap().noise;
        let variance = Ratio::new(square, over).unwrap();
        assert_eq!(
            noise.law().closed_form(),
            ClosedForm::RoundedGaussian { variance },
            "{name}"
        );
        // Whole numbers whose squares add up to 1 are one number that changes by one.
        assert_eq!(noise.fact(), if square == 1 { count } else { other });
    }
}

/// Both, and whether no smaller change would do.
fn holds<R: RowRelation>(name: &str, query: &impl Tally<Rows, R>, tight: bool) {
    let largest = within(name, query);
    let stated = stated(&query.change().unwrap());
    assert_eq!(
        largest == stated,
        tight,
        "{name} under {}: {largest:?}, stated {stated:?}",
        R::NAME
    );
    fits(name, query);
}

/// The same under both relations.
fn holds_under_both<Q>(name: &str, query: &Q, tight: bool)
where
    Q: Tally<Rows, AddRemove> + Tally<Rows, Replace>,
{
    holds::<AddRemove>(name, query, tight);
    holds::<Replace>(name, query, tight);
}

/// And in each group.
fn holds_by_group<Q>(name: &str, query: &Q)
where
    Q: Tally<Rows, AddRemove> + Tally<Rows, Replace> + Grouped<Rows>,
{
    silence_guarded_panics();
    holds_under_both(name, query, true);
    let by = query.clone().by(partition());
    holds_under_both(&format!("{name} by group"), &by, true);
}

/// Both ends of one sign, on both sides of zero, and with a zero at an end.
const RANGES: [(i64, i64); 7] = [(0, 3), (2, 3), (-3, -2), (-3, 0), (-3, 2), (-2, 3), (-1, 1)];

#[test]
fn counts_and_shares_change_by_no_more_than_stated() {
    holds_by_group("Count", &Count::of(positive()));
    holds_by_group("Proportion", &Proportion::of(positive(), among()));
    holds_under_both("Histogram", &Histogram::of(partition()), true);
}

#[test]
fn sums_change_by_no_more_than_stated() {
    for (low, high) in RANGES {
        let sum = Sum::of(whole(), low..=high);
        holds_by_group(&format!("Sum of {low}..={high}"), &sum);
    }
    for (low, high) in [(0.0, 0.7), (-0.7, 0.2), (-0.3, 0.3), (-0.7, -0.1)] {
        let range = RealRange::of_multiples(low..=high, -2);
        let sum = Sum::of(real(), range);
        holds_by_group(&format!("Sum of {low}..={high}"), &sum);
    }
}

/// A histogram of one's own, which is also asked for in each group: a row adds to one total.
#[derive(Clone)]
struct Signs(Attribute<Rows, usize>);

impl<R: RowRelation> Query<R> for Signs {
    type Answer = ();
    type Form = Once;
    type Value = i64;

    fn change(&self) -> Result<Change, MechanismError> {
        Ok(Change::places(apart::<R>().try_into().unwrap()))
    }

    fn totals(&self) -> usize {
        2
    }

    fn answer(&self, _: &[i128]) {}

    fn scale(&self) {}

    fn describe(&self) -> Description {
        Description::new("Signs")
    }
}

impl<R: RowRelation> Tally<Rows, R> for Signs {
    fn tally(&self, data: &Rows, totals: &mut [i128]) -> Result<(), Unavailable> {
        tallied(self, data, totals);
        Ok(())
    }
}

impl Contributes<Rows> for Signs {
    fn contributions(&self, data: &Rows, records: Range<usize>) -> Contributions {
        let numbers = vec![1; records.len()];
        let (places, unreadable) = self.0.values(data, records);
        Contributions {
            numbers,
            places,
            unreadable,
        }
    }

    fn width(&self) -> usize {
        1
    }
}

impl Grouped<Rows> for Signs {}

#[test]
fn a_statistic_with_places_of_its_own_can_be_grouped() {
    let sign = Attribute::new("sign", |row: &(u8, f64)| match number(row) {
        zero if zero.is_nan() => 2,
        number => usize::from(number > 0.0),
    });
    let signs = Signs(sign);
    holds_by_group("Signs", &signs);
    pays("Signs by group", &signs.clone().by(partition()));
    // The second group's positive numbers, and nowhere what has no sign.
    let mut totals = [0; 4];
    let rows = vec![
        (1, 0.3),
        (0, f64::NAN),
        (1, 1e300),
        (0, -0.4),
        (2, 0.3),
        (3, 0.3),
    ];
    let by = signs.by(partition());
    Tally::<_, AddRemove>::tally(&by, &rows, &mut totals).unwrap();
    assert_eq!(totals, [1, 0, 0, 2]);
}

/// The largest range there is. Two such numbers in one place are more than a change can hold.
#[test]
fn the_longest_sum_changes_by_no_more_than_stated() {
    silence_guarded_panics();
    let sum = Sum::of(whole(), i64::MIN..=i64::MAX);
    holds_under_both("Sum", &sum, true);
    let by = sum.by(partition());
    holds::<AddRemove>("Sum by group", &by, true);
    let change = Query::<Replace>::change(&by);
    assert_eq!(change, Err(MechanismError::TooFine));
}

#[test]
fn means_and_variances_change_by_no_more_than_stated() {
    let whole = RANGES.map(|(low, high)| RealRange::of_whole_numbers(low..=high));
    let fine = RealRange::of_multiples(-0.7..=0.3, -3);
    for range in whole.into_iter().chain([fine]) {
        holds_by_group(&format!("Mean of {range:?}"), &Mean::of(real(), range));
        let variance = Variance::of(real(), range);
        holds_by_group(&format!("Variance of {range:?}"), &variance);
    }
}

/// A vector of length r need not have coordinates that add up to √d·r.
#[test]
fn sums_of_vectors_change_by_no_more_than_stated() {
    silence_guarded_panics();
    for (dimension, radius) in [(1, 1), (1, 3), (2, 1), (2, 2), (2, 5), (3, 1), (3, 4)] {
        let vector = Vector::new("vector", move |row: &(u8, f64), out: &mut [f64]| {
            let numbers = [number(row), f64::from(row.0) - 1.0, -2.0 * number(row)];
            out.copy_from_slice(&numbers[..dimension]);
        });
        let sum = VectorSum::of(vector, dimension, Lattice::of_multiples(-1, radius));
        let name = format!("VectorSum of {dimension} and {radius}");
        within::<AddRemove>(&name, &sum);
        within::<Replace>(&name, &sum);
        fits::<AddRemove>(&name, &sum);
        fits::<Replace>(&name, &sum);
        pays(&name, &sum);
    }
}

/// The nodes of the tree are enumerated where they are.
#[test]
fn the_noise_of_running_counts_fits_their_change() {
    for horizon in 1..20 {
        let time = Attribute::new("time", |row: &(u8, f64)| Some(row.0.into()));
        let count = ContinualCount::<Attribute<Rows, _>>::of(time, horizon);
        fits::<AddRemove>("ContinualCount", &count);
        fits::<Replace>("ContinualCount", &count);
    }
}

/// Asks for the totals as they are.
#[derive(Clone)]
struct Open<M>(M);

impl<M, F> IndividualQuery<Rows, F> for Open<M>
where
    F: ValidIndividually,
    M: IndividualQuery<Rows, F, Noise = Vec<DrawnNoise>, Total = Vec<i128>>,
{
    type Noise = ();
    type Total = Vec<i128>;
    type Answer = Vec<i128>;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        self.0.tariff(units)
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> Vec<i128> {
        self.0.nothing()
    }

    fn take(&self, data: &Rows, records: Range<usize>, payers: &mut Payers<'_>) -> Vec<i128> {
        self.0.take(data, records, payers)
    }

    fn merge(&self, total: &mut Vec<i128>, chunk: Vec<i128>) {
        self.0.merge(total, chunk);
    }

    fn answer(&self, total: Vec<i128>, (): (), _: &mut Coins<'_>) -> Result<Vec<i128>, Fault> {
        Ok(total)
    }
}

/// What the last row changes in an individual filter, and what it pays.
fn last<F>(
    filter: &IndividualFilter<Rows, F>,
    rows: &[usize],
    query: &(impl IndividualQuery<Rows, F, Answer = Vec<i128>> + Clone + Send + 'static),
) -> (Vec<i128>, ChildLoss<F>)
where
    F: ValidIndividually + 'static,
{
    let before = &rows[..rows.len() - 1];
    let [with, without] =
        [rows, before].map(|rows| start_individual(filter, Arc::new(table(rows))).unwrap());
    let [all, others] = [&with, &without].map(|(running, _)| running.release(query).unwrap());
    let loss = with.1.loss(before.len()).unwrap().unwrap();
    let moved = all.iter().zip(&others).map(|(all, others)| all - others);
    (moved.collect(), loss)
}

/// Whether each row pays for what it changes, and changes what it does for everybody.
fn pays<Q>(name: &str, query: &Q)
where
    Q: Contributes<Rows> + Tally<Rows, AddRemove> + 'static,
{
    let [together, square] = stated(&query.change().unwrap());
    let laplace = Open(
        Under::<_, AddRemove>::new(query.clone())
            .laplace(epsilon!(0.5))
            .unwrap(),
    );
    let gaussian = Open(
        Under::<_, AddRemove>::new(query.clone())
            .gaussian(rho!(0.5))
            .unwrap(),
    );
    let pure = IndividualFilter::new(PureDp, epsilon!(10));
    let zcdp = IndividualFilter::new(ZCdp, rho!(10));
    for (before, row) in [vec![], vec![3]]
        .into_iter()
        .flat_map(|before| (0..ROWS).map(move |row| (before.clone(), row)))
    {
        let rows = [&before[..], &[row]].concat();
        let [with, without] = [&rows, &before].map(|rows| {
            let mut totals = vec![0; Query::<AddRemove>::totals(query)];
            Tally::<_, AddRemove>::tally(query, &table(rows), &mut totals).unwrap();
            totals
        });
        let truly = with
            .iter()
            .zip(without)
            .map(|(with, without)| with - without);
        let truly: Vec<i128> = truly.collect();
        let (_, number) = table(&[row])[0];
        let check = |moved: &[i128], paid: bool| {
            // What cannot be read adds nothing here.
            let unreadable = number == 77.0 && moved.iter().all(|moved| *moved == 0);
            assert!(moved == truly || unreadable, "{name}: {rows:?} {moved:?}");
            assert!(paid, "{name}: {rows:?} {moved:?}");
        };
        let exact = |units: u128, most: u128| RBig::from(units) * RBig::from(most);
        let half = epsilon!(0.5).units();
        let (moved, epsilon) = last(&pure, &rows, &laplace);
        let [l1, _] = sizes(&moved);
        check(&moved, exact(epsilon.units(), together) >= exact(half, l1));
        let (moved, rho) = last(&zcdp, &rows, &gaussian);
        let [_, l2] = sizes(&moved);
        check(&moved, exact(rho.units(), square) >= exact(half, l2));
        let (moved, rho) = last(&zcdp, &rows, &laplace);
        let [l1, _] = sizes(&moved);
        // Rounded down, so that no more is asked for than is true.
        let share = Epsilon::from_units(half / together * l1).unwrap();
        let least = NonZeroU64::new(l1 as u64).map(|steps| {
            let fact = Laplace {
                epsilon: share,
                steps,
                answers: NonZeroU64::MIN,
            };
            ZCdp.price(&fact).unwrap()
        });
        check(&moved, least.is_none_or(|least| rho >= least));
    }
}

#[test]
fn records_pay_for_what_they_change() {
    silence_guarded_panics();
    fn both<Q: Grouped<Rows> + Tally<Rows, AddRemove> + 'static>(name: &str, query: &Q) {
        pays(name, query);
        pays(name, &query.clone().by(partition()));
    }
    both("Count", &Count::of(positive()));
    both("Proportion", &Proportion::of(positive(), among()));
    pays("Histogram", &Histogram::of(partition()));
    for (low, high) in RANGES {
        let range = RealRange::of_whole_numbers(low..=high);
        both("Mean", &Mean::of(real(), range));
        both("Variance", &Variance::of(real(), range));
        if (low..=high).contains(&0) {
            both("Sum", &Sum::of(whole(), low..=high));
        }
    }
}

/// The ratios P(y)/Q(y), as powers of 1/a, with P and Q, where discrete Laplace noise with odds of a
/// for each step is added to `steps` and to zero.
fn ratios(a: &RBig, steps: isize) -> BTreeMap<isize, [RBig; 2]> {
    let power = |steps: isize| a.pow(steps);
    let one = RBig::ONE;
    let tail = |steps| power(steps) / (&one + a);
    let at = |steps: isize| power(steps.abs()) * (&one - a) / (&one + a);
    // All that is not between the two numbers is as likely as the tails.
    let ends = [
        (steps, [tail(0), tail(steps)]),
        (-steps, [tail(steps), tail(0)]),
    ];
    let between = (1..steps).map(|y| (2 * y - steps, [at(y - steps), at(y)]));
    ends.into_iter().chain(between).collect()
}

/// Of two independent answers.
fn product(
    one: &BTreeMap<isize, [RBig; 2]>,
    other: &BTreeMap<isize, [RBig; 2]>,
) -> BTreeMap<isize, [RBig; 2]> {
    let mut product = BTreeMap::new();
    for (first, [p, q]) in one {
        for (second, [r, s]) in other {
            let sum: &mut [RBig; 2] = product.entry(first + second).or_default();
            sum[0] += p * r;
            sum[1] += q * s;
        }
    }
    product
}

/// The largest P(A) − γQ(A), for γ = a^−power.
fn delta(ratios: &BTreeMap<isize, [RBig; 2]>, a: &RBig, power: isize) -> RBig {
    let gamma = a.pow(-power);
    let more = ratios.range(power..).map(|(_, [p, q])| p - &gamma * q);
    more.fold(RBig::ZERO, |sum, more| sum + more)
}

/// The numbers of [`Change::moved`]: between those of the ratios δ is linear in γ, so that these
/// are all.
#[test]
fn a_change_in_two_places_is_at_least_as_private_as_all_of_it_in_one() {
    let ratio = |over: u64, under: u64| RBig::from(over) / RBig::from(under);
    for a in [ratio(1, 2), ratio(9, 10), ratio(1, 100)] {
        let mut differs = false;
        for first in 1..=7 {
            for second in 1..=first {
                let two = product(&ratios(&a, first), &ratios(&a, second));
                let one = ratios(&a, first + second);
                for law in [&one, &two] {
                    let [p, q] = [0, 1]
                        .map(|side| law.values().fold(RBig::ZERO, |sum, pair| sum + &pair[side]));
                    assert_eq!((p, q), (RBig::ONE, RBig::ONE));
                }
                for power in -first - second..=first + second {
                    let [two, one] = [&two, &one].map(|law| delta(law, &a, power));
                    assert!(two <= one, "{a} {first} {second} {power}");
                    differs |= two < one;
                }
            }
        }
        assert!(differs);
    }
}

/// Totals that are bounded by the norm that the noise is made for: it keeps all that it was told.
#[derive(Clone)]
struct BoundedForNoise(Vec<Norm>);

impl Query<AddRemove> for BoundedForNoise {
    type Answer = i64;
    type Form = Once;
    type Value = i64;

    fn bounded_for(mut self, norm: Norm) -> Self {
        self.0.push(norm);
        self
    }

    /// Known if it was told one norm, once.
    fn change(&self) -> Result<Change, MechanismError> {
        match self.0[..] {
            [Norm::L1] => Change::of(3),
            [Norm::L2] => Change::of(5),
            _ => Err(MechanismError::TooFine),
        }
    }

    fn answer(&self, _: &[i128]) -> i64 {
        0
    }

    fn scale(&self) {}

    fn describe(&self) -> Description {
        Description::new("BoundedForNoise")
    }
}

impl Contributes<Rows> for BoundedForNoise {
    fn contributions(&self, _: &Rows, records: Range<usize>) -> Contributions {
        Contributions::new(
            records.len(),
            vec![0; records.len() * self.width()],
            Vec::new(),
        )
    }
}

impl Grouped<Rows> for BoundedForNoise {}

#[test]
fn a_query_is_told_the_norm_of_the_noise_once_and_first() {
    fn laws(query: &impl Query<AddRemove>) -> [ClosedForm; 2] {
        let laplace = query.clone().laplace(epsilon!(0.5)).unwrap();
        let gaussian = query.clone().gaussian(rho!(0.5)).unwrap();
        [
            laplace.noise.law().closed_form(),
            gaussian.noise.law().closed_form(),
        ]
    }
    let [scale, variance] = [6, 25].map(Ratio::from);
    let expected = [
        ClosedForm::DiscreteLaplace { scale },
        ClosedForm::RoundedGaussian { variance },
    ];
    let query = BoundedForNoise(vec![]);
    assert_eq!(laws(&query), expected);
    assert_eq!(laws(&query.clone().by(partition())), expected);
    let likely = confidence!(0.95);
    let laplace = query.clone().laplace_within(20, likely).unwrap();
    assert_eq!(laplace.query().0, [Norm::L1]);
    assert!(laplace.accuracy(likely) <= 20);
    let gaussian = query.gaussian_within(20, likely).unwrap();
    assert_eq!(gaussian.query().0, [Norm::L2]);
    assert!(gaussian.accuracy(likely) <= 20);
}
