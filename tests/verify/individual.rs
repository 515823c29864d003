//! Individual filters before the exact verifier: small instances with their exact values, for the
//! filter of this crate and for planted bugs.

use std::ops::Range;
use std::sync::Arc;

use crate::individual_bugs::{Bug, Individual, Kernel, Row, Told};
use crate::support::*;
use queryables::account::ValidIndividually;
use queryables::compose::{
    Addressed, Filter, IndividualAnswers, IndividualFilter, IndividualMachine, IndividualOdometer,
    IndividualQuery, Message, Parallel, Payers, RecordUnits, Reply, Tariff,
};
use queryables::machine::{
    CoinSource, Coins, Fault, Inspect, Machine, Mechanism, Released, SystemCoins,
};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::{Pair, Rational, Value, Verifier, copies_of};

/// A query by its number, with the kernel of the whole instance: what the planted ones ask, as a
/// query of the filter of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ask {
    query: usize,
    kernel: Kernel,
}

/// ln 2, or ln 3/2 for samples, rounded up to 12 digits: they are exact in units of accounts.
fn unit(kernel: Kernel) -> Epsilon {
    let text = match kernel {
        Kernel::Sampled => "0.405465108109",
        _ => "0.693147180560",
    };
    text.parse().unwrap()
}

impl<F: ValidIndividually<Children = PureDp>> IndividualQuery<Vec<Row>, F> for Ask {
    type Noise = ();
    type Total = u64;
    type Answer = Told;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let unit = unit(self.kernel);
        match self.kernel {
            Kernel::Geometric(_) => units.proportional(&unit.checked_mul(2).unwrap(), 2),
            _ => units.flat(&unit),
        }
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> u64 {
        0
    }

    fn take(&self, data: &Vec<Row>, records: Range<usize>, payers: &mut Payers<'_>) -> u64 {
        let sizes = data[records].iter().map(|row| row[self.query]);
        sizes
            .map(|size| payers.charge_or(size, |allowed| allowed))
            .sum()
    }

    fn merge(&self, total: &mut u64, chunk: u64) {
        *total += chunk;
    }

    fn answer(&self, total: u64, (): (), coins: &mut Coins<'_>) -> Result<Told, Fault> {
        Ok(Told::Answer(self.kernel.answer(total, coins)?))
    }
}

type Pure = queryables::account::Capped<queryables::account::Sum<PureDp>>;

/// The filter of this crate, with a budget in multiples of the unit.
fn right(kernel: Kernel, budget: u64) -> IndividualFilter<Vec<Row>, Pure> {
    IndividualFilter::new(PureDp, unit(kernel).checked_mul(budget).unwrap())
}

/// The largest ratio, the hockey-stick divergence at γ, and the moment of order 2; `None` is
/// infinite.
type Values = [Option<Rational>; 3];

fn values<Q, M>(
    mechanism: M,
    pair: &Pair<Vec<Row>>,
    menu: Vec<Q>,
    depth: usize,
    gamma: u64,
) -> Values
where
    Q: Clone + std::fmt::Debug + Send + Sync + 'static,
    M: Mechanism<Vec<Row>, Machine: Machine<Query = Q, Answer = Told> + Inspect + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let verifier = Verifier::by_state(copies_of(&mechanism), pair, menu, depth);
    let finite = |value: Value| match value {
        Value::Infinite => None,
        value => Some(value.exact().expect("exact").clone()),
    };
    [
        finite(verifier.worst_ratio().unwrap().value),
        finite(verifier.worst_delta(Rational::from(gamma)).unwrap().value),
        finite(verifier.worst_renyi("2".parse().unwrap()).unwrap().value),
    ]
}

/// One instance: a record, the others, and everything else.
struct Instance {
    kernel: Kernel,
    record: Row,
    others: Vec<Row>,
    budget: u64,
    depth: usize,
    gamma: u64,
}

