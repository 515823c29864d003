//! A histogram of unknown keys that those pay for who have a key.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{ThresholdHistogram, ready};
use crate::account::ValidIndividually;
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::{Dataset, RowKey};
use crate::machine::{Coins, Description, Fault};
use crate::privacy::facts::{Laplace, Thresholded};
use crate::privacy::{AddRemove, Prices, UnknownLoss};

/// The keys of those who can pay for it: each of them pays (ε, δ), and a record without a key pays
/// nothing.
///
/// ```
/// use queryables::compose::{IndividualFilter, start_individual};
/// use queryables::mechanisms::ThresholdHistogram;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // Words and their languages. Everybody has a budget of (1, 1e-6).
/// let words: Arc<Vec<(&str, &str)>> = Arc::new([("fr", "chat"), ("de", "Hund")].repeat(100));
/// let filter = IndividualFilter::new(ApproxDp, EpsilonDelta::new("1", "1e-6")?);
/// let (for_the_analyst, for_the_curator) = start_individual(&filter, words)?;
///
/// // Two histograms, and everybody pays for one.
/// for language in ["fr", "de"] {
///     let word = move |(of, word): &(&str, &'static str)| (*of == language).then_some(*word);
///     let loss = EpsilonDelta::new("1", "1e-6")?;
///     let histogram = ThresholdHistogram::new(AddRemove, "word", word, loss)?;
///     let counts = for_the_analyst.release(&histogram)?;
///     assert_eq!(counts.len(), 1);
/// }
/// assert!(for_the_curator.loss(0)? <= Some(EpsilonDelta::new("1", "1e-6")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// One more record with a key changes one count by one, or adds a key that is released with
/// probability δ, whatever the others are ([`Thresholded`]). The key of a record that cannot pay is
/// not there: with a count of zero it would still be released at times.
impl<D, K, F> IndividualQuery<D, F> for ThresholdHistogram<D, K, AddRemove>
where
    D: Dataset + ?Sized,
    K: Ord + Clone + Send + Sync + 'static,
    F: ValidIndividually<Children: Prices<Thresholded<Laplace>>>,
{
    type Noise = ();
    type Total = BTreeMap<K, u64>;
    type Answer = BTreeMap<K, i64>;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        units.flat(&units.rule().children().price(&self.fact())?)
    }

    fn noise(&self, coins: &mut Coins<'_>) -> Result<(), Fault> {
        ready(coins)
    }

    fn nothing(&self) -> Self::Total {
        BTreeMap::new()
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> Self::Total {
        let (keys, _) = self.keys.values(data, records);
        let mut counts = BTreeMap::new();
        for RowKey(key) in keys {
            let paid = payers.charge(key.is_some().into());
            if let (1.., Some(key)) = (paid, key) {
                *counts.entry(key).or_insert(0) += 1;
            }
        }
        counts
    }

    fn merge(&self, total: &mut Self::Total, chunk: Self::Total) {
        for (key, count) in chunk {
            *total.entry(key).or_insert(0) += count;
        }
    }

    fn answer(
        &self,
        total: Self::Total,
        (): (),
        coins: &mut Coins<'_>,
    ) -> Result<Self::Answer, Fault> {
        self.those_above(total, coins)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}
