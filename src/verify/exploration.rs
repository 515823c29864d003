//! One exploration: what is asked, on a thread of its own.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use dashu_int::UBig;

use super::error::MOST_ROUNDS;
use super::explorer::Explorer;
use super::menu::Menu;
use super::meter::Meter;
use super::objective::{Objective, Value};
use super::offers::Offers;
use super::released::Window;
use super::runner::Precision;
use super::scope::Scope;
use super::side::Side;
use super::solve::{PointOf, Solver, Target};
use super::strategy::Strategy;
use super::worst::{Completeness, Worst};
use super::{Direction, Interval, Rational, VerifyError};

/// What is explored.
pub(super) struct Question<Q, A, N> {
    pub(super) sides: Arc<[Side<Q, A>; 2]>,
    /// The two sides, in short; an error if they are the same.
    pub(super) names: Result<[String; 2], VerifyError>,
    pub(super) menu: Arc<N>,
    pub(super) depth: usize,
    pub(super) threads: usize,
    pub(super) care: Precision,
    /// Whether the mechanism only says what it releases, so that released values may be taken
    /// together.
    pub(super) releases_only: bool,
}

crate::clone_fields!([Q, A, N] Question<Q, A, N> { sides, names, menu, depth, releases_only, threads, care });

impl<Q, A, N: Menu<Q, A>> Question<Q, A, N> {
    /// Whether it asks anything.
    pub(super) fn check(&self) -> Result<(), VerifyError> {
        self.names.as_ref().map_err(Clone::clone)?;
        if self.depth == 0 {
            return Err(VerifyError::NoDepth);
        }
        if self.depth > MOST_ROUNDS {
            return Err(VerifyError::TooDeep { depth: self.depth });
        }
        self.menu.check()?;
        if self.menu.queries(&self.menu.start()).is_empty() {
            return Err(VerifyError::EmptyMenu);
        }
        Ok(())
    }
}

/// What is known where released values are taken together.
pub(super) enum Together<Q, A, N> {
    /// Nothing: it is not promised that the mechanism only says what it releases, the menu reads answers,
    /// something is cut or not bounded nevertheless, or truths are met without end.
    Unknown,
    /// Nothing was released: this exploration is one like any other, and so are its results.
    Nothing(Box<Exploration<Q, A, N>>, Vec<Worst<Q, A>>),
    /// An upper bound for each objective, that does not depend on a cut.
    Limits(Vec<Worst<Q, A>>),
}

/// Runs machines and remembers what they did, for one question.
pub(super) struct Exploration<Q, A, N> {
    question: Question<Q, A, N>,
    explorer: Explorer<Q, A>,
    offers: Offers,
}

