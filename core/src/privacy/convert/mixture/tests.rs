use super::*;
use crate::number::Order;
use crate::privacy::convert::rdp::excess;

/// Rényi divergences by another quadrature (Gauss and Legendre's on short intervals, with 45 digits):
/// q, μ, the order, and the divergence from N(0, 1) and from the opposite mixture.
#[rustfmt::skip]
const REFERENCE: &[(&str, &str, &str, [&str; 2])] = &[
    ("0.01", "1", "1.000000001", ["8.38122077366470407e-5", "2.28411306458882789e-4"]),
    ("0.01", "1", "1.001", ["8.38980249926792109e-5", "2.28639899264997093e-4"]),
    ("0.01", "1", "1.5", ["1.27253743327449834e-4", "3.42821652733398513e-4"]),
    ("0.01", "1", "2", ["1.71813422074547931e-4", "4.5755438253754163e-4"]),
    ("0.01", "1", "2.5", ["2.17575332281880453e-4", "5.72756755560679389e-4"]),
    ("0.01", "1", "7.9", ["8.69442957719934248e-4", "1.94651403064394882e-3"]),
    ("0.01", "1", "32.5", ["1.14986339350937845e+1", "1.15086842709472858e+1"]),
    ("0.25", "0.75", "1.000000001", ["2.02777234008898315e-2", "6.43251400421648578e-2"]),
    ("0.25", "0.75", "1.001", ["2.03004022057361614e-2", "6.43901545050436907e-2"]),
    ("0.25", "0.75", "1.5", ["3.23470301935145531e-2", "9.72700220034647166e-2"]),
    ("0.25", "0.75", "2.5", ["6.20096167046721036e-2", "1.67619453135606489e-1"]),
    ("0.25", "0.75", "32.5", ["7.71032135653359692", "7.99800342515330839"]),
    ("0.5", "2", "1.000000001", ["6.63169180862041702e-1", "1.17031838245870586"]),
    ("0.5", "2", "1.001", ["6.64378882690595567e-1", "1.17186510679152895"]),
    ("0.5", "2", "1.5", ["1.49559084967659703", "2.13787903660625252"]),
    ("0.5", "2", "2", ["2.66719608858604289", "3.35562275910277317"]),
    ("0.5", "2", "2.5", ["3.84948713503490961", "4.54245817384827637"]),
    ("0.5", "2", "7.9", ["1.50063967063166059e+1", "1.56995438868765324e+1"]),
    ("0.5", "2", "32.5", ["6.42848481470413263e+1", "6.49779953276012716e+1"]),
    ("0.001", "0.5", "1.000000001", ["1.41968614240012101e-7", "5.05061086074894579e-7"]),
    ("0.001", "0.5", "1.001", ["1.42110626810517134e-7", "5.05566146719281981e-7"]),
    ("0.001", "0.5", "1.5", ["2.12985969303860863e-7", "7.57591700074816813e-7"]),
    ("0.001", "0.5", "2.5", ["3.55086850068640114e-7", "1.26265331159250737e-6"]),
    ("0.001", "0.5", "32.5", ["4.6597281530258194e-6", "1.64166072516385808e-5"]),
    ("0.9", "0.3", "1.000000001", ["3.64666240161799366e-2", "1.44579237545859432e-1"]),
    ("0.9", "0.3", "1.001", ["3.65033840993349167e-2", "1.44723714729709481e-1"]),
    ("0.9", "0.3", "1.5", ["5.49183659526352023e-2", "2.16754589588059921e-1"]),
    ("0.9", "0.3", "2.5", ["9.22436479973621826e-2", "3.60500917385323772e-1"]),
    ("0.9", "0.3", "32.5", ["1.36056980043897362", "3.36478848687030271"]),
    ("1e-9", "0.25", "1.000000001", ["3.22472294890524655e-20", "1.25081396221137842e-19"]),
    ("1e-9", "0.25", "1.001", ["3.22794766862641678e-20", "1.25206477492152503e-19"]),
    ("1e-9", "0.25", "1.5", ["4.83708441868012131e-20", "1.87622094144084669e-19"]),
    ("1e-9", "0.25", "2.5", ["8.06180736499798854e-20", "3.12703490240141116e-19"]),
    ("1e-9", "0.25", "32.5", ["1.04803495952110532e-18", "4.06514537312183453e-18"]),
    ("0.999999", "1.5", "1.000000001", ["1.12499775112924401", "4.49990652560512039"]),
    ("0.999999", "1.5", "1.001", ["1.12612275028610836", "4.50440612111446985"]),
    ("0.999999", "1.5", "1.5", ["1.68749797395738888", "6.74914901489685575"]),
    ("0.999999", "1.5", "2.5", ["2.81249839036276566", "1.11939635332397e+1"]),
    ("0.999999", "1.5", "32.5", ["3.65624989682534524e+1", "5.03780095262177265e+1"]),
    // Where B(x) turns over at the peak: the step must be as short as v says.
    ("0.99999999999999999999999999", "0.1", "4001.5", ["20.0075", "7.42580103392498871e+1"]),
];

