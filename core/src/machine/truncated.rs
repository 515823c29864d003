//! What an odometer's guarantee is about.

use super::adversary::converse;
use super::{Adversary, CoinSource, Machine, View};

/// A machine that reports what it has spent, deterministically and without changing its state
/// (Haney et al. 1.12).
///
/// Example: [`Odometer`](crate::compose::Odometer).
pub trait Metered {
    /// What it reports.
    type Loss: PartialOrd;

    /// The loss so far.
    fn privacy_loss(&self) -> Self::Loss;
}

/// The view up to, and without, the first answer after which the loss is no longer at most
/// `threshold` (Haney et al. Alg 5).
///
/// An odometer is valid if for every threshold `d` this view is `d`-private. This corrects two
/// errors of the printed algorithm: the loss is read *after* the step of the round, and a loss
/// equal to the threshold is still inside, as it is for a filter.
///
/// Example: [`interact`](crate::machine::interact).
pub fn truncated_view<Q, A, S>(
    adversary: &mut dyn Adversary<Query = Q, Answer = A>,
    odometer: &mut S,
    threshold: &S::Loss,
    adversary_coins: &mut dyn CoinSource,
    odometer_coins: &mut dyn CoinSource,
    rounds: usize,
) -> View<A>
where
    S: Machine<Query = Q, Answer = A> + Metered,
{
    converse(
        adversary,
        odometer,
        adversary_coins,
        odometer_coins,
        rounds,
        |odometer| odometer.privacy_loss() <= *threshold,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Coins, Fault, NotPrivateSeededCoins, Script};

    /// Spends what it is asked to spend.
    struct Spender(u32);

    impl Machine for Spender {
        type Query = u32;
        type Answer = u32;

        fn step(&mut self, query: u32, _coins: &mut Coins<'_>) -> Result<u32, Fault> {
            self.0 += query;
            Ok(query)
        }
    }

    impl Metered for Spender {
        type Loss = u32;

        fn privacy_loss(&self) -> u32 {
            self.0
        }
    }

    fn truncated(threshold: u32) -> Vec<u32> {
        truncated_view(
            &mut Script::new([1, 2, 0, 3, 0]),
            &mut Spender(0),
            &threshold,
            &mut NotPrivateSeededCoins::new(0),
            &mut NotPrivateSeededCoins::new(0),
            50,
        )
        .answers()
        .map(|answer| answer.unwrap())
        .collect()
    }

    #[test]
    fn the_answer_that_crosses_the_threshold_is_not_seen() {
        assert!(truncated(0).is_empty());
        assert_eq!(truncated(2), [1]);
        assert_eq!(truncated(5), [1, 2, 0]);
    }

    #[test]
    fn a_loss_that_equals_the_threshold_is_inside() {
        assert_eq!(truncated(3), [1, 2, 0]);
        assert_eq!(truncated(6), [1, 2, 0, 3, 0]);
    }
}
