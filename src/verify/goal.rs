//! The divergence bounds that make up a claim of privacy.

use super::Interval;
use super::Rational;
use super::VerifyError;
use super::objective::Objective;
use super::worst::{exp_of, order_of};
use crate::number::{Delta, Epsilon, Order};
use crate::privacy::{ApproxDp, EpsilonDelta, Measure, PureDp, Rdp, RdpCurve, RdpGrid};

/// A measure whose losses can be checked on a finite conversation.
///
/// These are not among them:
///
/// | measure | why |
/// |---|---|
/// | [`ZCdp`](crate::privacy::ZCdp) | it is about infinitely many orders: check those that matter to you, with [`RdpGrid`] |
/// | [`Gdp`](crate::privacy::Gdp), [`SampledGaussianDp`](crate::privacy::SampledGaussianDp) | they are about infinitely many (ε, δ): check those that matter to you, with [`ApproxDp`] |
/// | [`ApproxZCdp`](crate::privacy::ApproxZCdp), [`ApproxRdp`](crate::privacy::ApproxRdp) | they leave out an event of probability δ, and the best one is not searched for |
/// | [`ProbabilisticDp`](crate::privacy::ProbabilisticDp) | deterministic adversaries are not known to be enough ([`Postprocessable`](crate::privacy::Postprocessable)) |
///
/// ```
/// use queryables::privacy::{ApproxDp, EpsilonDelta};
/// use queryables::verify::{Checkable, Goal};
///
/// let loss = EpsilonDelta::new("1", "1e-6")?;
/// let goals = ApproxDp.goals(&loss);
/// assert_eq!(goals, [Goal::Delta { epsilon: loss.epsilon, delta: loss.delta }]);
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
pub trait Checkable: Measure {
    /// The bounds that must hold against every adversary, in both directions: all of them hold if
    /// and only if the loss is at most this.
    fn goals(&self, loss: &Self::Loss) -> Vec<Goal>;
}

/// What a claim comes to, where it enters.
///
/// # Errors
///
/// [`VerifyError::OtherMeasure`], [`VerifyError::NoGoals`], [`VerifyError::ForbidsNothing`].
pub(super) fn goals_of<Me: Checkable>(
    measure: &Me,
    loss: &Me::Loss,
) -> Result<Vec<Goal>, VerifyError> {
    if !measure.is_valid(loss) {
        return Err(VerifyError::OtherMeasure);
    }
    let goals = measure.goals(loss);
    if goals.is_empty() {
        return Err(VerifyError::NoGoals);
    }
    let allows_all =
        |goal: &Goal| matches!(goal, Goal::Delta { delta, .. } if *delta >= Delta::ONE);
    if goals.iter().all(allows_all) {
        return Err(VerifyError::ForbidsNothing);
    }
    Ok(goals)
}

/// A bound on a divergence.
///
/// Example: [`Checkable`](crate::verify::Checkable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Goal {
    /// No view is more than `e^ε` times as probable on one dataset as on the other.
    Ratio {
        /// ε.
        epsilon: Epsilon,
    },
    /// `δ(ε) ≤ δ`.
    Delta {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// `D_α ≤ ε`, checked as `e^((α-1) D_α) ≤ e^((α-1) ε)`.
    Renyi {
        /// α.
        order: Order,
        /// ε.
        epsilon: Epsilon,
    },
}

impl Goal {
    /// What is compared, in words, and for which parameters.
    pub(super) fn what(&self) -> String {
        match self {
            Self::Ratio { epsilon } => {
                format!("the ratio of the probabilities of a view, for ε = {epsilon},")
            }
            Self::Delta { epsilon, .. } => format!("δ(ε), for ε = {epsilon},"),
            Self::Renyi { order, epsilon } => {
                format!("e^((α-1) D_α), for α = {order} and ε = {epsilon},")
            }
        }
    }

    /// What an adversary maximises.
    pub(super) fn objective(&self) -> Result<Objective, VerifyError> {
        Ok(match self {
            Self::Ratio { .. } => Objective::Ratio,
            Self::Delta { epsilon, .. } => Objective::HockeyStick(exp_of(*epsilon)?),
            Self::Renyi { order, .. } => Objective::Renyi(order_of(*order)),
        })
    }

    /// The largest value that is allowed.
    pub(super) fn allowed(&self) -> Result<Interval, VerifyError> {
        match self {
            Self::Ratio { epsilon } => exp_of(*epsilon),
            Self::Delta { delta, .. } => {
                Ok(Rational::from_parts(delta.units().into(), 10_u128.pow(38).into()).into())
            }
            Self::Renyi { order, epsilon } => renyi_allowance(*epsilon, *order),
        }
    }
}

impl Goal {
    /// What a loss that is larger by the tolerance allows.
    pub(super) fn nearly(&self) -> Result<Interval, VerifyError> {
        let units = match self {
            Self::Ratio { .. } => 1,
            Self::Delta { .. } => 0,
            // 10⁻⁹, in units of 10⁻²⁷.
            Self::Renyi { .. } => 10_u128.pow(18),
        };
        let larger = |epsilon: &Epsilon| {
            let units = epsilon.units().saturating_add(units);
            Epsilon::from_units(units).map_err(|_| VerifyError::OutOfRange("epsilon"))
        };
        match self {
            Self::Ratio { epsilon } => Self::Ratio {
                epsilon: larger(epsilon)?,
            },
            Self::Delta { .. } => *self,
            Self::Renyi { order, epsilon } => Self::Renyi {
                order: *order,
                epsilon: larger(epsilon)?,
            },
        }
        .allowed()
    }

    /// What a verdict prints if it needs the tolerance.
    pub(super) fn tolerance(&self) -> &'static str {
        match self {
            Self::Ratio { .. } => "up to one unit in the last place of ε: 1e-27",
            Self::Delta { .. } => "exactly",
            Self::Renyi { .. } => "up to 1e-9 in ε",
        }
    }
}

/// `e^((α-1) ε)`.
fn renyi_allowance(epsilon: Epsilon, order: Order) -> Result<Interval, VerifyError> {
    let epsilon = Rational::from_parts(epsilon.units().into(), 10_u128.pow(27).into());
    let exponent = epsilon * (order_of(order) - Rational::ONE);
    Interval::exp(&exponent).ok_or(VerifyError::OutOfRange("(α-1) ε"))
}

/// `p / q ≤ e^ε` for every view.
impl Checkable for PureDp {
    fn goals(&self, loss: &Epsilon) -> Vec<Goal> {
        vec![Goal::Ratio { epsilon: *loss }]
    }
}

/// `δ(ε) ≤ δ`.
impl Checkable for ApproxDp {
    fn goals(&self, loss: &EpsilonDelta) -> Vec<Goal> {
        vec![Goal::Delta {
            epsilon: loss.epsilon,
            delta: loss.delta,
        }]
    }
}

/// `D_α ≤ ε`.
impl Checkable for Rdp {
    fn goals(&self, loss: &Epsilon) -> Vec<Goal> {
        vec![Goal::Renyi {
            order: self.order(),
            epsilon: *loss,
        }]
    }
}

/// The same at every order of the grid.
impl Checkable for RdpGrid {
    fn goals(&self, loss: &RdpCurve) -> Vec<Goal> {
        let points = self.orders().iter().zip(loss.epsilons());
        let goals = points.map(|(order, epsilon)| Goal::Renyi {
            order: *order,
            epsilon: *epsilon,
        });
        goals.collect()
    }
}
