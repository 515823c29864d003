//! An analyst's place in a budget, whatever its measure: what is launched is charged there.

use std::fmt::Display;
use std::sync::Arc;

use queryables::account::{
    Accounting, Accumulator, Capped, ChildLoss, DefaultAccumulator, LaunchesLeft, ValidConcurrently,
};
use queryables::compose::{AnyFilter, BoxedMechanism, BoxedRelease, Filter, LaunchError, Refusal};
use queryables::ledger::{Ledger, LedgerError, LedgerFilter, LedgerRule};
use queryables::ledger::{Party, StoreError};
use queryables::machine::{BoxedMachine, Coins, Description, DomainMismatch, Fault};
use queryables::machine::{Mechanism, Public, Released};
use queryables::privacy::facts::Fact;
use queryables::privacy::{
    AddRemove, AnyLoss, AnyMeasure, ApproxDp, Distance, Gdp, Prices, Private, PureDp,
};
use queryables::privacy::{UnknownLoss, ZCdp};
use queryables::queryable::Queryable;
use serde::Deserialize;

use crate::answer::Answer;
use crate::asking::Query;
use crate::data::Data;
use crate::loss::{LossText, MeasureName, ReadsLoss};
use crate::problem::{Code, Problem, Refused};

/// A mechanism whose type is erased, and which every measure prices by what it states.
pub struct Stated<M>(pub M);

/// A mechanism that answers once.
pub type Once = Stated<BoxedRelease<Data, AnyMeasure, AddRemove, Answer>>;
/// A mechanism that is asked.
pub type Open = Stated<BoxedMechanism<Data, AnyMeasure, AddRemove, Query, Answer>>;
/// A child that is asked.
pub type Asked = Queryable<Query, Answer>;

macro_rules! stated {
    ($($Inner:ty => $Machine:ty),*) => {$(
        impl Mechanism<Data> for Stated<$Inner> {
            type Machine = $Machine;

            fn start(&self, data: &Arc<Data>, coins: &mut Coins<'_>) -> Result<$Machine, Fault> {
                self.0.start(data, coins)
            }

            fn check(&self, data: Public<'_, Data>) -> Result<(), DomainMismatch> {
                self.0.check(data)
            }

            fn describe(&self) -> Description {
                self.0.describe()
            }
        }

        impl<Me: Prices<Fact>> Private<Me, AddRemove> for Stated<$Inner> {
            fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
                measure.price(&self.0.loss(&AnyMeasure)?)
            }

            fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
                measure.price(&self.0.loss_at(&AnyMeasure, distance)?)
            }
        }
    )*};
}
stated! {
    BoxedRelease<Data, AnyMeasure, AddRemove, Answer> => Released<Answer>,
    BoxedMechanism<Data, AnyMeasure, AddRemove, Query, Answer> => BoxedMachine<Query, Answer>
}

/// What can be launched.
pub enum Launch {
    Once(Once),
    Open(Open),
}

impl Launch {
    pub fn describe(&self) -> Description {
        match self {
            Self::Once(mechanism) => mechanism.describe(),
            Self::Open(mechanism) => mechanism.describe(),
        }
    }
}

/// What a budget says of itself, as texts.
pub struct Reading {
    pub limit: LossText,
    pub spent: LossText,
    pub remaining: LossText,
    /// The quota of the analyst.
    pub quota: Option<LossText>,
    /// What is left of each quota of the analyst.
    pub quotas: Vec<LossText>,
    pub launched: u64,
    pub halted: bool,
}

/// What a launch would cost.
pub struct Price {
    pub cost: LossText,
    pub left: LaunchesLeft,
    /// Below what the curator allows.
    pub too_small: bool,
}

/// An analyst's place in a budget.
pub trait Seat: Send + Sync {
    /// What a launch would cost. Charges nothing.
    fn price(&self, launch: &Launch) -> Result<Price, Problem>;

    /// Answers once. With a key, it is charged once for the key.
    fn release(&self, key: Option<&str>, mechanism: &Once) -> Result<Answer, Problem>;

    /// Opens a child. With a key, it is charged once for the key.
    fn open(&self, key: Option<&str>, mechanism: &Open) -> Result<Asked, Problem>;

    /// Sets a share of the budget aside, or opens it again.
    fn reserve(&self, name: &str, loss: &LossText) -> Result<Arc<dyn Seat>, Problem>;

    /// A loss as the record has it.
    fn loss_of(&self, recorded: &serde_json::Value) -> Result<LossText, String>;

    /// What the budget says of itself.
    fn reading(&self) -> Result<Reading, Problem>;

    /// What is left of the budget.
    fn remaining(&self) -> Result<LossText, Problem>;
}

