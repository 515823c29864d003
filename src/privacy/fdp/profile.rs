use std::fmt;
use std::sync::Arc;

use rustfft::FftPlanner;

use super::compose::compose;
use super::curve::Curve;
use super::table::Table;
use super::{FdpError, Grid};

/// Which of the two laws comes first.
///
/// Example: [`Profile`](crate::privacy::fdp::Profile).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adjacency {
    /// The answers with the person's data against those without: T's H⁻.
    Remove,
    /// The answers without the person's data against those with.
    Add,
}

impl Adjacency {
    /// Both.
    pub(crate) const BOTH: [Self; 2] = [Self::Remove, Self::Add];

    /// The other one.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Remove => Self::Add,
            Self::Add => Self::Remove,
        }
    }
}

/// How well answers distinguish neighbouring datasets: a privacy profile, and with it a trade-off
/// function, between certified bounds.
///
/// It belongs to a pair of laws (P, Q), P with a person's data and Q without, that are at least as
/// easy to tell apart as a mechanism's answers on any neighbours: H(γ) = max P(A) − γQ(A) over all
/// events (Tran et al. A.2, A.4). Neighbours have no direction, so the profile of (Q, P) is part of
/// it, and losses are stated for the worse of the two.
///
/// ```
/// use queryables::privacy::fdp::{Grid, Profile};
///
/// // A hundred steps of DP-SGD.
/// let step = Profile::sampled_gaussian("0.01".parse()?, "1".parse()?);
/// let grid = Grid::new("1e-3".parse()?)?.aimed_at("1e-5".parse()?);
/// let epsilon = step.power(100, &grid)?.epsilon("1e-5".parse()?)?;
/// assert!(epsilon.lower > "0.71".parse()? && epsilon.upper < "0.72".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Profile {
    pub(super) form: Form,
    pub(super) reversed: bool,
    /// What it was computed from, where its form holds tables: what is compared and written down.
    pub(super) source: Option<Arc<Source>>,
}

/// What tables are computed from. The tables of one source enclose one profile, also where another
/// machine rounds otherwise.
#[derive(Debug, PartialEq)]
pub(super) enum Source {
    /// [`Profile::compose`].
    Product {
        parts: Box<[(Profile, u64)]>,
        grid: Grid,
    },
    /// [`Profile::menu`], for this cost.
    Menu {
        entries: Arc<[(Profile, usize)]>,
        cost: usize,
        grid: Grid,
    },
}

/// By what they were computed from, and so in a time that does not depend on the grid.
impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (&self.source, &other.source) {
            (None, None) => self.form == other.form,
            (one, other) => one == other,
        };
        is_same && self.reversed == other.reversed
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Closed(Curve),
    /// In both directions, on one lattice.
    Tables {
        remove: Arc<Table>,
        add: Arc<Table>,
    },
    /// The largest of several, everywhere.
    Worst(Arc<[Profile]>),
}

impl Profile {
    pub(super) fn closed(curve: Curve) -> Self {
        Self {
            form: Form::Closed(curve),
            reversed: false,
            source: None,
        }
    }

