//! Trade-off functions with two directions under a relation that has an order: each direction is composed
//! by itself, and no adversary is over what is read in either.

use std::sync::Arc;

use crate::profiles::plain;
use crate::support::*;
use queryables::account::ContinuationRule;
use queryables::account::profiles::{Family, InProfiles, List, Menu, Powers, WithinProfile};
use queryables::compose::{Addressed, Filter};
use queryables::machine::{Coins, Fault, Mechanism, Released};
use queryables::middle::{MapAnswer, ThroughExt};
use queryables::number::{Delta, Epsilon};
use queryables::privacy::fdp::{Adjacency, FDp, Grid, Profile};
use queryables::privacy::{AddRemove, Private, UnknownLoss};
use queryables::verify::{Children, Pair, Rational, Verifier, copies_of};

/// One of three answers, with these odds out of eight: with the row, and without it.
#[derive(Clone, Debug)]
struct Toss {
    odds: [[u64; 3]; 2],
    profile: Profile,
}

impl Mechanism<bool> for Toss {
    type Machine = Released<usize>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        let [with, without] = &self.odds;
        let weights = if **data { with } else { without };
        coins.weighted(weights).map(Released).map_err(Fault::from)
    }
}

impl Private<FDp, AddRemove> for Toss {
    fn loss(&self, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(self.profile.clone())
    }
}

impl Toss {
    /// The best tests name the answers that speak most against the row first.
    fn new(odds: [[u64; 3]; 2]) -> Self {
        let [with, without] = odds;
        let mut answers = [0, 1, 2];
        answers.sort_by(|a, b| (without[*b] * with[*a]).cmp(&(without[*a] * with[*b])));
        let eighths = |part: u64| -> Delta { format!("{}", part as f64 / 8.0).parse().unwrap() };
        let (mut alarms, mut caught) = (0, 0);
        let corners = answers[..2].iter().map(|answer| {
            alarms += with[*answer];
            caught += without[*answer];
            (eighths(alarms), eighths(8 - caught))
        });
        let profile = Profile::from_trade_off(&corners.collect::<Vec<_>>()).unwrap();
        Self { odds, profile }
    }
}

/// Small odds that are never zero.
struct Odds(u64);

impl Odds {
    fn below(&mut self, end: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn toss(&mut self) -> Toss {
        let mut law = || {
            let first = 1 + self.below(6);
            let second = 1 + self.below(7 - first);
            [first, second, 8 - first - second]
        };
        loop {
            let toss = Toss::new([law(), law()]);
            // One that has two directions.
            if toss.profile != toss.profile.symmetrised() {
                return toss;
            }
        }
    }
}

fn grid() -> Grid {
    Grid::new("1e-2".parse().unwrap()).unwrap()
}

/// H at these odds, in the worse of both directions.
fn read(profile: &Profile, odds: u64) -> f64 {
    let epsilon = if odds == 1 { Epsilon::ZERO } else { ln(odds) };
    let delta = profile.worst_delta(epsilon).upper;
    delta.to_string().parse().unwrap()
}

/// The largest δ that any adversary attains under the rule, in either direction.
fn attained<L: Family>(rule: &WithinProfile<L>, menu: &[Toss], odds: u64) -> f64 {
    let filter = Filter::noninteractive_with(rule.clone());
    let filter = Addressed::<_, Toss>::new(filter).through(MapAnswer::new(plain));
    let menu = Children::new(menu.to_vec(), vec![]);
    let pair = Pair::new(true, false);
    let verifier = Verifier::new(copies_of(&filter), &pair, menu, 2).replays(1);
    exact(&verifier.worst_delta(Rational::from(odds)).unwrap()).to_f64()
}

/// Nothing is over what is read; where all of it can be attained, what is read is close to it.
fn assert_read<L: Family>(rule: &WithinProfile<L>, menu: &[Toss], apart: f64) {
    for odds in [1, 2] {
        let (attained, read) = (attained(rule, menu, odds), read(rule.limit(), odds));
        assert!(
            attained <= read && read <= attained + apart,
            "{menu:?} at {odds}: {attained} {read}"
        );
    }
}

#[test]
fn no_adversary_is_over_what_is_read_in_either_direction() {
    let mut odds = Odds(26);
    let both = [odds.toss(), odds.toss()];
    let [first, second] = both.each_ref().map(|toss| toss.profile.clone());
    let powers = InProfiles::new(Powers::new(first.clone(), 2, grid()).unwrap());
    assert_read(&powers.in_full(), &both[..1], 0.02);
    let list = List::new(&[first.clone(), second.clone()], grid());
    assert_read(&InProfiles::new(list.unwrap()).in_full(), &both, 0.02);
    let menu = Menu::new(&[(first, 1), (second, 2)], 2, grid());
    assert_read(&InProfiles::new(menu.unwrap()).in_full(), &both, 0.02);
}

/// The order is that of the relation: with the row first, H of the direction in which it is removed.
#[test]
fn the_direction_is_that_of_the_row() {
    let Toss { profile, .. } = Toss::new([[4, 4, 0], [1, 4, 3]]);
    // By hand at odds of two: (4 − 2·1)/8 one way, 3/8 the other way.
    let with = profile.delta(Adjacency::Remove, ln(2));
    let without = profile.delta(Adjacency::Add, ln(2));
    let near = |found: Delta, exact: f64| (found.to_f64_up() - exact).abs() < 1e-9;
    assert!(
        near(with.upper, 0.25) && near(without.upper, 0.375),
        "{with} {without}"
    );
}
