//! What an answer tells, by its kind.

/// The kind of an answer: whether it can say anything about data.
///
/// A compositor answers much that does not: a launch that was refused, a reading of the privacy
/// loss. A check that meets nothing else has checked nothing. The kinds are ordered by how much
/// they say.
///
/// ```
/// use queryables::machine::{Machine, Released, Says};
///
/// assert_eq!(Released::<bool>::says(&true), Says::Something);
/// assert!(Says::Launched < Says::Something);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Says {
    /// No answer.
    #[default]
    Refused,
    /// A launch was refused.
    NotLaunched,
    /// An answer that does not depend on data: the reading of an odometer.
    Reading,
    /// A mechanism was launched. Its answers are what says something.
    Launched,
    /// An answer.
    Something,
}
