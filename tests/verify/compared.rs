//! Noise that is compared is verified beyond its cut: ready-made machines, the same with noise that is
//! drawn, and machines that leak where noise is never listed.

use std::sync::Arc;

use crate::support::*;
use queryables::data::Predicate;
use queryables::machine::{
    Bernoulli, CoinSource, Coins, DrawnNoise, Fault, Inspect, Machine, Mechanism,
    NotPrivateSeededCoins, Released, ReleasesOnly, StateKey,
};
use queryables::mechanisms::{AboveThreshold, Choice, CountScores, NoisyMax};
use queryables::noise::{DiscreteGaussian, DiscreteLaplace};
use queryables::number::{Epsilon, Ratio};
use queryables::privacy::{AddRemove, PureDp, Rdp, Replace};
use queryables::verify::{
    Completeness, Pair, Rational, Value, Verdict, Verifier, VerifyError, copies_of,
};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![7, 8], vec![7, 7, 8])
}

fn laplace(scale: u64) -> DiscreteLaplace {
    DiscreteLaplace::new(Ratio::from(scale)).unwrap()
}

#[track_caller]
fn assert_undecided<Q: std::fmt::Debug, A: std::fmt::Debug>(verdict: &Verdict<Q, A>) {
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
}

/// A conversation, and every state of it: the noisy threshold lives on.
#[test]
fn a_search_is_decided_over_several_rounds() {
    let search: AboveThreshold<_> = AboveThreshold::new(AddRemove, 2, 1, epsilon("2")).unwrap();
    let by_state = Verifier::by_state(copies_of(&search), &pair(), vec![is(7), is(8)], 3);
    let opaque = Verifier::new(copies_of(&search), &pair(), vec![is(7), is(8)], 3);
    let [one, other] = [by_state, opaque].map(|verifier| {
        let verdict = verifier.check(&PureDp, &epsilon("2")).unwrap();
        assert!(verdict.holds_exactly(), "{verdict}");
        assert_eq!(verdict.worst.completeness, Completeness::Complete);
        let less = verifier.check(&PureDp, &epsilon("1.2")).unwrap();
        assert!(less.is_refuted(), "{less}");
        verifier.worst_ratio().unwrap().value
    });
    assert_same(&one, &other);
    // Another threshold noise for each question, and each miss leaks anew.
    let verifier = Verifier::by_state(copies_of(&Forgetful), &pair(), vec![()], 4);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().is_refuted());
}

/// Two intervals that hold the same number.
#[track_caller]
fn assert_same(one: &Value, other: &Value) {
    let ends = |value: &Value| (value.low().unwrap().clone(), value.high().unwrap().clone());
    let (one, other) = (ends(one), ends(other));
    assert!(one.0 <= other.1 && other.0 <= one.1, "{one:?} {other:?}");
}

/// Compares with a new threshold each time: 1-DP for each question, and it answers any number.
#[derive(Clone)]
struct Forgetful;

#[derive(Hash)]
struct Forgetting(i128);

impl Mechanism<Vec<u8>> for Forgetful {
    type Machine = Forgetting;

    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Forgetting, Fault> {
        Ok(Forgetting(data.len() as i128))
    }
}

impl Machine for Forgetting {
    type Query = ();
    type Answer = bool;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        let [count, threshold] = [coins.noise(&laplace(2))?, coins.noise(&laplace(2))?];
        Ok(coins.at_least((self.0, &count), (2, &threshold)))
    }
}

/// The largest of three, with noise that is compared or drawn; the answer is the index.
#[derive(Clone, Copy)]
struct Largest {
    compared: bool,
}

impl Mechanism<Vec<i128>> for Largest {
    type Machine = Released<usize>;

