//! The number of rows of each kind.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::least_loss::with_accuracy;
use super::{About, CountingRelation, MechanismError, Partition, fitted, noisy, shown, states};
use crate::data::{Attribute, Bins, Dataset};
use crate::machine::{Coins, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::DiscreteLaplace;
use crate::number::{Confidence, Epsilon, Mu, Ratio, Rho};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{AddRemove, Relation};

/// The number of rows in each of several bins, each with discrete Laplace noise of its own.
///
/// Use it instead of several counts wherever these are about disjoint sets of rows: all bins
/// together cost what one count costs. Bins are numbers, or keys of any type ([`Partition`]).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::NoisyHistogram;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<usize>> = Arc::new(vec![17, 18, 43, 70, 112]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
///
/// let decade = Attribute::new("decade", |age: &usize| age / 10);
/// let decades = NoisyHistogram::new(AddRemove, decade, 10, "0.5".parse()?)?;
/// let counts: Vec<i64> = filter.release(&decades)?;
/// assert_eq!(counts.len(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, for neighbours under `R`: a row that is added or removed changes one
/// bin by one, and the noise has a scale of 1/ε; a row that is replaced changes two bins by one,
/// and it has a scale of 2/ε. It states [`Laplace`] noise on one or two answers that change by one.
/// A row whose bin is not below the number of bins, or cannot be read, is in none. Answers that an
/// `i64` cannot hold are clamped, which is postprocessing.
pub struct NoisyHistogram<D: ?Sized, R = AddRemove, C = Vec<i64>> {
    partition: Partition<D, C>,
    fact: Laplace,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

impl<D: ?Sized, R: CountingRelation> NoisyHistogram<D, R> {
    /// Counts the rows in the bins `0..bins`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there are no bins, [`MechanismError::TooMany`] if there are
    /// more than 2^22, [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(
        relation: R,
        bin: Attribute<D, usize>,
        bins: usize,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        Self::over(relation, Partition::numbered(bin, bins)?, epsilon)
    }
}

impl<D: ?Sized, R: CountingRelation, C> NoisyHistogram<D, R, C> {
    /// Counts the rows in the bins of a partition, by key for example.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn over(
        _relation: R,
        partition: Partition<D, C>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let noise = DiscreteLaplace::new(super::over(Ratio::from(R::APART), epsilon)?)?;
        Ok(Self {
            partition,
            fact: Laplace {
                answers: NonZeroU64::new(R::APART).unwrap_or(NonZeroU64::MIN),
                ..Laplace::of_count(epsilon)
            },
            noise,
            relation: PhantomData,
        })
    }

    /// The same with the smallest ε for which the answer for a bin is at most `within` away from its
    /// count, with at least this confidence for each bin ([`Accuracy`](super::Accuracy)). It is
    /// rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices.
    pub fn with_accuracy(
        relation: R,
        partition: Partition<D, C>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |epsilon| {
            Self::over(relation, partition.clone(), epsilon)
        })
    }
}

/// The number of rows in each of several bins, each with rounded Gaussian noise of its own.
///
/// Use it like [`NoisyHistogram`], where many answers are accounted together in zCDP, RDP or GDP,
/// or converted to (ε, δ) at the end.
///
/// ```
/// use queryables::mechanisms::{GaussianHistogram, Partition};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let wards: Arc<Vec<&str>> = Arc::new(["north", "south", "south"].repeat(1000));
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), wards)?;
///
/// let by_ward = Partition::by_key("ward", |ward: &&str| *ward, ["east", "north", "south"])?;
/// let counts = filter.release(&GaussianHistogram::over(AddRemove, by_ward, "0.1".parse()?)?)?;
/// assert!((counts["north"] - 1000).abs() < 50 && counts["east"].abs() < 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), for neighbours under `R`: a row that is
/// added or removed changes one bin by one, and Δ² = 1; a row that is replaced changes two bins by
/// one, and Δ² = 2. With a variance of σ² it states [`Gaussian`] noise of μ = Δ/σ, or ρ = μ²/2. At a
/// distance of d, d·μ and d²·ρ. A row whose bin cannot be read is in none. Answers that an `i64`
/// cannot hold are clamped, which is postprocessing.
pub struct GaussianHistogram<D: ?Sized, R = AddRemove, C = Vec<i64>> {
    partition: Partition<D, C>,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

impl<D: ?Sized, R: CountingRelation, C> GaussianHistogram<D, R, C> {
    /// The same with the smallest ρ for which the answer for a bin is at most `within` away from its
    /// count, with at least this confidence for each bin ([`Accuracy`](super::Accuracy)). It is
    /// rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices.
    pub fn with_accuracy(
        relation: R,
        partition: Partition<D, C>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |rho| {
            Self::over(relation, partition.clone(), rho)
        })
    }

