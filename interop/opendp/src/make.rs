//! Mechanisms of this crate as OpenDP measurements.

use std::rc::Rc;
use std::sync::Arc;

use opendp::core::{Domain, Function, Measurement, Metric, MetricSpace, PrivacyMap};
use opendp::error::Fallible;

use crate::{Embeddable, InDomain, Reaches, error, probe};
use queryables_core::machine::{Mechanism, guarded};
use queryables_core::privacy::{Private, UnknownLoss};
use queryables_core::queryable::{HandleOf, IntoHandle, Scope, start_under};

/// An OpenDP measurement that starts a mechanism `M` of this crate and emits its handle: made by
/// [`make_interactive`], of which [the crate](crate) has an example.
pub type Embedded<DI, MI, Me, M> =
    Measurement<DI, MI, <Me as Embeddable>::OpenDp, HandleOf<M, InDomain<DI>>>;

/// An OpenDP measurement that, when it is invoked, starts an interactive mechanism of this crate, a
/// [`Filter`](queryables_core::compose::Filter) above all, and emits its handle.
///
/// Its privacy map is the mechanism's loss, rounded up to a float; for a filter that is the budget,
/// and at larger distances what follows by the measure's group privacy, if that is known. So it can
/// be chained with OpenDP's transformations, and composed by OpenDP's compositors.
///
/// # Guarantee
///
/// That of the mechanism, for members of the domain. The measure is one that can be composed
/// concurrently ([`Embeddable`]), so that it does not matter to OpenDP's compositors when the handle
/// is used, or on which thread. A cast to approximate zCDP (OpenDP's `make_approximate`, after zCDP)
/// is another matter: under that measure OpenDP freezes what it has composed before. On the thread
/// on which it was made, the handle notices, and answers no more. On another thread it cannot: after
/// such a cast, do not send it to one.
///
/// Launched by a compositor of this crate in its turn, the measurement emits its handle into a
/// postprocessor of yours, and what that keeps is frozen as soon as it has made its answer.
///
/// # Errors
///
/// OpenDP's, if the domain and the metric do not go together. The measurement itself fails on data
/// that is not in the domain, and if the mechanism does not start.
///
/// # Example
///
/// See [the crate](crate).
pub fn make_interactive<DI, MI, Me, R, M>(
    input_domain: DI,
    input_metric: MI,
    measure: Me,
    _relation: R,
    mechanism: M,
) -> Fallible<Embedded<DI, MI, Me, M>>
where
    DI: Domain<Carrier: Clone> + 'static,
    MI: Metric + 'static,
    (DI, MI): MetricSpace,
    Me: Embeddable,
    R: Reaches<DI, MI>,
    M: Mechanism<InDomain<DI>, Machine: IntoHandle> + Private<Me, R> + 'static,
{
    let mechanism = Rc::new(mechanism);
    let started = Rc::clone(&mechanism);
    let (domain, metric) = (input_domain.clone(), input_metric.clone());
    let members = input_domain.clone();
    Measurement::new(
        input_domain,
        input_metric,
        Me::OpenDp::default(),
        Function::new_fallible(move |value: &DI::Carrier| {
            let member = InDomain::new(members.clone(), value.clone());
            let member = member.map_err(|_| error::function("the data is not in the domain"))?;
            let token = probe::watched(&Scope::in_force())?;
            start_under(&*started, Arc::new(member), &token)
                .map_err(|_| error::function("the mechanism did not start"))
        }),
        PrivacyMap::new_fallible(move |d_in: &MI::Distance| {
            let distance = R::steps(&domain, &metric, d_in);
            // A third-party mechanism may panic, and OpenDP would not remove its hooks then.
            let loss =
                guarded(|| Ok(distance.and_then(|steps| mechanism.loss_at(&measure, steps))))
                    .unwrap_or(Err(UnknownLoss("the mechanism failed to state its loss")))
                    .map_err(|unknown| error::map(unknown.0))?;
            if !measure.is_valid(&loss) {
                return Err(error::map("the stated loss does not belong to the measure"));
            }
            Ok(measure.distance(&loss))
        }),
    )
}
