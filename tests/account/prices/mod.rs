//! Every ready-made mechanism under every measure: whether it has a loss there, and which, for
//! neighbours and at a distance of two.
//!
//! The numbers are from sums over the laws and from mpmath, at 40 digits, and no code of this
//! crate.

use queryables::data::{Attribute, Predicate, Vector};
use queryables::mechanisms::query::Keys;
use queryables::mechanisms::{Lattice, Partition};
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

fn whole() -> Attribute<Vec<u8>, i64> {
    Attribute::new("itself", |row: &u8| i64::from(*row))
}

fn real() -> Attribute<Vec<u8>, f64> {
    Attribute::new("itself", |row: &u8| f64::from(*row))
}

fn keys() -> Partition<Vec<u8>, Keys<u8>> {
    Partition::by_key("itself", |row: &u8| *row, [1, 2, 3]).unwrap()
}

fn time() -> Attribute<Vec<u8>, Option<u64>> {
    Attribute::new("time", |row: &u8| Some(u64::from(*row)))
}

const LATTICE: Lattice = Lattice::of_whole_numbers(3);

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

mod choices;
mod gaussian;
mod laplace;
mod order_one;
mod others;