    fn start(&self, data: &Arc<Vec<i128>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let law = laplace(1);
        if !self.compared {
            let mut largest = (0, i128::MIN);
            for (index, score) in data.iter().enumerate() {
                let noisy = score + coins.draw(&law)?;
                if noisy > largest.1 {
                    largest = (index, noisy);
                }
            }
            return Ok(Released(largest.0));
        }
        let noises: Vec<_> = data
            .iter()
            .map(|_| coins.noise(&law))
            .collect::<Result<_, _>>()?;
        let mut largest = 0;
        for index in 1..data.len() {
            let best = (data[largest], &noises[largest]);
            if !coins.at_least(best, (data[index], &noises[index])) {
                largest = index;
            }
        }
        Ok(Released(largest))
    }
}

/// Odds by closed forms and intervals, against a sum over all values up to a cut.
#[test]
fn compared_noise_has_the_odds_of_drawn_noise() {
    let pair = Pair::new(vec![1_i128, 0, 2], vec![0, 1, 2]);
    let [drawn, compared] = [false, true].map(|compared| {
        let largest = Largest { compared };
        let verifier = Verifier::new(copies_of(&largest), &pair, vec![()], 1);
        let verifier = verifier.cut(ratio(1, 300));
        let at = |factor: u64| verifier.worst_delta(Rational::from(factor)).unwrap();
        [at(1), at(2)]
    });
    for (drawn, compared) in drawn.iter().zip(&compared) {
        assert_ne!(drawn.completeness, Completeness::Complete);
        assert_eq!(compared.completeness, Completeness::Complete);
        let wide = |value: &Value| value.high().unwrap() - value.low().unwrap();
        assert!(wide(&compared.value) <= wide(&drawn.value));
        assert_same(&drawn.value, &compared.value);
    }
    // And what is undecided at this cut is decided deeper.
    let largest = Largest { compared: true };
    let verifier = Verifier::new(copies_of(&largest), &pair, vec![()], 1).cut(ratio(1, 10));
    let ratio_at = |cut: u64| {
        let verifier = Verifier::new(copies_of(&largest), &pair, vec![()], 1);
        let worst = verifier.cut(ratio(1, cut)).worst_ratio().unwrap();
        (
            worst.value.low().unwrap().clone(),
            worst.value.high().unwrap().clone(),
        )
    };
    let (rough, fine) = (ratio_at(10), ratio_at(1 << 40));
    assert!(rough.0 < fine.0 && fine.1 < rough.1);
    let between =
        queryables::verify::epsilon_of_ratio(&((&fine.1 + &rough.1) / Rational::from(2_u8)));
    let verdict = verifier.check(&PureDp, &between.unwrap()).unwrap();
    assert!(verdict.holds_exactly(), "{verdict}");
}

/// Which of the leaks a machine has.
#[derive(Clone, Copy)]
enum Leak {
    /// Tells the count where it is above this with its noise.
    Above(i128),
    /// Fails there on one dataset.
    Fails(i128),
}

/// Says 0 or 1 with noise of scale 1 on either side, and leaks.
#[derive(Clone, Copy)]
struct Leaks(Leak);

impl Mechanism<Vec<u8>> for Leaks {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let count = data.len() as i128;
        let [noise, other] = [coins.noise(&laplace(1))?, coins.noise(&laplace(1))?];
        match self.0 {
            Leak::Above(far) if coins.at_least((count, &noise), (far, &other)) => {
                return Ok(Released(1_000_000 + count));
            }
            Leak::Fails(far) if count > 2 && coins.at_least((count, &noise), (far, &other)) => {
                return Err(Fault::Failed);
            }
            _ => {}
        }
        Ok(Released(
            coins.at_least((count, &noise), (2, &other)).into(),
        ))
    }
}

/// Where the leak is far out, its odds are not told from zero: nothing is proved. No ε holds.
#[test]
fn a_leak_where_noise_is_never_listed_is_not_proved() {
    let rdp = Rdp::new("2".parse().unwrap());
    for leak in [Leak::Above, Leak::Fails] {
        for far in [1000, 1 << 100] {
            let verifier = Verifier::new(copies_of(&Leaks(leak(far))), &pair(), vec![()], 1);
            assert_undecided(&verifier.check(&PureDp, &epsilon("20")).unwrap());
        }
        let verifier = Verifier::new(copies_of(&Leaks(leak(1000))), &pair(), vec![()], 1);
        assert_undecided(&verifier.check(&rdp, &epsilon("20")).unwrap());
        let verifier = Verifier::new(copies_of(&Leaks(leak(30))), &pair(), vec![()], 1);
        let verdict = verifier.check(&PureDp, &epsilon("20")).unwrap();
        assert!(verdict.is_refuted(), "{verdict}");
    }
}

