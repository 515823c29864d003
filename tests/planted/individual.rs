//! A small home-made individual filter, and what can go wrong in it: each [`Bug`] is one condition,
//! next to the correct line. Losses are whole multiples of ln 2.

use std::sync::Arc;

use queryables::machine::{Coins, Fault, Machine, Mechanism};

/// What a record contributes to each query.
pub(crate) type Row = Vec<u64>;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bug {
    Nothing,
    /// Once a record cannot pay, nobody takes part any more.
    AllStopSilently,
    /// The same, and the analyst is told.
    AllStopPublicly,
    /// A record takes part as long as anything is left, and then pays.
    CheckedThenCharged,
    /// The others' accounts are checked, and not the record's own.
    BudgetOfOthers,
    /// All pay from one account.
    Pooled,
    /// Answers come with the number of records that have something left.
    TellsActive,
    /// A query is refused if nobody can pay.
    RefusesWhenAllAreOut,
    /// A record pays only if it changes the law of the answer, given the others.
    PricedForTheInstance,
    /// A record pays only if it was sampled.
    PaysWhenSampled,
    /// A record takes part whatever it has left of δ.
    DeltaForgotten,
    /// The others' δ is checked, and not the record's own.
    DeltaOfOthers,
}

/// How answers are drawn from the contributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    /// Their sum, with two-sided geometric noise of ratio 1/2, clamped to at most this.
    Geometric(u64),
    /// Whether their sum is at least two; the truth twice for every lie.
    AtLeastTwo,
    /// Each contributes by the toss of a coin, and then as for [`Kernel::Geometric`] up to 1.
    Sampled,
    /// Their sum itself in one of eight cases, and else as for [`Kernel::Geometric`] up to 1.
    Leaking,
}

/// What [`Kernel::Leaking`] adds to a sum that it tells.
const LEAKED: u64 = 100;

/// The odds of noise of ratio 1/2 around `sum`, clamped to `0..=most`, as whole weights.
fn geometric(sum: u64, most: u64) -> Vec<u64> {
    // 3·2^scale times P(noise ≥ k), for noise of at least 1.
    let scale = sum + most + 1;
    let tail = |k: u64| 1 << (scale + 1 - k);
    let all = 3_u64 << scale;
    let weight = |value: u64| match value {
        0 if sum > 0 => tail(sum),
        0 => all - tail(1),
        value if value < most => 1 << (scale - value.abs_diff(sum)),
        value if value > sum => tail(value - sum),
        value => all - tail(sum - value + 1),
    };
    (0..=most).map(weight).collect()
}

impl Kernel {
    /// What a contribution costs, in multiples of ln 2.
    pub(crate) fn price(self, contribution: u64) -> u64 {
        match self {
            Self::Geometric(_) | Self::Leaking => contribution,
            // Whatever it is, in units of ln 2, or of ln 3/2.
            Self::AtLeastTwo | Self::Sampled => u64::from(contribution > 0),
        }
    }

    /// What a contribution costs of δ, in eighths.
    pub(crate) fn delta(self, contribution: u64) -> u64 {
        u64::from(self == Self::Leaking && contribution > 0)
    }

