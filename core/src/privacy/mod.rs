//! What a guarantee is made of: exact numbers, measures and their losses, neighbouring
//! relations, and the trait with which a mechanism states its loss.
//!
//! A mechanism states a loss under a measure and a relation ([`Private`]). One that knows more
//! than a number states a fact ([`facts`]), for example Laplace noise of this scale, and every
//! measure that can price the fact does so ([`Prices`]). A loss under one measure implies losses
//! under others ([`Implies`], [`ImpliesAt`]); [`Restated`] and [`RestatedAt`] wrap mechanisms that
//! state a single one.
//!
//! | measure | loss | source |
//! |---|---|---|
//! | [`PureDp`] | [`Epsilon`](crate::number::Epsilon) | Dwork, McSherry, Nissim, Smith 2006 |
//! | [`ApproxDp`] | [`EpsilonDelta`] | Haney et al. 1.1 |
//! | [`ProbabilisticDp`] | [`EpsilonDelta`] | Rogers et al. 2.2, Whitehouse et al. App. F |
//! | [`Rdp`] | [`Epsilon`](crate::number::Epsilon) at one order | Haney et al. 1.3 |
//! | [`ApproxRdp`] | [`EpsilonDelta`] at one order | Papernot and Steinke 2022 |
//! | [`RdpGrid`] | [`RdpCurve`] | the same, at several orders at once |
//! | [`ZCdp`] | [`Rho`](crate::number::Rho) | Haney et al. 4.4 |
//! | [`ApproxZCdp`] | [`RhoDelta`] | Whitehouse et al. Def. 3 |
//! | [`Gdp`] | [`Mu`](crate::number::Mu) | Tran et al. 2.4 |
//! | [`SampledGaussianDp`] | [`Mu`](crate::number::Mu) at one sampling rate | Zhu, Dong, Wang 2022 |
//!
//! Where measures are chosen at run time, [`AnyMeasure`] keeps what a mechanism states, and
//! [`AnyLoss`] is a loss under some measure.

mod any_loss;
mod any_measure;
pub mod convert;
pub mod facts;
pub(crate) mod implies;
mod implies_at;
pub(crate) mod measure;
pub(crate) mod measures;
mod pair;
mod prices;
mod relation;
mod restated;

pub use any_loss::AnyLoss;
#[cfg(feature = "serde")]
pub(crate) use any_loss::WrittenLoss;
pub use any_measure::AnyMeasure;
pub use implies::Implies;
pub(crate) use implies::half_square;
pub use implies_at::{ImpliesAt, RestatedAt};
pub(crate) use measure::Reentrant;
pub use measure::{Additive, Measure, Overflow, Postprocessable, Private, UnknownLoss};
pub(crate) use measure::{checked, checked_under};
pub use measures::{
    ApproxDp, ApproxRdp, ApproxZCdp, Gdp, GridError, ProbabilisticDp, PureDp, Rdp, RdpCurve,
    RdpGrid, SampledGaussianDp, ZCdp,
};
pub use pair::{EpsilonDelta, RhoDelta};
pub use prices::Prices;
pub use relation::{AddRemove, Distance, Relation, Replace};
pub use restated::Restated;
