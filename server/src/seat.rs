//! An analyst's place in a budget, whatever its measure: what is launched is charged there.

use std::fmt::Display;
use std::sync::Arc;

use queryables::account::{
    Accounting, Accumulator, Capped, ChildLoss, DefaultAccumulator, LaunchesLeft, ValidConcurrently,
};
use queryables::compose::{AnyFilter, BoxedMechanism, BoxedRelease, Filter, LaunchError, Refusal};
use queryables::ledger::{Ledger, LedgerError, LedgerRule};
use queryables::ledger::{Party, StoreError};
use queryables::machine::{BoxedMachine, Coins, Description, DomainMismatch, Fault};
use queryables::machine::{Mechanism, Public, Released};
use queryables::privacy::facts::Fact;
use queryables::privacy::{AddRemove, AnyMeasure, Distance, Prices, Private, UnknownLoss};
use queryables::queryable::Queryable;
use queryables::table::Table;
use serde::Deserialize;

use crate::answer::Answer;
use crate::asking::Query;
use crate::coins::Source;
use crate::loss::{LossText, ReadsLoss};
use crate::problem::{Code, Problem, Refused};
use crate::rule::{Rule, each_rule};

/// A mechanism whose type is erased, and which every measure prices by what it states.
pub struct Stated<M> {
    mechanism: M,
    /// Said once: the log, the ledger and the reply each ask for it.
    description: Description,
}

impl<M: Mechanism<dyn Table>> Stated<M> {
    pub fn new(mechanism: M) -> Self {
        let description = mechanism.describe();
        Self {
            mechanism,
            description,
        }
    }
}

/// A mechanism that answers once.
pub type Once = Stated<BoxedRelease<dyn Table, AnyMeasure, AddRemove, Answer>>;
/// A mechanism that is asked.
pub type Open = Stated<BoxedMechanism<dyn Table, AnyMeasure, AddRemove, Query, Answer>>;
/// A child that is asked.
pub type Asked = Queryable<Query, Answer>;

macro_rules! stated {
    ($($Inner:ty => $Machine:ty),*) => {$(
        impl Mechanism<dyn Table> for Stated<$Inner> {
            type Machine = $Machine;

            fn start(&self, data: &Arc<dyn Table>, coins: &mut Coins<'_>) -> Result<$Machine, Fault> {
                Source::new().run(coins, |coins| self.mechanism.start(data, coins))
            }

            fn check(&self, data: Public<'_, dyn Table>) -> Result<(), DomainMismatch> {
                self.mechanism.check(data)
            }

            fn describe(&self) -> Description {
                self.description.clone()
            }
        }

        impl<Me: Prices<Fact>> Private<Me, AddRemove> for Stated<$Inner> {
            fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
                measure.price(&self.mechanism.loss(&AnyMeasure)?)
            }

            fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
                measure.price(&self.mechanism.loss_at(&AnyMeasure, distance)?)
            }
        }
    )*};
}
stated! {
    BoxedRelease<dyn Table, AnyMeasure, AddRemove, Answer> => Released<Answer>,
    BoxedMechanism<dyn Table, AnyMeasure, AddRemove, Query, Answer> => BoxedMachine<Query, Answer>
}

/// What can be launched.
pub enum Launch {
    Once(Once),
    Open(Open),
}

