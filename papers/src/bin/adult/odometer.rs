//! What single people read on Rényi odometers, in the manner of F Fig. 2.

use std::sync::Arc;

use queryables::compose::{IndividualOdometer, start_individual};
use queryables::mechanisms::Descent;
use queryables::number::Epsilon;
use queryables::prelude::*;
use queryables::privacy::facts::Gaussian;
use queryables::privacy::{Prices, Rdp};

use crate::Outcome;
use crate::census::{features, objective};
use crate::setting::Setting;
use crate::training::Data;

/// The order of F.
const ORDER: u64 = 63;

/// What a record with a gradient of the full length loses in a step, ORDER/(2σ²), rounded up to six
/// decimals, as F's 0.00109 is: the odometers are read in multiples of it.
pub fn step(setting: &Setting) -> Outcome<Epsilon> {
    let exact: f64 = measure()?
        .price(&Gaussian::Rho(setting.rho()?))?
        .to_string()
        .parse()?;
    Ok(format!("{:.6}", (exact * 1e6).ceil() / 1e6).parse()?)
}

fn measure() -> Outcome<Rdp> {
    Ok(Rdp::new(ORDER.to_string().parse()?))
}

/// Trains without a budget, and counts (F Alg. 6): the whole steps that each record reads after k/2, k
/// and k_max steps.
pub fn run(setting: &Setting, data: &Data, mut progress: impl FnMut()) -> Outcome<[Vec<u64>; 3]> {
    let odometer = IndividualOdometer::new(measure()?, step(setting)?);
    let (for_the_analyst, for_the_curator) =
        start_individual(&odometer, Arc::clone(&data.training))?;
    let objective = objective();
    let mut descent = Descent::new(features(), setting.rate / data.expected)?;
    let mut readings: [Vec<u64>; 3] = Default::default();
    let looks = [setting.steps / 2, setting.steps, setting.most_steps];
    for now in 1..=setting.most_steps {
        let sum = setting.sum(objective.gradient_at(descent.weights()));
        let sum = sum.gaussian(setting.rho()?)?;
        descent.step(&for_the_analyst.release(&sum)?);
        for (look, reading) in looks.iter().zip(&mut readings) {
            if *look == now {
                let one = for_the_curator.units().budget().number;
                let all = for_the_curator.all()?.into_iter();
                *reading = all.map(|spent| spent.number.div_ceil(one)).collect();
            }
        }
        progress();
    }
    Ok(readings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::Example;
    use crate::setting::OF_F;

    /// At weights of zero a gradient is half of the features. One that is as long as the clip value, or
    /// longer, pays for a step each time; one that is half as long pays a quarter, so that four fit into
    /// what is read; and one of zero pays nothing, and reads the step that it started with.
    #[test]
    fn readings_are_those_that_are_worked_out_by_hand() {
        let [first, ..] = OF_F;
        let setting = Setting {
            clip: 4.0,
            // The weights stay where they are.
            rate: 1e-300,
            steps: 10,
            most_steps: 13,
            ..first
        };
        let people = [8.0, 80.0, 4.0, 0.0].map(|x| Example::of(vec![(0, x)], true));
        let data = Data {
            training: Arc::new(people.into()),
            testing: Arc::default(),
            expected: 4.0,
        };
        let readings = run(&setting, &data, || ()).unwrap();
        assert_eq!(readings, [[5, 5, 2, 1], [10, 10, 3, 1], [13, 13, 4, 1]]);
        // 63/(2·455.34²) = 0.00015193…
        assert_eq!(step(&setting).unwrap(), "0.000152".parse().unwrap());
    }

    /// F §6.1 prints Δ = 0.00109 ≈ α/σ² for α = 63 and σ = 170, which would be 0.00218.
    #[test]
    fn the_step_that_f_prints_is_half_of_its_formula() {
        let [first, ..] = OF_F;
        let setting = Setting {
            sigma: 170.0,
            ..first
        };
        assert_eq!(step(&setting).unwrap(), "0.00109".parse().unwrap());
    }
}