/// Leaks where noise that was drawn is far out, and says nothing else: there is no tail in a closed form
/// behind it, only the mass of what is not listed.
#[derive(Clone)]
struct LeaksBeyond(i128);

impl Mechanism<Vec<u8>> for LeaksBeyond {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let count = data.len() as i128;
        let still = coins.noise(&Bernoulli::new(0, 1).unwrap())?;
        let [noise, other] = [coins.noise(&laplace(1))?, coins.noise(&laplace(1))?];
        // Neither is known, so that the first is drawn.
        let larger = coins.at_least((count, &noise), (2, &other));
        Ok(Released(
            match coins.at_least((0, &noise), (self.0, &still)) {
                true => 1_000_000 + count,
                false => larger.into(),
            },
        ))
    }
}

/// Without the mass beyond what is listed, this would be proved.
#[test]
fn what_is_not_listed_has_a_mass() {
    let rdp = Rdp::new("2".parse().unwrap());
    let verifier = Verifier::new(copies_of(&LeaksBeyond(1000)), &pair(), vec![()], 1);
    assert_undecided(&verifier.check(&PureDp, &epsilon("20")).unwrap());
    assert_undecided(&verifier.check(&rdp, &epsilon("20")).unwrap());
    let (_, certificate) = verifier.certify(&PureDp, &epsilon("20")).unwrap();
    assert!(certificate.is_none());
    let verifier = Verifier::new(copies_of(&LeaksBeyond(30)), &pair(), vec![()], 1);
    let verdict = verifier.check(&PureDp, &epsilon("20")).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
}

/// Compares with the least and the greatest number.
#[derive(Clone)]
struct ComparesWithTheEnds;

impl Mechanism<Vec<u8>> for ComparesWithTheEnds {
    type Machine = Released<[bool; 2]>;

    fn start(&self, _: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let still = coins.noise(&Bernoulli::new(0, 1).unwrap())?;
        let noise = coins.noise(&laplace(1))?;
        let mut from = |least: i128| coins.at_least((0, &noise), (least, &still));
        Ok(Released([from(i128::MIN), from(i128::MAX)]))
    }
}

/// Noise is at least the least number, for certain.
#[test]
fn the_ends_of_all_numbers_are_compared_with() {
    let verifier = Verifier::new(copies_of(&ComparesWithTheEnds), &pair(), vec![()], 1);
    let worst = verifier.worst_delta(Rational::from(1_u8)).unwrap();
    let shown = worst.adversary.to_string();
    assert!(!shown.contains("[false"), "{shown}");
    assert!(*worst.value.high().unwrap() < ratio(1, 1 << 60), "{worst}");
}

/// Compares Gaussian noise, and says what it found.
#[derive(Clone)]
struct ComparesGaussian;

impl Mechanism<Vec<u8>> for ComparesGaussian {
    type Machine = Released<bool>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let law = DiscreteGaussian::new(Ratio::from(4)).unwrap();
        let [noise, other] = [coins.noise(&law)?, coins.noise(&law)?];
        let count = data.len() as i128;
        Ok(Released(coins.at_least((count, &noise), (2, &other))))
    }
}

/// It releases nothing.
impl ReleasesOnly for ComparesGaussian {}

/// Gaussian tails have no closed form here: such noise is cut where it is compared.
#[test]
fn gaussian_noise_that_is_compared_is_cut() {
    let verifier =
        Verifier::new(copies_of(&ComparesGaussian), &pair(), vec![()], 1).releases_only();
    let verifier = verifier.cut(ratio(1, 1 << 12));
    let rdp = Rdp::new("2".parse().unwrap());
    assert_undecided(&verifier.check(&rdp, &epsilon("20")).unwrap());
    let verdict = verifier.check(&rdp, &epsilon("0.001")).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
}

