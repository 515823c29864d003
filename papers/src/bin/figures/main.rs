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

    #[test]
    fn every_picture_is_drawn() {
        let folder = std::env::temp_dir().join("queryables-figures");
        draw(&folder, true).unwrap();
        for (name, curves) in [
            ("counterexample-trade-offs.svg", 8),
            ("counterexample-profiles.svg", 4),
            ("counterexample-choices.svg", 8),
            ("moments.svg", 12),
            ("odometers.svg", 13),
            ("schedule.svg", 3),
        ] {
            let picture = std::fs::read_to_string(folder.join(name)).unwrap();
            assert!(picture.starts_with("<svg"), "{name}");
            let drawn = picture.matches("<polyline").count();
            assert!(drawn >= curves, "{name} has {drawn} curves");
        }
    }
}
