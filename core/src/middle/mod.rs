//! A person in the middle of a conversation: interactive postprocessing.
//!
//! ```text
//! analyst  ⇄  middle  ⇄  machine
//! ```
//!
//! A [`Middle`] hears queries from the outside and answers from the inside, and each time either
//! asks inward or answers outward. It may ask inward any number of times before it answers. It
//! never meets the data, so it costs nothing.
//!
//! | ready-made | does |
//! |---|---|
//! | [`MapQuery`], [`MapAnswer`] | translate one direction |
//! | [`Round`], [`Clamp`] | make answers coarser |
//! | [`Cache`] | give the same answer to the same query |
//! | [`LimitQueries`] | stop after n queries |
//! | [`Split`] | ask several queries for one |
//! | [`Average`] | hold answers back until n can be averaged |
//! | [`Log`] | report queries and answers to a function |
//!
//! A mechanism that answers once needs no middle: [`mapped`](ThroughExt::mapped) takes a function.
//!
//! Middles can be stacked: `mechanism.through(Clamp::new(0, 100)).through(LimitQueries::new(5))`.

mod average;
mod cache;
mod limit;
mod log;
mod map;
mod mapped;
mod postprocessed;
mod round;
mod split;

pub use average::Average;
pub use cache::Cache;
pub use limit::LimitQueries;
pub use log::{Log, LogEvent};
pub use map::{MapAnswer, MapQuery};
pub use mapped::Mapped;
pub use postprocessed::{Postprocessed, Through, ThroughExt};
pub use round::{Clamp, Round};
pub use split::Split;

use crate::machine::{Coins, Fault};

/// A person in the middle, P (Haney et al. 2.15), of a machine that takes queries `Q` and gives
/// answers `A`.
///
/// The machine's query and answer types are parameters, so that one middle fits many machines; the
/// outer types follow from them.
///
/// # Guarantee
///
/// P∘M has the loss of M, whatever P does, for every measure that is closed under postprocessing
/// (Haney et al. 2.17): P may toss coins and keep state, and must not know the data.
///
/// # Example
///
/// A middle that asks three times and answers with the median:
///
/// ```
/// use queryables::machine::{Coins, Fault};
/// use queryables::middle::{Middle, Move};
///
/// #[derive(Clone, Default)]
/// struct MedianOfThree {
///     query: Option<u32>,
///     heard: Vec<i64>,
/// }
///
/// impl Middle<u32, i64> for MedianOfThree {
///     type OuterQuery = u32;
///     type OuterAnswer = i64;
///
///     fn on_query(&mut self, query: u32, _: &mut Coins<'_>) -> Result<Move<u32, i64>, Fault> {
///         self.query = Some(query);
///         self.heard.clear();
///         Ok(Move::Ask(query))
///     }
///
///     fn on_answer(&mut self, answer: i64, _: &mut Coins<'_>) -> Result<Move<u32, i64>, Fault> {
///         self.heard.push(answer);
///         self.heard.sort();
///         match (self.query, &self.heard[..]) {
///             (_, [_, median, _]) => Ok(Move::Answer(*median)),
///             (Some(query), _) => Ok(Move::Ask(query)),
///             (None, _) => Err(Fault::Failed),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in the middle of a machine that takes `{Q}` and gives `{A}`",
    label = "not a `Middle<{Q}, {A}>`",
    note = "translate what the machine takes with `MapQuery`, or what it gives with `MapAnswer`; \
            the machine may itself be behind a middle, which changes both"
)]
pub trait Middle<Q, A> {
    /// What comes from the outside.
    type OuterQuery;
    /// What goes to the outside.
    type OuterAnswer;

    /// Hears a query from the outside.
    ///
    /// # Errors
    ///
    /// A fault goes to the outside, as if the machine had it.
    fn on_query(
        &mut self,
        query: Self::OuterQuery,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Q, Self::OuterAnswer>, Fault>;

    /// Hears an answer from the inside.
    ///
    /// # Errors
    ///
    /// A fault goes to the outside, as if the machine had it.
    fn on_answer(
        &mut self,
        answer: A,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Q, Self::OuterAnswer>, Fault>;

    /// Hears that the inside did not answer. By default the fault is passed on. A fault that ends
    /// the machine, or says that it was stopped, is passed on whatever the middle returns.
    ///
    /// # Errors
    ///
    /// A fault goes to the outside, as if the machine had it.
    fn on_fault(
        &mut self,
        fault: Fault,
        _coins: &mut Coins<'_>,
    ) -> Result<Move<Q, Self::OuterAnswer>, Fault> {
        Err(fault)
    }
}

/// What a middle does next.
///
/// Example: [`Middle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move<Q, A> {
    /// Ask inward.
    Ask(Q),
    /// Answer outward.
    Answer(A),
}
