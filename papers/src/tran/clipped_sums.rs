//! Sums over random samples with one budget, of which the last is clipped to what is left (Tran et al.
//! Alg. 2 as printed).

use std::sync::Arc;

use queryables::machine::{Coins, Description, Fault, Machine, Mechanism};
use queryables::number::Scale;
use queryables::privacy::facts::{Gaussian, SampledGaussian};
use queryables::privacy::{AddRemove, Prices, Private, UnknownLoss};

use super::asymptotic::{AsymptoticGdp, MeanLoss, cost, norm_for_budget};
use super::sampled_sums::{Step, clip, length, sampled_sum};

/// Sums over random samples, each chosen adaptively, at the price of the longest vector. The step that
/// would go over the budget is answered all the same, with vectors clipped to the length that can still
/// be paid for, T's `invBudg`; after it nothing is answered.
///
/// `Filter::noninteractive` with [`AsymptoticGdp`] refuses that step instead, and lets a smaller one
/// follow: it spends less, and is simpler to use. **The guarantee is asymptotic**: it speaks of a
/// limit, and bounds nothing for given parameters.
///
/// # Guarantee
///
/// As the rate goes to 0, or to 1 with growing noise, about √(2B)-GDP for records that are added or
/// removed (Tran et al. 4.3: see [`AsymptoticGdp`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClippedSums {
    measure: AsymptoticGdp,
    budget: MeanLoss,
}

impl ClippedSums {
    /// With this budget. Rates and noise must be within the bounds of the measure.
    #[must_use]
    pub fn new(measure: AsymptoticGdp, budget: MeanLoss) -> Self {
        Self { measure, budget }
    }
}

impl<T: Send + Sync + 'static> Mechanism<Vec<T>> for ClippedSums {
    type Machine = ClippedSumsMachine<T>;

    fn start(&self, data: &Arc<Vec<T>>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(ClippedSumsMachine {
            data: Arc::clone(data),
            measure: self.measure,
            left: Some(self.budget),
        })
    }

    fn describe(&self) -> Description {
        Description::new("ClippedSums")
            .with("measure", format_args!("{:?}", self.measure))
            .with("budget", self.budget)
    }
}

impl Private<AsymptoticGdp, AddRemove> for ClippedSums {
    fn loss(&self, measure: &AsymptoticGdp) -> Result<MeanLoss, UnknownLoss> {
        if *measure != self.measure {
            return Err(UnknownLoss(
                "the sums are for another regime, or other bounds",
            ));
        }
        Ok(self.budget)
    }
}

/// Running [`ClippedSums`]: a query is a [`Step`].
pub struct ClippedSumsMachine<T> {
    data: Arc<Vec<T>>,
    measure: AsymptoticGdp,
    /// What is left; nothing after the last step.
    left: Option<MeanLoss>,
}

impl<T> std::fmt::Debug for ClippedSumsMachine<T> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClippedSumsMachine")
    }
}

impl<T: Send + Sync + 'static> Machine for ClippedSumsMachine<T> {
    type Query = Step<T>;
    type Answer = Vec<f64>;

    fn step(&mut self, step: Step<T>, coins: &mut Coins<'_>) -> Result<Vec<f64>, Fault> {
        let left = self.left.ok_or(Fault::Exhausted)?;
        let fact = SampledGaussian::new(step.rate, Gaussian::Mu(step.mu));
        self.measure
            .price(&fact)
            .map_err(|UnknownLoss(why)| Fault::InvalidQuery(why))?;
        let sigma = Scale::at_most(1.0 / step.mu.to_f64_up());
        let sigma = sigma.map_err(|_| Fault::InvalidQuery("no noise"))?;
        let regime = self.measure.regime();
        let one = Scale::at_least(1.0).ok();
        let whole = one.and_then(|one| cost(regime, step.rate, sigma, one).ok());
        // As a share of the step's own bound: C_B/C. It is at most one in the last step.
        let share = match whole.filter(|whole| *whole < left) {
            Some(_) => 1.0,
            None => norm_for_budget(regime, step.rate, sigma, left)
                .map_or(0.0, |share| share.to_f64_down().min(1.0)),
        };
        self.left = whole
            .filter(|whole| *whole < left)
            .map(|whole| MeanLoss(left.0.saturating_sub(whole.0)));
        sampled_sum(&self.data, &step, coins, |_, vector| {
            let norm = length(vector);
            match norm.is_finite() {
                true if norm > share * step.length => clip(vector, share * step.length / norm),
                true => {}
                false => vector.fill(0.0),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::sampled_sums::tests::{Sample, measure, query};
    use super::*;
    use crate::tran::asymptotic::Regime;
    use queryables::machine::CoinSource;

    /// Two and a half steps: the third is clipped, and the fourth is not answered.
    #[test]
    fn the_last_step_is_clipped_to_what_is_left() {
        for (regime, rate, last) in [(Regime::Small, "0.1", 72.88), (Regime::Large, "0.9", 70.71)] {
            let measure = measure(regime, rate);
            let (sigma, one) = ("2".parse().unwrap(), "1".parse().unwrap());
            let step = cost(regime, rate.parse().unwrap(), sigma, one).unwrap();
            let budget = step.0.units() * 5 / 2;
            let budget = MeanLoss(queryables::number::Epsilon::from_units(budget).unwrap());
            let sums = ClippedSums::new(measure, budget);
            assert_eq!(sums.loss(&measure), Ok(budget));
            let mut coins = Sample(vec![true]);
            // The second is short: it is not clipped, and costs the same.
            let rows = Arc::new(vec![250.0, 10.0, f64::NAN]);
            let mut machine = sums.start(&rows, &mut coins.coins()).unwrap();
            let mut ask = || machine.step(query(rate, "0.5"), &mut coins.coins());
            for expected in [110.0, 110.0, 10.0 + last] {
                let answer = ask().unwrap()[0];
                assert!((answer - expected).abs() < 0.01, "{answer} {expected}");
            }
            assert_eq!(ask(), Err(Fault::Exhausted));
            assert_eq!(ask(), Err(Fault::Exhausted));
        }
    }

    /// A budget of exactly one step: C_B = C, which is the last one too.
    #[test]
    fn a_step_that_spends_everything_is_the_last() {
        let measure = measure(Regime::Large, "0.9");
        let (sigma, one) = ("2".parse().unwrap(), "1".parse().unwrap());
        let step = cost(Regime::Large, "0.9".parse().unwrap(), sigma, one).unwrap();
        let mut coins = Sample(vec![true]);
        let sums = ClippedSums::new(measure, step);
        let mut machine = sums
            .start(&Arc::new(vec![100.0]), &mut coins.coins())
            .unwrap();
        let mut ask = || machine.step(query("0.9", "0.5"), &mut coins.coins());
        assert!((ask().unwrap()[0] - 100.0).abs() < 0.01);
        assert_eq!(ask(), Err(Fault::Exhausted));
    }
}
