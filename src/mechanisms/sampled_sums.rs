//! Sums over random samples, with a budget for each record.

use std::fmt;
use std::sync::Arc;

use super::SampledGaussianSum;
use super::clip::{clip, in_steps, square_of};
use super::sampled_sum::happens;
use crate::data::{CHUNK, Dataset};
use crate::machine::{Coins, Description, Fault, Machine, Mechanism};
use crate::number::{Delta, Epsilon, Interval, Ratio};
use crate::privacy::fdp::asymptotic::{
    AsymptoticGdp, MeanLoss, Regime, cost_of_square, square_for_budget,
};
use crate::privacy::{AddRemove, Gdp, Prices, Private, UnknownLoss};

/// Sums over random samples, each chosen adaptively, where every record pays for the length of its
/// own vector from a budget of its own (Tran et al. Alg. 3). For training: a query is the next step.
///
/// A record pays whether it is in the sample or not. One that cannot pay for its whole vector has it
/// clipped to what it can still pay for, which is nothing in the end. No query is refused for
/// its price, and nobody is told who has run out.
///
/// **The guarantee is asymptotic**: it speaks of a limit, and bounds nothing for given parameters.
/// For one that is proved, take [`SampledGaussianSum`] under a filter, or
/// [`GradientDescent::filtered`](super::GradientDescent::filtered) on all records.
///
/// ```
/// use queryables::mechanisms::{Descent, IndividualSampledSums, Lattice, Objective};
/// use queryables::mechanisms::SampledGaussianSum;
/// use queryables::privacy::AddRemove;
/// use queryables::privacy::fdp::asymptotic::{AsymptoticGdp, MeanLoss, Regime};
/// use std::sync::Arc;
///
/// let rows: Vec<(f64, bool)> = (-50..50).map(|x| (f64::from(x) / 50.0, x >= 0)).collect();
/// let objective = Objective::logistic("pairs", 1, |row: &(f64, bool), features: &mut [f64]| {
///     features[0] = row.0;
///     row.1
/// });
///
/// // One row in ten at most, and σ of at least 2.
/// let measure = AsymptoticGdp::new(Regime::Small, "0.1".parse()?, "2".parse()?)?;
/// let sums = IndividualSampledSums::new(measure, MeanLoss("0.02".parse()?));
/// let sums = queryables::launch(&sums, Arc::new(rows))?;
///
/// let lattice = Lattice::of_length(1.0)?;
/// let mut descent = Descent::new(1, 0.01)?;
/// for _ in 0..20 {
///     let gradient = objective.gradient_at(descent.weights());
///     // σ = 2.
///     let step = SampledGaussianSum::new(AddRemove, gradient, 1, lattice, "0.1".parse()?, "0.5".parse()?)?;
///     descent.step(&sums.ask(step)?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// As the rate goes to 0, or to 1 with growing noise, the whole is about √(2B)-GDP for records that
/// are added or removed, B being the budget of every record (Tran et al. 4.4, with the errors of 4.3:
/// see [`AsymptoticGdp`]). The length that is charged is that of the vector that is summed, after
/// rounding and clipping (a hat is missing in T's Alg. 3). T's proof spends what a record has left in
/// one more step, which may be too large for conditions 5 and 6 of its Theorem 4.2; split into steps
/// no larger than the others, it goes through.
///
/// A record that cannot be read, or whose vector is not finite, contributes zero and pays zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndividualSampledSums {
    measure: AsymptoticGdp,
    budget: MeanLoss,
}

impl IndividualSampledSums {
    /// Every record has this budget. Rates and noise must be within the bounds of the measure.
    #[must_use]
    pub fn new(measure: AsymptoticGdp, budget: MeanLoss) -> Self {
        Self { measure, budget }
    }
}

impl<D: Dataset + ?Sized> Mechanism<D> for IndividualSampledSums {
    type Machine = IndividualSampledSumsMachine<D>;

