//! Compositors that show a bound on the realised loss.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{
    CompositorMachine, Decides, DenialOf, Gate, LaunchError, NonInteractive, PriceOf, RuleCell,
    RunningCompositor, Takes, Terms, compositor,
};
use crate::account::time_uniform::{Reading, TimeUniformOdometer};
use crate::machine::{Coins, Description, Fault, Mechanism};
use crate::privacy::{AddRemove, Distance, Overflow, Reentrant, Relation};

/// A compositor that launches whatever non-interactive mechanism it is asked to, and shows a bound
/// on the loss realised so far that holds at all times at once.
///
/// It has no bound and states no loss, so that it cannot be launched in a filter. Nor can it be
/// capped: stopping before the reading passes ε would be (ε, δ)-private, but no reading is below
/// [`AdvancedComposition`](crate::account::AdvancedComposition)'s total with the same slack, whose cap admits as much
/// and takes interactive children too.
///
/// # Guarantee
///
/// That of [`TimeUniformOdometer`], for mechanisms that answer once, and whose loss is stated under
/// probabilistic DP, or under zCDP for an odometer made `for_zcdp`. A mechanism that states a loss
/// under pure privacy only can be launched in both: wrap it in `Restated::new(PureDp, mechanism)`.
///
/// # Example
///
/// ```
/// use queryables::account::time_uniform::{Slack, VarianceOdometer};
/// use queryables::compose::TimeUniform;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let slack = Slack::pure("1e-6".parse()?)?;
/// let odometer = TimeUniform::noninteractive(VarianceOdometer::mixture_at("1".parse()?, slack));
/// let odometer = start(&odometer, Arc::new(vec![17, 18, 43, 70]))?;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = Count::of(adults).laplace(epsilon!(0.1))?;
/// for _ in 0..100 {
///     let answer: i64 = odometer.release(&count)?;
/// }
/// // The losses add up to 10. With probability 1 − 1e-6 the realised loss is below this.
/// let most = "6.4".parse()?;
/// assert!(odometer.privacy_loss().bound().is_some_and(|bound| bound < most));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimeUniform<O, R = AddRemove> {
    odometer: O,
    relation: PhantomData<fn() -> R>,
}

impl<O: TimeUniformOdometer> TimeUniform<O> {
    /// Children answer once; there is no other kind.
    pub fn noninteractive(odometer: O) -> Self {
        Self {
            odometer,
            relation: PhantomData,
        }
    }
}

impl<O, R> TimeUniform<O, R> {
    /// Requires the loss of children under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, _relation: S) -> TimeUniform<O, S> {
        TimeUniform {
            odometer: self.odometer,
            relation: PhantomData,
        }
    }
}

impl<D: ?Sized, O: TimeUniformOdometer, R: Relation> Mechanism<D> for TimeUniform<O, R> {
    type Machine = CompositorMachine<D, TimeUniformGate<O>, R, NonInteractive>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let measure = self.odometer.launches().clone();
        let terms = Terms::at(measure, Distance::NEIGHBOURS);
        let gate = TimeUniformGate {
            odometer: RuleCell::new(self.odometer.clone(), Reentrant(true)),
        };
        Ok(compositor(data, terms, gate, coins))
    }

    fn describe(&self) -> Description {
        Description::new("TimeUniform")
            .with("odometer", Description::of::<O>().name())
            .with("relation", R::NAME)
            .incomplete()
    }
}

/// What counts in a running [`TimeUniform`].
#[derive(Clone, Debug)]
pub struct TimeUniformGate<O> {
    odometer: RuleCell<O>,
}

impl<O: TimeUniformOdometer> Gate for TimeUniformGate<O> {
    type Children = O::Launches;
    type Whole = O::Launches;
    type Reading = Reading;

    /// The bound on the loss realised so far.
    fn reading(&self) -> Reading {
        self.odometer.reading()
    }
}

impl<O: TimeUniformOdometer, M: ?Sized, R> Takes<M, R> for TimeUniformGate<O> {}

impl<O: TimeUniformOdometer> Decides for TimeUniformGate<O> {
    // A third-party odometer may call back.
    const REENTRANT: bool = true;
    const HANDLE: &'static str = "RunningTimeUniform";

