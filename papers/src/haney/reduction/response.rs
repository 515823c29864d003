//! The randomized response N and the postprocessing P.

use std::fmt;
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};
use queryables::middle::{Middle, Move, Through, ThroughExt};
use queryables::number::{Delta, Ratio};
use queryables::verify::Rational;

use super::ReductionError;
use super::frontier::Frontier;
use super::transcripts::{Next, Point, Transcripts};

/// The mechanism M as P∘N.
#[derive(Clone, Debug)]
pub struct Reduction<Q, A> {
    /// N, which knows which of the two datasets it is.
    pub response: ApproxRandomizedResponse,
    /// P, which does not.
    pub postprocessing: Postprocessing<Q, A>,
}

impl<Q, A> Reduction<Q, A>
where
    Q: Clone + PartialEq + Send + Sync + 'static,
    A: Clone + Send + Sync + 'static,
{
    /// P∘N.
    #[must_use]
    pub fn mechanism(&self) -> Through<Postprocessing<Q, A>, ApproxRandomizedResponse, bool> {
        self.response.through(self.postprocessing.clone())
    }
}

/// The odds of every answer, for each of the four machines.
struct Odds<A> {
    /// For each query of the menu its answers; those that lead nowhere have weight zero.
    queries: Vec<Answers<A>>,
}

struct Answers<A> {
    /// For each machine, a weight for each answer.
    weights: [Vec<u64>; 4],
    then: Vec<Led<A>>,
}

/// An answer, and where it leads.
type Led<A> = (Result<A, Fault>, Arc<Odds<A>>);

/// P: hears which machine N names, before its first answer, and runs it.
pub struct Postprocessing<Q, A> {
    menu: Arc<[Q]>,
    at: Arc<Odds<A>>,
    /// N's answer, once it was asked for.
    named: Option<Response>,
    /// The number of the query that waits for it.
    asked: usize,
}

impl<Q, A> Clone for Postprocessing<Q, A> {
    fn clone(&self) -> Self {
        Self {
            menu: Arc::clone(&self.menu),
            at: Arc::clone(&self.at),
            named: self.named,
            asked: self.asked,
        }
    }
}

impl<Q, A> fmt::Debug for Postprocessing<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postprocessing").finish_non_exhaustive()
    }
}

impl<Q: PartialEq, A: Clone> Middle<(), Response> for Postprocessing<Q, A> {
    type OuterQuery = Q;
    type OuterAnswer = A;

    fn on_query(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<Move<(), A>, Fault> {
        let known = self.menu.iter().position(|known| *known == query);
        self.asked = known.ok_or(Fault::InvalidQuery("not on the menu"))?;
        match self.named {
            None => Ok(Move::Ask(())),
            Some(machine) => self.answer(machine, coins),
        }
    }

    fn on_answer(
        &mut self,
        machine: Response,
        coins: &mut Coins<'_>,
    ) -> Result<Move<(), A>, Fault> {
        self.named = Some(machine);
        self.answer(machine, coins)
    }
}

impl<Q, A: Clone> Postprocessing<Q, A> {
    fn answer(&mut self, machine: Response, coins: &mut Coins<'_>) -> Result<Move<(), A>, Fault> {
        let at = Arc::clone(&self.at);
        let answers = at.queries.get(self.asked).ok_or(Fault::Exhausted)?;
        let number = coins.weighted(&answers.weights[machine as usize])?;
        let (answer, next) = answers.then.get(number).ok_or(Fault::Failed)?;
        self.at = Arc::clone(next);
        answer.clone().map(Move::Answer)
    }
}

/// The masses of A and B before they are scaled to one, at every point.
type Shares<A> = Point<A, [Rational; 2]>;

impl<Q: Clone, A: Clone> Transcripts<Q, A> {
    /// The least δ for which there is a reduction to a response with odds of `truth` to `lie`.
    ///
    /// By the theorem it is the largest δ that any adversary attains at this ε, in either direction.
    ///
    /// # Errors
    ///
    /// [`ReductionError::BadOdds`] unless `truth >= lie > 0`.
    pub fn least_delta(&self, truth: u64, lie: u64) -> Result<Rational, ReductionError> {
        let odds = odds(truth, lie)?;
        Ok(least(&frontiers(&self.root, &odds), &odds))
    }

