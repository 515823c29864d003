//! Sums over random samples, with a budget for each record (Tran et al. Alg. 3).

use std::fmt;
use std::sync::Arc;

use queryables::data::Vector;
use queryables::machine::{Coins, Description, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::{Lattice, QueryExt, VectorSum};
use queryables::number::{Delta, Epsilon, Mu, Ratio, Scale};
use queryables::privacy::facts::{Gaussian, SampledGaussian};
use queryables::privacy::{AddRemove, Prices, Private, UnknownLoss};

use super::asymptotic::{AsymptoticGdp, MeanLoss, cost, norm_for_budget};

/// Sums over random samples, each chosen adaptively, where every record pays for the length of its
/// own vector from a budget of its own. For training: a query is the next [`Step`].
///
/// A record pays whether it is in the sample or not. One that cannot pay for its whole vector has it
/// clipped to what it can still pay for, which is nothing in the end. No query is refused for
/// its price, and nobody is told who has run out.
///
/// **The guarantee is asymptotic**: it speaks of a limit, and bounds nothing for given parameters.
/// For one that is proved, take
/// [`SampledGaussianSum`](queryables::mechanisms::SampledGaussianSum) under a filter, or
/// [`GradientDescent::filtered`](queryables::mechanisms::GradientDescent::filtered) on all records.
///
/// ```
/// use papers::tran::asymptotic::{AsymptoticGdp, MeanLoss, Regime};
/// use papers::tran::sampled_sums::{IndividualSampledSums, Step};
/// use queryables::mechanisms::Descent;
/// use std::sync::Arc;
///
/// let rows: Vec<(f64, bool)> = (-50..50).map(|x| (f64::from(x) / 50.0, x >= 0)).collect();
///
/// // One row in ten at most, and σ of at least 2.
/// let measure = AsymptoticGdp::new(Regime::Small, "0.1".parse()?, "2".parse()?)?;
/// let sums = IndividualSampledSums::new(measure, MeanLoss("0.02".parse()?));
/// let sums = queryables::start(&sums, Arc::new(rows))?;
///
/// let mut descent = Descent::new(1, 0.01)?;
/// for _ in 0..20 {
///     let weight = descent.weights()[0];
///     let gradient = move |(x, label): &(f64, bool), out: &mut [f64]| {
///         out[0] = (1.0 / (1.0 + (-weight * x).exp()) - f64::from(u8::from(*label))) * x;
///     };
///     descent.step(&sums.ask(Step {
///         vector: Arc::new(gradient),
///         dimension: 1,
///         length: 1.0,
///         rate: "0.1".parse()?,
///         mu: "0.5".parse()?,
///     })?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// As the rate goes to 0, or to 1 with growing noise, the whole is about √(2B)-GDP for records that
/// are added or removed, B being the budget of every record (Tran et al. 4.4, with the errors of 4.3:
/// see [`AsymptoticGdp`]). The length that is charged is that of the vector that is summed, after
/// clipping (a hat is missing in T's Alg. 3), but for the rounding to a fine lattice. T's proof spends what a record has left in one more
/// step, which may be too large for conditions 5 and 6 of its Theorem 4.2; split into steps no larger
/// than the others, it goes through.
///
/// A record whose vector is not finite contributes zero and pays zero.
///
/// # Budgets
///
/// With [`with_budgets`](Self::with_budgets) each record has a budget of its own, B_j, which is a public
/// function of the record. Theorem 4.4 is stated for equal ones. Its proof fixes one record X and asks
/// only that what X pays is at most B: the budgets of others decide which of their vectors are summed,
/// which is the same with X and without (`spec/individual.md` has the reduction). A record with a smaller
/// budget pays less than `cap`, as one does that has not spent all of it; there the proof adds steps that
/// spend the rest. So the whole is about √(2·cap)-GDP, with the errors of 4.3 for B = `cap`.
///
/// For X alone one would expect about √(2B_X)-GDP, for a B_X that is fixed while the rate goes to its
/// limit. **This is not proved**, here or in the paper, and no type states it: the loss of the whole is
/// `cap`, and there is no other. For a budget of a few steps it is false: one step of a sampled Gaussian
/// is not nearly Gaussian (`a_budget_of_one_step_is_not_about_gaussian`).
///
/// Rates are those of a step, for all records alike: Theorems F.1 and F.2 know no other.
pub struct IndividualSampledSums<T = ()> {
    measure: AsymptoticGdp,
    budget: MeanLoss,
    own: Option<Arc<OwnBudget<T>>>,
}

/// The budget of a record.
type OwnBudget<T> = dyn Fn(&T) -> MeanLoss + Send + Sync;

impl<T> IndividualSampledSums<T> {
    /// Every record has this budget. Rates and noise must be within the bounds of the measure.
    #[must_use]
    pub fn new(measure: AsymptoticGdp, budget: MeanLoss) -> Self {
        Self {
            measure,
            budget,
            own: None,
        }
    }

    /// Every record has the budget that this function gives for it, and at most `cap`, which is the
    /// loss of the whole.
    #[must_use]
    pub fn with_budgets(
        measure: AsymptoticGdp,
        cap: MeanLoss,
        own: impl Fn(&T) -> MeanLoss + Send + Sync + 'static,
    ) -> Self {
        Self {
            measure,
            budget: cap,
            own: Some(Arc::new(own)),
        }
    }
}

impl<T> Clone for IndividualSampledSums<T> {
    fn clone(&self) -> Self {
        Self {
            own: self.own.clone(),
            ..*self
        }
    }
}

impl<T> fmt::Debug for IndividualSampledSums<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndividualSampledSums")
            .field("measure", &self.measure)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> Mechanism<Vec<T>> for IndividualSampledSums<T> {
    type Machine = IndividualSampledSumsMachine<T>;

    fn start(&self, data: &Arc<Vec<T>>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let own = |record| match &self.own {
            Some(own) => own(record).min(self.budget),
            None => self.budget,
        };
        Ok(IndividualSampledSumsMachine {
            left: data.iter().map(|record| own(record).0).collect(),
            data: Arc::clone(data),
            measure: self.measure,
        })
    }

    fn describe(&self) -> Description {
        let described = Description::new("IndividualSampledSums")
            .with("measure", format_args!("{:?}", self.measure))
            .with("budget", self.budget);
        match self.own {
            Some(_) => described.incomplete(),
            None => described,
        }
    }
}

impl<T> Private<AsymptoticGdp, AddRemove> for IndividualSampledSums<T> {
    fn loss(&self, measure: &AsymptoticGdp) -> Result<MeanLoss, UnknownLoss> {
        if *measure != self.measure {
            return Err(UnknownLoss(
                "the sums are for another regime, or other bounds",
            ));
        }
        Ok(self.budget)
    }
}

/// Writes the vector of a record to a slice of zeros.
pub type Contribution<T> = dyn Fn(&T, &mut [f64]) + Send + Sync;

/// One sum over a sample.
pub struct Step<T> {
    /// The vector of a record.
    pub vector: Arc<Contribution<T>>,
    /// How many coordinates a vector has.
    pub dimension: usize,
    /// The largest length of a vector: longer ones are clipped.
    pub length: f64,
    /// The probability that a record is in the sample.
    pub rate: Delta,
    /// 1/σ, where the noise has a deviation of σ times the length.
    pub mu: Mu,
}

impl<T> Clone for Step<T> {
    fn clone(&self) -> Self {
        Self {
            vector: Arc::clone(&self.vector),
            ..*self
        }
    }
}

impl<T> fmt::Debug for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("rate", &self.rate)
            .field("mu", &self.mu)
            .finish_non_exhaustive()
    }
}

