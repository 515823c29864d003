//! Individual filters in which records pay with δ, too.

use std::ops::Range;
use std::sync::Arc;

use queryables::account::menu::{MenuEntry, MenuFilter};
use queryables::account::{ThroughRdp, ThroughZCdp, ValidIndividually};
use queryables::compose::{
    IndividualFilter, IndividualOdometer, IndividualQuery, Payers, RecordUnits, Tariff,
    start_individual,
};
use queryables::data::{Attribute, Predicate};
use queryables::machine::{Coins, silence_guarded_panics};
use queryables::mechanisms::{Count, Sum, ThresholdHistogram};
use queryables::number::Delta;
use queryables::prelude::*;

type Rows = Vec<i64>;
type Keys = ThresholdHistogram<Rows, i64>;

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

/// Rows by their own value, those that are not negative. One that is 7 panics.
fn keys(loss: EpsilonDelta) -> Keys {
    let key = |row: &i64| {
        assert!(*row != 7, "an unlucky row");
        (*row >= 0).then_some(*row)
    };
    ThresholdHistogram::new(AddRemove, "key", key, loss).unwrap()
}

/// Two hundred 1, as many 2, and others: with noise of scale 2, two hundred less than 150 has a
/// probability below e^-25, and the threshold is below 40.
#[test]
fn keys_cost_epsilon_and_delta_those_who_have_one() {
    silence_guarded_panics();
    let mut rows = [1_i64, 2].repeat(200);
    rows.extend([-1, 7]);
    let filter = IndividualFilter::new(ApproxDp, pair("1", "1e-6"));
    let (running, readings) = start_individual(&filter, Arc::new(rows)).unwrap();
    let histogram = keys(pair("0.5", "1e-7"));
    let counts = running.release(&histogram).unwrap();
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert!(counts.values().all(|count| count.abs_diff(200) < 50));
    let spent = |index| readings.loss(index).unwrap().unwrap();
    // δ is that of the threshold, rounded up to 16 digits of the budget.
    for paid in [spent(0), spent(1), spent(399)] {
        assert_eq!(paid.epsilon, "0.5".parse().unwrap());
        assert!(paid.delta >= histogram.delta());
        let rounded = paid.delta.saturating_sub(histogram.delta());
        assert!(rounded <= "1e-21".parse().unwrap());
    }
    // No key, and one that cannot be read.
    assert_eq!([spent(400), spent(401)], [EpsilonDelta::default(); 2]);
    // After the second, nobody has an ε left, and there is no key.
    assert_eq!(running.release(&histogram).unwrap().len(), 2);
    assert!(running.release(&histogram).unwrap().is_empty());
    assert_eq!(spent(0).epsilon, "1".parse().unwrap());
    assert!(spent(0).delta > histogram.delta());
    assert_eq!(spent(400), EpsilonDelta::default());
}

#[test]
fn who_has_no_delta_left_still_pays_for_counts_with_epsilon() {
    let filter = IndividualFilter::new(ApproxDp, pair("1e6", "1.5e-7"));
    let (running, readings) = start_individual(&filter, Arc::new(vec![1_i64; 200])).unwrap();
    let histogram = keys(pair("1", "1e-7"));
    assert_eq!(running.release(&histogram).unwrap().len(), 1);
    assert!(running.release(&histogram).unwrap().is_empty());
    let before = readings.loss(0).unwrap().unwrap();
    let all = Predicate::new("all", |_: &i64| true);
    // The noise is zero but with probability e^-1000.
    let count = Count::of(all).laplace(epsilon!(1e3)).unwrap();
    assert_eq!(running.release(&count), Ok(200));
    let after = readings.loss(0).unwrap().unwrap();
    assert_eq!(after.delta, before.delta);
    assert_eq!(after.epsilon, "1001".parse().unwrap());
}

