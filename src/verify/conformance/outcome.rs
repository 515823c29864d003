use std::fmt;

use super::{Launch, Probe};
use crate::compose::Message;
use crate::number::Epsilon;

/// What one conversation shows.
///
/// ```
/// use queryables::verify::conformance::{Conformance, Outcome};
/// # use queryables::number::Epsilon;
/// # use queryables::verify::conformance::{Compositor, Launch, Probe};
/// # struct RefusesAll;
/// # impl Compositor for RefusesAll {
/// #     fn launch(&mut self, _: Probe) -> Launch { Launch::Refused }
/// #     fn ask(&mut self, _: usize) -> Option<u32> { None }
/// #     fn reading(&mut self) -> Option<Epsilon> { Some(Epsilon::ZERO) }
/// # }
/// // A conversation in which nothing is asked shows nothing. In a property test: `prop_assume!`.
/// let outcome = Conformance::odometer().judge(|_| RefusesAll, &[]);
/// assert_eq!(outcome, Outcome::Vacuous);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every reply is that of the reference.
    Conforms,
    /// Nothing was told that costs anything: the case shows nothing. A verdict to filter on, not a failure.
    Vacuous,
    /// No promise is broken, and it behaves otherwise than the reference: in most cases, it withholds more.
    Differs {
        /// What it said.
        said: String,
        /// What the reference says.
        expected: String,
    },
    /// A promise is broken.
    Violates(Violation),
}

/// A promise that is broken.
///
/// [`conformance`](super) shows one that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// What was told costs more than the budget.
    OverBudget {
        /// What it costs.
        lost: Epsilon,
        /// The budget.
        budget: Epsilon,
    },
    /// What was told costs more than is said to be spent.
    UnderRead {
        /// What it costs.
        lost: Epsilon,
        /// What is said.
        reading: Epsilon,
    },
    /// A child that was refused was run on the data.
    TouchedData,
    /// The replies differ on the two datasets, though the children answer the same.
    Leaks,
    /// An answer that is none of the child's that was asked.
    WrongAnswer,
    /// A child answers after a later launch, where children are used one after the other.
    NotFrozen,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverBudget { lost, budget } => {
                write!(
                    f,
                    "what was told costs ε = {lost}, and the budget is ε = {budget}"
                )
            }
            Self::UnderRead { lost, reading } => {
                write!(
                    f,
                    "what was told costs ε = {lost}, and the reading is ε = {reading}"
                )
            }
            Self::TouchedData => f.write_str("a child was run on the data, and then refused"),
            Self::Leaks => f.write_str(
                "the replies differ on the two datasets, though the children answer the same",
            ),
            Self::WrongAnswer => f.write_str("the answer is none that the child has given"),
            Self::NotFrozen => f.write_str("a child answers after a later launch"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conforms => f.write_str("conforms"),
            Self::Vacuous => f.write_str(
                "vacuous: nothing was told that costs anything, so that nothing was tested",
            ),
            Self::Differs { said, expected } => {
                write!(
                    f,
                    "sound, and differs: {said}, where the reference says: {expected}"
                )
            }
            Self::Violates(violation) => write!(f, "not sound: {violation}"),
        }
    }
}

/// A conversation, what it shows, and what was said. It prints as the adversary.
///
/// Found by [`Conformance::search`](super::Conformance::search).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// What was asked. At the end all children are asked until they stop, and the loss is read.
    pub conversation: Vec<Message<Probe, ()>>,
    /// What it shows.
    pub outcome: Outcome,
    /// What was said.
    pub(super) told: Vec<Told>,
    /// Whether anything was told that costs anything.
    pub(super) tells: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.outcome)?;
        for told in &self.told {
            write!(f, "\n  {told}")?;
        }
        Ok(())
    }
}

/// One reply. Children are named by the launch, refused ones counted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Launch(usize, Probe, Launch),
    Ask(usize, Option<u32>),
    Reading(Option<Epsilon>),
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(launch, probe, how) => {
                let how = match how {
                    Launch::Started => "started",
                    Launch::Refused => "refused",
                    Launch::Failed => "failed",
                };
                write!(f, "launch #{launch} ({probe:?}): {how}")
            }
            Self::Ask(launch, Some(answer)) => write!(f, "ask #{launch}: answered {answer}"),
            Self::Ask(launch, None) => write!(f, "ask #{launch}: no answer"),
            Self::Reading(Some(loss)) => write!(f, "read: ε = {loss}"),
            Self::Reading(None) => f.write_str("read: no reading"),
        }
    }
}