/// Running [`IndividualSampledSums`]: a query is a [`Step`].
pub struct IndividualSampledSumsMachine<T> {
    data: Arc<Vec<T>>,
    measure: AsymptoticGdp,
    /// What each record has left.
    left: Vec<Epsilon>,
}

impl<T: Send + Sync + 'static> Machine for IndividualSampledSumsMachine<T> {
    type Query = Step<T>;
    type Answer = Vec<f64>;

    fn step(&mut self, step: Step<T>, coins: &mut Coins<'_>) -> Result<Vec<f64>, Fault> {
        let fact = SampledGaussian::new(step.rate, Gaussian::Mu(step.mu));
        self.measure
            .price(&fact)
            .map_err(|UnknownLoss(why)| Fault::InvalidQuery(why))?;
        let (measure, left) = (&self.measure, &mut self.left);
        // Of everybody, in the sample or not.
        sampled_sum(&self.data, &step, coins, |number, vector| {
            match left.get_mut(number) {
                Some(left) => pay(measure, &step, vector, left),
                None => vector.fill(0.0),
            }
        })
    }
}

/// The sum over a sample of what is left of the vectors, where every vector is clipped.
pub(super) fn sampled_sum<T>(
    data: &[T],
    step: &Step<T>,
    coins: &mut Coins<'_>,
    mut clipped: impl FnMut(usize, &mut [f64]),
) -> Result<Vec<f64>, Fault> {
    let whole = Vector::new("contribution", |row: &Vec<f64>, out: &mut [f64]| {
        out.copy_from_slice(row);
    });
    let sum = Lattice::of_length(step.length)
        .and_then(|lattice| VectorSum::of(whole, step.dimension, lattice).gaussian(step.mu));
    let sum = sum.map_err(|_| Fault::InvalidQuery("no lattice has such a length"))?;
    let odds = odds(step.rate).ok_or(Fault::InvalidQuery("a rate of at most 19 digits"))?;
    let mut sample = Vec::new();
    for (number, row) in data.iter().enumerate() {
        let mut vector = vec![0.0; step.dimension];
        (step.vector)(row, &mut vector);
        clipped(number, &mut vector);
        if coins.weighted(&odds)? == 1 {
            sample.push(vector);
        }
    }
    let Released(sum) = sum.start(&Arc::new(sample), coins)?;
    Ok(sum)
}

