//! The two machines, the claim, and who asks what.

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;

use queryables::audit::Audit;
use queryables::machine::{Inspect, Machine, Mechanism, Pair, Script};
use queryables::number::Epsilon;
use queryables::privacy::{ApproxDp, EpsilonDelta, PureDp, Rdp};
use queryables::verify::{Checkable, Rational, Verifier, epsilon_of_ratio};

use crate::bug::{Found, Method, Says, Version};

/// A measure that both the verifier and the audit know.
pub(crate) trait Known: Checkable + Copy {
    /// Runs the sequential test of a claim, for at most this number of rounds.
    fn refuted<A: Debug + Eq + Hash>(
        self,
        audit: &Audit<'_, A>,
        loss: &Self::Loss,
        rounds: u32,
    ) -> Result<bool, Box<dyn Error>>;
}

macro_rules! known {
    ($($measure:ty),*) => {$(
        impl Known for $measure {
            fn refuted<A: Debug + Eq + Hash>(
                self,
                audit: &Audit<'_, A>,
                loss: &Self::Loss,
                rounds: u32,
            ) -> Result<bool, Box<dyn Error>> {
                Ok(audit.test(&self, loss)?.run(rounds))
            }
        }
    )*};
}

known!(PureDp, ApproxDp, Rdp);

pub(crate) struct Setup<D, M, Me: Known, Q> {
    pub(crate) machine: fn(Version) -> M,
    pub(crate) pair: Pair<D>,
    pub(crate) measure: Me,
    /// The loss that is claimed for both machines.
    pub(crate) loss: Me::Loss,
    /// What the verifier's adversaries choose from.
    pub(crate) menu: Vec<Q>,
    pub(crate) depth: usize,
    /// What the audit's adversary asks.
    pub(crate) script: Vec<Q>,
}

/// Rounds of an audit on each dataset. They end early where a claim is refuted.
const ROUNDS: u32 = 4000;

impl<D, M, Me, Q> Setup<D, M, Me, Q>
where
    D: Debug + PartialEq + Send + Sync + 'static,
    M: Mechanism<D> + 'static,
    M::Machine: Machine<Query = Q, Answer: Clone + Debug + Eq + Hash + Send + Sync + 'static>
        + Inspect
        + 'static,
    Me: Known,
    Q: Clone + Debug + Send + Sync + 'static,
{
    /// The cut is large, 2⁻¹²: where it is too large to decide about compared noise, the verifier takes a
    /// smaller one.
    pub(crate) fn run(self) -> Result<Found, Box<dyn Error>> {
        self.run_with_cut(12)
    }

    /// Does not follow samplers beyond a probability of 2^-bits.
    pub(crate) fn run_with_cut(self, bits: u32) -> Result<Found, Box<dyn Error>> {
        let verify = |version| {
            let machine = self.machine;
            let verifier = Verifier::by_state(
                move || machine(version),
                &self.pair,
                self.menu.clone(),
                self.depth,
            )
            .cut(Rational::ONE / Rational::from(1_u64 << bits))
            // Another program may have the machine: what is asked takes seconds.
            .time(Duration::from_secs(600));
            let verdict = verifier.check(&self.measure, &self.loss)?;
            Ok(if verdict.is_refuted() {
                Says::Refutes
            } else if verdict.holds() {
                Says::Passes
            } else {
                Says::Undecided
            })
        };
        let audit = |version| {
            let mechanism = (self.machine)(version);
            let script = || Script::new(self.script.clone());
            let audit = Audit::new(&mechanism, &self.pair, script, self.script.len()).seed(30);
            let refuted = self.measure.refuted(&audit, &self.loss, ROUNDS)?;
            Ok(if refuted { Says::Refutes } else { Says::Passes })
        };
        Ok(Found {
            verify: Some(Method::ask(verify)?),
            audit: Some(Method::ask(audit)?),
            reference: None,
        })
    }
}

/// `times · ln(number)`, rounded up.
pub(crate) fn ln(number: u64, times: u64) -> Epsilon {
    let one = epsilon_of_ratio(&Rational::from(number));
    let all = one.and_then(|one| one.checked_mul(times));
    all.unwrap_or(Epsilon::LARGEST)
}

/// (ε, δ), δ as a decimal.
pub(crate) fn approximately(epsilon: Epsilon, delta: &str) -> Result<EpsilonDelta, Box<dyn Error>> {
    let delta = delta.parse()?;
    Ok(EpsilonDelta { epsilon, delta })
}
