//! Compositors that show a bound on the realised loss.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{Compositor, Gate, LaunchError, NonInteractive};
use crate::account::time_uniform::{Reading, TimeUniformOdometer};
use crate::machine::{Coins, Fault, Mechanism};
use crate::privacy::{
    AddRemove, EpsilonDelta, Overflow, Private, ProbabilisticDp, Relation, UnknownLoss,
};

/// A compositor that launches whatever non-interactive mechanism it is asked to, and shows a bound
/// on the loss realised so far that holds at all times at once.
///
/// It has no bound and states no loss, so that it cannot be launched in a filter. Nor can it be
/// capped: stopping before the reading passes ε would be (ε, δ)-private, but no reading is below
/// [`Whitehouse`](crate::account::Whitehouse)'s total with the same slack, whose cap admits as much
/// and takes interactive children too.
///
/// # Guarantee
///
/// That of [`TimeUniformOdometer`], for mechanisms that are probabilistically private and answer
/// once. A mechanism stated under pure privacy is one: wrap it, `Restated::new(PureDp, mechanism)`.
///
/// # Example
///
/// ```
/// use queryables::prelude::*;
/// use queryables::account::time_uniform::{MixtureOdometer, Slack};
/// use queryables::compose::TimeUniform;
/// use std::sync::Arc;
/// # use queryables::machine::{CoinSource, Coins, Fault};
/// # #[derive(Clone)]
/// # struct Constant(Epsilon);
/// # impl Mechanism<Vec<u8>> for Constant {
/// #     type Machine = Released<u8>;
/// #     fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
/// #         Ok(Released(7))
/// #     }
/// # }
/// # impl Private<PureDp, AddRemove> for Constant {
/// #     fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> { Ok(self.0) }
/// # }
/// let slack = Slack::pure("1e-6".parse()?)?;
/// let odometer = TimeUniform::noninteractive(MixtureOdometer::tightest_at("1".parse()?, slack));
/// let odometer = launch(&odometer, Arc::new(vec![1, 2, 3]))?;
///
/// for _ in 0..100 {
///     odometer.release(&Restated::new(PureDp, Constant("0.1".parse()?)))?;
/// }
/// // The launches add up to 10; all but one time in a million less than this is realised.
/// assert!(odometer.reading().bound() < Some("6.4".parse()?));
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
    /// Asks for the loss of children under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, _relation: S) -> TimeUniform<O, S> {
        TimeUniform {
            odometer: self.odometer,
            relation: PhantomData,
        }
    }
}

impl<D: ?Sized, O: TimeUniformOdometer, R: Relation> Mechanism<D> for TimeUniform<O, R> {
    type Machine = Compositor<D, TimeUniformGate<O>, R, NonInteractive>;

    fn start(&self, data: &Arc<D>, _coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let gate = TimeUniformGate {
            odometer: self.odometer.clone(),
        };
        Ok(Compositor::new(data, (), gate, false))
    }
}

/// What counts in a running [`TimeUniform`].
#[derive(Debug)]
pub struct TimeUniformGate<O> {
    odometer: O,
}

impl<O: TimeUniformOdometer> Gate for TimeUniformGate<O> {
    type Measure = ProbabilisticDp;
    type Whole = ProbabilisticDp;
    type Tariff = ();
    type Price = EpsilonDelta;

    fn price<R: Relation>(
        (): &(),
        mechanism: &dyn Private<ProbabilisticDp, R>,
    ) -> Result<EpsilonDelta, UnknownLoss> {
        mechanism.loss(&ProbabilisticDp)
    }

    fn charge(&mut self, loss: EpsilonDelta) -> Result<(), LaunchError<EpsilonDelta>> {
        let next = self.odometer.add(&loss);
        self.odometer = next.map_err(|Overflow| LaunchError::Overflow)?;
        Ok(())
    }
}

/// What can be read, at any time, in constant time, without changing anything.
impl<D: ?Sized, O: TimeUniformOdometer, R: Relation>
    Compositor<D, TimeUniformGate<O>, R, NonInteractive>
{
    /// The bound on the loss realised so far.
    pub fn reading(&self) -> Reading {
        self.read(|gate| gate.odometer.reading())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::time_uniform::{FilterOdometer, Slack};
    use crate::machine::{CoinSource, NotPrivateSeededCoins, Released};
    use crate::privacy::Replace;

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

    type Running = Compositor<[u8], TimeUniformGate<FilterOdometer>, Replace, NonInteractive>;

    fn accountant() -> FilterOdometer {
        let slack = Slack::pure("1e-6".parse().unwrap()).unwrap();
        FilterOdometer::new("1".parse().unwrap(), slack).unwrap()
    }

    fn start(data: &[u8]) -> Running {
        TimeUniform::noninteractive(accountant())
            .under(Replace)
            .start(&Arc::from(data), &mut NotPrivateSeededCoins::new(0).coins())
            .unwrap()
    }

    /// Releases the length at this price.
    macro_rules! release {
        ($odometer:expr, $epsilon:expr) => {
            $odometer.release_with(
                &Length(EpsilonDelta::new($epsilon, "0").unwrap()),
                &mut NotPrivateSeededCoins::new(1).coins(),
            )
        };
    }

    #[test]
    fn the_reading_is_that_of_the_losses_launched() {
        let odometer = start(&[1, 2, 3]);
        let mut expected = accountant();
        for epsilon in ["0.1", "0.02", "0.3"] {
            assert_eq!(release!(odometer, epsilon), Ok(3));
            let loss = EpsilonDelta::new(epsilon, "0").unwrap();
            expected = expected.add(&loss).unwrap();
            assert_eq!(odometer.reading(), expected.reading());
        }
        assert_ne!(odometer.reading(), accountant().reading());
    }

    #[test]
    fn a_mechanism_that_fails_is_charged() {
        let odometer = start(&[]);
        assert_eq!(release!(odometer, "0.1"), Err(LaunchError::Failed));
        assert!(odometer.reading().bound() > accountant().reading().bound());
    }

    #[test]
    fn what_cannot_be_counted_is_not_launched() {
        let odometer = start(&[1]);
        assert_eq!(release!(odometer, "3.3e11"), Ok(1));
        let before = odometer.reading();
        assert_eq!(release!(odometer, "3.3e11"), Err(LaunchError::Overflow));
        assert_eq!(odometer.reading(), before);
    }
}
