use super::Pure;
use crate::number::Delta;
use crate::privacy::{
    ApproxDp, ApproxRdp, ApproxZCdp, Distance, EpsilonDelta, Gdp, Implies, Prices, ProbabilisticDp,
    PureDp, Rdp, RdpGrid, RhoDelta, UnknownLoss, ZCdp,
};

/// (ε, δ)-pDP: with probability at least 1 − δ the realised loss is at most ε. If δ is zero, ε-DP.
///
/// A measure without a δ prices it only if its δ is zero.
///
/// ```
/// use queryables::privacy::facts::Probabilistic;
/// use queryables::privacy::{ApproxDp, EpsilonDelta, Prices, PureDp, UnknownLoss};
///
/// let fact = Probabilistic { loss: EpsilonDelta::new("0.5", "1e-6")? };
/// assert_eq!(ApproxDp.price(&fact)?, fact.loss);
/// assert_eq!(PureDp.price(&fact), Err(UnknownLoss("this measure has no loss where δ > 0")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Probabilistic {
    /// (ε, δ).
    pub loss: EpsilonDelta,
}

impl Probabilistic {
    /// What is true at a distance: known for neighbours, and if δ is zero.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] elsewhere, or if d·ε cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        if distance == Distance::NEIGHBOURS {
            return Ok(*self);
        }
        let unknown = UnknownLoss("probabilistic DP has no group privacy theorem");
        let pure = self.pure().ok_or(unknown)?.at(distance)?;
        let loss = PureDp.imply(&pure.epsilon, &ProbabilisticDp)?;
        Ok(Self { loss })
    }

    /// What it is if δ is zero.
    fn pure(&self) -> Option<Pure> {
        let EpsilonDelta { epsilon, delta } = self.loss;
        (delta == Delta::ZERO).then_some(Pure { epsilon })
    }
}

/// By definition (Rogers et al. 2.2).
impl Prices<Probabilistic> for ProbabilisticDp {
    fn price(&self, fact: &Probabilistic) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(fact.loss)
    }
}

/// (ε, δ)-pDP is (ε, δ)-DP (Rogers et al. Lemma 2.3).
impl Prices<Probabilistic> for ApproxDp {
    fn price(&self, fact: &Probabilistic) -> Result<EpsilonDelta, UnknownLoss> {
        ProbabilisticDp.imply(&fact.loss, self)
    }
}

/// What (ε, δ)-DP implies (Kairouz, Oh, Viswanath 2015).
impl Prices<Probabilistic> for ApproxZCdp {
    fn price(&self, fact: &Probabilistic) -> Result<RhoDelta, UnknownLoss> {
        ApproxDp.imply(&fact.loss, self)
    }
}

/// What (ε, δ)-DP implies (Kairouz, Oh, Viswanath 2015).
impl Prices<Probabilistic> for ApproxRdp {
    fn price(&self, fact: &Probabilistic) -> Result<EpsilonDelta, UnknownLoss> {
        ApproxDp.imply(&fact.loss, self)
    }
}

/// What ε-DP implies, if δ is zero; otherwise no loss is finite.
macro_rules! only_without_delta {
    ($($Me:ty)*) => {$(
        /// What ε-DP implies, if δ is zero.
        #[diagnostic::do_not_recommend]
        impl Prices<Probabilistic> for $Me {
            fn price(&self, fact: &Probabilistic) -> Result<Self::Loss, UnknownLoss> {
                let unknown = UnknownLoss("this measure has no loss where δ > 0");
                self.price(&fact.pure().ok_or(unknown)?)
            }
        }
    )*};
}

only_without_delta!(PureDp ZCdp Gdp Rdp RdpGrid);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(epsilon: &str, delta: &str) -> Probabilistic {
        let loss = EpsilonDelta::new(epsilon, delta).unwrap();
        Probabilistic { loss }
    }

    #[test]
    fn a_delta_of_zero_is_pure_privacy() {
        let pure = Pure {
            epsilon: "0.5".parse().unwrap(),
        };
        let rdp = Rdp::new("3".parse().unwrap());
        let grid = RdpGrid::new([rdp.order()]).unwrap();
        let fact = of("0.5", "0");
        assert_eq!(PureDp.price(&fact), PureDp.price(&pure));
        assert_eq!(ZCdp.price(&fact), ZCdp.price(&pure));
        assert_eq!(Gdp.price(&fact), Gdp.price(&pure));
        assert_eq!(rdp.price(&fact), rdp.price(&pure));
        assert_eq!(grid.price(&fact), grid.price(&pure));
        let unknown = UnknownLoss("this measure has no loss where δ > 0");
        let fact = of("0.5", "1e-38");
        assert_eq!(PureDp.price(&fact), Err(unknown));
        assert_eq!(ZCdp.price(&fact), Err(unknown));
        assert_eq!(Gdp.price(&fact), Err(unknown));
        assert_eq!(rdp.price(&fact), Err(unknown));
        assert_eq!(grid.price(&fact), Err(unknown));
    }

    #[test]
    fn a_distance_is_known_without_delta() {
        let two = Distance::new(2).unwrap();
        assert_eq!(of("0.5", "0").at(two), Ok(of("1", "0")));
        let fact = of("0.5", "0.1");
        assert_eq!(fact.at(Distance::NEIGHBOURS), Ok(fact));
        assert_eq!(
            fact.at(two),
            Err(UnknownLoss("probabilistic DP has no group privacy theorem"))
        );
    }
}
