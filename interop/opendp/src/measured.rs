//! OpenDP's measurements as mechanisms of this crate.

use std::fmt;
use std::sync::Arc;

use opendp::core::{Domain, Measure as OpenDpMeasure, Measurement, Metric};
use opendp::interactive::Queryable as OpenDpQueryable;

use crate::frame::Frame;
use crate::{Counterpart, InDomain, Value, Within};
use queryables_core::machine::{
    Coins, DomainMismatch, Fault, Machine, Mechanism, Public, Released,
};
use queryables_core::privacy::{Distance, Measure, Private, UnknownLoss};

/// An OpenDP measurement, to be launched by a compositor of this crate.
///
/// One that releases a plain [`Value`] is non-interactive: it is
/// [`release`](queryables_core::compose::RunningFilter::release)d. One that emits an OpenDP queryable is
/// interactive: it is launched with
/// [`launch_local`](queryables_core::compose::RunningFilter::launch_local), because OpenDP's queryables cannot
/// leave their thread, and every question to the handle is one to the queryable.
///
/// The compositor runs on a [`InDomain`] of the measurement's domain, under a relation that knows the
/// measurement's metric ([`Within`]). At a launch, OpenDP's privacy map is called once for each
/// distance that the compositor needs, before the data is touched; its value is the loss, rounded
/// up. If the map fails, or its value is not a loss (negative, NaN, infinite, too large), the
/// result is an [`UnknownLoss`], and nothing is charged. A measurement on another domain than that
/// of the data is refused, and not charged.
///
/// Postprocessing that talks to a queryable inside gets no more from it once the child is frozen:
/// in a sequential or non-interactive compositor, by the next launch, on whatever thread. The
/// measurement fails then, and is charged.
///
/// An error or a panic in OpenDP's code leaves the charge standing and closes the child. OpenDP's
/// message is dropped, because it may contain data. The message of a panic goes to the process's
/// panic hook, as usual, but OpenDP's arithmetic removes that hook and restores it at every sum:
/// with several threads, your own hook may be missing when it is needed, or lost for good. Do not
/// rely on one, and show standard error to no analyst.
///
/// # Guarantee
///
/// That which OpenDP states with the privacy map, for members of the domain. It depends on the
/// measurement satisfying its map. In particular:
///
/// - **Functions of yours are pure and total**: they neither keep what they are given nor fail or
///   panic on it. One that fails on some data, and not on its neighbour, tells them apart. And
///   OpenDP's compositors run a measurement before they charge for it (opendp/opendp#958): inside
///   one launch, a function behind a measurement that keeps its input or puts it into an error gets
///   answers that are not charged. For the same reason OpenDP's filters and odometers are not
///   launched as children: that does not compile. A compositor with losses fixed in advance
///   (`make_adaptive_composition`) is, and is closed at its first error.
/// - **`make_population_amplification` does not compose**: its loss is that of one release from a
///   sample that nobody knows, and the second release is from the same sample. Launch at most one of
///   them on the data, and nothing else.
/// - OpenDP's compositors, nested inside one launch, may be 8 levels deep. A launch with more is
///   charged and fails: OpenDP itself would overflow the stack some levels further.
///
/// OpenDP draws from its own source of randomness, not from the compositor's coins: such a
/// mechanism can be neither replayed nor verified. That source is a secure one only with OpenDP's
/// feature `use-openssl`, which your `Cargo.toml` has to ask for.
///
/// # Example
///
/// See [the crate](crate).
pub struct Measured<DI: Domain, MI: Metric, MO: OpenDpMeasure, TO>(Measurement<DI, MI, MO, TO>);

impl<DI: Domain, MI: Metric, MO: OpenDpMeasure, TO> Measured<DI, MI, MO, TO> {
    /// This measurement.
    pub fn new(measurement: Measurement<DI, MI, MO, TO>) -> Self {
        Self(measurement)
    }

