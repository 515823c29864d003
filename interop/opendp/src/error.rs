//! Errors for OpenDP, whose own constructors are macros. None has anything of the data.

use std::backtrace::Backtrace;

use opendp::error::{Error, ErrorVariant};

/// A privacy map that has no answer.
pub(crate) fn map(reason: &'static str) -> Error {
    new(ErrorVariant::FailedMap, reason)
}

/// A function that has no answer.
pub(crate) fn function(reason: &'static str) -> Error {
    new(ErrorVariant::FailedFunction, reason)
}

fn new(variant: ErrorVariant, reason: &'static str) -> Error {
    Error {
        variant,
        message: Some(reason.to_owned()),
        backtrace: Backtrace::capture(),
    }
}
