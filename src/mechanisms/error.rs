//! Why a mechanism cannot be constructed.

use std::fmt::{Debug, Display};

use thiserror::Error;

use crate::noise::NoiseError;

/// Why a mechanism cannot be constructed.
///
/// What a caller would treat alike is one variant, which carries the values: a form can show the
/// message beside the field that it is about. All of it is what the caller wrote; nothing comes from
/// data. `Debug` is the message, because that is what a `main` that returns an error prints.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::Sum;
/// use queryables::prelude::*;
///
/// let hours = Attribute::<Vec<i64>, _>::new("hours", |hours: &i64| *hours);
/// # #[expect(clippy::reversed_empty_ranges)]
/// let reversed = Sum::of(hours, 80..=0).laplace(epsilon!(0.1));
/// assert_eq!(
///     reversed.unwrap_err().to_string(),
///     "the range 80..=0 of \"hours\" is empty: write the smaller number first",
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A loss of zero allows no answer.
    #[error("{0} must be greater than zero")]
    NoLoss(&'static str),
    /// The loss, or what is left of it when it is divided among its uses, needs more noise than can be
    /// held.
    #[error("the loss is too small: its parts would need more noise than can be held")]
    TooSmall,
    /// The loss is more than can be held.
    #[error("the loss is more than can be held")]
    TooLarge,
    /// The exact scale of the noise, as a ratio, needs more than 128 bits.
    #[error(
        "the noise for this loss cannot be held exactly: write the loss with fewer digits, or, if \
         it is tiny, make the range smaller or the lattice coarser"
    )]
    TooFine,
    /// No loss that is offered makes answers as accurate as is wanted.
    #[error(
        "no loss up to 10^6 makes answers that accurate: allow a larger distance, or for a mean or a \
         variance take more rows"
    )]
    TooAccurate,
    /// The range is empty, too wide, or holds nothing that changes an answer.
    #[error("the range {range}{} {problem}", of(.attribute))]
    BadRange {
        /// The attribute that it is the range of, where it has a name.
        attribute: Option<String>,
        /// Its ends.
        range: String,
        /// What is wrong with it, and what to do.
        problem: &'static str,
    },
    /// A question does not fit its table.
    #[cfg(feature = "table")]
    #[error(transparent)]
    Table(#[from] crate::table::TableError),
    /// Another parameter is out of its range.
    #[error("{what} must be {must}, not {value}")]
    BadParameter {
        /// The parameter.
        what: &'static str,
        /// What was given.
        value: String,
        /// What is accepted.
        must: &'static str,
    },
    /// The step is so wide that rounding to it would lose what is asked for.
    #[error(
        "a step of 2^{exponent} divides the range into {steps} steps, and at least {least} are needed: \
         take a smaller exponent, or leave the step to its default"
    )]
    CoarseStep {
        /// The exponent of the step.
        exponent: i32,
        /// How many such steps there are in the range.
        steps: u64,
        /// How many there must be.
        least: u64,
    },
    /// Too few to choose from, or none at all.
    #[error("{given} {what} were given: there must be at least {least}")]
    TooFew {
        /// What there are few of.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many there must be.
        least: usize,
    },
    /// More than may be held at once ([`MOST_MEMORY`](super::MOST_MEMORY)).
    #[error("{asked} {what} were asked for: there may be at most {most}")]
    TooMany {
        /// What there are many of.
        what: &'static str,
        /// How many were asked for; where a list is longer than allowed, one more than that.
        asked: usize,
        /// How many there may be.
        most: usize,
    },
    /// There is no noise of the scale that this requires.
    #[error(transparent)]
    Noise(#[from] NoiseError),
}

crate::debug_is_message!([] MechanismError);

fn of(attribute: &Option<String>) -> String {
    attribute
        .as_ref()
        .map(|name| format!(" of {name:?}"))
        .unwrap_or_default()
}

impl MechanismError {
    /// A range that holds nothing.
    pub(super) fn empty(range: impl Debug) -> Self {
        Self::range(range, "is empty: write the smaller number first")
    }

    /// A range in which a row makes no difference.
    pub(super) fn constant(range: impl Debug) -> Self {
        Self::range(range, "lets no row change the answer: make it wider")
    }

    /// What is wrong with a range.
    pub(super) fn range(range: impl Debug, problem: &'static str) -> Self {
        Self::BadRange {
            attribute: None,
            range: format!("{range:?}"),
            problem,
        }
    }

    /// What a parameter is, and what it must be.
    pub(super) fn parameter(what: &'static str, value: impl Display, must: &'static str) -> Self {
        Self::BadParameter {
            what,
            value: value.to_string(),
            must,
        }
    }

    /// A continual count over no times at all.
    pub(super) fn no_time() -> Self {
        Self::parameter("the horizon", 0, "greater than zero")
    }

    /// A distance that cannot be asked for.
    pub(super) fn accuracy(within: impl Debug) -> Self {
        let must = "a number that is not negative";
        Self::parameter("the accuracy", format_args!("{within:?}"), must)
    }

    /// A descent that does not move.
    pub(super) fn no_steps() -> Self {
        Self::parameter("the number of steps", 0, "at least 1")
    }

    /// A list without anything in it.
    pub(super) fn none(what: &'static str) -> Self {
        Self::TooFew {
            what,
            given: 0,
            least: 1,
        }
    }

    /// The same; a range is that of this attribute.
    pub(super) fn of_attribute(self, name: &str) -> Self {
        match self {
            Self::BadRange { range, problem, .. } => Self::BadRange {
                attribute: Some(name.to_owned()),
                range,
                problem,
            },
            other => other,
        }
    }
}
