use std::fmt;

/// A number that is known to lie between two others, both included.
///
/// ```
/// use queryables::privacy::fdp::{Adjacency, Profile};
///
/// let profile = Profile::gaussian("1".parse()?);
/// let delta = profile.delta(Adjacency::Remove, "1".parse()?);
/// assert!(delta.lower <= "0.126936737507".parse()? && delta.upper >= "0.126936737506".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds<T> {
    /// The number is at least this.
    pub lower: T,
    /// The number is at most this.
    pub upper: T,
}

impl<T: fmt::Display> fmt::Display for Bounds<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lower, self.upper)
    }
}
