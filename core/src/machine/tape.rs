//! Recording the coins of a conversation and playing them back.

use std::num::NonZeroU64;

use super::{CoinSource, CoinsError, Law};

/// The uniform draws of a conversation, in order: the upper bound of each, and its value.
///
/// Example: [`Recorder`](crate::machine::Recorder).
pub type Tape = Vec<(NonZeroU64, u64)>;

/// Coins that write down what another source gives.
///
/// ```
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins, Recorder, Replay};
///
/// let mut recorder = Recorder::new(NotPrivateSeededCoins::new(3));
/// let first = recorder.weighted(&[1, 1, 1])?;
/// let tape = recorder.into_tape();
/// assert_eq!(Replay::of(tape).weighted(&[1, 1, 1])?, first);
/// # Ok::<(), queryables::machine::CoinsError>(())
/// ```
#[derive(Debug)]
pub struct Recorder<C> {
    coins: C,
    tape: Tape,
}

impl<C> Recorder<C> {
    /// Records what `coins` give from now on.
    pub fn new(coins: C) -> Self {
        Self {
            coins,
            tape: Tape::new(),
        }
    }

    /// What was drawn.
    #[must_use]
    pub fn into_tape(self) -> Tape {
        self.tape
    }

    /// What was drawn since the last call.
    pub(super) fn take_tape(&mut self) -> Tape {
        std::mem::take(&mut self.tape)
    }
}

impl<C: CoinSource> CoinSource for Recorder<C> {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        let value = self.coins.uniform(below)?;
        self.tape.push((below, value));
        Ok(value)
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        law.sample(self)
    }
}

/// Coins that give what is on a tape.
///
/// If a machine asks for another draw than was recorded, it has diverged, and the error says so.
///
/// Example: [`Recorder`](crate::machine::Recorder).
#[derive(Clone, Debug)]
pub struct Replay {
    tape: std::vec::IntoIter<(NonZeroU64, u64)>,
}

impl Replay {
    /// Plays these draws back.
    pub fn of(tape: impl IntoIterator<Item = (NonZeroU64, u64)>) -> Self {
        Self {
            tape: tape.into_iter().collect::<Tape>().into_iter(),
        }
    }

    /// How many draws are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.tape.len()
    }
}

impl CoinSource for Replay {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        match self.tape.next() {
            None => Err(CoinsError::TapeEnds),
            Some((recorded, value)) if recorded == below && value < below.get() => Ok(value),
            Some(_) => Err(CoinsError::TapeDiverges),
        }
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        law.sample(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Bernoulli, NotPrivateSeededCoins};

    #[test]
    fn a_replay_gives_what_was_recorded() {
        let mut recorder = Recorder::new(NotPrivateSeededCoins::new(5));
        let law = Bernoulli::new(1, 2).unwrap();
        let drawn: Vec<_> = (0..50).map(|_| recorder.draw(&law).unwrap()).collect();
        let mut replay = Replay::of(recorder.into_tape());
        let replayed: Vec<_> = (0..50).map(|_| replay.draw(&law).unwrap()).collect();
        assert_eq!(drawn, replayed);
        assert_eq!(replay.remaining(), 0);
        assert_eq!(replay.draw(&law), Err(CoinsError::TapeEnds));
    }

    #[test]
    fn another_draw_than_recorded_is_noticed() {
        let two = NonZeroU64::new(2).unwrap();
        let three = NonZeroU64::new(3).unwrap();
        assert_eq!(
            Replay::of([(two, 1)]).uniform(three),
            Err(CoinsError::TapeDiverges)
        );
        assert_eq!(
            Replay::of([(two, 2)]).uniform(two),
            Err(CoinsError::TapeDiverges)
        );
    }
}
