//! Data that is known to lie in an OpenDP domain.

use std::fmt;
use std::ops::Range;

use opendp::core::Domain;
use thiserror::Error;

use queryables_core::data::Dataset;
use queryables_core::machine::PublicMetadata;

/// Data, and the OpenDP domain that it is a member of.
///
/// An OpenDP measurement promises something about members of its domain only: a sum of values that
/// are said to lie between 0 and 10 tells everything about one that does not. So the data holder
/// states once to which domain the data belongs, and this is checked before anything is launched;
/// from then on, only measurements on that domain start.
///
/// The domain is public, like the neighbouring relation: analysts read it from the handle
/// ([`facts`](queryables_core::compose::RunningFilter::metadata)) and build their measurements on it. Do not compute it from the data,
/// unless that is public too.
///
/// What works on a [`Dataset`] works on a member as it does on its value.
///
/// ```
/// use opendp::domains::{AtomDomain, VectorDomain};
/// use queryables_opendp::{InDomain, NotInDomain};
///
/// let digits = VectorDomain::new(AtomDomain::new_closed((0, 9))?);
/// let member = InDomain::new(digits.clone(), vec![3, 1, 4])?;
/// assert_eq!(member.value(), &[3, 1, 4]);
/// assert_eq!(InDomain::new(digits, vec![3, 14]).unwrap_err(), NotInDomain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InDomain<DI: Domain> {
    domain: DI,
    value: DI::Carrier,
}

/// The data is not in the domain of an [`InDomain`]. Show this to the data holder only: it says something
/// about the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the data is not a member of the domain")]
pub struct NotInDomain;

impl<DI: Domain> InDomain<DI> {
    /// Data that is a member of the domain.
    ///
    /// # Errors
    ///
    /// [`NotInDomain`] if it is not, or if OpenDP cannot tell.
    pub fn new(domain: DI, value: DI::Carrier) -> Result<Self, NotInDomain> {
        match domain.member(&value) {
            Ok(true) => Ok(Self { domain, value }),
            Ok(false) | Err(_) => Err(NotInDomain),
        }
    }

    /// The domain.
    #[must_use]
    pub fn domain(&self) -> &DI {
        &self.domain
    }

    /// The data.
    #[must_use]
    pub fn value(&self) -> &DI::Carrier {
        &self.value
    }
}

/// The records of the data.
impl<DI: Domain<Carrier: Dataset> + Send + Sync> Dataset for InDomain<DI> {
    type Record<'a>
        = <DI::Carrier as Dataset>::Record<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.value.len()
    }

    fn at(&self, index: usize) -> Self::Record<'_> {
        self.value.at(index)
    }

    fn records(&self, range: Range<usize>) -> impl Iterator<Item = Self::Record<'_>> {
        self.value.records(range)
    }
}

impl<DI: Domain> fmt::Debug for InDomain<DI> {
    /// The domain, and nothing of the data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InDomain")
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

/// The domain is public.
impl<DI: Domain> PublicMetadata for InDomain<DI> {
    type Metadata = DI;

    fn metadata(&self) -> &DI {
        &self.domain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error;
    use opendp::error::Fallible;

    /// Knows of even numbers only.
    #[derive(Clone, Debug, PartialEq)]
    struct Undecided;

    impl Domain for Undecided {
        type Carrier = u8;

        fn member(&self, value: &u8) -> Fallible<bool> {
            match value % 2 {
                0 => Ok(true),
                _ => Err(error::function("who knows")),
            }
        }
    }

    #[test]
    fn what_opendp_cannot_tell_is_no_member() {
        assert_eq!(*InDomain::new(Undecided, 2).unwrap().value(), 2);
        assert_eq!(InDomain::new(Undecided, 3).unwrap_err(), NotInDomain);
    }
}
