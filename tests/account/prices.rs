//! Every ready-made mechanism under every measure: whether it has a loss there, and which, for
//! neighbours and at a distance of two.
//!
//! The numbers are from sums over the laws and from mpmath, at 40 digits, and no code of this
//! crate.

use queryables::data::{Attribute, Predicate, Vector};
use queryables::mechanisms::{
    AboveThreshold, ApproxRandomizedResponse, ContinualCount, ExponentialMechanism,
    GaussianContinualCount, GaussianCount, GaussianVectorSum, Lattice, MultiplicativeWeights,
    NoisyCount, NoisyHistogram, NoisyMax, NoisyRealSum, NoisySum, RandomizedResponse,
    SampledGaussianSum,
};
use queryables::number::{Order, Rho};
use queryables::prelude::*;
use queryables::privacy::{
    ApproxRdp, ApproxZCdp, Distance, Gdp, Measure, ProbabilisticDp, Rdp, RdpGrid, Relation,
    RhoDelta,
};
use std::str::FromStr;

fn read<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// What a loss prints, at one step and at two; an error's text where none is known.
type Losses = [Result<String, &'static str>; 2];

struct Probe<'a, M, Me, R>(&'a M, &'a Me, R);

/// A method of the type itself takes precedence; this one is used if there is no loss.
trait Unpriced {
    fn losses(&self) -> Option<Losses>;
}

impl<M, Me, R> Unpriced for Probe<'_, M, Me, R> {
    fn losses(&self) -> Option<Losses> {
        None
    }
}

impl<M: Private<Me, R>, Me: Measure, R: Relation> Probe<'_, M, Me, R> {
    fn losses(&self) -> Option<Losses> {
        let Self(mechanism, measure, _) = self;
        let text = |loss: Result<Me::Loss, UnknownLoss>| match loss {
            Ok(loss) => Ok(loss.to_string()),
            Err(UnknownLoss(reason)) => Err(reason),
        };
        let at = |distance| text(mechanism.loss_at(measure, distance));
        let losses = [at(Distance::NEIGHBOURS), at(Distance::new(2).unwrap())];
        assert_eq!(text(mechanism.loss(measure)), losses[0]);
        Some(losses)
    }
}

