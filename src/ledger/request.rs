//! How a launch gets from the filter's state at hand to the store: decided inside the store's
//! transaction, or, under a third-party rule, before it.

use std::sync::Arc;

use super::filter::{Book, Heading, LedgerRule, Shared};
use super::launch::Launch;
use super::seal::{seal, unseal};
use super::store::{Charge, Receipt, Record, Saved, sealed};
use super::{Entry, LedgerErrorOf, StoreError};
use crate::account::ChildLoss;
use crate::compose::{Discipline, LaunchError, Ledgered, Price, Ticket};
use crate::machine::{Description, guarded};

/// A launch that has a price.
pub(super) struct Request<'a, D: ?Sized, F: LedgerRule, R, X> {
    pub(super) shared: &'a Shared<D, F, R, X>,
    pub(super) price: &'a Price<ChildLoss<F>>,
    pub(super) heading: &'a Arc<Heading>,
    /// The places of the quotas that it is held to.
    pub(super) quotas: &'a [usize],
    /// The names of the budgets: the filter's, and those of the quotas.
    pub(super) budgets: &'a [String],
    pub(super) key: Option<&'a str>,
}

/// A launch that the store has, and what was decided.
pub(super) struct Asked<F: LedgerRule> {
    pub(super) receipt: Receipt,
    /// `None` if its key was known.
    pub(super) decided: Option<Result<Ticket, Box<LedgerErrorOf<F>>>>,
    /// That of the filter's state after it.
    pub(super) version: u64,
}

impl<D: ?Sized, F: LedgerRule, R, X: Discipline> Request<'_, D, F, R, X> {
    fn launch<'b>(
        &'b self,
        book: &'b mut Book<D, F, R, X>,
        mechanism: Option<Description>,
    ) -> Launch<'b, D, F, R, X> {
        Launch {
            shared: self.shared,
            book,
            price: self.price,
            mechanism,
            heading: self.heading,
            quotas: self.quotas,
            budgets: self.budgets,
            key: self.key.map(str::to_owned),
            decided: None,
            changed: false,
        }
    }

    /// Decides inside the store's transaction, which takes it one round trip less.
    pub(super) fn inside(
        &self,
        mechanism: Option<Description>,
    ) -> Result<Asked<F>, Box<LedgerErrorOf<F>>> {
        // Others may decide while this one waits for the disk: the lock ends here.
        let mut book = self.shared.book();
        let mut launch = self.launch(&mut book, mechanism);
        // Writing a state down may panic: then it is not known what the state at hand has counted.
        let charged = guarded(|| Ok(self.shared.store.charge(&mut launch)));
        let receipt = match charged.unwrap_or_else(|_| Err(failed())) {
            Ok(receipt) => receipt,
            Err(error) => {
                launch.forget();
                return Err(Box::new(error.into()));
            }
        };
        let decided = launch.decided.take();
        Ok(Asked {
            receipt,
            decided,
            version: book.version,
        })
    }

    /// Decides on a copy, under no lock, and then writes what was decided, unless the state is another
    /// by then: then it decides again. A rule's code may so read its own filter, and launch there.
    pub(super) fn outside(
        &self,
        mechanism: Option<Description>,
    ) -> Result<Asked<F>, Box<LedgerErrorOf<F>>> {
        let shared = self.shared;
        loop {
            let mut copy = shared.newest().map_err(|error| Box::new(error.into()))?;
            let seen = copy.versions();
            let mut launch = self.launch(&mut copy, mechanism.clone());
            let settled = guarded(|| Ok(Settled::by(&mut launch)));
            let settled = settled.unwrap_or_else(|_| Err(failed()));
            let mut settled = settled.map_err(|error| Box::new(error.into()))?;
            let decided = launch.decided.take();
            // The rule's code has run: it may have stopped this one.
            let running = shared.running();
            let running = running.map_err(|error| Box::new(error.into()))?;
            running.map_err(|stop| Box::new(LaunchError::Stopped(stop).into()))?;

            let mut book = shared.book();
            if book.versions() != seen {
                drop(book);
                continue;
            }
            let charged = if shared.keeps_launches || !self.quotas.is_empty() || self.key.is_some()
            {
                guarded(|| Ok(shared.store.charge(&mut settled))).unwrap_or_else(|_| Err(failed()))
            } else {
                // Where the store keeps nothing of it, the filter decides alone.
                Ok(Receipt::Written {
                    sequence: 0,
                    mark: 0,
                })
            };
            let receipt = match charged {
                Ok(receipt) => receipt,
                Err(StoreError::Changed) => {
                    drop(book);
                    continue;
                }
                Err(error) => return Err(Box::new(error.into())),
            };
            let mut ticket = None;
            if matches!(receipt, Receipt::Written { .. }) {
                book.exchange(&mut copy);
                ticket = settled.admitted.then(|| book.machine.ticket());
            }
            let version = book.version;
            // What the copy holds now is dropped after this: that is the rule's code, too.
            drop(book);
            let decided = match (decided, ticket) {
                (Some(Ok(_)), Some(ticket)) => Some(Ok(ticket)),
                (Some(Err(error)), _) => Some(Err(error)),
                _ => None,
            };
            return Ok(Asked {
                receipt,
                decided,
                version,
            });
        }
    }
}

