//! The other mechanisms, on tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{VISITS, no_noise, released, schema, table_of, visits};
use crate::account::{Accumulator, DefaultAccumulator};
use crate::compose::LaunchError;
use crate::machine::{CoinSource, DomainMismatch};
use crate::machine::{Machine, Mechanism, NotPrivateSeededCoins, PublicMetadata};
use crate::mechanisms::query::Unavailable;
use crate::mechanisms::table::Cells;
use crate::mechanisms::{
    AboveThreshold, Accuracy, Choice, CountScores, CountsBy, ExponentialMechanism, MechanismError,
    MultiplicativeWeights, NoisyMax, Priced, QueryAnswerer, QueryExt, sensitivity_between,
};
use crate::prelude::*;
use crate::privacy::{Private, RhoDelta};
use crate::table::{Condition, Grouping, Plan, RowTable, Schema, Table, TableError, Value};

#[test]
fn a_choice_is_made_in_one_pass() {
    let schema = schema();
    let table = Watched::new(&schema);
    let scores = schema
        .count()
        .rows_per_person(3)
        .by("state")
        .unwrap()
        .scores()
        .unwrap();
    let choice = Choice::by(AddRemove, NoisyMax, scores.clone(), no_noise()).unwrap();
    let mut coins = NotPrivateSeededCoins::new(1);
    let table = Arc::new(table);
    let chosen = choice.start(&table, &mut coins.coins()).unwrap().0;
    assert_eq!(scores.key(chosen), ["CA"]);
    assert_eq!(table.passes(), 1);
    // Three visits of two patients, and two of two.
    let count = |rows: u64| {
        let scores = schema.count().rows_per_person(rows).by("state").unwrap();
        let mut found = [0; 2];
        let scores = scores.scores().unwrap();
        crate::mechanisms::Evaluate::evaluate(&scores, &*table, &mut found).unwrap();
        found
    };
    assert_eq!(count(1), [2, 2]);
    assert_eq!(count(2), [3, 2]);
    assert_eq!(
        format!("{choice:?}"),
        format!(
            "NoisyMax(relation = add or remove one row, candidates = Groups, \
             candidates.by = state IN ('CA', 'NY'), candidates.schema = {}, \
             candidates.one row = all rows with one value of patient, candidates.rows of a person = 3, epsilon = 100000000000)",
            schema.digest()
        )
    );
}

/// All patients with at most two visits, in two states, one or none.
fn patients() -> Vec<Vec<Option<&'static str>>> {
    let states = [Some("CA"), Some("NY"), None];
    let one = states.iter().map(|state| vec![*state]);
    let two = states
        .iter()
        .flat_map(|state| states.iter().map(|other| vec![*state, *other]));
    [vec![]].into_iter().chain(one).chain(two).collect()
}

