//! The worst case of mechanisms whose log-ratios lie within an interval of length ε.

use super::rdp::{excess, pure};
use super::stable::{bend, exp_m1_less_linear, rest};
use super::{gdp, probability_up};
use crate::number::{Delta, Epsilon, Interval, Mu, Order};
use crate::privacy::{Overflow, UnknownLoss};

/// The largest Rényi divergence of order α, rounded up. The argument is in the doc of
/// [`BoundedRange`](crate::privacy::facts::BoundedRange).
pub fn divergence(order: Order, range: Epsilon) -> Epsilon {
    let most = pure(order, range);
    if range == Epsilon::ZERO {
        return most;
    }
    let loss = worst(excess(order), range.into()).up();
    // What ε-DP implies is more, but for rounding.
    loss.map_or(most, |loss: Epsilon| loss.min(most))
}

/// The divergence of order 1 + a at its largest, where `e^(ε−t) = α rest(aε)/(a rest(αε))`.
fn worst(excess: Interval, range: Interval) -> Interval {
    let order = Interval::ONE + excess;
    let whole = rest(order * range);
    let top = range - (bend(excess, range) / (excess * whole)).ln_1p();
    if (excess * range).high() < 1.0 {
        return moment_less_one(excess, range, top).ln_1p() / excess;
    }
    // `t + ln(rest(αε)/(α rest(ε)))/a`, where nothing overflows. Terms of the size of ε cancel down to
    // αε²/8 if that is less: not here, as aε is large.
    let log = if excess.high() < 1.0 {
        // By this α rest(ε) is more than rest(αε).
        let gap = excess * rest(range) - (-range).exp() * rest(excess * range);
        (-(gap / (order * rest(range)))).ln_1p()
    } else {
        (whole / (order * rest(range))).ln()
    };
    top + log / excess
}

/// The moment of the law with losses t and t − ε, less 1.
///
/// With L(x) = e^x − 1 − x, the mean of e^(aℓ) − 1 over the losses ℓ of the first law is that of L(aℓ)
/// and a times that of ℓ. The latter is the mean of ℓ(e^ℓ − 1) + ℓ over the second law, which is that of
/// ℓ(e^ℓ − 1) − L(ℓ), because e^ℓ has the mean 1 there. No term is negative.
fn moment_less_one(excess: Interval, range: Interval, top: Interval) -> Interval {
    let bottom = top - range;
    let first = rest(-bottom) / rest(range);
    let other = (-range).exp() * top.exp_m1() / rest(range);
    let part = |first: Interval, loss: Interval| {
        let second = (-loss).exp() * first;
        let mean = loss * loss.exp_m1() - exp_m1_less_linear(loss);
        first * exp_m1_less_linear(excess * loss) + excess * second * mean.max(Interval::ZERO)
    };
    part(first, top) + part(other, bottom)
}

/// `rest((ε − g)/2)²/rest(ε)`: the smallest δ for which (g, δ)-DP holds, rounded up.
pub fn delta(range: Epsilon, epsilon: Epsilon) -> Delta {
    // Exact in units, so that nothing is lost where they are close together.
    let left = range.saturating_sub(epsilon);
    if left == Epsilon::ZERO {
        return Delta::ZERO;
    }
    let half = rest(Interval::from(left) / Interval::TWO);
    probability_up(half.square() / rest(range.into()))
}

/// `ε + 2 ln(1 − √(δ rest(ε)))`: the smallest g for which (g, δ)-DP holds, rounded up.
pub fn epsilon(range: Epsilon, delta: Delta) -> Epsilon {
    let root = (Interval::from(delta) * rest(range.into())).sqrt();
    let log = if root.high() < 0.5 {
        (-root).ln_1p()
    } else {
        // (1 − root²)/(1 + root), where 1 − root² = (1 − δ) + δe^(−ε) does not cancel next to δ = 1.
        let complement = Interval::from(Delta::ONE.saturating_sub(delta));
        let square = complement + Interval::from(delta) * (-Interval::from(range)).exp();
        square.ln() - root.ln_1p()
    };
    let least = Interval::from(range) + Interval::TWO * log;
    // Below 0 for a δ that is more than needed; not a number where δ is 1 and ε is huge.
    if delta >= self::delta(range, Epsilon::ZERO) {
        return Epsilon::ZERO;
    }
    let least = least.max(Interval::ZERO).up();
    least.map_or(range, |least: Epsilon| least.min(range))
}

