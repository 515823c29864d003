//! What an answer tells, by its kind.

use super::{Coins, Fault, Machine};

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

impl Coins<'_> {
    /// Asks a machine inside, on behalf of one whose own answers do not show what this one says:
    /// they are translated, or only their type is known.
    pub(crate) fn hear<S: Machine>(
        &mut self,
        machine: &mut S,
        query: S::Query,
    ) -> Result<S::Answer, Fault> {
        let Some(heard) = self.source().heard() else {
            return machine.step(query, self);
        };
        let before = heard.take();
        let answer = machine.step(query, self);
        let says = answer.as_ref().map_or(Says::Refused, S::says);
        if let Some(heard) = self.source().heard() {
            // No more than what was heard further inside.
            *heard = before.max(Some(says.capped(*heard)));
        }
        answer
    }

    /// A middle answers itself, and does not know the data.
    pub(crate) fn hear_nothing(&mut self) {
        if let Some(heard) = self.source().heard() {
            *heard = (*heard).max(Some(Says::Reading));
        }
    }
}

impl Says {
    /// The kind of an answer, given what was heard inside for it.
    pub(crate) fn capped(self, heard: Option<Self>) -> Self {
        heard.map_or(self, |heard| heard.min(self))
    }
}
