//! Tests of [`branching`](super::branching).

use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::Limits;
use super::branching::{Branching, Outcome, every_path};
use super::fork::Choice;
use super::meter::Meter;
use super::runner::{Precision, Runner};
use super::{Rational, VerifyError};
use crate::machine::{Bernoulli, CoinSource, CoinsError, Law};
use crate::noise::DiscreteLaplace;
use crate::number::Ratio;

fn ratio(numerator: i64, denominator: u64) -> Rational {
    Rational::from_parts(numerator.into(), denominator.into())
}

fn below(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).unwrap()
}

/// All outcomes, and what was cut.
fn all_of<T>(
    path: &[Choice],
    cut: &Rational,
    code: impl FnMut(&mut Branching<'_>) -> Result<T, VerifyError>,
) -> Result<(Vec<Outcome<T>>, Rational), VerifyError> {
    let mut list = Vec::new();
    let care = Precision {
        cut: cut.clone(),
        ..Precision::default()
    };
    let runner = Runner::new(&Arc::new(Meter::new(Limits::default())), care);
    let cut = every_path(path, &runner, code, |outcome| {
        list.push(outcome);
        Ok(())
    })?;
    Ok((list, cut))
}

fn explore<T>(
    mut code: impl FnMut(&mut dyn CoinSource) -> T,
) -> Result<Vec<(T, Rational)>, VerifyError> {
    let (list, cut) = all_of(&[], &Rational::ZERO, |coins| Ok(code(coins)))?;
    assert_eq!(cut, Rational::ZERO);
    let masses = list.iter().map(|outcome| outcome.mass.low());
    let total = masses.fold(Rational::ZERO, |sum, mass| sum + mass);
    assert_eq!(total, Rational::ONE);
    Ok(list
        .into_iter()
        .map(|outcome| (outcome.result, outcome.mass.low().clone()))
        .collect())
}

#[test]
fn every_branch_is_taken_once_with_its_odds() {
    let found = explore(|coins| {
        if coins.weighted(&[1, 0, 3]).unwrap() == 0 {
            return (0, coins.uniform(below(2)).unwrap() as i128);
        }
        (1, coins.draw(&Bernoulli::new(1, 3).unwrap()).unwrap())
    });
    let expected = vec![
        ((0, 0), ratio(1, 8)),
        ((0, 1), ratio(1, 8)),
        ((1, 0), ratio(1, 2)),
        ((1, 1), ratio(1, 4)),
    ];
    assert_eq!(found, Ok(expected));
}

#[test]
fn code_without_draws_has_one_path() {
    assert_eq!(explore(|_| 7), Ok(vec![(7, Rational::ONE)]));
}

#[test]
fn a_given_path_is_followed() {
    let code = |coins: &mut Branching<'_>| Ok([(); 2].map(|()| coins.uniform(below(3)).unwrap()));
    let all = all_of(&[], &Rational::ZERO, code).unwrap();
    let path = &all.0[7].path[..1];
    let below = all_of(path, &Rational::ZERO, code).unwrap();
    let found: Vec<_> = below.0.iter().map(|o| o.result).collect();
    assert_eq!(found, [[2, 0], [2, 1], [2, 2]]);
    assert_eq!(*below.0[0].mass.low(), ratio(1, 3));
}

#[test]
fn another_draw_on_a_replay_is_noticed() {
    let runs = Cell::new(0);
    let wider = all_of(&[], &Rational::ZERO, |coins| {
        runs.set(runs.get() + 1);
        Ok(coins.uniform(below(1 + runs.get())).is_ok())
    });
    assert_eq!(wider.unwrap_err(), VerifyError::Diverged);

    let runs = Cell::new(0);
    let fewer = all_of(&[], &Rational::ZERO, |coins| {
        runs.set(runs.get() + 1);
        if runs.get() == 1 {
            coins.uniform(below(2)).unwrap();
        }
        Ok(())
    });
    assert_eq!(fewer.unwrap_err(), VerifyError::Diverged);
}

#[test]
fn what_has_no_end_is_an_error() {
    let endless = all_of(&[], &Rational::ZERO, |coins| {
        while coins.uniform(below(2)).is_ok() {}
        Ok(())
    });
    assert_eq!(endless.unwrap_err(), VerifyError::TooManyDraws);
    let wide = all_of(&[], &Rational::ZERO, |coins| {
        Ok(coins.uniform(NonZeroU64::MAX).is_ok())
    });
    let outcomes = u64::MAX;
    assert_eq!(wide.unwrap_err(), VerifyError::TooManyOutcomes { outcomes });
}

/// Tosses until heads.
#[derive(Debug)]
struct UntilHeads;

impl Law for UntilHeads {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        let mut tosses = 1;
        while coins.uniform(below(2))? == 0 {
            tosses += 1;
        }
        Ok(tosses)
    }
}

#[test]
fn a_sampler_without_end_is_cut_at_the_stated_mass() {
    let found = all_of(&[], &ratio(1, 8), |coins| Ok(coins.draw(&UntilHeads))).unwrap();
    let masses: Vec<_> = found
        .0
        .iter()
        .map(|o| (o.result, o.mass.low().clone()))
        .collect();
    // The path of four tails has a mass of 1/16 < 1/8 and is not followed.
    assert_eq!(
        masses,
        [
            (Ok(4), ratio(1, 16)),
            (Ok(3), ratio(1, 8)),
            (Ok(2), ratio(1, 4)),
            (Ok(1), ratio(1, 2)),
        ]
    );
    assert_eq!(found.1, ratio(1, 16));
}

#[test]
fn noise_that_is_never_needed_has_an_end() {
    let law = DiscreteLaplace::new(Ratio::from(1)).unwrap();
    let noisy = all_of(&[], &Rational::ZERO, |coins| {
        Ok((0..20_000).all(|_| coins.noise(&law).is_ok()))
    });
    assert_eq!(noisy.unwrap_err(), VerifyError::TooManyDraws);
}
