//! The coins of mechanisms: those of the library, from the operating system. In unit tests they are seeded,
//! so that a launch over HTTP can be compared with the same launch in process.

use queryables::machine::Coins;

/// Where the coins of one launch come from, also when it is asked later.
#[cfg(not(test))]
#[derive(Clone, Default)]
pub struct Source;

#[cfg(not(test))]
impl Source {
    pub fn run<T>(&mut self, coins: &mut Coins<'_>, code: impl FnOnce(&mut Coins<'_>) -> T) -> T {
        code(coins)
    }
}

/// The seed of every launch in a unit test.
#[cfg(test)]
pub const SEED: u64 = 20_261_118;

#[cfg(test)]
#[derive(Clone)]
pub struct Source(queryables::machine::NotPrivateSeededCoins);

#[cfg(test)]
impl Default for Source {
    fn default() -> Self {
        Self(queryables::machine::NotPrivateSeededCoins::new(SEED))
    }
}

#[cfg(test)]
impl Source {
    pub fn run<T>(&mut self, coins: &mut Coins<'_>, code: impl FnOnce(&mut Coins<'_>) -> T) -> T {
        code(&mut coins.with_source(&mut self.0))
    }
}
