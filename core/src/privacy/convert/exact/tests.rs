use super::*;
use crate::privacy::convert::rdp;
use crate::tests::oracle::{Real, deltas, epsilons, exp, ln, orders, quantity, real, sizes};
use proptest::prelude::*;

/// ln of the moment of two cells, of masses p and q.
fn log_moment(order: &Real, p: &Real, q: &Real) -> Real {
    let one = real(1.0);
    let term = |p: &Real, q: &Real| exp(&(order * ln(p) + (&one - order) * ln(q)));
    ln(&(term(p, q) + term(&(&one - p), &(&one - q))))
}

/// Two cells whose moment is just within the loss, so that p − e^ε q is no more than δ: with
/// ratios t and s that meet the condition for the best ones.
fn worst_cells(order: &Real, tau: &Real, epsilon: &Real) -> (Real, Real) {
    let (one, excess) = (real(1.0), order - real(1.0));
    let part = |x: Real| &one - exp(&-x);
    let cells = |log_beyond: &Real| {
        let z = epsilon + exp(log_beyond);
        let above = order * part(&excess * &z) / (&excess * part(order * &z));
        let x = epsilon + ln(&above);
        let (t, s) = (exp(&x), exp(&(&x - z)));
        let q = (&one - &s) / (&t - &s);
        (&t * &q, q)
    };
    // The moment rises with z, from 1 where s is 1.
    let (mut low, mut high) = (real(-60.0), real(7.0));
    // q may be 1e-40, and 1 − s with it: 180 halvings tell that from zero.
    for _ in 0..180 {
        let middle = (&low + &high) / real(2.0);
        let (p, q) = cells(&middle);
        // At the far end the second cell is so improbable that 256 bits do not tell.
        let certain = &one - &p < real(1e-60);
        if q <= real(0.0) || !certain && log_moment(order, &p, &q) <= &excess * tau {
            low = middle;
        } else {
            high = middle;
        }
    }
    cells(&low)
}

/// Two cells of this loss have the δ that is given, up to rounding.
#[track_caller]
fn is_attained(order: Order, loss: Epsilon, epsilon: Epsilon) {
    let (alpha, tau) = (quantity(order), quantity(loss));
    let excess = &alpha - real(1.0);
    let (p, q) = if &tau - quantity(epsilon) >= ln(&(&alpha / &excess)) {
        // One cell is all that there is: its moment is q^(1−α).
        (real(1.0), exp(&-tau))
    } else {
        let (p, q) = worst_cells(&alpha, &tau, &quantity(epsilon));
        assert!(log_moment(&alpha, &p, &q) <= excess * tau);
        (p, q)
    };
    let truth = p - exp(&quantity(epsilon)) * q;
    let given = quantity(delta_exact(order, loss, epsilon));
    assert!(given >= truth, "{order} {loss} {epsilon}");
    let most = &truth * real(1.0 + 1e-9) + real(1e-30);
    assert!(given <= most, "{order} {loss} {epsilon}");
}

