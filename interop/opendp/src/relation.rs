//! Neighbouring relations in terms of OpenDP's metrics.
//!
//! OpenDP states a loss for a distance d_in in a metric, and here a loss is stated for a number of
//! steps under a relation. The translation belongs to the relation, and so to a type: two children
//! of one compositor cannot mean different things by "neighbours".

use opendp::core::{Domain, Metric};
use opendp::domains::VectorDomain;
use opendp::metrics::{
    ChangeOneDistance, HammingDistance, InsertDeleteDistance, SymmetricDistance,
};

use queryables_core::privacy::{AddRemove, Distance, Relation, Replace, UnknownLoss};

/// A relation whose neighbours are within a known distance of each other in an OpenDP metric:
/// what is needed to launch an OpenDP measurement here.
///
/// | relation | metric, on vectors | d_in |
/// |---|---|---|
/// | [`AddRemove`] | `SymmetricDistance`, `InsertDeleteDistance` | one for each step; none if the size is fixed |
/// | [`Replace`] | `ChangeOneDistance`, `HammingDistance` | one for each step |
/// | [`Replace`] | `SymmetricDistance`, `InsertDeleteDistance` | two for each step |
///
/// In both relations the other rows keep their places, so that metrics which look at the order and
/// metrics which do not are equally good here.
///
/// For any other metric, write the relation down:
///
/// ```
/// use opendp::domains::AtomDomain;
/// use opendp::metrics::AbsoluteDistance;
/// use queryables_opendp::Within;
/// use queryables_core::privacy::{Distance, Relation, UnknownLoss};
///
/// /// Numbers that differ by at most 10: the sum of values between 0 and 10, with one more or less.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct ByTen;
///
/// impl Relation for ByTen {
///     const NAME: &'static str = "differ by at most 10";
/// }
///
/// impl Within<AtomDomain<i64>, AbsoluteDistance<i64>> for ByTen {
///     fn d_in(
///         _: &AtomDomain<i64>,
///         _: &AbsoluteDistance<i64>,
///         distance: Distance,
///     ) -> Result<i64, UnknownLoss> {
///         let steps = i64::try_from(distance.steps()).ok();
///         let bound = steps.and_then(|steps| steps.checked_mul(10));
///         bound.ok_or(UnknownLoss("too far"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "how far apart neighbours under `{Self}` are in OpenDP's `{MI}` on `{DI}` is not known",
    note = "vectors under `AddRemove` are measured by `SymmetricDistance` or \
            `InsertDeleteDistance`, under `Replace` by `ChangeOneDistance` or `HammingDistance` too",
    note = "for any other metric, implement `Within` for a relation of your own, and build the \
            compositor `under` it"
)]
pub trait Within<DI: Domain, MI: Metric>: Relation {
    /// A bound on the distance between any two members of the domain that are this many steps
    /// apart, every step being between members of the domain. Every guarantee under the relation
    /// depends on it.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if there is none.
    fn d_in(domain: &DI, metric: &MI, distance: Distance) -> Result<MI::Distance, UnknownLoss>;
}

/// A relation under which a distance in an OpenDP metric bounds the number of steps: what is needed
/// to hand a mechanism of this crate to OpenDP, as in the example of [the crate](crate).
///
/// | relation | metric, on vectors | steps |
/// |---|---|---|
/// | [`AddRemove`] | `InsertDeleteDistance`, unless the size is fixed | d_in |
/// | [`Replace`] | `HammingDistance` | d_in |
///
/// `SymmetricDistance` and `ChangeOneDistance` do not look at the order of rows: two orders of the
/// same rows are no distance apart, and a mechanism that is private under [`AddRemove`] may still
/// tell them from each other. OpenDP's `make_ordered_random` leads from these metrics to those.
#[diagnostic::on_unimplemented(
    message = "how many steps under `{Self}` a distance in OpenDP's `{MI}` on `{DI}` takes is not known",
    note = "vectors under `AddRemove` are measured by `InsertDeleteDistance`, under `Replace` by \
            `HammingDistance`",
    note = "from `SymmetricDistance` or `ChangeOneDistance`, chain OpenDP's `make_ordered_random` \
            before it",
    note = "for any other metric, implement `Reaches` for a relation of your own"
)]
pub trait Reaches<DI: Domain, MI: Metric>: Relation {
    /// A number of steps that leads from any member of the domain to any other within this
    /// distance, by way of members of the domain. Every conclusion of OpenDP depends on it.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if there is none.
    fn steps(domain: &DI, metric: &MI, d_in: &MI::Distance) -> Result<Distance, UnknownLoss>;
}

const TOO_FAR: UnknownLoss = UnknownLoss("farther apart than OpenDP can say");

/// No two datasets of a fixed size are one added or removed row apart. OpenDP's maps know that, and
/// may say that nothing is lost there.
const FIXED_SIZE: UnknownLoss =
    UnknownLoss("datasets of a fixed size have no neighbours with one row more or less");

fn times(distance: Distance, factor: u32) -> Result<u32, UnknownLoss> {
    let steps = u32::try_from(distance.steps()).ok();
    steps
        .and_then(|steps| steps.checked_mul(factor))
        .ok_or(TOO_FAR)
}

