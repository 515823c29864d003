//! Histograms of what single records have spent, in the manner of F Fig. 2.

use std::path::Path;

use plotters::prelude::*;

use crate::Outcome;
use crate::setting::Setting;
use crate::training::Run;

const BINS: usize = 40;
/// The bottom of a logarithmic scale, so that a single record is seen.
const LEAST: f64 = 0.7;
const BLUE: RGBColor = RGBColor(0, 114, 178);

/// A histogram of values from zero to `most`.
pub struct Histogram {
    pub title: String,
    pub across: &'static str,
    pub most: f64,
    pub values: Vec<f64>,
}

/// What records have spent of their budgets, after k/2, k and k_max steps.
pub fn of_filter(setting: &Setting, run: &Run) -> Vec<Histogram> {
    let histogram = |(step, spent): (u64, &Vec<f64>)| Histogram {
        title: match setting.printed {
            Some(_) => format!("F, ε = {}: after {step} steps", setting.name),
            None => format!("a few long gradients: after {step} steps"),
        },
        across: "share of the budget that is spent",
        most: 1.0,
        values: spent.clone(),
    };
    looks(setting)
        .into_iter()
        .zip(&run.spent)
        .map(histogram)
        .collect()
}

/// What records read on their odometers, after k/2, k and k_max steps.
pub fn of_odometer(setting: &Setting, step: f64, readings: &[Vec<u64>; 3]) -> Vec<Histogram> {
    let histogram = |(after, readings): (u64, &Vec<u64>)| Histogram {
        title: format!("F 2 on Adult, ε = {}: after {after} steps", setting.name),
        across: "reading: Rényi loss of order 63",
        most: step * setting.most_steps as f64,
        values: readings.iter().map(|read| *read as f64 * step).collect(),
    };
    looks(setting)
        .into_iter()
        .zip(readings)
        .map(histogram)
        .collect()
}

fn looks(setting: &Setting) -> [u64; 3] {
    [setting.steps / 2, setting.steps, setting.most_steps]
}

/// Three in a row.
pub fn draw(path: &Path, histograms: &[Histogram]) -> Outcome {
    let rows = histograms.len().div_ceil(3);
    let whole = SVGBackend::new(path, (1080, 300 * rows as u32)).into_drawing_area();
    whole.fill(&WHITE)?;
    for (panel, histogram) in whole.split_evenly((rows, 3)).iter().zip(histograms) {
        let mut counts = [0_u32; BINS];
        for value in &histogram.values {
            let bin = (value / histogram.most * BINS as f64) as usize;
            counts[bin.min(BINS - 1)] += 1;
        }
        let most = histogram.values.len().max(2) as f64;
        let mut chart = ChartBuilder::on(panel)
            .caption(&histogram.title, ("sans-serif", 16))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..histogram.most, (LEAST..most).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(histogram.across)
            .y_desc("records")
            .light_line_style(TRANSPARENT)
            .x_labels(5)
            .y_label_formatter(&|records| format!("{records:.0}"))
            .label_style(("sans-serif", 12))
            .draw()?;
        let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        chart.draw_series(bars.map(|(bin, count)| {
            let edge = |edge: usize| edge as f64 / BINS as f64 * histogram.most;
            Rectangle::new(
                [(edge(bin), LEAST), (edge(bin + 1), f64::from(*count))],
                BLUE.mix(0.8).filled(),
            )
        }))?;
    }
    whole.present()?;
    Ok(())
}

/// The accuracy of one run after each number of steps, in the manner of F Fig. 1: up to the vertical line
/// it is private gradient descent without filtering.
pub fn draw_path(path: &Path, setting: &Setting, run: &Run) -> Outcome {
    let whole = SVGBackend::new(path, (760, 420)).into_drawing_area();
    whole.fill(&WHITE)?;
    let title = format!("F 1 on Adult, ε = {}: one run", setting.name);
    let least = run
        .path
        .iter()
        .map(|(_, accuracy)| *accuracy)
        .fold(100.0, f64::min);
    let bottom = (least - 1.0).max(0.0);
    let mut chart = ChartBuilder::on(&whole)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d(0..setting.most_steps, bottom..86.0)?;
    chart
        .configure_mesh()
        .x_desc("steps")
        .y_desc("accuracy on the test data, in percent")
        .light_line_style(TRANSPARENT)
        .label_style(("sans-serif", 13))
        .draw()?;
    let line = LineSeries::new(run.path.iter().copied(), BLUE.stroke_width(2));
    chart.draw_series(line)?;
    let end = [(setting.steps, bottom), (setting.steps, 86.0)];
    chart.draw_series(DashedLineSeries::new(end, 6, 4, BLACK.stroke_width(1)))?;
    let label = format!("without filtering it ends here, at step {}", setting.steps);
    let font = ("sans-serif", 13).into_font();
    let width = font.box_size(&label)?.0 as i32;
    let place = chart.backend_coord(&(setting.steps, bottom));
    whole.draw(&Text::new(label, (place.0 - width - 8, place.1 - 22), font))?;
    whole.present()?;
    Ok(())
}
