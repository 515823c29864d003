//! A share of the budget that is reserved for a party, and is a budget of its own.

use super::filter::{LedgerFilter, LedgerRule};
use super::launch::Keyed;
use super::party::Party;
use super::text::writable;
use super::{LedgerErrorOf, Outcome};
use crate::compose::{Discipline, Filter, Interleaved};
use crate::privacy::{Private, Relation};

/// Only where children are interleaved: elsewhere a later launch freezes the share for good.
impl<D, F, R> Party<D, F, R, Interleaved>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
{
    /// Reserves a share of the budget for this party, as
    /// [`LedgerFilter::reserve`](LedgerFilter::reserve) does, and charges it to the party's quotas, too.
    /// Each party has its own names. If it was reserved before, it continues with what it has spent.
    ///
    /// ```
    /// use queryables::ledger::{Ledger, LedgerError};
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let ledger = Ledger::in_memory("ages, March")?;
    /// let ages = Arc::new(vec![17, 18, 43, 70]);
    /// let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
    /// let quota = filter.quota("Ana's", "0.3".parse()?)?;
    /// let ana = filter.party("Ana").with_quota(&quota)?;
    ///
    /// let share = ana.reserve("spring", &Filter::concurrent(PureDp, "0.2".parse()?))?;
    /// assert_eq!(share.limit(), "0.2".parse()?);
    /// let more = ana.reserve("summer", &Filter::concurrent(PureDp, "0.2".parse()?));
    /// assert!(matches!(more, Err(LedgerError::Launch(LaunchError::OverQuota { .. }))));
    /// assert_eq!(filter.remaining()?, "0.8".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for a launch, and as for opening a filter.
    pub fn reserve<G, Y>(
        &self,
        name: &str,
        share: &Filter<G, R, Y>,
    ) -> Result<LedgerFilter<D, G, R, Y>, LedgerErrorOf<F>>
    where
        G: LedgerRule,
        Y: Discipline,
        Filter<G, R, Y>: Private<F::Children, R>,
    {
        self.reserve_as(&format!("{:?}", (self.name(), name)), share)
    }

    /// Under a name that no other party of the filter uses for a share.
    pub(super) fn reserve_as<G, Y>(
        &self,
        name: &str,
        share: &Filter<G, R, Y>,
    ) -> Result<LedgerFilter<D, G, R, Y>, LedgerErrorOf<F>>
    where
        G: LedgerRule,
        Y: Discipline,
        Filter<G, R, Y>: Private<F::Children, R>,
    {
        writable("a share's name", name)?;
        let shared = self.shared();
        let filter = &shared.header.filter;
        let full = format!("{:?}", (&**filter, "share", name));
        let data = (&*shared.data, shared.header.data.clone());
        // One charge however often it is opened: the key is the share's name. That of a release has a
        // third part, so nobody else can charge something under this one. The description is incomplete, as a
        // filter's is: its terms are compared when it is opened.
        let key = format!("{:?}", (&**filter, name));
        if let Keyed::New(charged) = self.keyed(share, |_, _| Ok(key))? {
            self.done(charged.sequence, || Outcome::Started);
        }
        let token = shared.book().launches.child_token();
        let token = token.joined(&shared.halted);
        let above = shared.above.iter().chain([filter]).cloned().collect();
        LedgerFilter::open(&shared.ledger, &full, share, data, (token, above))
    }
}
