//! Whitehouse et al. Fig. 1, 2 and 3: odometers for the realised loss, as functions of V = Σε².

use std::path::Path;

use papers::whitehouse::advanced;
use plotters::prelude::*;
use queryables::account::time_uniform::{
    RogersOdometer, Slack, TimeUniformOdometer, VarianceOdometer,
};
use queryables::number::Epsilon;
use queryables::privacy::{EpsilonDelta, Implies, PureDp, ZCdp};

use crate::Outcome;
use crate::chart::{Line, Panel};

/// The probability that the loss is ever above the bound.
const SLACK: &str = "1e-6";
/// Every launch has this ε, so that V grows by its square.
const EACH: &str = "0.01";
const LAUNCHES_PER_UNIT: u64 = 10_000;

fn number(value: impl ToString) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

/// Fig. 1a: what one launch adds beside the root, in the filter and in advanced composition.
fn lower_order(points: u32) -> Outcome<[Line; 2]> {
    let epsilons = (0..=points)
        .map(|index| Ok(format!("{:.4}", 2.0 * f64::from(index) / f64::from(points)).parse()?))
        .collect::<Outcome<Vec<Epsilon>>>()?;
    let tight = epsilons
        .iter()
        .map(|epsilon| Ok((number(epsilon), number(PureDp.imply(epsilon, &ZCdp)?))))
        .collect::<Outcome<_>>()?;
    let simple = epsilons.iter().map(|epsilon| {
        let epsilon = number(epsilon);
        (epsilon, 0.5 * epsilon * epsilon)
    });
    Ok([
        Line {
            name: "filter of W: ε²/2",
            points: simple.collect(),
        },
        Line {
            name: "advanced composition: ε·tanh(ε/2)",
            points: tight,
        },
    ])
}

/// The three odometers of W Thm 3, the first two at their best at V = 1.
fn of_whitehouse(places: &[f64]) -> Outcome<[Line; 3]> {
    let slack = Slack::pure(SLACK.parse()?)?;
    let odometers = [
        (
            "filter odometer",
            VarianceOdometer::tangent_at("1".parse()?, slack),
        ),
        (
            "mixture odometer",
            VarianceOdometer::mixture_at("1".parse()?, slack),
        ),
        (
            "stitched odometer",
            VarianceOdometer::stitched("0.01".parse()?, slack),
        ),
    ];
    let line = |(name, odometer): (_, VarianceOdometer)| {
        let bounds = places.iter().filter_map(|place| {
            let variance = format!("{place:.4}").parse().ok()?;
            Some((*place, number(odometer.bound_at(variance)?)))
        });
        Line {
            name,
            points: bounds.collect(),
        }
    };
    Ok(odometers.map(line))
}

/// Rogers' odometer, and advanced composition as if each number of launches were fixed in advance.
fn others(places: &[f64]) -> Outcome<[Line; 2]> {
    let launches = |place: f64| (place * LAUNCHES_PER_UNIT as f64).round() as u64;
    let mut odometer = RogersOdometer::new(100_000, SLACK.parse()?)?;
    let (each, mut launched) = (EpsilonDelta::new(EACH, "0")?, 0);
    let (mut rogers, mut composed) = (Vec::new(), Vec::new());
    for &place in places {
        while launched < launches(place) {
            odometer = odometer.add(&each)?;
            launched += 1;
        }
        rogers.push((place, odometer.reading().bound().map_or(f64::NAN, number)));
        let fixed = advanced(launched, EACH.parse()?, SLACK.parse()?)?;
        composed.push((place, number(fixed)));
    }
    Ok([
        Line {
            name: "odometer of Rogers et al., 10⁵ rows",
            points: rogers,
        },
        Line {
            name: "advanced composition, no odometer",
            points: composed,
        },
    ])
}

fn places(points: u32) -> Vec<f64> {
    (1..=points)
        .map(|index| 2.0 * f64::from(index) / f64::from(points))
        .collect()
}