/// The weights of being left out and of being in the sample.
fn odds(rate: Delta) -> Option<[u64; 2]> {
    let odds = Ratio::from(rate);
    let joins = u64::try_from(odds.numerator()).ok()?;
    let all = u64::try_from(odds.denominator().get()).ok()?;
    Some([all - joins, joins])
}

/// Takes what the vector costs, T's `getApprox`; if it is more than what is left, clips the vector
/// first to the length that can still be paid for, T's `invBudg`.
fn pay<T>(measure: &AsymptoticGdp, step: &Step<T>, vector: &mut [f64], left: &mut Epsilon) {
    let Ok(sigma) = Scale::at_most(1.0 / step.mu.to_f64_up()) else {
        return vector.fill(0.0);
    };
    let (regime, rate) = (measure.regime(), step.rate);
    let norm = length(vector);
    if !norm.is_finite() {
        return vector.fill(0.0);
    }
    if norm > step.length {
        clip(vector, step.length / norm);
    }
    let price = |vector: &[f64]| match length(vector) / step.length {
        0.0 => Some(Epsilon::ZERO),
        share => {
            let share = Scale::at_least(share).ok()?;
            cost(regime, rate, sigma, share).ok().map(|cost| cost.0)
        }
    };
    let is_paid = |price: Option<Epsilon>, left: &mut Epsilon| {
        let price = price.filter(|price| *price <= *left);
        *left = left.saturating_sub(price.unwrap_or_default());
        price.is_some()
    };
    if is_paid(price(vector), left) {
        return;
    }
    let share = norm_for_budget(regime, rate, sigma, MeanLoss(*left));
    // A little less, so that rounding does not make it too much.
    let longest = share.map_or(0.0, |share| {
        share.to_f64_down() * (1.0 - 1e-9) * step.length
    });
    let norm = length(vector);
    clip(vector, longest / norm);
    if !is_paid(price(vector), left) {
        vector.fill(0.0);
    }
}

pub(super) fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(super) fn clip(vector: &mut [f64], factor: f64) {
    vector.iter_mut().for_each(|x| *x *= factor.min(1.0));
}

