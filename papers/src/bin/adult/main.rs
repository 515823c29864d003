//! Logistic regression on census data with a budget for each person (Feldman and Zrnic §6.2).
//!
//! ```sh
//! cargo run --release --package papers --bin adult
//! cargo run --package papers --bin adult -- --quick
//! ```
//!
//! It prints F's table beside what is measured, and leaves pictures in `spec/figures`: what single people
//! have spent, what they read on odometers (F Fig. 2), and the accuracy along one run (F Fig. 1). With `--trials N` there are N trials instead of ten, and with `--only ROW`, once or
//! several times, only these rows of the table, such as `0.3` or `long`. The quick form trains on a few people
//! for a few steps, and leaves its pictures in `target/figures`.

mod census;
mod odometer;
mod picture;
mod setting;
mod table;
mod training;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

use census::TRAINING;
use setting::{LONG, OF_F, Setting};
use training::{Data, Run, run};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How many people there are for training in the quick form.
const QUICK_PEOPLE: usize = 200;

/// The rows of which a picture is drawn, of the first trial.
const PICTURED: [&str; 2] = ["0.3", "long"];

/// What is asked for on the command line.
struct Options {
    trials: usize,
    /// The names of rows; all of them if there is none.
    only: Vec<String>,
    quick: bool,
    folder: PathBuf,
}

impl Options {
    fn read() -> Outcome<Self> {
        let mut options = std::env::args().skip(1);
        // Without optimisation the full form takes a day.
        let mut quick = cfg!(debug_assertions);
        let (mut trials, mut only) = (None, Vec::new());
        while let Some(option) = options.next() {
            match option.as_str() {
                "--quick" => quick = true,
                "--trials" => {
                    let number = options.next().ok_or("say how many trials: --trials 3")?;
                    trials = Some(number.parse()?);
                }
                "--only" => only.push(options.next().ok_or("say which row: --only 0.3")?),
                other => {
                    let known = "--quick, --trials N, --only ROW";
                    return Err(format!("{other} is no option: {known}").into());
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Ok(Self {
            trials: trials.unwrap_or(if quick { 1 } else { 10 }),
            only,
            quick,
            folder: root.join(if quick {
                "target/figures"
            } else {
                "spec/figures"
            }),
        })
    }
}

fn main() -> Outcome {
    report(&Options::read()?, &mut std::io::stdout())
}

fn report(options: &Options, out: &mut impl Write) -> Outcome {
    let only = &options.only;
    let wanted =
        |setting: &Setting| only.is_empty() || only.iter().any(|name| name == setting.name);
    let settings: Vec<Setting> = OF_F.into_iter().chain([LONG]).filter(wanted).collect();
    if settings.is_empty() {
        return Err("there is no such row: 0.3, 0.5, 1.0, 1.0*, 1.2, long".into());
    }
    let settings: Vec<Setting> = match options.quick {
        true => settings.into_iter().map(quicker).collect(),
        false => settings,
    };
    let steps: u64 = settings.iter().map(|setting| setting.most_steps).sum();
    // On a terminal only.
    let bar = ProgressBar::new(steps * options.trials as u64).with_style(
        ProgressStyle::with_template("{bar:40} {pos} of {len} steps, {eta} left")?,
    );
    if options.quick {
        writeln!(
            out,
            "The quick form: {QUICK_PEOPLE} people and a fortieth of the steps. Accuracies mean \
             nothing.\n"
        )?;
    }
    table::head(out, options.trials)?;
    let mut runs = Vec::new();
    for setting in &settings {
        let of_setting = trials(setting, options, &bar)?;
        bar.suspend(|| table::row(out, setting, &of_setting))?;
        runs.push(of_setting);
    }
    bar.finish_and_clear();
    writeln!(out, "\n{}", table::REMARKS)?;
    let shown = settings.iter().zip(&runs);
    let shown = shown.filter_map(|(setting, runs)| Some((setting, runs.first()?)));
    let shown: Vec<_> = shown
        .filter(|(setting, _)| PICTURED.contains(&setting.name))
        .collect();
    if shown.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(&options.folder)?;
    let path = |name: &str| options.folder.join(name);
    let spent = shown
        .iter()
        .flat_map(|(setting, run)| picture::of_filter(setting, run));
    picture::draw(&path("adult-spent.svg"), &spent.collect::<Vec<_>>())?;
    let of_f = shown.iter().find(|(setting, _)| setting.printed.is_some());
    if let Some((setting, run)) = of_f {
        picture::draw_path(&path("adult-accuracy.svg"), setting, run)?;
        let readings = odometer::run(setting, &data(setting, options)?, || ())?;
        let step = odometer::step(setting)?.to_string().parse()?;
        let histograms = picture::of_odometer(setting, step, &readings);
        picture::draw(&path("adult-odometers.svg"), &histograms)?;
    }
    let folder = options.folder.canonicalize()?;
    writeln!(
        out,
        "\nWhat single people have spent, and how it went: {}",
        folder.display()
    )?;
    Ok(())
}

/// The data of a setting, for training and for testing.
fn data(setting: &Setting, options: &Options) -> Outcome<Data> {
    let (first, most) = match options.quick {
        true => (QUICK_PEOPLE, 4 * QUICK_PEOPLE),
        false => (TRAINING, usize::MAX),
    };
    let mut training = census::people(setting.scales, most)?;
    let testing = training.split_off(first.min(training.len()));
    Ok(Data {
        expected: training.len() as f64,
        training: Arc::new(training),
        testing: Arc::new(testing),
    })
}

/// A fortieth of the steps, at the same loss for each of them.
fn quicker(setting: Setting) -> Setting {
    Setting {
        steps: setting.steps.div_ceil(40),
        most_steps: setting.most_steps.div_ceil(40),
        ..setting
    }
}

/// All trials of a setting, on as many threads as there are processors.
fn trials(setting: &Setting, options: &Options, bar: &ProgressBar) -> Outcome<Vec<Run>> {
    let data = data(setting, options)?;
    let left = Mutex::new(options.trials);
    let next = || {
        let mut left = left.lock().ok()?;
        *left = left.checked_sub(1)?;
        Some(())
    };
    let work = || -> Outcome<Vec<Run>> {
        let mut runs = Vec::new();
        while next().is_some() {
            runs.push(run(setting, &data, || bar.inc(1))?);
        }
        Ok(runs)
    };
    let threads = thread::available_parallelism().map_or(1, Into::into);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut runs = Vec::new();
        for worker in workers {
            runs.extend(worker.join().map_err(|_| "a trial panicked")??);
        }
        Ok(runs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_form_prints_the_table_and_draws_the_picture() {
        let options = Options {
            trials: 1,
            only: Vec::new(),
            quick: true,
            folder: std::env::temp_dir().join("queryables-adult"),
        };
        let mut out = Vec::new();
        report(&options, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("83.80 ± 0.22"), "{text}");
        let picture = std::fs::read_to_string(options.folder.join("adult-spent.svg")).unwrap();
        assert!(
            picture.starts_with("<svg") && picture.contains("after 20 steps"),
            "{picture}"
        );
        for name in ["adult-odometers.svg", "adult-accuracy.svg"] {
            let picture = std::fs::read_to_string(options.folder.join(name)).unwrap();
            assert!(picture.contains("on Adult, ε = 0.3"), "{name}");
        }
    }
}
