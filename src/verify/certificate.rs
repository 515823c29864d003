//! A verdict in a form that an independent program can check.

use std::fmt::Debug;
use std::hash::Hash;

use super::claim::Verdict;
use super::goal::{Checkable, Goal, goals_of};
use super::json::Json;
use super::menu::Menu;
use super::proof::proof;
use super::runner::is_open;
use super::strategy::Strategy;
use super::verifier::Verifier;
use super::worst::Completeness;
use super::{Direction, Interval, Rational, VerifyError};
use crate::machine::Fault;

impl<Q, A, N, M> Verifier<Q, A, N, M>
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    /// [`check`](Self::check), with a certificate of the verdict: a decided claim as JSON, for
    /// `spec/check_certificate.py`, which shares no code with this crate. There is none for an
    /// undecided claim, for a [bound](Completeness::Bounded), for a proof of more than 20 000 different points,
    /// or one that takes more runs, memory or time to write than are left, for a strategy that is too
    /// long to be stored, and for Rényi orders that are not whole numbers.
    ///
    /// ```
    /// use queryables::mechanisms::RandomizedResponse;
    /// use queryables::privacy::PureDp;
    /// use queryables::verify::{copies_of, Pair, Verifier};
    ///
    /// let respond = RandomizedResponse::with_odds(3, 1)?;
    /// let pair = Pair::new(false, true);
    /// let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1);
    /// let (verdict, certificate) = verifier.certify(&PureDp, &"1.1".parse()?)?;
    /// assert!(verdict.holds());
    /// assert!(certificate.unwrap().starts_with("{\"format\": "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A refutation is one strategy with the probabilities of its leaves on both datasets. A proof
    /// has every query at every point, with every answer. Points from which the conversation goes on
    /// in the same way, up to a common factor of all probabilities, are one: an answer has the number
    /// of its point in a list, and the factor.
    ///
    /// # What the checker checks
    ///
    /// That something is claimed and asked, that the probabilities add up, within their bounds, that
    /// the strategy of a refutation, or none of a proof, has a divergence above the claim, in exact
    /// fractions, and that a proof has every query of the menu at every point down to the depth. It
    /// prints what the verdict is about: read that too. It does **not** check that the probabilities
    /// are those of the machine, nor that two points which are one in the list are alike in the
    /// machine, or, where the menu changes in the course of the conversation, that nothing was left
    /// out of it.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn certify<Me: Checkable>(
        &self,
        measure: &Me,
        loss: &Me::Loss,
    ) -> Result<(Verdict<Q, A>, Option<String>), VerifyError> {
        let goals = goals_of(measure, loss)?;
        self.explore(move |exploration| {
            let verdict = super::judge::judge(exploration, &goals)?;
            let certificate = if verdict.is_refuted() {
                refutation(&verdict)
            } else if verdict.holds() && verdict.worst.completeness != Completeness::Bounded {
                // At the cut that decided it: at a larger one, bounds may be too wide.
                let written = match verdict.cut == *exploration.cut() {
                    true => proof(exploration, &goals, &verdict),
                    false => {
                        let deeper = exploration.at_cut(verdict.cut.clone());
                        proof(&deeper, &goals, &verdict)
                    }
                };
                match written {
                    // The verdict stands without it.
                    Err(stopped) if stopped.leaves_undecided() => None,
                    written => written?,
                }
            } else {
                None
            };
            Ok((verdict, certificate.map(|json| json.to_string())))
        })
    }
}

fn refutation<Q: Debug, A: Debug>(verdict: &Verdict<Q, A>) -> Option<Json> {
    let mut fields = head("not private", verdict);
    fields.push(("goal", goal(verdict.goal)?));
    let direction = match verdict.worst.direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    };
    fields.push(("direction", Json::text(direction)));
    fields.push(("menu", offered(verdict)));
    // Without what was cut, the upper bounds of the leaves hold.
    fields.push(match &verdict.worst.completeness {
        Completeness::Complete => ("cut", Json::text(Rational::ZERO)),
        Completeness::Truncated { mass } => ("cut", Json::text(mass)),
        // A bound refutes nothing.
        Completeness::Bounded => return None,
    });
    fields.push(("tree", strategy(&verdict.worst.adversary)?));
    Some(Json::Object(fields))
}