/// Compares, and then releases what it compared: less private than it looks where the noise is known
/// to be large.
#[derive(Clone)]
struct ReleasesWhatItCompared;

impl Mechanism<Vec<u8>> for ReleasesWhatItCompared {
    type Machine = Released<Option<i128>>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let count = data.len() as i128;
        let [noise, other] = [coins.noise(&laplace(1))?, coins.noise(&laplace(1))?];
        Ok(Released(
            match coins.at_least((count, &noise), (2, &other)) {
                true => Some(coins.release(count, noise)),
                false => None,
            },
        ))
    }
}

/// It says no more than that.
impl ReleasesOnly for ReleasesWhatItCompared {}

/// It is 1-DP; but noise that was compared is not fresh, so that this is not proved by clamping it.
#[test]
fn noise_that_was_compared_is_not_released_as_fresh() {
    let verifier = Verifier::new(copies_of(&ReleasesWhatItCompared), &pair(), vec![()], 1)
        .releases_only()
        .cut(ratio(1, 1 << 12));
    assert_undecided(&verifier.check(&PureDp, &epsilon("3")).unwrap());
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.9"))
            .unwrap()
            .is_refuted()
    );
}

/// Noise of a scale that depends on the data has other odds on the two, exactly.
#[derive(Clone)]
struct ScaledByData;

impl Mechanism<Vec<u8>> for ScaledByData {
    type Machine = Released<bool>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let still = coins.noise(&Bernoulli::new(0, 1).unwrap())?;
        let noise = coins.noise(&laplace(data.len() as u64))?;
        Ok(Released(coins.at_least((0, &noise), (6, &still))))
    }
}

/// P(Z ≥ 6) = q^6 / (1 + q): nothing is cut where noise is compared with what is known.
#[test]
fn one_comparison_has_closed_odds() {
    let verifier = Verifier::new(copies_of(&ScaledByData), &pair(), vec![()], 1);
    let worst = verifier.worst_ratio().unwrap();
    assert_eq!(worst.completeness, Completeness::Complete);
    let tail = |scale: f64| {
        let q = (-1.0 / scale).exp();
        q.powi(6) / (1.0 + q)
    };
    let expected = tail(3.0) / tail(2.0);
    let Value::Finite(ratio) = &worst.value else {
        panic!("{worst}");
    };
    let narrow = ratio.high() - ratio.low() < crate::support::ratio(1, 1 << 60);
    let near = (ratio.low().to_f64() - expected).abs() < 1e-12;
    assert!(narrow && near, "{worst}");
}

/// Asks the same comparison twice, and others that follow from it.
#[derive(Clone)]
struct Consistent;

impl Mechanism<Vec<u8>> for Consistent {
    type Machine = Released<[bool; 4]>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let count = data.len() as i128;
        let still = coins.noise(&Bernoulli::new(0, 1).unwrap())?;
        let noise = coins.noise(&laplace(1))?;
        let mut from = |least: i128| coins.at_least((count, &noise), (least, &still));
        Ok(Released([from(3), from(3), from(2), from(5)]))
    }
}

/// What is known of noise from one comparison holds in the next.
#[test]
fn comparisons_of_one_noise_agree() {
    let verifier = Verifier::new(copies_of(&Consistent), &pair(), vec![()], 1);
    let worst = verifier.worst_ratio().unwrap();
    let shown = worst.adversary.to_string();
    // Four of the sixteen: at least 5, at least 3, at least 2, less.
    for possible in [
        "[true, true, true, true]",
        "[true, true, true, false]",
        "[false, false, true, false]",
        "[false, false, false, false]",
    ] {
        assert!(shown.contains(possible), "{shown}");
    }
    assert_eq!(shown.matches("stop").count(), 4, "{shown}");
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().holds());
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.999999"))
            .unwrap()
            .is_refuted()
    );
}

/// Keeps noise in its state, and shows it.
#[derive(Clone)]
struct Keeps;

struct Keeping {
    count: i128,
    noise: DrawnNoise,
}

