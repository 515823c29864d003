//! How fast a Parquet file is tallied, compared with plain loops over its Arrow batches:
//! `cargo bench --package benches --bench tables`, with `-- --quick` for 10^7 rows instead of 10^8.
//!
//! The file is made in a temporary folder. The loop beside each plan is written by hand with arrow-rs: it
//! reads the same columns of the same file in the same batches, on as many threads, and computes the same
//! totals. Both run in turn, and the fastest run of each counts. The target is at most 1.2 times the loop.
//! The memory bound is below a column, so that the file is read for each question. `kept`: the columns stay
//! in memory after the first question; the loop reads the file.
//!
//! Names choose questions: `-- --quick per_person`. With `--python PYTHON`, which has the packages `polars` and
//! `opendp[polars]`, [`peers.py`](peers.py) then asks them the same, on the same file.

mod bare;
mod file;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use queryables::table::{
    Amount, Bound, Column, Grouping, Kind, Parts, Plan, Schema, Table, TableError,
};
use queryables_arrow::ArrowTable;

/// The columns of the file, with or without a person.
fn columns() -> [Column; 4] {
    [
        Column::new("person", Kind::Whole),
        Column::categories("state", file::STATES),
        Column::whole("hours", 0..=100),
        Column::real("income", 0.0..=100_000.0),
    ]
}

/// What is asked, and the loop that computes the same.
struct Case {
    name: &'static str,
    plan: Plan,
    bare: fn(&Path) -> Vec<i128>,
}

fn cases(rows: &Schema, people: &Schema) -> Result<Vec<Case>, TableError> {
    let condition = rows.condition("hours >= 20 and income > 1000")?;
    let one = || Ok::<_, TableError>((Amount::one(0)?, Parts::Value));
    let hours = |schema: &Schema| {
        let hours = Amount::of(schema.number("hours")?, 0, 0, 60)?;
        Ok::<_, TableError>((hours, Parts::Value))
    };
    let income = Amount::of(rows.number("income")?, 3, 0, 10_000)?;
    let state = |schema: &Schema| Ok::<_, TableError>(vec![Grouping::of(schema, "state")?]);
    let plan = Plan::new;
    Ok(vec![
        Case {
            name: "count",
            plan: plan(rows, Some(condition), one()?, vec![], Bound::Row)?,
            bare: bare::count,
        },
        Case {
            name: "clamped_sum",
            plan: plan(rows, None, hours(rows)?, vec![], Bound::Row)?,
            bare: bare::sum,
        },
        Case {
            name: "real_sum",
            plan: plan(rows, None, (income, Parts::Value), vec![], Bound::Row)?,
            bare: bare::real_sum,
        },
        Case {
            name: "by_group",
            plan: plan(rows, None, hours(rows)?, state(rows)?, Bound::Row)?,
            bare: bare::by_group,
        },
        Case {
            name: "per_person",
            plan: plan(people, None, hours(people)?, vec![], Bound::Each(600))?,
            bare: bare::per_person,
        },
        Case {
            name: "per_person_by_group",
            plan: plan(people, None, hours(people)?, state(people)?, Bound::L1(600))?,
            bare: bare::per_person_by_group,
        },
    ])
}

/// Forgets the most memory that was in use.
fn reset_peak() {
    // Where it cannot be reset, the peak is that of everything so far.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that was in use since, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    words.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn compare(name: &str, case: &Case, table: &ArrowTable, (path, rows): (&Path, usize), runs: usize) {
    let [mut ours, mut bare] = [Duration::MAX; 2];
    let [mut our_peak, mut bare_peak] = [0; 2];
    let wanted = (case.bare)(path);
    for _ in 0..runs {
        reset_peak();
        let started = Instant::now();
        let totals = black_box(table.tally(&case.plan)).expect("the file can be read");
        ours = ours.min(started.elapsed());
        our_peak = our_peak.max(peak());
        assert_eq!(totals, wanted, "{name} computes something else");
        reset_peak();
        let started = Instant::now();
        black_box((case.bare)(path));
        bare = bare.min(started.elapsed());
        bare_peak = bare_peak.max(peak());
    }
    let [ours, bare] = [ours, bare].map(|time| 1000.0 * time.as_secs_f64());
    println!(
        "tables: {name} rows={rows} ours={ours:.0}ms bare={bare:.0}ms ratio={:.2} \
         peak={our_peak}MiB bare_peak={bare_peak}MiB",
        ours / bare
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (mut quick, mut python, mut names) = (false, None, Vec::new());
    while let Some(word) = words.next() {
        match &*word {
            "--bench" => {}
            "--quick" => quick = true,
            "--python" => python = words.next(),
            _ => names.push(word),
        }
    }
    let (rows, runs) = if quick {
        (10_000_000, 5)
    } else {
        (100_000_000, 3)
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.parquet");
    file::write(&path, rows)?;
    let size = fs::metadata(&path)?.len() >> 20;
    println!("tables: file rows={rows} columns=4 size={size}MiB");

    let each_row = Schema::of_rows(columns())?;
    let of_people = Schema::of_people("person", columns())?;
    // Half of it is less than a column of numbers, and keeps none. Of 10^8 rows it is the usual bound.
    let bound = 15 * rows.min(70_000_000);
    for case in &cases(&each_row, &of_people)? {
        if !names.is_empty() && !names.iter().any(|name| case.name.contains(name)) {
            continue;
        }
        let open = || ArrowTable::parquet(case.plan.schema(), [&path]);
        let streamed = open()?.with_memory_bound(bound);
        compare(case.name, case, &streamed, (&path, rows), runs);
        let kept = open()?.with_memory_bound(8 * bound);
        kept.tally(&case.plan)?;
        compare(
            &format!("{}_kept", case.name),
            case,
            &kept,
            (&path, rows),
            runs,
        );
    }
    if let Some(python) = python {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/peers.py");
        let status = Command::new(python)
            .arg(script)
            .arg(&path)
            .args(&names)
            .status()?;
        assert!(status.success(), "peers.py fails");
    }
    Ok(())
}