pub(super) fn head<Q, A>(says: &str, verdict: &Verdict<Q, A>) -> Vec<(&'static str, Json)> {
    let scope = &verdict.worst.scope;
    vec![
        ("format", Json::text("queryables certificate 3")),
        ("verdict", Json::text(says)),
        (
            "sides",
            Json::List(scope.sides.iter().map(Json::text).collect()),
        ),
        ("depth", Json::Number(scope.depth)),
    ]
}

pub(super) fn menu<'a>(queries: impl IntoIterator<Item = &'a String>) -> Json {
    Json::List(queries.into_iter().map(Json::text).collect())
}

/// Everything that the menu ever offered.
pub(super) fn offered<Q, A>(verdict: &Verdict<Q, A>) -> Json {
    menu(verdict.worst.scope.menu.iter().map(|(query, _)| query))
}

pub(super) fn goal(goal: Goal) -> Option<Json> {
    let fields = match goal {
        Goal::Ratio { epsilon } => vec![
            ("kind", Json::text("ratio")),
            ("epsilon", Json::text(epsilon)),
        ],
        Goal::Delta { epsilon, delta } => vec![
            ("kind", Json::text("delta")),
            ("epsilon", Json::text(epsilon)),
            ("delta", Json::text(delta)),
        ],
        Goal::Renyi { order, epsilon } => {
            let order = usize::try_from(order.units() / 1_000_000_000)
                .ok()
                .filter(|whole| *whole as u128 * 1_000_000_000 == order.units())?;
            vec![
                ("kind", Json::text("renyi")),
                ("order", Json::Number(order)),
                ("epsilon", Json::text(epsilon)),
            ]
        }
    };
    Some(Json::Object(fields))
}

fn mass(interval: &Interval) -> Json {
    if interval.is_exact() {
        return Json::text(interval.low());
    }
    Json::List(vec![
        Json::text(interval.low()),
        Json::text(interval.high()),
    ])
}

pub(super) fn masses(masses: &[Interval; 2]) -> Json {
    Json::List(masses.iter().map(mass).collect())
}

/// How a machine answered, as a name that no other answer has: what kind of answer it is, and its
/// text. An `end` is a fault after which the machine is not asked again. This is said here, and not
/// left to be found from the text, which is the machine's.
pub(super) fn named<A: Debug>(answer: &Result<A, Fault>) -> Json {
    let (kind, text) = match answer {
        Ok(answer) => ("answer", format!("{answer:?}")),
        Err(fault) if is_open(answer) => ("fault", format!("{fault:?}")),
        Err(fault) => ("end", format!("{fault:?}")),
    };
    Json::List(vec![Json::text(kind), Json::text(text)])
}

/// How a machine started. If it did not, there is nothing to ask, whatever the fault.
pub(super) fn started(start: &Result<(), Fault>) -> Json {
    match start {
        Ok(()) => named(start),
        Err(fault) => Json::List(vec![Json::text("end"), Json::text(format!("{fault:?}"))]),
    }
}

fn strategy<Q: Debug, A: Debug>(strategy: &Strategy<Q, A>) -> Option<Json> {
    let fields = match strategy {
        Strategy::More => return None,
        Strategy::Stop { masses: leaf } => vec![("masses", masses(leaf))],
        Strategy::Start { then } => vec![
            ("ask", Json::text("start")),
            ("answers", after(then, started)?),
        ],
        Strategy::Ask { query, then } => vec![
            ("ask", Json::text(format!("{query:?}"))),
            ("answers", after(then, named)?),
        ],
    };
    Some(Json::Object(fields))
}

/// How a strategy goes on after what it was told.
type After<B, Q, A> = (Result<B, Fault>, Strategy<Q, A>);

fn after<Q: Debug, A: Debug, B>(
    then: &[After<B, Q, A>],
    name: impl Fn(&Result<B, Fault>) -> Json,
) -> Option<Json> {
    let answers = then
        .iter()
        .map(|(answer, next)| Some(Json::List(vec![name(answer), strategy(next)?])));
    answers.collect::<Option<_>>().map(Json::List)
}