    fn start(&self, data: &Arc<D>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(IndividualSampledSumsMachine {
            data: Arc::clone(data),
            measure: self.measure,
            left: vec![self.budget.0; data.len()],
        })
    }

    /// What a record pays depends on the data and on what is asked, and not on what was released.
    fn only_says_releases() -> bool {
        true
    }

    fn describe(&self) -> Description {
        Description::new("IndividualSampledSums")
            .with("measure", format_args!("{:?}", self.measure))
            .with("budget", self.budget)
    }
}

impl Private<AsymptoticGdp, AddRemove> for IndividualSampledSums {
    fn loss(&self, measure: &AsymptoticGdp) -> Result<MeanLoss, UnknownLoss> {
        if *measure != self.measure {
            return Err(UnknownLoss(
                "the sums are for another regime, or other bounds",
            ));
        }
        Ok(self.budget)
    }
}

/// Running [`IndividualSampledSums`]: a query is a [`SampledGaussianSum`].
pub struct IndividualSampledSumsMachine<D: ?Sized> {
    data: Arc<D>,
    measure: AsymptoticGdp,
    /// What each record has left.
    left: Vec<Epsilon>,
}

impl<D: Dataset + ?Sized> Machine for IndividualSampledSumsMachine<D> {
    type Query = SampledGaussianSum<D>;
    type Answer = Vec<f64>;

    fn step(
        &mut self,
        query: SampledGaussianSum<D>,
        coins: &mut Coins<'_>,
    ) -> Result<Vec<f64>, Fault> {
        let prices = PricesOfSquares::new(&self.measure, &query)
            .map_err(|UnknownLoss(why)| Fault::InvalidQuery(why))?;
        let (sum, odds) = (&query.sum, Ratio::from(query.rate));
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = (0..sum.dimension).map(|_| coins.noise(&sum.gaussian.noise));
        let noise = noise.collect::<Result<Vec<_>, _>>()?;
        let mut total = vec![0_i128; sum.dimension];
        let per_unit = libm::scalbn(1.0, -sum.lattice.exponent);
        let size = (CHUNK / sum.dimension).max(1);
        let mut numbers = vec![0.0; size * sum.dimension];
        let mut steps = vec![0; sum.dimension];
        for (index, accounts) in self.left.chunks_mut(size).enumerate() {
            let rows = index * size..index * size + accounts.len();
            let numbers = numbers.get_mut(..rows.len() * sum.dimension);
            let numbers = numbers.unwrap_or_default();
            // Of everybody, since everybody pays.
            sum.vector.read(&self.data, rows, None, numbers);
            for (vector, left) in numbers.chunks_exact(sum.dimension).zip(accounts) {
                in_steps(vector, per_unit, &mut steps);
                clip(&mut steps, sum.lattice.radius);
                prices.pay(&mut steps, left);
                let joins = happens(odds, coins)?;
                for (total, steps) in total.iter_mut().zip(&steps) {
                    *total = total.saturating_add(if joins { (*steps).into() } else { 0 });
                }
            }
        }
        let noisy = total.into_iter().zip(noise);
        let values = noisy.map(|(steps, noise)| sum.lattice.value(coins.release(steps, noise)));
        Ok(values.collect())
    }
}

/// What a vector costs, by the square of its length in steps.
struct PricesOfSquares {
    regime: Regime,
    rate: Delta,
    /// The square of length over deviation, for a vector of one step.
    one: Interval,
}

impl PricesOfSquares {
    /// [`UnknownLoss`] if the rate or the noise is outside of the bounds of the measure.
    fn new<D: ?Sized>(
        measure: &AsymptoticGdp,
        query: &SampledGaussianSum<D>,
    ) -> Result<Self, UnknownLoss> {
        measure.price(&query.fact)?;
        let radius = u128::from(query.sum.lattice.radius);
        let mu = Interval::from(Gdp.price(&query.fact.gaussian())?);
        Ok(Self {
            regime: measure.regime(),
            rate: query.rate,
            one: mu.square() / Interval::whole(radius.pow(2)),
        })
    }

