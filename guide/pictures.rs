//! The pictures of the guide that show numbers: drawn from the tables of the specification, and from what a
//! filter says.
//!
//! ```sh
//! cargo run --package guide --bin pictures
//! ```
//!
//! Shades and dashes, no colours: they are legible in print.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::prelude::*;

const HEAD: &str =
    "font-family='sans-serif' font-size='14'>\n<rect width='100%' height='100%' fill='white'/>";

/// The cells of a row of a table in Markdown.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// The rules and what they admit, from the first table of `spec/admitted.md`.
fn admitted(page: &str) -> Vec<(&str, f64)> {
    let rows = page.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    rows.filter_map(|line| match cells(line)[..] {
        [rule, launches, _] => Some((rule.trim_matches('*'), launches.parse().ok()?)),
        _ => None,
    })
    .collect()
}

/// Bars for the rules.
fn launches(page: &str) -> Result<String, Box<dyn Error>> {
    let rules = admitted(page);
    let most = rules.iter().map(|rule| rule.1).fold(1.0, f64::max);
    let height = 50 + 34 * rules.len();
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 {height}' {HEAD}\n\
         <text x='20' y='28' font-weight='bold'>Launches of (0.01, 0) that fit in (1, 10⁻⁶)</text>\n"
    );
    for (index, (rule, launches)) in rules.iter().enumerate() {
        let (top, width) = (44 + 34 * index, 360.0 * launches / most);
        // The limit is no filter: an empty bar.
        let fill = if rule.contains("not a filter") {
            "white"
        } else {
            "#999"
        };
        let (text, end) = (top + 17, 345.0 + width);
        writeln!(
            svg,
            "<text x='325' y='{text}' text-anchor='end'>{rule}</text>\
             <rect x='335' y='{top}' width='{width:.1}' height='24' fill='{fill}' stroke='black'/>\
             <text x='{end:.1}' y='{text}'>{launches}</text>"
        )?;
    }
    Ok(svg + "</svg>\n")
}

/// Launches before, our time and OpenDP's, from the row of `spec/performance.md`.
fn times(page: &str) -> Vec<(f64, f64, Option<f64>)> {
    let line = |start| {
        page.lines()
            .find(|line: &&str| line.starts_with(start))
            .unwrap_or("")
    };
    let before = cells(line("| launches before |"));
    let row = cells(line("| filter launch |"));
    // The first cell of both is a name: the pairs start at the second.
    let heads = before[1..].chunks(2).map(|pair| pair[0]);
    let values = row[1..].chunks(2);
    heads
        .zip(values)
        .filter_map(|(head, pair)| {
            let before = head.split(':').next()?.parse().ok()?;
            let ours: f64 = pair[0].parse().ok()?;
            let ratio = pair.get(1)?.trim_end_matches(" ×").parse::<f64>().ok();
            Some((before, ours, ratio.map(|ratio| ratio * ours)))
        })
        .collect()
}