/// What is expected of one measure.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// It does not compile.
    No,
    /// Numbers at one step and at two.
    Is([&'static [f64]; 2]),
    /// Numbers at one step, and why there are none at two.
    Near(&'static [f64], &'static str),
    /// Why there is none at all.
    Unknown(&'static str),
}

use Cell::{Is, Near, No, Unknown};

/// Up to 1e-9 above, and below by at most the rounding of a float.
fn holds(found: &str, expected: &[f64]) -> bool {
    let numbers = found.split(['(', ')', '[', ']', ',', ' ']);
    let numbers = numbers.filter(|text| !text.is_empty());
    let numbers: Vec<f64> = numbers.map(|text| text.parse().unwrap()).collect();
    numbers.len() == expected.len()
        && numbers.iter().zip(expected).all(|(found, expected)| {
            (expected * (1.0 - 1e-15)..=expected * (1.0 + 1e-9)).contains(found)
        })
}

fn check(name: &str, measure: &str, found: Option<Losses>, expected: Cell) {
    let right = match (&found, expected) {
        (None, No) => true,
        (Some([Ok(one), Ok(two)]), Is(both)) => holds(one, both[0]) && holds(two, both[1]),
        (Some([Ok(one), Err(reason)]), Near(near, why)) => holds(one, near) && *reason == why,
        (Some([Err(one), Err(two)]), Unknown(why)) => *one == why && *two == why,
        _ => false,
    };
    assert!(right, "{name} under {measure}: {found:?}, not {expected:?}");
}

/// One row: the mechanism, its relation, and the nine measures.
macro_rules! row {
    ($mechanism:expr, $R:ident, $cells:expr) => {{
        let mechanism = $mechanism;
        let [two, eight]: [Order; 2] = ["2", "8"].map(read);
        let grid = RdpGrid::new([two, eight]).unwrap();
        let name = stringify!($mechanism);
        let [
            pure,
            approx,
            probabilistic,
            zcdp,
            approx_zcdp,
            rdp,
            on_grid,
            approx_rdp,
            gdp,
        ] = $cells;
        macro_rules! cell {
            ($measure:expr, $expected:expr) => {
                let found = Probe(&mechanism, &$measure, $R).losses();
                check(name, stringify!($measure), found, $expected);
            };
        }
        cell!(PureDp, pure);
        cell!(ApproxDp, approx);
        cell!(ProbabilisticDp, probabilistic);
        cell!(ZCdp, zcdp);
        cell!(ApproxZCdp, approx_zcdp);
        cell!(Rdp::new(two), rdp);
        cell!(grid, on_grid);
        cell!(ApproxRdp::new(eight), approx_rdp);
        cell!(Gdp, gdp);
    }};
}

fn predicate(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(value.to_string(), move |row: &u8| *row == value)
}

fn vector() -> Vector<Vec<u8>> {
    Vector::new("vector", |row: &u8, out: &mut [f64]| {
        out[0] = f64::from(*row);
    })
}

fn time() -> Attribute<Vec<u8>, Option<u64>> {
    Attribute::new("time", |row: &u8| Some(u64::from(*row)))
}

const LATTICE: Lattice = Lattice {
    exponent: 0,
    radius: 3,
};

const ZERO: &[f64] = &[1.0, 0.0];
const TWICE: &[f64] = &[2.0, 0.0];

/// What 1-DP implies, and 2-DP at a distance of two.
const PURE: [Cell; 9] = [
    Is([&[1.0], &[2.0]]),
    Is([ZERO, TWICE]),
    Is([ZERO, TWICE]),
    Is([&[0.46211715726000974], &[1.5231883119115297]]),
    Is([&[0.46211715726000974, 0.0], &[1.5231883119115297, 0.0]]),
    Is([&[0.7353256640555192], &[1.8755476740947579]]),
    Is([
        &[0.7353256640555192, 0.9552483740548644],
        &[1.8755476740947579, 1.9818674269938745],
    ]),
    Is([&[0.9552483740548644, 0.0], &[1.9818674269938745, 0.0]]),
    Is([&[1.2320353853449009], &[2.3579614856472495]]),
];

/// The same for two datasets, which are never further apart.
const TWO_DATASETS: [Cell; 9] = [
    Is([&[1.0], &[1.0]]),
    Is([ZERO, ZERO]),
    Is([ZERO, ZERO]),
    Is([&[0.46211715726000974], &[0.46211715726000974]]),
    Is([&[0.46211715726000974, 0.0], &[0.46211715726000974, 0.0]]),
    Is([&[0.7353256640555192], &[0.7353256640555192]]),
    Is([
        &[0.7353256640555192, 0.9552483740548644],
        &[0.7353256640555192, 0.9552483740548644],
    ]),
    Is([&[0.9552483740548644, 0.0], &[0.9552483740548644, 0.0]]),
    Is([&[1.2320353853449009], &[1.2320353853449009]]),
];

#[test]
fn mechanisms_of_which_only_pure_privacy_is_known() {
    let epsilon: Epsilon = read("1");
    row!(
        NoisyMax::new(AddRemove, [predicate(1)], epsilon).unwrap(),
        AddRemove,
        PURE
    );
    row!(
        AboveThreshold::new(Replace, 5, 2, epsilon).unwrap(),
        Replace,
        PURE
    );
    let search = AboveThreshold::new(AddRemove, 5, 2, read("0.5")).unwrap();
    row!(search.with_counts(read("0.5")).unwrap(), AddRemove, PURE);
    row!(
        MultiplicativeWeights::new(vec![1_u8, 2], 9, 3, 2, epsilon).unwrap(),
        Replace,
        PURE
    );
    row!(
        RandomizedResponse::new(epsilon).unwrap(),
        AddRemove,
        TWO_DATASETS
    );
}

/// One answer that changes by one: for neighbours it is exactly what 1-DP implies.
#[test]
fn laplace_noise_on_a_count() {
    let mut cells = PURE;
    cells[5] = Is([&[0.7353256640555192], &[1.720124907190479]]);
    cells[6] = Is([
        &[0.7353256640555192, 0.9552483740548644],
        &[1.720124907190479, 1.9552483579784283],
    ]);
    cells[7] = Is([&[0.9552483740548644, 0.0], &[1.9552483579784283, 0.0]]);
    row!(
        NoisyCount::new(predicate(1), read("1")).unwrap(),
        AddRemove,
        cells
    );
    row!(
        NoisyCount::new(predicate(1), read("1")).unwrap(),
        Replace,
        cells
    );
}

/// One answer that changes by ten.
#[test]
fn laplace_noise_on_a_sum() {
    let mut cells = PURE;
    cells[5] = Is([&[0.6206638114260162], &[1.5974284663033766]]);
    cells[6] = Is([
        &[0.6206638114260162, 0.9117955781285523],
        &[1.5974284663033766, 1.911795540801538],
    ]);
    cells[7] = Is([&[0.9117955781285523, 0.0], &[1.911795540801538, 0.0]]);
    let whole = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| i64::from(*row));
    row!(
        NoisySum::new(AddRemove, whole, 0..=10, read("1")).unwrap(),
        AddRemove,
        cells
    );
    let real = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| f64::from(*row));
    row!(
        NoisyRealSum::new(Replace, real, 0.0..=1.25, -3, read("1")).unwrap(),
        Replace,
        cells
    );
}

