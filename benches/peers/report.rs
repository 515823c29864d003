//! What the page says about a run.

use std::fmt::Write;

use crate::sample::Line;

/// All lines of a run.
pub struct Report(Vec<Line>);

/// What is to be reached, and what was.
struct Target {
    words: &'static str,
    measured: f64,
    wanted: f64,
    /// Whether it must be at most, or at least, what is wanted.
    at_most: bool,
}

impl Target {
    fn at_least(words: &'static str, wanted: f64, measured: f64) -> Self {
        Self {
            words,
            measured,
            wanted,
            at_most: false,
        }
    }

    fn at_most(words: &'static str, wanted: f64, measured: f64) -> Self {
        Self {
            at_most: true,
            ..Self::at_least(words, wanted, measured)
        }
    }

    fn is_reached(&self) -> bool {
        if self.at_most {
            self.measured <= self.wanted
        } else {
            self.measured >= self.wanted
        }
    }
}

impl Report {
    pub fn new(lines: Vec<Line>) -> Self {
        Self(lines)
    }

    fn line(&self, name: &str, launches: Option<u64>) -> &Line {
        let mut lines = self.0.iter();
        let found = lines.find(|line| line.name == name && line.launches == launches);
        found.unwrap_or_else(|| panic!("no line {name} after {launches:?}"))
    }

    fn ours(&self, name: &str, launches: Option<u64>) -> f64 {
        self.line(name, launches).ours
    }

    fn ratio(&self, name: &str, launches: Option<u64>) -> f64 {
        let ratio = self.line(name, launches).ratio();
        ratio.unwrap_or_else(|| panic!("{name} is compared with nothing"))
    }

    /// By which factor ours grows between ten launches and a million.
    fn growth(&self, name: &str) -> f64 {
        self.ours(name, Some(1_000_000)) / self.ours(name, Some(10))
    }

    /// What two threads get done for each thing that one does: the median over all numbers of
    /// launches, which do not matter here.
    fn throughput(&self, name: &str) -> f64 {
        let mut ratios = crate::LAUNCHES.map(|launches| self.ratio(name, Some(launches)));
        ratios.sort_by(f64::total_cmp);
        let [.., low, high, _, _] = ratios;
        (low + high) / 2.0
    }

    fn targets(&self) -> Vec<Target> {
        let split = self.split();
        vec![
            Target::at_least(
                "a launch in a filter, after 10 launches: times faster than OpenDP",
                20.0,
                self.ratio("filter launch", Some(10)),
            ),
            Target::at_least(
                "the same after 10 000 launches",
                20_000.0,
                self.ratio("filter launch", Some(10_000)),
            ),
            Target::at_most(
                "the same after a million launches, over that after ten",
                1.3,
                self.growth("filter launch"),
            ),
            Target::at_least(
                "a launch in an odometer, after 10 launches: times faster than OpenDP",
                2.0,
                self.ratio("odometer launch", Some(10)),
            ),
            Target::at_least(
                "a filter's privacy_loss, after 10 launches: times faster than OpenDP",
                60.0,
                self.ratio("filter privacy_loss", Some(10)),
            ),
            Target::at_least(
                "an odometer's privacy_loss, after 10 launches: times faster than OpenDP",
                60.0,
                self.ratio("odometer privacy_loss", Some(10)),
            ),
            Target::at_most(
                "a filter's privacy_loss after a million launches, over that after ten",
                1.3,
                self.growth("filter privacy_loss"),
            ),
            Target::at_least(
                "a query to a compositor child: times faster than OpenDP",
                1.0,
                self.ratio("query to a compositor child at depth 1", Some(10)),
            ),
            Target::at_most(
                "a query to a constant child: times what OpenDP takes (a stand-in)",
                2.0,
                1.0 / self.ratio("query to a constant child", Some(10)),
            ),
            Target::at_least(
                "two threads on separate children: times one thread's throughput",
                1.8,
                self.throughput("queries by two threads to separate children"),
            ),
            Target::at_least(
                "discrete Laplace noise of scale 10: times faster than OpenDP",
                10.0,
                self.ratio("discrete Laplace of scale 10", None),
            ),
            Target::at_least(
                "discrete Gaussian noise of scale 10: times faster than OpenDP",
                10.0,
                self.ratio("discrete Gaussian of scale 10", None),
            ),
            Target::at_least(
                "launch of a noisy count: time in its noise over that in this crate",
                1.0,
                split.noise / split.crate_,
            ),
            Target::at_least(
                "launch of a noisy count: time in its noise and seed over that in this crate",
                1.0,
                (split.noise + split.seed) / split.crate_,
            ),
        ]
    }