#[test]
fn own_budgets_have_a_delta() {
    let own = |row: &i64| {
        let delta = match row {
            1 => "0",
            2 => "1e-7",
            // More than the declared one.
            _ => "1",
        };
        pair("10", delta)
    };
    let filter = IndividualFilter::new(ApproxDp, pair("10", "2.5e-7")).budgets(own);
    let rows = Arc::new([1_i64, 2, 3].repeat(300));
    let running = start(&filter, rows).unwrap();
    let histogram = keys(pair("1", "1e-7"));
    assert!(histogram.delta() > "5e-8".parse().unwrap());
    let seen = || running.release(&histogram).unwrap().into_keys();
    let seen = [(); 4].map(|()| seen().collect::<Vec<i64>>());
    let expected = [vec![2, 3], vec![3], vec![3], vec![]];
    assert!(histogram.delta().checked_mul(3).unwrap() <= "2.5e-7".parse().unwrap());
    assert_eq!(seen, expected);
}

#[test]
fn a_rule_that_leaves_no_delta_to_records_says_so() {
    let limit = pair("1", "1e-6");
    let no_delta = UnknownLoss("the rule leaves no δ to records");
    let error = |filter: IndividualFilter<Rows, ThroughZCdp>| {
        let running = start(&filter, Arc::new(vec![])).unwrap();
        running.release(&keys(pair("0.5", "1e-7"))).map(|_| ())
    };
    let all = ThroughZCdp::tight(limit, limit.delta).unwrap();
    let filter = IndividualFilter::with_rule(all);
    assert_eq!(error(filter), Err(no_delta.into()));
    let half = ThroughZCdp::tight(limit, "5e-7".parse().unwrap()).unwrap();
    assert_eq!(error(IndividualFilter::with_rule(half)), Ok(()));
}

/// How many histograms of (0.02, at most 1e-9) a record takes part in, and what it has spent of δ.
fn histograms<F: ValidIndividually<Children = ApproxDp>>(rule: F) -> (usize, Delta) {
    let filter = IndividualFilter::with_rule(rule);
    // The threshold is about 1000.
    let (running, readings) = start_individual(&filter, Arc::new(vec![1_i64; 3000])).unwrap();
    let histogram = keys(pair("0.02", "1e-9"));
    let seen = (0..60).filter(|_| !running.release(&histogram).unwrap().is_empty());
    let seen = seen.count();
    let units = readings.units();
    (seen, units.delta(readings.spent(0).unwrap().unwrap()))
}

/// Under each rule with (ε, δ) children, δ for ten is left, and ε for many more.
#[test]
fn delta_runs_out_under_every_rule_with_approximate_children() {
    let once = keys(pair("0.02", "1e-9")).delta();
    let ten = once.checked_mul(10).unwrap();
    let slack: Delta = "1e-6".parse().unwrap();
    let delta = slack.checked_add(ten).unwrap().checked_add(once).unwrap();
    let delta = delta.saturating_sub("1e-12".parse().unwrap());
    let limit = EpsilonDelta {
        delta,
        ..pair("1", "0")
    };
    let assert_ten = |(seen, spent): (usize, Delta)| {
        assert_eq!(seen, 10);
        let above = spent.saturating_sub(ten);
        assert!(spent >= ten && above < "1e-19".parse().unwrap(), "{spent}");
    };
    assert_ten(histograms(ThroughZCdp::simple(limit, slack).unwrap()));
    assert_ten(histograms(ThroughZCdp::tight(limit, slack).unwrap()));
    let order = "20".parse().unwrap();
    assert_ten(histograms(ThroughRdp::at(order, limit, slack).unwrap()));
    let step = "0.02".parse().unwrap();
    let menu = [MenuEntry::new(step, 1)];
    assert_ten(histograms(
        MenuFilter::new(limit, slack, step, &menu).unwrap(),
    ));
}

