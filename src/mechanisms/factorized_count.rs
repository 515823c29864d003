//! A running count of rows over time, by the factorization of the matrix of running counts.

use std::sync::Arc;

use super::added_noise::variance_for;
use super::factorization::{Factorization, product};
use super::least_loss::least_loss;
use super::noised::Starts;
use super::statistic::{clamped, fitted};
use super::{
    AddedNoise, Change, CountsBy, GaussianLoss, GaussianNoise, MechanismError, Noised, Query,
    RowRelation, Source,
};
use crate::data::Attribute;
use crate::machine::{Coins, Description, DomainMismatch, Fault, Machine, Public, public};
use crate::noise::{Noise, RoundedGaussian};
use crate::number::{Confidence, Ratio};
use crate::privacy::AddRemove;
use crate::privacy::facts::Gaussian;

/// The number of rows that arrived before a time, for any number of times, with the noise of the
/// square-root factorization (Fichtenberger, Henzinger, Upadhyay 2023; Henzinger, Upadhyay, Upadhyay
/// 2023).
///
/// Use it to follow a growing count where losses are accounted in zCDP, RDP or GDP. It is asked as
/// [`ContinualCount`](super::ContinualCount) is, has the same loss, and a much
/// smaller error. Divided by the variance 1/(2ρ) of a single [`Count`](super::Count),
/// the squared error over all times up to T is, for rows that are added or removed:
///
/// | T | | tree | factorization | ratio |
/// |---|---|---|---|---|
/// | 2¹⁰ | mean | 55.0 | 9.7 | 5.7 |
/// | | largest | 110 | 10.7 | 10.3 |
/// | 2¹⁶ | mean | 136.0 | 19.7 | 6.9 |
/// | | largest | 272 | 21.1 | 12.9 |
///
/// What it takes: making one takes T²/2 multiplications, which is about 10 ms for 2¹⁰ times and several
/// seconds for the largest horizon, 2¹⁶, in an optimised program, and twice as many where rows are
/// replaced; a clone takes none. An answer about time t takes t of them.
///
/// Times run from 0 to the horizon, and a row arrives at the one that an attribute gives. A query is
/// a time t, and the answer counts the rows that arrived before t. Times can be asked for in any
/// order, and the same time gets the same answer.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Accuracy, ContinualCount, FactorizedContinualCount};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let visits: Arc<Vec<u64>> = Arc::new((0..500).collect());
/// let filter = start(&Filter::concurrent(ZCdp, rho!(0.5)), visits)?;
///
/// let minute = Attribute::new("minute", |minute: &u64| Some(*minute));
/// let tree = ContinualCount::of(minute.clone(), 500).gaussian(rho!(0.5))?;
/// let visitors = FactorizedContinualCount::new(AddRemove, minute, 500, rho!(0.5))?;
/// let [tree, ours] = [tree.accuracy(confidence!(0.95)), visitors.accuracy(confidence!(0.95))];
/// assert_eq!((tree, ours), (20, 6));
///
/// let visitors = filter.launch(&visitors)?;
/// assert!(visitors.ask(250)?.abs_diff(250) < 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing, for neighbours under `R`, against
/// every choice of times. In full: x(j) is the number of rows that arrive at time j, and
/// u(t) = Σ_j r(t − j)·x(j) with whole numbers r(k), the nearest to 2²⁴·f(k), where f(0) = 1 and
/// f(k) = f(k − 1)·(2k − 1)/(2k). One row that is added or removed changes u by a column of this
/// matrix, whose square norm is at most that of the first, Δ² = Σ_k r(k)²; one that is replaced, by
/// the difference of two, and Δ² is the largest of these. So u + z, with z rounded Gaussian noise of
/// variance σ² ([`RoundedGaussian`]), has μ = Δ/σ, and ρ = μ²/2. At a distance of d, d·μ and d²·ρ.
///
/// Every answer is a function of u + z. It is Σ_j d(t − 1 − j)·(u + z)(j)/2⁷⁰, rounded to the nearest
/// integer, with whole numbers d(k), near to 2⁴⁶·f(k), for which Σ_j d(k − j)·r(j) = 2⁷⁰ + e(k)
/// exactly, with known e(k) of at most 2²³. This sum is the count times 2⁷⁰, plus Σ e·x, plus Σ d·z,
/// and in this form it is computed: in integers, and so exactly. The terms e move a count of n rows by
/// less than n·2⁻⁴⁷.
///
/// Its draws are from millions of numbers, too many for `verify` to follow; the loss is audited instead
/// (`tests/audit/continual.rs`).
///
/// The data does not change while it runs; for streams that react to answers see Denisov et al. 2022.
/// A sum of noise that an `i128` cannot hold ends the answer with a fault. Its probability is below
/// e^-100000000 and is not part of the bound.
///
/// # Accuracy
///
/// That of the last time, which has the most noise. It is an upper bound, for up to 2³⁰ rows: the
/// variance is taken up to 1 part in 2000 too large, which covers that the parts of the noise are
/// rounded.
#[doc(alias = "DP-FTRL")]
#[doc(alias = "matrix mechanism")]
pub type FactorizedContinualCount<D, R = AddRemove> =
    Noised<Factorized<Attribute<D, Option<u64>>>, GaussianNoise, R>;

