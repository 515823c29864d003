//! One run of private gradient descent with filtering.

use std::sync::Arc;

use queryables::compose::{IndividualFilter, start_individual};
use queryables::mechanisms::Descent;
use queryables::prelude::*;

use crate::Outcome;
use crate::census::{Example, accuracy, features, objective};
use crate::setting::Setting;

/// Accuracies in percent: of the last weights, and of the average.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accuracy {
    pub last: f64,
    pub average: f64,
}

/// What came out of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// After k steps, which is private gradient descent without filtering.
    pub without: Accuracy,
    /// After k_max steps.
    pub with: Accuracy,
    /// What each record has spent of its budget, from 0 to 1: after k/2, k and k_max steps.
    pub spent: [Vec<f64>; 3],
    /// The accuracy of the last weights after some of the steps, as in F Fig. 1.
    pub path: Vec<(u64, f64)>,
}

/// The data for one run.
#[derive(Clone)]
pub struct Data {
    pub training: Arc<Vec<Example>>,
    pub testing: Arc<Vec<Example>>,
    /// How many records there are for training, about: a public number, as the size of the two parts
    /// is documented.
    pub expected: f64,
}

/// Trains with filtering (F Alg. 8).
///
/// In the first k steps nobody can run out: a step costs a record at most ρ, and the budget is k·ρ.
/// So up to there it is private gradient descent without filtering (F Alg. 7), and one run shows
/// both, as in F Fig. 1.
pub fn run(setting: &Setting, data: &Data, mut progress: impl FnMut()) -> Outcome<Run> {
    let filter = IndividualFilter::new(ZCdp, setting.budget()?).shrinking();
    let (filter, curator) = start_individual(&filter, Arc::clone(&data.training))?;
    let objective = objective();
    let measured = |descent: &Descent| Accuracy {
        last: accuracy(descent.weights(), &data.testing),
        average: accuracy(descent.average(), &data.testing),
    };
    // What the curator can read is no part of what is released.
    let spent = || -> Outcome<Vec<f64>> {
        let budget = curator.units().budget().number as f64;
        let spent = curator.all()?.into_iter();
        Ok(spent.map(|spent| spent.number as f64 / budget).collect())
    };
    let mut descent = Descent::new(features(), setting.rate / data.expected)?;
    let mut run = Run {
        without: Accuracy::default(),
        with: Accuracy::default(),
        spent: Default::default(),
        path: Vec::new(),
    };
    let between_looks = setting.most_steps.div_ceil(96);
    for step in 1..=setting.most_steps {
        let sum = setting.sum(objective.gradient_at(descent.weights()));
        let sum = sum.gaussian(setting.rho()?)?;
        descent.step(&filter.release(&sum)?);
        if step % between_looks == 0 {
            run.path.push((step, measured(&descent).last));
        }
        if step == setting.steps / 2 {
            run.spent[0] = spent()?;
        }
        if step == setting.steps {
            (run.without, run.spent[1]) = (measured(&descent), spent()?);
        }
        progress();
    }
    (run.with, run.spent[2]) = (measured(&descent), spent()?);
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::OF_F;

    /// Each person has one of 40 features, and no two features have equally many people. So an accuracy says
    /// which weights are positive: others are one step before, and on average.
    #[test]
    fn the_path_has_the_accuracies_of_the_table() {
        let [first, ..] = OF_F;
        let setting = Setting {
            steps: 4,
            most_steps: 8,
            ..first
        };
        let people = (0..40).flat_map(|feature| {
            let person = Example::of(vec![(feature, 1.0)], true);
            vec![person; feature + 1]
        });
        let people = Arc::new(people.collect::<Vec<_>>());
        let data = Data {
            training: Arc::clone(&people),
            testing: people,
            expected: 820.0,
        };
        let run = run(&setting, &data, || ()).unwrap();
        let (steps, path): (Vec<u64>, Vec<f64>) = run.path.into_iter().unzip();
        assert_eq!(steps, (1..=8).collect::<Vec<_>>());
        assert_eq!([path[3], path[7]], [run.without.last, run.with.last]);
    }
}
