//! Gaussian noise, on samples and above thresholds too.

use super::*;
use queryables::mechanisms::{
    ContinualCount, Count, FactorizedContinualCount, GaussianThresholdHistogram, Histogram, Mean,
    RealRange, SampledGaussianSum, Sum, Variance, VectorSum,
};
use queryables::privacy::facts::Gaussian;

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
        Count::of(predicate(1))
            .under(Replace)
            .gaussian(rho!(0.5))
            .unwrap(),
        Replace,
        cells
    );
    row!(
        Count::of(predicate(1)).gaussian(mu!(1)).unwrap(),
        AddRemove,
        cells
    );
    row!(
        VectorSum::of(vector(), 1, LATTICE)
            .gaussian(rho!(0.5))
            .unwrap(),
        AddRemove,
        cells
    );
    row!(
        ContinualCount::of(time(), 7)
            .under(Replace)
            .gaussian(mu!(1))
            .unwrap(),
        Replace,
        cells
    );
    macro_rules! both {
        ($query:expr, $loss:expr) => {
            row!($query.gaussian($loss).unwrap(), AddRemove, cells);
            row!(
                $query.under(Replace).gaussian($loss).unwrap(),
                Replace,
                cells
            );
        };
    }
    let whole_numbers = RealRange::of_whole_numbers;
    both!(Sum::of(whole(), -3..=9), rho!(0.5));
    both!(Sum::of(whole(), -3..=9), mu!(1));
    both!(Sum::of(real(), whole_numbers(0..=10)), rho!(0.5));
    both!(Mean::of(real(), whole_numbers(0..=10)), rho!(0.5));
    both!(Mean::of(real(), whole_numbers(-2..=1)), mu!(1));
    both!(Variance::of(real(), whole_numbers(0..=10)), rho!(0.5));
    both!(Variance::of(real(), whole_numbers(-2..=1)), mu!(1));
    both!(Histogram::of(keys()), rho!(0.5));
    both!(Histogram::of(keys()), mu!(1));
    let times = |loss: Gaussian| FactorizedContinualCount::new(AddRemove, time(), 7, loss).unwrap();
    row!(times(Gaussian::Rho(rho!(0.5))), AddRemove, cells);
    row!(times(Gaussian::Mu(mu!(1))), AddRemove, cells);
    let times = |loss: Gaussian| FactorizedContinualCount::new(Replace, time(), 7, loss).unwrap();
    row!(times(Gaussian::Rho(rho!(0.5))), Replace, cells);
    row!(times(Gaussian::Mu(mu!(1))), Replace, cells);
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
