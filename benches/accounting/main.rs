//! Certified ε of composed sampled Gaussians, and how long it takes.
//!
//! Prints one line for each task: name, δ, bounds on ε, seconds (the best of several runs). With
//! `compare.py` beside it, the same tasks run in `dp_accounting`, too.

use std::time::Instant;

use queryables::privacy::fdp::{Grid, Profile};

type Parts = Vec<(Profile, u64)>;

fn identical() -> Parts {
    let step = Profile::sampled_gaussian("0.01".parse().unwrap(), "1".parse().unwrap());
    vec![(step, 3650)]
}

/// 3650 steps, where σ is one of 25 values (Tran et al. §4.5).
fn schedule() -> Parts {
    (0..25)
        .map(|block| {
            let turn = std::f64::consts::PI / 3650.0 * 150.0 * (block + 1) as f64;
            let sigma = 1.5 + turn.sin();
            let launches = 150.min(3650 - 150 * block);
            let step =
                Profile::sampled_gaussian("0.01".parse().unwrap(), sigma.try_into().unwrap());
            (step, launches)
        })
        .collect()
}

fn run(name: &str, parts: &Parts, delta: &str, step: &str) {
    let delta = delta.parse().unwrap();
    let mut best = f64::INFINITY;
    let mut bounds = None;
    for _ in 0..5 {
        let start = Instant::now();
        let grid = Grid::new(step.parse().unwrap()).unwrap().aimed_at(delta);
        let epsilon = Profile::compose(parts, &grid)
            .unwrap()
            .epsilon(delta)
            .unwrap();
        best = best.min(start.elapsed().as_secs_f64());
        bounds = Some(epsilon);
    }
    let bounds = bounds.unwrap();
    let [lower, upper] = [bounds.lower, bounds.upper].map(|epsilon| epsilon.to_string());
    println!("{name} {delta} {lower} {upper} {best:.6}");
}

fn main() {
    for step in ["4e-4", "2e-4", "1e-4"] {
        run(&format!("identical/{step}"), &identical(), "1e-5", step);
    }
    for step in ["4e-4", "2e-4", "1e-4"] {
        run(&format!("schedule/{step}"), &schedule(), "1e-5", step);
        run(&format!("schedule/{step}"), &schedule(), "1e-6", step);
    }
}
