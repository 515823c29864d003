//! Rules of every kind, and odometers, go on in a file where they were.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use ledger::created;
use queryables::account::menu::{Detail, MenuEntry, MenuFilter, SampledGaussians};
use queryables::account::profiles::{Gaussians, InProfiles, List, Menu, Powers};
use queryables::account::{
    Accumulator, AdvancedComposition, ChildLoss, FixedCount, FixedInAdvance, NaturalFilter,
    RestartedFilters, ValidConcurrently, WholeLoss,
};
use queryables::ledger::{Decision, Ledger, LedgerError, LedgerRule, Line};
use queryables::prelude::*;
use queryables::privacy::fdp::{Grid, Profile, RepeatedMechanism, Repetitions};
use queryables::privacy::{Gdp, Measure, Rdp, Relation};

/// Costs what it is told to, under one measure.
#[derive(Clone, Debug)]
struct Costing<Me: Measure>(Me::Loss);

impl<D: ?Sized, Me: Measure> Mechanism<D> for Costing<Me> {
    type Machine = Released<()>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
        Ok(Released(()))
    }
}

impl<Me: Measure, R: Relation> Private<Me, R> for Costing<Me> {
    fn loss(&self, _: &Me) -> Result<Me::Loss, UnknownLoss> {
        Ok(self.0.clone())
    }
}

fn number<T: std::str::FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

/// Spends in one process after the other, until the budget is spent: what is read at each start is
/// what the rule itself says, and each decision is the rule's own.
fn survives<F>(path: &Path, filter: &Filter<F>, rule: F, losses: &[ChildLoss<F>])
where
    F: LedgerRule + PartialEq,
    ChildLoss<F>: PartialEq,
    WholeLoss<F>: PartialEq,
{
    let (mut rule, mut refused, mut launches) = (rule, 0, 0);
    while refused < losses.len() {
        assert!(launches < 500, "the limit was never near");
        // As after a crash: nothing is left but the file.
        let ledger = Ledger::open(path, "nothing").unwrap();
        let filter = ledger.start("census", filter, &Arc::new(())).unwrap();
        assert_eq!(filter.privacy_loss(), Ok(rule.spent()));
        assert_eq!(filter.remaining(), Ok(rule.remaining()));
        let party = filter.party("Ana");
        for turn in 0..40 {
            let loss = &losses[(launches + turn) % losses.len()];
            let released = party.release(&Costing::<F::Children>(loss.clone()));
            match (rule.charge(loss), released) {
                (Ok(next), Ok(())) => (rule, refused) = (next, 0),
                (Err(_), Err(LedgerError::Launch(LaunchError::Refused(refusal)))) => {
                    assert_eq!(refusal.limit, *rule.limit());
                    refused += 1;
                }
                (rule, released) => panic!("{rule:?} {released:?}"),
            }
        }
        launches += 40;
        let lines = ledger.lines(1, usize::MAX).unwrap();
        let entries = lines.iter().filter_map(|line| match line {
            Line::Entry(entry) => Some(entry.times),
            _ => None,
        });
        let times: Vec<u64> = entries.collect();
        // Of refusals in a row the last entry stands for several.
        assert_eq!(times.iter().sum::<u64>(), launches as u64);
        assert_eq!(filter.replay(), Ok(times.len() as u64));
    }
}

fn survives_alone<F>(name: &str, rule: F, losses: &[ChildLoss<F>])
where
    F: LedgerRule + PartialEq + ValidConcurrently,
    ChildLoss<F>: PartialEq,
    WholeLoss<F>: PartialEq,
{
    let filter = Filter::concurrent_with(rule.clone());
    let path = created(&format!("{name}.redb"), "nothing");
    survives(&path, &filter, rule, losses);
}

