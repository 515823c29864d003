//! Individual filters: who pays what, who is left out, and that nobody is told.

use std::sync::Arc;

use queryables::account::menu::{MenuEntry, MenuFilter};
use queryables::account::{NaturalFilter, SquaresAddUp, ThroughZCdp, ValidIndividually};
use queryables::compose::{
    IndividualError, IndividualFilter, IndividualOdometer, Readings, RecordAmount, start_individual,
};
use queryables::data::{Attribute, Dataset, Predicate, Vector};
use queryables::machine::{Fault, Mechanism, silence_guarded_panics};
use queryables::mechanisms::individual::ActiveRecords;
use queryables::mechanisms::query::GaussianNoise;
use queryables::mechanisms::{
    Choice, Count, ExponentialMechanism, Lattice, MechanismError, Noised, Sum, SumScores, VectorSum,
};
use queryables::number::{Epsilon, Order};
use queryables::prelude::*;
use queryables::privacy::{Distance, Gdp, Prices, Rdp, RdpGrid, facts};

pub(super) type Rows = Vec<f64>;

/// The rows themselves, as vectors with one coordinate. One that is 7 panics.
fn itself() -> Vector<Rows> {
    Vector::new("itself", |row: &f64, out: &mut [f64]| {
        assert!(*row != 7.0, "an unlucky row");
        out[0] = *row;
    })
}

const LATTICE: Lattice = Lattice::in_steps(-10, 1024);

/// A length of 1, for a ρ so large that the noise is zero but with probability below e^-200 (σ is 1/43 of a step).
const RHO: &str = "1e9";

pub(super) fn sum() -> Noised<VectorSum<Vector<Rows>>, GaussianNoise> {
    VectorSum::of(itself(), 1, LATTICE)
        .gaussian(RHO.parse::<Rho>().unwrap())
        .unwrap()
}

/// A zCDP filter in which a record can pay for this many vectors of length 1.
fn whole_vectors<F>(times: &str, rows: &[f64], prepare: F) -> Vec<f64>
where
    F: Fn(
        IndividualFilter<Rows, queryables::account::Capped<queryables::account::Sum<ZCdp>>>,
    )
        -> IndividualFilter<Rows, queryables::account::Capped<queryables::account::Sum<ZCdp>>>,
{
    let filter = prepare(IndividualFilter::new(ZCdp, times.parse().unwrap()));
    let running = start(&filter, Arc::new(rows.to_vec())).unwrap();
    let ask = |_| running.release(&sum()).unwrap()[0];
    (0..8).map(ask).collect()
}

