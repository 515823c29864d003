//! Neither memory nor the work for a reading grows with the number of launches.

mod common;

use std::num::NonZeroU64;
use std::sync::Arc;

use allocation_counter::measure;
use common::{Answer, Count, at, epsilon};
use queryables::data::{Attribute, Vector};
use queryables::machine::{CoinSource, CoinsError, Law, Mechanism};
use queryables::mechanisms::query::Unavailable;
use queryables::mechanisms::{
    Choice, Evaluate, Histogram, Lattice, MOST_MEMORY, MechanismError, NoisyMax, NoisyQuantiles,
    Partition, Score, Sensitivity, VectorSum,
};
use queryables::prelude::*;
use queryables::privacy::{AddRemove, Restated};

#[test]
fn a_release_keeps_no_memory_and_a_reading_takes_none() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1000")), Arc::new(())).unwrap();
    let odometer = start(&Odometer::concurrent(ApproxDp), Arc::new(())).unwrap();
    let mechanism = at(epsilon("0.01"), Answer::default());
    let restated = Restated::new(PureDp, mechanism.clone());
    let mut reads = vec![];
    for launches in [10, 10_000] {
        let kept = measure(|| {
            for _ in 0..launches {
                filter.release(&mechanism).unwrap();
                odometer.release(&restated).unwrap();
            }
        });
        assert_eq!(kept.bytes_current, 0, "after {launches} launches");
        reads.push(measure(|| {
            assert!(filter.privacy_loss() > Epsilon::ZERO);
            assert!(odometer.privacy_loss().epsilon > Epsilon::ZERO);
        }));
    }
    assert!(reads.iter().all(|read| read.count_total == 0), "{reads:?}");
}

#[test]
fn children_that_are_let_go_leave_nothing_behind() {
    let outer = start(&Filter::sequential(PureDp, epsilon("1000")), Arc::new(())).unwrap();
    let halting = Filter::concurrent(PureDp, epsilon("500")).halting();
    let halting = outer.launch(&halting).unwrap();
    let child = at(epsilon("0.001"), Count::default());
    let inner = Filter::sequential(PureDp, epsilon("0.001"));
    // The first launches make room that is kept.
    let round = || {
        halting.launch(&child).unwrap().ask(()).unwrap();
        let inner = halting.launch(&inner).unwrap();
        inner.launch(&child).unwrap().ask(()).unwrap();
    };
    round();
    let kept = measure(|| (0..1000).for_each(|_| round()));
    assert_eq!(kept.bytes_current, 0);
}

#[test]
fn a_release_without_coins_allocates_nothing_at_all() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let mechanism = at(epsilon("0.01"), Answer::default());
    let allocated = measure(|| {
        filter.release(&mechanism).unwrap();
    });
    assert_eq!(allocated.count_total, 0);
}

/// Every draw is zero: sampling would take longer than all else.
struct NoNoise;

impl CoinSource for NoNoise {
    fn uniform(&mut self, _: NonZeroU64) -> Result<u64, CoinsError> {
        Ok(0)
    }

    fn draw(&mut self, _: &dyn Law) -> Result<i128, CoinsError> {
        Ok(0)
    }
}

/// Asserts that what is constructed from this number and then started takes no more than is allowed, at
/// least a sixteenth of that, and that one more is refused.
#[track_caller]
fn assert_bounded<M: Mechanism<Vec<u8>>>(
    what: &'static str,
    most: usize,
    make: impl Fn(usize) -> Result<M, MechanismError>,
) {
    let data = Arc::new(vec![1_u8]);
    let taken = measure(|| {
        let mechanism = make(most).unwrap();
        assert!(mechanism.start(&data, &mut NoNoise.coins()).is_ok());
    });
    println!("{what}: {} bytes for each", taken.bytes_max / most as u64);
    let allowed = MOST_MEMORY as u64 / 16..=MOST_MEMORY as u64;
    assert!(allowed.contains(&taken.bytes_max), "{what} {taken:?}");
    for asked in [most + 1, 1 << 27] {
        let mut refused = None;
        let taken = measure(|| refused = make(asked).err());
        let asked = if what == "quantiles" { most + 1 } else { asked };
        let expected = MechanismError::TooMany { what, asked, most };
        assert_eq!(refused, Some(expected));
        assert!(taken.bytes_max <= MOST_MEMORY as u64, "{what} {taken:?}");
    }
}

struct Many(usize);

impl Score<AddRemove> for Many {
    fn candidates(&self) -> usize {
        self.0
    }

    fn sensitivity(&self) -> Sensitivity {
        Sensitivity::each(1)
    }
}

impl Evaluate<Vec<u8>> for Many {
    fn evaluate(&self, _: &Vec<u8>, scores: &mut [i64]) -> Result<(), Unavailable> {
        scores.fill(1);
        Ok(())
    }
}

/// 2^27 bins took 5 GB.
#[test]
fn what_is_asked_for_takes_a_bounded_amount_of_memory() {
    let bin = Attribute::new("itself", |row: &u8| usize::from(*row));
    assert_bounded("bins", 1 << 22, |bins| {
        Histogram::of(Partition::numbered(bin.clone(), bins)?).laplace(epsilon!(1))
    });
    let vector = Vector::new("ones", |_: &u8, out: &mut [f64]| out.fill(1.0));
    let rho = rho!(1);
    assert_bounded("coordinates", 1 << 21, |dimension| {
        let lattice = Lattice::of_length(1.0)?;
        VectorSum::of(vector.clone(), dimension, lattice).gaussian(rho)
    });
    assert_bounded("candidates", 1 << 21, |candidates| {
        Choice::by(AddRemove, NoisyMax, Many(candidates), epsilon("1"))
    });
    let value = Attribute::new("itself", |row: &u8| i64::from(*row));
    assert_bounded("quantiles", 1 << 18, |quantiles| {
        let whole = 1 << 28;
        let rising = (1..=quantiles as u32).map(|part| (part, whole));
        NoisyQuantiles::new(AddRemove, value.clone(), 0..=9, rising, epsilon("1"))
    });
}