impl Launch {
    pub fn description(&self) -> &Description {
        match self {
            Self::Once(mechanism) => &mechanism.description,
            Self::Open(mechanism) => &mechanism.description,
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

/// What a launch costs.
pub struct Cost {
    pub loss: LossText,
    /// Below what the curator allows.
    pub too_small: bool,
}

/// An analyst's place in a budget.
pub trait Seat: Send + Sync {
    /// What a launch costs. Charges nothing, and does not ask the ledger.
    fn cost(&self, launch: &Launch) -> Result<Cost, Problem>;

    /// How many such launches fit, one after the other. Charges nothing; under some rules they are counted,
    /// which takes a while.
    fn launches_left(&self, launch: &Launch) -> Result<LaunchesLeft, Problem>;

    /// Answers once. With a key, it is charged once for the key.
    fn release(&self, key: Option<&str>, mechanism: &Once) -> Result<Answer, Problem>;

    /// Opens a child. With a key, it is charged once for the key.
    fn open(&self, key: Option<&str>, mechanism: &Open) -> Result<Asked, Problem>;

    /// A loss as this budget reads it, whatever the text looks like.
    fn read(&self, loss: &LossText) -> Result<LossText, Problem>;

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
type Reserve<F> =
    dyn Fn(&Party<dyn Table, F>, &str, &LossText) -> Result<Arc<dyn Seat>, Problem> + Send + Sync;

struct PartySeat<F: LedgerRule> {
    party: Party<dyn Table, F>,
    /// The same party, to read everything at the same moment.
    erased: AnyFilter<dyn Table>,
    /// In what launches state their losses.
    measure: F::Children,
    /// In what the budget is stated.
    whole: F::Whole,
    quota: Option<ChildLoss<F>>,
    smallest: Option<ChildLoss<F>>,
    reserve: Arc<Reserve<F>>,
}

impl<Me, W, F> Seat for PartySeat<F>
where
    Me: Prices<Fact> + ReadsLoss<Loss: Clone + Display + Send + Sync>,
    W: ReadsLoss<Loss: Clone + Display + Send + Sync>,
    F: LedgerRule<Children = Me, Whole = W> + 'static,
{
    fn cost(&self, launch: &Launch) -> Result<Cost, Problem> {
        let loss = match launch {
            Launch::Once(mechanism) => mechanism.loss(&self.measure),
            Launch::Open(mechanism) => mechanism.loss(&self.measure),
        };
        let loss = loss.map_err(|unknown| no_price(&unknown))?;
        let smallest = self.smallest.as_ref();
        Ok(Cost {
            too_small: smallest.is_some_and(|smallest| Me::is_less(&loss, smallest)),
            loss: self.measure.write(&loss),
        })
    }

    fn launches_left(&self, launch: &Launch) -> Result<LaunchesLeft, Problem> {
        Ok(match launch {
            Launch::Once(mechanism) => {
                let preview = self.party.preview(mechanism);
                preview.map_err(problem)?.launches_left()
            }
            Launch::Open(mechanism) => {
                let preview = self.party.preview(mechanism);
                preview.map_err(problem)?.launches_left()
            }
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

    fn read(&self, loss: &LossText) -> Result<LossText, Problem> {
        let loss = self.measure.read(loss).map_err(Problem::invalid_query)?;
        Ok(self.measure.write(&loss))
    }

    fn reserve(&self, name: &str, loss: &LossText) -> Result<Arc<dyn Seat>, Problem> {
        (self.reserve)(&self.party, name, loss)
    }

    fn loss_of(&self, recorded: &serde_json::Value) -> Result<LossText, String> {
        let loss = Me::Loss::deserialize(recorded).map_err(|error| error.to_string())?;
        Ok(self.measure.write(&loss))
    }

    fn reading(&self) -> Result<Reading, Problem> {
        // One question to the store.
        let reading = self.erased.reading();
        let reading = reading.map_err(|error| {
            tracing::error!(%error, "the ledger cannot be read");
            Code::Unavailable
        })?;
        let whole = |loss: Option<&W::Loss>| loss.map(|loss| self.whole.write(loss));
        let left: Option<&Me::Loss> = reading.remaining.get();
        let quotas = match self.quota {
            Some(_) => self.party.quotas_remaining().map_err(unavailable)?,
            None => Vec::new(),
        };
        Ok(Reading {
            limit: whole(reading.limit.get()).unwrap_or_default(),
            spent: whole(reading.privacy_loss.get()).unwrap_or_default(),
            remaining: left
                .map(|left| self.measure.write(left))
                .unwrap_or_default(),
            quota: self.quota.as_ref().map(|quota| self.measure.write(quota)),
            quotas: quotas.iter().map(|left| self.measure.write(left)).collect(),
            launched: reading.launched,
            halted: reading.halt.is_some(),
        })
    }

    fn remaining(&self) -> Result<LossText, Problem> {
        let remaining = self.party.remaining().map_err(unavailable)?;
        Ok(self.measure.write(&remaining))
    }
}

/// The terms of a dataset's budget.
pub struct Terms {
    pub rule: Rule,
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
    data: &Arc<dyn Table>,
) -> Result<Vec<Arc<dyn Seat>>, String> {
    each_rule!(&terms.rule, rule => seats_under(rule, ledger, name, terms, data))
}

fn seats_under<F, Me, W, G>(
    rule: &F,
    ledger: &Ledger,
    name: &str,
    terms: &Terms,
    data: &Arc<dyn Table>,
) -> Result<Vec<Arc<dyn Seat>>, String>
where
    F: LedgerRule<Children = Me, Whole = W> + ValidConcurrently + 'static,
    Me: DefaultAccumulator<Accumulator = G> + Prices<Fact> + ReadsLoss + 'static,
    Me::Loss: Clone + Display + Send + Sync,
    W: ReadsLoss<Loss: Clone + Display + Send + Sync> + 'static,
    G: Accumulator + ValidConcurrently + Accounting<Children = Me, Whole = Me>,
    Capped<G>: LedgerRule<Children = Me, Whole = Me> + 'static,
    Filter<Capped<G>>: Private<Me, AddRemove>,
{
    let (measure, whole) = (rule.children().clone(), rule.whole().clone());
    let filter = Filter::concurrent_with(rule.clone());
    let filter = if terms.halting {
        filter.halting()
    } else {
        filter
    };
    // Who one person is, and the schema, are terms of it: under others it does not go on.
    let filter = ledger
        .start(name, &filter, data)
        .map_err(|error| error.to_string())?;
    let smallest = terms.smallest.as_ref();
    let smallest = smallest.map(|loss| measure.read(loss)).transpose()?;
    let reserve: Arc<Reserve<F>> = {
        let (measure, smallest) = (measure.clone(), smallest.clone());
        Arc::new(move |party, name, loss| share(&measure, smallest.clone(), party, name, loss))
    };
    let seat = |party: Party<dyn Table, F>, quota| -> Arc<dyn Seat> {
        Arc::new(PartySeat {
            erased: party.clone().into(),
            party,
            measure: measure.clone(),
            whole: whole.clone(),
            quota,
            smallest: smallest.clone(),
            reserve: Arc::clone(&reserve),
        })
    };
    let mut seats = Vec::new();
    for (analyst, quota) in &terms.analysts {
        let mut party = filter.party(analyst);
        let quota = quota
            .as_ref()
            .map(|quota| measure.read(quota))
            .transpose()?;
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

/// A share: in it losses are added, in the measure in which launches state them.
fn share<F, Me, G>(
    measure: &Me,
    smallest: Option<Me::Loss>,
    party: &Party<dyn Table, F>,
    name: &str,
    loss: &LossText,
) -> Result<Arc<dyn Seat>, Problem>
where
    F: LedgerRule<Children = Me, Whole: ReadsLoss<Loss: Display>>,
    Me: DefaultAccumulator<Accumulator = G> + Prices<Fact> + ReadsLoss + 'static,
    Me::Loss: Clone + Display + Send + Sync,
    G: Accumulator + ValidConcurrently + Accounting<Children = Me, Whole = Me>,
    Capped<G>: LedgerRule<Children = Me, Whole = Me> + 'static,
    Filter<Capped<G>>: Private<Me, AddRemove>,
{
    let loss = measure.read(loss).map_err(Problem::invalid_query)?;
    let share = Filter::concurrent(measure.clone(), loss);
    let share = party.reserve(name, &share).map_err(problem)?;
    let party = share.party(party.name());
    Ok(Arc::new(PartySeat {
        erased: party.clone().into(),
        party,
        measure: measure.clone(),
        whole: measure.clone(),
        quota: None,
        smallest,
        reserve: Arc::new(|_: &Party<dyn Table, Capped<G>>, _, _| {
            Err(Problem::invalid_query(NO_SHARES))
        }),
    }))
}

/// What a share says when another is to be reserved in it.
pub const NO_SHARES: &str = "a share has no shares: reserve it in the dataset";

/// Under some budgets Gaussian noise has none. Laplace noise has one under each.
fn no_price(unknown: &UnknownLoss) -> Problem {
    Problem::invalid_query(format!(
        "{unknown}: if that is Gaussian noise, ask for `laplace` instead"
    ))
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
            LaunchError::UnknownLoss(unknown) => no_price(&unknown),
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
