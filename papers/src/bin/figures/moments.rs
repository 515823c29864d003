//! Tran et al. Fig. 6 to 9: how far mean and variance of the loss of a sampled Gaussian are from the
//! limits of Theorem 4.1.

use std::path::Path;

use papers::tran::asymptotic::moments;
use plotters::prelude::*;

use crate::Outcome;
use crate::chart::{Line, Panel};

const SIGMAS: [(&str, f64); 3] = [("σ = 1", 1.0), ("σ = 2", 2.0), ("σ = 5", 5.0)];

/// A moment of the loss, and what it tends to.
#[derive(Clone, Copy)]
enum Moment {
    Mean,
    Variance,
}

impl Moment {
    /// The relative error of the limit, for rates near zero or near one.
    fn error(self, rate: f64, sigma: f64, is_near_one: bool) -> f64 {
        let found = moments(rate, sigma);
        let square = 1.0 / (sigma * sigma);
        let variance = match is_near_one {
            true => rate * rate * square,
            false => rate * rate * square.exp_m1(),
        };
        match self {
            Self::Mean => (0.5 * variance / found.mean_p - 1.0).abs(),
            Self::Variance => (variance / found.variance_p - 1.0).abs(),
        }
    }
}

fn lines(moment: Moment, rates: (f64, f64), points: u32) -> [Line; 3] {
    let is_near_one = rates.1 > 0.5;
    let rate = |index: u32| rates.0 + (rates.1 - rates.0) * f64::from(index) / f64::from(points);
    SIGMAS.map(|(name, sigma)| Line {
        name,
        points: (0..=points)
            .map(|index| (rate(index), moment.error(rate(index), sigma, is_near_one)))
            .collect(),
    })
}

const NEAR_ZERO: (f64, f64) = (1e-4, 0.1);
const NEAR_ONE: (f64, f64) = (0.9, 1.0);

pub fn draw(folder: &Path, quick: bool) -> Outcome {
    let path = folder.join("moments.svg");
    let points = if quick { 10 } else { 100 };
    let root = SVGBackend::new(&path, (1080, 860)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((2, 2));
    let panels = [
        ("T 6: mean, ½q²(e^(1/σ²) − 1)", Moment::Mean, NEAR_ZERO, 0.2),
        (
            "T 7: variance, q²(e^(1/σ²) − 1)",
            Moment::Variance,
            NEAR_ZERO,
            0.05,
        ),
        ("T 8: mean, ½q²/σ²", Moment::Mean, NEAR_ONE, 0.01),
        ("T 9: variance, q²/σ²", Moment::Variance, NEAR_ONE, 0.1),
    ];
    for ((title, moment, rates, most), area) in panels.into_iter().zip(&areas) {
        Panel {
            title,
            across: "q: sampling rate",
            up: "relative error of the limit",
            left: rates,
            bottom: (0.0, most),
            legend: match rates == NEAR_ZERO {
                true => SeriesLabelPosition::UpperLeft,
                false => SeriesLabelPosition::UpperRight,
            },
        }
        .draw(area, &lines(moment, rates, points))?;
    }
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From means and variances in 40 digits (mpmath), and where the loss is Gaussian.
    #[test]
    fn the_errors_are_those_of_exact_moments() {
        let near =
            |drawn: f64, exact: f64| assert!((drawn - exact).abs() < 1e-9, "{drawn} {exact}");
        let [one, ..] = lines(Moment::Mean, (0.01, 0.1), 9);
        let limit = 1e-4 * 1_f64.exp_m1();
        near(one.at(0.01), 0.5 * limit / 8.381_220_765_083_18e-5 - 1.0);
        let [one, ..] = lines(Moment::Variance, (0.01, 0.1), 9);
        near(one.at(0.01), limit / 1.716_305_062_474_135e-4 - 1.0);
        let [.., five] = lines(Moment::Mean, NEAR_ONE, 10);
        near(
            five.at(0.9),
            1.0 - 0.5 * 0.81 / 25.0 / 0.016_203_259_683_924_35,
        );
        let [.., five] = lines(Moment::Variance, NEAR_ONE, 10);
        near(five.at(0.9), 1.0 - 0.81 / 25.0 / 0.032_522_801_534_159_22);
        // Without sampling the limits near one are exact.
        for moment in [Moment::Mean, Moment::Variance] {
            let at_one = lines(moment, NEAR_ONE, 10).map(|line| line.at(1.0));
            assert!(at_one.into_iter().all(|error| error < 1e-9), "{at_one:?}");
        }
    }
}