    /// N with odds of `truth` to `lie` that reveals with probability `delta`, and P, such that P∘N
    /// on 0 and on 1 has the law of the mechanism on the first and on the second dataset.
    ///
    /// # Errors
    ///
    /// [`ReductionError::NotPrivate`] if the mechanism is not (ln(truth / lie), δ)-DP on this pair,
    /// [`ReductionError::TooFine`] if the odds of an answer do not fit,
    /// [`ReductionError::BadOdds`] unless `truth >= lie > 0`.
    pub fn reduce(
        &self,
        truth: u64,
        lie: u64,
        delta: Delta,
    ) -> Result<Reduction<Q, A>, ReductionError> {
        let odds = odds(truth, lie)?;
        let shares = if delta == Delta::ZERO && odds > Rational::ONE {
            let shares = closed_form(&self.root, &odds);
            if !is_nowhere_negative(&shares) {
                let least = least(&frontiers(&self.root, &odds), &odds);
                return Err(ReductionError::NotPrivate { least });
            }
            shares
        } else {
            shared_out(&self.root, &odds, delta)?
        };
        let response = ApproxRandomizedResponse::with_odds(truth, lie, delta);
        Ok(Reduction {
            response: response.map_err(|_| ReductionError::BadOdds)?,
            postprocessing: Postprocessing {
                menu: self.menu.clone().into(),
                at: Arc::new(Odds::of(&self.root, &shares, &odds)?),
                named: None,
                asked: 0,
            },
        })
    }
}

fn odds(truth: u64, lie: u64) -> Result<Rational, ReductionError> {
    let odds = Rational::new(truth.into(), lie.into()).ok_or(ReductionError::BadOdds)?;
    match odds >= Rational::ONE {
        true => Ok(odds),
        false => Err(ReductionError::BadOdds),
    }
}

fn exact(delta: Delta) -> Rational {
    let delta = Ratio::from(delta);
    let numerator = i128::try_from(delta.numerator()).unwrap_or(i128::MAX);
    Rational::new(numerator, delta.denominator().get()).unwrap_or(Rational::ONE)
}

/// `α = (c·m₀ − m₁)/(c² − 1)`, `β = (c·m₁ − m₀)/(c² − 1)`: the only ones with `c·α + β = m₀` and
/// `α + c·β = m₁`.
fn closed_form<A: Clone>(point: &Point<A, [Rational; 2]>, odds: &Rational) -> Shares<A> {
    let [m0, m1] = &point.masses;
    let by = odds * odds - Rational::ONE;
    let masses = [(odds * m0 - m1) / &by, (odds * m1 - m0) / &by];
    let queries = point.queries.iter().map(|answers| {
        let answers = answers.iter();
        let shares = answers.map(|(answer, next)| (answer.clone(), closed_form(next, odds)));
        shares.collect()
    });
    Point {
        masses,
        queries: queries.collect(),
    }
}

fn is_nowhere_negative<A>(shares: &Shares<A>) -> bool {
    let mut below = shares.queries.iter().flatten();
    shares.masses.iter().all(|mass| *mass >= Rational::ZERO)
        && below.all(|(_, next)| is_nowhere_negative(next))
}

/// Which pairs are possible at every point.
fn frontiers<A: Clone>(point: &Point<A, [Rational; 2]>, odds: &Rational) -> Point<A, Frontier> {
    if point.is_leaf() {
        return Point {
            masses: Frontier::leaf(odds, &point.masses),
            queries: Vec::new(),
        };
    }
    let queries: Vec<Vec<_>> = point
        .queries
        .iter()
        .map(|answers| {
            let answers = answers.iter();
            let below = answers.map(|(answer, next)| (answer.clone(), frontiers(next, odds)));
            below.collect()
        })
        .collect();
    let sums = queries.iter().map(|answers| Frontier::sum(&parts(answers)));
    let masses = sums.reduce(|one, other| one.and(&other));
    Point {
        // There is a query: the point is no leaf.
        masses: masses.unwrap_or_else(|| Frontier::leaf(odds, &point.masses)),
        queries,
    }
}

fn parts<A>(answers: &[Next<A, Frontier>]) -> Vec<Frontier> {
    answers
        .iter()
        .map(|(_, next)| next.masses.clone())
        .collect()
}

fn least<A>(frontiers: &Point<A, Frontier>, odds: &Rational) -> Rational {
    Rational::ONE - (odds + &Rational::ONE) * frontiers.masses.diagonal()
}

fn shared_out<A: Clone>(
    root: &Point<A, [Rational; 2]>,
    odds: &Rational,
    delta: Delta,
) -> Result<Shares<A>, ReductionError> {
    let frontiers = frontiers(root, odds);
    let each = (Rational::ONE - exact(delta)) / (odds + &Rational::ONE);
    let needed = [each.clone(), each];
    if !frontiers.masses.holds(&needed) {
        let least = least(&frontiers, odds);
        return Err(ReductionError::NotPrivate { least });
    }
    Ok(share(&frontiers, needed))
}

fn share<A: Clone>(point: &Point<A, Frontier>, masses: [Rational; 2]) -> Shares<A> {
    let queries = point.queries.iter().map(|answers| {
        let shares = Frontier::share(&parts(answers), &masses);
        let answers = answers.iter().zip(shares);
        let below = answers.map(|((answer, next), masses)| (answer.clone(), share(next, masses)));
        below.collect()
    });
    let queries = queries.collect();
    Point { masses, queries }
}

impl<A: Clone> Odds<A> {
    /// In the order of [`Response`]: R₀, A, B, R₁.
    fn of(
        point: &Point<A, [Rational; 2]>,
        shares: &Shares<A>,
        odds: &Rational,
    ) -> Result<Self, ReductionError> {
        let mut queries = Vec::new();
        for (answers, shared) in point.queries.iter().zip(&shares.queries) {
            let mut masses: [Vec<Rational>; 4] = Default::default();
            let mut then = Vec::new();
            for ((answer, next), (_, shares)) in answers.iter().zip(shared) {
                let [[m0, m1], [alpha, beta]] = [&next.masses, &shares.masses];
                let revealed = m0 - &(odds * alpha + beta);
                let other = m1 - &(odds * beta + alpha);
                let each = [revealed, alpha.clone(), beta.clone(), other];
                for (masses, mass) in masses.iter_mut().zip(each) {
                    masses.push(mass);
                }
                then.push((answer.clone(), Arc::new(Self::of(next, shares, odds)?)));
            }
            let [zero, top, bottom, one] = masses;
            let weights = [
                weights(&zero)?,
                weights(&top)?,
                weights(&bottom)?,
                weights(&one)?,
            ];
            queries.push(Answers { weights, then });
        }
        Ok(Self { queries })
    }
}

/// Whole numbers in the same proportion. A machine that never comes here answers anything.
fn weights(masses: &[Rational]) -> Result<Vec<u64>, ReductionError> {
    let mut total = Rational::ZERO;
    for mass in masses {
        total += mass;
    }
    if total == Rational::ZERO {
        return Ok(vec![1; masses.len()]);
    }
    let mut common: u128 = 1;
    let mut parts = Vec::new();
    for mass in masses {
        let (numerator, denominator) = (mass / &total).to_parts().ok_or(ReductionError::TooFine)?;
        let numerator = u128::try_from(numerator).map_err(|_| ReductionError::TooFine)?;
        let factor = denominator / gcd(common, denominator);
        common = common.checked_mul(factor).ok_or(ReductionError::TooFine)?;
        parts.push((numerator, denominator));
    }
    // They add up to the common denominator.
    u64::try_from(common).map_err(|_| ReductionError::TooFine)?;
    let scaled = parts.into_iter().map(|(numerator, denominator)| {
        let weight = numerator.checked_mul(common / denominator);
        let weight = weight.and_then(|weight| u64::try_from(weight).ok());
        weight.ok_or(ReductionError::TooFine)
    });
    scaled.collect()
}

fn gcd(one: u128, other: u128) -> u128 {
    match other {
        0 => one,
        _ => gcd(other, one % other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(
        masses: [i128; 2],
        queries: Vec<Vec<Point<u8, [Rational; 2]>>>,
    ) -> Point<u8, [Rational; 2]> {
        let numbered = |points: Vec<_>| (0..).map(Ok).zip(points).collect();
        Point {
            masses: masses.map(|mass| Rational::new(mass, 36).unwrap()),
            queries: queries.into_iter().map(numbered).collect(),
        }
    }

    /// Two queries, the second of which has a query after one of its answers.
    fn tree() -> Point<u8, [Rational; 2]> {
        let leaf = |one, other| point([one, other], Vec::new());
        let after = point([20, 14], vec![vec![leaf(12, 4), leaf(8, 10)]]);
        point(
            [36, 36],
            vec![vec![leaf(24, 12), leaf(12, 24)], vec![after, leaf(16, 22)]],
        )
    }

    #[test]
    fn the_two_constructions_agree_on_pure_privacy() {
        let three = Rational::from(3_u8);
        let closed = closed_form(&tree(), &three);
        assert!(is_nowhere_negative(&closed));
        assert_eq!(shared_out(&tree(), &three, Delta::ZERO), Ok(closed));
        // One query costs (24 − 2·12)/36, the other (12 − 2·4)/36: a ninth, at odds of two.
        let two = Rational::from(2_u8);
        let least = Rational::new(1, 9).unwrap();
        assert!(!is_nowhere_negative(&closed_form(&tree(), &two)));
        let refused = shared_out(&tree(), &two, Delta::ZERO);
        assert_eq!(refused, Err(ReductionError::NotPrivate { least }));
    }

    #[test]
    fn masses_are_conserved_at_every_query() {
        fn check(point: &Shares<u8>) {
            for answers in &point.queries {
                let mut total = [Rational::ZERO, Rational::ZERO];
                for (_, next) in answers {
                    total[0] += &next.masses[0];
                    total[1] += &next.masses[1];
                    check(next);
                }
                assert_eq!(total, point.masses);
            }
        }
        let two = Rational::from(2_u8);
        check(&closed_form(&tree(), &two));
        check(&shared_out(&tree(), &two, "0.125".parse().unwrap()).unwrap());
    }

    #[test]
    fn weights_have_the_proportions_of_masses() {
        let masses = [(1, 6), (1, 4), (0, 1)].map(|(n, d)| Rational::new(n, d).unwrap());
        assert_eq!(weights(&masses), Ok(vec![2, 3, 0]));
        assert_eq!(weights(&masses[2..]), Ok(vec![1]));
        let fine = [Rational::ONE, Rational::new(1, 1 << 70).unwrap()];
        assert_eq!(weights(&fine), Err(ReductionError::TooFine));
    }
}
