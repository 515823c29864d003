//! Claims of privacy, tested against a finding.

use std::fmt;

use super::Finding;
use super::finding::{short_down, short_up};
use crate::number::{Delta, Epsilon, Mu, Rho};
use crate::privacy::{
    ApproxDp, ApproxRdp, ApproxZCdp, EpsilonDelta, Gdp, Measure, ProbabilisticDp, PureDp, Rdp,
    RdpCurve, RdpGrid, RhoDelta, UnknownLoss, ZCdp, convert,
};

/// A measure whose losses imply (ε, δ)-privacy, so that a finding can refute them.
///
/// Measures that imply a whole curve of (ε, δ), such as zCDP, are tested at many points: a finding
/// covers all of them at once. An implied pair may be weaker than the claim, and then so is the
/// test.
///
/// [`SampledGaussianDp`](crate::privacy::SampledGaussianDp) is not among them: no conversion of its
/// losses to (ε, δ) is offered.
pub trait Refutable: Measure {
    /// Pairs (ε, δ) that a loss implies, rounded up.
    fn implied(&self, loss: &Self::Loss) -> Vec<EpsilonDelta>;
}

/// The result of testing a claim.
///
/// Example: [`Audit`](crate::audit::Audit).
#[derive(Clone, Debug, PartialEq)]
pub struct AuditResult {
    claim: String,
    /// The pair that the claim implies and the finding refutes.
    refuted: Option<EpsilonDelta>,
    finding: Finding,
}

impl AuditResult {
    /// Whether the claim is refuted, up to the finding's probability of failure. A claim that is
    /// not refuted may still be false.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.refuted.is_some()
    }
}

impl fmt::Display for AuditResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claim, finding, .. } = self;
        match self.refuted {
            Some(EpsilonDelta { epsilon, delta }) => {
                let allowed = short_up(epsilon);
                let shown = short_down(finding.epsilon_at(delta));
                write!(
                    f,
                    "a loss of {claim} is refuted: it implies ε ≤ {allowed} at δ = {delta}, where \
                     ε ≥ {shown} was found ({})\n{}",
                    finding.direction,
                    finding.evidence()
                )
            }
            None => write!(
                f,
                "a loss of {claim} is not refuted, which is no proof: {} trials show at most \
                 ε = {}\n{finding}",
                finding.trials,
                short_down(finding.largest_epsilon())
            ),
        }
    }
}

impl Finding {
    /// Tests a claim against this finding.
    ///
    /// ```
    /// use queryables::audit::{Audit, Pair};
    /// use queryables::machine::Script;
    /// use queryables::mechanisms::RandomizedResponse;
    /// use queryables::privacy::{Gdp, PureDp};
    ///
    /// let response = RandomizedResponse::new("3".parse()?)?;
    /// let pair = Pair::new(false, true);
    /// let audit = Audit::new(&response, &pair, || Script::new([()]), 1).trials(2000);
    /// let finding = audit.run()?;
    /// assert!(!finding.check(&PureDp, &"3".parse()?).is_refuted());
    /// assert!(finding.check(&PureDp, &"1".parse()?).is_refuted());
    /// assert!(finding.check(&Gdp, &"0.5".parse()?).is_refuted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn check<Me: Refutable>(&self, measure: &Me, loss: &Me::Loss) -> AuditResult {
        let excess = |pair: &EpsilonDelta| {
            let shown = self.epsilon_at(pair.delta);
            shown.units().checked_sub(pair.epsilon.units())
        };
        let refuted = measure
            .implied(loss)
            .into_iter()
            .filter(|pair| excess(pair).is_some_and(|excess| excess > 0))
            .max_by_key(excess);
        AuditResult {
            claim: loss.to_string(),
            refuted,
            finding: self.clone(),
        }
    }

    /// [`check`](Self::check), for tests.
    ///
    /// # Panics
    ///
    /// If the claim is refuted; the message says by what.
    #[track_caller]
    pub fn assert_not_refuted<Me: Refutable>(&self, measure: &Me, loss: &Me::Loss) {
        let verdict = self.check(measure, loss);
        if verdict.is_refuted() {
            fail(&verdict.to_string());
        }
    }
}

#[track_caller]
#[expect(clippy::panic, reason = "this is an assertion, for tests")]
pub(super) fn fail(message: &str) -> ! {
    panic!("{message}")
}

/// (ε, 0), by definition.
impl Refutable for PureDp {
    fn implied(&self, loss: &Epsilon) -> Vec<EpsilonDelta> {
        let delta = Delta::ZERO;
        vec![EpsilonDelta {
            epsilon: *loss,
            delta,
        }]
    }
}

/// The claim itself.
impl Refutable for ApproxDp {
    fn implied(&self, loss: &EpsilonDelta) -> Vec<EpsilonDelta> {
        vec![*loss]
    }
}

/// The same pair (Rogers et al. Lemma 2.3).
impl Refutable for ProbabilisticDp {
    fn implied(&self, loss: &EpsilonDelta) -> Vec<EpsilonDelta> {
        vec![*loss]
    }
}

/// By [`convert::gdp`].
impl Refutable for Gdp {
    fn implied(&self, loss: &Mu) -> Vec<EpsilonDelta> {
        along(|delta| convert::gdp::epsilon(*loss, delta))
    }
}

/// By [`convert::zcdp`].
impl Refutable for ZCdp {
    fn implied(&self, loss: &Rho) -> Vec<EpsilonDelta> {
        along(|delta| convert::zcdp::epsilon(*loss, delta))
    }
}

/// By [`convert::zcdp`].
impl Refutable for ApproxZCdp {
    fn implied(&self, loss: &RhoDelta) -> Vec<EpsilonDelta> {
        let at = |slack| convert::zcdp::approximate(*loss, slack).ok();
        slacks().filter_map(at).collect()
    }
}

/// By [`convert::rdp`].
impl Refutable for Rdp {
    fn implied(&self, loss: &Epsilon) -> Vec<EpsilonDelta> {
        along(|delta| convert::rdp::epsilon(self.order(), *loss, delta))
    }
}

/// By [`convert::rdp`].
impl Refutable for ApproxRdp {
    fn implied(&self, loss: &EpsilonDelta) -> Vec<EpsilonDelta> {
        let at = |slack| convert::rdp::approximate(self.order(), *loss, slack).ok();
        slacks().filter_map(at).collect()
    }
}

/// Every order by itself, by [`convert::rdp`].
impl Refutable for RdpGrid {
    fn implied(&self, loss: &RdpCurve) -> Vec<EpsilonDelta> {
        if !self.is_valid(loss) {
            return vec![];
        }
        let orders = self.orders().iter().zip(loss.epsilons());
        orders
            .flat_map(|(order, epsilon)| Rdp::new(*order).implied(epsilon))
            .collect()
    }
}

/// What is implied at each of the slacks.
fn along(epsilon: impl Fn(Delta) -> Result<Epsilon, UnknownLoss>) -> Vec<EpsilonDelta> {
    let at = |delta| {
        let epsilon = epsilon(delta).ok()?;
        Some(EpsilonDelta { epsilon, delta })
    };
    slacks().filter_map(at).collect()
}

/// 1/2, 1/4 and so on down to 2^-38, which 38 decimals can still hold: no number of trials reaches
/// smaller ones.
fn slacks() -> impl Iterator<Item = Delta> {
    (1..=38).filter_map(|halvings| Delta::from_units(Delta::ONE.units() >> halvings).ok())
}
