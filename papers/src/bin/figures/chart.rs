//! A panel with curves.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::Outcome;

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A curve: its name, its points, and whether it is dashed.
pub struct Line {
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
    pub is_dashed: bool,
}

pub struct Panel {
    pub title: &'static str,
    pub across: &'static str,
    pub up: &'static str,
    pub left: (f64, f64),
    pub bottom: (f64, f64),
}

/// Colours that people who see red and green alike can tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];

impl Panel {
    /// Draws curves on linear axes, with single points marked by a circle.
    pub fn draw(&self, area: &Area<'_>, lines: &[Line], points: &[(f64, f64)]) -> Outcome {
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
        for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
            let style = colour.stroke_width(2);
            let inside =
                line.points.iter().copied().filter(|(x, y)| {
                    (across.0..=across.1).contains(x) && (up.0..=up.1).contains(y)
                });
            let entry = if line.is_dashed {
                chart.draw_series(DashedLineSeries::new(inside, 6, 4, style))?
            } else {
                chart.draw_series(LineSeries::new(inside, style))?
            };
            entry
                .label(line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
        }
        let circle = |point: &(f64, f64)| Circle::new(*point, 4, BLACK.filled());
        chart.draw_series(points.iter().map(circle))?;
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 13))
            .draw()?;
        Ok(())
    }
}
