//! What a program holds.

use queryables::account::{Capped, Sum};
use queryables::compose::{
    Interactive, Interleaved, NonInteractive, RunningFilterOf, RunningOdometerOf, Sequential,
};
use queryables::prelude::*;
use queryables::queryable::{HandleOf, IntoHandle};

use super::*;
use crate::model::{Answer, NotLaunched, Reading};

pub type RunningFilter<X> = RunningFilterOf<Rows, PureDp, AddRemove, X>;
pub type RunningOdometer<X> = RunningOdometerOf<Rows, PureDp, AddRemove, X>;

#[derive(Clone)]
pub enum Handle {
    ConcurrentFilter(RunningFilter<Interleaved>),
    SequentialFilter(RunningFilter<Sequential>),
    NonInteractiveFilter(RunningFilter<NonInteractive>),
    ConcurrentOdometer(RunningOdometer<Interleaved>),
    SequentialOdometer(RunningOdometer<Sequential>),
    NonInteractiveOdometer(RunningOdometer<NonInteractive>),
    Machine(Asked, Option<Shared>),
}

/// What a launch is made on.
pub trait Launches {
    fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, Rows>, NotLaunched>
    where
        M: Mechanism<Rows, Machine: IntoHandle> + Private<PureDp, AddRemove>;

    /// Whether it says that something that costs nothing would be admitted now.
    fn admits(&self) -> bool;
}

impl<X: Interactive> Launches for RunningFilter<X> {
    fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, Rows>, NotLaunched>
    where
        M: Mechanism<Rows, Machine: IntoHandle> + Private<PureDp, AddRemove>,
    {
        self.launch(mechanism)
    }

    fn admits(&self) -> bool {
        self.would_admit(&Epsilon::ZERO)
    }
}

impl<X: Interactive> Launches for RunningOdometer<X> {
    fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, Rows>, NotLaunched>
    where
        M: Mechanism<Rows, Machine: IntoHandle> + Private<PureDp, AddRemove>,
    {
        self.launch(mechanism)
    }

    fn admits(&self) -> bool {
        false
    }
}

pub type Rule = Capped<Sum<PureDp>>;

pub fn filter<X>(filter: Filter<Rule, AddRemove, X>, halts: bool) -> Filter<Rule, AddRemove, X> {
    if halts { filter.halting() } else { filter }
}

/// Launches a mechanism on a handle, or outside any.
pub fn launch_at<S, M>(
    at: Option<&Handle>,
    mechanism: &Stated<M>,
) -> Result<HandleOf<M, Rows>, NotLaunched>
where
    S: System,
    M: Mechanism<Rows, Machine: IntoHandle> + Clone,
{
    match at {
        None => Ok(start(mechanism, rows()).expect("nobody stops it")),
        Some(Handle::ConcurrentFilter(at)) => S::launch(at, mechanism),
        Some(Handle::SequentialFilter(at)) => S::launch(at, mechanism),
        Some(Handle::ConcurrentOdometer(at)) => S::launch(at, mechanism),
        Some(Handle::SequentialOdometer(at)) => S::launch(at, mechanism),
        Some(_) => unreachable!("it launches nothing that is asked later"),
    }
}

impl Handle {
    pub fn release(&self, mechanism: &Once) -> Result<(), NotLaunched> {
        match self {
            Self::ConcurrentFilter(at) => at.release(mechanism),
            Self::SequentialFilter(at) => at.release(mechanism),
            Self::NonInteractiveFilter(at) => at.release(mechanism),
            Self::ConcurrentOdometer(at) => at.release(mechanism),
            Self::SequentialOdometer(at) => at.release(mechanism),
            Self::NonInteractiveOdometer(at) => at.release(mechanism),
            Self::Machine(..) => unreachable!("a machine is asked"),
        }
        .map(|answer| assert_eq!(answer, Answer::Done))
    }

    pub fn machine(&self) -> (&Asked, Option<&Shared>) {
        match self {
            Self::Machine(handle, shared) => (handle, shared.as_ref()),
            _ => unreachable!("a compositor's handle is not asked"),
        }
    }

    /// What can be seen of a compositor.
    pub fn reading(&self) -> Reading {
        macro_rules! filter {
            ($filter:expr) => {
                Reading::Filter {
                    spent: $filter.privacy_loss(),
                    admits: $filter.would_admit(&Epsilon::ZERO),
                    halted: $filter.halt().is_some(),
                }
            };
        }
        let odometer = |spent, launched| Reading::Odometer { spent, launched };
        match self {
            Self::ConcurrentFilter(at) => filter!(at),
            Self::SequentialFilter(at) => filter!(at),
            Self::NonInteractiveFilter(at) => filter!(at),
            Self::ConcurrentOdometer(at) => {
                odometer(at.privacy_loss(), Some(self.release(&quiet(None, 0))))
            }
            Self::SequentialOdometer(at) => odometer(at.privacy_loss(), None),
            Self::NonInteractiveOdometer(at) => odometer(at.privacy_loss(), None),
            Self::Machine(..) => unreachable!("a machine is asked"),
        }
    }
}