/// How shares are opened, which needs the measure.
type Reserve<F> = dyn Fn(&Party<Data, F>, &str, &LossText) -> Result<LedgerFilter<Data, F>, Problem>
    + Send
    + Sync;

struct PartySeat<F: LedgerRule> {
    party: Party<Data, F>,
    /// The same party, to read everything at the same moment.
    erased: AnyFilter<Data>,
    quota: Option<ChildLoss<F>>,
    smallest: Option<ChildLoss<F>>,
    reserve: Arc<Reserve<F>>,
}

impl<Me, F> Seat for PartySeat<F>
where
    Me: Prices<Fact> + ReadsLoss<Loss: Clone + Display + Send + Sync>,
    F: LedgerRule<Children = Me, Whole = Me> + 'static,
{
    fn price(&self, launch: &Launch) -> Result<Price, Problem> {
        let (cost, left) = match launch {
            Launch::Once(mechanism) => {
                let preview = self.party.preview(mechanism).map_err(problem)?;
                (preview.cost().clone(), preview.launches_left())
            }
            Launch::Open(mechanism) => {
                let preview = self.party.preview(mechanism).map_err(problem)?;
                (preview.cost().clone(), preview.launches_left())
            }
        };
        let smallest = self.smallest.as_ref();
        Ok(Price {
            too_small: smallest.is_some_and(|smallest| Me::is_less(&cost, smallest)),
            cost: Me::write(&cost),
            left,
        })
    }

    fn release(&self, key: Option<&str>, mechanism: &Once) -> Result<Answer, Problem> {
        let answer = match key {
            Some(key) => self.party.release_once(key, mechanism),
            None => self.party.release(mechanism),
        };
        answer.map_err(problem)
    }

    fn open(&self, key: Option<&str>, mechanism: &Open) -> Result<Asked, Problem> {
        let child = match key {
            Some(key) => self.party.launch_once(key, mechanism),
            None => self.party.launch(mechanism),
        };
        child.map_err(problem)
    }

    fn reserve(&self, name: &str, loss: &LossText) -> Result<Arc<dyn Seat>, Problem> {
        let share = (self.reserve)(&self.party, name, loss)?;
        let party = share.party(self.party.name());
        Ok(Arc::new(Self {
            erased: party.clone().into(),
            party,
            quota: None,
            smallest: self.smallest.clone(),
            reserve: Arc::clone(&self.reserve),
        }))
    }

    fn loss_of(&self, recorded: &serde_json::Value) -> Result<LossText, String> {
        let loss = Me::Loss::deserialize(recorded).map_err(|error| error.to_string())?;
        Ok(Me::write(&loss))
    }

    fn reading(&self) -> Result<Reading, Problem> {
        // One question to the store.
        let reading = self.erased.reading();
        let reading = reading.map_err(|error| {
            tracing::error!(%error, "the ledger cannot be read");
            Code::Unavailable
        })?;
        let written = |loss: &AnyLoss| loss.get().map(Me::write).unwrap_or_default();
        let quotas = match self.quota {
            Some(_) => self.party.quotas_remaining().map_err(unavailable)?,
            None => Vec::new(),
        };
        Ok(Reading {
            limit: written(&reading.limit),
            spent: written(&reading.privacy_loss),
            remaining: written(&reading.remaining),
            quota: self.quota.as_ref().map(Me::write),
            quotas: quotas.iter().map(Me::write).collect(),
            launched: reading.launched,
            halted: reading.halt.is_some(),
        })
    }

    fn remaining(&self) -> Result<LossText, Problem> {
        let remaining = self.party.remaining().map_err(unavailable)?;
        Ok(Me::write(&remaining))
    }
}

/// The terms of a dataset's budget.
pub struct Terms {
    pub budget: LossText,
    pub halting: bool,
    pub smallest: Option<LossText>,
    /// The analysts, each with a quota or without.
    pub analysts: Vec<(String, Option<LossText>)>,
}

/// The places of all analysts in one budget, in their order, and one more: the curator's, who reads.
pub fn seats(
    ledger: &Ledger,
    name: &str,
    terms: &Terms,
    data: &Arc<Data>,
) -> Result<Vec<Arc<dyn Seat>>, String> {
    match terms.budget.measure() {
        Some(MeasureName::Pure) => seats_under(PureDp, ledger, name, terms, data),
        Some(MeasureName::Approx) => seats_under(ApproxDp, ledger, name, terms, data),
        Some(MeasureName::Concentrated) => seats_under(ZCdp, ledger, name, terms, data),
        Some(MeasureName::Gaussian) => seats_under(Gdp, ledger, name, terms, data),
        None => Err("a budget is {epsilon}, {epsilon, delta}, {rho} or {mu}".to_owned()),
    }
}

