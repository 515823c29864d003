//! Noise that is released is verified without a cut, and what must not pass for it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use queryables::compose::{Addressed, Filter};
use queryables::data::Predicate;
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released, ReleasesOnly};
use queryables::mechanisms::Count;
use queryables::noise::DiscreteLaplace;
use queryables::number::{Epsilon, Ratio};
use queryables::prelude::*;
use queryables::privacy::convert::rdp;
use queryables::privacy::{PureDp, Rdp, RdpGrid};
use queryables::verify::{Children, Completeness, Pair, Verifier, VerifyError, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn order(text: &str) -> Rdp {
    Rdp::new(text.parse().unwrap())
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

/// One row more.
fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![7, 8], vec![7, 7, 8])
}

/// On a loaded machine a minute may not be enough.
const TIME: Duration = Duration::from_secs(600);

/// D₂ of discrete Laplace noise, a little more and a little less.
fn laplace(steps: u64, loss: &str) -> [String; 2] {
    let steps = NonZeroU64::new(steps).unwrap();
    let exact = rdp::discrete_laplace("2".parse().unwrap(), steps, epsilon(loss));
    let less = exact.saturating_sub(epsilon("0.000001"));
    [exact.to_string(), less.to_string()]
}

#[test]
fn a_bound_holds_for_the_whole_noise() {
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1).releases_only();
    let verdict = verifier.check(&PureDp, &epsilon("1")).unwrap();
    assert_eq!(verdict.worst.completeness, Completeness::Bounded);
    assert!(
        verdict.to_string().contains("and is at most 2.718281828…"),
        "{verdict}"
    );
}

/// With a limit there is no result, then what was found before it, undecided, and then the verdict.
#[test]
fn a_search_that_reaches_a_limit_leaves_undecided() {
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let check = |renyi: bool, limit: u64, claim: &str| {
        let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1)
            .releases_only()
            .limit(limit);
        match renyi {
            true => verifier.check(&order("2"), &epsilon(claim)),
            false => verifier.check(&PureDp, &epsilon(claim)),
        }
    };
    for (renyi, claim, holds) in [
        (false, "1", true),
        (true, "1", true),
        (false, "0.9", false),
        (true, "0.1", false),
    ] {
        let (mut nothing, mut undecided) = (0, 0);
        for limit in (100..).step_by(100) {
            let verdict = match check(renyi, limit, claim) {
                Err(error) => {
                    assert_eq!(error, VerifyError::Limit { limit });
                    nothing += 1;
                    continue;
                }
                Ok(verdict) => verdict,
            };
            if verdict.holds() || verdict.is_refuted() {
                assert_eq!(verdict.holds(), holds, "{verdict}");
                break;
            }
            let reason = format!("\nthe search for more was stopped after {limit} runs");
            assert!(verdict.to_string().contains(&reason), "{verdict}");
            undecided += 1;
        }
        assert!(nothing > 0);
        // What proves a claim is the first that is tried.
        assert_eq!(undecided > 0, !holds);
    }
}

#[test]
fn counts_in_a_filter_are_decided() {
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let filter = Addressed::new(Filter::concurrent(PureDp, epsilon("2")));
    let menu = Children::new(vec![count], vec![()]).without_reading();
    let verifier = Verifier::new(copies_of(&filter), &pair(), menu, 4)
        .releases_only()
        .cut(ratio(1, 100))
        .time(TIME);
    let verdict = verifier.check(&PureDp, &epsilon("2")).unwrap();
    assert!(verdict.holds(), "{verdict}");
    let verdict = verifier.check(&PureDp, &epsilon("1.99")).unwrap();
    assert!(!verdict.holds(), "{verdict}");
}

#[test]
fn gaussian_noise_is_decided_at_several_orders() {
    let count = Count::of(is(7)).gaussian(mu!(0.5)).unwrap();
    let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1).releases_only();
    // αμ²/2, at orders of which one is not whole.
    let grid = RdpGrid::new(["1.5", "3"].map(|order| order.parse().unwrap())).unwrap();
    let losses = grid.curve(["0.1875", "0.375"].map(epsilon)).unwrap();
    let verdict = verifier.check(&grid, &losses).unwrap();
    assert!(verdict.holds(), "{verdict}");
}

/// A count with noise of scale 1, of which something is said that depends on the data where the
/// noise is far out: it is not private with any ε.
#[derive(Clone)]
struct LeaksFarOut {
    far: i128,
}

