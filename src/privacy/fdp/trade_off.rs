//! From a profile to a trade-off function: the bijection of Tran et al. A.6.

use super::{Adjacency, Bounds, Profile};
use crate::number::{Delta, Interval};
use crate::privacy::convert::search::{after, bisect, lowest};

impl Profile {
    /// The trade-off function at α: among tests that raise a false alarm with probability α at most,
    /// how often the best one misses.
    ///
    /// [`Adjacency::Remove`] is T\[P, Q\], T's f for remove adjacency; [`Adjacency::Add`] is its
    /// inverse T\[Q, P\] (Tran et al. A.8).
    ///
    /// # Guarantee
    ///
    /// T\[Q, P\](α) = sup over γ of 1 − H(γ) − γα (Tran et al. A.6), so every γ gives a lower bound,
    /// and the lower polygon of H an upper one, at one of its corners. In closed form the upper bound
    /// is a test: raise the alarm where P > γQ, with a γ such that this happens under Q with
    /// probability at most α.
    ///
    /// ```
    /// use queryables::privacy::fdp::{Adjacency, Profile};
    ///
    /// let missed = Profile::gaussian("1".parse()?).trade_off(Adjacency::Remove, "0.05".parse()?);
    /// assert!(missed.lower > "0.7404889".parse()? && missed.upper < "0.740489".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn trade_off(&self, direction: Adjacency, alarms: Delta) -> Bounds<Delta> {
        if alarms == Delta::ONE {
            return Bounds {
                lower: Delta::ZERO,
                upper: Delta::ZERO,
            };
        }
        let direction = direction.reversed();
        let alpha = Interval::from(alarms);
        let missed = |s: f64| {
            let s = Interval::exactly(s);
            Interval::ONE - self.at(direction, s) - s.exp() * alpha
        };
        let at = refined(|s| -missed(s).low());
        let lower = missed(at).low().max(0.0);
        let upper = self.missed_at_most(direction, alpha, at);
        Bounds {
            lower: Interval::exactly(lower).down().unwrap_or_default(),
            upper: Interval::exactly(upper.max(lower))
                .up()
                .unwrap_or(Delta::ONE),
        }
    }

    /// At least what the best test misses; `near` is where the best γ seems to be.
    fn missed_at_most(&self, direction: Adjacency, alpha: Interval, near: f64) -> f64 {
        let corners = self.corners(direction);
        if !corners.is_empty() {
            // 1 − (low + γα) is largest at a corner, or at γ = 0, where it is 0.
            return corners
                .into_iter()
                .map(|(s, low)| (Interval::ONE - Interval::exactly(low) - s.exp() * alpha).high())
                .fold(0.0, f64::max);
        }
        // (Q(A), 1 − P(A)) for the event at s.
        let test = |s: f64| {
            let point = self.point(direction, Interval::exactly(s))?;
            let power = point.height + Interval::exactly(s).exp() * point.slope;
            Some((point.slope.high(), (Interval::ONE - power).high()))
        };
        // Alarms become fewer with s: the first test that raises few enough.
        let is_valid = |s: f64| test(s).is_some_and(|(alarms, _)| alarms <= alpha.low());
        let (low, mut high) = (near - 1e-3, near + 1e-9);
        while !is_valid(high) && high < 700.0 {
            high += 1e-9 + 2.0 * (high - near);
        }
        let (high, low) = bisect(high, low, after(60), is_valid);
        // Between a test with too many alarms and one with too few, throw a coin.
        let few_enough = test(high).filter(|(alarms, _)| *alarms <= alpha.low());
        // A little farther left, where it is certain which answers belong to the test.
        let before = test(low - 1e-9);
        match (before, few_enough) {
            (Some((many, fewer)), Some((few, more))) if many > few && more > fewer => {
                let share = (alpha.low() - few) / (many - few) * (1.0 - 1e-12);
                (more - share.clamp(0.0, 1.0) * (more - fewer)) * (1.0 + 1e-14)
            }
            (_, Some((_, more))) => more.min(1.0),
            _ => (Interval::ONE - alpha).high(),
        }
    }
}

/// Where a function of a loss with one valley is smallest.
fn refined(function: impl Fn(f64) -> f64) -> f64 {
    let wide = lowest(-60.0, 60.0, &function);
    let near = lowest(wide - 1.0, wide + 1.0, &function);
    if function(near) <= function(wide) {
        near
    } else {
        wide
    }
}