impl Instance {
    fn pair(&self) -> Pair<Vec<Row>> {
        let with = [std::slice::from_ref(&self.record), &self.others].concat();
        Pair::new(with, self.others.clone())
    }

    fn menu(&self) -> Range<usize> {
        0..self.record.len()
    }

    fn right(&self, filter: IndividualFilter<Vec<Row>, Pure>) -> Values {
        let kernel = self.kernel;
        let menu = self.menu().map(|query| Ask { query, kernel }).collect();
        let answers = IndividualAnswers::<_, _, Ask>::new(filter);
        values(answers, &self.pair(), menu, self.depth, self.gamma)
    }

    fn drops(&self) -> Values {
        self.right(right(self.kernel, self.budget))
    }

    fn wrong(&self, bug: Bug) -> Values {
        let individual = Individual {
            bug,
            budget: self.budget,
            delta: 0,
            kernel: self.kernel,
        };
        values(
            individual,
            &self.pair(),
            self.menu().collect(),
            self.depth,
            self.gamma,
        )
    }

    /// The planted one without a bug is the filter of this crate.
    #[track_caller]
    fn assert_right(&self, expected: Values) {
        assert_eq!(self.drops(), expected);
        assert_eq!(self.wrong(Bug::Nothing), expected);
    }
}

fn finite(values: [(i64, u64); 3]) -> Values {
    values.map(|(numerator, denominator)| Some(ratio(numerator, denominator)))
}

const INFINITE: Values = [None, Some(Rational::ONE), None];

fn geometric(most: u64, depth: usize) -> Instance {
    Instance {
        kernel: Kernel::Geometric(most),
        record: vec![1, 0],
        others: vec![vec![0, 1]; 2],
        budget: 1,
        depth,
        gamma: 2,
    }
}

#[test]
fn that_one_is_out_stops_nobody_else() {
    let instance = geometric(3, 3);
    instance.assert_right(finite([(2, 1), (0, 1), (3, 2)]));
    let silently = instance.wrong(Bug::AllStopSilently);
    assert_eq!(silently, finite([(8, 1), (1, 3), (69, 16)]));
    assert_eq!(instance.wrong(Bug::AllStopPublicly), INFINITE);
}

#[test]
fn a_record_that_has_too_little_left_does_not_take_part() {
    let instance = Instance {
        record: vec![2],
        others: vec![],
        budget: 3,
        gamma: 8,
        ..geometric(3, 3)
    };
    instance.assert_right(finite([(4, 1), (0, 1), (23, 8)]));
    let fits = instance.right(right(instance.kernel, 3).shrinking());
    assert_eq!(fits, finite([(8, 1), (0, 1), (69, 16)]));
    let wrong = instance.wrong(Bug::CheckedThenCharged);
    assert_eq!(wrong, finite([(16, 1), (2, 9), (529, 64)]));
}

#[test]
fn nobody_pays_from_the_account_of_others() {
    let instance = geometric(2, 3);
    instance.assert_right(finite([(2, 1), (0, 1), (3, 2)]));
    let others = instance.wrong(Bug::BudgetOfOthers);
    assert_eq!(others, finite([(16, 1), (4, 9), (207, 32)]));
    assert_eq!(
        instance.wrong(Bug::Pooled),
        finite([(8, 1), (1, 3), (27, 8)])
    );
}

#[test]
fn how_many_are_active_is_not_told_and_nothing_is_refused_for_it() {
    let instance = Instance {
        others: vec![vec![0, 1]],
        ..geometric(1, 2)
    };
    instance.assert_right(finite([(2, 1), (0, 1), (3, 2)]));
    assert_eq!(instance.wrong(Bug::TellsActive), INFINITE);
    assert_eq!(instance.wrong(Bug::RefusesWhenAllAreOut), INFINITE);
}

