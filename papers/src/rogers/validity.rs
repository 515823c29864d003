use std::collections::HashMap;

use super::Claim;
use super::response::{honesty, log_odds, revelation};
use queryables::mechanisms::ApproxRandomizedResponse;

/// The largest probability with which the realised loss ends beyond what a rule claims, in either
/// direction: `P(|Loss(v)| > COMP)` of Rogers et al. Def. 3.1, if the secret bit is 0.
///
/// It is the maximum over all adversaries of [`AdaptParamComp`](super::AdaptParamComp) who play at
/// most `rounds` rounds, each with a mechanism of the menu that they choose by what they have seen,
/// and stop when they like. A rule is a valid odometer for δ in the sense of Def. 3.1 only if this
/// is at most δ, whatever the menu. This refutes rules and proves none: other mechanisms are
/// postprocessings of randomized responses (Rogers et al. 2.7), but `|Loss| > COMP` is not an event
/// that postprocessing cannot make more likely (Whitehouse et al. App. F).
///
/// The promise of a [`TimeUniformOdometer`](queryables::account::time_uniform::TimeUniformOdometer) is
/// about `Loss > COMP` alone, for both secrets. Where `Loss < −COMP`, the view is at least as likely
/// if the secret is 1, and there the promise bounds the same event; so one for δ is a valid odometer
/// of Def. 3.1 for 2δ.
///
/// The rule must not depend on the order of what it counts. A loss within 10⁻¹² of the claim, in
/// relative terms, is not beyond it: sums of floats are no better. The work grows like
/// `rounds^(2·menu)`.
///
/// ```
/// use papers::rogers::{NaiveAdvanced, probability_of_exceeding};
/// use queryables::mechanisms::ApproxRandomizedResponse;
/// use queryables::privacy::EpsilonDelta;
///
/// let menu = ["0.05", "0.2", "0.8"].map(|epsilon| {
///     EpsilonDelta::new(epsilon, "0").map(ApproxRandomizedResponse::new)
/// });
/// let menu = menu.into_iter().collect::<Result<Vec<_>, _>>()?;
/// // Advanced composition, read at parameters that were not fixed, promises 0.3.
/// let naive = NaiveAdvanced::new("0.3".parse()?);
/// assert!(probability_of_exceeding(&naive, &menu, 8) > 0.4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probability_of_exceeding<C: Claim + Clone>(
    rule: &C,
    menu: &[ApproxRandomizedResponse],
    rounds: u32,
) -> f64 {
    let known = HashMap::new();
    let played = vec![(0, 0); menu.len()];
    Search { menu, known }.best(rule, rounds, played)
}

/// How often each mechanism of the menu was played, and how much more often ⊤ was heard than ⊥.
type Played = Vec<(u32, i64)>;

struct Search<'a> {
    menu: &'a [ApproxRandomizedResponse],
    /// By what was played: it fixes the loss, the claim and the rounds that are left.
    known: HashMap<Played, f64>,
}

impl Search<'_> {
    fn best<C: Claim + Clone>(&mut self, rule: &C, left: u32, played: Played) -> f64 {
        let each = self.menu.iter().zip(&played);
        let loss: f64 = each
            .map(|(each, (_, net))| *net as f64 * log_odds(each))
            .sum();
        let claim = rule.claimed();
        if loss.abs() > claim + 1e-12 * (1.0 + claim) {
            return 1.0;
        }
        if left == 0 {
            return 0.0;
        }
        if let Some(known) = self.known.get(&played) {
            return *known;
        }
        let mut best = 0.0_f64;
        for (index, mechanism) in self.menu.iter().enumerate() {
            let mut next = rule.clone();
            next.count(&mechanism.epsilon_delta());
            let mut heard = |more: i64| {
                let mut played = played.clone();
                if let Some((times, net)) = played.get_mut(index) {
                    *times += 1;
                    *net += more;
                }
                self.best(&next, left - 1, played)
            };
            let honesty = honesty(mechanism);
            let hidden = honesty * heard(1) + (1.0 - honesty) * heard(-1);
            // A revealed bit is an infinite loss.
            let revealed = f64::from(u8::from(next.claimed() < f64::INFINITY));
            let reveals = revelation(mechanism);
            best = best.max(reveals * revealed + (1.0 - reveals) * hidden);
        }
        self.known.insert(played, best);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::privacy::EpsilonDelta;

    /// Always claims the same.
    #[derive(Clone)]
    struct Constant(f64);

    impl Claim for Constant {
        fn count(&mut self, _: &EpsilonDelta) {}

        fn claimed(&self) -> f64 {
            self.0
        }
    }

    fn probability(claim: f64, delta: &str, rounds: u32) -> f64 {
        let mechanism = ApproxRandomizedResponse::with_odds(3, 1, delta.parse().unwrap()).unwrap();
        probability_of_exceeding(&Constant(claim), &[mechanism], rounds)
    }

    #[test]
    fn short_games_by_hand() {
        // ⊤ with 3/4; one of them is a loss of ln 3 = 1.0986….
        for (claim, rounds, expected) in [
            (1.1, 1, 0.0),
            // In either direction.
            (1.0, 1, 1.0),
            // Two alike; or one of each, and then two alike.
            (1.1, 2, 0.625),
            (1.1, 4, 0.625 + 0.375 * 0.625),
            // Three alike.
            (2.2, 3, 28.0 / 64.0),
        ] {
            let found = probability(claim, "0", rounds);
            assert!((found - expected).abs() < 1e-15, "{claim} {rounds} {found}");
        }
        // A revealed bit is beyond every finite claim.
        assert!((probability(100.0, "0.25", 2) - (0.25 + 0.75 * 0.25)).abs() < 1e-15);
        assert_eq!(probability(f64::INFINITY, "0.25", 2), 0.0);
    }

    /// A second mechanism helps: after ⊥ or ⊤ of the first, the other one passes the claim or not.
    #[test]
    fn the_adversary_chooses_by_what_it_has_seen() {
        let odds =
            |truth| ApproxRandomizedResponse::with_odds(truth, 1, "0".parse().unwrap()).unwrap();
        // ln 3 + ln 9 = 3.29…, ln 9 = 2.19…; the claim is passed by 9 and 3, or by 9 and 9.
        let menu = [odds(3), odds(9)];
        let claim = Constant(2.5);
        // By 9 and then 9 again if the first answer is true (0.9·0.9), else 3, which lies more often
        // (0.1·0.25). By 9 and 9 in any case it is 0.82, by 9 and 3 it is 0.7.
        let found = probability_of_exceeding(&claim, &menu, 2);
        assert!((found - 0.835).abs() < 1e-15, "{found}");
        let found = probability_of_exceeding(&claim, &menu[..1], 2);
        assert_eq!(found, 0.0);
    }
}
