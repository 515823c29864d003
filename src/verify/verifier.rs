//! The question that is put to the verifier, and its answer.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::sync::Arc;

use super::error::MOST_ROUNDS;
use super::explorer::Explorer;
use super::menu::Menu;
use super::objective::{Objective, Value};
use super::share::on_a_deep_stack;
use super::side::Side;
use super::solve::{PointOf, Solver, Target};
use super::strategy::Strategy;
use super::worst::{Completeness, Worst, exp_of, order_of};
use super::{Direction, Interval, Pair, Rational, VerifyError};
use crate::machine::{Inspect, Machine, Mechanism};
use crate::number::{Epsilon, Order};

/// A mechanism, two datasets, a menu and a depth: all that every adversary could do.
///
/// [`new`](Self::new) takes any mechanism; [`by_state`](Self::by_state) is much faster, because it
/// recognises states, and takes machines that show theirs ([`Inspect`]).
///
/// # Example
///
/// Randomized response that tells the truth three times in four, asked twice.
///
/// ```
/// use queryables::machine::{Coins, Fault, Machine, Mechanism};
/// use queryables::verify::{Pair, Rational, Verifier};
/// use std::sync::Arc;
///
/// #[derive(Hash)]
/// struct Respond(bool);
///
/// struct Responding;
///
/// impl Mechanism<bool> for Responding {
///     type Machine = Respond;
///     fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Respond, Fault> {
///         Ok(Respond(**data))
///     }
/// }
///
/// impl Machine for Respond {
///     type Query = ();
///     type Answer = bool;
///     fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
///         Ok(self.0 ^ (coins.weighted(&[3, 1])? == 1))
///     }
/// }
///
/// let pair = Pair::new(false, true);
/// let worst = Verifier::by_state(&Responding, &pair, vec![()], 2).worst_ratio()?;
/// assert_eq!(worst.value.exact(), Some(&Rational::from(9_u8)));
/// # Ok::<(), queryables::verify::VerifyError>(())
/// ```
pub struct Verifier<'a, Q, A, N> {
    explorer: Explorer<'a, Q, A>,
    menu: N,
    depth: usize,
    threads: usize,
}

impl<'a, Q, A, N> Verifier<'a, Q, A, N> {
    /// Any mechanism; only its answers are seen.
    pub fn new<D, M>(mechanism: &'a M, pair: &'a Pair<D>, menu: N, depth: usize) -> Self
    where
        D: Send + Sync + ?Sized,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A>> + Sync + ?Sized,
    {
        let sides = [pair.one(), pair.other()].map(|data| Side::opaque(mechanism, data));
        Self::of(sides, menu, depth)
    }

    /// A mechanism whose machines show their state.
    pub fn by_state<D, M>(mechanism: &'a M, pair: &'a Pair<D>, menu: N, depth: usize) -> Self
    where
        D: Send + Sync + ?Sized,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect> + Sync + ?Sized,
    {
        let sides = [pair.one(), pair.other()].map(|data| Side::transparent(mechanism, data));
        Self::of(sides, menu, depth)
    }

    /// Two mechanisms on one dataset, for [`difference`](Self::difference).
    pub fn comparing<D, M, O>(
        one: &'a M,
        other: &'a O,
        data: &'a Arc<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Send + Sync + ?Sized,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A>> + Sync + ?Sized,
        O: Mechanism<D, Machine: Machine<Query = Q, Answer = A>> + Sync + ?Sized,
    {
        Self::of(
            [Side::opaque(one, data), Side::opaque(other, data)],
            menu,
            depth,
        )
    }

    /// Two mechanisms whose machines show their state, on one dataset.
    pub fn comparing_by_state<D, M, O>(
        one: &'a M,
        other: &'a O,
        data: &'a Arc<D>,
        menu: N,
        depth: usize,
    ) -> Self
    where
        D: Send + Sync + ?Sized,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect> + Sync + ?Sized,
        O: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect> + Sync + ?Sized,
    {
        let sides = [Side::transparent(one, data), Side::transparent(other, data)];
        Self::of(sides, menu, depth)
    }

    fn of(sides: [Side<'a, Q, A>; 2], menu: N, depth: usize) -> Self {
        Self {
            explorer: Explorer::new(sides),
            menu,
            depth,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Gives up, with an error, after running the machine so often, or exploring so many points of
    /// the conversation; two million if nothing is said.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.explorer.limit = limit;
        self
    }

    /// Does not follow a sampler beyond a path of this probability; 2⁻³⁰ if nothing is said.
    #[must_use]
    pub fn cut(mut self, mass: Rational) -> Self {
        self.explorer.cut = mass;
        self
    }

    /// Uses so many threads; one for each core if nothing is said.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl<Q, A, N> Debug for Verifier<'_, Q, A, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("depth", &self.depth)
            .field("limit", &self.explorer.limit)
            .finish_non_exhaustive()
    }
}

impl<Q, A, N> Verifier<'_, Q, A, N>
where
    Q: Clone + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    /// The largest δ(ε) for this `e^ε`: the hockey-stick divergence `Σ max(0, p - e^ε q)`.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_delta(
        &self,
        exp_epsilon: impl Into<Interval>,
    ) -> Result<Worst<Q, A>, VerifyError> {
        self.worst(Objective::HockeyStick(exp_epsilon.into()))
    }