#[test]
fn prices_hold_for_all_datasets_and_not_for_the_one_at_hand() {
    let group = |query: usize| {
        let row: Row = (0..4)
            .map(|other| u64::from(other / 2 == query / 2))
            .collect();
        vec![row; 2]
    };
    let instance = Instance {
        kernel: Kernel::AtLeastTwo,
        record: vec![1, 0, 1, 0],
        others: [group(0), group(2)].concat(),
        ..geometric(1, 4)
    };
    instance.assert_right(finite([(1, 1), (0, 1), (1, 1)]));
    let wrong = instance.wrong(Bug::PricedForTheInstance);
    assert_eq!(wrong, finite([(8, 1), (2, 9), (27, 8)]));
}

#[test]
fn the_price_of_a_sample_is_paid_whether_sampled_or_not() {
    for depth in 1..=4 {
        let instance = Instance {
            kernel: Kernel::Sampled,
            record: vec![1],
            others: vec![],
            ..geometric(1, depth)
        };
        let [right, ..] = instance.drops();
        assert_eq!(right, Some(ratio(3, 2)));
        let [same, ..] = instance.wrong(Bug::Nothing);
        assert_eq!(same, right);
        let [wrong, ..] = instance.wrong(Bug::PaysWhenSampled);
        let expected = ratio(2, 1) - ratio(1, 1 << depth);
        assert_eq!(wrong, Some(expected), "{depth}");
    }
}

// ---- parallel composition --------------------------------------------------------------------

const TWO: Kernel = Kernel::Geometric(2);

/// A noisy count of a part.
#[derive(Clone, Copy, Debug)]
struct CountOfPart;

impl Mechanism<Vec<Row>> for CountOfPart {
    type Machine = Released<u64>;

    fn start(&self, data: &Arc<Vec<Row>>, coins: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(TWO.answer(data.len() as u64, coins)?))
    }
}

impl Private<PureDp, AddRemove> for CountOfPart {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(unit(TWO))
    }
}

type Parts = Parallel<usize, Vec<Row>, Addressed<Filter<Pure>, CountOfPart>>;

/// A parallel composition that is asked for counts of parts, and answers with noise where a part's
/// filter has nothing left.
#[derive(Clone)]
struct CountsOfParts(Parts);

struct CountingParts(<Parts as Mechanism<Vec<Row>>>::Machine);

impl Mechanism<Vec<Row>> for CountsOfParts {
    type Machine = CountingParts;

    fn start(&self, data: &Arc<Vec<Row>>, coins: &mut Coins<'_>) -> Result<CountingParts, Fault> {
        Ok(CountingParts(self.0.start(data, coins)?))
    }
}

impl Machine for CountingParts {
    type Query = Ask;
    type Answer = Told;

    fn step(&mut self, ask: Ask, coins: &mut Coins<'_>) -> Result<Told, Fault> {
        let part = ask.query;
        match self.0.step((part, Message::Launch(CountOfPart)), coins)? {
            Reply::Launched(child) => {
                let answer = self.0.step((part, Message::Ask(child, ())), coins)?;
                let Reply::Answered(answer) = answer else {
                    return Err(Fault::Failed);
                };
                Ok(Told::Answer(answer))
            }
            _ => Ok(Told::Answer(TWO.answer(0, coins)?)),
        }
    }
}

#[test]
fn parallel_composition_is_the_filter_in_which_a_part_pays_for_its_count() {
    let part = |row: &Row| row.iter().position(|size| *size > 0).unwrap_or(9);
    let asks = |budget: u64, parts_budget: u64| {
        let limit = unit(TWO).checked_mul(parts_budget).unwrap();
        let filter = Addressed::new(Filter::concurrent(PureDp, limit));
        let filters = [0, 1].map(|key| (key, filter.clone()));
        let parallel = CountsOfParts(Parallel::new(part, filters).unwrap());
        let individual = IndividualAnswers::<_, _, Ask>::new(right(TWO, budget));
        let data: Arc<Vec<Row>> = Arc::new(vec![vec![1, 0], vec![0, 1], vec![0, 1], vec![0, 0]]);
        let menu: Vec<Ask> = [0, 1].map(|query| Ask { query, kernel: TWO }).into();
        let verifier =
            Verifier::comparing(copies_of(&parallel), copies_of(&individual), &data, menu, 4);
        exact(&verifier.difference().unwrap())
    };
    assert_eq!(asks(2, 2), Rational::ZERO);
    assert_eq!(asks(1, 1), Rational::ZERO);
    // It notices another budget.
    assert!(asks(2, 1) > Rational::ZERO);
}