impl LeaksFarOut {
    fn answer(&self, count: i128, coins: &mut Coins<'_>) -> Result<i128, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::from(1)).unwrap())?;
        let noisy = coins.release(count, noise);
        Ok(match noisy > self.far {
            true => 1_000_000 + count,
            false => noisy,
        })
    }
}

impl Mechanism<Vec<u8>> for LeaksFarOut {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        self.answer(data.len() as i128, coins).map(Released)
    }
}

#[test]
fn a_mechanism_that_promises_nothing_is_not_proved() {
    let leaks = LeaksFarOut { far: 1000 };
    let pair = Pair::new(vec![1_u8], vec![1, 1]);
    let verifier = Verifier::new(copies_of(&leaks), &pair, vec![()], 1);
    let verdict = verifier.check(&PureDp, &epsilon("1")).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    let verdict = verifier.check(&order("2"), &epsilon("1")).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    // Where the leak is before the cut, it is refuted.
    let verifier = Verifier::new(copies_of(&LeaksFarOut { far: 10 }), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().is_refuted());
    let verdict = verifier.check(&order("2"), &epsilon("1")).unwrap();
    assert!(!verdict.holds(), "{verdict}");
}

/// Noise of too small a scale: refuted, though it promises to only say what it releases.
#[derive(Clone)]
struct TooLittleNoise {
    parity: bool,
}

impl Mechanism<Vec<u8>> for TooLittleNoise {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::new(1, 2).unwrap()).unwrap())?;
        let noisy = coins.release(data.len() as i128, noise);
        Ok(Released(if self.parity {
            noisy.rem_euclid(2)
        } else {
            noisy
        }))
    }
}

impl ReleasesOnly for TooLittleNoise {}

#[test]
fn too_little_noise_is_refuted() {
    let pair = Pair::new(vec![1_u8], vec![1, 1]);
    let checked = |mechanism: &TooLittleNoise, claim: &str| {
        let verifier = Verifier::new(copies_of(mechanism), &pair, vec![()], 1).releases_only();
        verifier.check(&PureDp, &epsilon(claim)).unwrap()
    };
    let plain = TooLittleNoise { parity: false };
    assert!(checked(&plain, "2").holds());
    assert!(checked(&plain, "1.999").is_refuted());
    let verifier = Verifier::new(copies_of(&plain), &pair, vec![()], 1).releases_only();
    let [exact, less] = laplace(1, "2");
    assert!(
        verifier
            .check(&order("2"), &epsilon(&exact))
            .unwrap()
            .holds()
    );
    assert!(
        verifier
            .check(&order("2"), &epsilon(&less))
            .unwrap()
            .is_refuted()
    );
    // Of the parity less is lost, which is not known beyond the cut: what is proved is the loss of
    // the value itself, and less than that is neither proved nor refuted.
    let parity = TooLittleNoise { parity: true };
    assert!(checked(&parity, "2").holds());
    let between = checked(&parity, "1.999");
    assert!(!between.holds() && !between.is_refuted(), "{between}");
    assert!(
        between.to_string().contains("only a bound is known"),
        "{between}"
    );
}

/// Twice the same noise: the sum tells nothing more, the difference everything.
struct Twice {
    count: i128,
    first: Option<i128>,
}

#[derive(Clone)]
struct AskedTwice;

impl Mechanism<Vec<u8>> for AskedTwice {
    type Machine = Twice;

    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Twice, Fault> {
        Ok(Twice {
            count: data.len() as i128,
            first: None,
        })
    }
}

impl ReleasesOnly for AskedTwice {}

impl Machine for Twice {
    type Query = ();
    type Answer = i128;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<i128, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::from(1)).unwrap())?;
        let noisy = coins.release(self.count, noise);
        let before = self.first.replace(noisy).unwrap_or(0);
        Ok(noisy + before)
    }
}

#[test]
fn losses_of_several_releases_add_up() {
    let pair = Pair::new(vec![1_u8], vec![1, 1]);
    for (depth, claim, less) in [(1, "1", "0.99"), (2, "2", "1.99"), (3, "3", "2.99")] {
        let verifier = Verifier::new(copies_of(&AskedTwice), &pair, vec![()], depth)
            .releases_only()
            .cut(ratio(1, 50))
            .time(TIME);
        let verdict = verifier.check(&PureDp, &epsilon(claim)).unwrap();
        assert!(verdict.holds(), "{verdict}");
        assert!(!verifier.check(&PureDp, &epsilon(less)).unwrap().holds());
    }
}
