//! What an (ε, δ) launch costs as zero-concentrated privacy.

use std::num::NonZeroU128;

use crate::number::{Epsilon, Interval, Quantity, U256, Unit, divide_product, units};

/// One, in units of ε and of ρ.
const ONE: u128 = 10_u128.pow(<units::Epsilon as Unit>::DECIMALS);

/// `60 + 6ε²` does not overflow below this ε²; far below it `2ε` is less.
const LARGEST_SQUARE: u128 = 10_u128.pow(37);

/// A variance in the units of a sum of squares, exactly.
pub fn squares(variance: Quantity<units::Variance>) -> U256 {
    in_squared_units(variance.units())
}

/// At least `2ε·tanh(ε/2)`, in units of ε²: the least of
///
/// ```text
/// ε²,   ε²·(60 + ε²)/(60 + 6ε²),   2ε
/// ```
///
/// Every ε-DP mechanism is (ε·tanh(ε/2))-zCDP ([`zcdp::pure`](crate::privacy::convert::zcdp::pure)),
/// so that this is twice the ρ of an ε-DP mechanism. The three are bounds because `tanh(x)` is at
/// most x, `x(15 + x²)/(15 + 6x²)` and 1, with x = ε/2: the first two are convergents, of odd
/// order, of Lambert's continued fraction `x/(1 + x²/(3 + x²/(5 + …)))`, whose terms are positive.
/// The second one is within 1e-5 of the truth up to ε = 1, and within 4·10⁻³ up to ε = 3.
///
/// All of it is integer arithmetic, so that sums do not depend on the order. It rises with ε:
/// the second bound is `n − ⌊5n²/(60 + 6n)⌋` for n = ε² in units of 10⁻²⁷, rounded up, and the
/// fraction has a slope of less than 1.
#[inline]
pub fn twice_rho(epsilon: Epsilon) -> U256 {
    let square = U256::of(epsilon);
    let most = square.min(
        in_squared_units(epsilon.units())
            .checked_mul(2)
            .unwrap_or(U256::MAX),
    );
    let (whole, rest) = square.div_rem(ONE);
    let Some(whole) = whole.to_u128().filter(|whole| *whole < LARGEST_SQUARE) else {
        return most;
    };
    let whole = whole + u128::from(rest != 0);
    let Some(divisor) = NonZeroU128::new(60 * ONE + 6 * whole) else {
        return most;
    };
    let (less, _) = divide_product(5 * whole, whole, 0, divisor);
    most.min(in_squared_units(whole - less))
}

/// The largest ε that costs no more than this.
pub(crate) fn largest_epsilon(left: U256) -> Epsilon {
    let fits =
        |units: u128| Epsilon::from_units(units).is_ok_and(|epsilon| twice_rho(epsilon) <= left);
    // Two of the three bounds, exactly; the other one up to the rounding of floats.
    let linear = left.div_rem(2 * ONE).0.to_u128().unwrap_or(u128::MAX);
    let low = linear
        .max(left.root_down())
        .min(<units::Epsilon as Unit>::LARGEST);
    let cost = Interval::squares(left, <units::Epsilon as Unit>::DECIMALS).middle();
    let half = 30.0 - 3.0 * cost;
    let guess = (60.0 * cost / (half + (half * half + 60.0 * cost).sqrt())).sqrt();
    let guess = (guess * 1e27 * (1.0 - 1e-14)) as u128;
    let low = if guess > low && fits(guess) {
        guess
    } else {
        low
    };
    Epsilon::from_units(most_exactly(low, fits)).unwrap_or_default()
}

/// The largest number that fits, from one that does, if all numbers below one that fits do.
fn most_exactly(mut low: u128, fits: impl Fn(u128) -> bool) -> u128 {
    let mut step = 1_u128;
    while fits(low.saturating_add(step)) {
        low = low.saturating_add(step);
        step = step.saturating_mul(2);
    }
    while step > 1 {
        step /= 2;
        if fits(low.saturating_add(step)) {
            low = low.saturating_add(step);
        }
    }
    low
}

/// A number of units of ε, in the units of a sum of squares.
pub fn in_squared_units(units: u128) -> U256 {
    // 128 + 90 bits.
    U256::whole(units).checked_mul(ONE).unwrap_or(U256::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle::{Real, epsilons, exp_m1, quantity, real, squares};
    use proptest::prelude::*;

    /// `2ε·tanh(ε/2)`, with `tanh(ε/2) = (e^ε − 1)/(e^ε + 1)`.
    fn truth(epsilon: Epsilon) -> Real {
        let epsilon = quantity(epsilon);
        if epsilon > real(300.0) {
            return real(2.0) * epsilon;
        }
        let grown = exp_m1(&epsilon);
        real(2.0) * epsilon * &grown / (&grown + real(2.0))
    }

    proptest! {
        #[test]
        fn the_cost_is_above_the_truth_and_near_it(epsilon in epsilons()) {
            let (cost, truth) = (squares(twice_rho(epsilon)), truth(epsilon));
            prop_assert!(cost >= truth);
            // One unit of ρ, or what the doc says.
            let unit = real(1e-27);
            let near = |part: f64| cost <= &truth * real(1.0 + part) + &unit;
            prop_assert!(epsilon > "1".parse().unwrap() || near(1e-5));
            prop_assert!(epsilon > "3".parse().unwrap() || near(4e-3));
            prop_assert!(near(0.2));
            // Never more than ε², nor than 2ε.
            prop_assert!(twice_rho(epsilon) <= U256::of(epsilon));
            prop_assert!(cost <= real(2.0) * quantity(epsilon));
        }

        #[test]
        fn the_cost_rises_with_epsilon(units in 0..10_u128.pow(30), more in 0..1000_u128) {
            let [one, other] = [units, units + more].map(|units| Epsilon::from_units(units).unwrap());
            prop_assert!(twice_rho(one) <= twice_rho(other));
        }

        #[test]
        fn the_largest_epsilon_is_exact(epsilon in epsilons(), more in 0..1000_u128) {
            prop_assume!(epsilon < "1e11".parse().unwrap());
            let left = twice_rho(epsilon).checked_add(U256::whole(more)).unwrap();
            let largest = largest_epsilon(left);
            prop_assert!(largest >= epsilon && twice_rho(largest) <= left);
            let next = Epsilon::from_units(largest.units() + 1).unwrap();
            prop_assert!(twice_rho(next) > left);
        }
    }

    #[test]
    fn nothing_costs_nothing_and_everything_can_be_priced() {
        assert_eq!(twice_rho(Epsilon::ZERO), U256::default());
        assert_eq!(largest_epsilon(U256::default()), Epsilon::ZERO);
        assert_eq!(largest_epsilon(U256::MAX), Epsilon::LARGEST);
        assert_eq!(squares(twice_rho(Epsilon::LARGEST)), real(6.8e11));
    }
}
