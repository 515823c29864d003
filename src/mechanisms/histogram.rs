//! The number of rows of each kind.

use std::marker::PhantomData;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use super::{CountingRelation, MechanismError, clamped, over, shown, states};
use crate::data::{Attribute, Bins, Dataset};
use crate::machine::{Coins, Description, Fault, Mechanism, Released};
use crate::noise::DiscreteLaplace;
use crate::number::Epsilon;
use crate::number::Ratio;
use crate::privacy::facts::Laplace;
use crate::privacy::{AddRemove, Relation};

/// The number of rows in each of several bins, each with discrete Laplace noise of its own.
///
/// Use it instead of several counts wherever these are about disjoint sets of rows: all bins
/// together cost what one count costs.
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
pub struct NoisyHistogram<D: ?Sized, R = AddRemove> {
    bin: Attribute<D, usize>,
    bins: NonZeroUsize,
    fact: Laplace,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

/// As many as a vector may have coordinates: all bins are held at once.
const MOST_BINS: usize = 1 << 27;

impl<D: ?Sized, R: CountingRelation> NoisyHistogram<D, R> {
    /// Counts the rows in the bins `0..bins`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there are no bins, [`MechanismError::TooManyBins`] if there are
    /// more than 2^27, [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(
        _relation: R,
        bin: Attribute<D, usize>,
        bins: usize,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let bins = NonZeroUsize::new(bins).ok_or(MechanismError::NoChoice)?;
        if bins.get() > MOST_BINS {
            return Err(MechanismError::TooManyBins);
        }
        let noise = DiscreteLaplace::new(over(Ratio::from(R::APART), epsilon)?)?;
        Ok(Self {
            bin,
            bins,
            fact: Laplace {
                answers: NonZeroU64::new(R::APART).unwrap_or(NonZeroU64::MIN),
                ..Laplace::of_count(epsilon)
            },
            noise,
            relation: PhantomData,
        })
    }
}

impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for NoisyHistogram<D, R> {
    type Machine = Released<Vec<i64>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = (0..self.bins.get())
            .map(|_| coins.draw(&self.noise))
            .collect::<Result<Vec<i128>, _>>()?;
        let mut bins = Bins::new(self.bins.get());
        self.bin.fold(data, &mut bins);
        let counts = bins.counts().iter().zip(noise);
        Ok(Released(
            counts
                .map(|(count, noise)| clamped((*count).into(), noise))
                .collect(),
        ))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R: Relation> NoisyHistogram<D, R> {
    fn description(&self) -> Description {
        Description::new("NoisyHistogram")
            .with("relation", R::NAME)
            .with("bin", self.bin.name())
            .with("bins", self.bins)
            .with("epsilon", self.fact.epsilon)
    }
}

states!(Laplace: impl[D: ?Sized, R: CountingRelation,] NoisyHistogram<D, R>, R, |bins| bins.fact);
shown!(impl[D: ?Sized, R: Relation] NoisyHistogram<D, R>);

impl<D: ?Sized, R> Clone for NoisyHistogram<D, R> {
    fn clone(&self) -> Self {
        Self {
            bin: self.bin.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Private, Rdp, Replace};
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
        for bins in [MOST_BINS + 1, 1 << 50, usize::MAX] {
            let error = histogram(AddRemove, bins, "1").unwrap_err();
            assert_eq!(error, MechanismError::TooManyBins);
        }
        assert!(histogram(AddRemove, MOST_BINS, "1").is_ok());
        assert_eq!(
            histogram(AddRemove, 3, "0").unwrap_err(),
            MechanismError::NoLoss("epsilon")
        );
    }
}