/// The smallest μ for which μ-GDP holds, rounded up: that of ε/2-DP.
///
/// Example: [`BoundedRange`](crate::privacy::facts::BoundedRange).
pub fn mu(range: Epsilon) -> Result<Mu, UnknownLoss> {
    let half = Epsilon::from_units(range.units().div_ceil(2)).map_err(|_| Overflow)?;
    gdp::pure(half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle::{
        Real, deltas, epsilons, exp, exp_m1, float, is_just_above, ln, orders, power_of_ten,
        quantity, real,
    };
    use proptest::prelude::*;

    /// The law with losses t and t − ε: how likely the first is on the two datasets.
    fn two_points(range: &Real, top: &Real) -> [Real; 2] {
        // The mean of the ratios is 1 on the second: q e^t + (1 − q) e^(t−ε) = 1.
        let (low, high) = (exp(&(top - range)), exp(top));
        let second = (real(1.0) - &low) / (&high - &low);
        [&second * high, second]
    }

    /// The largest value over all t from 0 to ε: the best of a scan, then of ever finer ones near it.
    fn highest(range: &Real, function: impl Fn(&Real) -> Real) -> Real {
        const STEPS: u32 = 16;
        let (mut from, mut to) = (real(0.0), range.clone());
        let mut best = function(&from);
        for _ in 0..16 {
            let step = (&to - &from) / real(f64::from(STEPS));
            let mut place = from.clone();
            for index in 0..=STEPS {
                let at = &from + &step * real(f64::from(index));
                let here = function(&at);
                if here >= best {
                    (best, place) = (here, at);
                }
            }
            let (low, high) = (&place - &step, &place + &step);
            from = if low < real(0.0) { real(0.0) } else { low };
            to = if high > *range { range.clone() } else { high };
        }
        best
    }

    fn renyi(order: &Real, range: &Real, top: &Real) -> Real {
        let [first, second] = two_points(range, top);
        let one = real(1.0);
        let excess = order - &one;
        let moment =
            &first * exp(&(&excess * top)) + (&one - &first) * exp(&(&excess * (top - range)));
        assert!(second <= first);
        ln(&moment) / excess
    }

    fn hockey_stick(range: &Real, top: &Real, epsilon: &Real) -> Real {
        let [first, second] = two_points(range, top);
        let one = real(1.0);
        let part = |p: &Real, q: &Real| {
            let more = p - exp(epsilon) * q;
            if more > real(0.0) { more } else { real(0.0) }
        };
        part(&first, &second) + part(&(&one - &first), &(&one - &second))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_divergence_is_the_worst_over_all_intervals(
            order in orders(), log_range in -12.0..2.0_f64,
        ) {
            let range: Epsilon = Interval::exactly(libm::exp10(log_range)).up().unwrap();
            let (alpha, size) = (quantity(order), quantity(range));
            let truth = highest(&size, |top| renyi(&alpha, &size, top));
            let given = quantity(divergence(order, range));
            prop_assert!(given >= truth, "{} {}", float(&given), float(&truth));
            let margin = &truth * real(1e-9) + real(1.0) / power_of_ten(27);
            prop_assert!(given <= &truth + margin, "{} {}", float(&given), float(&truth));
        }

        #[test]
        fn delta_is_the_worst_over_all_intervals(
            log_range in -6.0..2.0_f64, share in 0.0..1.0_f64,
        ) {
            let range: Epsilon = Interval::exactly(libm::exp10(log_range)).up().unwrap();
            let epsilon: Epsilon =
                Interval::exactly(share * libm::exp10(log_range)).up().unwrap();
            let (size, at) = (quantity(range), quantity(epsilon));
            let truth = highest(&size, |top| hockey_stick(&size, top, &at));
            is_just_above(delta(range, epsilon), &truth);
        }

        #[test]
        fn epsilon_is_the_inverse_of_delta(range in epsilons(), slack in deltas()) {
            let given = epsilon(range, slack);
            // (1 − e^(−(ε−g)/2))² ≤ δ (1 − e^−ε) at g, and not a bit below.
            let part = |at: &Real| -exp_m1(&-((quantity(range) - at) / real(2.0)));
            let holds = |at: &Real| {
                let half = part(at);
                &half * &half <= quantity(slack) * -exp_m1(&-quantity(range))
            };
            prop_assert!(holds(&quantity(given)));
            let less = quantity(given) - quantity(range) * real(1e-12) - real(2e-27);
            prop_assert!(less < real(0.0) || !holds(&less));
        }

        /// At the smallest and the largest that can be held nothing is lost but tightness.
        #[test]
        fn it_is_never_more_than_the_other_bounds(order in orders(), range in epsilons()) {
            let given = divergence(order, range);
            prop_assert!(given <= pure(order, range));
            let concentrated = quantity(order) * quantity(range) * quantity(range) / real(8.0);
            prop_assert!(quantity(given) <= &concentrated * (real(1.0) + real(1e-12)) + real(1e-27));
        }
    }

    /// Φ⁻¹ of the logistic law is steepest in the middle: no other tangent asks for a larger μ.
    #[test]
    fn mu_is_enough_and_no_less_is() {
        for range in ["1e-9", "0.01", "0.5", "3", "8"] {
            let range: Epsilon = range.parse().unwrap();
            let given = mu(range).unwrap();
            let less =
                given.saturating_sub(Mu::from_units(given.units() / 10_u128.pow(9)).unwrap());
            let middle = [given, less].map(|mu| gdp::delta(mu, Epsilon::ZERO));
            // Rounded up in floats, by less than this.
            let exact = |at| {
                let up = delta(range, at);
                up.saturating_sub(Delta::from_units(up.units() / 10_u128.pow(13)).unwrap())
            };
            let needed = exact(Epsilon::ZERO);
            assert!(middle[0] >= needed && middle[1] < needed, "{range}");
            for part in 1..40_u64 {
                let at = Epsilon::from_units(range.units() / 40 * u128::from(part)).unwrap();
                assert!(gdp::delta(given, at) >= exact(at), "{range} {part}");
            }
        }
    }

    /// The properties above at one point each, for runs that leave out what takes long.
    #[test]
    fn no_interval_is_worse_at_two_points() {
        let [range, epsilon]: [Epsilon; 2] = ["0.001", "0.0002"].map(|text| text.parse().unwrap());
        let order: Order = "1.5".parse().unwrap();
        let (alpha, size) = (quantity(order), quantity(range));
        let truth = highest(&size, |top| renyi(&alpha, &size, top));
        is_just_above(divergence(order, range), &truth);
        let truth = highest(&size, |top| hockey_stick(&size, top, &quantity(epsilon)));
        is_just_above(delta(range, epsilon), &truth);
    }

    #[test]
    fn orders_near_one_and_far_from_it() {
        for order in ["1.000000001", "1.5", "2", "22.998160582", "1e9"] {
            let order: Order = order.parse().unwrap();
            for range in ["1e-12", "0.0000155", "0.001", "1", "30"] {
                let range: Epsilon = range.parse().unwrap();
                let (alpha, size) = (quantity(order), quantity(range));
                let truth = highest(&size, |top| renyi(&alpha, &size, top));
                let given = quantity(divergence(order, range));
                assert!(given >= truth, "{order} {range}");
                assert!(
                    given <= &truth * real(1.0 + 1e-9) + real(1.0) / power_of_ten(27),
                    "{order} {range}"
                );
            }
        }
    }

    #[test]
    fn the_ends_of_the_scale() {
        let [tiny, large]: [Epsilon; 2] = ["1e-27", "3.4e11"].map(|range| range.parse().unwrap());
        let [low, high]: [Order; 2] = ["1.000000001", "1e9"].map(|order| order.parse().unwrap());
        for order in [low, high] {
            assert_eq!(divergence(order, Epsilon::ZERO), Epsilon::ZERO);
            assert_eq!(divergence(order, tiny), tiny);
            let loss = divergence(order, large);
            assert!(loss <= large && loss > "3.39e11".parse().unwrap(), "{loss}");
        }
        assert_eq!(delta(Epsilon::ZERO, Epsilon::ZERO), Delta::ZERO);
        assert_eq!(delta(large, Epsilon::ZERO), Delta::ONE);
        assert_eq!(delta(tiny, tiny), Delta::ZERO);
        assert_eq!(epsilon(large, Delta::ONE), Epsilon::ZERO);
        assert_eq!(epsilon(large, Delta::ZERO), large);
        assert_eq!(epsilon(Epsilon::ZERO, Delta::ZERO), Epsilon::ZERO);
        assert_eq!(epsilon(tiny, Delta::ONE), Epsilon::ZERO);
    }

    /// An odd number of units is halved upward.
    #[test]
    fn half_a_range_is_rounded_up() {
        let range = |units| Epsilon::from_units(units).unwrap();
        assert_eq!(mu(range(3)), mu(range(4)));
        assert_eq!(mu(range(4)), gdp::pure(range(2)));
    }

    /// √(δ rest(ε)) is next to 1 there.
    #[test]
    fn next_to_a_delta_of_one_the_complement_decides() {
        for (size, complement) in [
            ("127.743147350580713362065532765", "3.84715083801647e-24"),
            (
                "73.553330061169506984218981681",
                "6.830480714729015882409511e-14",
            ),
            ("9", "0.2"),
            ("9", "0.9"),
        ] {
            let (size, complement): (Epsilon, Delta) =
                (size.parse().unwrap(), complement.parse().unwrap());
            let delta = Delta::ONE.saturating_sub(complement);
            let part = real(1.0) - exp(&-quantity(size));
            let root = crate::tests::oracle::sqrt(&(quantity(delta) * part));
            let truth = quantity(size) + real(2.0) * ln(&(real(1.0) - root));
            is_just_above(epsilon(size, delta), &truth);
        }
    }
}
