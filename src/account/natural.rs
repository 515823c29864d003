mod units;

use std::fmt::Debug;
use std::sync::Arc;

#[cfg(feature = "serde")]
use super::durable::{Durable, Invalid};
use super::{
    Accounting, Accumulator, AddsUpConcurrently, AddsUpSequentially, Capped, ContinuationRule,
    DefaultAccumulator, Exceeded, LaunchesLeft, Repeats, RootSumSquares, Sum, ValidConcurrently,
    ValidSequentially,
};
use crate::number::{Delta, Mu};
use crate::privacy::convert::gdp;
use crate::privacy::fdp::{FdpError, RepeatedMechanism, Repetitions};
use crate::privacy::{ApproxDp, EpsilonDelta, Gdp, Measure, Reentrant};

/// A measure whose losses are a Blackwell chain: any two trade-off functions are ordered, and so
/// are all products of them (Tran et al. 3.4, 3.5). It is sealed, because a filter on a family that
/// is not a chain is not private.
///
/// | chain | members | why |
/// |---|---|---|
/// | [`Gdp`] | Gaussians, by μ | G_μ ⊗ G_ν is the Gaussian of √(μ² + ν²) (Tran et al. 3.7) |
/// | [`RepeatedMechanism`] | powers of one function, by their number | fⁿ ⊗ fᵐ = fⁿ⁺ᵐ (Tran et al. Ex. D.3) |
///
/// Sampled Gaussians at one rate are ordered, but their products are not (Tran et al. 3.3,
/// `papers/src/tran/counterexample`): for those there is the
/// [`SampledGaussianFilter`](super::menu::SampledGaussianFilter).
#[diagnostic::on_unimplemented(
    message = "use `Gdp` or `RepeatedMechanism`: the losses of `{Self}` are not known to be a Blackwell chain",
    note = "where trade-off functions cross, composing them until a budget is reached is not private \
            (Tran et al. 3.8; the package `papers` has the numbers)",
    note = "for launches of several sizes take a `MenuFilter`, for Gaussians on samples a \
            `SampledGaussianFilter`"
)]
pub trait BlackwellChain: DefaultAccumulator + sealed::Chain {}

mod sealed {
    use super::{Debug, Delta, EpsilonDelta, FdpError, Measure};

    /// What the filter needs to know about a chain.
    pub trait Chain: Measure {
        /// What is computed in advance, so that a reading takes constant time.
        type Readings: Clone + Debug + PartialEq + Send + Sync + 'static;

        /// The largest member within the limit.
        fn most(&self, limit: EpsilonDelta) -> Result<Self::Loss, FdpError>;

        fn readings(
            &self,
            most: &Self::Loss,
            limit: EpsilonDelta,
        ) -> Result<Self::Readings, FdpError>;

        /// At least δ of a member at the limit's ε.
        fn read(readings: &Self::Readings, member: &Self::Loss, limit: EpsilonDelta) -> Delta;
    }
}

/// The natural f-DP filter: launches go on while the tensor product of their trade-off functions is
/// at least that of the budget (Tran et al. 3.1). For a [`BlackwellChain`], and no other family, it is
/// valid.
///
/// The budget is an (ε, δ), that is, the trade-off function f_{ε,δ}. The filter turns it into the
/// largest member of the chain once, and then counts in the chain, exactly.
///
/// - [`Gdp`]: the GDP filter (Tran et al. 2.11).
/// - [`RepeatedMechanism`]: the *unit filter*. Each launch costs a number of units, chosen along the way.
///   The total number of units is that of a composition fixed in advance, so deciding along the way
///   how often to launch costs nothing. [`Filter::concurrent`](crate::compose::Filter::concurrent)
///   with `RepeatedMechanism` and a number of units has the same rule, with its guarantee in units.
///
/// # Guarantee
///
/// The whole is (ε, δ)-DP, for interleaved interactive children with finite communication: Tran et
/// al. 3.6, with Haney et al. 3.3 for interactive children. *Directly, for powers*: fix two
/// neighbouring datasets, and draw N responses of the base pair in advance. A launch of n units is a
/// postprocessing of the next n of them; a launch that is not made leaves them unused. So the
/// analyst sees a postprocessing of the N-fold power, whose δ was certified when the filter was
/// built.
///
/// # Example
///
/// Steps of training at a fixed rate and noise, stopped when it looks good enough:
///
/// ```
/// use queryables::account::NaturalFilter;
/// use queryables::data::Vector;
/// use queryables::mechanisms::{Lattice, SampledGaussianSum};
/// use queryables::prelude::*;
/// use queryables::privacy::fdp::{RepeatedMechanism, Profile, Repetitions};
/// use std::sync::Arc;
///
/// let (rate, mu) = ("0.1".parse()?, "0.5".parse()?);
/// let steps = RepeatedMechanism::new(Profile::sampled_gaussian_by(rate, mu));
/// let rule = NaturalFilter::new(EpsilonDelta::new("1", "1e-5")?, steps)?;
/// assert_eq!(*rule.most(), Repetitions(16));
/// let filter = start(&Filter::concurrent_with(rule), Arc::new(vec![[0.6, 0.8]; 100]))?;
///
/// let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
/// let lattice = Lattice::of_length(1.0)?;
/// let step = SampledGaussianSum::new(AddRemove, step, 2, lattice, rate, mu)?;
/// let sum: Vec<f64> = filter.release(&step)?;
/// assert_eq!(filter.remaining(), Repetitions(15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub struct NaturalFilter<C: BlackwellChain> {
    limit: EpsilonDelta,
    rule: Capped<C::Accumulator>,
    readings: C::Readings,
}