fn with_patient(schema: &Schema, states: &[Option<&'static str>]) -> RowTable {
    let visits = states.iter().map(|state| (Some(9), *state, None, None));
    let visits: Vec<_> = VISITS.into_iter().chain(visits).collect();
    (*table_of(schema, &visits)).clone()
}

#[test]
fn scores_move_apart_by_what_is_stated_and_no_less() {
    let schema = schema();
    for rows in [1, 2] {
        let scores = schema
            .count()
            .rows_per_person(rows)
            .by("state")
            .unwrap()
            .scores()
            .unwrap();
        let tables: Vec<RowTable> = patients()
            .iter()
            .map(|states| with_patient(&schema, states))
            .collect();
        let apart = |one, other| sensitivity_between(AddRemove, &scores, one, other).unwrap();
        let added = tables.iter().map(|table| apart(&tables[0], table)).max();
        assert_eq!(added, Some(rows.into()));
        let pairs = tables
            .iter()
            .flat_map(|one| tables.iter().map(move |other| (one, other)));
        let replaced = pairs.map(|(one, other)| apart(one, other)).max();
        assert_eq!(replaced, Some(2 * u128::from(rows)));
        use crate::mechanisms::Score;
        assert_eq!(
            Score::<AddRemove>::sensitivity(&scores).apart(),
            rows.into()
        );
        assert_eq!(
            Score::<Replace>::sensitivity(&scores).apart(),
            2 * u128::from(rows)
        );
    }
}

#[test]
fn one_person_changes_the_count_of_one_key_by_one() {
    let schema = schema();
    let keys = |states: &[Option<&'static str>]| {
        let mut keys = with_patient(&schema, states)
            .tally_keys(None, "state")
            .unwrap();
        keys.retain(|(_, count)| *count > 0);
        keys
    };
    let without = keys(&[]);
    for states in patients() {
        let with = keys(&states);
        let total = |keys: &[(Value, u64)]| keys.iter().map(|(_, count)| *count).sum::<u64>();
        let has_key = states.iter().any(Option::is_some);
        assert_eq!(
            total(&with),
            total(&without) + u64::from(has_key),
            "{states:?}"
        );
        let grown = with.iter().filter(|key| !without.contains(key)).count();
        assert_eq!(grown, usize::from(has_key), "{states:?}");
    }
}

/// An answer that was sent again after its stream had ended.
struct Repeated(Arc<RowTable>);

impl PublicMetadata for Repeated {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        self.0.metadata()
    }
}

impl Table for Repeated {
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        self.0.tally(plan)
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        let keys = self.0.tally_keys(condition, column)?;
        Ok([keys.clone(), keys].concat())
    }
}

/// It would be released twice, with noise of its own each time.
#[test]
fn a_key_that_comes_twice_is_no_answer() {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    let keys = schema.count().keys("state").unwrap();
    assert!(keys.counts(&*table).unwrap().len() > 1);
    assert_eq!(keys.counts(&Repeated(table)), Err(Unavailable));
}

#[test]
fn quantiles_are_buckets_of_the_least_value_of_each_person() {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    let nights = schema
        .count()
        .by_buckets("night", [0, 5, 10, 50, 600])
        .unwrap();
    // The least nights are 3, 7, none and 1: that below zero is in no bucket.
    let quantiles = nights
        .quantiles(AddRemove, [(1, 10), (1, 2), (9, 10)], no_noise())
        .unwrap();
    let found: Vec<(Value, Value)> = released(&quantiles, &table);
    let bucket = |low: i64, high: i64| (Value::from(low), Value::from(high));
    assert_eq!(found, [bucket(0, 5), bucket(0, 5), bucket(5, 10)]);
    assert_eq!(
        format!("{quantiles:?}"),
        format!(
            "NoisyQuantiles(relation = add or remove one row, \
             by = night BETWEEN EDGES (0, 5, 10, 50, 600), schema = {}, \
             one row = all rows with one value of patient, range = 0..=3, \
             quantiles = [1/10, 1/2, 9/10], epsilon = 100000000000)",
            schema.digest()
        )
    );
    assert_eq!(
        quantiles.about().to_string(),
        "of all rows in the dataset, in buckets, each person in their least one"
    );
    // By categories there is no order.
    let states = schema
        .count()
        .by("state")
        .unwrap()
        .quantiles(AddRemove, [(1, 2)], no_noise());
    let problem = "must be grouped by buckets, and nothing else must be";
    let column = "state".to_owned();
    let error = MechanismError::Table(TableError::BadColumn { column, problem });
    assert_eq!(states.map(|_| ()), Err(error));
    let several = nights
        .rows_per_person(2)
        .quantiles(AddRemove, [(1, 2)], no_noise());
    assert_eq!(
        several.map(|_| ()).unwrap_err().to_string(),
        "the number of rows of a person must be 1, because each person is in one bucket, not 2"
    );
}

