//! An individual filter as a single machine.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{IndividualFilter, IndividualMachine, IndividualQuery};
use crate::account::ValidIndividually;
use crate::data::Dataset;
use crate::machine::{
    Coins, Description, Fault, Inspect, Machine, Mechanism, ReleasesOnly, StateKey,
};
use crate::privacy::{Distance, Measure, Private, Relation, UnknownLoss};

/// An [`IndividualFilter`] as one machine that is asked queries of one kind, `Q`: the form for
/// adversaries, for persons in the middle, and for `verify`.
///
/// A query without a price is an [invalid one](Fault::InvalidQuery); nobody is charged.
///
/// # Guarantee
///
/// That of the filter.
pub struct IndividualAnswers<D: ?Sized, F, Q> {
    filter: IndividualFilter<D, F>,
    queries: PhantomData<fn(Q)>,
}

impl<D: ?Sized, F, Q> IndividualAnswers<D, F, Q> {
    /// This filter, asked such queries.
    #[must_use]
    pub fn new(filter: IndividualFilter<D, F>) -> Self {
        Self {
            filter,
            queries: PhantomData,
        }
    }
}

impl<D, F, Q> Mechanism<D> for IndividualAnswers<D, F, Q>
where
    D: Dataset + ?Sized,
    F: ValidIndividually,
    Q: IndividualQuery<D, F>,
{
    type Machine = IndividualAnswersMachine<D, F, Q>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(IndividualAnswersMachine {
            machine: self.filter.start(data, coins)?,
            queries: PhantomData,
        })
    }

    /// What records are charged does not depend on answers.
    fn describe(&self) -> Description {
        self.filter.describe()
    }
}

impl<D: ?Sized, F, Q: ReleasesOnly> ReleasesOnly for IndividualAnswers<D, F, Q> {}

impl<D, F, Q, Me, R> Private<Me, R> for IndividualAnswers<D, F, Q>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
    IndividualFilter<D, F>: Private<Me, R>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.filter.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.filter.loss_at(measure, distance)
    }
}

/// A running [`IndividualAnswers`].
pub struct IndividualAnswersMachine<D: ?Sized, F, Q> {
    machine: IndividualMachine<D, F>,
    queries: PhantomData<fn(Q)>,
}

impl<D, F, Q> Machine for IndividualAnswersMachine<D, F, Q>
where
    D: Dataset + ?Sized,
    F: ValidIndividually,
    Q: IndividualQuery<D, F>,
{
    type Query = Q;
    type Answer = Q::Answer;

    fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<Q::Answer, Fault> {
        self.machine
            .answer(&query, coins)?
            .map_err(|unknown| Fault::InvalidQuery(unknown.0))
    }
}

impl<D: Inspect + ?Sized, F, Q> Inspect for IndividualAnswersMachine<D, F, Q> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.machine);
    }
}

crate::clone_fields!([D: ?Sized, F: Clone, Q] IndividualAnswers<D, F, Q> { filter, queries });

// Nothing of the contents.
crate::debug_fields!([D: ?Sized, F, Q] IndividualAnswers<D, F, Q>, "IndividualAnswers");
crate::debug_fields!([D: ?Sized, F, Q] IndividualAnswersMachine<D, F, Q>, "IndividualAnswersMachine");
