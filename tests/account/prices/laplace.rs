//! Laplace noise.

use super::*;
use queryables::mechanisms::{
    ContinualCount, Count, Histogram, Mean, RealRange, Sum, ThresholdHistogram, Variance,
};

/// One answer that changes by one: for neighbours it is exactly what 1-DP implies.
#[test]
fn laplace_noise_on_a_count() {
    let mut cells = PURE;
    cells[3] = Is([&[0.46211715726000974], &[1.2642411176571154]]);
    cells[4] = Is([&[0.46211715726000974, 0.0], &[1.2642411176571154, 0.0]]);
    cells[8] = Is([&[1.2320353853449009], &[1.9036441079147803]]);
    cells[5] = Is([&[0.7353256640555192], &[1.720124907190479]]);
    cells[6] = Is([
        &[0.7353256640555192, 0.9552483740548644],
        &[1.720124907190479, 1.9552483579784283],
    ]);
    cells[7] = Is([&[0.9552483740548644, 0.0], &[1.9552483579784283, 0.0]]);
    row!(
        Count::of(predicate(1)).laplace(epsilon!(1)).unwrap(),
        AddRemove,
        cells
    );
    row!(
        Count::of(predicate(1))
            .under(Replace)
            .laplace(epsilon!(1))
            .unwrap(),
        Replace,
        cells
    );
}

/// One answer that changes by ten.
#[test]
fn laplace_noise_on_a_sum() {
    let mut cells = PURE;
    cells[3] = Is([&[0.3689317476075361], &[1.1367747115763578]]);
    cells[4] = Is([&[0.3689317476075361, 0.0], &[1.1367747115763578, 0.0]]);
    cells[8] = Is([&[1.0310337514775053], &[1.8019812963472203]]);
    cells[5] = Is([&[0.6206638114260162], &[1.5974284663033766]]);
    cells[6] = Is([
        &[0.6206638114260162, 0.9117955781285523],
        &[1.5974284663033766, 1.911795540801538],
    ]);
    cells[7] = Is([&[0.9117955781285523, 0.0], &[1.911795540801538, 0.0]]);
    row!(
        Sum::of(whole(), 0..=10).laplace(epsilon!(1)).unwrap(),
        AddRemove,
        cells
    );
    row!(
        Sum::of(real(), RealRange::of_whole_numbers(0..=10))
            .under(Replace)
            .laplace(epsilon!(1))
            .unwrap(),
        Replace,
        cells
    );
    // The sums of a mean change by the width of the range together.
    row!(
        Mean::of(real(), RealRange::of_whole_numbers(-5..=5))
            .laplace(epsilon!(1))
            .unwrap(),
        AddRemove,
        cells
    );
    row!(
        Mean::of(real(), RealRange::of_whole_numbers(-5..=5))
            .under(Replace)
            .laplace(epsilon!(1))
            .unwrap(),
        Replace,
        cells
    );
}

/// Sums that change by the square of a width of two together.
#[test]
fn laplace_noise_on_a_variance() {
    let mut cells = PURE;
    cells[3] = Is([&[0.3744163320937902], &[1.1442769619384726]]);
    cells[4] = Is([&[0.3744163320937902, 0.0], &[1.1442769619384726, 0.0]]);
    cells[8] = Is([&[1.0361148446844481], &[1.80761379577033]]);
    cells[5] = Is([&[0.6285876124544064], &[1.6059398075864533]]);
    cells[6] = Is([
        &[0.6285876124544064, 0.9184820100569826],
        &[1.6059398075864533, 1.9184819764350707],
    ]);
    cells[7] = Is([&[0.9184820100569826, 0.0], &[1.9184819764350707, 0.0]]);
    row!(
        Variance::of(real(), RealRange::of_whole_numbers(2..=4))
            .laplace(epsilon!(1))
            .unwrap(),
        AddRemove,
        cells
    );
    row!(
        Variance::of(real(), RealRange::of_whole_numbers(2..=4))
            .under(Replace)
            .laplace(epsilon!(1))
            .unwrap(),
        Replace,
        cells
    );
}

