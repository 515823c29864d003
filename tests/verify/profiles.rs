//! f-DP as a measure of compositors, before the exact verifier: at every ε, no adversary is over the
//! trade-off function that is read, and one more launch is.

use crate::support::*;
use queryables::account::profiles::{Family, InProfiles, List, Menu, Powers, WithinProfile};
use queryables::account::{ComposesConcurrently, ContinuationRule};
use queryables::compose::{Addressed, ConcurrentComposition, Filter, Reply};
use queryables::middle::{MapAnswer, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::fdp::{FDp, Grid, Profile};
use queryables::privacy::{AddRemove, Private, UnknownLoss};
use queryables::verify::{Children, Pair, Rational, Verifier, copies_of};

/// Randomized response, once or for each answer.
impl Private<FDp, AddRemove> for Respond {
    fn loss(&self, _: &FDp) -> Result<Profile, UnknownLoss> {
        let each = response(self.odds);
        match (self.odds, self.answers) {
            (_, 1) => Ok(each),
            (2, answers) => each
                .power(answers, &grid())
                .map_err(|_| UnknownLoss("too far")),
            (_, answers) => FDp.composed(&vec![each; answers as usize]),
        }
    }
}

/// Multiples of ln 2.
fn grid() -> Grid {
    Grid::new(ln(2)).unwrap()
}

fn response(odds: u64) -> Profile {
    Profile::randomized_response(ln(odds))
}

/// Without the trade-off functions that refusals and readings hold, which are not compared.
pub(crate) fn plain<A>(reply: Reply<A, Profile>) -> Reply<A, ()> {
    match reply {
        Reply::Launched(number) => Reply::Launched(number),
        Reply::Answered(answer) => Reply::Answered(answer),
        Reply::NotAnswered(error) => Reply::NotAnswered(error),
        Reply::Closed(number) => Reply::Closed(number),
        Reply::Unknown(number) => Reply::Unknown(number),
        Reply::NotLaunched(_) => Reply::Unknown(usize::MAX),
        Reply::NotRead(error) => Reply::NotRead(error),
        Reply::PrivacyLoss(_) | Reply::Remaining(_) => Reply::Remaining(None),
    }
}

/// The largest δ that any adversary attains, where launches are answered at once.
fn worst_released<L: Family>(rule: &WithinProfile<L>, odds: &[u64], depth: usize, at: u64) -> f64 {
    let filter = Filter::noninteractive_with(rule.clone());
    let filter = Addressed::<_, Released1>::new(filter).through(MapAnswer::new(plain));
    let pair = Pair::new(false, true);
    let launches = odds.iter().map(|odds| Released1(*odds)).collect();
    let menu = Children::new(launches, vec![]);
    let verifier = Verifier::new(copies_of(&filter), &pair, menu, depth).replays(1);
    exact(&verifier.worst_delta(Rational::from(at)).unwrap()).to_f64()
}

/// The largest δ that any adversary attains, launching and asking in any order.
fn worst<L: Family>(
    rule: &WithinProfile<L>,
    launches: Vec<Respond>,
    depth: usize,
    odds: u64,
) -> f64 {
    let filter = Addressed::<_, Respond>::new(Filter::concurrent_with(rule.clone()));
    let filter = filter.through(MapAnswer::new(plain));
    let pair = Pair::new(false, true);
    let menu = Children::new(launches, vec![()]);
    let verifier = Verifier::new(copies_of(&filter), &pair, menu, depth).replays(1);
    let worst = verifier.worst_delta(Rational::from(odds)).unwrap();
    exact(&worst).to_f64()
}

fn read(profile: &Profile, odds: u64) -> f64 {
    let epsilon: Epsilon = if odds == 1 { Epsilon::ZERO } else { ln(odds) };
    profile
        .worst_delta(epsilon)
        .upper
        .to_string()
        .parse()
        .unwrap()
}

impl Private<FDp, AddRemove> for Released1 {
    fn loss(&self, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(response(self.0))
    }
}

const ODDS: [u64; 4] = [1, 2, 4, 8];

/// What is read is what the worst adversary attains, at every ε.
fn assert_attained<L: Family>(rule: &WithinProfile<L>, odds: &[u64], depth: usize) {
    for at in ODDS {
        let (attained, read) = (
            worst_released(rule, odds, depth, at),
            read(rule.limit(), at),
        );
        assert!(
            attained <= read && read < attained + 1e-9,
            "{at}: {attained} {read}"
        );
    }
}

#[test]
fn units_read_what_the_worst_adversary_attains() {
    let powers = |most| InProfiles::new(Powers::new(response(2), most, grid()).unwrap()).in_full();
    assert_attained(&powers(3), &[2], 4);
    // One launch more is over it.
    let more = worst_released(&powers(4), &[2], 4, 8);
    assert!(more > read(powers(3).limit(), 8) + 1e-3, "{more}");
    // Interactive children, asked in any order.
    let attained = worst(&powers(2), vec![once(2)], 4, 2);
    let read = read(powers(2).limit(), 2);
    assert!(
        attained <= read && read < attained + 1e-9,
        "{attained} {read}"
    );
}

/// A budget that is less than what the family was built for.
#[test]
fn what_is_left_of_a_family_is_not_launched() {
    let powers = |most| InProfiles::new(Powers::new(response(2), most, grid()).unwrap());
    let limit = powers(2).in_full().limit().clone();
    assert_attained(&powers(4).within(limit).unwrap(), &[2], 4);
    let entries = [(response(2), 1), (response(4), 3)];
    let menu = |most| InProfiles::new(Menu::new(&entries, most, grid()).unwrap());
    let limit = menu(3).in_full().limit().clone();
    assert_attained(&menu(6).within(limit).unwrap(), &[2, 4], 4);
    let turns = [response(2), response(2), response(2)];
    let list = |turns| InProfiles::new(List::new(turns, grid()).unwrap());
    let limit = list(&turns[..2]).in_full().limit().clone();
    assert_attained(&list(&turns).within(limit).unwrap(), &[2], 3);
}

/// A mechanism whose loss is a power costs as many units.
#[test]
fn a_power_costs_its_number_of_units() {
    let rule = InProfiles::new(Powers::new(response(2), 2, grid()).unwrap()).in_full();
    let twice = Respond {
        odds: 2,
        answers: 2,
    };
    let attained = worst(&rule, vec![twice], 5, 1);
    let read = read(rule.limit(), 1);
    assert!(
        attained <= read && read < attained + 1e-9,
        "{attained} {read}"
    );
}

#[test]
fn a_menu_reads_what_the_worst_adversary_attains() {
    let entries = [(response(2), 1), (response(4), 3)];
    let menu = |most| InProfiles::new(Menu::new(&entries, most, grid()).unwrap()).in_full();
    // At each ε by some adversary, which need not be the same.
    assert_attained(&menu(4), &[2, 4], 4);
    let more = worst_released(&menu(5), &[2, 4], 5, 8);
    assert!(more > read(menu(4).limit(), 8) + 1e-3, "{more}");
}

#[test]
fn a_list_reads_what_the_worst_adversary_attains() {
    // Both answers of the first child count as one launch.
    let twice = Respond {
        odds: 2,
        answers: 2,
    };
    let turns = [response(2).power(2, &grid()).unwrap(), response(4)];
    let rule = InProfiles::new(List::new(&turns, grid()).unwrap()).in_full();
    let attained = worst(&rule, vec![twice, once(4)], 5, 4);
    let read = read(rule.limit(), 4);
    assert!(
        attained <= read && read < attained + 1e-9,
        "{attained} {read}"
    );
}

/// Haney et al. 1.8 for f-DP: interactive mechanisms that are started together lose the tensor
/// product, in whatever order they are asked.
#[test]
fn mechanisms_that_are_started_together_lose_the_tensor_product() {
    let twice = Respond {
        odds: 3,
        answers: 2,
    };
    let both = ConcurrentComposition::new([twice, once(2)]);
    let loss: Profile = Private::<FDp, AddRemove>::loss(&both, &FDp).unwrap();
    let pair = Pair::new(false, true);
    for odds in [1_u64, 2, 3, 6, 9] {
        let verifier = Verifier::new(copies_of(&both), &pair, vec![(0, ()), (1, ())], 3).replays(1);
        let attained = exact(&verifier.worst_delta(Rational::from(odds)).unwrap()).to_f64();
        let read = read(&loss, odds);
        assert!(
            attained <= read && read <= attained + 2e-3,
            "{odds} {attained} {read}"
        );
    }
    // Without the second mechanism the reading would be too small.
    let alone = Private::<FDp, AddRemove>::loss(&twice, &FDp).unwrap();
    assert!(read(&alone, 6) < read(&loss, 6) - 0.01);
}