    /// Counts the rows in the bins of a partition, with ρ-zCDP: a variance of Δ²/(2ρ).
    ///
    /// # Errors
    ///
    /// As for [`GaussianCount::new`](super::GaussianCount::new).
    pub fn over(
        _relation: R,
        partition: Partition<D, C>,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        Ok(Self {
            partition,
            gaussian: GaussianNoise::with_rho(R::APART.into(), rho)?
                .on_whole_numbers(R::APART.into()),
            relation: PhantomData,
        })
    }

    /// Counts the rows in the bins of a partition, with μ-GDP: a variance of Δ²/μ².
    ///
    /// # Errors
    ///
    /// As for [`GaussianCount::with_mu`](super::GaussianCount::with_mu).
    pub fn over_with_mu(
        _relation: R,
        partition: Partition<D, C>,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        Ok(Self {
            partition,
            gaussian: GaussianNoise::with_mu(R::APART.into(), mu)?
                .on_whole_numbers(R::APART.into()),
            relation: PhantomData,
        })
    }
}

/// The shared implementation of the two.
macro_rules! histogram {
    ($Histogram:ident: $Fact:ty, |$histogram:ident| $noise:expr, $fact:expr) => {
        impl<D: Dataset + ?Sized, R: Relation, C> Mechanism<D> for $Histogram<D, R, C>
        where
            C: Clone,
        {
            type Machine = Released<C>;

            fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<C>, Fault> {
                // Drawn before the data is read: whether the coins fail must not depend on the
                // data.
                let $histogram = self;
                let noise = (0..self.partition.bins())
                    .map(|_| coins.noise(&$noise))
                    .collect::<Result<Vec<_>, _>>()?;
                let mut bins = Bins::new(self.partition.bins());
                self.partition.bin().fold(data, &mut bins);
                let counts = bins.counts().iter().zip(noise);
                let noisy = counts.map(|(count, noise)| coins.release((*count).into(), noise));
                let counts = noisy.map(fitted);
                Ok(Released(self.partition.label(counts.collect())))
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized, R, C> ReleasesOnly for $Histogram<D, R, C> {}

        states!(
            $Fact: impl[D: ?Sized, R: CountingRelation, C,] $Histogram<D, R, C>, R,
            |$histogram| $fact
        );
        shown!(impl[D: ?Sized, R: Relation, C] $Histogram<D, R, C>);
        noisy!(impl[D: ?Sized, R, C] $Histogram<D, R, C>, i64, |$histogram| $noise.into(), About::all_rows());

        impl<D: ?Sized, R, C> Clone for $Histogram<D, R, C> {
            fn clone(&self) -> Self {
                Self {
                    partition: self.partition.clone(),
                    ..*self
                }
            }
        }
    };
}

histogram!(NoisyHistogram: Laplace, |bins| bins.noise, bins.fact);
histogram!(GaussianHistogram: Gaussian, |bins| bins.gaussian.noise, bins.gaussian.fact);

impl<D: ?Sized, R: Relation, C> NoisyHistogram<D, R, C> {
    fn description(&self) -> Description {
        described("NoisyHistogram", R::NAME, &self.partition).with("epsilon", self.fact.epsilon)
    }
}

impl<D: ?Sized, R: Relation, C> GaussianHistogram<D, R, C> {
    fn description(&self) -> Description {
        let description = described("GaussianHistogram", R::NAME, &self.partition);
        self.gaussian.describe(description)
    }
}

fn described<D: ?Sized, C>(
    name: &'static str,
    relation: &'static str,
    partition: &Partition<D, C>,
) -> Description {
    Description::new(name)
        .with("relation", relation)
        .with("bin", partition.bin().name())
        .with("bins", partition.listed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Gdp, Private, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, violation};

    fn histogram<R: CountingRelation>(
        relation: R,
        bins: usize,
        epsilon: &str,
    ) -> Result<NoisyHistogram<Vec<u8>, R>, MechanismError> {
        let bin = Attribute::new("itself", |row: &u8| match row {
            99 => panic!("an unlucky row"),
            row => usize::from(*row),
        });
        NoisyHistogram::new(relation, bin, bins, epsilon.parse().unwrap())
    }

    /// Whether some answer's odds surely differ by more than e^epsilon between the datasets.
    fn exceeds<R: CountingRelation>(relation: R, epsilon: &str, pair: [&[u8]; 2]) -> bool {
        let histogram = histogram(relation, 2, "2").unwrap();
        let [one, other] = pair.map(|rows| answers(&histogram, rows, &[()], 12));
        assert!(one.cut.to_f64_fast() < 1e-4);
        let epsilon = epsilon.parse().unwrap();
        violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        assert!(!exceeds(AddRemove, "2", [&[0, 1], &[1]]));
        assert!(exceeds(AddRemove, "1.99", [&[0, 1], &[1]]));
        assert!(!exceeds(Replace, "2", [&[0], &[1]]));
        assert!(exceeds(Replace, "1.99", [&[0], &[1]]));
        // The noise for added rows is too small for replaced ones.
        assert!(exceeds(AddRemove, "2", [&[0], &[1]]));
    }

    /// The Rényi divergence of order 2, between the datasets that are furthest apart.
    #[test]
    fn the_divergence_is_attained_and_not_exceeded() {
        fn check<R: CountingRelation>(relation: R, pair: [&[u8]; 2]) {
            let histogram = histogram(relation, 2, "2").unwrap();
            let [one, other] = pair.map(|rows| answers(&histogram, rows, &[()], 25));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            let divergence = squares.sum::<f64>().ln();
            let order = Rdp::new("2".parse().unwrap());
            let claim: f64 = histogram.loss(&order).unwrap().to_string().parse().unwrap();
            assert!((claim - divergence).abs() < 1e-3, "{divergence} {claim}");
        }
        check(AddRemove, [&[0, 1], &[1]]);
        check(Replace, [&[0], &[1]]);
    }

    #[test]
    fn a_row_without_a_bin_is_in_none() {
        for rows in [&[2][..], &[99], &[]] {
            let histogram = histogram(AddRemove, 2, "1000000").unwrap();
            let found = answers(&histogram, rows, &[()], 1);
            let (likely, _) = found.outcomes.iter().max_by_key(|(_, mass)| *mass).unwrap();
            assert_eq!(*likely, [Ok(vec![0, 0])]);
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert_eq!(
            histogram(AddRemove, 0, "1").unwrap_err(),
            MechanismError::NoChoice
        );
        assert_eq!(
            histogram(AddRemove, usize::MAX, "1").unwrap_err(),
            MechanismError::TooMany {
                what: "bins",
                asked: usize::MAX,
                most: 1 << 22
            }
        );
        assert_eq!(
            histogram(AddRemove, 3, "0").unwrap_err(),
            MechanismError::NoLoss("epsilon")
        );
    }

    fn by_parity() -> Partition<Vec<u8>, std::collections::BTreeMap<bool, i64>> {
        Partition::by_key("odd", |row: &u8| row % 2 == 1, [false, true]).unwrap()
    }

    #[test]
    fn gaussian_losses_are_for_one_bin_or_two() {
        fn losses<R: CountingRelation>(relation: R) -> [String; 3] {
            let by_rho = GaussianHistogram::over(relation, by_parity(), "0.5".parse().unwrap());
            let by_mu =
                GaussianHistogram::over_with_mu(relation, by_parity(), "1".parse().unwrap());
            let (by_rho, by_mu) = (by_rho.unwrap(), by_mu.unwrap());
            assert_eq!(by_rho.gaussian.noise, by_mu.gaussian.noise);
            [
                by_rho.loss(&ZCdp).unwrap().to_string(),
                by_mu.loss(&Gdp).unwrap().to_string(),
                by_mu.gaussian.noise.variance().to_string(),
            ]
        }
        assert_eq!(losses(AddRemove), ["0.5", "1", "1"]);
        assert_eq!(losses(Replace), ["0.5", "1", "2"]);
    }

    /// The Rényi divergence of order 2 is at most 2ρ = 1, and rounding takes little from it; for
    /// replaced rows the noise must be larger.
    #[test]
    fn the_loss_of_gaussian_noise_is_nearly_attained_and_not_exceeded() {
        fn divergence<R: CountingRelation>(relation: R, pair: [&[u8]; 2]) -> f64 {
            let histogram = GaussianHistogram::over(relation, by_parity(), "0.5".parse().unwrap());
            let [one, other] =
                pair.map(|rows| answers(histogram.as_ref().unwrap(), rows, &[()], 9));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            squares.sum::<f64>().ln()
        }
        for found in [
            divergence(AddRemove, [&[0, 1], &[1]]),
            divergence(Replace, [&[0, 0], &[0, 1]]),
        ] {
            assert!((0.9..=1.0).contains(&found), "{found}");
        }
        assert!(divergence(AddRemove, [&[0, 0], &[0, 1]]) > 1.5);
    }
}
