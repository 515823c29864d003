//! R's filter in its own form (Def. 3.2), played against every adversary, and the inequality that its
//! advanced filter rests on (Thm 4.1).

use std::collections::HashMap;

use super::response::{honesty, log_odds, revelation};
use crate::number::{above, float};
use queryables::account::ContinuationRule;
use queryables::mechanisms::ApproxRandomizedResponse;
use queryables::number::{Delta, Epsilon};
use queryables::privacy::{ApproxDp, EpsilonDelta, UnknownLoss};

/// The largest probability of R's "bad event" against a filter: `|Loss(v)| > ε_g`, and the filter still
/// says to go on (Rogers et al. Def. 3.2), if the secret bit is 0.
///
/// It is the maximum over all adversaries of [`AdaptParamComp`](super::AdaptParamComp) who play at most
/// `rounds` rounds, each with a mechanism of the menu that they choose by what they have seen. A rule
/// is a valid filter in the sense of Def. 3.2 only if this is at most δ_g, whatever the menu. This is
/// about the realised loss, and more than (ε_g, δ_g)-DP of the view: a rule may have the second without
/// the first.
///
/// A loss within 10⁻¹² of ε_g, in relative terms, is not beyond it. The rule must not depend on the
/// order of what it counts. The work grows like `rounds^(2·menu)`.
///
/// ```
/// use papers::rogers::probability_of_bad_event;
/// use queryables::account::{Accumulator, Sum};
/// use queryables::mechanisms::ApproxRandomizedResponse;
/// use queryables::privacy::{ApproxDp, EpsilonDelta};
///
/// let menu = [ApproxRandomizedResponse::new(EpsilonDelta::new("0.5", "0.01")?)];
/// let basic = Sum::new(ApproxDp).capped(EpsilonDelta::new("2", "0.03")?);
/// // Only a revealed bit is beyond the sum, and three rounds fit.
/// let bad = probability_of_bad_event(&basic, &menu, 6);
/// assert!((bad - (1.0 - 0.99_f64.powi(3))).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probability_of_bad_event<F>(rule: &F, menu: &[ApproxRandomizedResponse], rounds: u32) -> f64
where
    F: ContinuationRule<Children = ApproxDp, Whole = ApproxDp>,
{
    worst(&Filtered(rule.clone()), menu, rounds)
}

/// The largest probability that the realised loss, centred at its mean round by round, is beyond the
/// bound of Rogers et al. Thm 4.1 for this β and δ: a martingale, whose steps the adversary chooses by
/// what it has seen. The theorem says that it is at most δ.
#[must_use]
pub fn probability_beyond_theorem_4_1(
    beta: f64,
    delta: f64,
    menu: &[ApproxRandomizedResponse],
    rounds: u32,
) -> f64 {
    let nothing = Centred {
        beta,
        log: -delta.ln(),
        squares: 0.0,
        drift: 0.0,
    };
    worst(&nothing, menu, rounds)
}

/// Advanced composition for k launches of one (ε, δ) (Rogers et al. 2.10): `kε(e^ε − 1) + ε√(2k ln(1/δ̃))`
/// and kδ + δ̃, rounded up. Whitehouse et al. eq. 2 is never larger
/// ([`advanced_of`](crate::whitehouse::advanced_of)).
///
/// **It is not a filter and not an odometer**: k, ε and δ are fixed in advance.
///
/// # Errors
///
/// [`UnknownLoss`] if the slack δ̃ is zero or the bound cannot be held.
pub fn advanced_composition(
    launches: u64,
    each: EpsilonDelta,
    slack: Delta,
) -> Result<EpsilonDelta, UnknownLoss> {
    if slack == Delta::ZERO {
        return Err(UnknownLoss("advanced composition needs δ̃ > 0"));
    }
    let (count, epsilon) = (launches as f64, float(each.epsilon));
    let root = (-2.0 * count * float(slack).ln()).sqrt();
    let bound = count * epsilon * epsilon.exp_m1() + epsilon * root;
    let epsilon: Option<Epsilon> = above(bound);
    let delta: Option<Delta> = above(count * float(each.delta) + float(slack));
    match (epsilon, delta) {
        (Some(epsilon), Some(delta)) => Ok(EpsilonDelta { epsilon, delta }),
        _ => Err(UnknownLoss("the bound is too large")),
    }
}