/// Two curves on logarithmic axes.
fn cost(page: &str) -> Result<String, Box<dyn Error>> {
    let x = |launches: f64| 90.0 + 95.0 * (launches.log10() - 1.0);
    let y = |ns: f64| 330.0 - 45.0 * (ns.log10() - 1.0);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 400' {HEAD}\n\
         <text x='20' y='28' font-weight='bold'>Time of one launch in a filter, as launches accumulate</text>\n"
    );
    let times_of_ten = [
        "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms",
    ];
    for (power, name) in (1..).zip(times_of_ten) {
        let line = y(10_f64.powi(power));
        writeln!(
            svg,
            "<path d='M90 {line:.1} H670' stroke='#ccc'/><text x='80' y='{:.1}' text-anchor='end'>{name}</text>",
            line + 5.0
        )?;
    }
    let counts = ["10", "100", "1000", "10⁴", "10⁵", "10⁶", "10⁷"];
    for (power, name) in (1..).zip(counts) {
        writeln!(
            svg,
            "<text x='{:.1}' y='352' text-anchor='middle'>{name}</text>",
            x(10_f64.powi(power))
        )?;
    }
    writeln!(
        svg,
        "<text x='380' y='382' text-anchor='middle'>launches before</text>"
    )?;
    let times = times(page);
    let ours: Vec<_> = times.iter().map(|time| (time.0, time.1)).collect();
    let theirs: Vec<_> = times
        .iter()
        .filter_map(|time| Some((time.0, time.2?)))
        .collect();
    for (name, points, dash) in [("here", ours, "none"), ("OpenDP 0.16", theirs, "8 5")] {
        let mut path = String::new();
        for (index, (before, ns)) in points.iter().enumerate() {
            let (step, x, y) = (if index == 0 { 'M' } else { 'L' }, x(*before), y(*ns));
            write!(path, "{step}{x:.1} {y:.1} ")?;
            writeln!(svg, "<circle cx='{x:.1}' cy='{y:.1}' r='4'/>")?;
        }
        let (before, ns) = points.last().ok_or("no times")?;
        let (right, up) = (x(*before) + 10.0, y(*ns) - 10.0);
        writeln!(
            svg,
            "<path d='{path}' fill='none' stroke='black' stroke-width='2' stroke-dasharray='{dash}'/>\
             <text x='{right:.1}' y='{up:.1}'>{name}</text>"
        )?;
    }
    Ok(svg + "</svg>\n")
}

/// A child of a filter: what it costs, when it is launched, when it ends, and when it is asked.
struct Child {
    name: &'static str,
    loss: Epsilon,
    open: (u32, u32),
    asked: &'static [u32],
    shade: &'static str,
}

/// In the order of their launches. The last is one too many.
const CHILDREN: [Child; 5] = [
    Child {
        name: "search",
        loss: epsilon!(0.5),
        open: (230, 730),
        asked: &[260, 330, 395, 490, 585, 680],
        shade: "#bbb",
    },
    Child {
        name: "count",
        loss: epsilon!(0.1),
        open: (300, 315),
        asked: &[],
        shade: "#eee",
    },
    Child {
        name: "count, chosen after it",
        loss: epsilon!(0.1),
        open: (430, 445),
        asked: &[],
        shade: "#eee",
    },
    Child {
        name: "a colleague’s filter",
        loss: epsilon!(0.3),
        open: (530, 730),
        asked: &[560, 620, 705],
        shade: "#ddd",
    },
    Child {
        name: "one more count",
        loss: epsilon!(0.1),
        open: (650, 665),
        asked: &[],
        shade: "white",
    },
];

/// What a filter with a budget of 1 reads after each launch; `None` for a launch that it refuses.
fn readings() -> Result<Vec<Option<Epsilon>>, Box<dyn Error>> {
    let filter = start(
        &Filter::concurrent(PureDp, epsilon!(1)),
        Arc::new(vec![0_u32]),
    )?;
    let mut readings = Vec::new();
    for child in &CHILDREN {
        let launched = match child.asked {
            [] => {
                let all = Predicate::new("all", |_: &u32| true);
                filter
                    .release(&Count::of(all).laplace(child.loss)?)
                    .map(drop)
            }
            // The search is the child that is asked most.
            [_, _, _, _, ..] => {
                let search =
                    AboveThreshold::<Predicate<Vec<u32>>, _>::new(AddRemove, 1, 1, child.loss)?;
                filter.launch(&search).map(drop)
            }
            _ => filter
                .launch(&Filter::concurrent(PureDp, child.loss))
                .map(drop),
        };
        readings.push(match launched {
            Ok(()) => Some(filter.privacy_loss()),
            Err(LaunchError::Refused(_)) => None,
            Err(other) => return Err(other.into()),
        });
    }
    Ok(readings)
}