impl Mechanism<Vec<u8>> for Keeps {
    type Machine = Keeping;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Keeping, Fault> {
        Ok(Keeping {
            count: data.len() as i128,
            noise: coins.noise(&laplace(1))?,
        })
    }
}

impl Machine for Keeping {
    type Query = i128;
    type Answer = bool;

    fn step(&mut self, least: i128, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        let fresh = coins.noise(&laplace(1))?;
        Ok(coins.at_least((self.count, &self.noise), (least, &fresh)))
    }
}

impl Inspect for Keeping {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.count);
        key.write(&self.noise);
    }
}

/// States with different noise are different: by state the values are those of the transcripts.
#[test]
fn noise_is_a_part_of_the_state() {
    let menu = vec![2, 3];
    let by_state = Verifier::by_state(copies_of(&Keeps), &pair(), menu.clone(), 3);
    let opaque = Verifier::new(copies_of(&Keeps), &pair(), menu, 3);
    let [by_state, opaque] = [by_state, opaque].map(|verifier| {
        let verifier = verifier.cut(ratio(1, 1000));
        [
            verifier.worst_delta(Rational::from(1_u8)).unwrap().value,
            verifier.worst_ratio().unwrap().value,
        ]
    });
    for (one, other) in by_state.iter().zip(&opaque) {
        assert_same(one, other);
    }
    let narrow = |value: &Value| value.high().unwrap() - value.low().unwrap() < ratio(1, 100);
    assert!(narrow(&by_state[0]) && narrow(&opaque[0]));
}

/// Gives noise of its coins to others.
#[derive(Clone)]
struct ToOthers {
    released: bool,
}

impl Mechanism<Vec<u8>> for ToOthers {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let count = data.len() as i128;
        let noise = coins.noise(&laplace(1))?;
        let mut others = NotPrivateSeededCoins::new(1);
        Ok(Released(match self.released {
            true => others.release(count, noise),
            false => others.at_least((count, &noise), (2, &noise)).into(),
        }))
    }
}

/// Others would add nothing.
#[test]
fn noise_that_is_given_to_other_coins_is_an_error() {
    for released in [true, false] {
        let verifier = Verifier::new(copies_of(&ToOthers { released }), &pair(), vec![()], 1);
        let found = verifier.check(&PureDp, &epsilon("1"));
        assert_eq!(found.unwrap_err(), VerifyError::OtherCoins);
    }
}

/// Half of the noise that it takes, refuted; and the exact loss of a choice between two.
#[test]
fn too_little_noise_is_refuted() {
    let votes = Pair::new(vec![7_u8, 7], vec![7, 8]);
    let max =
        |epsilon| Choice::by(Replace, NoisyMax, CountScores::of([is(7), is(8)]), epsilon).unwrap();
    let verifier = Verifier::new(copies_of(&max(epsilon("2"))), &votes, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().is_refuted());
    assert!(
        verifier
            .check(&PureDp, &epsilon("2"))
            .unwrap()
            .holds_exactly()
    );
    let verifier = Verifier::new(copies_of(&max(epsilon("1"))), &votes, vec![()], 1);
    let Value::Finite(found) = verifier.worst_ratio().unwrap().value else {
        panic!("not bounded");
    };
    // P(c + X ≥ d + Y) for c − d = 2 over that for 0, or the complements: in floats, from the law.
    let q = (-0.5_f64).exp();
    let law = |k: i32| (1.0 - q) / (1.0 + q) * q.powi(k.abs());
    let all = || (-80..=80).flat_map(|x| (-80..=80).map(move |y| (x, y)));
    let first = |lead: i32| -> f64 {
        let wins = all().filter(|(x, y)| lead + x >= *y);
        wins.map(|(x, y)| law(x) * law(y)).sum()
    };
    let (far, near) = (first(2), first(0));
    let expected = (far / near).max((1.0 - near) / (1.0 - far));
    assert!(
        (found.low().to_f64() - expected).abs() < 1e-8,
        "{found} {expected}"
    );
    assert!(found.high() - found.low() < ratio(1, 1 << 20));
}