#[test]
fn an_odometer_reads_whole_steps_of_both() {
    let odometer = IndividualOdometer::new(ApproxDp, pair("1", "1e-6"));
    let (running, readings) = start_individual(&odometer, Arc::new(vec![1_i64, -1])).unwrap();
    let read = || [0, 1].map(|row| readings.loss(row).unwrap().unwrap().to_string());
    assert_eq!(read(), ["(1, 1e-6)", "(1, 1e-6)"]);
    let histogram = keys(pair("0.1", "7e-7"));
    assert!(histogram.delta() > "5e-7".parse().unwrap());
    running.release(&histogram).unwrap();
    running.release(&histogram).unwrap();
    // Two do not fit in one step of δ, and a record without a key has lost nothing.
    assert_eq!(read(), ["(1, 2e-6)", "(1, 1e-6)"]);
    let itself = Attribute::new("itself", |row: &i64| *row);
    let sum = Sum::of(itself, -1..=1).laplace(epsilon!(1)).unwrap();
    running.release(&sum).unwrap();
    assert_eq!(read(), ["(2, 2e-6)", "(1, 1e-6)"]);
    assert_eq!(
        running.release(&keys(pair("0.1", "2e-6"))),
        Err(UnknownLoss("a query of an odometer may cost a record at most one step").into())
    );
}

/// How many there are, without noise. One that is 7 panics after it was charged.
#[derive(Clone)]
struct Everybody;

impl<F: ValidIndividually<Children = ApproxDp>> IndividualQuery<Rows, F> for Everybody {
    type Noise = ();
    type Total = u64;
    type Answer = u64;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        units.flat(&pair("0.6", "1e-7"))
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> u64 {
        0
    }

    fn take(&self, data: &Rows, records: Range<usize>, payers: &mut Payers<'_>) -> u64 {
        let paid = data[records].iter().map(|row| {
            let paid = payers.charge(1);
            assert!(*row != 7, "an unlucky row");
            paid
        });
        paid.sum()
    }

    fn merge(&self, total: &mut u64, chunk: u64) {
        *total += chunk;
    }

    fn answer(&self, total: u64, (): (), _: &mut Coins<'_>) -> Result<u64, Fault> {
        Ok(total)
    }
}

#[test]
fn after_a_panic_both_accounts_are_restored() {
    silence_guarded_panics();
    let filter = IndividualFilter::new(ApproxDp, pair("1", "1e-7"));
    let (running, readings) = start_individual(&filter, Arc::new(vec![1, 7, 2])).unwrap();
    assert_eq!(running.release(&Everybody), Ok(2));
    let read = |index| readings.loss(index).unwrap().unwrap();
    let once = pair("0.6", "1e-7");
    let expected = [once, EpsilonDelta::default(), once];
    assert_eq!([0, 1, 2].map(read), expected);
}

#[test]
fn both_accounts_follow_from_the_queries_that_were_asked() {
    let rows = Arc::new(vec![1_i64, -1, 2]);
    let filter = IndividualFilter::new(ApproxDp, pair("1", "3e-7"));
    let (old, before) = start_individual(&filter, Arc::clone(&rows)).unwrap();
    let (new, after) = start_individual(&filter, rows).unwrap();
    for (epsilon, delta) in [
        ("0.1", "1e-7"),
        ("0.8", "1e-9"),
        ("0.1", "1e-6"),
        ("0.2", "1e-8"),
    ] {
        let histogram = keys(pair(epsilon, delta));
        old.release(&histogram).unwrap();
        new.replay(&histogram).unwrap();
        let all = before.all().unwrap();
        assert!(all[0].delta > 0 && all[0] == all[2]);
        assert_eq!(after.all(), Ok(all));
    }
}

/// The δ of the limit, of which the rule's slack is a part.
#[test]
fn another_filter_is_charged_for_all_of_delta() {
    let parent = Filter::concurrent(ApproxDp, pair("3", "1e-5"));
    let parent = start(&parent, Arc::new(vec![1_i64])).unwrap();
    let rule = ThroughZCdp::simple(pair("1", "1e-6"), "4e-7".parse().unwrap()).unwrap();
    let child = parent.launch(&IndividualFilter::with_rule(rule)).unwrap();
    assert_eq!(parent.privacy_loss(), pair("1", "1e-6"));
    let own = |_: &i64| EpsilonDelta::default();
    let filter = IndividualFilter::new(ApproxDp, pair("0.5", "2e-6")).budgets(own);
    parent.launch(&filter).unwrap();
    child.release(&keys(pair("0.01", "1e-9"))).unwrap();
    assert_eq!(parent.privacy_loss(), pair("1.5", "3e-6"));
}
