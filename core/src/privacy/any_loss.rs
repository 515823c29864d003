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
pub struct AnyLoss(Arc<Held>);

/// Behind one pointer: a refusal has five losses.
struct Held {
    loss: Arc<dyn Erased>,
    /// The name of its measure, if it is known.
    measure: Option<String>,
}

impl AnyLoss {
    /// Erases the type of a loss.
    pub fn new<L>(loss: L) -> Self
    where
        L: fmt::Debug + fmt::Display + PartialEq + Send + Sync + 'static,
    {
        Self(Arc::new(Held {
            loss: Arc::new(loss),
            measure: None,
        }))
    }

    /// The same loss, which says the name of its measure in messages to others.
    #[must_use]
    pub fn under(&self, measure: &dyn fmt::Debug) -> Self {
        self.named(Some(format!("{measure:?}")))
    }

    pub(crate) fn named(&self, measure: Option<String>) -> Self {
        let loss = Arc::clone(&self.0.loss);
        Self(Arc::new(Held { loss, measure }))
    }

    /// The name of its measure, if it is known.
    #[must_use]
    pub fn measure(&self) -> Option<&str> {
        self.0.measure.as_deref()
    }

    /// The loss, if it is of this type.
    #[must_use]
    pub fn get<L: 'static>(&self) -> Option<&L> {
        let any: &dyn Any = &*self.0.loss;
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
    /// Losses of different types are different. The name of the measure does not count.
    fn eq(&self, other: &Self) -> bool {
        self.0.loss.equals(&*other.0.loss)
    }
}

impl fmt::Display for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.loss.fmt(f)
    }
}

/// As text, and the name of the measure: `{"measure": "PureDp", "loss": "0.25"}`. What is read is only
/// its text: the type is gone.
#[cfg(feature = "serde")]
mod written {
    use std::fmt;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::AnyLoss;

    /// A loss that was read from a message: its text, as it was written.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct WrittenLoss(pub(crate) String);

    impl fmt::Display for WrittenLoss {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&self.0)
        }
    }

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        measure: Option<String>,
        loss: String,
    }

    impl Serialize for AnyLoss {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let (measure, loss) = (self.0.measure.clone(), self.to_string());
            Written { measure, loss }.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for AnyLoss {
        fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
            let Written { measure, loss } = Written::deserialize(deserializer)?;
            Ok(Self::new(WrittenLoss(loss)).named(measure))
        }
    }
}

#[cfg(feature = "serde")]
pub(crate) use written::WrittenLoss;

impl fmt::Debug for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0.loss, f)
    }
}