    /// The profile of (Q, P).
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            reversed: !self.reversed,
            ..self.clone()
        }
    }

    /// sym(H): the worse direction in both (Tran et al. A.10).
    ///
    /// ```
    /// use queryables::privacy::fdp::{Adjacency, Profile};
    ///
    /// let sampled = Profile::sampled_gaussian_by("0.1".parse()?, "1".parse()?);
    /// let both = sampled.symmetrised();
    /// let near = "0.693".parse()?;
    /// assert_eq!(both.delta(Adjacency::Remove, near), sampled.delta(Adjacency::Remove, near));
    /// assert_eq!(both.delta(Adjacency::Add, near), sampled.delta(Adjacency::Remove, near));
    /// assert_eq!(both.symmetrised(), both);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn symmetrised(&self) -> Self {
        match self.is_symmetric() {
            true => self.clone(),
            false => self.worst(&self.reversed()),
        }
    }

    /// The least profile that is at least both; as trade-off functions, the greatest lower bound,
    /// the convex envelope of the smaller one (Tran et al. A.1).
    #[must_use]
    pub fn worst(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        Self {
            form: Form::Worst(Arc::new([self.clone(), other.clone()])),
            reversed: false,
            source: None,
        }
    }

    /// The profile of launching this n times (Tran et al. A.12).
    ///
    /// # Errors
    ///
    /// As [`compose`](Self::compose).
    pub fn power(&self, launches: u64, grid: &Grid) -> Result<Self, FdpError> {
        Self::compose(&[(self.clone(), launches)], grid)
    }

    /// The profile of launching both.
    ///
    /// # Errors
    ///
    /// As [`compose`](Self::compose).
    pub fn tensor(&self, other: &Self, grid: &Grid) -> Result<Self, FdpError> {
        Self::compose(&[(self.clone(), 1), (other.clone(), 1)], grid)
    }

    /// The tensor product of several profiles, each with the number of its launches (Tran et al.
    /// 2.8, A.12): by Fourier transform, with every rounding accounted for.
    ///
    /// # Guarantee
    ///
    /// Mechanisms that are dominated by these profiles, chosen adaptively but with the profiles and
    /// their number fixed in advance, are together dominated by it (Tran et al. A.14; Zhu, Dong,
    /// Wang 2022). It is not a filter: which profiles are used must not depend on answers.
    ///
    /// # Errors
    ///
    /// [`FdpError::NoParts`], [`FdpError::TooFar`], [`FdpError::TooManyPoints`], or
    /// [`FdpError::DifferentSteps`] if a part was composed on another grid.
    pub fn compose(parts: &[(Self, u64)], grid: &Grid) -> Result<Self, FdpError> {
        let mut planner = FftPlanner::new();
        let remove = Arc::new(compose(parts, Adjacency::Remove, grid, &mut planner)?);
        let add = if parts.iter().all(|(part, _)| part.is_symmetric()) {
            Arc::clone(&remove)
        } else {
            Arc::new(compose(parts, Adjacency::Add, grid, &mut planner)?)
        };
        let source = Source::Product {
            parts: parts.into(),
            grid: *grid,
        };
        Ok(Self {
            form: Form::Tables { remove, add },
            reversed: false,
            source: Some(Arc::new(source)),
        })
    }

    /// The worst that launches can come to whose costs add up to at most each number, from 0 to `most`,
    /// where a launch is at most one of the entries and has its cost:
    /// `V_n = max(H₀, max over entries of H_i ⊗ V_(n − c_i))`.
    ///
    /// # Errors
    ///
    /// Those of [`compose`](Self::compose).
    pub(crate) fn menu(
        entries: &Arc<[(Self, usize)]>,
        most: usize,
        grid: &Grid,
    ) -> Result<Vec<Self>, FdpError> {
        let mut values = vec![Self::perfect()];
        for cost in 1..=most {
            let mut worst: Option<Self> = None;
            for (entry, own) in entries.iter() {
                let Some(before) = cost.checked_sub(*own).and_then(|left| values.get(left)) else {
                    continue;
                };
                let after = match *before == Self::perfect() {
                    true => entry.clone(),
                    false => entry.tensor(before, grid)?,
                };
                worst = Some(match worst {
                    Some(worst) => worst.worst(&after),
                    None => after,
                });
            }
            let mut value = worst.unwrap_or_else(Self::perfect);
            if !matches!(value.form, Form::Closed(_)) {
                value.source = Some(Arc::new(Source::Menu {
                    entries: Arc::clone(entries),
                    cost,
                    grid: *grid,
                }));
            }
            values.push(value);
        }
        Ok(values)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reversed && !self.is_symmetric() {
            f.write_str("reversed ")?;
        }
        match &self.form {
            Form::Closed(curve) => write!(f, "{curve}"),
            Form::Tables { remove, .. } => {
                write!(f, "a table on multiples of {}", remove.lattice.step())
            }
            Form::Worst(several) => {
                f.write_str("the worst of ")?;
                for (index, profile) in several.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{profile}")?;
                }
                Ok(())
            }
        }
    }
}