/// What is asked of the realised loss.
trait Event: Clone {
    /// After one more round with these parameters; `None` once the event cannot happen any more.
    fn after(&self, parameters: &EpsilonDelta) -> Option<Self>;

    /// Whether it happens at this loss.
    fn happens(&self, loss: f64) -> bool;
}

fn is_beyond(loss: f64, bound: f64) -> bool {
    loss.abs() > bound + 1e-12 * (1.0 + bound)
}

/// R Def. 3.2.
#[derive(Clone)]
struct Filtered<F>(F);

impl<F: ContinuationRule<Children = ApproxDp, Whole = ApproxDp>> Event for Filtered<F> {
    fn after(&self, parameters: &EpsilonDelta) -> Option<Self> {
        self.0.charge(parameters).ok().map(Self)
    }

    fn happens(&self, loss: f64) -> bool {
        is_beyond(loss, float(self.0.limit().epsilon))
    }
}

/// R Thm 4.1. A response at ε has a loss of ±ε around its mean: C and D are 2ε apart, and U²/4 = Σε².
#[derive(Clone, Copy)]
struct Centred {
    beta: f64,
    log: f64,
    squares: f64,
    drift: f64,
}

impl Event for Centred {
    fn after(&self, parameters: &EpsilonDelta) -> Option<Self> {
        let epsilon = float(parameters.epsilon);
        Some(Self {
            squares: self.squares + epsilon * epsilon,
            drift: self.drift + epsilon * (epsilon / 2.0).tanh(),
            ..*self
        })
    }

    fn happens(&self, loss: f64) -> bool {
        let growth = 2.0 + (self.squares / self.beta).ln_1p();
        let bound = ((self.squares + self.beta) * growth * self.log).sqrt();
        is_beyond(loss - self.drift, bound)
    }
}

/// How often each mechanism of the menu was played, and how much more often ⊤ was heard than ⊥.
type Played = Vec<(u32, i64)>;

fn worst<E: Event>(event: &E, menu: &[ApproxRandomizedResponse], rounds: u32) -> f64 {
    let played = vec![(0, 0); menu.len()];
    best(event, menu, rounds, played, &mut HashMap::new())
}

