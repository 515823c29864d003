use super::Likelihood;
use crate::number::float;
use queryables::mechanisms::{ApproxRandomizedResponse, Response};

/// ε, the logarithm of the odds: what ⊤ and ⊥ realise.
pub(super) fn log_odds(mechanism: &ApproxRandomizedResponse) -> f64 {
    float(mechanism.epsilon_delta().epsilon)
}

/// The probability of the truth, if the bit is not revealed.
pub(super) fn honesty(mechanism: &ApproxRandomizedResponse) -> f64 {
    1.0 / (1.0 + (-log_odds(mechanism)).exp())
}

/// The probability that the bit is revealed.
pub(super) fn revelation(mechanism: &ApproxRandomizedResponse) -> f64 {
    float(mechanism.epsilon_delta().delta)
}

impl Likelihood<bool> for ApproxRandomizedResponse {
    type Answer = Response;

    fn log_ratio(&self, zero: &bool, one: &bool, answer: &Response) -> f64 {
        if zero == one {
            return 0.0;
        }
        let towards_zero = match answer {
            Response::Zero => f64::INFINITY,
            Response::Top => log_odds(self),
            Response::Bottom => -log_odds(self),
            Response::One => f64::NEG_INFINITY,
        };
        if *zero { -towards_zero } else { towards_zero }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_realise_the_odds() {
        let mechanism = ApproxRandomizedResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
        let ln_3 = 3_f64.ln();
        for (answer, loss) in [
            (Response::Zero, f64::INFINITY),
            (Response::Top, ln_3),
            (Response::Bottom, -ln_3),
            (Response::One, f64::NEG_INFINITY),
        ] {
            let realised = mechanism.log_ratio(&false, &true, &answer);
            assert!(realised == loss || (realised - loss).abs() < 1e-13);
            assert_eq!(mechanism.log_ratio(&true, &false, &answer), -realised);
            assert_eq!(mechanism.log_ratio(&true, &true, &answer), 0.0);
        }
        assert!((honesty(&mechanism) - 0.75).abs() < 1e-13);
        assert_eq!(revelation(&mechanism), 0.25);
    }
}