impl<Q, A, N> Exploration<Q, A, N>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    pub(super) fn new(question: Question<Q, A, N>, meter: &Arc<Meter>) -> Self {
        Self {
            explorer: Explorer::new(&question.sides, meter, question.care.clone()),
            question,
            offers: Offers::default(),
        }
    }

    fn meter(&self) -> &Arc<Meter> {
        &self.explorer.runner.meter
    }

    /// The worst for each objective, in both directions.
    pub(super) fn worst(&self, objectives: &[Objective]) -> Result<Vec<Worst<Q, A>>, VerifyError> {
        self.worst_with(objectives, || true)
    }

    /// The same; whether the adversaries are wanted, for which the machine is run once more, is asked
    /// when the values are known.
    fn worst_with(
        &self,
        objectives: &[Objective],
        adversaries: impl FnOnce() -> bool,
    ) -> Result<Vec<Worst<Q, A>>, VerifyError> {
        let both = |objective: &Objective| {
            [false, true].map(|swapped| Target {
                objective: objective.clone(),
                swapped,
            })
        };
        let cut = Target {
            objective: Objective::Cut,
            swapped: false,
        };
        let targets = objectives.iter().flat_map(both).chain([cut]).collect();
        let solver = Solver::new(&self.explorer, &*self.question.menu, &self.offers, targets);
        let (points, values) = solver.solve(self.question.depth, self.question.threads)?;
        let completeness = match values.last().and_then(Value::high) {
            Some(mass) if *mass > Rational::ZERO => Completeness::Truncated { mass: mass.clone() },
            _ => Completeness::Complete,
        };
        let adversaries = adversaries();
        let mut worst = Vec::new();
        for (number, pair) in values.chunks_exact(2).take(objectives.len()).enumerate() {
            let [forward, backward] = pair else {
                return Err(VerifyError::Diverged);
            };
            let (direction, target, attained) = if backward.compare_low(forward).is_gt() {
                (Direction::Backward, 2 * number + 1, backward)
            } else {
                (Direction::Forward, 2 * number, forward)
            };
            worst.push(Worst {
                value: forward.max(backward),
                direction,
                completeness: completeness.clone(),
                adversary: match adversaries {
                    true => begin(&solver, &points, target, attained)?,
                    false => Strategy::More,
                },
                scope: self.scope()?,
            });
        }
        Ok(worst)
    }

    /// What is known of each objective, in both directions, where released values are taken together
    /// ([`released`](super::released)): they are of one kind, the ratio, or Rényi sums of these orders.
    pub(super) fn together(
        &self,
        objectives: &[Objective],
        orders: Vec<Rational>,
    ) -> Result<Together<Q, A, N>, VerifyError> {
        /// How often truths that depend on released values may widen the window.
        const MOST_PASSES: usize = 16;
        let promised = self.question.releases_only && !self.question.menu.reads_answers();
        let mut window = Window::new(orders, self.meter());
        for _ in 0..if promised { MOST_PASSES } else { 0 } {
            let mut question = self.question.clone();
            question.care.window = Some(window.clone());
            let wide = Self::new(question, self.meter());
            let found = wide.worst_with(objectives, || window.is_unused());
            if let Some(wider) = window.wider() {
                window = wider;
                continue;
            }
            let mut found = found?;
            if window.is_unused() {
                return Ok(Together::Nothing(Box::new(wide), found));
            }
            let bounded = |worst: &Worst<Q, A>| {
                worst.completeness == Completeness::Complete && worst.value.high().is_some()
            };
            if !found.iter().all(bounded) {
                return Ok(Together::Unknown);
            }
            for worst in &mut found {
                worst.completeness = Completeness::Bounded;
            }
            return Ok(Together::Limits(found));
        }
        Ok(Together::Unknown)
    }

    /// The same question with the square of the cut, if that tells more: if noise that was compared
    /// was ever beyond what is listed, and if intervals are fine enough for it.
    pub(super) fn deeper(&self) -> Option<Self> {
        let finest = Rational::from_parts(1.into(), UBig::ONE << 200);
        let cut = &self.question.care.cut;
        if !self.explorer.went_beyond() || *cut <= finest {
            return None;
        }
        Some(self.at_cut((cut * cut).max(finest)))
    }

    pub(super) fn cut(&self) -> &Rational {
        &self.question.care.cut
    }

    /// The same question at another cut.
    pub(super) fn at_cut(&self, cut: Rational) -> Self {
        let mut question = self.question.clone();
        question.care.cut = cut;
        question.care.window = None;
        Self::new(question, self.meter())
    }

    /// Walks over the conversation: from its starts, with the mass that was cut there.
    pub(super) fn walk<T>(
        &self,
        walk: impl FnOnce(
            &Solver<'_, Q, A, N>,
            &[PointOf<Q, A, N>],
            &[Rational; 2],
        ) -> Result<T, VerifyError>,
    ) -> Result<T, VerifyError> {
        let menu = &*self.question.menu;
        let solver = Solver::new(&self.explorer, menu, &self.offers, Vec::new());
        let (points, cut) = solver.begin(self.question.depth)?;
        walk(&solver, &points, &cut)
    }

    fn scope(&self) -> Result<Scope, VerifyError> {
        let progress = self.meter().progress();
        Ok(Scope {
            sides: self.question.names.clone()?,
            depth: self.question.depth,
            menu: self.offers.entries()?,
            points: progress.points,
            runs: progress.runs,
        })
    }
}

/// The largest number of queries of a strategy that is stored; longer ones are not readable.
const LONGEST_STRATEGY: usize = 5_000;