/// What a [`FactorizedContinualCount`] asks.
///
/// Example: [`FactorizedContinualCount`].
#[derive(Clone, Debug)]
pub struct Factorized<A> {
    time: A,
    horizon: u64,
    matrix: Arc<Factorization>,
    /// The noise of the last answer.
    total: RoundedGaussian,
}

/// Δ²: how far one row moves what is encoded.
fn square<R: RowRelation>(matrix: &Factorization) -> u128 {
    if R::REPLACES {
        matrix.two_columns()
    } else {
        matrix.column()
    }
}

/// Standard deviations, in steps of the encoder, are at most 2 to this power: then the sum of 2¹⁶
/// noises, each times up to 2⁴⁶, reaches the end of an `i128` only where one is 2¹⁴ deviations away.
const DEVIATION_BITS: u32 = 51;

impl<A: Source, R: RowRelation> Noised<Factorized<A>, GaussianNoise, R> {
    /// Counts rows by the time that `time` gives, below `horizon`, for a ρ or a μ. Rows without a time,
    /// or with a later one, are not counted.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if the horizon is zero or more than 2^16, [`MechanismError::NoLoss`] if ρ is zero, [`MechanismError::TooSmall`] if it is
    /// below about 1e-15, and [`MechanismError::TooFine`] or [`MechanismError::Noise`] if the variance
    /// needs longer numbers than the noise works with.
    pub fn new(
        _relation: R,
        time: A,
        horizon: u64,
        loss: impl GaussianLoss,
    ) -> Result<Self, MechanismError> {
        Self::with(time, horizon, Factorization::new(horizon)?, loss.gaussian())
    }

    /// The same with the smallest ρ for which the answer about a time is at most `within` away from
    /// the count, with at least this confidence ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        _relation: R,
        time: A,
        horizon: u64,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        let matrix = Factorization::new(horizon)?;
        let make = |rho| {
            let matrix = Arc::clone(&matrix);
            Self::with(time.clone(), horizon, matrix, Gaussian::Rho(rho))
        };
        least_loss(make, |made: &Self| {
            made.noise().is_within(within, confidence)
        })
    }

    fn with(
        time: A,
        horizon: u64,
        matrix: Arc<Factorization>,
        loss: Gaussian,
    ) -> Result<Self, MechanismError> {
        let noise = GaussianNoise::for_square(loss, square::<R>(&matrix))?;
        let variance = noise.law().variance();
        let total = variance_for(loss, total::<R>(&matrix)?)?;
        if variance.numerator() / variance.denominator() >= 1 << (2 * DEVIATION_BITS) {
            return Err(MechanismError::TooSmall);
        }
        let query = Factorized {
            time,
            horizon,
            matrix,
            total: RoundedGaussian::new(total)?,
        };
        Ok(Self::with_noise(query, noise))
    }
}

/// An upper bound on the variance of the last answer before it is rounded, times μ²: the squares of a
/// row of the decoder and of what a row of data changes, in steps of 2^-16.
fn total<R: RowRelation>(matrix: &Factorization) -> Result<Ratio, MechanismError> {
    const KEPT: u32 = 16;
    // Each rounded up: the two together have up to 140 bits.
    let up = |square: u128, bits: u32| (square >> bits) + 1;
    let (row, change) = (matrix.row(), square::<R>(matrix));
    // The product is in steps of 2^-2(q + s), of which these take away all but KEPT.
    let (from_row, from_change) = (matrix.shift.saturating_sub(KEPT + 8), KEPT + 4);
    let product = up(row, from_row).checked_mul(up(change, from_change));
    let product = product.ok_or(MechanismError::TooFine)?;
    let steps = up(
        product,
        (2 * matrix.shift).saturating_sub(KEPT + from_row + from_change),
    );
    // Σ d·z is N(0, v), plus what rounding adds to each z, plus what the rests add. In answers that is
    // less than 2^-15 in all: so an answer is beyond k only if N(0, v) is beyond k + 1/2 − 2^-15, which
    // is more than (k + 1/2)(1 − 2^-14).
    let wider = steps + up(steps, 12);
    Ratio::new(wider, 1 << KEPT).ok_or(MechanismError::TooFine)
}

