//! A proof in a certificate: every query at every point of the conversation, each point once.
//!
//! Points are written from the ends of the conversation to its start, each as it prints with its
//! masses divided by a common factor. Two points that print the same are one: all that the checker
//! sees of them is the same. An answer has the number of its point, and the factor.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use super::certificate::{goal, head, masses, menu, named, offered, started};
use super::claim::Verdict;
use super::exploration::Exploration;
use super::goal::Goal;
use super::json::Json;
use super::menu::Menu;
use super::meter::Held;
use super::solve::{PointOf, Solver};
use super::tree::size_of_path;
use super::worst::Completeness;
use super::{Interval, Rational, VerifyError};

/// A proof with more points than this has no certificate.
const MOST_POINTS: usize = 20_000;

/// The proof of a verdict; `None` if it has too many points, or if the checker could not check it.
pub(super) fn proof<Q, A, N>(
    exploration: &Exploration<Q, A, N>,
    goals: &[Goal],
    verdict: &Verdict<Q, A>,
) -> Result<Option<Json>, VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Debug + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let Some(goals) = goals
        .iter()
        .map(|each| goal(*each))
        .collect::<Option<Vec<_>>>()
    else {
        return Ok(None);
    };
    // Only δ(ε) is bounded where something was cut.
    let cut = verdict.worst.completeness != Completeness::Complete;
    if cut && !matches!(verdict.goal, Goal::Delta { .. }) {
        return Ok(None);
    }
    exploration.walk(|solver, starts, cut| {
        let mut writer = Writer {
            solver,
            written: HashMap::new(),
            known: HashMap::new(),
            menu: None,
            changes: false,
            held: Held::new(&solver.explorer.runner.meter, 0),
        };
        let held = Held::new(&solver.explorer.runner.meter, 0);
        let mut answers = Vec::new();
        for point in starts {
            let Some(place) = writer.point(point)? else {
                return Ok(None);
            };
            let answer = answer(started(&point.node.start), &place, &Rational::ONE);
            answers.push(printed(&held, &answer));
        }
        let mut fields = head("private", verdict);
        fields.push(("goals", Json::List(goals)));
        fields.push(match (&writer.menu, writer.changes) {
            (Some(same), false) => ("menu", menu(same)),
            _ => ("menu", offered(verdict)),
        });
        let changes = if writer.changes { "yes" } else { "no" };
        fields.push(("menu changes", Json::text(changes)));
        fields.push(("points", writer.points()));
        let start = after(answers, cut, &Rational::ONE);
        fields.push(("start", Json::Object(start.into())));
        Ok(Some(Json::Object(fields)))
    })
}

/// Where a point is written.
#[derive(Clone, Debug)]
struct Place {
    index: usize,
    /// Its masses are these times what is written.
    factor: Rational,
}

/// An answer at a point whose masses are divided by `scale`.
fn answer(name: Json, place: &Place, scale: &Rational) -> Json {
    let factor = Json::text(&place.factor / scale);
    Json::List(vec![name, Json::Number(place.index), factor])
}

