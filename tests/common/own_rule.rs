//! A third-party rule.

use std::fmt::Debug;

use queryables::account::{
    Accounting, Accumulator, Capped, ContinuationRule, DefaultAccumulator, Exceeded, Sum,
    ValidConcurrently, ValidSequentially,
};
use queryables::number::Epsilon;
use queryables::privacy::PureDp;

/// Adds up under pure DP, and runs code of its own as it is asked to decide.
#[derive(Clone, Debug, Hash)]
pub struct OwnRule<H> {
    pub sum: Capped<Sum<PureDp>>,
    pub code: H,
}

/// What a rule does before it decides.
pub trait BeforeDeciding: Clone + Debug + Send + Sync + 'static {
    fn before_deciding(&self, loss: &Epsilon) -> Result<(), Exceeded>;
}

impl BeforeDeciding for fn(&Epsilon) {
    fn before_deciding(&self, loss: &Epsilon) -> Result<(), Exceeded> {
        self(loss);
        Ok(())
    }
}

impl<H> OwnRule<H> {
    pub fn new(limit: Epsilon, code: H) -> Self {
        let sum = PureDp.accumulator().capped(limit);
        Self { sum, code }
    }
}

impl<H: BeforeDeciding> Accounting for OwnRule<H> {
    type Children = PureDp;
    type Whole = PureDp;

    fn children(&self) -> &PureDp {
        &PureDp
    }

    fn whole(&self) -> &PureDp {
        &PureDp
    }
}

impl<H: BeforeDeciding> ContinuationRule for OwnRule<H> {
    fn limit(&self) -> &Epsilon {
        self.sum.limit()
    }

    fn spent(&self) -> Epsilon {
        self.sum.spent()
    }

    fn remaining(&self) -> Epsilon {
        self.sum.remaining()
    }

    fn charge(&self, loss: &Epsilon) -> Result<Self, Exceeded> {
        self.code.before_deciding(loss)?;
        Ok(Self {
            sum: self.sum.charge(loss)?,
            code: self.code.clone(),
        })
    }
}

impl<H: BeforeDeciding> ValidSequentially for OwnRule<H> {}
impl<H: BeforeDeciding> ValidConcurrently for OwnRule<H> {}
