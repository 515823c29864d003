//! Why there was no audit.

use thiserror::Error;

use crate::machine::CoinsError;

/// Why an audit was not run. No machine was started then.
///
/// Example: [`Audit`](crate::audit::Audit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Nothing can be learned from no runs.
    #[error("an audit needs at least one trial")]
    NoTrials,
    /// The failure probability must lie strictly between 0 and 1: otherwise the bound says nothing.
    #[error("the probability of failure must be greater than 0 and less than 1")]
    BadFailure,
    /// Every mechanism is (0, 1)-private.
    #[error("delta must be less than 1: with a delta of 1 everything is private")]
    BadDelta,
    /// There is no randomness to run with.
    #[error(transparent)]
    NoCoins(#[from] CoinsError),
}
