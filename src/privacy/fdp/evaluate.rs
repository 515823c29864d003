//! Profiles at single places, and as tables.

use std::sync::Arc;

use super::curve::{Curve, Point, best};
use super::lattice::Lattice;
use super::profile::Form;
use super::table::Table;
use super::{Adjacency, FdpError, Profile};
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::EpsilonDelta;

impl Profile {
    /// The curve, if there is one and it is not reversed.
    pub(super) fn plain_curve(&self) -> Option<&Curve> {
        match &self.form {
            Form::Closed(curve) if !self.reversed => Some(curve),
            _ => None,
        }
    }

    pub(super) fn curve(&self) -> Option<&Curve> {
        match &self.form {
            Form::Closed(curve) if !self.reversed || curve.is_symmetric() => Some(curve),
            _ => None,
        }
    }

    /// The (ε, δ) that is known of it by its parameters.
    pub(crate) fn approximate(&self) -> Option<EpsilonDelta> {
        let pure = |epsilon| EpsilonDelta {
            epsilon,
            delta: Delta::ZERO,
        };
        match self.curve()? {
            Curve::Response(loss) => Some(*loss),
            Curve::BoundedRange(epsilon)
            | Curve::Laplace(epsilon)
            | Curve::DiscreteLaplace { epsilon, .. } => Some(pure(*epsilon)),
            _ => None,
        }
    }

    /// The step of the grid on which it, or a part of it, was composed.
    pub(crate) fn step(&self) -> Option<Epsilon> {
        self.lattice().map(Lattice::step)
    }

    /// The μ of Gaussian noise.
    pub(crate) fn gaussian_noise(&self) -> Option<Mu> {
        match self.curve()? {
            Curve::Gaussian(_) | Curve::RoundedGaussian { .. } => self.mu().ok(),
            _ => None,
        }
    }

    /// The rate and the μ of Gaussian noise on a sample.
    pub(crate) fn sampled_noise(&self) -> Option<(Delta, Mu)> {
        match self.curve()? {
            Curve::Sampled { rate, base } => match **base {
                Curve::Gaussian(mu) => Some((*rate, mu)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether both directions are known to be the same.
    pub(crate) fn is_symmetric(&self) -> bool {
        match &self.form {
            Form::Closed(curve) => curve.is_symmetric(),
            Form::Tables { remove, add } => Arc::ptr_eq(remove, add),
            // One may be the other direction of another one.
            Form::Worst(several) => several
                .iter()
                .all(|each| each.is_symmetric() || several.contains(&each.reversed())),
        }
    }

    pub(super) fn facing(&self, direction: Adjacency) -> Adjacency {
        if self.reversed {
            direction.reversed()
        } else {
            direction
        }
    }

    /// H at e^s.
    pub(super) fn at(&self, direction: Adjacency, s: Interval) -> Interval {
        let direction = self.facing(direction);
        match &self.form {
            Form::Closed(curve) => curve.at(direction, s).height,
            Form::Tables { remove, add } => match direction {
                Adjacency::Remove => remove.at(s),
                Adjacency::Add => add.at(s),
            },
            Form::Worst(several) => several
                .iter()
                .map(|profile| profile.at(direction, s))
                .fold(Interval::ZERO, Interval::max),
        }
    }

    /// Where to evaluate it.
    pub(super) fn nodes(
        &self,
        direction: Adjacency,
        lattice: Lattice,
        tail: f64,
        spread: u32,
    ) -> Result<Vec<i64>, FdpError> {
        let direction = self.facing(direction);
        match &self.form {
            Form::Closed(curve) => lattice.nodes(curve, direction, tail, spread),
            Form::Tables { remove, add } => {
                let table = match direction {
                    Adjacency::Remove => remove,
                    Adjacency::Add => add,
                };
                if table.lattice == lattice {
                    Ok(table.nodes.clone())
                } else {
                    Err(FdpError::DifferentSteps {
                        one: table.lattice.step(),
                        other: lattice.step(),
                    })
                }
            }
            Form::Worst(several) => {
                let mut nodes = Vec::new();
                for profile in several.iter() {
                    nodes.extend(profile.nodes(direction, lattice, tail, spread)?);
                }
                nodes.sort_unstable();
                nodes.dedup();
                Ok(nodes)
            }
        }
    }

    /// The table at places that include its own.
    pub(super) fn table_at(
        &self,
        direction: Adjacency,
        lattice: Lattice,
        nodes: Vec<i64>,
    ) -> Table {
        let direction = self.facing(direction);
        match &self.form {
            Form::Closed(curve) => Table::of_curve(curve, direction, lattice, nodes),
            Form::Tables { remove, add } => match direction {
                Adjacency::Remove => remove.at_more(nodes),
                Adjacency::Add => add.at_more(nodes),
            },
            Form::Worst(several) => {
                let mut tables = several
                    .iter()
                    .map(|profile| profile.table_at(direction, lattice, nodes.clone()));
                let nothing = Curve::Gaussian(Mu::ZERO);
                let first = tables.next().unwrap_or_else(|| {
                    Table::of_curve(&nothing, direction, lattice, nodes.clone())
                });
                tables.fold(first, |worst, table| worst.max(&table))
            }
        }
    }

    pub(super) fn table(
        &self,
        direction: Adjacency,
        lattice: Lattice,
        tail: f64,
        spread: u32,
    ) -> Result<Table, FdpError> {
        let nodes = self.nodes(direction, lattice, tail, spread)?;
        Ok(self.table_at(direction, lattice, nodes))
    }

    /// An event: the height at e^s and a slope there, where they are known in closed form.
    pub(super) fn point(&self, direction: Adjacency, s: Interval) -> Option<Point> {
        let direction = self.facing(direction);
        match &self.form {
            Form::Closed(curve) => Some(curve.at(direction, s)),
            Form::Tables { .. } => None,
            Form::Worst(several) => {
                let points: Option<Vec<_>> = several
                    .iter()
                    .map(|profile| profile.point(direction, s))
                    .collect();
                points.map(best)
            }
        }
    }

    /// The lattice of a table in it, if there is one.
    pub(super) fn lattice(&self) -> Option<Lattice> {
        match &self.form {
            Form::Closed(_) => None,
            Form::Tables { remove, .. } => Some(remove.lattice),
            Form::Worst(several) => several.iter().find_map(Self::lattice),
        }
    }

    /// The corners of the lower polygon, if the profile is known by a table.
    pub(super) fn corners(&self, direction: Adjacency) -> Vec<(Interval, f64)> {
        let table = self
            .lattice()
            .and_then(|lattice| self.table(direction, lattice, 1e-16, 128).ok());
        table.map_or_else(Vec::new, |table| {
            let losses = table.nodes.iter().map(|&node| table.lattice.loss(node));
            losses.zip(table.low.iter().copied()).collect()
        })
    }
}