/// Two answers that change by one.
#[test]
fn laplace_noise_on_a_histogram() {
    let bins = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| usize::from(*row));
    let mut cells = PURE;
    cells[3] = Is([&[0.24491866240370913], &[0.9242343145200195]]);
    cells[4] = Is([&[0.24491866240370913, 0.0], &[0.9242343145200195, 0.0]]);
    cells[5] = Is([&[0.45467258760529145], &[1.309655849748865]]);
    cells[6] = Is([
        &[0.45467258760529145, 0.8647074135129298],
        &[1.309655849748865, 1.8646116913490514],
    ]);
    cells[7] = Is([&[0.8647074135129298, 0.0], &[1.8646116913490514, 0.0]]);
    cells[8] = Is([&[0.8823173652098155], &[1.7423611512783213]]);
    row!(
        NoisyHistogram::new(Replace, bins, 9, read("1")).unwrap(),
        Replace,
        cells
    );
}

/// Three answers that change by one: up to seven has three digits.
#[test]
fn laplace_noise_on_a_tree() {
    let mut cells = PURE;
    cells[3] = Is([&[0.16514041292462936], &[0.6430254750632687]]);
    cells[4] = Is([&[0.16514041292462936, 0.0], &[0.6430254750632687, 0.0]]);
    cells[5] = Is([&[0.31886833848644314], &[1.0234920776350986]]);
    cells[6] = Is([
        &[0.31886833848644314, 0.7713184744855899],
        &[1.0234920776350986, 1.7692776769766754],
    ]);
    cells[7] = Is([&[0.7713184744855899, 0.0], &[1.7692776769766754, 0.0]]);
    cells[8] = Is([&[0.7221719901089375], &[1.4359680746757457]]);
    row!(
        ContinualCount::new(AddRemove, time(), 7, read("1")).unwrap(),
        AddRemove,
        cells
    );
}

/// μ = 1 and ρ = 1/2; four times ρ at a distance of two.
#[test]
fn gaussian_noise() {
    let cells = [
        No,
        No,
        No,
        Is([&[0.5], &[2.0]]),
        Is([&[0.5, 0.0], &[2.0, 0.0]]),
        Is([&[1.0], &[4.0]]),
        Is([&[1.0, 4.0], &[4.0, 16.0]]),
        Is([&[4.0, 0.0], &[16.0, 0.0]]),
        Is([&[1.0], &[2.0]]),
    ];
    row!(
        GaussianCount::new(predicate(1), read("0.5")).unwrap(),
        Replace,
        cells
    );
    row!(
        GaussianCount::with_mu(predicate(1), read("1")).unwrap(),
        AddRemove,
        cells
    );
    row!(
        GaussianVectorSum::new(AddRemove, vector(), 1, LATTICE, read("0.5")).unwrap(),
        AddRemove,
        cells
    );
    row!(
        GaussianContinualCount::with_mu(Replace, time(), 7, read("1")).unwrap(),
        Replace,
        cells
    );
}

