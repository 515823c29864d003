//! The pictures of `spec/figures`: the counterexample to the natural f-DP filter (Tran et al. Fig. 1, 3,
//! 4 and 5), the schedule of Tran et al. §4.5 under four ways of accounting (Fig. 2), the moments of a
//! sampled Gaussian beside their limits (Fig. 6 to 9), and odometers (Whitehouse et al. Fig. 1 to 3).
//!
//! ```sh
//! cargo run --release --package papers --bin figures
//! cargo run --package papers --bin figures -- --quick
//! ```
//!
//! The quick form computes on coarse grids and leaves the pictures in `target/figures`.

mod chart;
mod counterexample;
mod moments;
mod odometers;
mod schedule;

use std::error::Error;
use std::path::Path;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    // Without optimisation the full form takes half an hour.
    let quick = cfg!(debug_assertions) || std::env::args().any(|option| option == "--quick");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join(if quick {
        "target/figures"
    } else {
        "spec/figures"
    });
    draw(&folder, quick)
}

fn draw(folder: &Path, quick: bool) -> Outcome {
    std::fs::create_dir_all(folder)?;
    counterexample::draw(folder, quick)?;
    moments::draw(folder, quick)?;
    odometers::draw(folder, quick)?;
    schedule::draw(folder, quick)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curves of each picture, and in how many of its panels each is.
    const CURVES: [(&str, &[(&str, usize)]); 6] = [
        (
            "counterexample-trade-offs.svg",
            &[
                ("μ = 2.25, 2.25", 2),
                ("μ = 0.1, 10", 2),
                ("budget of the filter", 2),
                ("what the analyst attains", 2),
            ],
        ),
        (
            "counterexample-profiles.svg",
            &[
                ("budget of the filter, at most", 2),
                ("what the analyst attains, at least", 2),
            ],
        ),
        (
            "counterexample-choices.svg",
            &[
                ("μ = 2.25, 2.25", 1),
                ("μ = 0.1, 10", 1),
                ("budget of the filter", 2),
                ("what the analyst attains", 2),
                ("the best choice at each γ", 2),
            ],
        ),
        ("moments.svg", &[("σ = 1", 4), ("σ = 2", 4), ("σ = 5", 4)]),
        (
            "odometers.svg",
            &[
                ("filter of W: ε²/2", 1),
                ("advanced composition: ε·tanh(ε/2)", 1),
                ("filter odometer", 3),
                ("mixture odometer", 3),
                ("stitched odometer", 3),
                ("odometer of Rogers et al., 10⁵ rows", 1),
                ("advanced composition, no odometer", 1),
            ],
        ),
        (
            "schedule.svg",
            &[
                ("Rényi filter, a bound", 1),
                ("approximate GDP filter, no bound", 1),
                ("the steps in a fixed order", 1),
            ],
        ),
    ];

    #[test]
    fn every_curve_is_in_its_picture() {
        let folder = std::env::temp_dir().join("queryables-figures");
        draw(&folder, true).unwrap();
        for (name, curves) in CURVES {
            let picture = std::fs::read_to_string(folder.join(name)).unwrap();
            assert!(picture.starts_with("<svg"), "{name}");
            for (label, panels) in curves {
                // A label stands on a line of its own: some are the beginning of others.
                let named = picture.lines().filter(|line| line == label).count();
                assert_eq!(named, *panels, "{name}: {label}");
            }
        }
    }
}
