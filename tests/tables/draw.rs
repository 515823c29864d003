//! Choices from a seed.

/// Draws schemas, rows and plans from a seed.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// From this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number from a range, both ends included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = u128::from(low.abs_diff(high)) + 1;
        let number = i128::from(low) + (u128::from(self.next()) % width) as i128;
        number as i64
    }

    /// Once in this number of times, on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
