//! Gaussian noise, on samples and above thresholds too.

use super::*;
use queryables::mechanisms::{
    FactorizedContinualCount, GaussianContinualCount, GaussianCount, GaussianHistogram,
    GaussianMean, GaussianRealSum, GaussianSum, GaussianThresholdHistogram, GaussianVariance,
    GaussianVectorSum, RealRange, SampledGaussianSum,
};

/// ρ = 1/2, and δ = Φ(−(T − 3/2)/σ), with σ = 1 and T = 7. Where rows are replaced σ = √2 and T = 9.
#[test]
fn gaussian_noise_on_keys_above_a_threshold() {
    let zcdp = "group privacy with delta > 0 is not offered";
    let rdp = "group privacy changes the order of a Rényi guarantee";
    let key = |row: &u8| *row;
    let loss = RhoDelta::new("0.5", "1e-6").unwrap();
    let mut cells = [No; 9];
    cells[4] = Near(&[0.5, 1.8989562465887718e-8], zcdp);
    cells[7] = Near(&[4.0, 1.8989562465887718e-8], rdp);
    let histogram = GaussianThresholdHistogram::<Vec<u8>, u8, _>::new(AddRemove, "key", key, loss);
    row!(histogram.unwrap(), AddRemove, cells);
    cells[4] = Near(&[0.5, 5.686362828489833e-8], zcdp);
    cells[7] = Near(&[4.0, 5.686362828489833e-8], rdp);
    let histogram = GaussianThresholdHistogram::<Vec<u8>, u8, _>::new(Replace, "key", key, loss);
    row!(histogram.unwrap(), Replace, cells);
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
    macro_rules! both {
        ($Mechanism:ident::$new:ident, $($argument:expr),*) => {
            row!($Mechanism::$new(AddRemove, $($argument),*).unwrap(), AddRemove, cells);
            row!($Mechanism::$new(Replace, $($argument),*).unwrap(), Replace, cells);
        };
    }
    both!(GaussianSum::new, whole(), -3..=9, read("0.5"));
    both!(GaussianSum::with_mu, whole(), -3..=9, read("1"));
    both!(
        GaussianRealSum::new,
        real(),
        RealRange::of_whole_numbers(0..=10),
        read("0.5")
    );
    both!(
        GaussianMean::new,
        real(),
        RealRange::of_whole_numbers(0..=10),
        read("0.5")
    );
    both!(
        GaussianMean::with_mu,
        real(),
        RealRange::of_whole_numbers(-2..=1),
        read("1")
    );
    both!(
        GaussianVariance::new,
        real(),
        RealRange::of_whole_numbers(0..=10),
        read("0.5")
    );
    both!(
        GaussianVariance::with_mu,
        real(),
        RealRange::of_whole_numbers(-2..=1),
        read("1")
    );
    both!(GaussianHistogram::over, keys(), read("0.5"));
    both!(GaussianHistogram::over_with_mu, keys(), read("1"));
    both!(FactorizedContinualCount::new, time(), 7, read("0.5"));
    both!(FactorizedContinualCount::with_mu, time(), 7, read("1"));
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
    let sum = SampledGaussianSum::new(AddRemove, vector(), 1, LATTICE, read("0.01"), read("1"));
    row!(sum.unwrap(), AddRemove, cells);
    let cells = [
        No,
        No,
        No,
        No,
        No,
        Near(&[0.000_457_554_382_537_541_6], far),
        Near(
            &[0.000_457_554_382_537_541_6, 0.001_984_454_523_056_462_5],
            far,
        ),
        Near(&[0.001_984_454_523_056_462_5, 0.0], far),
        No,
    ];
    let sum = SampledGaussianSum::new(Replace, vector(), 1, LATTICE, read("0.01"), read("1"));
    row!(sum.unwrap(), Replace, cells);
}
