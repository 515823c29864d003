//! Launches that are charged once, however often they are asked for: with a key, or by what they ask.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::digest::sha256;
use super::filter::{LedgerRule, value};
use super::launch::Keyed;
use super::party::{AnswerOf, Party, Written};
use super::text::writable;
use super::{LedgerError, LedgerErrorOf, Outcome, StoreError};
use crate::compose::{Discipline, Interactive};
use crate::machine::{Answered, Description, Mechanism, guarded};
use crate::privacy::{Private, Relation};
use crate::queryable::{HandleOf, IntoHandle};

impl<D, F, R, X> Party<D, F, R, X>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
    X: Discipline,
{
    /// [`launch`](Self::launch), once for each key: a retry, after a crash or a lost reply, is never
    /// charged again. It gets no child: whoever has the handle keeps it.
    ///
    /// Keys are those of [`release_once`](Self::release_once).
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::ledger::{Ledger, LedgerError};
    /// use queryables::mechanisms::AboveThreshold;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let ledger = Ledger::in_memory("ages, March")?;
    /// let ages = Arc::new(vec![17, 18, 43, 70]);
    /// let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
    /// let ana = filter.party("Ana");
    /// let search = AboveThreshold::<Predicate<Vec<i32>>>::new(AddRemove, 2, 1, epsilon!(0.25))?;
    ///
    /// let child = ana.launch_once("first search", &search)?;
    /// let again = ana.launch_once("first search", &search);
    /// assert_eq!(again.err(), Some(LedgerError::NoAnswer));
    /// assert_eq!(filter.privacy_loss()?, "0.25".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`release_once`](Self::release_once); [`LedgerError::NoAnswer`] if the key was charged
    /// before.
    pub fn launch_once<M>(
        &self,
        key: &str,
        mechanism: &M,
    ) -> Result<HandleOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<F::Children, R>,
        X: Interactive,
    {
        match self.once(key, mechanism)? {
            Keyed::New(charged) => self.open(mechanism, charged),
            Keyed::Known(_) => Err(LedgerError::NoAnswer),
        }
    }

    /// [`release`](Self::release), once for each key: a retry, after a crash or a lost answer, gives
    /// the answer that was given, if the ledger [keeps answers](super::Ledger::keeping_answers), and
    /// is never charged again.
    ///
    /// Each party has its own keys.
    ///
    /// Two mechanisms are the same if their descriptions are, so the description must say everything
    /// that decides the answer; a name in it stands for its function, by the word of whoever gave it
    /// ([`Description`]).
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch); [`LedgerError::OtherLaunch`] if the key was used for another
    /// mechanism or loss, [`LedgerError::NotComparable`] if it cannot be known whether it is another,
    /// and [`LedgerError::NoAnswer`] if its answer is not there. Where answers are kept, one that cannot
    /// be written is withheld: [`LedgerError::Store`], and the charge stands.
    pub fn release_once<M>(
        &self,
        key: &str,
        mechanism: &M,
    ) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered<Value: Serialize + DeserializeOwned>>
            + Private<F::Children, R>,
    {
        let keyed = self.once(key, mechanism)?;
        self.answer_of(mechanism, keyed)
    }

    /// [`release`](Self::release), once for each question: the same mechanism with the same loss gets the
    /// answer that it was given before, from the ledger, and is not charged again. Where the ledger does not
    /// [keep answers](super::Ledger::keeping_answers), it is charged and answered anew.
    ///
    /// What a party asked is its own. It is reused for others only where the curator has put them into one
    /// [group](super::LedgerFilter::party_of).
    ///
    /// [`LedgerData`](super::LedgerData) has an example. Questions are the same if their
    /// descriptions are, as for [`release_once`](Self::release_once).
    ///
    /// # Errors
    ///
    /// As for [`release_once`](Self::release_once). After a launch that failed or was interrupted the question
    /// has no answer for good ([`LedgerError::NoAnswer`]): [`release`](Self::release) asks it anew.
    pub fn recall_or_release<M>(&self, mechanism: &M) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered<Value: Serialize + DeserializeOwned>>
            + Private<F::Children, R>,
    {
        if !self.shared().ledger.keeps_answers {
            return self.release(mechanism);
        }
        // A key of `release_once` has three parts, and that of a share two.
        let (kind, who) = match &self.seat.group {
            None => ("question of a party", self.name()),
            Some(group) => {
                writable("a group's name", group)?;
                ("question of a group", &**group)
            }
        };
        let keyed = self.keyed(mechanism, |described, loss| {
            comparable(described)?;
            let question = sha256(&value(&(described, loss))?.to_string());
            let filter = &*self.shared().header.filter;
            Ok(format!("{:?}", (filter, kind, who, question)))
        });
        self.answer_of(mechanism, keyed?)
    }

    /// The answer of a launch with a key: its own, or the one that was kept.
    fn answer_of<M>(
        &self,
        mechanism: &M,
        keyed: Keyed<'_, D>,
    ) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered<Value: Serialize + DeserializeOwned>>,
    {
        match keyed {
            Keyed::New(charged) => {
                let keeps = self.shared().ledger.keeps_answers;
                self.run(mechanism, charged, keeps.then_some(written as Written<_>))
            }
            Keyed::Known(outcome) => match outcome.map(|outcome| *outcome) {
                Some(Outcome::Answered(Some(answer))) => {
                    serde_json::from_value(answer).map_err(|_| LedgerError::NoAnswer)
                }
                _ => Err(LedgerError::NoAnswer),
            },
        }
    }

    /// Decides on a launch with a key, which the party has once.
    fn once<M>(&self, key: &str, mechanism: &M) -> Result<Keyed<'_, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        writable("a key", key)?;
        self.keyed(mechanism, |described, _| {
            comparable(described)?;
            let filter = &*self.shared().header.filter;
            Ok(format!("{:?}", (filter, self.name(), key)))
        })
    }
}

/// Whether what is recorded of a mechanism says everything.
fn comparable<C, W>(described: &Description) -> Result<(), LedgerError<C, W>> {
    match described.is_complete() {
        true => Ok(()),
        false => Err(LedgerError::NotComparable),
    }
}

/// The answer's own code says it.
fn written<A: Serialize>(answer: &A) -> Result<Value, StoreError> {
    let written = guarded(|| Ok(serde_json::to_value(answer)));
    let written = written.map(|written| written.map_err(|error| error.to_string()));
    let failed = |_| Err("the answer's own code failed".to_owned());
    written
        .unwrap_or_else(failed)
        .map_err(StoreError::Unwritable)
}
