//! This crate and OpenDP in one run: `cargo bench --package benches --bench peers`.
//!
//! Prints a line for each case, and writes its sections of `spec/performance.md` if nothing was
//! left out. Both sides launch a mechanism that answers with a constant at a loss of 10⁻⁷, under
//! pure DP, on one bit of data. What can be made beforehand is: queries, mechanisms, losses.

mod asking;
mod fleet;
mod ours;
#[path = "../page/mod.rs"]
mod page;
mod report;
mod sample;
mod theirs;
mod threads;

use std::hint::black_box;
use std::num::NonZeroU64;
use std::time::Duration;

use criterion::Criterion;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use queryables::machine::{CoinSource, Law, SystemCoins};
use queryables::noise::{DiscreteGaussian, DiscreteLaplace, RoundedGaussian};
use queryables::number::Ratio;
use queryables::queryable::Queryable;

use fleet::Fleet;
use report::Report;
use sample::{Case, Line, Run, measure, repeated};
use threads::shared_among;

/// What each launch costs, small enough for ten million.
const LOSS: f64 = 1e-7;

/// After how many launches; OpenDP gets to ten thousand, beyond that it would take days.
const LAUNCHES: [u64; 6] = [10, 100, 1000, 10_000, 1_000_000, 10_000_000];
const MOST_OF_OPENDP: u64 = 10_000;

/// What ours is compared with.
const OPENDP: &str = "opendp";
const ONE_THREAD: &str = "one_thread";

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .sample_size(30)
        .nresamples(2000)
        .without_plots()
        .configure_from_args();
    let conditions = page::conditions();
    let mut lines: Vec<Line> = vec![];
    let mut run = |case: Case| {
        if let Some(line) = measure(&mut criterion, case) {
            println!("{line}");
            lines.push(line);
        }
    };
    for k in LAUNCHES {
        after_launches(k, &mut run);
        children(k, &mut run);
        in_threads(k, &mut run);
    }
    noise(&mut run);
    noisy_count(&mut run);
    if page::whole_run() {
        let report = Report::new(lines);
        let targets = format!("{conditions}\n\n{}", report.targets_section());
        println!("{targets}");
        page::write_section("Targets", &targets);
        page::write_section("Beside OpenDP", &report.peers_section());
        page::write_section("On two threads", &report.threads_section());
        page::write_section("Where a launch spends its time", &report.split_section());
    }
}

/// What a compositor does after `k` launches.
fn after_launches(k: u64, run: &mut impl FnMut(Case)) {
    let mut run = |name, ours, other: &dyn Fn() -> Run| {
        let case = Case::new(name, ours).after(k);
        run(if k <= MOST_OF_OPENDP {
            case.beside(OPENDP, other())
        } else {
            case
        });
    };

    let mechanism = ours::constant();
    let launch = move |filter: &mut ours::RunningFilter| {
        black_box(filter.release(&mechanism)).expect("within the budget");
    };
    let read = |filter: &mut ours::RunningFilter| {
        black_box(filter.privacy_loss());
    };
    let filters = Fleet::new(k, ours::filter, launch);
    let their_filters = Fleet::new(k, theirs::filter, theirs::launch_constant());
    run("filter launch", Fleet::launching(&filters), &|| {
        Fleet::launching(&their_filters)
    });
    run(
        "filter privacy_loss",
        Fleet::reading(&filters, read),
        &|| Fleet::reading(&their_filters, theirs::read_loss),
    );
    let child = ours::child(filters.borrow_mut().member());
    run(
        "query to a constant child",
        asking(child),
        &asking::stand_in,
    );

    let mechanism = ours::constant();
    let launch = move |odometer: &mut ours::RunningOdometer| {
        black_box(odometer.release(&mechanism)).expect("within what can be held");
    };
    let read = |odometer: &mut ours::RunningOdometer| {
        black_box(odometer.privacy_loss());
    };
    let odometers = Fleet::new(k, ours::odometer, launch);
    let their_odometers = Fleet::new(k, theirs::odometer, theirs::launch_constant());
    run("odometer launch", Fleet::launching(&odometers), &|| {
        Fleet::launching(&their_odometers)
    });
    run(
        "odometer privacy_loss",
        Fleet::reading(&odometers, read),
        &|| Fleet::reading(&their_odometers, theirs::read_loss),
    );
}