    pub(crate) fn answer(self, sum: u64, coins: &mut Coins<'_>) -> Result<u64, Fault> {
        Ok(match self {
            Self::Geometric(most) => coins.weighted(&geometric(sum, most))? as u64,
            Self::AtLeastTwo => {
                let lie = coins.weighted(&[2, 1])? == 1;
                u64::from((sum >= 2) ^ lie)
            }
            Self::Sampled => {
                let mut sampled = 0;
                for _ in 0..sum {
                    sampled += coins.weighted(&[1, 1])? as u64;
                }
                coins.weighted(&geometric(sampled, 1))? as u64
            }
            Self::Leaking if coins.weighted(&[7, 1])? == 1 => LEAKED + sum,
            Self::Leaking => coins.weighted(&geometric(sum, 1))? as u64,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Individual {
    pub(crate) bug: Bug,
    pub(crate) budget: u64,
    /// In eighths.
    pub(crate) delta: u64,
    pub(crate) kernel: Kernel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    Answer(u64),
    /// With the number of active records.
    WithActive(u64, usize),
    Refused,
}

#[derive(Debug, Hash)]
pub(crate) struct Running {
    individual: Individual,
    rows: Arc<Vec<Row>>,
    left: Vec<u64>,
    deltas: Vec<u64>,
    stopped: bool,
}

impl Mechanism<Vec<Row>> for Individual {
    type Machine = Running;

    fn start(&self, data: &Arc<Vec<Row>>, _: &mut Coins<'_>) -> Result<Running, Fault> {
        let pool = self.budget * data.len() as u64;
        let each = if self.bug == Bug::Pooled {
            pool
        } else {
            self.budget
        };
        Ok(Running {
            individual: *self,
            rows: Arc::clone(data),
            left: vec![each; data.len()],
            deltas: vec![self.delta; data.len()],
            stopped: false,
        })
    }
}

impl Running {
    /// Whether the record takes part.
    fn takes_part(&self, row: usize, size: u64) -> bool {
        let (left, price) = (&self.left, self.individual.kernel.price(size));
        let (deltas, delta) = (&self.deltas, self.individual.kernel.delta(size));
        let enough = match self.individual.bug {
            Bug::DeltaForgotten => true,
            Bug::DeltaOfOthers => {
                (0..deltas.len()).all(|other| other == row || deltas[other] >= delta)
            }
            _ => deltas[row] >= delta,
        };
        enough
            && match self.individual.bug {
                Bug::CheckedThenCharged => left[row] > 0,
                Bug::BudgetOfOthers => {
                    (0..left.len()).all(|other| other == row || left[other] >= price)
                }
                _ => left[row] >= price,
            }
    }

    fn pay(&mut self, row: usize, price: u64, delta: u64) {
        self.deltas[row] = self.deltas[row].saturating_sub(delta);
        if self.individual.bug == Bug::Pooled {
            for left in &mut self.left {
                *left = left.saturating_sub(price);
            }
        } else {
            self.left[row] = self.left[row].saturating_sub(price);
        }
    }
}

impl Machine for Running {
    type Query = usize;
    type Answer = Told;

    fn step(&mut self, query: usize, coins: &mut Coins<'_>) -> Result<Told, Fault> {
        let Individual { bug, kernel, .. } = self.individual;
        let contribution = |row: &Row| row[query];
        let contributions: Vec<u64> = self.rows.iter().map(contribution).collect();
        let stops = matches!(bug, Bug::AllStopSilently | Bug::AllStopPublicly);
        let mut paying = Vec::new();
        for (row, size) in contributions
            .iter()
            .enumerate()
            .filter(|(_, size)| **size > 0)
        {
            if self.takes_part(row, *size) {
                paying.push(row);
            } else if stops {
                self.stopped = true;
            }
        }
        if stops && self.stopped {
            paying.clear();
            if bug == Bug::AllStopPublicly {
                return Ok(Told::Refused);
            }
        }
        if bug == Bug::RefusesWhenAllAreOut && paying.is_empty() {
            return Ok(Told::Refused);
        }
        let mut sum: u64 = paying.iter().map(|row| contributions[*row]).sum();
        for row in paying {
            let price = match bug {
                Bug::PricedForTheInstance if sum >= 2 && sum - contributions[row] >= 2 => 0,
                Bug::PricedForTheInstance if sum < 2 => 0,
                Bug::PaysWhenSampled if coins.weighted(&[1, 1])? == 0 => {
                    sum -= contributions[row];
                    0
                }
                _ => kernel.price(contributions[row]),
            };
            self.pay(row, price, kernel.delta(contributions[row]));
        }
        // Who was sampled is known by now.
        let kernel = match bug {
            Bug::PaysWhenSampled => Kernel::Geometric(1),
            _ => kernel,
        };
        let answer = kernel.answer(sum, coins)?;
        Ok(match bug {
            Bug::TellsActive => {
                let active = self.left.iter().filter(|left| **left > 0);
                Told::WithActive(answer, active.count())
            }
            _ => Told::Answer(answer),
        })
    }
}