/// Children over time, and what is spent.
fn budget() -> Result<String, Box<dyn Error>> {
    let readings = readings()?;
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 390' {HEAD}\n\
         <defs><marker id='a' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' \
         orient='auto'><path d='M0 0 L10 5 L0 10 z'/></marker></defs>\n\
         <text x='20' y='28' font-weight='bold'>A budget of ε = 1, spent by children that are open at once</text>\n"
    );
    for ((top, child), reading) in (50..).step_by(46).zip(&CHILDREN).zip(&readings) {
        let (left, right) = child.open;
        let (middle, below) = (top + 12, top + 39);
        let (dash, said) = match reading {
            Some(_) => ("none", child.loss.to_string()),
            None => ("3 3", format!("{}: refused", child.loss)),
        };
        writeln!(
            svg,
            "<text x='218' y='{}' text-anchor='end' font-size='13'>{}</text>\
             <rect x='{left}' y='{top}' width='{}' height='24' fill='{}' stroke='black' stroke-dasharray='{dash}'/>\
             <text x='{}' y='{below}' font-size='12'>{said}</text>",
            top + 17,
            child.name,
            right - left,
            child.shade,
            left + 3,
        )?;
        for at in child.asked {
            writeln!(svg, "<circle cx='{at}' cy='{middle}' r='4'/>")?;
        }
    }
    svg += "<path d='M230 286 H730' stroke='black' marker-end='url(#a)'/>\
            <text x='730' y='302' text-anchor='end' font-size='12'>time</text>\n\
            <text x='218' y='338' text-anchor='end' font-size='13'>spent</text>\n";
    let spent = CHILDREN.iter().zip(&readings);
    let spent: Vec<_> = spent
        .filter_map(|(child, reading)| Some((child.open.0, (*reading)?)))
        .collect();
    let ends = spent.iter().skip(1).map(|(left, _)| *left).chain([730]);
    for ((left, reading), right) in spent.iter().zip(ends) {
        // A budget of 1 is 50 high.
        let height = reading.units() * 50 / epsilon!(1).units();
        writeln!(
            svg,
            "<rect x='{left}' y='{}' width='{}' height='{height}' fill='#999' stroke='black'/>\
             <text x='{}' y='380' text-anchor='middle' font-size='12'>{reading}</text>",
            364 - height,
            right - left,
            u32::midpoint(*left, right),
        )?;
    }
    Ok(svg + "</svg>\n")
}

/// The names of the pictures, and the pictures.
fn pictures() -> Result<[(&'static str, String); 3], Box<dyn Error>> {
    let page = |name: &str| -> io::Result<String> {
        fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../spec")
                .join(name),
        )
    };
    Ok([
        ("launches.svg", launches(&page("admitted.md")?)?),
        ("cost.svg", cost(&page("performance.md")?)?),
        ("budget.svg", budget()?),
    ])
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/figures")
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, picture) in pictures()? {
        fs::write(folder().join(name), picture)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_show_the_numbers_of_the_specification() {
        for (name, picture) in pictures().unwrap() {
            let kept = fs::read_to_string(folder().join(name)).unwrap();
            assert_eq!(
                kept, picture,
                "{name}: cargo run --package guide --bin pictures"
            );
        }
    }

    #[test]
    fn the_chapter_on_rules_has_the_numbers_of_the_specification() {
        let chapter = include_str!("src/rules.md");
        for (rule, launches) in admitted(include_str!("../spec/admitted.md")) {
            let cell = format!("| {launches} |");
            assert!(chapter.contains(&cell), "{rule} admits {launches}");
        }
    }

    #[test]
    fn all_numbers_of_the_tables_are_read() {
        let table =
            "|---|---:|---|\n| basic | 100 | yes |\n| *tight* | 562 | no |\n\n| x | 1 | y |\n";
        assert_eq!(admitted(table), [("basic", 100.0), ("tight", 562.0)]);
        let table = "| launches before | 10: ours, ns | OpenDP takes | 1000: ours, ns | OpenDP takes |\n\
                     | filter launch | 14.0 | 200 × | 14.5 | – |\n";
        assert_eq!(
            times(table),
            [(10.0, 14.0, Some(2800.0)), (1000.0, 14.5, None)]
        );
    }
}