impl<C: BlackwellChain> NaturalFilter<C> {
    /// The filter for this budget on this chain. For powers that are composed by Fourier transform
    /// it tries some thirty numbers of launches. That takes some hundredths of a second for twenty
    /// launches, two seconds for a hundred thousand, and ten for millions.
    ///
    /// The number of units is the largest that is certified. Where the bounds on δ decide all
    /// numbers, it is the largest that fits. Otherwise it is less by up to some
    /// thousandths of it.
    ///
    /// # Errors
    ///
    /// [`FdpError::Endless`] if there is no largest member, and those of composing the base.
    pub fn new(limit: EpsilonDelta, chain: C) -> Result<Self, FdpError> {
        let most = chain.most(limit)?;
        let readings = chain.readings(&most, limit)?;
        Ok(Self {
            limit,
            rule: chain.accumulator().capped(most),
            readings,
        })
    }

    /// The largest member of the chain that is within the budget: all launches together.
    pub fn most(&self) -> &C::Loss {
        self.rule.limit()
    }

    /// The composition of the launches so far, as a member of the chain.
    pub fn used(&self) -> C::Loss {
        self.rule.spent()
    }
}

impl<C: BlackwellChain> Accounting for NaturalFilter<C> {
    const REENTRANT: Reentrant = Reentrant(false);

    type Children = C;
    type Whole = ApproxDp;

    fn children(&self) -> &C {
        self.rule.children()
    }