    fn charge(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>> {
        let sum = self.odometer.add(&price.first);
        let sum = sum.map_err(|Overflow| LaunchError::Overflow)?;
        self.odometer = RuleCell::new(sum, Reentrant(true));
        Ok(())
    }
}

/// A running [`TimeUniform`] on data of type `D`: what an analyst releases answers with, and reads
/// the bound from.
///
/// It is a handle: clones share one odometer, and it can be sent between threads.
///
/// # Guarantee
///
/// That of [`TimeUniform`], which has an example.
pub type RunningTimeUniform<D, O, R = AddRemove> =
    RunningCompositor<D, TimeUniformGate<O>, R, NonInteractive>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::time_uniform::{RogersOdometer, Slack, VarianceOdometer};
    use crate::machine::Released;
    use crate::number::Rho;
    use crate::prelude::*;
    use crate::privacy::{EpsilonDelta, Private, ProbabilisticDp, Replace, UnknownLoss, ZCdp};
    use crate::start;

    /// Costs what it is told to, and fails on an empty dataset.
    #[derive(Clone)]
    struct Length(EpsilonDelta);

    impl Mechanism<[u8]> for Length {
        type Machine = Released<usize>;

        fn start(&self, data: &Arc<[u8]>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
            match data.len() {
                0 => Err(Fault::Failed),
                length => Ok(Released(length)),
            }
        }
    }

    impl Private<ProbabilisticDp, Replace> for Length {
        fn loss(&self, _: &ProbabilisticDp) -> Result<EpsilonDelta, UnknownLoss> {
            Ok(self.0)
        }
    }

    fn accountant() -> VarianceOdometer {
        let slack = Slack::pure("1e-6".parse().unwrap()).unwrap();
        VarianceOdometer::tangent("1".parse().unwrap(), slack).unwrap()
    }

    fn started(data: &[u8]) -> RunningTimeUniform<[u8], VarianceOdometer, Replace> {
        let odometer = TimeUniform::noninteractive(accountant()).under(Replace);
        start(&odometer, Arc::from(data)).unwrap()
    }

    /// Releases the length at this price.
    macro_rules! release {
        ($odometer:expr, $epsilon:expr) => {
            $odometer.release(&Length(EpsilonDelta::new($epsilon, "0").unwrap()))
        };
    }

    #[test]
    fn the_reading_is_that_of_the_losses_launched() {
        let odometer = started(&[1, 2, 3]);
        let mut expected = accountant();
        for epsilon in ["0.1", "0.02", "0.3"] {
            assert_eq!(release!(odometer, epsilon), Ok(3));
            let loss = EpsilonDelta::new(epsilon, "0").unwrap();
            expected = expected.add(&loss).unwrap();
            assert_eq!(odometer.privacy_loss(), expected.reading());
        }
        assert_ne!(odometer.privacy_loss(), accountant().reading());
    }

    #[test]
    fn a_mechanism_that_fails_is_charged() {
        let odometer = started(&[]);
        assert_eq!(release!(odometer, "0.1"), Err(LaunchError::Failed));
        assert!(odometer.privacy_loss().bound() > accountant().reading().bound());
    }

    #[test]
    fn what_cannot_be_counted_is_not_launched() {
        let rogers = RogersOdometer::new(10, "1e-6".parse().unwrap()).unwrap();
        let odometer = TimeUniform::noninteractive(rogers).under(Replace);
        let odometer = start(&odometer, Arc::<[u8]>::from([1])).unwrap();
        assert_eq!(release!(odometer, "3.3e11"), Ok(1));
        let before = odometer.privacy_loss();
        assert_eq!(release!(odometer, "3.3e11"), Err(LaunchError::Overflow));
        assert_eq!(odometer.privacy_loss(), before);
    }

    impl Private<ZCdp, Replace> for Length {
        /// Half of ε².
        fn loss(&self, _: &ZCdp) -> Result<Rho, UnknownLoss> {
            Ok("0.005".parse().unwrap())
        }
    }

    #[test]
    fn an_odometer_for_zcdp_asks_for_rho() {
        let odometer = TimeUniform::noninteractive(accountant().for_zcdp()).under(Replace);
        let odometer = start(&odometer, Arc::<[u8]>::from([1, 2])).unwrap();
        assert_eq!(release!(odometer, "0.1"), Ok(2));
        let expected = accountant().bound_at("0.01".parse().unwrap());
        assert_eq!(odometer.privacy_loss().bound(), expected);
    }
}