#[test]
fn a_person_arrives_once() {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    let over_time = schema
        .count()
        .by_buckets("night", [0, 2, 4, 100, 1000])
        .unwrap();
    let over_time = over_time.over_time().unwrap().laplace(no_noise()).unwrap();
    let mut coins = NotPrivateSeededCoins::new(3);
    let mut machine = over_time.start(&table, &mut coins.coins()).unwrap();
    let counts = [0, 1, 2, 3, 4].map(|time| machine.step(time, &mut coins.coins()).unwrap());
    assert_eq!(counts, [0, 1, 2, 3, 3]);
    let beyond = Fault::InvalidQuery("the time is beyond the horizon");
    assert_eq!(machine.step(5, &mut coins.coins()), Err(beyond));
}

#[test]
fn keys_that_nobody_listed_are_found_with_both_noises() {
    let schema = schema();
    let many: Vec<_> = (0..1000_i64)
        .map(|patient| {
            (
                Some(patient),
                Some(if patient % 4 == 0 { "TX" } else { "CA" }),
                None,
                Some(1),
            )
        })
        .chain([
            (Some(0), Some("a rare one"), None, Some(1)),
            (Some(2000), Some("b"), None, None),
        ])
        .collect();
    let table = table_of(&schema, &many);
    let keys = || {
        schema
            .count()
            .filter("night = 1")
            .unwrap()
            .keys("state")
            .unwrap()
    };
    let loss = EpsilonDelta::new("1000000", "1e-6").unwrap();
    let found: Vec<(Value, i64)> = released(&keys().laplace(AddRemove, loss).unwrap(), &table);
    // Texts compare by bytes: "TX" is less than "a rare one".
    assert_eq!(found, [(Value::from("CA"), 750), (Value::from("TX"), 250)]);
    let loss = RhoDelta::new("1000000", "1e-6").unwrap();
    let gaussian = keys().gaussian(Replace, loss).unwrap();
    assert_eq!(released::<_, Vec<_>>(&gaussian, &table), found);
    assert_eq!(
        format!("{gaussian:?}"),
        format!(
            "GaussianThresholdHistogram(relation = replace one row, key = state, where = night = 1, \
             schema = {}, one row = all rows with one value of patient, threshold = 2, rho = 1000000, delta = {})",
            schema.digest(),
            gaussian.delta()
        )
    );
    let hours = schema.count().keys("hours").map(|_| ());
    let problem = "cannot be a key: only whole numbers and texts can";
    let column = "hours".to_owned();
    assert_eq!(hours, Err(TableError::BadColumn { column, problem }));
}

#[test]
fn searches_and_priced_counts_are_asked_conditions() {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    let condition = |text: &str| schema.condition(text).unwrap();
    let filter = start(&Filter::concurrent(PureDp, epsilon!(300000000000)), table).unwrap();
    let search = AboveThreshold::new(AddRemove, 2, 2, epsilon!(50000000000)).unwrap();
    let search = filter.launch(&search).unwrap();
    assert_eq!(search.ask(condition("night > 90")), Ok(false));
    assert_eq!(search.ask(condition("state = 'CA'")), Ok(true));
    let sparse = AboveThreshold::new(AddRemove, 2, 2, epsilon!(50000000000)).unwrap();
    let sparse = filter
        .launch(&sparse.with_counts(epsilon!(50000000000)).unwrap())
        .unwrap();
    assert_eq!(sparse.ask(condition("night >= 0")), Ok(Some(3)));
    let choice = CountScores::of(["night > 50", "night >= 0", "hours is null"].map(condition));
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        choice,
        epsilon!(50000000000),
    )
    .unwrap();
    assert_eq!(filter.release(&choice), Ok(1));
    let priced = QueryAnswerer::new(PureDp.accumulator().capped(epsilon!(50000000000)));
    let priced = filter.launch(&priced).unwrap();
    let asked = Priced::new(condition("night >= 0"), epsilon!(1000000000));
    assert_eq!(priced.ask(asked).unwrap().unwrap(), 3);
}