pub fn draw(folder: &Path, quick: bool) -> Outcome {
    let path = folder.join("odometers.svg");
    let points = if quick { 20 } else { 200 };
    let places = places(points);
    let root = SVGBackend::new(&path, (1080, 860)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((2, 2));
    let panel = |title, most| Panel {
        title,
        across: "V: sum of ε² over all launches",
        up: "bound on the loss",
        left: (0.0, 2.0),
        bottom: (0.0, most),
        legend: SeriesLabelPosition::LowerRight,
    };
    Panel {
        across: "ε of one launch",
        up: "added to the bound",
        legend: SeriesLabelPosition::UpperLeft,
        ..panel("W 1a: what one launch adds", 2.0)
    }
    .draw(&areas[0], &lower_order(points)?)?;
    panel("W 2: the odometers of W", 12.0).draw(&areas[1], &of_whitehouse(&places)?)?;
    let [rogers, composed] = others(&places)?;
    let beside = |other| {
        of_whitehouse(&places).map(|lines| Vec::from_iter(lines.into_iter().chain([other])))
    };
    Panel {
        legend: SeriesLabelPosition::UpperLeft,
        ..panel("W 1b, 3a: beside that of Rogers et al.", 42.0)
    }
    .draw(&areas[2], &beside(rogers)?)?;
    panel("W 3b: beside advanced composition", 12.0).draw(&areas[3], &beside(composed)?)?;
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of W Thm 3, Lemma 3 (as Rogers et al. 6.2 has it) and eq. 2, in floats.
    #[test]
    fn the_curves_are_the_formulas_of_the_papers() {
        let places = places(20);
        let log = 1e6_f64.ln();
        let near = |drawn: f64, formula: f64, by: f64| {
            assert!((drawn / formula - 1.0).abs() < by, "{drawn} {formula}");
        };
        let [filter, mixture, stitched] = of_whitehouse(&places).unwrap();
        let [rogers, composed] = others(&places).unwrap();
        for v in [0.5, 1.0, 1.7_f64] {
            let tangent = 0.5 * (2.0 * log).sqrt() * (1.0 + v) + 0.5 * v;
            near(filter.at(v), tangent, 1e-6);
            let (root, double) = (v.sqrt(), (2.0 * v / 0.01).ln().ln());
            let by_pieces = 1.7 * root * (double + 0.72 * (5.2e6_f64).ln()).sqrt() + 0.5 * v;
            near(stitched.at(v), by_pieces, 1e-4);
            near(composed.at(v), (2.0 * log * v).sqrt() + 0.5 * v, 1e-3);
            // The best γ for V = 1, found by trying.
            let at = |gamma: f64, v: f64| {
                let inside = 1e6 * ((v + gamma) / gamma).sqrt();
                (2.0 * inside.ln() * (gamma + v)).sqrt() + 0.5 * v
            };
            let tried = (1..2000).map(|index| f64::from(index) * 1e-4);
            let best = tried.min_by(|one, other| at(*one, 1.0).total_cmp(&at(*other, 1.0)));
            near(mixture.at(v), at(best.unwrap(), v), 1e-4);
            let rows = 1e5_f64;
            let log = (4.0 * rows.log2() * 1e6).ln();
            let spread = match v <= 1.0 {
                true => v * (1.0 + 0.5 * 3_f64.ln()),
                false => (1.0 / (rows * rows) + v) * (1.0 + 0.5 * (rows * rows * v).ln_1p()),
            };
            let drift = v * 0.01_f64.exp_m1() / 0.02;
            near(rogers.at(v), drift + (2.0 * spread * log).sqrt(), 1e-3);
        }
        let [simple, tight] = lower_order(20).unwrap();
        near(simple.at(1.0), 0.5, 1e-9);
        near(tight.at(1.0), 0.462_117_157_260_01, 1e-9);
    }
}