#[test]
fn rules_whose_tables_are_computed_again_go_on_where_they_were() {
    let limit = pair("1", "1e-6");
    let each = pair("0.1", "0");
    let count = FixedCount::most(limit, each).unwrap();
    survives_alone("count", count, &[each, pair("0.05", "0")]);
    let plan = vec![each; 12];
    let plan = FixedInAdvance::new(pair("1.1", "1e-2"), number("0.05"), plan).unwrap();
    survives_alone("plan", plan, &[each]);
    let entries = [
        MenuEntry::new(number("0.05"), 1),
        MenuEntry::new(number("0.1"), 4),
    ];
    let menu = MenuFilter::new(limit, number("5e-7"), number("0.05"), &entries).unwrap();
    survives_alone("menu", menu, &[pair("0.05", "1e-8"), pair("0.07", "0")]);
    let gaussian = NaturalFilter::new(limit, Gdp).unwrap();
    survives_alone("gaussian", gaussian, &["0.03", "0.05"].map(number));
    let base = Profile::randomized_response(number("0.05"));
    let units = NaturalFilter::new(limit, RepeatedMechanism::new(base)).unwrap();
    survives_alone("units", units, &[Repetitions(1), Repetitions(2)]);
    let detail = Detail {
        step: number("0.01"),
        ratio: 2,
        cheapest: 2,
    };
    let (target, sigmas) = (pair("2", "1e-3"), ["2", "4"].map(number));
    let menu = SampledGaussians::new(number("0.1"), &sigmas, 5, target, detail).unwrap();
    let menu = menu.filter(target).unwrap();
    survives_alone("sampled", menu, &["0.25", "0.5"].map(number));
}

/// What was composed on a grid is computed again, and the record says what it was composed of.
#[test]
fn rules_in_f_dp_go_on_where_they_were() {
    let grid = Grid::new(number("0.02")).unwrap();
    let gaussian = |mu: &str| Profile::gaussian(number(mu));
    let laplace = |epsilon: &str| Profile::laplace(number(epsilon));
    let gaussians = InProfiles::new(Gaussians);
    let losses = [gaussian("0.2"), laplace("0.1")];
    let limit = gaussian("1");
    let within = gaussians.clone().within(limit.clone()).unwrap();
    survives_alone("profiles of Gaussians", within, &losses);
    let capped = gaussians.capped(limit);
    survives_alone("an odometer in f-DP", capped, &losses);
    let powers = InProfiles::new(Powers::new(laplace("0.3"), 9, grid).unwrap());
    let limit = laplace("0.3").power(7, &grid).unwrap();
    let within = powers.clone().within(limit).unwrap();
    let losses = [laplace("0.3"), laplace("0.2")];
    survives_alone("powers within a power", within, &losses);
    survives_alone("powers", powers.in_full(), &losses);
    let entries = [(laplace("0.2"), 2), (gaussian("0.5"), 3)];
    let menu = InProfiles::new(Menu::new(&entries, 16, grid).unwrap()).in_full();
    let losses = [gaussian("0.5"), laplace("0.2")];
    survives_alone("menu of profiles", menu, &losses);
    let list = [laplace("1"), gaussian("0.5"), laplace("1")];
    let list = InProfiles::new(List::new(&list, grid).unwrap()).in_full();
    survives_alone("list of profiles", list, &[laplace("1"), gaussian("0.5")]);
}

/// An odometer in a ledger has the largest reading that it may come to; `privacy_loss` is its
/// reading.
#[test]
fn odometers_go_on_reading_where_they_were() {
    let path = created("odometer.redb", "nothing");
    let odometer = || Odometer::concurrent(PureDp).capped(Epsilon::LARGEST);
    for round in 0_u64..3 {
        let ledger = Ledger::open(&path, "nothing").unwrap();
        let odometer = ledger.start("census", &odometer(), &Arc::new(())).unwrap();
        assert_eq!(
            odometer.privacy_loss().unwrap().units(),
            u128::from(round) * number::<Epsilon>("0.9").units()
        );
        let party = odometer.party("Ana");
        for _ in 0..3 {
            party.release(&Costing::<PureDp>(number("0.3"))).unwrap();
        }
        assert_eq!(odometer.launched(), Ok(3 * (round + 1)));
    }
    let ledger = Ledger::open(&path, "nothing").unwrap();
    let admitted =
        |line: &Line| matches!(line, Line::Entry(entry) if entry.decision == Decision::Admitted);
    assert_eq!(
        ledger
            .lines(1, 100)
            .unwrap()
            .iter()
            .filter(|line| admitted(line))
            .count(),
        9
    );

    let slack = AdvancedComposition::new(number("1e-6")).unwrap();
    let rule = slack.capped(pair("1", "1e-5"));
    survives_alone("whitehouse", rule, &[pair("0.1", "1e-8")]);
    let restarted = RestartedFilters::new(Rdp::new(number("2")), number("0.5")).unwrap();
    let rule = restarted.capped(number("3"));
    survives_alone("restarted", rule, &[number("0.2")]);
}