#[test]
fn weights_are_asked_conditions_about_their_cells() {
    let schema = visits();
    let rows: Vec<_> = (0..1000)
        .map(|row| {
            (
                None,
                Some(if row % 4 == 0 { "NY" } else { "CA" }),
                None,
                Some(row % 2),
            )
        })
        .collect();
    let table = table_of(&schema, &rows);
    let state = Grouping::of(&schema, "state").unwrap();
    let night = Grouping::keys(&schema, "night", [0, 1]).unwrap();
    let cells = Cells::of_groupings(&schema, [state.clone(), night]).unwrap();
    let weights = MultiplicativeWeights::new(cells, 1000, 50, 40, epsilon!(1000000)).unwrap();
    let mut coins = NotPrivateSeededCoins::new(8);
    let mut machine = weights.start(&table, &mut coins.coins()).unwrap();
    let mut ask = |text: &str| machine.step(schema.condition(text).unwrap(), &mut coins.coins());
    for _ in 0..3 {
        for (text, truth) in [
            ("state = 'NY' and night = 0", 250),
            ("state = 'NY'", 250),
            ("night = 1 or state = 'NY'", 750),
            ("state = 'NY' and night = 1", 0),
        ] {
            let found = ask(text).unwrap();
            assert!((found - truth).abs() <= 51, "{text}: {found}");
        }
    }
    let unlisted = Fault::InvalidQuery("the question reads a column that is not in the domain");
    assert_eq!(ask("hours > 3"), Err(unlisted));

    let buckets = Grouping::buckets(&schema, "night", [0, 1, 2]).unwrap();
    let bad = |column: &str, problem| {
        let column = column.to_owned();
        MechanismError::Table(TableError::BadColumn { column, problem })
    };
    let refused = |groupings: [Grouping; 2]| {
        Cells::of_groupings(&schema, groupings)
            .map(|_| ())
            .unwrap_err()
    };
    let expected = bad("night", "has buckets: a cell needs listed values");
    assert_eq!(refused([state.clone(), buckets]), expected);
    let twice = bad("state", "stands twice in a cell");
    assert_eq!(refused([state.clone(), state]), twice);
}

/// A condition of 1024 parts is computed for each cell, which takes seconds for 2^16 of them.
#[test]
fn cells_are_at_most_two_to_the_sixteenth() {
    let schema = visits();
    let cells = |nights: i64| {
        let state = Grouping::of(&schema, "state").unwrap();
        let night = Grouping::keys(&schema, "night", 0..nights).unwrap();
        Cells::of_groupings(&schema, [state, night]).map(|_| ())
    };
    assert_eq!(cells(1 << 15), Ok(()));
    let expected = MechanismError::TooMany {
        what: "cells",
        asked: (1 << 16) + 2,
        most: 1 << 16,
    };
    assert_eq!(cells((1 << 15) + 1), Err(expected));
}

