//! A panel with curves.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::Outcome;

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A curve: its name and its points.
pub struct Line {
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// The height at the point nearest to this place.
    #[cfg(test)]
    pub fn at(&self, place: f64) -> f64 {
        let apart = |point: &&(f64, f64)| (point.0 - place).abs();
        let nearest = self
            .points
            .iter()
            .min_by(|one, other| apart(one).total_cmp(&apart(other)));
        nearest.map_or(f64::NAN, |point| point.1)
    }
}

pub struct Panel {
    pub title: &'static str,
    pub across: &'static str,
    pub up: &'static str,
    pub left: (f64, f64),
    pub bottom: (f64, f64),
    /// Where no curve is.
    pub legend: SeriesLabelPosition,
}

/// How long dashes and gaps are, for curves in their order: they are told apart without colours, too.
const DASHES: [Option<(i32, i32)>; 4] = [None, Some((9, 5)), Some((2, 4)), Some((18, 4))];

/// Colours that people who see red and green alike can tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];

impl Panel {
    /// Draws curves on linear axes.
    pub fn draw(&self, area: &Area<'_>, lines: &[Line]) -> Outcome {
        let (across, up) = (self.left, self.bottom);
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(56)
            .build_cartesian_2d(across.0..across.1, up.0..up.1)?;
        chart
            .configure_mesh()
            .x_desc(self.across)
            .y_desc(self.up)
            .light_line_style(TRANSPARENT)
            .x_labels(6)
            .y_labels(6)
            .label_style(("sans-serif", 13))
            .draw()?;
        let looks = COLOURS.iter().zip(DASHES).cycle();
        for (line, (colour, dashes)) in lines.iter().zip(looks) {
            let style = colour.stroke_width(2);
            let inside =
                line.points.iter().copied().filter(|(x, y)| {
                    (across.0..=across.1).contains(x) && (up.0..=up.1).contains(y)
                });
            // A line without gaps is one long dash.
            let (dash, gap) = dashes.unwrap_or((1 << 20, 1));
            let entry = chart.draw_series(DashedLineSeries::new(inside, dash, gap, style))?;
            entry.label(line.name).legend(move |(x, y)| {
                let stroke = [(x - 4, y), (x + 26, y)].into_iter();
                DashedPathElement::new(stroke, dash, gap, style).into_dyn()
            });
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .legend_area_size(36)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 13))
            .draw()?;
        Ok(())
    }
}