#[test]
fn it_is_attained_at_two_points() {
    let epsilon = |text: &str| text.parse().unwrap();
    // Orders above 2 and below take different formulas.
    is_attained("8".parse().unwrap(), epsilon("0.01"), epsilon("0.5"));
    is_attained("1.5".parse().unwrap(), epsilon("0.5"), epsilon("0.5"));
    // Next to nothing is lost: the second cell's ratio is 1 but for the tenth digit.
    for text in ["0", "0.01", "0.5", "3"] {
        is_attained("1.587".parse().unwrap(), epsilon("2e-20"), epsilon(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn two_cells_attain_it(
        order in 1.05..40.0_f64, loss in sizes::<units::Epsilon>(-4.0..0.3),
        epsilon in sizes::<units::Epsilon>(-2.0..0.3),
    ) {
        is_attained(Order::at_least(order).unwrap(), loss, epsilon);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// In floats, and by nothing but the definition.
    #[test]
    fn no_two_cells_exceed_it(
        order in 1.05..40.0_f64, q in 1e-9..1.0_f64, ratio in 1.0..20.0_f64, epsilon in 0.0..2.0_f64,
    ) {
        let p = (ratio * q).min(1.0 - 1e-9);
        let term = |p: f64, q: f64| (order * p.ln() + (1.0 - order) * q.ln()).exp();
        let tau = (term(p, q) + term(1.0 - p, 1.0 - q)).ln() / (order - 1.0);
        prop_assume!(tau > 1e-6 && tau < 1e3);
        let loss = Epsilon::at_least(tau * (1.0 + 1e-9)).unwrap();
        let given = delta_exact(
            Order::at_least(order).unwrap(), loss, Epsilon::at_most(epsilon).unwrap(),
        );
        prop_assert!(given.to_f64_up() >= p - epsilon.exp() * q - 1e-14);
    }
}

#[track_caller]
fn forms_agree(order: Order, epsilon: Epsilon, delta: Delta) {
    let budget = budget_exact(order, epsilon, delta).unwrap();
    // What is within the budget is within δ, but for what floats lose in the exponent.
    let back = quantity(delta_exact(order, budget, epsilon));
    let size = quantity(order) * (quantity(epsilon) + quantity(budget) + real(1.0));
    let margin = real(1e-9) + &size * real(1e-13);
    assert!(back <= quantity(delta) * (real(1.0) + margin) + real(1e-38));
    // And what is a thousandth more is not, where the exponent is precise.
    if budget.units() > 10_u128.pow(12) && size < real(1e4) {
        let more = Epsilon::from_units(budget.units() + budget.units() / 1000).unwrap();
        assert!(delta_exact(order, more, epsilon) > delta);
        assert!(epsilon_exact(order, more, delta).unwrap() > epsilon);
    }
}

#[test]
fn a_budget_is_as_large_as_its_delta_allows_at_some_points() {
    let delta = "1e-5".parse().unwrap();
    // Small exponents, and those that take the other formula.
    for (order, epsilon) in [
        ("8", "0.8"),
        ("100", "1"),
        ("1000", "0.036"),
        ("1000", "0.04"),
    ] {
        forms_agree(order.parse().unwrap(), epsilon.parse().unwrap(), delta);
    }
    // So large a δ that the worst p is 1: then 1 − e^(ε−τ) is the bound, and τ = ε + ln 100.
    let (order, epsilon) = ("8".parse().unwrap(), "3".parse().unwrap());
    forms_agree(order, epsilon, "0.99".parse().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_conversion_from_one_order_gives_less_than_the_exact_one(
        order in orders(), loss in epsilons(), epsilon in epsilons(), delta in deltas(),
    ) {
        prop_assert!(delta_exact(order, loss, epsilon) <= rdp::delta(order, loss, epsilon));
        let (exact, other) = (epsilon_exact(order, loss, delta), rdp::epsilon(order, loss, delta));
        prop_assert!(exact.unwrap() <= other.unwrap());
        let budget = budget_exact(order, epsilon, delta).unwrap();
        prop_assert!(budget >= rdp::budget(order, epsilon, delta).unwrap_or_default());
    }

    #[test]
    fn the_three_forms_agree(
        order in orders(), epsilon in epsilons(), delta in deltas(),
    ) {
        forms_agree(order, epsilon, delta);
    }

    #[test]
    fn delta_falls_in_epsilon_and_rises_with_the_loss(
        order in orders(), loss in epsilons(), epsilon in epsilons(),
    ) {
        let more = |value: Epsilon| Epsilon::from_units(value.units() + value.units() / 1000 + 1).unwrap();
        let here = delta_exact(order, loss, epsilon);
        prop_assert!(delta_exact(order, loss, more(epsilon)) <= here);
        prop_assert!(delta_exact(order, more(loss), epsilon) >= here);
    }
}

/// There the worst p is 1, and ε is τ + ln(1 − δ).
#[test]
fn next_to_a_delta_of_one_the_complement_decides() {
    for (order, loss, complement) in [
        (
            "6.412757885",
            "127.743147350580713362065532765",
            "3.84715083801647e-24",
        ),
        (
            "1.052173934",
            "73.553330061169506984218981681",
            "6.830480714729015882409511e-14",
        ),
        ("8", "30", "1e-9"),
        // Less than nothing is nothing.
        ("8", "3", "1e-9"),
    ] {
        let complement: Delta = complement.parse().unwrap();
        let delta = Delta::ONE.saturating_sub(complement);
        let loss: Epsilon = loss.parse().unwrap();
        let given = epsilon_exact(order.parse().unwrap(), loss, delta).unwrap();
        let truth = quantity(loss) + crate::tests::oracle::ln(&quantity(complement));
        crate::tests::oracle::is_just_above(given, &crate::tests::oracle::at_least_zero(truth));
    }
}

/// Everything is (ε, 1)-DP.
#[test]
fn a_delta_of_one_allows_everything() {
    let (order, one) = ("8".parse().unwrap(), "1".parse().unwrap());
    assert_eq!(epsilon_exact(order, one, Delta::ONE), Ok(Epsilon::ZERO));
    assert_eq!(budget_exact(order, one, Delta::ONE), Ok(Epsilon::LARGEST));
}

#[test]
fn nothing_lost_is_nothing() {
    let (order, half) = ("2".parse().unwrap(), "0.25".parse().unwrap());
    assert_eq!(
        delta_exact(order, Epsilon::ZERO, Epsilon::ZERO),
        Delta::ZERO
    );
    assert_eq!(
        epsilon_exact(order, Epsilon::ZERO, Delta::ZERO),
        Ok(Epsilon::ZERO)
    );
    // The other conversion says 1/4.
    assert!(rdp::delta(order, Epsilon::ZERO, Epsilon::ZERO) >= half);
    let needs = UnknownLoss("this conversion needs δ > 0");
    let loss: Epsilon = "0.1".parse().unwrap();
    assert_eq!(epsilon_exact(order, loss, Delta::ZERO), Err(needs));
    assert_eq!(budget_exact(order, loss, Delta::ZERO), Err(needs));
    assert_eq!(epsilon_exact(order, loss, Delta::ONE), Ok(Epsilon::ZERO));
}

#[test]
fn the_ends_of_the_scale() {
    let [low, high]: [Order; 2] = ["1.000000001", "1e9"].map(|order| order.parse().unwrap());
    let [tiny, large]: [Epsilon; 2] = ["1e-27", "3.4e11"].map(|loss| loss.parse().unwrap());
    let delta: Delta = "1e-38".parse().unwrap();
    for order in [low, high] {
        for (loss, epsilon) in [(tiny, tiny), (tiny, large), (large, tiny), (large, large)] {
            assert!(delta_exact(order, loss, epsilon) <= rdp::delta(order, loss, epsilon));
            let budget = budget_exact(order, epsilon, delta).unwrap();
            assert!(budget >= rdp::budget(order, epsilon, delta).unwrap_or_default());
        }
        assert!(
            epsilon_exact(order, tiny, delta).unwrap() <= rdp::epsilon(order, tiny, delta).unwrap()
        );
    }
    assert_eq!(
        epsilon_exact(high, large, delta),
        Err(UnknownLoss("the loss is more than can be held"))
    );
}