#[test]
fn a_record_takes_part_as_long_as_it_can_pay() {
    // A half pays a quarter.
    let answers = whole_vectors("2e9", &[1.0, 0.5], |filter| filter);
    assert_eq!(answers, [1.5, 1.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
    let answers = whole_vectors("1.25e9", &[1.0, -0.5], |filter| filter);
    assert_eq!(answers, [0.5, -0.5, -0.5, -0.5, -0.5, 0.0, 0.0, 0.0]);
    // Just too little for one.
    let answers = whole_vectors("999999999.999", &[1.0], |filter| filter);
    assert_eq!(answers, [0.0; 8]);
}

#[test]
fn a_record_that_fits_contributes_what_it_can_still_pay_for() {
    let answers = whole_vectors("2.25e9", &[1.0], IndividualFilter::shrinking);
    assert_eq!(answers, [1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // Clipped first to the radius.
    let answers = whole_vectors("1.25e9", &[-30.0], IndividualFilter::shrinking);
    assert_eq!(answers, [-1.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn budgets_may_differ_below_the_declared_one() {
    silence_guarded_panics();
    // The record 7 has no budget, since its function panics; so do those in the same chunk keep theirs.
    let own = |row: &f64| {
        assert!(*row != 0.75);
        if *row > 0.9 { "5e9" } else { "0.25e9" }.parse().unwrap()
    };
    let answers = whole_vectors("2e9", &[1.0, 0.75, 0.5], |filter| filter.budgets(own));
    assert_eq!(answers, [1.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

/// The unreadable are in the midst of a chunk that others have paid in before it was run again.
#[test]
fn what_cannot_be_read_contributes_nothing_and_pays_nothing_and_others_pay_once() {
    silence_guarded_panics();
    let mut rows = vec![0.5; 3000];
    for (index, bad) in [
        (10, 7.0),
        (11, f64::NAN),
        (2000, f64::INFINITY),
        (2001, 7.0),
    ] {
        rows[index] = bad;
    }
    let filter = IndividualFilter::new(ZCdp, "0.5e9".parse().unwrap());
    let (running, readings) = start_individual(&filter, Arc::new(rows)).unwrap();
    let answers: Vec<f64> = (0..3)
        .map(|_| running.release(&sum()).unwrap()[0])
        .collect();
    assert_eq!(answers, [1498.0, 1498.0, 0.0]);
    for index in [10, 11, 2000, 2001] {
        assert_eq!(readings.spent(index), Ok(Some(RecordAmount::default())));
    }
    assert_eq!(readings.loss(12), Ok(Some("0.5e9".parse().unwrap())));
    assert_eq!(readings.spent(3000), Ok(None));
}

/// A query whose own code panics half way through a chunk.
#[derive(Clone)]
struct Clumsy;

impl<F: ValidIndividually<Children = PureDp>> queryables::compose::IndividualQuery<Vec<u8>, F>
    for Clumsy
{
    type Noise = ();
    type Total = u64;
    type Answer = u64;

    fn tariff(
        &self,
        units: &queryables::compose::RecordUnits<F>,
    ) -> Result<queryables::compose::Tariff, UnknownLoss> {
        units.flat(&"0.4".parse().unwrap())
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> u64 {
        0
    }

    fn take(
        &self,
        data: &Vec<u8>,
        records: std::ops::Range<usize>,
        payers: &mut queryables::compose::Payers<'_>,
    ) -> u64 {
        let mut total = 0;
        for row in &data[records] {
            total += payers.charge(1);
            assert_ne!(*row, 7);
        }
        total
    }

    fn merge(&self, total: &mut u64, chunk: u64) {
        *total += chunk;
    }

    fn answer(&self, total: u64, (): (), _: &mut Coins<'_>) -> Result<u64, Fault> {
        Ok(total)
    }
}

#[test]
fn accounts_are_restored_before_a_chunk_is_run_again() {
    silence_guarded_panics();
    let filter = IndividualFilter::new(PureDp, "1".parse().unwrap());
    let (running, readings) = start_individual(&filter, Arc::new(vec![1, 1, 7, 1])).unwrap();
    assert_eq!(running.release(&Clumsy), Ok(3));
    let spent: Vec<_> = (0..4).map(|row| readings.loss(row).unwrap()).collect();
    let spent: Vec<_> = spent
        .into_iter()
        .map(|loss| loss.unwrap().to_string())
        .collect();
    assert_eq!(spent, ["0.4", "0.4", "0", "0.4"]);
    assert_eq!(running.release(&Clumsy), Ok(3));
    assert_eq!(running.release(&Clumsy), Ok(0));
}

#[test]
fn an_empty_dataset_is_accepted() {
    let filter = IndividualFilter::new(PureDp, "1".parse().unwrap());
    let running = start(&filter, Arc::new(Vec::<i64>::new())).unwrap();
    let all = Predicate::new("all", |_: &i64| true);
    running
        .release(&Count::of(all).laplace(epsilon!(1)).unwrap())
        .unwrap();
    let itself = Attribute::new("itself", |row: &i64| *row);
    let sum = Sum::of(itself.clone(), 0..=3).laplace(epsilon!(1)).unwrap();
    running.release(&sum).unwrap();
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        SumScores::of([itself], 0..=3).unwrap(),
        epsilon("1"),
    )
    .unwrap();
    assert_eq!(running.release(&choice), Ok(0));
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// With an ε of a million the noise is zero but with probability e^-1000000; of 10^4, e^-10000.
#[test]
fn counts_cost_those_who_are_counted_and_sums_what_is_summed() {
    let rows = Arc::new(vec![1_i64, 2, -3]);
    let filter = IndividualFilter::new(PureDp, epsilon("1e6"));
    let (running, readings) = start_individual(&filter, rows).unwrap();
    let spent = || {
        let loss = |row| readings.loss(row).unwrap().unwrap().to_string();
        [0, 1, 2].map(loss)
    };
    let positive = Predicate::new("positive", |row: &i64| *row > 0);
    let count = Count::of(positive).laplace(epsilon!(4e5)).unwrap();
    assert_eq!(running.release(&count), Ok(2));
    assert_eq!(spent(), ["400000", "400000", "0"]);
    let itself = Attribute::new("itself", |row: &i64| *row);
    let sum = Sum::of(itself, -3..=3).laplace(epsilon!(9e5)).unwrap();
    // 3/9 of it each time; the second has 600000 left, and pays 600000; the third all of its million
    // but a tenth.
    assert_eq!(running.release(&sum), Ok(0));
    assert_eq!(spent(), ["700000", "1000000", "900000"]);
    assert_eq!(running.release(&sum), Ok(1));
    assert_eq!(spent(), ["1000000", "1000000", "900000"]);
    // Who is active pays for being counted.
    let active = ActiveRecords::times(2).laplace(epsilon!(5e4)).unwrap();
    assert_eq!(running.release(&active), Ok(1));
    assert_eq!(spent(), ["1000000", "1000000", "950000"]);
    // Fifty thousand are left: once, and not twice.
    assert_eq!(running.release(&active), Ok(0));
    let active = ActiveRecords::times(1).laplace(epsilon!(5e4)).unwrap();
    assert_eq!(running.release(&active), Ok(1));
    assert_eq!(running.release(&active), Ok(0));
}

#[test]
fn a_choice_costs_the_range_of_scores() {
    let rows = Arc::new(vec![[3_i64, 3], [0, 2], [-9, 9]]);
    let filter = IndividualFilter::new(PureDp, epsilon("1e6")).shrinking();
    let (running, readings) = start_individual(&filter, rows).unwrap();
    let score = |index| Attribute::new("score", move |row: &[i64; 2]| row[index]);
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        SumScores::of([score(0), score(1)], -2..=2).unwrap(),
        epsilon("8e5"),
    )
    .unwrap();
    // Ranges of 0, 2 and, cut off, 4 of 4.
    assert_eq!(running.release(&choice), Ok(1));
    let spent = |row| readings.loss(row).unwrap().unwrap().to_string();
    assert_eq!([0, 1, 2].map(spent), ["0", "400000", "800000"]);
    // The last pays for a range of 1.
    assert_eq!(running.release(&choice), Ok(1));
    assert_eq!([0, 1, 2].map(spent), ["0", "800000", "1000000"]);
}

/// The panic is in the second candidate only: the first one's score does not count either.
#[test]
fn a_record_of_which_one_score_cannot_be_read_takes_no_part_in_a_choice() {
    silence_guarded_panics();
    let mut rows = vec![[0_i64, 1]; 3000];
    rows[1500] = [1_000_000, 7];
    let filter = IndividualFilter::new(PureDp, epsilon("1e6"));
    let (running, readings) = start_individual(&filter, Arc::new(rows)).unwrap();
    let score = |index: usize| {
        Attribute::new("score", move |row: &[i64; 2]| {
            assert!(index == 0 || row[1] != 7, "an unlucky row");
            row[index]
        })
    };
    // With an ε of a million for all of the range, a lead of 2999 is a factor of e^2999; the record
    // that cannot be read would turn it around.
    let range = 0..=1_000_000;
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        SumScores::of([score(0), score(1)], range).unwrap(),
        epsilon("1e6"),
    )
    .unwrap();
    assert_eq!(running.release(&choice), Ok(1));
    assert_eq!(readings.spent(1500), Ok(Some(RecordAmount::default())));
    for other in [0, 1499, 1501, 2999] {
        assert_eq!(readings.loss(other), Ok(Some(epsilon("1"))));
    }
}

#[test]
fn sums_fit_what_is_left() {
    let filter = IndividualFilter::new(PureDp, epsilon("1e6")).shrinking();
    let running = start(&filter, Arc::new(vec![-10_i64])).unwrap();
    let itself = Attribute::new("itself", |row: &i64| *row);
    let sum = Sum::of(itself, -10..=10).laplace(epsilon!(7e5)).unwrap();
    let answers = [(); 3].map(|()| running.release(&sum).unwrap());
    // 300000 are left, for 4.28 of 10.
    assert_eq!(answers, [-10, -4, 0]);
}

#[test]
fn a_query_is_refused_for_public_reasons_only() {
    let filter = IndividualFilter::new(PureDp, epsilon("1")).at_most(2);
    let running = start(&filter, Arc::new(vec![1_i64])).unwrap();
    let all = Predicate::new("all", |_: &i64| true);
    let count = |loss| Count::of(all.clone()).laplace(epsilon(loss)).unwrap();
    // Nobody can pay, and nobody is told so.
    running.release(&count("5")).unwrap();
    let error = running.release(&count("1e6")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no known loss: the price is more than 900 times the budget of any record"
    );
    assert!(matches!(error, IndividualError::UnknownLoss(_)));
    running.release(&count("0.1")).unwrap();
    assert_eq!(
        running.release(&count("0.1")),
        Err(IndividualError::NotAnswered(AskError::Fault(
            Fault::Exhausted
        )))
    );
}

#[test]
fn nothing_is_shown() {
    let filter = IndividualFilter::new(PureDp, epsilon("1"));
    assert_eq!(
        format!("{filter:?}"),
        "IndividualFilter(children = PureDp, limit = 1, fits = false, own budgets = false, \
         rule = Capped)"
    );
    let (running, readings) = start_individual(&filter, Arc::new(vec![1_i64])).unwrap();
    assert_eq!(format!("{running:?}"), "RunningIndividualFilter");
    assert_eq!(format!("{readings:?}"), "Readings");
    let mut coins = queryables::machine::SystemCoins::new();
    let mut coins = queryables::machine::CoinSource::coins(&mut coins);
    let machine = filter.start(&Arc::new(vec![1_i64]), &mut coins).unwrap();
    assert_eq!(format!("{machine:?}"), "IndividualMachine");
}

#[test]
fn the_loss_is_the_declared_budget_and_group_privacy_at_a_distance() {
    let three = Distance::new(3).unwrap();
    let pure = IndividualFilter::<Rows, _>::new(PureDp, epsilon("0.5"));
    let under = |distance| Private::<PureDp, AddRemove>::loss_at(&pure, &PureDp, distance);
    assert_eq!(under(Distance::NEIGHBOURS), Ok(epsilon("0.5")));
    assert_eq!(under(three), Ok(epsilon("1.5")));
    assert_eq!(
        Private::<PureDp, Replace>::loss(&pure, &PureDp),
        Ok(epsilon("1"))
    );
    let concentrated = IndividualFilter::<Rows, _>::new(ZCdp, "0.5".parse().unwrap());
    let rho = |loss: Result<queryables::number::Rho, _>| loss.unwrap().to_string();
    assert_eq!(
        rho(Private::<ZCdp, AddRemove>::loss_at(
            &concentrated,
            &ZCdp,
            three
        )),
        "4.5"
    );
    assert_eq!(
        rho(Private::<ZCdp, Replace>::loss(&concentrated, &ZCdp)),
        "2"
    );
    assert_eq!(
        rho(Private::<ZCdp, Replace>::loss_at(
            &concentrated,
            &ZCdp,
            three
        )),
        "18"
    );
    let gaussian = IndividualFilter::<Rows, _>::new(Gdp, "0.5".parse().unwrap());
    let mu = Private::<Gdp, AddRemove>::loss_at(&gaussian, &Gdp, three).unwrap();
    assert_eq!(mu.to_string(), "1.5");
}

/// What all records have spent, besides δ.
fn numbers<D, F>(readings: &Readings<D, F>) -> Vec<u64>
where
    D: Dataset + Send + Sync + 'static,
    F: ValidIndividually,
{
    let spent = readings.all().unwrap().into_iter();
    spent.map(|spent| spent.number).collect()
}

/// How often a vector of length 1, and one of length 1/2, takes part.
fn times<F: SquaresAddUp<Children: Prices<facts::Gaussian>>>(
    rule: F,
    sum: &Noised<VectorSum<Vector<Rows>>, GaussianNoise>,
) -> [usize; 2] {
    let filter = IndividualFilter::with_rule(rule);
    let (running, readings): (_, Readings<Rows, F>) =
        start_individual(&filter, Arc::new(vec![1.0, 0.5])).unwrap();
    let mut paid = [0; 2];
    let mut before = vec![0, 0];
    for _ in 0..60 {
        running.release(sum).unwrap();
        let after = numbers(&readings);
        for row in 0..2 {
            paid[row] += usize::from(after[row] > before[row]);
        }
        before = after;
    }
    paid
}

#[test]
fn gaussian_sums_are_paid_for_under_every_rule_in_which_squares_add_up() {
    use queryables::account::{Accumulator, DefaultAccumulator, RootSumSquares, Sum, ThroughRdp};
    let sum = VectorSum::of(itself(), 1, LATTICE)
        .gaussian(mu!(0.1))
        .unwrap();
    // ρ = 0.005, of which a half pays 0.00125.
    assert_eq!(
        times(Sum::new(ZCdp).capped("0.05".parse().unwrap()), &sum),
        [10, 40]
    );
    assert_eq!(
        times(
            RootSumSquares::default().capped("0.3".parse().unwrap()),
            &sum
        ),
        [9, 36]
    );
    let order: Order = "4".parse().unwrap();
    assert_eq!(
        times(Rdp::new(order).accumulator().capped(epsilon("0.1")), &sum),
        [5, 20]
    );
    let budget = EpsilonDelta::new("1", "1e-6").unwrap();
    let natural = NaturalFilter::new(budget, Gdp).unwrap();
    let mu: f64 = natural.most().to_string().parse().unwrap();
    let most = [(mu * mu / 0.01) as usize, (mu * mu / 0.0025) as usize];
    assert_eq!(most, [5, 22]);
    assert_eq!(times(natural, &sum), most);
    let zcdp = ThroughZCdp::for_zcdp(budget).unwrap();
    let rho: f64 = queryables::account::ContinuationRule::remaining(&zcdp)
        .to_string()
        .parse()
        .unwrap();
    let most = [(rho / 0.005) as usize, (rho / 0.00125) as usize];
    assert_eq!(times(zcdp, &sum), most);
    let grid = RdpGrid::new([order, "20".parse().unwrap()]).unwrap();
    let rdp = ThroughRdp::on_grid_at(grid, "20".parse().unwrap(), budget).unwrap();
    let room = queryables::account::ContinuationRule::remaining(&rdp).epsilons()[1];
    let room: f64 = room.to_string().parse().unwrap();
    assert_eq!(
        times(rdp, &sum),
        [(room / 0.1) as usize, (room / 0.025) as usize]
    );
}

#[test]
fn a_price_list_is_paid_by_those_who_are_counted() {
    let limit = EpsilonDelta::new("1", "1e-6").unwrap();
    let menu = [
        MenuEntry::new(epsilon("0.02"), 1),
        MenuEntry::new(epsilon("0.04"), 4),
    ];
    let rule = MenuFilter::new(limit, limit.delta, epsilon("0.02"), &menu).unwrap();
    let budget = rule.budget();
    let filter = IndividualFilter::with_rule(rule);
    let (running, readings) = start_individual(&filter, Arc::new(vec![1_u8, 2])).unwrap();
    let ones = Predicate::new("ones", |row: &u8| *row == 1);
    let count = |loss| Count::of(ones.clone()).laplace(epsilon(loss)).unwrap();
    running.release(&count("0.03")).unwrap();
    running.release(&count("0.02")).unwrap();
    assert_eq!(numbers(&readings), [5, 0]);
    for _ in 0..budget {
        running.release(&count("0.02")).unwrap();
    }
    assert_eq!(numbers(&readings), [budget, 0]);
    assert_eq!(
        running.release(&count("0.05")),
        Err(UnknownLoss("the menu has no entry for this loss").into())
    );
    assert_eq!(readings.loss(0), Ok(None));
}

/// Under zCDP a sum costs what Laplace noise does at the record's own number.
#[test]
fn a_sum_under_zcdp_costs_the_price_of_its_number() {
    let filter = IndividualFilter::new(ZCdp, "1".parse().unwrap());
    let (running, readings) = start_individual(&filter, Arc::new(vec![1_i64, 5, 33])).unwrap();
    let itself = Attribute::new("itself", |row: &i64| *row);
    running
        .release(&Sum::of(itself, 0..=40).laplace(epsilon!(0.4)).unwrap())
        .unwrap();
    // ε − s/sinh(s) · (1 − e^−ε) with s = 0.01, for ε = 0.01, 0.05, 0.34: 33 is priced as 34.
    let prices = [
        4.999_958_333_749_995e-5,
        0.001_230_237_334_155_929_7,
        0.051_775_126_534_519_6,
    ];
    for (row, paid) in prices.into_iter().enumerate() {
        let spent: f64 = readings
            .loss(row)
            .unwrap()
            .unwrap()
            .to_string()
            .parse()
            .unwrap();
        assert!(spent >= paid && spent < paid + 3e-15, "{spent} {paid}");
    }
}

#[test]
fn bad_parameters_are_errors_at_construction() {
    let sum = |dimension, radius, rho: &str| {
        let lattice = Lattice::of_whole_numbers(radius);
        VectorSum::of(itself(), dimension, lattice)
            .gaussian(rho.parse::<Rho>().unwrap())
            .map(|_| ())
    };
    let none = sum(0, 1, "1").unwrap_err();
    assert_eq!(
        none.to_string(),
        "0 coordinates were given: there must be at least 1"
    );
    let (what, asked, most) = ("coordinates", (1 << 21) + 1, 1 << 21);
    let too_many = MechanismError::TooMany { what, asked, most };
    assert_eq!(sum(asked, 1, "1"), Err(too_many));
    // A few steps are enough for whole numbers only.
    let coarse = Lattice::in_steps(0, 49);
    let refused = VectorSum::of(itself(), 1, coarse)
        .gaussian(rho!(1))
        .map(|_| ());
    let (exponent, steps, least) = (0, 98, 100);
    let expected = MechanismError::CoarseStep {
        exponent,
        steps,
        least,
    };
    assert_eq!(refused, Err(expected));
    for radius in [0, (1 << 50) + 1] {
        let message = format!("the radius must be from 1 to 2^50 steps, not {radius}");
        assert_eq!(sum(1, radius, "1").unwrap_err().to_string(), message);
    }
    assert_eq!(sum(1, 1, "0"), Err(MechanismError::NoLoss("rho")));
    let itself = Attribute::<Vec<i64>, i64>::new("itself", |row: &i64| *row);
    for range in [1..=3, -3..=-1, 0..=0] {
        let message = format!(
            "the range {range:?} must contain zero and something else, and be at most 2^31 long"
        );
        let scores = SumScores::of([itself.clone()], range);
        assert_eq!(scores.map(|_| ()).unwrap_err().to_string(), message);
    }
    let nobody = Choice::by(
        AddRemove,
        ExponentialMechanism,
        SumScores::<Vec<i64>>::of([], 0..=1).unwrap(),
        epsilon("1"),
    );
    let nobody = nobody.map(|_| ()).unwrap_err().to_string();
    assert_eq!(nobody, "0 candidates were given: there must be at least 1");
}

/// What all can pay for together, and each record cannot pay for alone.
#[test]
fn what_records_cannot_pay_for_is_refused() {
    let filter = IndividualFilter::new(ZCdp, "1".parse().unwrap());
    let running = start(&filter, Arc::new(vec![1.0])).unwrap();
    let sum = |dimension, radius| {
        let sum = VectorSum::of(itself(), dimension, Lattice::of_whole_numbers(radius));
        running
            .release(&sum.gaussian(rho!(1e-6)).unwrap())
            .map(|_| ())
    };
    let why = "records pay for at most 2^16 coordinates, and a radius of at most 2^26 steps";
    assert_eq!(sum((1 << 16) + 1, 1), Err(UnknownLoss(why).into()));
    assert_eq!(sum(1, (1 << 26) + 1), Err(UnknownLoss(why).into()));
    assert_eq!(sum(1, 1 << 26), Ok(()));
    let running = start(
        &IndividualFilter::new(PureDp, epsilon("1")),
        Arc::new(vec![1_i64]),
    );
    let running = running.unwrap();
    let itself = Attribute::new("itself", |row: &i64| *row);
    for range in [1..=3, -3..=-1] {
        let sum = Sum::of(itself.clone(), range).laplace(epsilon!(1)).unwrap();
        let why = "whoever cannot pay contributes zero, which the range must contain";
        assert_eq!(running.release(&sum), Err(UnknownLoss(why).into()));
    }
}

#[test]
fn an_odometer_reads_whole_steps_and_refuses_only_what_is_more_than_one() {
    let odometer = IndividualOdometer::new(PureDp, epsilon("1"));
    let (running, readings) = start_individual(&odometer, Arc::new(vec![1_i64, 2, 4])).unwrap();
    let itself = Attribute::new("itself", |row: &i64| *row);
    let sum = Sum::of(itself.clone(), 0..=10)
        .laplace(epsilon!(1))
        .unwrap();
    let read = || [0, 1, 2].map(|row| readings.loss(row).unwrap().unwrap().to_string());
    assert_eq!(read(), ["1", "1", "1"]);
    let mut seen = Vec::new();
    for _ in 0..5 {
        running.release(&sum).unwrap();
        seen.push(read());
    }
    // 4 + 4, and then another step begins.
    assert_eq!(
        seen,
        [
            ["1", "1", "1"],
            ["1", "1", "1"],
            ["1", "1", "2"],
            ["1", "1", "2"],
            ["1", "1", "3"]
        ]
    );
    let large = Sum::of(itself, 0..=10).laplace(epsilon!(1.1)).unwrap();
    assert_eq!(
        running.release(&large),
        Err(UnknownLoss("a query of an odometer may cost a record at most one step").into())
    );
    assert_eq!(
        start_individual(
            &IndividualOdometer::new(PureDp, Epsilon::ZERO),
            Arc::new(Vec::<i64>::new())
        )
        .map(|_| ()),
        Err(Fault::InvalidQuery("the step must be greater than zero"))
    );
}

/// Enough records to be divided among threads, some of which cannot be read, and some of which run
/// out.
#[test]
fn threads_make_no_difference() {
    silence_guarded_panics();
    let row = |index: usize| match index % 50_021 {
        17 => 7.0,
        index => (index % 1000) as f64 / 1000.0,
    };
    let rows: Arc<Rows> = Arc::new((0..200_000).map(row).collect());
    let filter = IndividualFilter::new(ZCdp, "1.7e9".parse().unwrap()).shrinking();
    let run = || {
        let (running, readings) = start_individual(&filter, Arc::clone(&rows)).unwrap();
        let answers = [(); 3].map(|()| running.release(&sum()).unwrap());
        (answers, readings.all().unwrap())
    };
    // On a thread of a pool, a pass uses no other thread.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(run(), pool.install(run));
}

proptest::proptest! {
    /// With ρ = 3e11 and a radius of at most 10000, the noise is zero but with probability below
    /// e^-600: the answer is the vector that was summed.
    #[test]
    fn what_is_summed_is_what_is_charged(
        vector in proptest::array::uniform3(-20_000.0..20_000.0_f64),
        radius in 1_u64..10_000, share in 1_u64..40, fits: bool,
    ) {
        let itself = Vector::new("itself", |row: &[f64; 3], out: &mut [f64]| {
            out.copy_from_slice(row);
        });
        let lattice = Lattice::of_whole_numbers(radius);
        let sum = VectorSum::of(itself, 3, lattice).gaussian(rho!(3e11)).unwrap();
        // In tenths of the price of the longest vector.
        let budget = format!("{}e10", 3 * share.min(11));
        let filter = IndividualFilter::new(ZCdp, budget.parse().unwrap());
        let filter = if fits { filter.shrinking() } else { filter };
        let (running, readings) = start_individual(&filter, Arc::new(vec![vector])).unwrap();
        let longest = readings.units().price(&"3e11".parse().unwrap()).unwrap().number;
        let mut before = 0;
        for _ in 0..5 {
            let answer = running.release(&sum).unwrap();
            let square: f64 = answer.iter().map(|steps| steps * steps).sum();
            for (summed, number) in answer.iter().zip(vector) {
                proptest::prop_assert!(summed.abs() <= number.abs() + 0.5);
                proptest::prop_assert!(summed * number >= 0.0);
            }
            let after = readings.spent(0).unwrap().unwrap().number;
            let exact = u128::from(longest) * (square as u128);
            let price = exact.div_ceil(u128::from(radius).pow(2)) as u64;
            proptest::prop_assert!((price..=price + 1).contains(&(after - before)));
            proptest::prop_assert!(square <= (radius * radius) as f64);
            proptest::prop_assert!(after <= readings.units().budget().number);
            before = after;
        }
        // Whoever could pay for a whole step more does not stop before.
        let left = readings.units().budget().number - before;
        let whole: f64 = vector.iter().map(|number| number.abs()).sum();
        if fits && whole > 40_000.0 {
            proptest::prop_assert!(u128::from(left) * u128::from(radius).pow(2) <= u128::from(longest) * 4
                * (1 + u128::from(radius)));
        }
    }
}