#[test]
fn sampled_gaussian_noise() {
    let far = "several rows join a sample at another rate";
    let cells = [
        No,
        No,
        No,
        No,
        No,
        Near(&[0.00017181342207454794], far),
        Near(&[0.00017181342207454794, 0.0008936439076060318], far),
        Near(&[0.0008936439076060318, 0.0], far),
        No,
    ];
    let sum = SampledGaussianSum::new(vector(), 1, LATTICE, read("0.01"), read("1"));
    row!(sum.unwrap(), AddRemove, cells);
    let sum = SampledGaussianSum::new(vector(), 1, LATTICE, read("0.01"), read("1"));
    row!(sum.unwrap(), Replace, [No; 9]);
}

/// ε²/8, and the worst divergence of laws with two losses, ε apart, by trying out all of them.
#[test]
fn the_exponential_mechanism() {
    let mut cells = PURE;
    cells[3] = Is([&[0.125], &[0.5]]);
    cells[4] = Is([&[0.125, 0.0], &[0.5, 0.0]]);
    cells[5] = Is([&[0.24022901391655505], &[0.8675616609660544]]);
    cells[6] = Is([
        &[0.24022901391655505, 0.6354593985644067],
        &[0.8675616609660544, 1.5901795840341957],
    ]);
    cells[7] = Is([&[0.6354593985644067, 0.0], &[1.5901795840341957, 0.0]]);
    cells[8] = Is([&[0.6238925920985082], &[1.2320353853449009]]);
    let choice = ExponentialMechanism::new(Replace, [predicate(1)], read("1"));
    row!(choice.unwrap(), Replace, cells);
}

#[test]
fn a_response_that_reveals() {
    let without = EpsilonDelta::new("1", "0").unwrap();
    row!(
        ApproxRandomizedResponse::new(without),
        AddRemove,
        TWO_DATASETS
    );
    let unknown = Unknown("this measure has no loss where δ > 0");
    let pair = Is([&[1.0, 1e-6], &[1.0, 1e-6]]);
    let cells = [
        unknown,
        pair,
        pair,
        unknown,
        Is([&[0.46211715726000974, 1e-6], &[0.46211715726000974, 1e-6]]),
        unknown,
        unknown,
        Is([&[0.9552483740548644, 1e-6], &[0.9552483740548644, 1e-6]]),
        unknown,
    ];
    let revealing = EpsilonDelta::new("1", "1e-6").unwrap();
    row!(ApproxRandomizedResponse::new(revealing), Replace, cells);
}

/// A pure mechanism is launched as it is, and charged at what the measure says.
#[test]
fn mechanisms_are_launched_under_other_measures_as_they_are() {
    use std::sync::Arc;
    let data = || Arc::new(vec![1_u8, 2, 3]);
    let count = NoisyCount::new(predicate(1), read("0.1")).unwrap();
    let search = AboveThreshold::new(AddRemove, 2, 1, read("0.1")).unwrap();
    let pair = EpsilonDelta::new("1", "1e-6").unwrap();
    let filter = launch(&Filter::concurrent(ApproxDp, pair), data()).unwrap();
    filter.release(&count).unwrap();
    filter.launch(&search).unwrap();
    assert_eq!(filter.privacy_loss().to_string(), "(0.2, 0)");
    let rho: Rho = "1".parse().unwrap();
    let filter = launch(&Filter::concurrent(ZCdp, rho), data()).unwrap();
    filter.launch(&search).unwrap();
    filter
        .release(&GaussianCount::new(predicate(1), read("0.5")).unwrap())
        .unwrap();
    let tanh = queryables::privacy::convert::zcdp::pure(read("0.1"));
    assert_eq!(
        filter.privacy_loss(),
        tanh.checked_add(read("0.5")).unwrap()
    );
    let budget = RhoDelta::new("1", "1e-6").unwrap();
    let filter = launch(&Filter::sequential(ApproxZCdp, budget), data()).unwrap();
    filter.launch(&search).unwrap();
    assert_eq!(filter.privacy_loss().rho, tanh);
}