#[test]
fn a_range_is_found_between_powers_of_two() {
    let schema = schema();
    let patients = (0..1000_i64).flat_map(|patient| {
        let visit = |hours: f64, night: i64| (Some(patient), None, Some(hours), Some(night));
        // The largest value of a person counts for the upper end, the least for the lower one.
        [
            visit(0.3, 5),
            visit(-3.0, 70),
            visit(f64::NAN, patient % 3 - 1),
        ]
    });
    let outliers = [(Some(5000), None, Some(1e300), Some(i64::MIN))];
    let visits: Vec<_> = patients.chain(outliers).collect();
    let table = table_of(&schema, &visits);
    let find = |column, outside| {
        let search = schema
            .find_range(AddRemove, column, outside, no_noise())
            .unwrap();
        released::<_, Option<std::ops::RangeInclusive<f64>>>(&search, &table)
    };
    assert_eq!(find("hours", 500), Some(-4.0..=0.5));
    assert_eq!(find("night", 500), Some(0.0..=128.0));
    assert_eq!(find("night", 100), Some(-1.0..=128.0));
    // One person is enough for an end where all ranges end.
    let end = 2_f64.powi(50);
    assert_eq!(find("night", 1), Some(-end..=128.0));
    assert_eq!(find("hours", 1), Some(-4.0..=end));
    assert_eq!(find("hours", 2000), None);
    let search = schema
        .find_range(Replace, "night", 500, epsilon!(1))
        .unwrap();
    assert_eq!(
        format!("{search:?}"),
        format!(
            "FindRange(relation = replace one row, threshold = 500, hits = 2, epsilon = 1, \
             epsilon of the threshold = 0.333333333333333333333333333, column = night, edges = 103, \
             schema = {}, one row = all rows with one value of patient)",
            schema.digest()
        )
    );
    assert_eq!(
        Private::<PureDp, Replace>::loss(&search, &PureDp),
        Ok(epsilon!(1))
    );
    let error = |column, outside| {
        let search = schema.find_range(AddRemove, column, outside, epsilon!(1));
        search.map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        error("state", 5),
        "state is a text, and a number is needed here"
    );
    assert_eq!(
        error("night", 0),
        "the number of people outside must be at least 1, not 0"
    );
}

/// A table that counts how often it is asked.
struct Watched {
    table: RowTable,
    passes: AtomicUsize,
    /// How often it was asked whether it can be reached.
    reached: AtomicUsize,
    is_reachable: bool,
}

impl Watched {
    fn new(schema: &Schema) -> Self {
        Self {
            table: (*table_of(schema, &VISITS)).clone(),
            passes: AtomicUsize::new(0),
            reached: AtomicUsize::new(0),
            is_reachable: true,
        }
    }

    fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }
}

impl PublicMetadata for Watched {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        self.table.metadata()
    }

    fn is_reachable(&self) -> bool {
        self.reached.fetch_add(1, Ordering::Relaxed);
        self.is_reachable
    }
}

impl Table for Watched {
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.table.tally(plan)
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.table.tally_keys(condition, column)
    }
}

const FOREIGN: &str = "the question was made from the schema of another table";

/// Nothing is counted, drawn or charged.
#[test]
fn a_question_of_another_schema_is_refused_before_anything_is_counted() {
    let (schema, other) = (schema(), visits());
    let table = Arc::new(Watched::new(&schema));
    let filter = Filter::concurrent(PureDp, epsilon!(10));
    let filter = start(&filter, Arc::clone(&table)).unwrap();
    let foreign = || other.condition("night > 3").unwrap();

    let search = AboveThreshold::new(AddRemove, 2, 1, epsilon!(1)).unwrap();
    let search = filter.launch(&search).unwrap();
    let invalid = AskError::Fault(Fault::InvalidQuery(FOREIGN));
    assert_eq!(search.ask(foreign()), Err(invalid));
    let sparse = AboveThreshold::new(AddRemove, 2, 1, epsilon!(1)).unwrap();
    let sparse = filter
        .launch(&sparse.with_counts(epsilon!(1)).unwrap())
        .unwrap();
    assert_eq!(
        sparse.ask(foreign()),
        Err(AskError::Fault(Fault::InvalidQuery(FOREIGN)))
    );
    let cells = Cells::of(&schema, ["state"]).unwrap();
    let weights = MultiplicativeWeights::new(cells, 8, 4, 2, epsilon!(1)).unwrap();
    let weights = filter.launch(&weights).unwrap();
    assert_eq!(
        weights.ask(foreign()),
        Err(AskError::Fault(Fault::InvalidQuery(FOREIGN)))
    );

    let before = filter.privacy_loss();
    let mismatch = |refused: Result<(), LaunchError<Epsilon>>| {
        assert_eq!(
            refused,
            Err(LaunchError::DomainMismatch(DomainMismatch(FOREIGN)))
        );
    };
    let count = other.count().laplace(epsilon!(1)).unwrap();
    mismatch(filter.release(&count).map(drop));
    let scores = other.count().by("state").unwrap().scores().unwrap();
    let choice = Choice::by(AddRemove, NoisyMax, scores, epsilon!(1)).unwrap();
    mismatch(filter.release(&choice).map(drop));
    let nights = other.count().by_buckets("night", [0, 1]).unwrap();
    mismatch(
        filter
            .release(&nights.quantiles(AddRemove, [(1, 2)], epsilon!(1)).unwrap())
            .map(drop),
    );
    let over_time = nights.over_time().unwrap().laplace(epsilon!(1)).unwrap();
    mismatch(filter.launch(&over_time).map(drop));
    let range = other
        .find_range(AddRemove, "night", 5, epsilon!(1))
        .unwrap();
    mismatch(filter.release(&range).map(drop));
    let cells = Cells::of(&other, ["state"]).unwrap();
    let weights = MultiplicativeWeights::<_, Condition>::new(cells, 8, 4, 2, epsilon!(1)).unwrap();
    mismatch(filter.launch(&weights).map(drop));
    assert_eq!(filter.privacy_loss(), before);
    assert_eq!(table.passes(), 0);

    let ours = schema.count().laplace(epsilon!(1)).unwrap();
    filter.release(&ours).unwrap();
    assert_eq!(table.passes(), 1);
}

