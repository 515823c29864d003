//! Following a sampler or a mechanism through every draw that it can make, for tests.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;
use std::rc::Rc;

use dashu_ratio::RBig;

use super::bracket::Probabilities;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law, total_weight};

/// The probability of each outcome, exactly, and what is left to the paths that were not followed
/// to their end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Enumeration<T> {
    pub(crate) outcomes: BTreeMap<T, RBig>,
    pub(crate) cut: RBig,
}

impl<T: Ord> Enumeration<T> {
    pub(crate) fn probability(&self, outcome: &T) -> RBig {
        self.outcomes.get(outcome).cloned().unwrap_or(RBig::ZERO)
    }
}

/// Runs `experiment` on every path of coins that has a probability of at least `floor`, and
/// follows samplers through all that they draw.
pub(crate) fn enumerate<T: Ord>(
    floor: f64,
    experiment: impl FnMut(&mut dyn CoinSource) -> T,
) -> Enumeration<T> {
    explore(Path::new(floor, None), experiment)
}

/// Runs `experiment` on every path of coins with more than a hundred-thousandth up to its last
/// draw, where draws from a law with a closed form are the values from `-span` to `span`.
///
/// Such values have irrational probabilities. What is found are lower bounds for the outcomes'
/// probabilities; with what was cut they are upper bounds.
pub(crate) fn enumerate_laws<T: Ord>(
    span: u64,
    experiment: impl FnMut(&mut dyn CoinSource) -> T,
) -> Enumeration<T> {
    explore(Path::new(1e-5, Some(span)), experiment)
}

fn explore<T: Ord>(
    mut path: Path,
    mut experiment: impl FnMut(&mut dyn CoinSource) -> T,
) -> Enumeration<T> {
    let mut outcomes = BTreeMap::new();
    loop {
        (path.at, path.is_cut) = (0, false);
        let outcome = experiment(&mut path);
        assert_eq!(path.at, path.forks.len(), "the same coins, another path");
        if !path.is_cut {
            *outcomes.entry(outcome).or_insert(RBig::ZERO) += path.probability();
        }
        if !path.advance() {
            break;
        }
    }
    let cut = outcomes.values().fold(RBig::ONE, |left, mass| left - mass);
    Enumeration { outcomes, cut }
}

/// Coins that take a given path and, from its end on, the first possible branch.
struct Path {
    forks: Vec<Fork>,
    at: usize,
    floor: f64,
    is_cut: bool,
    span: Option<u64>,
    laws: HashMap<ClosedForm, Rc<[RBig]>>,
}

struct Fork {
    weights: Weights,
    branch: usize,
    /// The probability of the path up to and with this branch.
    probability: RBig,
}

enum Weights {
    Equal(u64),
    Listed(Vec<u64>),
    /// Lower bounds of probabilities.
    Law(Rc<[RBig]>),
}

impl Weights {
    fn odds(&self, branch: usize) -> RBig {
        let (weight, total) = match self {
            Self::Equal(below) => (1, *below),
            Self::Listed(weights) => (weights[branch], total_weight(weights).unwrap().get()),
            Self::Law(masses) => return masses[branch].clone(),
        };
        RBig::from_parts(weight.into(), total.into())
    }

    /// The first branch from `from` on that has any odds.
    fn possible(&self, from: usize) -> Option<usize> {
        match self {
            Self::Equal(below) => ((from as u64) < *below).then_some(from),
            Self::Listed(weights) => (from..weights.len()).find(|&branch| weights[branch] > 0),
            Self::Law(masses) => (from < masses.len()).then_some(from),
        }
    }
}

impl Path {
    fn new(floor: f64, span: Option<u64>) -> Self {
        Self {
            forks: Vec::new(),
            at: 0,
            floor,
            is_cut: false,
            span,
            laws: HashMap::new(),
        }
    }

    fn probability(&self) -> RBig {
        self.forks
            .last()
            .map_or(RBig::ONE, |fork| fork.probability.clone())
    }

    fn fork(&mut self, weights: Weights) -> Result<usize, CoinsError> {
        if self.is_cut {
            return Err(CoinsError::TapeEnds);
        }
        if self.at == self.forks.len() {
            if self.probability().to_f64_fast() < self.floor {
                self.is_cut = true;
                return Err(CoinsError::TapeEnds);
            }
            let branch = weights.possible(0).ok_or(CoinsError::NoWeight)?;
            let probability = self.probability() * weights.odds(branch);
            self.forks.push(Fork {
                weights,
                branch,
                probability,
            });
        }
        self.at += 1;
        Ok(self.forks[self.at - 1].branch)
    }

    /// Goes on to the next path, depth first; false if that was the last.
    fn advance(&mut self) -> bool {
        while let Some(Fork {
            weights, branch, ..
        }) = self.forks.pop()
        {
            if let Some(branch) = weights.possible(branch + 1) {
                let probability = self.probability() * weights.odds(branch);
                self.forks.push(Fork {
                    weights,
                    branch,
                    probability,
                });
                return true;
            }
        }
        false
    }
}

impl CoinSource for Path {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        Ok(self.fork(Weights::Equal(below.get()))? as u64)
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        let Some(span) = self.span else {
            return law.sample(self);
        };
        let first = -i128::from(span);
        let masses = self
            .laws
            .entry(law.closed_form())
            .or_insert_with_key(|support| {
                let probabilities = Probabilities::of(support);
                (first..=-first)
                    .map(|value| probabilities.probability(value).round_down(128))
                    .collect()
            });
        let weights = Weights::Law(Rc::clone(masses));
        Ok(first + self.fork(weights)? as i128)
    }

    fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
        self.fork(Weights::Listed(weights.to_vec()))
    }
}

mod tests {
    use super::*;
    use crate::machine::Bernoulli;

    fn ratio(numerator: i64, denominator: u64) -> RBig {
        RBig::from_parts(numerator.into(), denominator.into())
    }

    #[test]
    fn rational_odds_are_found_exactly() {
        let two_draws = enumerate(0.0, |coins| {
            let first = coins.draw(&Bernoulli::new(1, 3).unwrap()).unwrap();
            let second = coins.weighted(&[1, 0, 2 + first as u64]).unwrap();
            (first, second)
        });
        assert_eq!(two_draws.cut, RBig::ZERO);
        assert_eq!(
            two_draws.outcomes.into_iter().collect::<Vec<_>>(),
            [
                ((0, 0), ratio(2, 9)),
                ((0, 2), ratio(4, 9)),
                ((1, 0), ratio(1, 12)),
                ((1, 2), ratio(1, 4)),
            ]
        );
    }

    #[test]
    fn what_is_cut_is_counted() {
        // How often heads before tails: paths shorter than a thousandth are cut.
        let heads = enumerate(0.001, |coins| {
            let mut heads = 0;
            while coins.weighted(&[1, 1]) == Ok(1) {
                heads += 1;
            }
            heads
        });
        assert_eq!(heads.probability(&3), ratio(1, 16));
        assert_eq!(heads.cut, ratio(1, 1024));
    }
}