    /// The targets, with what was measured.
    pub fn targets_section(&self) -> String {
        let mut text = "| | to reach | measured | |\n|---|---:|---:|---|\n".to_owned();
        for target in self.targets() {
            let bound = if target.at_most {
                "at most"
            } else {
                "at least"
            };
            let verdict = if target.is_reached() {
                "reached"
            } else {
                "**not reached**"
            };
            let (words, wanted, measured) =
                (target.words, figure(target.wanted), figure(target.measured));
            writeln!(
                text,
                "| {words} | {bound} {wanted} | {measured} | {verdict} |"
            )
            .unwrap();
        }
        text
    }

    /// Everything but threads: a row for each operation, a column for each number of launches.
    pub fn peers_section(&self) -> String {
        let lines = || self.0.iter().filter(|line| !is_of_threads(line));
        let mut text = self.by_launches(lines(), "OpenDP takes");
        text.push_str("\n| | ours, ns | OpenDP takes |\n|---|---:|---:|\n");
        let apart = [SEED, COUNT];
        for line in lines().filter(|line| line.launches.is_none()) {
            if !apart.contains(&line.name.as_str()) {
                writeln!(
                    text,
                    "| {} | {} | {} |",
                    line.name,
                    figure(line.ours),
                    times(line)
                )
                .unwrap();
            }
        }
        text
    }

    /// One thread and two.
    pub fn threads_section(&self) -> String {
        self.by_launches(
            self.0.iter().filter(|line| is_of_threads(line)),
            "one thread takes",
        )
    }

    /// Our time after each number of launches, and the factor for the other side.
    fn by_launches<'a>(&self, lines: impl Iterator<Item = &'a Line>, other: &str) -> String {
        let mut rows: Vec<(&str, String)> = vec![];
        for line in lines.filter(|line| line.launches.is_some()) {
            let cell = format!(" {} | {} |", figure(line.ours), times(line));
            match rows.iter_mut().find(|(name, _)| *name == line.name) {
                Some((_, row)) => row.push_str(&cell),
                None => rows.push((&line.name, cell)),
            }
        }
        let mut text = "| launches before".to_owned();
        for launches in crate::LAUNCHES {
            write!(text, " | {launches}: ours, ns | {other}").unwrap();
        }
        text.push_str(" |\n|---|");
        text.push_str(&"---:|---:|".repeat(crate::LAUNCHES.len()));
        text.push('\n');
        for (name, row) in rows {
            writeln!(text, "| {name} |{row}").unwrap();
        }
        text
    }

    fn split(&self) -> Split {
        Split {
            whole: self.ours(COUNT, None),
            seed: self.ours(SEED, None),
            noise: self.ours("discrete Laplace of scale 10", None),
            crate_: self.ours("filter launch", Some(10)),
        }
    }

    /// Where the time of a typical launch goes.
    pub fn split_section(&self) -> String {
        let split = self.split();
        let mut text = "| | ns | share |\n|---|---:|---:|\n".to_owned();
        let parts = split.seed + split.noise + split.crate_;
        for (words, part) in [
            ("a seed from the operating system", split.seed),
            ("a draw of Laplace noise", split.noise),
            ("this crate: price, decision, charge, start", split.crate_),
            ("the parts together", parts),
            ("the whole launch, measured apart", split.whole),
        ] {
            let share = 100.0 * part / parts;
            writeln!(text, "| {words} | {} | {share:.0} % |", figure(part)).unwrap();
        }
        text
    }
}

const COUNT: &str = "launch of a noisy count";
const SEED: &str = "a seed from the operating system";

struct Split {
    whole: f64,
    seed: f64,
    noise: f64,
    crate_: f64,
}

fn is_of_threads(line: &Line) -> bool {
    matches!(line.other, Some((crate::ONE_THREAD, _)))
}

/// The time of the other side, as a multiple of ours.
fn times(line: &Line) -> String {
    let ratio = line.ratio();
    ratio.map_or("–".to_owned(), |ratio| format!("{} ×", figure(ratio)))
}

/// Three digits, and all of those before the point.
fn figure(value: f64) -> String {
    let decimals = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