/// To ask an engine is a round trip.
#[test]
fn a_search_for_a_range_asks_once_whether_the_engine_answers() {
    let schema = schema();
    let table = Arc::new(Watched {
        is_reachable: false,
        ..Watched::new(&schema)
    });
    let filter = Filter::concurrent(PureDp, epsilon!(10));
    let filter = start(&filter, Arc::clone(&table)).unwrap();
    let range = schema
        .find_range(AddRemove, "night", 5, epsilon!(1))
        .unwrap();
    let unreachable = "the engine that holds it does not answer: nothing is charged, try again";
    let refused = LaunchError::DomainMismatch(DomainMismatch(unreachable));
    assert_eq!(filter.release(&range), Err(refused));
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
    assert_eq!(table.reached.load(Ordering::Relaxed), 1);
    assert_eq!(table.passes(), 0);
}

/// A parameter that would be ignored is refused.
#[test]
fn several_rows_of_a_person_have_no_keys() {
    let keys = schema().count().rows_per_person(2).keys("state");
    let problem = "each person has one key: leave out the number of rows of a person";
    assert_eq!(keys.map(drop), Err(TableError::BadAmount(problem)));
}

/// What is out of its range is refused with noise; before, it can be described.
#[test]
fn a_query_out_of_its_range_does_not_panic() {
    use crate::mechanisms::Query;

    let mut query = schema().mean("hours").unwrap().by("state").unwrap();
    query = query.rows_per_person(u64::MAX);
    let description = Query::<AddRemove>::describe(&query);
    assert_eq!(description.get("range"), Some("0..=80"));
    let edges = Grouping::buckets(&schema(), "night", 0..=(1 << 17)).unwrap();
    for _ in 0..4 {
        query = query.grouped(edges.clone());
    }
    assert_eq!(Query::<AddRemove>::totals(&query), usize::MAX);
}

/// A key histogram has a δ: another filter.
#[test]
fn keys_of_another_schema_are_refused_before_anything_is_counted() {
    let (schema, other) = (schema(), visits());
    let table = Arc::new(Watched::new(&schema));
    let loss = EpsilonDelta::new("1", "1e-6").unwrap();
    let filter = start(&Filter::concurrent(ApproxDp, loss), Arc::clone(&table)).unwrap();
    let keys = other
        .count()
        .keys("state")
        .unwrap()
        .laplace(AddRemove, loss)
        .unwrap();
    let mismatch = LaunchError::DomainMismatch(DomainMismatch(FOREIGN));
    assert_eq!(filter.release(&keys), Err(mismatch));
    assert_eq!(table.passes(), 0);
}
