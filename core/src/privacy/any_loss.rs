//! A loss whose measure is not known until the program runs.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A loss under some measure, with its type erased: it can be printed, compared with another, and
/// read by code that knows its type.
///
/// ```
/// use queryables::number::{Epsilon, Rho};
/// use queryables::privacy::AnyLoss;
///
/// let loss = AnyLoss::new("0.25".parse::<Rho>()?);
/// assert_eq!(format!("{loss} or {loss:#}"), "0.25 or ρ = 0.25");
/// assert_eq!(loss.get::<Rho>(), Some(&"0.25".parse()?));
/// assert_eq!(loss.get::<Epsilon>(), None);
/// // The number is the same, and yet it is another loss.
/// assert_ne!(loss, AnyLoss::new("0.25".parse::<Epsilon>()?));
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
#[derive(Clone)]
pub struct AnyLoss(Arc<dyn Erased>);

impl AnyLoss {
    /// Erases the type of a loss.
    pub fn new<L>(loss: L) -> Self
    where
        L: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static,
    {
        Self(Arc::new(loss))
    }

    /// The loss, if it is of this type.
    #[must_use]
    pub fn get<L: 'static>(&self) -> Option<&L> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}

trait Erased: Any + fmt::Debug + fmt::Display + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<L: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static> Erased for L {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl PartialEq for AnyLoss {
    /// Losses of different types are different.
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

impl fmt::Display for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As text that names its unit. It cannot be read again: its type is gone.
#[cfg(feature = "serde")]
impl serde::Serialize for AnyLoss {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:#}"))
    }
}

impl fmt::Debug for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
