//! Comparing two profiles: which is more private, everywhere.

use super::curve::Curve;
use super::profile::Form;
use super::table::Table;
use super::{Adjacency, FdpError, Grid, Profile};
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::EpsilonDelta;

/// How two profiles compare in the Blackwell order (Tran et al. 2.6, A.7).
///
/// Example: [`Profile`](crate::privacy::fdp::Profile).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blackwell {
    /// The first is at least as private as the second, everywhere.
    Ordered,
    /// The second is at least as private as the first, everywhere.
    Reversed,
    /// They are the same.
    Equal,
    /// Neither: they cross, at some γ between these two.
    Crossing {
        /// The γ of the crossing: between these two.
        at: (f64, f64),
    },
    /// The bounds are too wide to decide.
    Undecided {
        /// Up to this Δ-divergence, the first is at least as private, or the second is.
        within: Delta,
    },
}

impl Profile {
    /// Compares two profiles in one direction.
    ///
    /// Families with a proof are compared by their parameters: Gaussians, randomized response and
    /// Laplace noise, the same at two rates, and Gaussians at one rate (Tran et al. 3.7).
    /// Everything else is decided from bounds on a grid, where that is possible: it cannot separate
    /// tails that both come close to zero.
    ///
    /// # Errors
    ///
    /// [`FdpError::TooFar`], or [`FdpError::DifferentSteps`] if a profile was composed on another
    /// grid.
    ///
    /// ```
    /// use queryables::privacy::fdp::{Blackwell, Adjacency, Grid, Profile};
    ///
    /// let grid = Grid::new("1e-2".parse()?)?;
    /// let (one, other) = (Profile::gaussian("1".parse()?), Profile::laplace("1".parse()?));
    /// let more = Profile::gaussian("2".parse()?);
    /// assert_eq!(one.compare(&more, Adjacency::Remove, &grid)?, Blackwell::Ordered);
    /// let crossing = one.compare(&other, Adjacency::Remove, &grid)?;
    /// assert!(matches!(crossing, Blackwell::Crossing { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compare(
        &self,
        other: &Self,
        direction: Adjacency,
        grid: &Grid,
    ) -> Result<Blackwell, FdpError> {
        if self == other {
            return Ok(Blackwell::Equal);
        }
        if let (Some(one), Some(other)) = (self.curve(), other.curve()) {
            if is_below(one, other) {
                return Ok(Blackwell::Ordered);
            }
            if is_below(other, one) {
                return Ok(Blackwell::Reversed);
            }
        }
        let (one, other) = self.tables(other, direction, grid)?;
        Ok(decide(&one, &other))
    }

    /// Δ(f, g): the least Δ with f(α + Δ) − Δ ≤ g(α) for all α, for the trade-off functions of this
    /// and the other (Tran et al. 3.4, C.8).
    ///
    /// # Guarantee
    ///
    /// f(α + Δ) − Δ belongs to the profile H_f(γ) + (1 + γ)Δ (Tran et al. A.6), so Δ(f, g) is the
    /// supremum of (H_g − H_f)⁺/(1 + γ). On a cell of a grid both bounds are linear in γ, and such a
    /// quotient is largest at an end.
    ///
    /// # Errors
    ///
    /// As [`compare`](Self::compare).
    pub fn divergence(
        &self,
        other: &Self,
        direction: Adjacency,
        grid: &Grid,
    ) -> Result<super::Bounds<Delta>, FdpError> {
        let (one, other) = self.tables(other, direction, grid)?;
        let (lower, _) = excess(&one.up, &other.low, &one);
        let (upper, _) = excess(&one.low, &other.up, &one);
        let upper = upper.max(1.0 - one.start);
        Ok(super::Bounds {
            lower: Interval::exactly(lower * (1.0 - 1e-14))
                .down()
                .unwrap_or_default(),
            upper: Interval::exactly(upper * (1.0 + 1e-14))
                .up()
                .unwrap_or(Delta::ONE),
        })
    }

    /// Whether this is at least as private as the other one by a theorem, in both directions: a
    /// fast comparison of parameters.
    pub(crate) fn is_known_below(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (&self.form, &other.form) {
            (Form::Worst(several), _) if !self.reversed => {
                several.iter().all(|each| each.is_known_below(other))
            }
            (_, Form::Worst(several)) if !other.reversed => {
                several.iter().any(|each| self.is_known_below(each))
            }
            (Form::Closed(one), Form::Closed(most)) => {
                let faces_alike = self.reversed == other.reversed;
                (faces_alike || one.is_symmetric() || most.is_symmetric()) && is_below(one, most)
            }
            _ => false,
        }
    }

    /// Whether this is at least as private as the other one, in both directions, where it is proved: by
    /// a theorem, or from bounds on the grid of either, or else of step 1e-3.
    ///
    /// # Guarantee
    ///
    /// H(γ) of one direction is 1 − γ + γH(1/γ) of the other (Tran et al. A.8), and a maximum of
    /// profiles keeps that. So it is enough that both directions are ordered where γ ≥ 1: the bounds
    /// cannot separate profiles near γ = 0, where all come close to 1.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        if self.is_known_below(other) {
            return true;
        }
        // A table takes long, and is not needed where a few places are enough to say no.
        let above = |s: f64| {
            let s = Interval::exactly(s);
            let higher = |direction| self.at(direction, s).low() > other.at(direction, s).high();
            Adjacency::BOTH.into_iter().any(higher)
        };
        if other.is_known_below(self) || [0.0, 0.3, 1.0, 3.0].into_iter().any(above) {
            return false;
        }
        let step = self.step().or_else(|| other.step());
        let step = step.unwrap_or_else(|| "1e-3".parse().unwrap_or_default());
        let ordered = |direction| {
            let (one, other) = self.tables(other, direction, &Grid::new(step)?)?;
            let bounds = one.nodes.iter().zip(one.up.iter().zip(&other.low));
            // The places include zero. Right of the last one the bounds no longer change.
            let mut bounds = bounds.filter(|(node, _)| **node >= 0);
            Ok::<bool, FdpError>(bounds.all(|(_, (up, low))| up <= low))
        };
        Adjacency::BOTH
            .into_iter()
            .all(|direction| ordered(direction).unwrap_or(false))
    }

    /// Both at the same places, of which zero is one.
    fn tables(
        &self,
        other: &Self,
        direction: Adjacency,
        grid: &Grid,
    ) -> Result<(Table, Table), FdpError> {
        let lattice = grid.lattice();
        let mut nodes = self.nodes(direction, lattice, grid.tail(), grid.spread())?;
        nodes.extend(other.nodes(direction, lattice, grid.tail(), grid.spread())?);
        nodes.push(0);
        nodes.sort_unstable();
        nodes.dedup();
        Ok((
            self.table_at(direction, lattice, nodes.clone()),
            other.table_at(direction, lattice, nodes),
        ))
    }
}

