#[cfg(feature = "serde")]
use super::durable::{Durable, ImpossibleCounts, Invalid};
use super::{
    Accounting, Accumulator, DefaultAccumulator, LaunchesLeft, ValidConcurrently, ValidSequentially,
};
use crate::number::{Mu, U256};
use crate::privacy::Reentrant;
use crate::privacy::{Gdp, Overflow};

/// Gaussian losses add up as squares: `G(μ₁, …, μ_k) = √(μ₁² + … + μ_k²)`.
///
/// The sum of squares is held exactly and compared exactly; only the total that is shown is
/// rounded, up.
///
/// # Guarantee
///
/// Tran et al. 2.11 (after Koskela et al. 2023) for non-interactive mechanisms, and Haney et al.
/// 1.21 for interleaved interactive ones with finite communication.
///
/// # Example
///
/// ```
/// use queryables::account::{Accumulator, RootSumSquares};
///
/// let total = RootSumSquares::default();
/// let total = total.add(&"3".parse()?)?.add(&"4".parse()?)?;
/// assert_eq!(total.total(), "5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use = "`add` gives the next total and changes nothing"]
pub struct RootSumSquares {
    squares: U256,
}

impl Accounting for RootSumSquares {
    const REENTRANT: Reentrant = Reentrant(false);

    type Children = Gdp;
    type Whole = Gdp;

    fn children(&self) -> &Gdp {
        &Gdp
    }

    fn whole(&self) -> &Gdp {
        &Gdp
    }
}

impl Accumulator for RootSumSquares {
    fn add(&self, loss: &Mu) -> Result<Self, Overflow> {
        let squares = self.squares.checked_add(U256::of(*loss));
        // The root must be held too.
        let squares = squares.filter(|squares| *squares <= U256::of(Mu::LARGEST));
        squares.map(|squares| Self { squares }).ok_or(Overflow)
    }

    fn total(&self) -> Mu {
        let root = self.squares.root_up();
        // `add` has kept it below the largest.
        root.and_then(|units| Mu::from_units(units).ok())
            .unwrap_or(Mu::LARGEST)
    }

    fn is_within(&self, limit: &Mu) -> bool {
        self.squares <= U256::of(*limit)
    }

    fn headroom(&self, limit: &Mu) -> Mu {
        U256::of(*limit)
            .checked_sub(self.squares)
            .and_then(|left| Mu::from_units(left.root_down()).ok())
            .unwrap_or_default()
    }

    fn admits(&self, loss: &Mu, limit: &Mu) -> LaunchesLeft {
        LaunchesLeft::searched(|times| {
            let all = U256::of(*loss).checked_mul(times.into());
            let squares = all.and_then(|all| self.squares.checked_add(all));
            squares.is_some_and(|squares| squares <= U256::of(*limit))
        })
    }
}

impl DefaultAccumulator for Gdp {
    type Accumulator = RootSumSquares;

    fn accumulator(&self) -> RootSumSquares {
        RootSumSquares::default()
    }
}

impl ValidSequentially for RootSumSquares {}
impl ValidConcurrently for RootSumSquares {}

#[cfg(feature = "serde")]
impl Durable for RootSumSquares {
    const NAME: &'static str = "RootSumSquares";

    type Parameters = Gdp;
    type Counts = U256;

    fn parameters(&self) -> Gdp {
        Gdp
    }

    fn build(_: Gdp) -> Result<Self, Invalid> {
        Ok(Self::default())
    }

    fn counts(&self) -> U256 {
        self.squares
    }

    fn resume(&self, squares: U256) -> Result<Self, Invalid> {
        if squares > U256::of(Mu::LARGEST) {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self { squares })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mu(text: &str) -> Mu {
        text.parse().unwrap()
    }

    #[test]
    fn a_hundred_tenths_fill_a_budget_of_one() {
        let mut total = RootSumSquares::default();
        for _ in 0..100 {
            total = total.add(&mu("0.1")).unwrap();
        }
        assert_eq!(total.total(), mu("1"));
        assert!(total.is_within(&mu("1")));
        assert_eq!(total.headroom(&mu("1")), Mu::ZERO);
        total = total.add(&mu("1e-27")).unwrap();
        assert!(!total.is_within(&mu("1")));
        assert_eq!(total.headroom(&mu("1")), Mu::ZERO);
        // The root of 1 + 1e-54 lies within the first unit above 1.
        assert_eq!(total.total(), mu("1.000000000000000000000000001"));
    }

    #[test]
    fn headroom_rounds_down_and_the_total_up() {
        let mut total = RootSumSquares::default();
        total = total.add(&mu("1")).unwrap();
        let room = total.headroom(&mu("2"));
        assert_eq!(room, mu("1.732050807568877293527446341")); // √3 = ….3415…
        let mut full = total;
        full = full.add(&room).unwrap();
        assert!(full.is_within(&mu("2")));
        assert_eq!(full.total(), mu("2"));
        total = total.add(&mu("1")).unwrap();
        assert_eq!(total.total(), mu("1.414213562373095048801688725")); // √2 = ….7242…
    }

    #[test]
    fn what_cannot_be_held_is_an_overflow() {
        let mut total = RootSumSquares::default();
        total = total.add(&mu("3e11")).unwrap();
        assert_eq!(total.add(&mu("3e11")), Err(Overflow));
        let mut full = RootSumSquares::default();
        full = full.add(&Mu::LARGEST).unwrap();
        assert_eq!(full.total(), Mu::LARGEST);
        assert_eq!(full.add(&mu("1e-27")), Err(Overflow));
    }
}
