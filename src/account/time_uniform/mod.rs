//! Odometers that bound the *realised* loss, at all times at once.
//!
//! ```text
//! P( at some time, ln(p(all answers so far) / p'(all answers so far)) > reading ) ≤ δ
//! ```
//!
//! This guarantee differs from that of an [`Accumulator`](super::Accumulator), which is about the
//! distribution of a truncated view. So there is a separate trait, [`TimeUniformOdometer`], and a
//! separate kind of [`Reading`], and neither converts into the other. The mechanisms must answer
//! once, at their launch: probabilistic privacy is not kept by postprocessing (Whitehouse et al.
//! App. F), and the proof below is about one answer for each launch.
//!
//! All of them measure time by what was spent, `V = 2Σρ` ([`Variance`]), where a launch of (ε, δ)
//! counts as `ρ = ε·tanh(ε/2)`, so that V is at most Σε². They differ in where they are tight:
//!
//! | odometer | tight | grows like ½V and | source |
//! |---|---|---|---|
//! | [`VarianceOdometer::tangent`] | at one V chosen in advance | V | Whitehouse et al. Thm 3 |
//! | [`VarianceOdometer::mixture`] | around one V, slightly worse elsewhere | √(V ln V) | Whitehouse et al. Thm 3 |
//! | [`VarianceOdometer::stitched`] | nearly tight at every V | √(V ln ln V) | Whitehouse et al. Thm 3 |
//! | [`RogersOdometer`] | – | √(V ln V) | Rogers et al. 6.2, for comparison |
//!
//! [`tangent_at`](VarianceOdometer::tangent_at) and [`mixture_at`](VarianceOdometer::mixture_at) tune
//! the parameter for the V at which it will be read. The first three take launches under zCDP as well
//! ([`for_zcdp`](VarianceOdometer::for_zcdp)).
//!
//! # Why they hold
//!
//! Whitehouse et al. Thm 3 is false as printed where δ > 0: it conditions on the event that no
//! loss is large, and a mechanism conditioned so need not be ε-DP. On x, let the answer be a with
//! probability p, else b; on x', a with probability `p·e^−ε`, b with probability `(1 − p)·e^ε` and
//! else c, where `p = (e^ε − 1 + δ)/(e^ε − e^−ε)`. Then c has probability δ, and on x the loss is
//! ε or −ε, with mean `ε·tanh(ε/2) + δ·ε/sinh ε` instead of at most ε²/2. Here is what holds.
//!
//! **One launch.** Let P and Q be the laws of its answer on x and on x', given all answers before,
//! and L = ln(dP/dQ), taken under P.
//!
//! - *ρ-zCDP*: `E e^{λL} ≤ e^{λ(λ+1)ρ}` for all λ > 0. That is the definition, at the order λ + 1.
//!   For λ between −1 and 0 nothing of the kind holds (if P = Q, the left side is 1), so that L − ρ
//!   need not be sub-Gaussian in the usual sense. Nothing below uses a λ < 0.
//! - *(ε, δ)-pDP*, which means `P(L > ε) ≤ δ` and, because neighbours are so both ways,
//!   `Q(L < −ε) ≤ δ`: let Z be L where |L| ≤ ε, and 0 elsewhere. Then L ≤ Z with probability at least 1 − δ,
//!   and with ρ = ε·tanh(ε/2), for all λ > 0,
//!
//!   ```text
//!   E e^{λZ} ≤ e^{λ(λ+1)ρ + λδε/sinh ε} ≤ e^{λ(λ+1)ρ + λδ}
//!   ```
//!
//!   *Proof.* If ε = 0, Z is 0. Otherwise let A be the event |L| ≤ ε. On it r = dP/dQ lies between e^−ε and e^ε, where the
//!   convex function r^{1+λ} is at most its chord `(sinh((1+λ)ε)·r − sinh(λε))/sinh ε`. Integrated
//!   over A under Q, and with 1 for the rest of P,
//!
//!   ```text
//!   E e^{λZ} ≤ (sinh((1+λ)ε) − sinh(λε))/sinh ε
//!              + sinh(λε)/sinh ε · Q(not A) − (sinh((1+λ)ε)/sinh ε − 1) · P(not A)
//!   ```
//!
//!   The part of "not A" with L > ε adds nothing: there `Q ≤ e^−ε·P`, and the last bracket is at
//!   least `sinh(λε)·cosh ε/sinh ε`. The other part has Q(L < −ε) ≤ δ. So, if p₀ = 1/(1 + e^−ε) and
//!   p = p₀ + δ/(2 sinh ε),
//!
//!   ```text
//!   E e^{λZ} ≤ p·e^{λε} + (1 − p)·e^{−λε}
//!   ```
//!
//!   which the mechanism above attains. The logarithm of the right side is concave in p. At p₀ it is
//!   the loss of randomized response, at most λ(λ+1)ρ
//!   ([`zcdp::pure`](crate::privacy::convert::zcdp::pure)); there its slope is `2 sinh(λε)` over
//!   `p₀e^{λε} + (1 − p₀)e^{−λε}`, which is at least cosh(λε), so that the slope is at most 2λε.
//!   Hence the logarithm is at most `λ(λ+1)ρ + 2λε·δ/(2 sinh ε)`, and ε ≤ sinh ε. ∎
//!
//! **All launches.** Let S be the sum of the Z (of the L, under zCDP) less Σρ + Σδ, and V = 2Σρ; ρ
//! and δ of a launch are fixed before it runs. Then `exp(λS − ½λ²V)` is a supermartingale that
//! starts at 1, for every λ > 0, and each odometer says which bound u on S follows: `S ≤ u(V)` at
//! all times with probability at least 1 − δ'. The realised loss is at most the sum of the Z unless some
//! launch had L > ε, which while Σδ ≤ δ'' has probability at most δ''. So the loss is at most
//! `u(V) + ½V + Σδ` at all such times, with probability at least 1 − δ' − δ''.

mod mixture;
mod reading;
mod rogers;
mod slack;
mod spent;
mod stitched;
mod tangent;
#[cfg(test)]
mod tests;
mod variance_odometer;

pub use reading::Reading;
pub use rogers::RogersOdometer;
pub use slack::Slack;
pub use spent::Variance;
pub use variance_odometer::VarianceOdometer;

use std::fmt::Debug;

use crate::privacy::{Measure, Overflow};

/// An odometer for the realised loss of mechanisms that answer once. Its state does not grow.
///
/// # Guarantee
///
/// Let each launched mechanism have the counted loss under [`Launches`](Self::Launches) given all
/// answers before, where the loss was counted before it ran. Then, for any two neighbouring
/// datasets, the probability that the log-ratio of the densities of the answers exceeds the reading
/// *at any time* is at most [`Reading::delta`] (Whitehouse et al. Def. 6). The [module](self) has
/// the proof for those here.
///
/// [`VarianceOdometer::mixture`] has an example.
pub trait TimeUniformOdometer: Clone + Debug + Send + Sync + 'static {
    /// The measure in which launches state their losses: probabilistic DP or zCDP for those here.
    type Launches: Measure;

    /// That measure.
    fn launches(&self) -> &Self::Launches;

    /// The odometer after one more launch. A pure function: it changes nothing.
    ///
    /// # Errors
    ///
    /// [`Overflow`] if V can no longer be held.
    fn add(&self, loss: &<Self::Launches as Measure>::Loss) -> Result<Self, Overflow>;

    /// The bound on the loss realised so far, rounded up.
    fn reading(&self) -> Reading;
}