/// Whether the first is at least as private by a theorem.
fn is_below(one: &Curve, other: &Curve) -> bool {
    match (one, other) {
        (Curve::Gaussian(one), _) if *one == Mu::ZERO => true,
        (Curve::Opposite { rate, .. }, _) if *rate == Delta::ZERO => true,
        // A mechanism that reveals nothing is at least as private as any other.
        (Curve::Response(one), _) if *one == EpsilonDelta::default() => true,
        (Curve::Laplace(one) | Curve::BoundedRange(one), _) if *one == Epsilon::ZERO => true,
        (Curve::Gaussian(one), Curve::Gaussian(other)) => one <= other,
        // A postprocessing.
        (Curve::RoundedGaussian { deviation, steps }, Curve::Gaussian(other)) => {
            deviation.mu(*steps).is_some_and(|mu| mu <= *other)
        }
        (Curve::Laplace(one), Curve::Laplace(other)) => one <= other,
        // An interval is within any longer one.
        (Curve::BoundedRange(one), Curve::BoundedRange(other)) => one <= other,
        (Curve::Response(one), Curve::Response(other)) => one <= other,
        // Fewer steps, or slower falling odds: see the price of `Laplace`.
        (
            Curve::DiscreteLaplace { epsilon, steps },
            Curve::DiscreteLaplace {
                epsilon: other_epsilon,
                steps: other_steps,
            },
        ) => {
            // ε/steps is at most the other one.
            let crossed = (
                epsilon.checked_mul(*other_steps),
                other_epsilon.checked_mul(*steps),
            );
            steps <= other_steps && matches!(crossed, (Some(one), Some(other)) if one <= other)
        }
        // ε-DP is dominated by randomized response.
        (
            Curve::Laplace(one)
            | Curve::BoundedRange(one)
            | Curve::DiscreteLaplace { epsilon: one, .. },
            Curve::Response(other),
        ) => *one <= other.epsilon,
        // The mixture is a postprocessing of either answer, and mixing in more of P is less private.
        (
            Curve::Sampled { rate, base },
            Curve::Sampled {
                rate: other_rate,
                base: other_base,
            },
        ) => rate <= other_rate && (base == other_base || is_below(base, other_base)),
        // A row that is replaced by one which moves nothing.
        (Curve::Sampled { rate, base }, Curve::Opposite { rate: most, mu }) => {
            rate <= most && is_below(base, &Curve::Gaussian(*mu))
        }
        (Curve::Sampled { base, .. }, _) => **base == *other || is_below(base, other),
        // Rows that move the sum by less are among those of a larger μ. At a smaller rate it is more often
        // N(0, 1) on both sides.
        (
            Curve::Opposite { rate, mu },
            Curve::Opposite {
                rate: other_rate,
                mu: other_mu,
            },
        ) => rate <= other_rate && mu <= other_mu,
        (Curve::Opposite { mu, .. }, _) => {
            let everybody = mu.checked_mul(2).map(Curve::Gaussian);
            everybody.is_some_and(|everybody| is_below(&everybody, other))
        }
        _ => false,
    }
}

