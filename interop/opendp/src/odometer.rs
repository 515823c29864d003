//! Odometers of this crate on OpenDP's data, read in OpenDP's distances.

use std::sync::Arc;

use opendp::core::{Domain, Measure as OpenDpMeasure, Metric, MetricSpace};
use opendp::error::Fallible;

use crate::{Embeddable, InDomain, Reaches, error, probe};
use queryables_core::account::{Accumulator, ValidConcurrently};
use queryables_core::compose::{Odometer, RunningOdometer};
use queryables_core::queryable::{Scope, start_under};

/// An [`Odometer`] that is invoked on OpenDP's data and says what has been spent in OpenDP's terms:
/// what an `opendp::core::Odometer` does. It cannot be one, because OpenDP lets nobody else construct a
/// queryable.
///
/// # Guarantee
///
/// That of the odometer, for members of the domain and at each distance that it
/// [tracks](Odometer::tracking). An odometer has no bound, so it is no measurement: OpenDP's compositors
/// do not take it. Cap it ([`Odometer::capped`]) and use [`make_interactive`](crate::make_interactive).
///
/// ```
/// use opendp::domains::{AtomDomain, VectorDomain};
/// use opendp::metrics::InsertDeleteDistance;
/// use queryables_core::prelude::*;
/// use queryables_core::privacy::Distance;
/// use queryables_opendp::make_odometer;
///
/// let ages = VectorDomain::new(AtomDomain::<u32>::default());
/// let families = Distance::new(3).ok_or("zero")?;
/// let odometer = Odometer::concurrent(PureDp).tracking([families]);
/// let odometer = make_odometer(ages, InsertDeleteDistance, PureDp, odometer)?;
/// let running = odometer.invoke(&vec![17, 18, 43, 70])?;
/// assert_eq!(odometer.privacy_loss(&running, &3)?, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EmbeddedOdometer<DI, MI, Me, G, R> {
    domain: DI,
    metric: MI,
    measure: Me,
    odometer: Odometer<G, R>,
}

impl<DI, MI, Me: std::fmt::Debug, G, R> std::fmt::Debug for EmbeddedOdometer<DI, MI, Me, G, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedOdometer")
            .field("measure", &self.measure)
            .finish_non_exhaustive()
    }
}

/// An odometer of this crate for OpenDP's data. [`EmbeddedOdometer`] has an example.
///
/// # Errors
///
/// OpenDP's, if the domain and the metric do not go together.
pub fn make_odometer<DI, MI, Me, G, R>(
    input_domain: DI,
    input_metric: MI,
    measure: Me,
    odometer: Odometer<G, R>,
) -> Fallible<EmbeddedOdometer<DI, MI, Me, G, R>>
where
    DI: Domain + 'static,
    MI: Metric + 'static,
    (DI, MI): MetricSpace,
    Me: Embeddable,
    G: Accumulator<Children = Me, Whole = Me> + ValidConcurrently,
    R: Reaches<DI, MI>,
{
    (input_domain.clone(), input_metric.clone()).check_space()?;
    Ok(EmbeddedOdometer {
        domain: input_domain,
        metric: input_metric,
        measure,
        odometer,
    })
}

impl<DI, MI, Me, G, R> EmbeddedOdometer<DI, MI, Me, G, R>
where
    DI: Domain<Carrier: Clone> + 'static,
    MI: Metric + 'static,
    Me: Embeddable,
    G: Accumulator<Children = Me, Whole = Me> + ValidConcurrently,
    R: Reaches<DI, MI>,
{
    /// Starts it on this data.
    ///
    /// # Errors
    ///
    /// OpenDP's, if the data is not in the domain.
    pub fn invoke(&self, data: &DI::Carrier) -> Fallible<RunningOdometer<InDomain<DI>, G, R>> {
        let member = InDomain::new(self.domain.clone(), data.clone());
        let member = member.map_err(|_| error::function("the data is not in the domain"))?;
        let token = probe::watched(&Scope::in_force())?;
        start_under(&self.odometer, Arc::new(member), &token)
            .map_err(|_| error::function("the odometer did not start"))
    }

    /// What has been spent for datasets at this distance, rounded up to a float.
    ///
    /// # Errors
    ///
    /// OpenDP's, if this distance is not one that the odometer tracks.
    pub fn privacy_loss(
        &self,
        running: &RunningOdometer<InDomain<DI>, G, R>,
        d_in: &MI::Distance,
    ) -> Fallible<<Me::OpenDp as OpenDpMeasure>::Distance> {
        let steps = R::steps(&self.domain, &self.metric, d_in);
        let steps = steps.map_err(|unknown| error::map(unknown.0))?;
        let spent = running.privacy_loss_at(steps);
        let spent = spent.ok_or_else(|| error::map("the odometer does not track this distance"))?;
        Ok(self.measure.distance(&spent))
    }
}