fn failed() -> StoreError {
    StoreError::Unwritable("the rule or the store failed".to_owned())
}

/// A launch that was decided before the store is asked: everything that it may be asked for is there.
struct Settled {
    budgets: Vec<String>,
    key: Option<String>,
    /// The versions that it was decided on.
    known: Vec<u64>,
    admitted: bool,
    changed: Vec<(usize, Saved)>,
    entry: Option<Entry>,
    amounts: Vec<(String, String)>,
}

impl Settled {
    fn by(launch: &mut dyn Charge) -> Result<Self, StoreError> {
        let budgets = launch.budgets().to_vec();
        let known = (0..budgets.len()).map(|place| launch.known(place));
        let known = known.collect();
        let admitted = launch.decide();
        Ok(Self {
            key: launch.key().map(str::to_owned),
            known,
            admitted,
            changed: launch.changed()?,
            entry: unseal(&launch.line(0, 1)?),
            amounts: launch.amounts(),
            budgets,
        })
    }
}

impl sealed::Sealed for Settled {}

impl Charge for Settled {
    fn budgets(&self) -> &[String] {
        &self.budgets
    }

    fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn known(&self, budget: usize) -> u64 {
        self.known.get(budget).copied().unwrap_or_default()
    }

    fn refresh(&mut self, _: usize, _: &Saved) -> Result<(), StoreError> {
        Err(StoreError::Changed)
    }

    fn decide(&mut self) -> bool {
        self.admitted
    }

    fn changed(&self) -> Result<Vec<(usize, Saved)>, StoreError> {
        Ok(self.changed.clone())
    }

    fn line(&self, sequence: u64, times: u64) -> Result<String, StoreError> {
        line(self.entry.as_ref(), sequence, times)
    }

    fn record(&mut self, times: u64) -> Box<dyn Record> {
        Box::new(Kept(self.entry.take(), times))
    }

    fn amounts(&self) -> Vec<(String, String)> {
        self.amounts.clone()
    }
}

/// An entry that needs no code of the rule any more.
struct Kept(Option<Entry>, u64);

impl sealed::Sealed for Kept {}

impl Record for Kept {
    fn line(&self, sequence: u64) -> Result<String, StoreError> {
        line(self.0.as_ref(), sequence, self.1)
    }
}

fn line(entry: Option<&Entry>, sequence: u64, times: u64) -> Result<String, StoreError> {
    let mut entry = entry.cloned().ok_or_else(failed)?;
    (entry.sequence, entry.times) = (sequence, times);
    seal(&entry)
}

impl<D: ?Sized, F: LedgerRule, R, X> Shared<D, F, R, X> {
    /// A copy of the newest state, made without running code of the rule under a lock.
    pub(super) fn newest(&self) -> Result<Book<D, F, R, X>, StoreError> {
        loop {
            // Copied outside of the lock: a measure may be third-party code.
            let (terms, again) = (self.terms.clone(), self.terms.clone());
            let mut copy = self.book().copy(terms);
            let seen = copy.versions();
            let changed = copy.renew(&*self.store, &self.fresh, &self.header.filter)?;
            if !changed {
                return Ok(copy);
            }
            let mut book = self.book();
            if book.versions() == seen {
                book.exchange(&mut copy);
                let newest = book.copy(again);
                // What the first copy holds now is dropped without the lock.
                drop(book);
                return Ok(newest);
            }
        }
    }
}

impl<D: ?Sized, F: LedgerRule, R, X> Book<D, F, R, X> {
    fn copy(&self, terms: crate::compose::Terms<F::Children>) -> Self {
        Self {
            machine: self.machine.detached(terms),
            version: self.version,
            quotas: self.quotas.clone(),
        }
    }

    /// Changes whenever a state does, of the filter or of a quota.
    fn versions(&self) -> (u64, u64, Vec<u64>) {
        let quotas = self.quotas.iter().map(|quota| quota.version);
        (self.machine.version(), self.version, quotas.collect())
    }

    /// Takes up the states of a copy, and leaves its own there.
    fn exchange(&mut self, copy: &mut Self) {
        self.machine.exchange(&mut copy.machine);
        self.version = copy.version;
        for (quota, copied) in self.quotas.iter_mut().zip(&mut copy.quotas) {
            std::mem::swap(quota, copied);
        }
    }
}
