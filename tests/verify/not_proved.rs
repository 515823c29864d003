//! What is not proved by taking released values together: machines, middles and menus for which
//! the values that are never explored decide.

use std::sync::Arc;

use crate::support::*;
use queryables::data::Predicate;
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released, ReleasesOnly, Script};
use queryables::mechanisms::{
    Choice, CountScores, Descent, GradientDescent, Lattice, NoisyMaxWithMargin, Objective, Winner,
};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::noise::{DiscreteLaplace, RoundedGaussian};
use queryables::number::{Epsilon, Ratio};
use queryables::privacy::{PureDp, Rdp, Replace};
use queryables::verify::{Pair, Verdict, Verifier, by_transcript, copies_of, views};
use std::time::Duration;

/// On a loaded machine a minute may not be enough.
const TIME: Duration = Duration::from_secs(600);

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(value.to_string(), move |row: &u8| *row == value)
}

fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![1], vec![1, 1])
}

#[track_caller]
fn assert_not_proved<Q: std::fmt::Debug, A: std::fmt::Debug>(verdict: &Verdict<Q, A>) {
    assert!(!verdict.holds(), "{verdict}");
}

/// The same truth on all data, with noise of a scale that depends on them: far out, the ratio of
/// `P(k)` on the two is `q^k`, with no bound. It only says what it releases.
#[derive(Clone)]
struct ScaledByData {
    gaussian: bool,
}

impl Mechanism<Vec<u8>> for ScaledByData {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        let scale = Ratio::from(data.len() as u64);
        let failed = |_| Fault::Failed;
        let noise = match self.gaussian {
            true => coins.noise(&RoundedGaussian::new(scale).map_err(failed)?),
            false => coins.noise(&DiscreteLaplace::new(scale).map_err(failed)?),
        }?;
        Ok(Released(coins.release(0, noise)))
    }
}

impl ReleasesOnly for ScaledByData {}

#[test]
fn noise_whose_scale_depends_on_the_data() {
    for gaussian in [false, true] {
        let scaled = ScaledByData { gaussian };
        let verifier = Verifier::new(copies_of(&scaled), &pair(), vec![()], 1).releases_only();
        assert_not_proved(&verifier.check(&PureDp, &epsilon("15")).unwrap());
        // Of variances 1 and 2, and of scales 1 and 2, the divergence of order 3 is infinite.
        let order = Rdp::new("3".parse().unwrap());
        assert_not_proved(&verifier.check(&order, &epsilon("5")).unwrap());
    }
}

/// Counts with noise of scale 1 as often as it is asked to.
#[derive(Clone)]
struct Counter;

struct Counting(i128);

impl Mechanism<Vec<u8>> for Counter {
    type Machine = Counting;

    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Counting, Fault> {
        Ok(Counting(data.len() as i128))
    }
}

impl ReleasesOnly for Counter {}

impl Machine for Counting {
    type Query = ();
    type Answer = i128;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<i128, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::from(1)).unwrap())?;
        Ok(coins.release(self.0, noise))
    }
}

/// Asks once more if the first answer is far out, and tells both.
#[derive(Clone, Default)]
struct OnceMore(Option<i128>);

impl Middle<(), i128> for OnceMore {
    type OuterQuery = ();
    type OuterAnswer = (i128, i128);

    fn on_query(&mut self, (): (), _: &mut Coins<'_>) -> Result<Move<(), (i128, i128)>, Fault> {
        self.0 = None;
        Ok(Move::Ask(()))
    }

    fn on_answer(
        &mut self,
        answer: i128,
        _: &mut Coins<'_>,
    ) -> Result<Move<(), (i128, i128)>, Fault> {
        Ok(match self.0 {
            None if answer > 1000 => {
                self.0 = Some(answer);
                Move::Ask(())
            }
            first => Move::Answer((first.unwrap_or_default(), answer)),
        })
    }
}