    fn invoke(
        &self,
        data: &Arc<InDomain<DI>>,
        coins: &Coins<'_>,
        frame: &Frame,
    ) -> Result<TO, Fault>
    where
        DI: 'static,
        DI::Carrier: 'static,
        TO: 'static,
    {
        // Compositors have checked this before; other code that embeds the mechanism may not have.
        self.fits(data.domain())
            .map_err(|mismatch| Fault::InvalidQuery(mismatch.0))?;
        let (function, data) = (self.0.function.clone(), Arc::clone(data));
        frame.run(coins, move || function.eval(data.value()))
    }

    /// Both domains are public.
    fn fits(&self, domain: &DI) -> Result<(), DomainMismatch> {
        if self.0.input_domain == *domain {
            Ok(())
        } else {
            Err(DomainMismatch(
                "the measurement is on another domain than the data",
            ))
        }
    }
}

impl<Me, R, DI, MI, MO, TO> Private<Me, R> for Measured<DI, MI, MO, TO>
where
    Me: Measure,
    R: Within<DI, MI>,
    DI: Domain,
    MI: Metric,
    MO: Counterpart<Me>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        Private::<Me, R>::loss_at(self, measure, Distance::NEIGHBOURS)
    }

    /// OpenDP's privacy map, at the d_in of this distance; where it has no answer, what the measure's
    /// group privacy makes of its answer for neighbours.
    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        let at = |distance| {
            let d_in = R::d_in(&self.0.input_domain, &self.0.input_metric, distance)?;
            let unknown = UnknownLoss("OpenDP's privacy map has no answer at this distance");
            self.0.map(&d_in).map_err(|_| unknown)
        };
        match at(distance) {
            Ok(d_out) => MO::loss(measure, &d_out),
            Err(unknown) if distance == Distance::NEIGHBOURS => Err(unknown),
            // OpenDP's compositors know nothing beyond the distance that they were built for.
            Err(_) => measure.group(&MO::loss(measure, &at(Distance::NEIGHBOURS)?)?, distance),
        }
    }
}

impl<DI, MI, MO, TO> Mechanism<InDomain<DI>> for Measured<DI, MI, MO, TO>
where
    DI: Domain<Carrier: 'static> + 'static,
    MI: Metric,
    MO: OpenDpMeasure,
    TO: Value,
{
    type Machine = Released<TO>;

    fn start(
        &self,
        data: &Arc<InDomain<DI>>,
        coins: &mut Coins<'_>,
    ) -> Result<Released<TO>, Fault> {
        self.invoke(data, coins, &Frame::default()).map(Released)
    }

    fn check(&self, data: Public<'_, InDomain<DI>>) -> Result<(), DomainMismatch> {
        self.fits(data.metadata())
    }
}

impl<DI, MI, MO, Q, A> Mechanism<InDomain<DI>> for Measured<DI, MI, MO, OpenDpQueryable<Q, A>>
where
    DI: Domain<Carrier: 'static> + 'static,
    MI: Metric,
    MO: OpenDpMeasure,
    Q: 'static,
    A: 'static,
{
    type Machine = Asked<Q, A>;

    fn start(&self, data: &Arc<InDomain<DI>>, coins: &mut Coins<'_>) -> Result<Asked<Q, A>, Fault> {
        let frame = Frame::default();
        let queryable = self.invoke(data, coins, &frame)?;
        Ok(Asked { queryable, frame })
    }

    fn check(&self, data: Public<'_, InDomain<DI>>) -> Result<(), DomainMismatch> {
        self.fits(data.metadata())
    }
}

/// A running OpenDP queryable. It stays on its thread, and is a machine if its answers are
/// [`Value`]s.
pub struct Asked<Q, A> {
    queryable: OpenDpQueryable<Q, A>,
    frame: Frame,
}

impl<Q: 'static, A: Value> Machine for Asked<Q, A> {
    type Query = Q;
    type Answer = A;

    fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<A, Fault> {
        let mut queryable = self.queryable.clone();
        self.frame.run(coins, move || queryable.eval(&query))
    }
}

impl<DI: Domain, MI: Metric, MO: OpenDpMeasure, TO> Clone for Measured<DI, MI, MO, TO> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<DI: Domain, MI: Metric, MO: OpenDpMeasure, TO> fmt::Debug for Measured<DI, MI, MO, TO> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Measured").field(&self.0).finish()
    }
}

impl<Q, A> fmt::Debug for Asked<Q, A> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asked")
    }
}