    /// T's `getApprox`, rounded up.
    fn cost(&self, square: u128) -> Option<Epsilon> {
        let square = self.one * Interval::whole(square);
        cost_of_square(self.regime, self.rate, square).up()
    }

    /// Takes what the vector costs; if it is more than what is left, clips the vector first to the
    /// length that can still be paid for, T's `invBudg`.
    fn pay(&self, steps: &mut [i64], left: &mut Epsilon) {
        let square = square_of(steps);
        if square == 0 {
            return;
        }
        if self.charge(square, left) {
            return;
        }
        let allowed = square_for_budget(self.regime, self.rate, MeanLoss(*left)) / self.one;
        // Less than the square, which was too much: it is at most 2^100.
        clip(steps, (allowed.low().max(0.0) as u128).isqrt() as u64);
        // It costs too much still if rounding has the last word. Then it is nothing.
        let square = square_of(steps);
        if square != 0 && !self.charge(square, left) {
            steps.fill(0);
        }
    }

    /// `false`, and nothing is taken, if it is more than what is left.
    fn charge(&self, square: u128, left: &mut Epsilon) -> bool {
        match self.cost(square).filter(|cost| *cost <= *left) {
            Some(cost) => {
                *left = left.saturating_sub(cost);
                true
            }
            None => false,
        }
    }
}

