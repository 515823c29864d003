//! The number of records that can still pay.

use std::ops::Range;

use crate::compose::Payers;
use crate::machine::Description;
use crate::mechanisms::query::Norm;
use crate::mechanisms::statistic::fitted;
use crate::mechanisms::{Change, Contributes, Contributions, MechanismError, Once, Query};
use crate::privacy::AddRemove;

/// The number of records that could pay for this query several times; each that is counted pays for
/// it once.
///
/// Use it to see how many records still take part, before asking something that costs about as much
/// as a few of these counts. It can be asked of an
/// [`IndividualFilter`](crate::compose::IndividualFilter) only.
///
/// # Guarantee
///
/// What a record has left is a function of the record and of what was asked, so that being able to
/// pay is a condition like any other (Feldman and Zrnic §6.1).
#[derive(Clone, Copy, Debug)]
pub struct ActiveRecords {
    times: u64,
}

impl ActiveRecords {
    /// Those that could pay this number of times.
    #[must_use]
    pub fn times(times: u64) -> Self {
        Self { times }
    }
}

impl Query<AddRemove> for ActiveRecords {
    type Answer = i64;
    type Form = Once;
    type Value = i64;

    fn change(&self) -> Result<Change, MechanismError> {
        Change::of(1)
    }

    fn answer(&self, totals: &[i128]) -> i64 {
        fitted(totals)
    }

    fn scale(&self) {}

    fn describe(&self) -> Description {
        Description::new("ActiveRecords").with("times", self.times)
    }
}

impl<D: ?Sized> Contributes<D> for ActiveRecords {
    /// Nothing: what a record adds depends on its account ([`take`](Contributes::take)).
    fn contributions(&self, _: &D, records: Range<usize>) -> Contributions {
        Contributions::new(records.len(), vec![0; records.len()], Vec::new())
    }

    fn take(
        &self,
        _: &D,
        records: Range<usize>,
        _: Norm,
        payers: &mut Payers<'_>,
        totals: &mut [i128],
    ) {
        let counted: u64 = records.map(|_| payers.charge_if_left(1, self.times)).sum();
        totals.fill(counted.into());
    }
}