/// Children of a filter that has launched `k` others.
fn children(k: u64, run: &mut impl FnMut(Case)) {
    let outer = ours::filter_after(k);
    let their_outer = (k <= MOST_OF_OPENDP).then(|| theirs::filter_after(k));
    for depth in 1..=8 {
        let (filter, mechanism) = (ours::nested_filter(&outer, depth), ours::constant());
        let query = repeated(move || {
            black_box(filter.release(&mechanism)).expect("within the budget");
        });
        let name = format!("query to a compositor child at depth {depth}");
        let case = Case::new(name, query).after(k);
        run(match &their_outer {
            Some(outer) => case.beside(OPENDP, asking::nested_child(outer, depth)),
            None => case,
        });
    }
    for middles in 1..=8 {
        let query = asking(ours::behind_middles(&outer, middles));
        let name = format!("query through {middles} persons in the middle");
        run(Case::new(name, query).after(k));
    }

    let mechanism = ours::constant();
    let launch = repeated(move || {
        black_box(outer.launch(&mechanism)).expect("within the budget");
    });
    run(Case::new("interactive launch", launch).after(k));

    const PARTS: u32 = 1000;
    let (parts, mechanism, mut next) = (ours::parts(PARTS), ours::constant(), 0);
    let mut launch = move || {
        // Another part each time, by its key, in no order that a cache would like.
        next = (next + 389) % PARTS;
        let part = parts.part(&next).expect("a part");
        black_box(part.release(&mechanism)).expect("within the budget");
    };
    (0..k).for_each(|_| launch());
    run(Case::new("launch in one of 1000 parts", repeated(launch)).after(k));
}

fn asking(child: Queryable<(), bool>) -> Run {
    repeated(move || {
        black_box(child.ask(())).expect("an answer");
    })
}

/// Two threads, and one that does the work of both.
fn in_threads(k: u64, run: &mut impl FnMut(Case)) {
    let filter = ours::filter_after(k);
    let launches = |threads| {
        shared_among(threads, || {
            let (filter, mechanism) = (filter.clone(), ours::constant());
            move || {
                black_box(filter.release(&mechanism)).expect("within the budget");
            }
        })
    };
    let case = Case::new("launches by two threads on one filter", launches(2));
    run(case.beside(ONE_THREAD, launches(1)).of_threads().after(k));
    let noisy_count = ours::noisy_count();
    for _ in 0..k {
        noisy_count
            .0
            .release(&ours::constant())
            .expect("within the budget");
    }
    let counts = |threads| {
        shared_among(threads, || {
            let (filter, count) = noisy_count.clone();
            move || {
                black_box(filter.release(&count)).expect("within the budget");
            }
        })
    };
    let case = Case::new("noisy counts by two threads on one filter", counts(2));
    run(case.beside(ONE_THREAD, counts(1)).of_threads().after(k));
    let queries = |threads| {
        shared_among(threads, || {
            let child = ours::child(&filter);
            move || {
                black_box(child.ask(())).expect("an answer");
            }
        })
    };
    let case = Case::new("queries by two threads to separate children", queries(2));
    run(case.beside(ONE_THREAD, queries(1)).of_threads().after(k));
}

fn noise(run: &mut impl FnMut(Case)) {
    let laplace = DiscreteLaplace::new(Ratio::from(10)).expect("a scale");
    let case = Case::new("discrete Laplace of scale 10", drawing(laplace));
    run(case.beside(
        OPENDP,
        repeated(|| {
            black_box(sample_discrete_laplace(10.into())).expect("randomness");
        }),
    ));
    let gaussian = DiscreteGaussian::new(Ratio::from(100)).expect("a variance");
    let case = Case::new("discrete Gaussian of scale 10", drawing(gaussian));
    run(case.beside(
        OPENDP,
        repeated(|| {
            black_box(sample_discrete_gaussian(10.into())).expect("randomness");
        }),
    ));
    let rounded = RoundedGaussian::new(Ratio::from(100)).expect("a variance");
    run(Case::new("rounded Gaussian of scale 10", drawing(rounded)));
}

/// One draw after the other from the same coins.
fn drawing(law: impl Law + 'static) -> Run {
    let mut coins = SystemCoins::new();
    repeated(move || {
        black_box(coins.draw(&law)).expect("randomness");
    })
}

/// Where the time of a typical launch goes.
fn noisy_count(run: &mut impl FnMut(Case)) {
    let (filter, count) = ours::noisy_count();
    let launch = repeated(move || {
        black_box(filter.release(&count)).expect("within the budget");
    });
    run(Case::new("launch of a noisy count", launch));
    let seed = repeated(|| {
        black_box(SystemCoins::new().uniform(NonZeroU64::MIN)).expect("randomness");
    });
    run(Case::new("a seed from the operating system", seed));
}