fn mixture(rate: &str, mu: &str) -> Mixture {
    let half = Interval::exactly(number(mu)).square() / Interval::TWO;
    Mixture::new(rate.parse().unwrap(), half)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// The order less 1.
fn order(text: &str) -> Interval {
    excess(text.parse::<Order>().unwrap())
}

const BOTH: [Against; 2] = [Against::Nothing, Against::Opposite];

#[test]
fn it_agrees_with_another_quadrature() {
    for (rate, mu, at, expected) in REFERENCE {
        for (against, expected) in BOTH.into_iter().zip(expected) {
            let log = mixture(rate, mu).log_moment(against, order(at)).unwrap();
            let given = log / order(at);
            // μ is not the decimal but the float next to it.
            let expected = number(expected);
            let (low, high) = (expected * (1.0 - 1e-14), expected * (1.0 + 1e-14));
            assert!(
                given.low() <= high && low <= given.high(),
                "{rate} {mu} {at}: {given:?} {expected}"
            );
            let width = (given.high() - given.low()) / expected;
            assert!(width < 1e-11, "{rate} {mu} {at}: {width}");
        }
    }
}

/// Half as long a step gives the same: the rule has no error that could be seen.
#[test]
fn the_step_is_short_enough() {
    for (rate, mu, at) in [
        ("0.3", "0.1", "40.5"),
        ("0.3", "5", "3.25"),
        ("0.01", "0.7", "300.5"),
    ] {
        let mixture = mixture(rate, mu);
        for against in BOTH {
            let whole = mixture.step(against, order(at));
            let [sum, finer] = [1.0, 0.5].map(|part| {
                let mut sum = ScaledSum::ZERO;
                let step = part * whole;
                let count = ((mixture.mu.high() * 310.0 + 60.0) / step) as i32;
                for place in -count / 4..count {
                    let x = Interval::exactly(f64::from(place) * step);
                    mixture.place(against, x).add_to(&mut sum, order(at));
                }
                (sum.sum.middle() * step).ln() + sum.scale
            });
            assert!(
                (sum - finer).abs() < 1e-12 * sum.abs().max(1.0),
                "{rate} {mu}: {sum} {finer}"
            );
        }
    }
}

#[test]
fn what_is_too_long_is_not_summed_up() {
    for (mu, at, against, known) in [
        ("1", "40000.5", Against::Nothing, true),
        ("1", "50000.5", Against::Nothing, false),
        ("1", "3000", Against::Opposite, true),
        ("1", "5000", Against::Opposite, false),
        ("1e100", "1.5", Against::Nothing, false),
        ("1e-9", "1.5", Against::Opposite, true),
    ] {
        let log = mixture("0.5", mu).log_moment(against, order(at));
        assert_eq!(log.is_some(), known, "{mu} {at}");
    }
}

/// e^y·R(y) = e^y − 1 − y, on both sides of where the form changes.
#[test]
fn ratios_of_exponentials() {
    for y in [0.0, 1e-9, 0.1, 0.5, 0.500_001, 3.0, 800.0] {
        let y = Interval::exactly(y);
        let given = exp_m1_less_linear_ratio(y);
        let expected = exp_m1_less_linear(y) / y.exp();
        if y.high() < 700.0 {
            assert!(given.low() <= expected.high() && expected.low() <= given.high());
        }
        assert!(
            given.high() - given.low() <= 3e-14 * given.high() + 1e-300,
            "{y:?} {given:?}"
        );
    }
}

#[test]
fn sums_are_scaled_where_they_would_overflow() {
    let mut sum = ScaledSum::ZERO;
    for log in [-5000.0, 0.0, 2000.25, 1999.0, 5000.7, 3.0, 4999.7] {
        sum.add(Interval::exactly(log), Interval::ONE);
    }
    let log = Interval::exactly(sum.scale) + sum.sum.ln();
    let expected = 5000.7 + (-1_f64).exp().ln_1p();
    assert!(log.low() <= expected && expected <= log.high(), "{log:?}");
    assert!(log.high() - log.low() < 1e-11);
}