// ---- odometer --------------------------------------------------------------------------------

/// What the analyst sees of an odometer until the reading of one record exceeds a threshold. The
/// reading is that of an odometer on this record alone, asked the same: it depends on nothing else.
#[derive(Clone)]
struct UntilReading {
    odometer: IndividualOdometer<Vec<Row>, queryables::account::Sum<PureDp>>,
    record: Row,
    /// In units of accounts.
    threshold: u64,
    /// Whether the answer that exceeds it is still shown.
    late: bool,
}

struct ReadUntil {
    running: IndividualMachine<Vec<Row>, Pure>,
    meter: IndividualMachine<Vec<Row>, Pure>,
    threshold: u64,
    late: bool,
}

impl Mechanism<Vec<Row>> for UntilReading {
    type Machine = ReadUntil;

    fn start(&self, data: &Arc<Vec<Row>>, coins: &mut Coins<'_>) -> Result<ReadUntil, Fault> {
        let record = Arc::new(vec![self.record.clone()]);
        Ok(ReadUntil {
            running: self.odometer.start(data, coins)?,
            meter: self.odometer.start(&record, coins)?,
            threshold: self.threshold,
            late: self.late,
        })
    }
}

impl ReadUntil {
    fn read(&self) -> u64 {
        self.meter.account(0).unwrap().number
    }
}

impl Machine for ReadUntil {
    type Query = Ask;
    type Answer = Told;

    fn step(&mut self, ask: Ask, coins: &mut Coins<'_>) -> Result<Told, Fault> {
        let failed = |_| Fault::Failed;
        let before = self.read() > self.threshold;
        // What the meter answers is not shown.
        self.meter.release(&ask, coins).map_err(failed)?;
        let after = self.read() > self.threshold;
        if before || (after && !self.late) {
            return Err(Fault::Exhausted);
        }
        self.running.release(&ask, coins).map_err(failed)
    }
}

impl Inspect for ReadUntil {
    fn inspect(&self, key: &mut queryables::machine::StateKey) {
        key.write(&self.running);
        key.write(&self.meter);
    }
}

/// F Cor. 5.3: a step of 2 ln 2, and contributions of 2 and 1.
#[test]
fn the_view_until_a_reading_exceeds_a_threshold_is_within_it() {
    let kernel = Kernel::Geometric(1);
    let step = unit(kernel).checked_mul(2).unwrap();
    let odometer = IndividualOdometer::new(PureDp, step);
    let record = vec![2, 1];
    let pair = Pair::new(vec![record.clone(), vec![1, 0]], vec![vec![1, 0]]);
    let worst = |steps: u64, late: bool| {
        let data = Arc::new(vec![record.clone()]);
        let mut coins = SystemCoins::new();
        let meter = odometer.start(&data, &mut coins.coins()).unwrap();
        let until = UntilReading {
            odometer: odometer.clone(),
            record: record.clone(),
            // A record that has spent nothing reads one step.
            threshold: steps * meter.account(0).unwrap().number,
            late,
        };
        let menu: Vec<Ask> = [0, 1].map(|query| Ask { query, kernel }).into();
        let verifier = Verifier::by_state(copies_of(&until), &pair, menu, 4);
        exact(&verifier.worst_ratio().unwrap())
    };
    // One step is 2^2, two are 2^4, and both are attained.
    assert_eq!(worst(1, false), ratio(4, 1));
    assert_eq!(worst(2, false), ratio(16, 1));
    assert_eq!(worst(1, true), ratio(16, 1));
}