impl<A: Source, R: RowRelation> Query<R> for Factorized<A> {
    type Answer = i64;
    type Form = Encoded;
    type Value = i64;

    /// What one row moves is what `FactorizedContinualCount::new` made its noise for, together with
    /// the noise of the last answer. So it takes no other noise, of whatever kind: this is always an error.
    fn change(&self) -> Result<Change, MechanismError> {
        let must = "given to `FactorizedContinualCount::new`";
        Err(MechanismError::parameter(
            "the noise of a factorized count",
            "later",
            must,
        ))
    }

    fn answer(&self, totals: &[i128]) -> i64 {
        fitted(totals)
    }

    fn scale(&self) {}

    /// That of the last answer, which has the most.
    fn noise(&self, _: Noise) -> Noise {
        self.total.into()
    }

    fn describe(&self) -> Description {
        let description = Description::new("FactorizedContinualCount");
        let described = self.time.describe("time", description);
        described.with("horizon", self.horizon)
    }
}

/// The form of a count over time whose noise is on the encoded counts.
///
/// Example: [`FactorizedContinualCount`].
#[derive(Clone, Copy, Debug)]
pub struct Encoded;

impl<D, A, R> Starts<D, Factorized<A>, GaussianNoise, R> for Encoded
where
    D: ?Sized,
    A: CountsBy<D, u64>,
{
    type Machine = FactorizedCountMachine;

    fn start(
        Noised { query, noise, .. }: &Noised<Factorized<A>, GaussianNoise, R>,
        data: &Arc<D>,
        _: &mut Coins<'_>,
    ) -> Result<FactorizedCountMachine, Fault> {
        query.time.check(public(&**data))?;
        let mut arrived = vec![0; query.matrix.decoder.len()];
        for (time, count) in query.time.counts(data)? {
            let time = usize::try_from(time).unwrap_or(usize::MAX);
            if let Some(place) = arrived.get_mut(time) {
                *place = i64::try_from(count)
                    .unwrap_or(i64::MAX)
                    .saturating_add(*place);
            }
        }
        Ok(FactorizedCountMachine {
            arrived,
            matrix: Arc::clone(&query.matrix),
            noise: *noise.law(),
            drawn: vec![],
        })
    }

    fn check(query: &Factorized<A>, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        query.time.check(data)
    }
}

/// A running [`FactorizedContinualCount`]: it is asked times up to its horizon.
///
/// It remembers one noise for each time up to the latest that it was asked for.
pub struct FactorizedCountMachine {
    /// The number of rows that arrived at each time.
    arrived: Vec<i64>,
    matrix: Arc<Factorization>,
    noise: RoundedGaussian,
    drawn: Vec<i128>,
}

impl Machine for FactorizedCountMachine {
    type Query = u64;
    type Answer = i64;

    fn step(&mut self, time: u64, coins: &mut Coins<'_>) -> Result<i64, Fault> {
        let beyond = Fault::InvalidQuery("the time is beyond the horizon");
        let time = usize::try_from(time).map_err(|_| beyond)?;
        let before = self.arrived.get(..time).ok_or(beyond)?;
        while self.drawn.len() < time {
            self.drawn.push(coins.draw(&self.noise)?);
        }
        let Factorization {
            decoder,
            rest,
            shift,
            ..
        } = &*self.matrix;
        // Of the noise alone, so that whether it can be held does not depend on the data.
        let latest_first = self.drawn.iter().take(time).rev();
        let noise = decoder
            .iter()
            .zip(latest_first)
            .try_fold(0_i128, |sum, (entry, drawn)| {
                i128::from(*entry).checked_mul(*drawn)?.checked_add(sum)
            });
        let noise = noise.ok_or(Fault::Failed)?;
        let rests = product(rest.iter(), before.iter().rev());
        let rounded = noise.saturating_add(rests).saturating_add(1 << (shift - 1)) >> shift;
        let count: i128 = before.iter().map(|count| i128::from(*count)).sum();
        Ok(clamped(count.saturating_add(rounded)))
    }
}

/// Shows neither the data nor the noise.
impl std::fmt::Debug for FactorizedCountMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FactorizedCountMachine")
            .field("horizon", &self.arrived.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "factorized_count_tests.rs"]
mod tests;
