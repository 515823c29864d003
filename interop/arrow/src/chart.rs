//! Reports as pictures.

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, IntoSegmentedCoord,
    PathElement, RGBColor, Rectangle, SVGBackend, SegmentValue, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color, IntoFont};
use queryables::mechanisms::table::{Report, ReportRow};

const BAR: RGBColor = RGBColor(120, 160, 200);
const ROW_HEIGHT: u32 = 26;
const WIDTH: u32 = 720;
/// About how wide a character is, for the labels on the left.
const CHARACTER: usize = 7;
/// A longer label is cut.
const LONGEST: usize = 40;

/// A bar chart of a report, as SVG: a bar for each group, with its interval.
///
/// A group that is withheld says so. An interval without an end reaches to the border of the picture.
///
/// ```
/// use queryables::mechanisms::table::{Report, ReportRow};
/// use queryables_arrow::chart;
///
/// let row = |key: &str, estimate| ReportRow { key: vec![key.to_owned()], estimate };
/// let report = Report {
///     columns: vec!["state".to_owned()],
///     confidence: "0.95".to_owned(),
///     rows: vec![row("CA", Some((38.0, 36.5, 39.5))), row("NY", None)],
/// };
/// let svg = chart(&report, "hours a week");
/// assert!(svg.starts_with("<svg") && svg.contains("withheld"));
/// ```
#[must_use]
pub fn chart(report: &Report, title: &str) -> String {
    let rows = u32::try_from(report.rows.len())
        .unwrap_or(u32::MAX)
        .clamp(2, 1 << 12);
    let mut svg = String::new();
    let area =
        SVGBackend::with_string(&mut svg, (WIDTH, 90 + rows * ROW_HEIGHT)).into_drawing_area();
    // Writing to a text cannot fail.
    let _ = draw(&area, report, &plain(title)).and_then(|()| area.present());
    drop(area);
    svg
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = DrawingAreaErrorKind<std::io::Error>;

fn draw(area: &Area<'_>, report: &Report, title: &str) -> Result<(), Failure> {
    area.fill(&WHITE)?;
    let labels: Vec<String> = report.rows.iter().map(label).collect();
    let widest = labels
        .iter()
        .map(|label| label.chars().count())
        .max()
        .unwrap_or(0);
    let (low, high) = ends(&report.rows);
    // The first group stands at the top.
    // The axis needs two places: a single group has an empty one below it.
    let last = labels.len().saturating_sub(1).max(1);
    let place = |group: usize| last.saturating_sub(group);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .caption(title, ("sans-serif", 20).into_font())
        .x_label_area_size(36)
        .y_label_area_size(u32::try_from(widest * CHARACTER + 16).unwrap_or(WIDTH / 2))
        .build_cartesian_2d(low..high, (0..last).into_segmented())?;
    let name = |value: &SegmentValue<usize>| match value {
        SegmentValue::CenterOf(value) => labels.get(place(*value)).cloned().unwrap_or_default(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(WHITE)
        .y_labels(labels.len() + 1)
        .y_label_formatter(&name)
        .x_label_formatter(&|value| short(*value))
        .x_desc(format!(
            "bars: estimates; lines: {} intervals",
            percent(&report.confidence)
        ))
        .label_style(("sans-serif", 14).into_font())
        .draw()?;
    for (group, row) in report.rows.iter().enumerate() {
        let from = SegmentValue::Exact(place(group));
        let to = match place(group) {
            place if place == last => SegmentValue::Last,
            place => SegmentValue::Exact(place + 1),
        };
        let middle = SegmentValue::CenterOf(place(group));
        let Some((value, start, end)) = row.estimate else {
            let style = ("sans-serif", 14).into_font().color(&BLACK.mix(0.6));
            let style = style.pos(Pos::new(HPos::Left, VPos::Center));
            let zero = (0_f64.clamp(low, high), middle);
            chart.draw_series([Text::new(" withheld", zero, style)])?;
            continue;
        };
        let [value, start, end] = [value, start, end].map(|x| x.clamp(low, high));
        let mut bar = Rectangle::new([(0_f64.clamp(low, high), from), (value, to)], BAR.filled());
        bar.set_margin(4, 4, 0, 0);
        chart.draw_series([bar])?;
        chart.draw_series([PathElement::new(
            [(start, middle.clone()), (end, middle.clone())],
            BLACK.stroke_width(2),
        )])?;
    }
    Ok(())
}

/// Between numbers that are farther or nearer than these, the search for the marks of an axis does not end.
const FARTHEST: f64 = 1e300;
const NEAREST: f64 = 1e-300;

/// The ends of the axis: zero is on it, and all that is finite.
fn ends(rows: &[ReportRow]) -> (f64, f64) {
    let numbers = rows.iter().filter_map(|row| row.estimate);
    let numbers = numbers.flat_map(|(value, low, high)| [value, low, high]);
    let numbers = numbers.filter(|number| number.is_finite());
    let (low, high) = numbers.fold((0_f64, 0_f64), |(low, high), number| {
        let number = number.clamp(-FARTHEST, FARTHEST);
        (low.min(number), high.max(number))
    });
    let margin = (high - low) * 0.04;
    match high - low > NEAREST {
        true => (
            if low < 0.0 { low - margin } else { 0.0 },
            if high > 0.0 { high + margin } else { 0.0 },
        ),
        false => (0.0, 1.0),
    }
}

fn label(row: &ReportRow) -> String {
    let label = plain(&row.key.join(", "));
    if label.chars().count() > LONGEST {
        label.chars().take(LONGEST - 1).chain(['…']).collect()
    } else {
        label
    }
}

/// Without characters that XML does not allow.
fn plain(text: &str) -> String {
    text.replace(
        |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'),
        " ",
    )
}

/// A number of the axis, with thousands marked.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{} M", value / 1e6),
        size if size >= 1e4 => format!("{} k", value / 1e3),
        _ => format!("{}", (value * 1e6).round() / 1e6),
    }
}

fn percent(confidence: &str) -> String {
    match confidence.parse::<f64>() {
        Ok(number) => format!("{}%", (number * 1e8).round() / 1e6),
        Err(_) => confidence.to_owned(),
    }
}