/// What attains the best value, from the start.
fn begin<Q, A, N>(
    solver: &Solver<'_, Q, A, N>,
    points: &[PointOf<Q, A, N>],
    target: usize,
    whole: &Value,
) -> Result<Strategy<Q, A>, VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let mut then = Vec::new();
    for point in points {
        let next = strategy(solver, point, target, whole, LONGEST_STRATEGY)?;
        then.push((point.node.start, next));
    }
    Ok(match then.as_slice() {
        [(Ok(()), only)] => only.clone(),
        [] => Strategy::Stop {
            masses: [Interval::ZERO, Interval::ZERO],
        },
        _ => Strategy::Start { then },
    })
}

/// What attains the best value for a target from here on, with at most `room` queries stored.
fn strategy<Q, A, N>(
    solver: &Solver<'_, Q, A, N>,
    point: &PointOf<Q, A, N>,
    target: usize,
    whole: &Value,
    room: usize,
) -> Result<Strategy<Q, A>, VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let masses = point.node.masses();
    let best = solver.best(point)?.into_iter().nth(target);
    let objective = solver.targets.get(target).map(|target| &target.objective);
    let chosen = best.and_then(|best| match objective {
        // For a maximum over leaves, only the path to the largest matters.
        Some(Objective::Ratio) if best.value.compare_low(whole).is_lt() => None,
        _ => best.query,
    });
    let Some(number) = chosen else {
        return Ok(Strategy::Stop { masses });
    };
    let offers = solver.offered(point)?;
    let Some(offer) = offers.get(number) else {
        return Ok(Strategy::Stop { masses });
    };
    if room == 0 {
        return Ok(Strategy::More);
    }
    let (points, _) = solver.ask(point, offer)?;
    // Every answer gets the same share of what room is left.
    let room = (room - 1) / points.len().max(1);
    let mut then = Vec::new();
    for next in &points {
        if let Some((_, answer)) = next.node.transcript.last() {
            let next = strategy(solver, next, target, whole, room)?;
            then.push((answer.clone(), next));
        }
    }
    Ok(Strategy::Ask {
        query: offer.query.clone(),
        then,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::RandomizedResponse;
    use crate::verify::{Pair, Verifier, copies_of};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn responding() -> Verifier<(), bool, Vec<()>, RandomizedResponse> {
        let respond = RandomizedResponse::with_odds(3, 1).unwrap();
        let pair = Pair::new(false, true);
        Verifier::by_state(copies_of(&respond), &pair, vec![()], 3)
    }

    #[test]
    fn what_is_dropped_is_not_counted() {
        let explored = responding().explore(|exploration| {
            let held = || exploration.meter().progress().memory;
            assert_eq!(held(), 0);
            exploration.worst(&[Objective::Ratio])?;
            let once = held();
            assert!(once > 0);
            // The same again, and the same question at another cut.
            exploration.worst(&[Objective::Ratio])?;
            assert_eq!(held(), once);
            let other = exploration.at_cut(Rational::ONE);
            other.worst(&[Objective::Ratio])?;
            assert!(held() > once);
            drop(other);
            assert_eq!(held(), once);
            Ok(())
        });
        assert_eq!(explored, Ok(()));
    }

    #[test]
    fn leaves_end_when_it_is_cancelled() {
        let cancel = Arc::<AtomicBool>::default();
        let cancels = cancel.clone();
        let found = responding()
            .cancelled_by(&cancel)
            .explore(move |exploration| {
                exploration.walk(|solver, points, _| {
                    let mut leaf = points.first().cloned().ok_or(VerifyError::Diverged)?;
                    leaf.left = 0;
                    let before = solver.best(&leaf).map(|best| best.len());
                    cancels.store(true, Ordering::Relaxed);
                    let after = solver.best(&leaf).map(|best| best.len());
                    // Not as the result: the watch returns one of its own.
                    assert_eq!((before, after), (Ok(0), Err(VerifyError::Cancelled)));
                    Ok(())
                })
            });
        assert!(matches!(found, Ok(()) | Err(VerifyError::Cancelled)));
    }
}
