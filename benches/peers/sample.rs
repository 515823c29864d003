//! Two sides, measured in turns.

use std::fmt;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput};

/// Does something this number of times and returns how long that took; preparation is not counted.
pub type Run = Box<dyn FnMut(u64) -> Duration>;

/// An operation that can be repeated as it is.
pub fn repeated(mut operation: impl FnMut() + 'static) -> Run {
    Box::new(move |times| {
        let begin = Instant::now();
        for _ in 0..times {
            operation();
        }
        begin.elapsed()
    })
}

/// What is compared.
pub struct Case {
    name: String,
    /// How many launches came before, where it might matter.
    launches: Option<u64>,
    /// How many operations of ours are timed in one go.
    block: u64,
    /// Which share of the blocks is faster than what is reported.
    quantile: f64,
    ours: Run,
    other: Option<(&'static str, Run)>,
}

/// What an operation takes while the machine does little else.
///
/// Disturbances only add time, and a block is short enough that many see none. The minimum would be
/// right for operations that always take the same time, but a sampler may be lucky.
const UNDISTURBED: f64 = 0.1;

impl Case {
    pub fn new(name: impl Into<String>, ours: Run) -> Self {
        Self {
            name: name.into(),
            launches: None,
            block: 1000,
            quantile: UNDISTURBED,
            ours,
            other: None,
        }
    }

    /// After how many launches.
    pub fn after(mut self, launches: u64) -> Self {
        self.launches = Some(launches);
        self
    }

    /// What ours is compared with.
    pub fn beside(mut self, name: &'static str, other: Run) -> Self {
        self.other = Some((name, other));
        self
    }

    /// For threads: each block is so long that all of them are there most of the time, and the
    /// median is reported, because they disturb each other and that is what is measured.
    pub fn of_threads(mut self) -> Self {
        self.block = 500_000;
        self.quantile = 0.5;
        self
    }
}

/// What came out of it, in nanoseconds for each operation.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub launches: Option<u64>,
    pub ours: f64,
    pub other: Option<(&'static str, f64)>,
}

impl Line {
    /// How many times faster ours is.
    pub fn ratio(&self) -> Option<f64> {
        self.other.map(|(_, other)| other / self.ours)
    }
}

/// `peers: NAME k=K ours=…ns opendp=…ns ratio=…`
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peers: {}", self.name)?;
        if let Some(launches) = self.launches {
            write!(f, " k={launches}")?;
        }
        write!(f, " ours={:.1}ns", self.ours)?;
        if let (Some((name, other)), Some(ratio)) = (self.other, self.ratio()) {
            write!(f, " {name}={other:.1}ns ratio={ratio:.2}")?;
        }
        Ok(())
    }
}

/// A block of the other side takes no longer than this, where a thousand operations would.
const LONGEST: Duration = Duration::from_millis(2);

/// Measures a case; nothing if the command line has not asked for it.
///
/// Criterion says how often, and reports on ours. Each of its iterations is a block of ours and
/// right after it a block of the other side, so that whatever else the machine does hits both
/// alike; that is why the other side is not a benchmark of its own.
pub fn measure(criterion: &mut Criterion, mut case: Case) -> Option<Line> {
    let id = match case.launches {
        Some(launches) => format!("k={launches}"),
        None => "block".to_owned(),
    };
    let (mut ours, mut others) = (vec![], vec![]);
    let mut group = criterion.benchmark_group(&case.name);
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(case.block));
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|blocks| {
            let mut total = Duration::ZERO;
            for _ in 0..blocks {
                let took = (case.ours)(case.block);
                ours.push(each(took, case.block));
                total += took;
                if let Some((_, other)) = &mut case.other {
                    let before = others.last().copied().unwrap_or(f64::INFINITY);
                    let fitting = (LONGEST.as_nanos() as f64 / before) as u64;
                    let times = fitting.clamp(1, case.block);
                    others.push(each(other(times), times));
                }
            }
            total
        });
    });
    group.finish();
    Some(Line {
        name: case.name,
        launches: case.launches,
        ours: quantile(ours, case.quantile)?,
        other: match case.other {
            Some((name, _)) => Some((name, quantile(others, case.quantile)?)),
            None => None,
        },
    })
}

fn each(took: Duration, times: u64) -> f64 {
    took.as_nanos() as f64 / times as f64
}

fn quantile(mut blocks: Vec<f64>, share: f64) -> Option<f64> {
    blocks.sort_by(f64::total_cmp);
    blocks.get((blocks.len() as f64 * share) as usize).copied()
}
