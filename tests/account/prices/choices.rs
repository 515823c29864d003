//! Exponential mechanisms.

use super::*;
use queryables::mechanisms::{Choice, CountScores, ExponentialMechanism, NoisyQuantiles, TopK};

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
    let choice = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of([predicate(1)]),
        read("1"),
    );
    row!(choice.unwrap(), Replace, cells);
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        CountScores::of([predicate(1)]),
        read("1"),
    );
    row!(choice.unwrap(), AddRemove, cells);
}

/// Two choices with half of ε each: twice ε²/8 and twice the worst divergence of a half, √2 times its μ.
#[test]
fn two_choices() {
    let mut cells = PURE;
    cells[3] = Is([&[0.0625], &[0.25]]);
    cells[4] = Is([&[0.0625, 0.0], &[0.25, 0.0]]);
    cells[5] = Is([&[0.12371921448064549], &[0.4804580278331101]]);
    cells[6] = Is([
        &[0.12371921448064549, 0.4243846510562341],
        &[0.4804580278331101, 1.2709187971288134],
    ]);
    cells[7] = Is([&[0.4243846510562341, 0.0], &[1.2709187971288134, 0.0]]);
    cells[8] = Is([&[0.4426198529116638], &[0.8823173652098155]]);
    let candidates = || [1, 2, 3].map(predicate);
    let top = Choice::by(AddRemove, TopK(2), CountScores::of(candidates()), read("1"));
    row!(top.unwrap(), AddRemove, cells);
    let top = Choice::by(Replace, TopK(2), CountScores::of(candidates()), read("1"));
    row!(top.unwrap(), Replace, cells);
    let quarters = [(1, 4), (3, 4)];
    let quantiles = NoisyQuantiles::new(AddRemove, whole(), 0..=9, quarters, read("1"));
    row!(quantiles.unwrap(), AddRemove, cells);
    let quantiles = NoisyQuantiles::new(Replace, whole(), 0..=9, quarters, read("1"));
    row!(quantiles.unwrap(), Replace, cells);
}
