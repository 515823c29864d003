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

/// A row of three panels for each setting.
pub fn draw(path: &Path, runs: &[(&Setting, &Run)]) -> Outcome {
    let height = 300 * runs.len() as u32;
    let whole = SVGBackend::new(path, (1080, height)).into_drawing_area();
    whole.fill(&WHITE)?;
    let panels = whole.split_evenly((runs.len(), 3));
    let of_runs = runs.iter().flat_map(|(setting, run)| {
        let steps = [setting.steps / 2, setting.steps, setting.most_steps];
        steps
            .into_iter()
            .zip(&run.spent)
            .map(move |at| (*setting, at))
    });
    for (panel, (setting, (step, spent))) in panels.iter().zip(of_runs) {
        let mut counts = [0_u32; BINS];
        for share in spent {
            counts[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        let title = match setting.printed {
            Some(_) => format!("F, ε = {}: after {step} steps", setting.name),
            None => format!("a few long gradients: after {step} steps"),
        };
        let most = spent.len().max(2) as f64;
        let mut chart = ChartBuilder::on(panel)
            .caption(title, ("sans-serif", 16))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..1.0, (LEAST..most).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("share of the budget that is spent")
            .y_desc("records")
            .light_line_style(TRANSPARENT)
            .x_labels(6)
            .y_label_formatter(&|records| format!("{records:.0}"))
            .label_style(("sans-serif", 12))
            .draw()?;
        let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        chart.draw_series(bars.map(|(bin, count)| {
            let [left, right] = [bin, bin + 1].map(|edge| edge as f64 / BINS as f64);
            Rectangle::new(
                [(left, LEAST), (right, f64::from(*count))],
                BLUE.mix(0.8).filled(),
            )
        }))?;
    }
    whole.present()?;
    Ok(())
}