fn best<E: Event>(
    event: &E,
    menu: &[ApproxRandomizedResponse],
    left: u32,
    played: Played,
    known: &mut HashMap<Played, f64>,
) -> f64 {
    let each = menu.iter().zip(&played);
    let loss: f64 = each
        .map(|(each, (_, net))| *net as f64 * log_odds(each))
        .sum();
    // An adversary may stop here.
    if event.happens(loss) {
        return 1.0;
    }
    if left == 0 {
        return 0.0;
    }
    if let Some(known) = known.get(&played) {
        return *known;
    }
    let mut most = 0.0_f64;
    for (index, mechanism) in menu.iter().enumerate() {
        let Some(next) = event.after(&mechanism.epsilon_delta()) else {
            continue;
        };
        let mut heard = |more: i64| {
            let mut played = played.clone();
            if let Some((times, net)) = played.get_mut(index) {
                *times += 1;
                *net += more;
            }
            best(&next, menu, left - 1, played, known)
        };
        let honesty = honesty(mechanism);
        let hidden = honesty * heard(1) + (1.0 - honesty) * heard(-1);
        // A revealed bit is an infinite loss.
        let revealed = f64::from(u8::from(next.happens(f64::INFINITY)));
        let reveals = revelation(mechanism);
        most = most.max(reveals * revealed + (1.0 - reveals) * hidden);
    }
    known.insert(played, most);
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whitehouse::advanced_of;
    use queryables::account::{Accounting, Accumulator, Exceeded, FixedCount, Rogers, Sum};

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    fn response(epsilon: &str, delta: &str) -> ApproxRandomizedResponse {
        ApproxRandomizedResponse::new(pair(epsilon, delta))
    }

    /// Charges this share of every ε: no theorem.
    #[derive(Clone, Debug)]
    struct Cheap {
        rule: queryables::account::Capped<Sum<ApproxDp>>,
        share: u128,
    }

    impl Accounting for Cheap {
        type Children = ApproxDp;
        type Whole = ApproxDp;

        fn children(&self) -> &ApproxDp {
            &ApproxDp
        }

        fn whole(&self) -> &ApproxDp {
            &ApproxDp
        }
    }

    impl ContinuationRule for Cheap {
        fn limit(&self) -> &EpsilonDelta {
            self.rule.limit()
        }

        fn spent(&self) -> EpsilonDelta {
            self.rule.spent()
        }

        fn remaining(&self) -> EpsilonDelta {
            self.rule.remaining()
        }

        fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
            let epsilon = Epsilon::from_units(loss.epsilon.units() / self.share).unwrap();
            let rule = self.rule.charge(&EpsilonDelta { epsilon, ..*loss })?;
            Ok(Self {
                rule,
                ..self.clone()
            })
        }
    }

    /// Def. 3.2 with Thm 3.3.
    #[test]
    fn definition_3_2_the_sum_is_a_valid_filter() {
        let menu = [response("0.5", "0.01"), response("1.5", "0.02")];
        let basic = Sum::new(ApproxDp).capped(pair("3", "0.04"));
        let bad = probability_of_bad_event(&basic, &menu, 7);
        // Two rounds of 0.02 bring more than four of 0.01, or of both kinds; more do not fit.
        assert!((bad - (1.0 - 0.98_f64.powi(2))).abs() < 1e-12, "{bad}");
        assert!(bad <= 0.04);
        // A rule that charges half of every ε is none.
        let cheap = Cheap {
            rule: basic,
            share: 2,
        };
        let menu = [response("0.5", "0"), response("1.5", "0")];
        let bad = probability_of_bad_event(&cheap, &menu, 7);
        assert!(bad > 0.3, "{bad}");
    }

    /// Def. 3.2 with Thm 5.1: valid, and far from its δ.
    #[test]
    fn definition_3_2_holds_for_the_advanced_filter() {
        let limit = pair("1", "0.1");
        let rule = Rogers::new(limit).unwrap();
        let rounds = rule.admits(&pair("0.03", "0")).certainly() as u32;
        assert!(rounds > 40, "{rounds}");
        let bad = probability_of_bad_event(&rule, &[response("0.03", "0")], rounds);
        assert!(bad > 0.0 && bad <= 0.1, "{bad}");
        let menu = [response("0.05", "0"), response("0.2", "0.01")];
        let bad = probability_of_bad_event(&rule, &menu, 30);
        assert!(bad <= 0.1, "{bad}");
    }

    #[test]
    fn theorem_4_1_holds_against_every_adversary() {
        let menu = ["0.05", "0.2", "0.8"].map(|epsilon| response(epsilon, "0"));
        for (beta, delta) in [(0.01, 0.3), (0.04, 0.1), (1.0, 0.3)] {
            let beyond = probability_beyond_theorem_4_1(beta, delta, &menu, 7);
            assert!(beyond <= delta, "{beta} {delta} {beyond}");
            // One mechanism, and a long game.
            let beyond = probability_beyond_theorem_4_1(beta, delta, &menu[1..2], 200);
            assert!(beyond <= delta && beyond > 0.0, "{beta} {delta} {beyond}");
        }
    }

    #[test]
    fn theorem_2_10_holds_and_is_wider_than_its_successor() {
        for (launches, epsilon, delta) in [(10, "0.5", "0"), (100, "0.05", "1e-9"), (7, "1", "0")] {
            let (each, slack) = (pair(epsilon, delta), "1e-6".parse().unwrap());
            let bound = advanced_composition(launches, each, slack).unwrap();
            let successor = advanced_of(&vec![each; launches as usize], slack).unwrap();
            assert!(successor.epsilon < bound.epsilon, "{bound} {successor}");
            // The optimal bound for a fixed number admits at least as many.
            for bound in [bound, successor] {
                let count = FixedCount::most(bound, each).unwrap().count();
                assert!(count >= launches, "{count} {launches} {bound}");
            }
        }
        let missing = Err(UnknownLoss("advanced composition needs δ̃ > 0"));
        assert_eq!(
            advanced_composition(3, pair("1", "0"), Delta::ZERO),
            missing
        );
    }
}