macro_rules! within {
    ($($relation:ident in $metric:ident: $each:literal for each step, $sizes:ident;)*) => {$(
        impl<D: Domain> Within<VectorDomain<D>, $metric> for $relation {
            fn d_in(
                domain: &VectorDomain<D>,
                _: &$metric,
                distance: Distance,
            ) -> Result<u32, UnknownLoss> {
                $sizes(domain)?;
                times(distance, $each)
            }
        }
    )*};
}

within! {
    AddRemove in SymmetricDistance: 1 for each step, size_varies;
    AddRemove in InsertDeleteDistance: 1 for each step, size_varies;
    Replace in ChangeOneDistance: 1 for each step, any_size;
    Replace in HammingDistance: 1 for each step, any_size;
    // One row less, then one row more.
    Replace in SymmetricDistance: 2 for each step, any_size;
    Replace in InsertDeleteDistance: 2 for each step, any_size;
}

fn any_size<D: Domain>(_: &VectorDomain<D>) -> Result<(), UnknownLoss> {
    Ok(())
}

fn size_varies<D: Domain>(domain: &VectorDomain<D>) -> Result<(), UnknownLoss> {
    domain.size.map_or(Ok(()), |_| Err(FIXED_SIZE))
}

fn at_least_one(d_in: u32) -> Distance {
    Distance::new(d_in.into()).unwrap_or(Distance::NEIGHBOURS)
}

/// Row by row: whatever stands in between is made of rows of the one and of the other.
impl<D: Domain> Reaches<VectorDomain<D>, InsertDeleteDistance> for AddRemove {
    fn steps(
        domain: &VectorDomain<D>,
        _: &InsertDeleteDistance,
        d_in: &u32,
    ) -> Result<Distance, UnknownLoss> {
        size_varies(domain)?;
        Ok(at_least_one(*d_in))
    }
}

/// Row by row, and none more or less.
impl<D: Domain> Reaches<VectorDomain<D>, HammingDistance> for Replace {
    fn steps(
        _: &VectorDomain<D>,
        _: &HammingDistance,
        d_in: &u32,
    ) -> Result<Distance, UnknownLoss> {
        Ok(at_least_one(*d_in))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opendp::domains::AtomDomain;

    type Bytes = VectorDomain<AtomDomain<u8>>;

    fn domain() -> Bytes {
        VectorDomain::new(AtomDomain::default())
    }

    fn d_in<R: Within<Bytes, MI>, MI: Metric>(
        domain: &Bytes,
        metric: MI,
        steps: u64,
    ) -> Result<MI::Distance, UnknownLoss> {
        R::d_in(domain, &metric, Distance::new(steps).unwrap())
    }

    #[test]
    fn a_replaced_row_is_one_removed_and_one_added() {
        for (steps, single, double) in [(1, 1, 2), (3, 3, 6)] {
            let any = domain();
            assert_eq!(
                d_in::<AddRemove, _>(&any, SymmetricDistance, steps),
                Ok(single)
            );
            assert_eq!(
                d_in::<AddRemove, _>(&any, InsertDeleteDistance, steps),
                Ok(single)
            );
            let sized = domain().with_size(5);
            assert_eq!(
                d_in::<Replace, _>(&sized, ChangeOneDistance, steps),
                Ok(single)
            );
            assert_eq!(
                d_in::<Replace, _>(&sized, HammingDistance, steps),
                Ok(single)
            );
            assert_eq!(
                d_in::<Replace, _>(&sized, SymmetricDistance, steps),
                Ok(double)
            );
            assert_eq!(
                d_in::<Replace, _>(&sized, InsertDeleteDistance, steps),
                Ok(double)
            );
        }
    }

    #[test]
    fn what_opendp_cannot_count_is_unknown() {
        let (last, half) = (u64::from(u32::MAX), u64::from(u32::MAX / 2));
        let any = domain();
        assert_eq!(
            d_in::<AddRemove, _>(&any, SymmetricDistance, last),
            Ok(u32::MAX)
        );
        assert_eq!(
            d_in::<AddRemove, _>(&any, SymmetricDistance, last + 1),
            Err(TOO_FAR)
        );
        assert_eq!(
            d_in::<Replace, _>(&any, SymmetricDistance, half),
            Ok(u32::MAX - 1)
        );
        assert_eq!(
            d_in::<Replace, _>(&any, SymmetricDistance, half + 1),
            Err(TOO_FAR)
        );
    }

    #[test]
    fn where_the_size_is_fixed_nothing_is_added_or_removed() {
        let sized = domain().with_size(5);
        assert_eq!(
            d_in::<AddRemove, _>(&sized, SymmetricDistance, 1),
            Err(FIXED_SIZE)
        );
        assert_eq!(
            d_in::<AddRemove, _>(&sized, InsertDeleteDistance, 2),
            Err(FIXED_SIZE)
        );
        assert_eq!(
            <AddRemove as Reaches<_, _>>::steps(&sized, &InsertDeleteDistance, &2),
            Err(FIXED_SIZE)
        );
        assert_eq!(
            <Replace as Reaches<_, _>>::steps(&sized, &HammingDistance, &2),
            Ok(Distance::new(2).unwrap())
        );
        assert_eq!(
            <AddRemove as Reaches<_, _>>::steps(&domain(), &InsertDeleteDistance, &0),
            Ok(Distance::NEIGHBOURS)
        );
    }
}