/// That of the noise, and δ = q^(T−1)/(1 + q) with q = e^−1 and T = 15; where rows are replaced, of two
/// answers, with q = e^(−1/2) and T = 28.
#[test]
fn laplace_noise_on_keys_above_a_threshold() {
    let far = |cell: Cell, why| match cell {
        Is([near, _]) => Near(near, why),
        other => other,
    };
    let pdp = "probabilistic DP has no group privacy theorem";
    let zcdp = "group privacy with delta > 0 is not offered";
    let rdp = "group privacy changes the order of a Rényi guarantee";
    let key = |row: &u8| *row;
    let loss = EpsilonDelta::new("1", "1e-6").unwrap();
    let mut cells = [No; 9];
    cells[1] = Is([&[1.0, 6.078962034778829e-7], &[2.0, 2.2603294069810542e-6]]);
    cells[2] = far(cells[1], pdp);
    cells[4] = Near(&[0.46211715726000974, 6.078962034778829e-7], zcdp);
    cells[7] = Near(&[0.9552483740548644, 6.078962034778829e-7], rdp);
    let histogram = ThresholdHistogram::<Vec<u8>, u8, _>::new(AddRemove, "key", key, loss);
    row!(histogram.unwrap(), AddRemove, cells);
    cells[1] = Is([&[1.0, 8.533662760157428e-7], &[2.0, 3.1730563171291022e-6]]);
    cells[2] = far(cells[1], pdp);
    cells[4] = Near(&[0.24491866240370913, 8.533662760157428e-7], zcdp);
    cells[7] = Near(&[0.8647074135129298, 8.533662760157428e-7], rdp);
    let histogram = ThresholdHistogram::<Vec<u8>, u8, _>::new(Replace, "key", key, loss);
    row!(histogram.unwrap(), Replace, cells);
}

/// Two answers that change by one.
#[test]
fn laplace_noise_on_a_histogram() {
    let bins = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| usize::from(*row));
    let mut cells = PURE;
    cells[3] = Is([&[0.24491866240370913], &[0.7869386805747332]]);
    cells[4] = Is([&[0.24491866240370913, 0.0], &[0.7869386805747332, 0.0]]);
    cells[5] = Is([&[0.45467258760529145], &[1.309655849748865]]);
    cells[6] = Is([
        &[0.45467258760529145, 0.8647074135129298],
        &[1.309655849748865, 1.8646116913490514],
    ]);
    cells[7] = Is([&[0.8647074135129298, 0.0], &[1.8646116913490514, 0.0]]);
    cells[8] = Is([&[0.8823173652098155], &[1.532024544258392]]);
    row!(
        Histogram::of(Partition::numbered(bins, 9).unwrap())
            .under(Replace)
            .laplace(epsilon!(1))
            .unwrap(),
        Replace,
        cells
    );
}

/// Three answers that change by one: up to seven has three digits.
#[test]
fn laplace_noise_on_a_tree() {
    let mut cells = PURE;
    cells[3] = Is([&[0.16514041292462936], &[0.5669373788524215]]);
    cells[4] = Is([&[0.16514041292462936, 0.0], &[0.5669373788524215, 0.0]]);
    cells[5] = Is([&[0.31886833848644314], &[1.0234920776350986]]);
    cells[6] = Is([
        &[0.31886833848644314, 0.7713184744855899],
        &[1.0234920776350986, 1.7692776769766754],
    ]);
    cells[7] = Is([&[0.7713184744855899, 0.0], &[1.7692776769766754, 0.0]]);
    cells[8] = Is([&[0.7221719901089375], &[1.3035437491994438]]);
    row!(
        ContinualCount::of(time(), 7).laplace(epsilon!(1)).unwrap(),
        AddRemove,
        cells
    );
}
