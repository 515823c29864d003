//! A party's handle with its measure erased: so that a service for remote analysts has budgets that
//! survive it.

use std::fmt;
use std::sync::Arc;

use super::{LedgerError, LedgerErrorOf, LedgerRule, Outcome, Party, StoreError};
use crate::account::LaunchesLeft;
use crate::compose::{
    AnyFilter, AnyLaunchError, AnyReading, Charged, Discipline, Ended, Erased, Erasing,
    LaunchError, States, Unavailable, any_filter,
};
use crate::privacy::facts::Fact;
use crate::privacy::{AnyLoss, Prices, Relation};

impl<D, F, R, X> From<Party<D, F, R, X>> for AnyFilter<D, R>
where
    D: Send + Sync + ?Sized + 'static,
    F: LedgerRule<Children: Prices<Fact>>,
    R: Relation,
    X: Discipline,
{
    /// Erases the measure, the rule and the discipline. Launches are recorded under the party's name,
    /// and held to its quotas.
    fn from(party: Party<D, F, R, X>) -> Self {
        any_filter(Arc::new(OfParty(party)))
    }
}

/// A party inside an [`AnyFilter`], which alone makes one: the party itself gives nobody its data or a
/// charge without a start.
struct OfParty<D: ?Sized, F: LedgerRule, R, X>(Party<D, F, R, X>);

impl<D, F, R, X> Erased<D, R> for OfParty<D, F, R, X>
where
    D: Send + Sync + ?Sized,
    F: LedgerRule<Children: Prices<Fact>>,
    R: Relation,
    X: Discipline,
{
    fn charge(&self, mechanism: &dyn States<D, R>) -> Result<Charged<'_, D>, AnyLaunchError> {
        let charged = self.0.charged(&mechanism);
        charged.map_err(|denial| erased(&*self.0.seat.shared.fresh, *denial))
    }

    fn ended(&self, sequence: u64, how: Ended) {
        self.0.done(sequence, || match how {
            Ended::Started => Outcome::Started,
            Ended::Answered => Outcome::Answered(None),
            Ended::Failed => Outcome::Failed,
        });
    }

    fn would_admit(&self, mechanism: &dyn States<D, R>) -> Result<bool, Unavailable> {
        match self.0.price(&mechanism).map_err(|denial| *denial) {
            Ok(price) => Ok(self.0.would_take(&price)?),
            Err(LedgerError::Store(error)) => Err(error.into()),
            Err(_) => Ok(false),
        }
    }

    fn preview(
        &self,
        mechanism: &dyn States<D, R>,
    ) -> Result<(AnyLoss, LaunchesLeft), AnyLaunchError> {
        let fresh = &*self.0.seat.shared.fresh;
        let preview = Party::preview(&self.0, &mechanism).map_err(|error| erased(fresh, error))?;
        let cost = Erasing::of(fresh).child(preview.cost().clone());
        Ok((cost, preview.launches_left()))
    }

    fn is_interactive(&self) -> bool {
        X::INTERACTIVE
    }

    fn measure(&self) -> &dyn fmt::Debug {
        &self.0.seat.shared.terms.measure
    }

    fn reading(&self) -> Result<AnyReading, Unavailable> {
        let reading = self.0.seat.shared.read(|book| book.gate().any_reading());
        Ok(reading?)
    }

    fn data(&self) -> &Arc<D> {
        &self.0.seat.shared.data
    }
}

impl From<StoreError> for Unavailable {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}

fn erased<F: LedgerRule>(rule: &F, error: LedgerErrorOf<F>) -> AnyLaunchError {
    let erasing = Erasing::of(rule);
    match error {
        LedgerError::Launch(error) => erasing.error(error),
        LedgerError::Store(error) => LaunchError::Unavailable(error.into()),
        // Of keys, which are not used here.
        error => LaunchError::Unavailable(Unavailable(error.to_string())),
    }
}