/// The largest (other − one)/(1 + γ) at the places of a table, and its place.
fn excess(one: &[f64], other: &[f64], table: &Table) -> (f64, i64) {
    let values = one.iter().zip(other).zip(&table.nodes);
    let best = values.fold((0.0, 0), |best, ((one, other), &node)| {
        let value = (other - one) / (1.0 + table.lattice.loss(node).exp().middle());
        if value > best.0 { (value, node) } else { best }
    });
    // Right of the last place the bounds no longer change, and 1 + γ grows. Left of the first both
    // are linear down to γ = 0, where an upper bound is 1 and a lower one `start`.
    best
}

fn decide(one: &Table, other: &Table) -> Blackwell {
    // Where the second is certainly larger, and where the first is.
    let (second, at_second) = excess(&one.up, &other.low, one);
    let (first, at_first) = excess(&other.up, &one.low, one);
    if first > 0.0 && second > 0.0 {
        let gamma = |node| one.lattice.loss(node).exp().middle();
        let (left, right) = (at_first.min(at_second), at_first.max(at_second));
        let (left, right) = narrowed(one, other, left, right);
        return Blackwell::Crossing {
            at: (gamma(left), gamma(right)),
        };
    }
    let by_first = excess(&other.low, &one.up, one).0.max(1.0 - other.start);
    let by_second = excess(&one.low, &other.up, one).0.max(1.0 - one.start);
    if by_first == 0.0 {
        return Blackwell::Ordered;
    }
    if by_second == 0.0 {
        return Blackwell::Reversed;
    }
    Blackwell::Undecided {
        within: Interval::exactly(by_first.min(by_second) * (1.0 + 1e-14))
            .up()
            .unwrap_or(Delta::ONE),
    }
}

/// The closest places, between two where the order is certain and opposite, where it still is.
fn narrowed(one: &Table, other: &Table, left: i64, right: i64) -> (i64, i64) {
    let bounds = one
        .up
        .iter()
        .zip(&one.low)
        .zip(other.up.iter().zip(&other.low));
    let signs = one
        .nodes
        .iter()
        .zip(bounds)
        .map(|(&node, ((up, low), (other_up, other_low)))| {
            let sign = i32::from(up < other_low) - i32::from(low > other_up);
            (node, sign)
        });
    let mut last: Option<(i64, i32)> = None;
    for (node, sign) in signs.filter(|(node, sign)| *sign != 0 && (left..=right).contains(node)) {
        if let Some((before, other)) = last
            && other != sign
        {
            return (before, node);
        }
        last = Some((node, sign));
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discrete_laplace_noise_is_below_that_of_no_fewer_steps_and_no_less_loss() {
        let curve = |epsilon: &str, steps| Curve::DiscreteLaplace {
            epsilon: epsilon.parse().unwrap(),
            steps,
        };
        let middle = curve("0.4", 2);
        for (epsilon, steps, below) in [
            ("0.4", 2, true),
            ("0.2", 2, true),
            ("0.2", 1, true),
            ("0.6", 3, false),
            ("0.3", 3, false),
            ("0.6", 2, false),
            ("0.3", 1, false),
            // The products cannot be held.
            ("3e11", 1, false),
        ] {
            let one = curve(epsilon, steps);
            assert_eq!(is_below(&one, &middle), below, "{epsilon} {steps}");
        }
    }

    #[test]
    fn a_replaced_row_is_above_an_added_one_and_below_all_rows() {
        let [rate, more, one]: [Delta; 3] = ["0.3", "0.4", "1"].map(|rate| rate.parse().unwrap());
        let gaussian = |mu: &str| Curve::Gaussian(mu.parse().unwrap());
        let opposite = |rate, mu: &str| Curve::Opposite {
            rate,
            mu: mu.parse().unwrap(),
        };
        let sampled = |rate, mu| Curve::Sampled {
            rate,
            base: gaussian(mu).into(),
        };
        let middle = opposite(rate, "1");
        for (curve, below) in [
            (opposite(rate, "1"), true),
            (opposite(rate, "0.9"), true),
            (opposite(rate, "1.1"), false),
            (opposite(more, "0.9"), false),
            (opposite(Delta::ZERO, "9"), true),
            (sampled(rate, "1"), true),
            (sampled(rate, "1.1"), false),
            (sampled(more, "1"), false),
            (gaussian("1"), false),
        ] {
            assert_eq!(is_below(&curve, &middle), below, "{curve}");
        }
        assert!(is_below(&opposite(one, "1"), &gaussian("2")));
        assert!(!is_below(&opposite(rate, "1"), &gaussian("1.9")));
    }
}
