use std::cmp::Ordering;

use super::curve::Curve;
use super::lattice::Lattice;
use super::{Adjacency, Blackwell, Grid, Profile};
use crate::number::Epsilon;
use crate::privacy::written;
use crate::privacy::{Distance, Measure, Overflow, Postprocessable, Reentrant, UnknownLoss};

/// f-DP: the loss is a [`Profile`], or equivalently a trade-off function (Dong, Roth, Su 2022;
/// Tran et al. 2.4, A.4).
///
/// # Guarantee
///
/// A loss of a mechanism: for every two neighbours, its pair of laws is dominated by the profile's
/// pair (P, Q). Compositors compose each direction by itself, so what comes first must be the same for
/// all mechanisms. Under [`AddRemove`](crate::privacy::AddRemove) it is the dataset with the row.
/// Under a relation that is not [`ORDERED`](crate::privacy::Relation::ORDERED), and for datasets more
/// than one step apart, a loss stands for its [symmetrised](Profile::symmetrised) profile, which is
/// what compositors compose.
///
/// ```
/// use queryables::privacy::Measure;
/// use queryables::privacy::fdp::{FDp, Profile};
///
/// let (one, other) = (Profile::gaussian("1".parse()?), Profile::laplace("1".parse()?));
/// let both = FDp.join(&one, &other);
/// assert_eq!(both.to_string(), "the worst of Gaussian(1), Laplace(1)");
/// assert!(one <= Profile::gaussian("2".parse()?));
/// assert_eq!(one.partial_cmp(&other), None);
/// // Where neither dataset comes first.
/// let sampled = Profile::sampled_gaussian_by("0.1".parse()?, "1".parse()?);
/// assert_eq!(FDp.in_both_orders(sampled.clone())?, sampled.symmetrised());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "privacy loss distribution")]
#[doc(alias = "trade-off function")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FDp;

impl PartialOrd for Profile {
    /// The Blackwell order in both directions, where it is proved; `None` where profiles cross, and
    /// where the bounds on a grid of step 1e-3, or the step of a table, do not decide.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let step = || "1e-3".parse::<Epsilon>().unwrap_or_default();
        let lattice = self.lattice().or_else(|| other.lattice());
        let grid = Grid::new(lattice.map_or_else(step, Lattice::step)).ok()?;
        let mut order = Ordering::Equal;
        for direction in Adjacency::BOTH {
            let here = match self.compare(other, direction, &grid).ok()? {
                Blackwell::Equal => Ordering::Equal,
                Blackwell::Ordered => Ordering::Less,
                Blackwell::Reversed => Ordering::Greater,
                Blackwell::Crossing { .. } | Blackwell::Undecided { .. } => return None,
            };
            if order == Ordering::Equal {
                order = here;
            } else if here != Ordering::Equal && here != order {
                return None;
            }
        }
        Some(order)
    }
}

impl Measure for FDp {
    type Loss = Profile;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Profile {
        Profile::perfect()
    }

    /// The worse direction in both (Tran et al. A.10): whichever dataset came first for the mechanism,
    /// both orders are dominated by it.
    fn in_both_orders(&self, loss: Profile) -> Result<Profile, UnknownLoss> {
        Ok(loss.symmetrised())
    }

    fn join(&self, one: &Profile, other: &Profile) -> Profile {
        one.worst(other)
    }

    /// `k·μ` for Gaussian noise and `k·ε` for a bounded range (Dong, Roth, Su 2022, Theorem 2.14: of
    /// tests between laws that differ by a move, moves add up), and randomized response with `k·ε` for
    /// pure privacy.
    fn group(&self, loss: &Profile, distance: Distance) -> Result<Profile, UnknownLoss> {
        let steps = distance.steps();
        let pure = |epsilon: Epsilon| {
            let total = epsilon.checked_mul(steps).ok_or(Overflow)?;
            Ok(Profile::randomized_response(total))
        };
        match loss.curve() {
            _ if steps == 1 => Ok(loss.clone()),
            // Rounded noise is a postprocessing.
            Some(Curve::Gaussian(_) | Curve::RoundedGaussian { .. }) => {
                let mu = loss.mu().ok().and_then(|mu| mu.checked_mul(steps));
                Ok(Profile::gaussian(mu.ok_or(Overflow)?))
            }
            Some(Curve::BoundedRange(range)) => {
                let range = range.checked_mul(steps).ok_or(Overflow)?;
                Ok(Profile::bounded_range(range))
            }
            Some(Curve::Laplace(epsilon)) => pure(*epsilon),
            Some(Curve::Response(loss)) if loss.delta == crate::number::Delta::ZERO => {
                pure(loss.epsilon)
            }
            _ => Err(UnknownLoss(
                "group privacy of this trade-off function is not offered",
            )),
        }
    }
}

impl Postprocessable for FDp {}

written!(FDp);