impl<D: ?Sized> fmt::Debug for IndividualSampledSumsMachine<D> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndividualSampledSumsMachine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Vector;
    use crate::machine::{CoinSource, CoinsError, Law};
    use crate::mechanisms::Lattice;
    use crate::privacy::fdp::asymptotic;

    const LATTICE: Lattice = Lattice::in_steps(0, 100);

    /// No noise, and whoever has such a number is in the sample.
    struct Sample(Vec<bool>);

    impl CoinSource for Sample {
        fn uniform(&mut self, _: std::num::NonZeroU64) -> Result<u64, CoinsError> {
            Err(CoinsError::TapeEnds)
        }

        fn draw(&mut self, _: &dyn Law) -> Result<i128, CoinsError> {
            Ok(0)
        }

        fn weighted(&mut self, _: &[u64]) -> Result<usize, CoinsError> {
            self.0.rotate_left(1);
            Ok(usize::from(*self.0.last().ok_or(CoinsError::TapeEnds)?))
        }
    }

    fn query(rate: &str, mu: &str) -> SampledGaussianSum<Vec<f64>> {
        let itself = Vector::new("itself", |row: &f64, out: &mut [f64]| out[0] = *row);
        let (rate, mu) = (rate.parse().unwrap(), mu.parse().unwrap());
        SampledGaussianSum::new(AddRemove, itself, 1, LATTICE, rate, mu).unwrap()
    }

    fn machine(
        measure: AsymptoticGdp,
        budget: MeanLoss,
        rows: &[f64],
    ) -> IndividualSampledSumsMachine<Vec<f64>> {
        let sums = IndividualSampledSums::new(measure, budget);
        let mut coins = Sample(vec![true]);
        sums.start(&Arc::new(rows.to_vec()), &mut coins.coins())
            .unwrap()
    }

    fn measure(regime: Regime, rate: &str) -> AsymptoticGdp {
        AsymptoticGdp::new(regime, rate.parse().unwrap(), "2".parse().unwrap()).unwrap()
    }

    /// Two and a half steps of the longest vector; shorter ones by their squares, or their growth.
    #[test]
    fn records_pay_for_the_length_of_what_is_summed_until_nothing_is_left() {
        for (regime, bound, rate) in [(Regime::Small, "0.1", "0.1"), (Regime::Large, "0.9", "0.9")]
        {
            let measure = measure(regime, bound);
            let price = |steps: f64| {
                let norm = (steps / 100.0).try_into().unwrap();
                let sigma = "2".parse().unwrap();
                asymptotic::cost(regime, rate.parse().unwrap(), sigma, norm)
                    .unwrap()
                    .0
            };
            let longest = price(100.0);
            let half = Epsilon::from_units(longest.units() / 2).unwrap();
            let budget = MeanLoss(longest.checked_mul(2).unwrap().checked_add(half).unwrap());
            let mut machine = machine(measure, budget, &[250.0, 10.0, -4.0, f64::NAN]);
            let mut coins = Sample(vec![true]);
            let query = query(rate, "0.5");
            let mut answers = vec![];
            for _ in 0..8 {
                answers.push(machine.step(query.clone(), &mut coins.coins()).unwrap()[0]);
            }
            // The first is clipped to 100, and then to what is left. Lengths whose price is half that
            // of the longest: √½, or a little more where it grows faster.
            let last = match regime {
                Regime::Small => 72.0,
                Regime::Large => 70.0,
            };
            assert_eq!(answers[..3], [106.0, 106.0, 6.0 + last], "{regime:?}");
            // What whole steps leave pays for a few more, and then for none.
            assert!(answers[3] < 19.0 && answers[4] < 9.0, "{answers:?}");
            assert_eq!(answers[7], 6.0);
            // Others have paid for what they have contributed, and no more.
            let close = |left: Epsilon, spent: Epsilon| {
                let off = budget
                    .0
                    .saturating_sub(left)
                    .units()
                    .abs_diff(8 * spent.units());
                assert!(off <= spent.units() / 1_000_000_000, "{off}");
            };
            close(machine.left[1], price(10.0));
            close(machine.left[2], price(4.0));
            assert_eq!(machine.left[3], budget.0);
        }
    }

    #[test]
    fn a_record_pays_whether_it_is_in_the_sample_or_not() {
        let budget = MeanLoss("1".parse().unwrap());
        let mut machine = machine(measure(Regime::Small, "0.1"), budget, &[50.0, 50.0]);
        let mut coins = Sample(vec![true, false]);
        let answer = machine
            .step(query("0.1", "0.5"), &mut coins.coins())
            .unwrap();
        assert_eq!(answer, [50.0]);
        assert_eq!(machine.left[0], machine.left[1]);
        assert!(machine.left[0] < budget.0);
    }

    #[test]
    fn what_is_outside_of_the_bounds_is_refused_and_costs_nothing() {
        let budget = MeanLoss("1".parse().unwrap());
        let mut machine = machine(measure(Regime::Small, "0.1"), budget, &[50.0]);
        let mut coins = Sample(vec![true]);
        let outside = "the rate or the noise is outside of the bounds of the approximation";
        for (rate, mu) in [("0.11", "0.5"), ("0.1", "0.51")] {
            let refused = machine.step(query(rate, mu), &mut coins.coins());
            assert_eq!(refused, Err(Fault::InvalidQuery(outside)));
        }
        assert_eq!(machine.left, [budget.0]);
    }

    #[test]
    fn nobody_is_no_error() {
        let budget = MeanLoss("1".parse().unwrap());
        let mut machine = machine(measure(Regime::Large, "0.9"), budget, &[]);
        let mut coins = Sample(vec![true]);
        assert_eq!(
            machine.step(query("0.9", "0.5"), &mut coins.coins()),
            Ok(vec![0.0])
        );
    }

    #[test]
    fn the_loss_is_the_budget_in_its_own_regime_only() {
        let budget = MeanLoss("0.5".parse().unwrap());
        let small = measure(Regime::Small, "0.1");
        let sums = IndividualSampledSums::new(small, budget);
        assert_eq!(sums.loss(&small), Ok(budget));
        let other = UnknownLoss("the sums are for another regime, or other bounds");
        assert_eq!(sums.loss(&measure(Regime::Small, "0.05")), Err(other));
        assert_eq!(sums.loss(&measure(Regime::Large, "0.9")), Err(other));
    }
}
