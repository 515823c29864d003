//! A share of the budget that is reserved for a party, and is a budget of its own.

use std::sync::Arc;

use super::filter::{LedgerFilter, LedgerRule};
use super::party::{Keyed, Party};
use super::text::writable;
use super::{LedgerErrorOf, Outcome};
use crate::compose::{Discipline, Filter, Interleaved};
use crate::machine::StopToken;
use crate::privacy::{Private, Relation};

impl<D, F, R, X> Party<D, F, R, X>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
    X: Discipline,
{
    /// Charges a share, once, and says what stops it.
    fn set_aside<G, Y>(
        &self,
        key: &str,
        share: &Filter<G, R, Y>,
    ) -> Result<StopToken, LedgerErrorOf<F>>
    where
        G: LedgerRule,
        Y: Discipline,
        Filter<G, R, Y>: Private<F::Children, R>,
    {
        let price = self.price(share).map_err(|denial| *denial)?;
        // Incomplete, as a filter's is: its terms are compared when it is opened.
        let described = self.described(share).map_err(|denial| *denial)?;
        let keyed = self.write(&price, Some(&described), Some(key));
        if let Keyed::New(admitted) = keyed.map_err(|denial| *denial)? {
            self.done(admitted.sequence, || Outcome::Started);
        }
        let token = self.shared().book().launches.child_token();
        Ok(token.joined(&self.shared().halted))
    }
}

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
        let full = format!("{:?}", (&*shared.header.filter, "share", name));
        let data = shared.data()?;
        // One charge however often it is opened: the key is the share's name. That of a release has a
        // third part, so nobody else can charge something under this one.
        let key = format!("{:?}", (&*shared.header.filter, name));
        let token = self.set_aside(&key, share)?;
        let mut above = shared.above.clone();
        above.push(Arc::clone(&shared.header.filter));
        let (store, keeps) = (&shared.store, shared.keeps_answers);
        let (said, stops) = (shared.header.data.clone(), (&token, above));
        let share = LedgerFilter::open(store, keeps, &full, share, data, said, stops);
        Ok(share?)
    }
}
