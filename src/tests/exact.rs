//! Comparing a mechanism's answers on two datasets, for tests.

use std::sync::Arc;

use dashu_ratio::RBig;

use crate::data::Predicate;
use crate::machine::{CoinSource, Coins, Fault, Machine, Mechanism};

use crate::number::Epsilon;
use crate::tests::bracket::Bracket;
use crate::tests::enumerate::{Enumeration, enumerate_laws};

/// What a machine answers to queries asked in this order, each with its probability, where noise
/// runs from `-span` to `span`.
pub(crate) fn answers<S>(
    mechanism: &impl Mechanism<Vec<u8>, Machine = S>,
    rows: &[u8],
    queries: &[S::Query],
    span: u64,
) -> Enumeration<Vec<Result<S::Answer, String>>>
where
    S: Machine<Query: Clone, Answer: Ord>,
{
    let data = Arc::new(rows.to_vec());
    enumerate_laws(span, |coins: &mut dyn CoinSource| {
        // A path may be cut before the machine runs; its outcome does not count.
        let mut machine = match mechanism.start(&data, &mut Coins::new(&mut *coins)) {
            Ok(machine) => machine,
            Err(fault) => return vec![Err(fault.to_string())],
        };
        let mut ask = |query: &S::Query| machine.step(query.clone(), &mut Coins::new(&mut *coins));
        let answers = queries.iter().map(&mut ask);
        answers
            .map(|answer| answer.map_err(|fault: Fault| fault.to_string()))
            .collect()
    })
}

/// The answer whose probability on `one` is surely more than e^ε times that on `other`, whatever
/// was cut.
pub(crate) fn violation<'a, T: Ord>(
    one: &'a Enumeration<T>,
    other: &Enumeration<T>,
    epsilon: Epsilon,
) -> Option<&'a T> {
    let factor = Bracket::exp_minus(&RBig::from_parts(
        epsilon.units().into(),
        10_u128.pow(27).into(),
    ));
    one.outcomes.iter().find_map(|(answer, mass)| {
        let bound = other.probability(answer) + &other.cut;
        (mass * factor.low() > bound).then_some(answer)
    })
}

/// Counts the rows with this value.
pub(crate) fn rows_of(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(value.to_string(), move |row: &u8| *row == value)
}