    fn whole(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl<C: BlackwellChain> ContinuationRule for NaturalFilter<C> {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    /// The limit's ε, and a δ for what was launched; nothing before the first launch.
    fn spent(&self) -> EpsilonDelta {
        let used = self.used();
        if used == self.children().zero() {
            return EpsilonDelta::default();
        }
        EpsilonDelta {
            epsilon: self.limit.epsilon,
            delta: C::read(&self.readings, &used, self.limit).min(self.limit.delta),
        }
    }

    fn remaining(&self) -> C::Loss {
        self.rule.remaining()
    }

    fn charge(&self, loss: &C::Loss) -> Result<Self, Exceeded> {
        Ok(Self {
            rule: self.rule.charge(loss)?,
            readings: self.readings.clone(),
            limit: self.limit,
        })
    }

    fn admits(&self, loss: &C::Loss) -> LaunchesLeft {
        self.rule.admits(loss)
    }
}

impl<C: BlackwellChain> ValidSequentially for NaturalFilter<C> where
    C::Accumulator: ValidSequentially
{
}
impl<C: BlackwellChain> ValidConcurrently for NaturalFilter<C> where
    C::Accumulator: ValidConcurrently
{
}

impl Repeats for NaturalFilter<RepeatedMechanism> {
    fn charge_times(&self, loss: &Repetitions, times: u64) -> Result<Self, Exceeded> {
        self.charge(&Repetitions(loss.0.checked_mul(times).ok_or(Exceeded)?))
    }
}

impl BlackwellChain for Gdp {}

impl sealed::Chain for Gdp {
    type Readings = ();

    fn most(&self, limit: EpsilonDelta) -> Result<Mu, FdpError> {
        Ok(gdp::budget(limit.epsilon, limit.delta))
    }

    fn readings(&self, _: &Mu, _: EpsilonDelta) -> Result<(), FdpError> {
        Ok(())
    }

    fn read((): &(), member: &Mu, limit: EpsilonDelta) -> Delta {
        gdp::delta(*member, limit.epsilon)
    }
}

impl BlackwellChain for RepeatedMechanism {}

/// How many readings are computed in advance.
const READINGS: u64 = 16;

impl sealed::Chain for RepeatedMechanism {
    /// δ after parts of the units, in equal steps.
    type Readings = Arc<[(Repetitions, Delta)]>;

    fn most(&self, limit: EpsilonDelta) -> Result<Repetitions, FdpError> {
        units::most(self, limit)
    }

    fn readings(
        &self,
        most: &Repetitions,
        limit: EpsilonDelta,
    ) -> Result<Self::Readings, FdpError> {
        let part = |index: u64| {
            let units = (u128::from(most.0) * u128::from(index)).div_ceil(READINGS.into());
            let units = Repetitions(u64::try_from(units).unwrap_or(most.0));
            Ok((units, units::reading(self, units, limit)?.min(limit.delta)))
        };
        let mut readings = (0..=READINGS).map(part).collect::<Result<Vec<_>, _>>()?;
        // Bounds on different grids: a smaller number may have a larger one.
        let mut least = limit.delta;
        for (_, delta) in readings.iter_mut().rev() {
            least = least.min(*delta);
            *delta = least;
        }
        Ok(readings.into())
    }

    fn read(readings: &Self::Readings, member: &Repetitions, limit: EpsilonDelta) -> Delta {
        let place = readings.partition_point(|(units, _)| units < member);
        readings.get(place).map_or(limit.delta, |(_, delta)| *delta)
    }
}

impl AddsUpSequentially for RepeatedMechanism {}
impl AddsUpConcurrently for RepeatedMechanism {}

// The accumulators of both chains interleave.
const _: fn() = || {
    fn interleaves<G: ValidConcurrently>() {}
    interleaves::<RootSumSquares>();
    interleaves::<Sum<RepeatedMechanism>>();
};

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<C> {
    limit: EpsilonDelta,
    chain: C,
}

/// The largest member of the chain is computed again, as are the readings.
#[cfg(feature = "serde")]
impl<C> Durable for NaturalFilter<C>
where
    C: BlackwellChain + serde::Serialize + serde::de::DeserializeOwned,
    Capped<C::Accumulator>: Durable,
{
    const NAME: &'static str = "NaturalFilter";

    type Parameters = Parameters<C>;
    type Counts = <Capped<C::Accumulator> as Durable>::Counts;

    fn parameters(&self) -> Parameters<C> {
        Parameters {
            limit: self.limit,
            chain: self.children().clone(),
        }
    }

    fn build(Parameters { limit, chain }: Parameters<C>) -> Result<Self, Invalid> {
        Ok(Self::new(limit, chain)?)
    }

    fn counts(&self) -> Self::Counts {
        self.rule.counts()
    }

    fn resume(&self, counts: Self::Counts) -> Result<Self, Invalid> {
        Ok(Self {
            limit: self.limit,
            rule: self.rule.resume(counts)?,
            readings: self.readings.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::fixed_count::composed;
    use crate::account::{FixedCount, compare};
    use crate::privacy::fdp::{Grid, Profile};

    fn text<T: std::str::FromStr>(number: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        number.parse().unwrap()
    }

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    fn launches<F: ContinuationRule>(mut rule: F, loss: &super::super::ChildLoss<F>) -> u64 {
        let mut launches = 0;
        let mut before = rule.spent();
        while let Ok(next) = rule.charge(loss) {
            rule = next;
            launches += 1;
            assert!(before <= rule.spent() && rule.spent() <= *rule.limit());
            before = rule.spent();
        }
        launches
    }

    #[test]
    fn gaussians_are_the_gdp_filter() {
        let limit = pair("1", "1e-6");
        let rule = NaturalFilter::new(limit, Gdp).unwrap();
        assert_eq!(launches(rule.clone(), &text("0.01")), 560);
        let capped = Gdp
            .accumulator()
            .capped(gdp::budget(limit.epsilon, limit.delta));
        assert_eq!(launches_in_gdp(capped, &text("0.01")), 560);
        // As units of one Gaussian: the same.
        let units = RepeatedMechanism::new(Profile::gaussian(text("0.01")));
        let rule = NaturalFilter::new(limit, units).unwrap();
        assert_eq!(
            (*rule.most(), rule.used()),
            (Repetitions(560), Repetitions(0))
        );
        assert_eq!(launches(rule, &Repetitions(1)), 560);
    }

    fn launches_in_gdp(mut rule: Capped<RootSumSquares>, mu: &Mu) -> u64 {
        let mut launches = 0;
        while let Ok(next) = rule.charge(mu) {
            rule = next;
            launches += 1;
        }
        launches
    }

    #[test]
    fn units_of_a_response_are_the_optimal_composition() {
        let limit = pair("1", "1e-6");
        let units = RepeatedMechanism::new(Profile::randomized_response(text("0.01")));
        let mut rule = NaturalFilter::new(limit, units).unwrap();
        let each = EpsilonDelta::new("0.01", "0").unwrap();
        let optimal = FixedCount::most(limit, each).unwrap();
        assert_eq!(rule.most().0, optimal.count());
        assert_eq!(rule.most(), &Repetitions(562));
        // Where δ was computed in advance, at 15/16 and at all of the units, it is read as it is.
        for units in [527, 562] {
            let delta = composed(units, pair("0.01", "0"), limit.epsilon);
            let spent = rule.charge(&Repetitions(units)).unwrap().spent();
            assert_eq!(spent.delta, delta);
            assert!(delta > Delta::ZERO && delta < limit.delta);
        }
        rule = rule.charge(&Repetitions(500)).unwrap();
        assert_eq!(rule.charge(&Repetitions(63)), Err(Exceeded));
        assert_eq!(rule.remaining(), Repetitions(62));
        // With a leak: what the fixed count admits.
        let leaky = pair("0.1", "1e-8");
        let rule =
            NaturalFilter::new(limit, RepeatedMechanism::new(Profile::approx_dp(leaky))).unwrap();
        let fixed = FixedCount::most(limit, leaky).unwrap();
        assert_eq!(rule.most().0, fixed.count());
        assert!(compare(limit, leaky)[0].1 >= fixed.count());
    }

    /// Composed by Fourier transform: N fit and N + 1 do not, by bounds on another grid.
    #[test]
    fn units_of_sampled_gaussians_are_as_many_as_fit() {
        let limit = pair("1", "1e-5");
        let base = Profile::sampled_gaussian_by(text("0.1"), text("0.5"));
        let rule = NaturalFilter::new(limit, RepeatedMechanism::new(base.clone())).unwrap();
        let Repetitions(most) = *rule.most();
        let grid = Grid::new(text("1e-3")).unwrap().aimed_at(limit.delta);
        let at = |launches| {
            let composed = base.power(launches, &grid).unwrap();
            composed.worst_delta(limit.epsilon)
        };
        assert!(at(most).upper <= limit.delta, "{most}");
        assert!(at(most + 1).lower > limit.delta, "{most}");
        assert_eq!(launches(rule, &Repetitions(1)), most);
    }

    #[test]
    fn readings_bound_what_was_launched() {
        let limit = pair("1", "1e-6");
        let units = RepeatedMechanism::new(Profile::randomized_response(text("0.05")));
        let mut rule = NaturalFilter::new(limit, units).unwrap();
        assert_eq!(rule.spent(), pair("0", "0"));
        while let Ok(next) = rule.charge(&Repetitions(1)) {
            rule = next;
            let truth = composed(rule.used().0, pair("0.05", "0"), limit.epsilon);
            assert!(truth <= rule.spent().delta && rule.spent().delta <= limit.delta);
        }
    }

    #[test]
    fn bad_bases_and_budgets_are_errors_that_say_what_to_do() {
        let limit = pair("1", "1e-6");
        let build = |limit, base| {
            NaturalFilter::new(limit, RepeatedMechanism::new(base)).map(|rule| *rule.most())
        };
        assert_eq!(build(limit, Profile::perfect()), Err(FdpError::Endless));
        assert_eq!(
            FdpError::Endless.to_string(),
            "2^40 or more launches fit: take a base that loses more"
        );
        assert_eq!(
            build(limit, Profile::gaussian(text("9"))),
            Ok(Repetitions(0))
        );
        // A δ of 0 is enough for pure losses: their ε add up.
        let response = Profile::randomized_response(text("0.25"));
        assert_eq!(build(pair("1", "0"), response), Ok(Repetitions(4)));
    }
}