    /// The largest δ(ε) for this ε. As `e^ε` is irrational, the result is an interval.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_delta_at(&self, epsilon: Epsilon) -> Result<Worst<Q, A>, VerifyError> {
        self.worst_delta(exp_of(epsilon)?)
    }

    /// The largest `e^((α-1) D_α)`, where `D_α` is the Rényi divergence: exact where the order is a
    /// whole number up to 1000. [`renyi_divergence`](super::renyi_divergence) makes a divergence of it.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_renyi(&self, order: Order) -> Result<Worst<Q, A>, VerifyError> {
        self.worst(Objective::Renyi(order_of(order)))
    }

    /// The largest ratio of the probabilities of a view, which is `e^ε` for pure privacy.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn worst_ratio(&self) -> Result<Worst<Q, A>, VerifyError> {
        self.worst(Objective::Ratio)
    }

    /// The largest total variation between the two sides. It is 0 if and only if every adversary
    /// whatever has identically distributed views; otherwise its adversary tells them apart.
    ///
    /// # Errors
    ///
    /// See [`VerifyError`].
    pub fn difference(&self) -> Result<Worst<Q, A>, VerifyError> {
        self.worst_delta(Rational::ONE)
    }

    fn worst(&self, objective: Objective) -> Result<Worst<Q, A>, VerifyError> {
        if self.depth > MOST_ROUNDS {
            return Err(VerifyError::TooDeep { depth: self.depth });
        }
        on_a_deep_stack(self.depth, || self.worst_of(&objective))
    }

    fn worst_of(&self, objective: &Objective) -> Result<Worst<Q, A>, VerifyError> {
        let target = |objective: &Objective, swapped| Target {
            objective: objective.clone(),
            swapped,
        };
        let targets = vec![
            target(objective, false),
            target(objective, true),
            target(&Objective::Cut, false),
        ];
        let solver = Solver::new(&self.explorer, &self.menu, targets);
        self.explorer.take_runs();
        let (points, values) = solver.solve(self.depth, self.threads)?;
        let (forward, backward, cut) = match <[Value; 3]>::try_from(values) {
            Ok([forward, backward, cut]) => (forward, backward, cut),
            Err(_) => return Err(VerifyError::Diverged),
        };
        let value = forward.max(&backward);
        let (direction, target, attained) = if backward.compare_low(&forward).is_gt() {
            (Direction::Backward, 1, backward)
        } else {
            (Direction::Forward, 0, forward)
        };
        let mut then = Vec::new();
        for point in &points {
            then.push(Self::strategy(
                &solver,
                point,
                target,
                &attained,
                LONGEST_STRATEGY,
            )?);
        }
        Ok(Worst {
            value,
            direction,
            completeness: match cut.high() {
                Some(mass) if *mass > Rational::ZERO => {
                    Completeness::Truncated { mass: mass.clone() }
                }
                _ => Completeness::Complete,
            },
            adversary: longest(then),
            points: solver.points(),
            runs: self.explorer.take_runs(),
        })
    }

    /// What attains the best value for a target from here on, with so many queries written down.
    fn strategy(
        solver: &Solver<'_, '_, Q, A, N>,
        point: &PointOf<Q, A, N>,
        target: usize,
        whole: &Value,
        room: usize,
    ) -> Result<Strategy<Q, A>, VerifyError> {
        let masses = point.node.masses();
        let best = solver.best(point)?.into_iter().nth(target);
        let objective = solver.targets.get(target).map(|target| &target.objective);
        let chosen = best.and_then(|best| match objective {
            // Of a maximum over leaves, only the way to the largest is of interest.
            Some(Objective::Ratio) if best.value.compare_low(whole).is_lt() => None,
            _ => best.query,
        });
        let queries = solver.menu.queries(&point.menu);
        let Some((number, query)) = chosen.and_then(|number| Some((number, queries.get(number)?)))
        else {
            return Ok(Strategy::Stop { masses });
        };
        if room == 0 {
            return Ok(Strategy::More);
        }
        let (points, _) = solver.ask(point, number, query)?;
        // Every answer gets the same share of what room is left.
        let room = (room - 1) / points.len().max(1);
        let mut then = Vec::new();
        for next in &points {
            if let Some((_, answer)) = next.node.transcript.last() {
                let next = Self::strategy(solver, next, target, whole, room)?;
                then.push((answer.clone(), next));
            }
        }
        Ok(Strategy::Ask {
            query: query.clone(),
            then,
        })
    }
}

/// So many queries of a strategy are written down; nobody reads more.
const LONGEST_STRATEGY: usize = 5_000;

/// The strategy after the start that succeeds; a start that fails ends everything.
fn longest<Q, A>(starts: Vec<Strategy<Q, A>>) -> Strategy<Q, A> {
    let masses = [Interval::ZERO, Interval::ZERO];
    starts
        .into_iter()
        .max_by_key(Strategy::depth)
        .unwrap_or(Strategy::Stop { masses })
}