/// Two answers, both far out, are e² times as probable with one row more.
#[test]
fn a_person_in_the_middle_who_asks_by_what_was_released() {
    let asked = Counter.through(OnceMore::default());
    let verifier = Verifier::new(copies_of(&asked), &pair(), vec![()], 1);
    assert_not_proved(&verifier.check(&PureDp, &epsilon("1")).unwrap());
}

/// The same of an adversary whose menu has a second query after such an answer only.
#[test]
fn a_menu_that_depends_on_what_was_released() {
    let menu = by_transcript(|said: &[((), Result<i128, Fault>)]| match said {
        [] => vec![()],
        [(_, Ok(answer))] if *answer > 1000 => vec![()],
        _ => vec![],
    });
    let verifier = Verifier::new(copies_of(&Counter), &pair(), menu, 2)
        .releases_only()
        .time(TIME);
    assert_not_proved(&verifier.check(&PureDp, &epsilon("1")).unwrap());
    // A menu that does not look at answers is decided.
    let verifier = Verifier::new(copies_of(&Counter), &pair(), vec![()], 2)
        .releases_only()
        .cut(ratio(1, 50))
        .time(TIME);
    assert_not_proved(&verifier.check(&PureDp, &epsilon("1")).unwrap());
    assert!(verifier.check(&PureDp, &epsilon("2")).unwrap().holds());
}

/// The first of two candidates, ahead by t, wins by a margin of g with odds of q^g·(g − t + κ). So how probable
/// the next margin is beside this one depends on t, and what is beyond a margin is not the same law on two
/// datasets, as that of released values is.
#[test]
fn the_rest_of_a_margin_depends_on_the_data() {
    let candidates = || CountScores::of([is(7), is(8)]);
    // Two scores move apart by 2, so that q is 1/e.
    let margin =
        move || Choice::by(Replace, NoisyMaxWithMargin, candidates(), epsilon("2")).unwrap();
    // e^g times the probability of the first few margins.
    let law = |rows: Vec<u8>| {
        let views = views(margin, &Arc::new(rows), || Script::new([()]), 1).unwrap();
        let at = |g: u64| {
            let said = Winner {
                index: 0,
                margin: g,
            };
            let mut found = views
                .outcomes()
                .filter(|(view, _)| view.answers().eq([&Ok(said)]));
            found.next().unwrap().1.low().to_f64() * (g as f64).exp()
        };
        [4, 5, 6].map(at)
    };
    let (tied, ahead) = (law(vec![7, 8]), law(vec![7, 7]));
    let q = (-1.0_f64).exp();
    let kappa = (1.0 + q * q) / (1.0 - q * q);
    for (t, [first, next, last]) in [(0.0, tied), (2.0, ahead)] {
        let formula = (5.0 - t + kappa) / (4.0 - t + kappa);
        assert!((next / first - formula).abs() < 1e-6, "{t} {next} {first}");
        // In proportion to g and a constant: a mixture of two laws that do not know t.
        assert!(((last - next) / (next - first) - 1.0).abs() < 1e-4, "{t}");
    }
    // The law of released values would have 1 in both places.
    assert!(ahead[1] / ahead[0] - tied[1] / tied[0] > 0.1);
}

/// Nothing that is explored depends on the row; after a first release of more than a million, the second
/// does.
#[test]
fn a_gradient_that_is_not_zero_far_out_only() {
    let far = Objective::new("far", 1, |weights: &[f64], row: &f64, out: &mut [f64]| {
        out[0] = if weights[0].abs() > 1e6 { *row } else { 0.0 };
    });
    let lattice = Lattice::of_whole_numbers(5);
    let rho = "0.5".parse().unwrap();
    let descent = GradientDescent::new(far, lattice, 2, 1.0, rho).unwrap();
    let whole = descent.mapped(|descent: Descent| descent.weights()[0] as i64);
    let pair = Pair::new(vec![], vec![9.0]);
    let verifier = Verifier::new(copies_of(&whole), &pair, vec![()], 1).cut(ratio(1, 2000));
    let verdict = verifier.check(&Rdp::new("2".parse().unwrap()), &epsilon("0.9"));
    let verdict = verdict.unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
}
