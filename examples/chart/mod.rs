//! A bar chart with error bars, as SVG.

use std::fmt::{Display, Write};
use std::{env, fs, io};

use queryables::mechanisms::Estimate;

/// Where the bars stand, and how high one unit is.
const GROUND: f64 = 240.0;
const PER_UNIT: f64 = 4.0;

/// One bar for each name, with its interval. The values are from 0 to about 50.
pub fn bars(title: &str, bars: &[(impl Display, Estimate<f64>)]) -> String {
    let y = |value: f64| GROUND - PER_UNIT * value;
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 460 280' font-family='sans-serif' \
         font-size='12'>\n<rect width='460' height='280' fill='white'/>\n\
         <text x='20' y='20' font-size='14'>{title}</text>\n",
    );
    for tick in [0, 20, 40] {
        let (line, text) = (y(f64::from(tick)), y(f64::from(tick)) + 4.0);
        let _ = writeln!(
            svg,
            "<path d='M40 {line} H450' stroke='#ddd'/>\
             <text x='30' y='{text}' text-anchor='end'>{tick}</text>"
        );
    }
    for (index, (name, mean)) in bars.iter().enumerate() {
        let left = 60 + 78 * index;
        let (middle, cap) = (left + 29, left + 23);
        let (top, height) = (y(mean.value), GROUND - y(mean.value));
        let (low, high) = (y(*mean.interval.start()), y(*mean.interval.end()));
        let _ = writeln!(
            svg,
            "<rect x='{left}' y='{top:.1}' width='58' height='{height:.1}' fill='#7aa6c2'/>\
             <path d='M{middle} {low:.1} V{high:.1} M{cap} {low:.1} h12 M{cap} {high:.1} h12' \
             stroke='#222'/><text x='{middle}' y='258' text-anchor='middle'>{name}</text>",
        );
    }
    svg + "</svg>\n"
}

/// Writes the chart to the file that the first argument names, if there is one.
pub fn save(svg: &str) -> io::Result<()> {
    match env::args().nth(1) {
        Some(path) => fs::write(path, svg),
        None => Ok(()),
    }
}