fn seats_under<Me, G>(
    measure: Me,
    ledger: &Ledger,
    name: &str,
    terms: &Terms,
    data: &Arc<Data>,
) -> Result<Vec<Arc<dyn Seat>>, String>
where
    Me: DefaultAccumulator<Accumulator = G> + Prices<Fact> + ReadsLoss + Copy + 'static,
    Me::Loss: Clone + Display + Send + Sync,
    G: Accumulator + ValidConcurrently + Accounting<Children = Me, Whole = Me>,
    Capped<G>: LedgerRule<Children = Me, Whole = Me> + 'static,
    Filter<Capped<G>>: Private<Me, AddRemove>,
{
    let filter = Filter::concurrent(measure, Me::read(&terms.budget)?);
    let filter = if terms.halting {
        filter.halting()
    } else {
        filter
    };
    let filter = ledger
        .start(name, &filter, data)
        .map_err(|error| error.to_string())?;
    let reserve = move |party: &Party<Data, Capped<G>>, name: &str, loss: &LossText| {
        let loss = Me::read(loss).map_err(Problem::invalid_query)?;
        let share = Filter::concurrent(measure, loss);
        party.reserve(name, &share).map_err(problem)
    };
    let reserve: Arc<Reserve<Capped<G>>> = Arc::new(reserve);
    let smallest = terms.smallest.as_ref().map(Me::read).transpose()?;
    let seat = |party: Party<Data, Capped<G>>, quota| -> Arc<dyn Seat> {
        Arc::new(PartySeat {
            erased: party.clone().into(),
            party,
            quota,
            smallest: smallest.clone(),
            reserve: Arc::clone(&reserve),
        })
    };
    let mut seats = Vec::new();
    for (analyst, quota) in &terms.analysts {
        let mut party = filter.party(analyst);
        let quota = quota.as_ref().map(Me::read).transpose()?;
        if let Some(quota) = &quota {
            let words = |error: StoreError| error.to_string();
            let quota = filter.quota(analyst, quota.clone()).map_err(words)?;
            party = party.with_quota(&quota).map_err(words)?;
        }
        seats.push(seat(party, quota));
    }
    seats.push(seat(filter.party("curator"), None));
    Ok(seats)
}

/// The store's own words stay here: they are for the operator.
fn unavailable(error: StoreError) -> Problem {
    tracing::error!(%error, "the ledger cannot be read");
    Code::Unavailable.into()
}

fn numbers<C: Display, W: Display>(refusal: &Refusal<C, W>) -> Refused {
    Refused {
        spent: refusal.spent.to_string(),
        requested: refusal.requested.to_string(),
        remaining: refusal.remaining.to_string(),
        limit: refusal.limit.to_string(),
    }
}

/// Why there was no launch. Everything here is public.
fn problem<C: Display, W: Display>(error: LedgerError<C, W>) -> Problem {
    match error {
        LedgerError::Launch(error) => match error {
            LaunchError::Refused(refusal) => {
                Problem::new(Code::Refused).with_numbers(numbers(&refusal))
            }
            LaunchError::OverQuota { refusal, .. } => {
                Problem::new(Code::OverQuota).with_numbers(numbers(&refusal))
            }
            LaunchError::CountLimit { .. } => {
                Problem::new(Code::Closed).saying("the budget has launched as many as it may")
            }
            LaunchError::UnknownLoss(unknown) => Problem::invalid_query(unknown.to_string()),
            LaunchError::DomainMismatch(mismatch) => Problem::invalid_query(mismatch.to_string()),
            LaunchError::Stopped(_) => {
                Problem::new(Code::Closed).saying("the budget was stopped for good")
            }
            LaunchError::Overflow | LaunchError::Interactive => {
                Problem::invalid_query("it cannot be launched under this budget")
            }
            LaunchError::Failed => Code::Failed.into(),
            // The rule or the store failed. Errors may be added: none of them says what was asked.
            _ => Code::Unavailable.into(),
        },
        LedgerError::OtherLaunch => Code::Conflict.into(),
        LedgerError::NotComparable => {
            Problem::invalid_query("this question cannot be asked with a key")
        }
        LedgerError::NoAnswer => Code::Interrupted.into(),
        LedgerError::Fault(_) => Code::Failed.into(),
        LedgerError::Store(StoreError::TooLong { .. }) => {
            Problem::new(Code::TooLarge).saying("a name, a key or a question is too long")
        }
        LedgerError::Store(error) => unavailable(error),
        // Errors may be added: none of them says what was asked.
        _ => Code::Unavailable.into(),
    }
}
