//! A running count of rows over time.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::least_loss::with_accuracy;
use super::tree::{ContinualCountMachine, StreamingRelation, most_nodes};
use super::{About, MechanismError, noisy, over, shown, states};
use crate::data::{Attribute, Dataset};
use crate::machine::{Coins, Description, Fault, Law, Mechanism, ReleasesOnly};
use crate::noise::{DiscreteLaplace, Noise, RoundedGaussian};
use crate::number::{Confidence, Epsilon, Mu, Rho};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{AddRemove, Relation};

/// The number of rows that arrived before a time, for any number of times: the binary-tree counter
/// of Dwork, Naor, Pitassi and Rothblum 2010 and Chan, Shi and Song 2011, with discrete Laplace
/// noise.
///
/// Use it to follow a growing count. For T times, a fresh [`NoisyCount`](super::NoisyCount) each
/// time would need noise of scale T/ε; here each answer has at most log₂ T + 1 noises of scale
/// (log₂ T + 1)/ε. Answers are consistent: the same time gets the same answer. Where losses are
/// accounted in zCDP, [`GaussianContinualCount`] is more accurate.
///
/// Times run from 0 to the horizon, and a row arrives at the one that an attribute gives. A query
/// is a time t, and the answer counts the rows that arrived before t, so that t = 1 asks for those
/// at time 0. Times can be asked for in any order.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::ContinualCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // The hour at which each visitor came, over four weeks: one every hour.
/// let visits: Arc<Vec<u64>> = Arc::new((0..28 * 24).collect());
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), visits)?;
///
/// let hour = Attribute::new("hour", |hour: &u64| Some(*hour));
/// let visitors = ContinualCount::new(AddRemove, hour, 28 * 24, "0.5".parse()?)?;
/// let visitors = filter.launch(&visitors)?;
/// for day in 1..=28 {
///     let so_far = visitors.ask(24 * day)?;
///     assert!(so_far.abs_diff(24 * day as i64) < 5_000);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, for neighbours under `R`, against every choice of times. Times are the
/// leaves of a binary tree. The rows before t are those below the nodes that the binary digits of t
/// name, one for each digit 1, and each node has noise of its own, drawn once: all answers are
/// computed from the noisy counts of the nodes. How many nodes one row can change is their
/// sensitivity Δ, and the noise has a scale of Δ/ε:
///
/// - a row that is added or removed: Δ is the number of binary digits of the horizon. A row at time
///   0 is below as many nodes, and no row is below more, since only left children are ever named;
/// - a row that is replaced: the nodes that are above the old time or the new one, and not both.
///   With a horizon of 2^h + r, where r < 2^h, that is h + 1 and the number of digits of r, if any,
///   or 2h − 1 if that is more.
///
/// It states [`Laplace`] noise on Δ answers that change by one.
///
/// Noise is clamped to an `i128`; what lies beyond has a probability below e^-100000000 and is not
/// part of the bound.
pub struct ContinualCount<D: ?Sized, R = AddRemove> {
    times: Times<D>,
    fact: Laplace,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

/// [`ContinualCount`] with rounded Gaussian noise.
///
/// Use it where losses are accounted in zCDP, RDP or GDP, or converted to (ε, δ) at the end: the
/// noise of an answer has a standard deviation of about (log₂ T + 1)/√(2ρ).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::GaussianContinualCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let visits: Arc<Vec<u64>> = Arc::new((0..1000).collect());
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), visits)?;
///
/// let minute = Attribute::new("minute", |minute: &u64| Some(*minute));
/// let visitors = GaussianContinualCount::new(AddRemove, minute, 1000, "0.5".parse()?)?;
/// let visitors = filter.launch(&visitors)?;
/// assert!(visitors.ask(500)?.abs_diff(500) < 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), for neighbours under `R`, against every
/// choice of times: one row changes Δ nodes by one each, as for [`ContinualCount`], which is √Δ in
/// the Euclidean norm. With a variance of σ² it states [`Gaussian`] noise of μ = √Δ/σ, or ρ = μ²/2.
/// At a distance of d, d·μ and d²·ρ.
pub struct GaussianContinualCount<D: ?Sized, R = AddRemove> {
    times: Times<D>,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// When rows arrive.
struct Times<D: ?Sized> {
    attribute: Attribute<D, Option<u64>>,
    horizon: u64,
}

impl<D: ?Sized> Clone for Times<D> {
    fn clone(&self) -> Self {
        Self {
            attribute: self.attribute.clone(),
            horizon: self.horizon,
        }
    }
}

impl<D: ?Sized, R: StreamingRelation> ContinualCount<D, R> {
    /// Counts rows by the time that `time` gives, below `horizon`. Those without a time, or with a
    /// later one, are not counted.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoTime`] if the horizon is zero, [`MechanismError::NoLoss`] if ε is.
    pub fn new(
        _relation: R,
        time: Attribute<D, Option<u64>>,
        horizon: u64,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let (times, change) = Times::new::<R>(time, horizon)?;
        Ok(Self {
            times,
            fact: Laplace {
                answers: change,
                ..Laplace::of_count(epsilon)
            },
            noise: DiscreteLaplace::new(over(change.get().into(), epsilon)?)?,
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: StreamingRelation> GaussianContinualCount<D, R> {
    /// Counts rows by the time that `time` gives, below `horizon`, with ρ-zCDP: a variance of
    /// Δ/(2ρ). Rows without a time, or with a later one, are not counted.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoTime`] if the horizon is zero, [`MechanismError::NoLoss`] if ρ is,
    /// and [`MechanismError::TooFine`] or [`MechanismError::Noise`] if the variance needs longer
    /// numbers than the noise works with.
    pub fn new(
        _relation: R,
        time: Attribute<D, Option<u64>>,
        horizon: u64,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        let (times, change) = Times::new::<R>(time, horizon)?;
        Ok(Self {
            times,
            gaussian: GaussianNoise::with_rho(change.get().into(), rho)?,
            relation: PhantomData,
        })
    }

    /// The same with μ-GDP: a variance of Δ/μ².
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_mu(
        _relation: R,
        time: Attribute<D, Option<u64>>,
        horizon: u64,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        let (times, change) = Times::new::<R>(time, horizon)?;
        Ok(Self {
            times,
            gaussian: GaussianNoise::with_mu(change.get().into(), mu)?,
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: StreamingRelation> ContinualCount<D, R> {
    /// The same with the smallest ε for which the answer about a time, even one whose noise has the
    /// most parts, is at most `within` away from the count, with at least this confidence
    /// ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        time: Attribute<D, Option<u64>>,
        horizon: u64,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |epsilon| {
            Self::new(relation, time.clone(), horizon, epsilon)
        })
    }
}

impl<D: ?Sized, R: StreamingRelation> GaussianContinualCount<D, R> {
    /// The same with the smallest ρ for which the answer about a time, even one whose noise has the
    /// most parts, is at most `within` away from the count, with at least this confidence
    /// ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        time: Attribute<D, Option<u64>>,
        horizon: u64,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |rho| {
            Self::new(relation, time.clone(), horizon, rho)
        })
    }
}

impl<D: ?Sized> Times<D> {
    fn new<R: StreamingRelation>(
        attribute: Attribute<D, Option<u64>>,
        horizon: u64,
    ) -> Result<(Self, NonZeroU64), MechanismError> {
        // Without times there are no nodes.
        let change = NonZeroU64::new(R::largest_change(horizon)).filter(|_| horizon > 0);
        let change = change.ok_or(MechanismError::NoTime)?;
        Ok((Self { attribute, horizon }, change))
    }

    /// The noise of an answer about the time with the most nodes. Symmetric noise with one peak is
    /// farther from zero the more of it is added (Anderson's inequality), so no other time has more.
    fn noise(&self, node: impl Into<Noise>) -> Noise {
        let node = node.into();
        node.times(most_nodes(self.horizon)).unwrap_or(node)
    }

    fn describe<R: Relation>(&self, name: &'static str) -> Description {
        Description::new(name)
            .with("relation", R::NAME)
            .with("time", self.attribute.name())
            .with("horizon", self.horizon)
    }

    fn start<N: Law>(&self, data: &D, noise: N) -> ContinualCountMachine<N>
    where
        D: Dataset,
    {
        let mut times = Vec::new();
        self.attribute.fold(data, &mut times);
        // Times beyond the horizon are never asked for.
        ContinualCountMachine::new(times, self.horizon, noise)
    }
}

/// The shared implementation of the two.
macro_rules! continual_count {
    ($Count:ident, $Noise:ident, |$count:ident| $noise:expr) => {
        impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for $Count<D, R> {
            type Machine = ContinualCountMachine<$Noise>;

            fn start(&self, data: &Arc<D>, _: &mut Coins<'_>) -> Result<ContinualCountMachine<$Noise>, Fault> {
                let $count = self;
                Ok(self.times.start(data, $noise))
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized, R> ReleasesOnly for $Count<D, R> {}

        shown!(impl[D: ?Sized, R: Relation] $Count<D, R>);

        impl<D: ?Sized, R> Clone for $Count<D, R> {
            fn clone(&self) -> Self {
                Self {
                    times: self.times.clone(),
                    ..*self
                }
            }
        }
    };
}

continual_count!(ContinualCount, DiscreteLaplace, |count| count.noise);
continual_count!(GaussianContinualCount, RoundedGaussian, |count| count
    .gaussian
    .noise);

impl<D: ?Sized, R: Relation> ContinualCount<D, R> {
    fn description(&self) -> Description {
        let description = self.times.describe::<R>("ContinualCount");
        description.with("epsilon", self.fact.epsilon)
    }
}

impl<D: ?Sized, R: Relation> GaussianContinualCount<D, R> {
    fn description(&self) -> Description {
        let description = self.times.describe::<R>("GaussianContinualCount");
        self.gaussian.describe(description)
    }
}

noisy!(
    impl[D: ?Sized, R] ContinualCount<D, R>, i64,
    |count| count.times.noise(count.noise), About::all_rows()
);
noisy!(
    impl[D: ?Sized, R] GaussianContinualCount<D, R>, i64,
    |count| count.times.noise(count.gaussian.noise), About::all_rows()
);

states!(Laplace: impl[D: ?Sized, R: StreamingRelation,] ContinualCount<D, R>, R, |count| count.fact);
states!(
    Gaussian: impl[D: ?Sized, R: StreamingRelation,] GaussianContinualCount<D, R>, R,
    |count| count.gaussian.fact
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::{ClosedForm, Machine, NotPrivateSeededCoins};
    use crate::number::Ratio;
    use crate::privacy::{Private, PureDp, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, violation};

    /// A row of t arrives at time t; 99 has no time, and 98 cannot be read.
    fn time() -> Attribute<Vec<u8>, Option<u64>> {
        Attribute::new("time", |row: &u8| match row {
            98 => panic!("an unlucky row"),
            99 => None,
            row => Some(u64::from(*row)),
        })
    }

    fn laplace<R: StreamingRelation>(
        relation: R,
        horizon: u64,
        epsilon: &str,
    ) -> Result<ContinualCount<Vec<u8>, R>, MechanismError> {
        ContinualCount::new(relation, time(), horizon, epsilon.parse().unwrap())
    }

    /// Whether the loss is attained between these datasets, and surely not exceeded, if all nodes
    /// are asked for.
    fn attains<R: StreamingRelation>(relation: R, horizon: u64, pair: [&[u8]; 2]) -> bool {
        let change = R::largest_change(horizon);
        // Noise of scale 1.
        let count = laplace(relation, horizon, &change.to_string()).unwrap();
        let loss = count.loss(&PureDp).unwrap();
        let queries: Vec<_> = (1..=horizon).chain([1]).collect();
        let [one, other] = pair.map(|rows| answers(&count, rows, &queries, 7));
        assert!(one.cut.to_f64_fast() < 0.01 && other.cut.to_f64_fast() < 0.01);
        let exceeds = |epsilon| {
            violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
        };
        assert!(!exceeds(loss));
        exceeds(loss.saturating_sub("0.6".parse().unwrap()))
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        assert!(attains(AddRemove, 2, [&[0, 1], &[1]]));
        assert!(!attains(AddRemove, 2, [&[0, 1], &[0]]));
        assert!(attains(AddRemove, 3, [&[0], &[]]));
        assert!(attains(Replace, 2, [&[0], &[99]]));
        assert!(!attains(Replace, 2, [&[0], &[1]]));
        assert!(attains(Replace, 3, [&[0], &[2]]));
        assert!(!attains(Replace, 3, [&[0], &[98]]));
    }

    /// The Rényi divergence of order 2: that of two counts with ε/2 each, which is 3.7511. One with
    /// ε would have 3.9819.
    #[test]
    fn the_divergence_of_laplace_noise_is_attained_and_not_exceeded() {
        let count = laplace(AddRemove, 2, "4").unwrap();
        let [one, other] = [&[0][..], &[]].map(|rows| answers(&count, rows, &[1, 2], 20));
        let squares = one.outcomes.iter().filter_map(|(answer, p)| {
            let q = other.outcomes.get(answer)?;
            Some((p * p / q).to_f64_fast())
        });
        let divergence = squares.sum::<f64>().ln();
        let order = Rdp::new("2".parse().unwrap());
        let claim: f64 = count.loss(&order).unwrap().to_string().parse().unwrap();
        // What was cut is missing from the sum.
        assert!(
            (divergence..divergence + 1e-3).contains(&claim),
            "{divergence} {claim}"
        );
    }

    /// The Rényi divergence of order 2 is at most 2ρ, and rounding takes less than one part in 12σ²
    /// from it; here σ² = 2.
    #[test]
    fn the_loss_of_gaussian_noise_is_nearly_attained_and_not_exceeded() {
        let rho = "0.5".parse().unwrap();
        let count = GaussianContinualCount::new(AddRemove, time(), 2, rho).unwrap();
        assert_eq!(count.loss(&ZCdp), Ok(rho));
        let answers = |rows: &[u8]| answers(&count, rows, &[1, 2], 9);
        let (one, other) = (answers(&[0]), answers(&[]));
        let sum: f64 = one
            .outcomes
            .iter()
            .filter_map(|(answer, mass)| {
                let (p, q) = (mass, other.outcomes.get(answer)?);
                Some((p * p / q).to_f64_fast())
            })
            .sum();
        assert!((1.0 - 1.0 / 24.0..1.0).contains(&sum.ln()), "{sum}");
    }

    #[test]
    fn counts_are_of_what_came_before_and_do_not_change() {
        // With an ε of a million the noise is negligible.
        let count = laplace(AddRemove, 100, "1000000").unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![3, 0, 3, 98, 99, 7, 100]);
        let mut machine = count.start(&data, &mut coins.coins()).unwrap();
        let mut ask = |time| machine.step(time, &mut coins.coins());
        for (time, expected) in [(0, 0), (1, 1), (3, 1), (4, 3), (7, 3), (8, 4), (100, 4)] {
            assert_eq!(ask(time), Ok(expected), "{time}");
        }
        assert_eq!(
            ask(101),
            Err(Fault::InvalidQuery("the time is beyond the horizon"))
        );
        assert_eq!(
            format!("{machine:?}"),
            "ContinualCountMachine { horizon: 100, .. }"
        );
    }

    #[test]
    fn noise_follows_from_the_loss_and_the_horizon() {
        let scale = |numerator, denominator| Ratio::new(numerator, denominator).unwrap();
        let closed_form = |horizon| {
            laplace(Replace, horizon, "0.5")
                .unwrap()
                .noise
                .closed_form()
        };
        let laplace = |scale| ClosedForm::DiscreteLaplace { scale };
        assert_eq!(closed_form(1), laplace(scale(2, 1)));
        assert_eq!(closed_form(5), laplace(scale(8, 1)));
        let rho = "0.15".parse().unwrap();
        let gaussian = GaussianContinualCount::new(AddRemove, time(), 7, rho).unwrap();
        let variance = scale(10, 1);
        assert_eq!(
            gaussian.gaussian.noise.closed_form(),
            ClosedForm::RoundedGaussian { variance }
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |horizon, text| laplace(AddRemove, horizon, text).map(|_| ());
        assert_eq!(error(0, "1"), Err(MechanismError::NoTime));
        assert_eq!(error(1, "0"), Err(MechanismError::NoLoss("epsilon")));
        assert_eq!(error(u64::MAX, "1e-27"), Ok(()));
        let gaussian = |horizon, rho: &str| {
            let rho = rho.parse().unwrap();
            GaussianContinualCount::new(Replace, time(), horizon, rho).map(|_| ())
        };
        assert_eq!(gaussian(0, "1"), Err(MechanismError::NoTime));
        assert_eq!(gaussian(1, "0"), Err(MechanismError::NoLoss("rho")));
        assert_eq!(gaussian(u64::MAX, "1e-27"), Ok(()));
    }
}