impl<T> fmt::Debug for IndividualSampledSumsMachine<T> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndividualSampledSumsMachine")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tran::asymptotic::{self, Regime};
    use queryables::machine::{CoinSource, CoinsError, Law};
    use queryables::privacy::fdp::Profile;

    /// No noise, and whoever has such a number is in the sample.
    pub(in super::super) struct Sample(pub(in super::super) Vec<bool>);

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

    pub(in super::super) fn query(rate: &str, mu: &str) -> Step<f64> {
        Step {
            vector: Arc::new(|row: &f64, out: &mut [f64]| out[0] = *row),
            dimension: 1,
            length: 100.0,
            rate: rate.parse().unwrap(),
            mu: mu.parse().unwrap(),
        }
    }

    fn machine(
        measure: AsymptoticGdp,
        budget: MeanLoss,
        rows: &[f64],
    ) -> IndividualSampledSumsMachine<f64> {
        let sums = IndividualSampledSums::new(measure, budget);
        let mut coins = Sample(vec![true]);
        sums.start(&Arc::new(rows.to_vec()), &mut coins.coins())
            .unwrap()
    }

    pub(in super::super) fn measure(regime: Regime, rate: &str) -> AsymptoticGdp {
        AsymptoticGdp::new(regime, rate.parse().unwrap(), "2".parse().unwrap()).unwrap()
    }

    /// Two and a half steps of the longest vector; shorter ones by their squares, or their growth.
    #[test]
    fn records_pay_for_the_length_of_what_is_summed_until_nothing_is_left() {
        for (regime, rate) in [(Regime::Small, "0.1"), (Regime::Large, "0.9")] {
            let measure = measure(regime, rate);
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
            let mut answers = vec![];
            for _ in 0..8 {
                let query = query(rate, "0.5");
                answers.push(machine.step(query, &mut coins.coins()).unwrap()[0]);
            }
            // The first is clipped to 100, and then to what is left: a length whose price is half
            // that of the longest. That is √½, or a little more where it grows faster.
            let last = match regime {
                Regime::Small => 72.88,
                Regime::Large => 70.71,
            };
            let expected = [106.0, 106.0, 6.0 + last, 6.0, 6.0, 6.0, 6.0, 6.0];
            for (answer, expected) in answers.iter().zip(expected) {
                assert!((answer - expected).abs() < 0.01, "{regime:?} {answers:?}");
            }
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

    /// One step at rate 0.01 and σ = 1, which is all that X can pay for: √(2B_X) is 0.0131. Both δ are at
    /// ε = 0.5.
    #[test]
    fn a_budget_of_one_step_is_not_about_gaussian() {
        let one: Scale = "1".parse().unwrap();
        let (rate, epsilon) = ("0.01".parse().unwrap(), "0.5".parse().unwrap());
        let budget = cost(Regime::Small, rate, one, one).unwrap();
        let mu = (2.0 * budget.0.to_f64_up()).sqrt();
        assert!((mu - 0.01 * 1_f64.exp_m1().sqrt()).abs() < 1e-9, "{mu}");
        let claimed = Profile::gaussian(Mu::at_least(mu).unwrap()).worst_delta(epsilon);
        let lost = Profile::sampled_gaussian(rate, one).worst_delta(epsilon);
        assert!(claimed.upper < "1e-30".parse().unwrap(), "{claimed}");
        assert!(lost.lower > "1e-7".parse().unwrap(), "{lost}");
    }

    /// A record that has half of the budget is out after half as many steps, and nobody else is.
    #[test]
    fn records_may_have_budgets_of_their_own() {
        let measure = measure(Regime::Large, "0.9");
        let (sigma, one) = ("2".parse().unwrap(), "1".parse().unwrap());
        let step = asymptotic::cost(Regime::Large, "0.9".parse().unwrap(), sigma, one).unwrap();
        let times = move |count| MeanLoss(step.0.checked_mul(count).unwrap());
        // By the sign of the record, which is public in this test; more than the cap is the cap.
        let own = move |row: &f64| times(if *row < 0.0 { 2 } else { 100 });
        let sums = IndividualSampledSums::with_budgets(measure, times(4), own);
        assert_eq!(sums.loss(&measure), Ok(times(4)));
        let mut coins = Sample(vec![true]);
        let rows = Arc::new(vec![100.0, -100.0]);
        let mut machine = sums.start(&rows, &mut coins.coins()).unwrap();
        let mut answers = vec![];
        for _ in 0..6 {
            answers.push(
                machine
                    .step(query("0.9", "0.5"), &mut coins.coins())
                    .unwrap()[0],
            );
        }
        assert_eq!(answers, [0.0, 0.0, 100.0, 100.0, 0.0, 0.0]);
    }

    #[test]
    fn no_records_is_not_an_error() {
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
        let sums = IndividualSampledSums::<()>::new(small, budget);
        assert_eq!(sums.loss(&small), Ok(budget));
        let other = UnknownLoss("the sums are for another regime, or other bounds");
        assert_eq!(sums.loss(&measure(Regime::Small, "0.05")), Err(other));
        assert_eq!(sums.loss(&measure(Regime::Large, "0.9")), Err(other));
    }
}