/// All answers, and what was not followed, at a point whose masses are divided by `scale`.
fn after(answers: Vec<Json>, cut: &[Rational; 2], scale: &Rational) -> [(&'static str, Json); 2] {
    let cut = cut.iter().map(|cut| Json::text(cut / scale));
    [
        ("answers", Json::List(answers)),
        ("cut", Json::List(cut.collect())),
    ]
}

/// Printed, with its memory counted.
fn printed(held: &Held, json: &Json) -> Json {
    let text = json.to_string();
    // Lists and texts have up to twice the room that they need, and three times while they grow.
    held.grow(2 * text.len() + 3 * size_of::<Json>());
    Json::Printed(text)
}

/// What the masses of a point are divided by: the first that is not zero. Limits stay as they are.
fn scale_of(masses: &[Interval; 2]) -> Rational {
    let exact = masses.iter().all(Interval::is_exact);
    match masses.iter().find(|mass| !mass.is_zero()) {
        Some(first) if exact => first.low().clone(),
        _ => Rational::ONE,
    }
}

/// Masses that are exact, or else a scale of one.
fn over(of_point: &[Interval; 2], scale: &Rational) -> [Interval; 2] {
    of_point.clone().map(|mass| match mass.is_exact() {
        true => Interval::exact(mass.low() / scale),
        false => mass,
    })
}

struct Writer<'a, 's, Q, A, N: Menu<Q, A>> {
    solver: &'a Solver<'s, Q, A, N>,
    /// The number of each point, by how it prints.
    written: HashMap<String, usize>,
    /// Points by what their future depends on, for masses in units of the solver's factor.
    known: HashMap<Vec<u8>, Place>,
    /// What every point so far offered.
    menu: Option<Vec<String>>,
    /// Not every point offered the same.
    changes: bool,
    /// The memory of what was written.
    held: Held,
}

impl<Q, A, N> Writer<'_, '_, Q, A, N>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Debug + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    /// Writes this point and all after it, unless they are written; `None` if they are too many.
    fn point(&mut self, point: &PointOf<Q, A, N>) -> Result<Option<Place>, VerifyError> {
        let here = point.node.masses();
        let scale = scale_of(&here);
        let shown = ("masses", masses(&over(&here, &scale)));
        // Where one side is impossible nothing more can be learned.
        if point.left == 0 || here.iter().any(Interval::is_zero) {
            return self.place(&Json::Object(vec![shown]), scale);
        }
        let (key, unit) = self.solver.key(point);
        let unit = unit.low();
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return Ok(Some(Place {
                index: known.index,
                factor: &known.factor * unit,
            }));
        }
        let meter = &self.solver.explorer.runner.meter;
        meter.count_point()?;
        let held = Held::new(meter, 0);
        let Some(queries) = self.queries(point, &scale, &held)? else {
            return Ok(None);
        };
        let left = ("left", Json::Number(point.left));
        let fields = vec![shown, left, ("queries", Json::List(queries))];
        let place = self.place(&Json::Object(fields), scale)?;
        if let (Some(key), Some(place)) = (key, &place)
            // It is divided by.
            && *unit > Rational::ZERO
        {
            let factor = &place.factor / unit;
            self.held
                .grow(key.len() + size_of_path::<(Vec<u8>, Place)>(&[]));
            let index = place.index;
            self.known.insert(key, Place { index, factor });
        }
        Ok(place)
    }

    /// Every query at a point whose masses are divided by `scale`.
    fn queries(
        &mut self,
        point: &PointOf<Q, A, N>,
        scale: &Rational,
        held: &Held,
    ) -> Result<Option<Vec<Json>>, VerifyError> {
        let offers = self.solver.offered(point)?;
        let names: Vec<_> = offers
            .iter()
            .map(|offer| format!("{:?}", offer.query))
            .collect();
        self.changes |= self.menu.get_or_insert_with(|| names.clone()) != &names;
        let mut queries = Vec::new();
        for (offer, name) in offers.iter().zip(names) {
            let (points, cut) = self.solver.ask(point, offer)?;
            let mut answers = Vec::new();
            for next in &points {
                let Some((_, said)) = next.node.transcript.last() else {
                    return Ok(None);
                };
                let Some(place) = self.point(next)? else {
                    return Ok(None);
                };
                answers.push(printed(held, &answer(named(said), &place, scale)));
            }
            let mut fields = vec![("ask", Json::text(name))];
            fields.extend(after(answers, &cut, scale));
            queries.push(printed(held, &Json::Object(fields)));
        }
        Ok(Some(queries))
    }

    /// Where this is written, now or before; `None` if there is no room for it.
    fn place(&mut self, point: &Json, factor: Rational) -> Result<Option<Place>, VerifyError> {
        let mut text = point.to_string();
        let next = self.written.len();
        let index = match self.written.get(&text) {
            Some(index) => *index,
            None if next == MOST_POINTS => return Ok(None),
            None => {
                text.shrink_to_fit();
                self.held
                    .grow(text.len() + size_of_path::<(String, usize)>(&[]));
                self.held.meter().check()?;
                self.written.insert(text, next);
                next
            }
        };
        Ok(Some(Place { index, factor }))
    }

    /// All that was written, each before the points that lead to it.
    fn points(self) -> Json {
        let mut points: Vec<_> = self.written.into_iter().collect();
        points.sort_by_key(|(_, index)| *index);
        Json::List(
            points
                .into_iter()
                .map(|(text, _)| Json::Printed(text))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use allocation_counter::measure;

    use super::*;
    use crate::machine::{Coins, Fault, Machine, Mechanism};
    use crate::verify::judge::judge;
    use crate::verify::{Pair, Verifier};

    /// A coin for each query, which says the bit with that many parts of 1000; or one coin for all, and a state
    /// that tells all transcripts apart.
    #[derive(Clone, Copy, Hash)]
    struct Loaded {
        bit: bool,
        transcript: Option<u64>,
    }

    impl Mechanism<bool> for Loaded {
        type Machine = Self;
        fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self, Fault> {
            let transcript = self.transcript;
            Ok(Self {
                bit: **data,
                transcript,
            })
        }
    }

    impl Machine for Loaded {
        type Query = u64;
        type Answer = bool;
        fn step(&mut self, parts: u64, coins: &mut Coins<'_>) -> Result<bool, Fault> {
            let said = match &mut self.transcript {
                None => coins.weighted(&[parts, 1000 - parts])?,
                Some(transcript) => {
                    let said = coins.weighted(&[3, 1])?;
                    *transcript = (*transcript * 1000 + parts) * 2 + said as u64;
                    said
                }
            };
            Ok(self.bit ^ (said == 1))
        }
    }

    /// What writing a proof allocates, and whether there is one.
    fn written(
        (transcript, coins, depth): (Option<u64>, u64, usize),
        memory: u64,
    ) -> (u64, Result<bool, VerifyError>) {
        let menu: Vec<_> = (500..500 + coins).collect();
        let loaded = Loaded {
            bit: false,
            transcript,
        };
        let verifier = Verifier::by_state(move || loaded, &Pair::new(false, true), menu, depth);
        let verifier = verifier.threads(1);
        let goals = [Goal::Ratio {
            epsilon: "6".parse().unwrap(),
        }];
        let judged = verifier.explore(move |exploration| judge(exploration, &goals));
        let verdict = judged.unwrap();
        let explored = verifier.memory(memory).explore(move |exploration| {
            let mut found = Ok(false);
            let info = measure(|| {
                found = proof(exploration, &goals, &verdict).map(|proof| proof.is_some());
            });
            Ok((info.bytes_max, found))
        });
        explored.unwrap()
    }

    #[test]
    fn no_more_is_allocated_than_the_bound() {
        // A long point, many points, and many that are written as few.
        for explored in [(None, 400, 1), (None, 6, 4), (Some(0), 3, 5)] {
            let (all, found) = written(explored, 1_000_000_000);
            assert_eq!(found, Ok(true));
            for tenths in [3, 6, 9] {
                let limit = all * tenths / 10;
                let (most, found) = written(explored, limit);
                assert_eq!(found, Err(VerifyError::Memory { limit }));
                let ratio = most as f64 / limit as f64;
                let near = 0.3..1.05;
                assert!(near.contains(&ratio), "{explored:?} {tenths}: {ratio}");
            }
        }
    }
}
