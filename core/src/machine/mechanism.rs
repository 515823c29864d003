//! What is public about a machine before it runs, and about its data.

use std::sync::Arc;

use thiserror::Error;

use super::{Coins, Description, Fault, Machine};

/// A public description of a machine that is yet to be started on data of type `D`.
///
/// `Machine` is what runs: a [`Machine`](super::Machine), the machine of a compositor, or, for a
/// non-interactive mechanism, the answer itself ([`Released`]). It is never a handle: `launch`
/// makes handles out of machines.
///
/// What a mechanism costs is stated separately, by [`Private`](crate::privacy::Private): one
/// mechanism can have a loss under several measures.
///
/// # Wrong and right
///
/// ```text
/// let count = data.len();
/// let noise = coins.noise(&self.law_for(count))?; // wrong: whether the start fails, and the time
///                                                 // that the noise takes, depend on the data
/// let noise = coins.noise(&self.law)?;            // right: the noise first
/// let count = data.len();
/// ```
///
/// # Example
///
/// A non-interactive mechanism: one whose start already answers.
///
/// ```
/// use std::sync::Arc;
/// use queryables::machine::{Coins, Fault, Mechanism, Released};
///
/// /// Answers with the truth or its opposite, three times in four with the truth.
/// #[derive(Clone)]
/// struct TrueThreeTimesInFour;
///
/// impl Mechanism<bool> for TrueThreeTimesInFour {
///     type Machine = Released<bool>;
///
///     fn start(
///         &self,
///         data: &Arc<bool>,
///         coins: &mut Coins<'_>,
///     ) -> Result<Released<bool>, Fault> {
///         let lie = coins.weighted(&[3, 1])? == 1;
///         Ok(Released(**data ^ lie))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "launch a mechanism that works on `{D}`: `{Self}` does not",
    label = "works on other data",
    note = "a `Result`? its constructor may fail: write `?` after it",
    note = "a query without noise? add some: `query.laplace(epsilon)?`",
    note = "a mechanism on rows, launched on people? wrap it: `OnRows(mechanism)`"
)]
pub trait Mechanism<D: ?Sized> {
    /// What runs.
    type Machine;

    /// Starts on the data.
    ///
    /// # Errors
    ///
    /// A [`Fault`]. The analyst learns that the start failed, and nothing else.
    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault>;

    /// Whether the mechanism fits the public facts of the dataset. This is called before a launch
    /// is charged; by default every dataset fits.
    ///
    /// # Errors
    ///
    /// [`DomainMismatch`], which says why not. The launch is refused, and nothing is charged.
    fn check(&self, _data: Public<'_, D>) -> Result<(), DomainMismatch> {
        Ok(())
    }

    /// A name and public parameters, for logs, `Debug` and the ledger.
    ///
    /// By default the short name of the type, as an [incomplete](Description::incomplete) description:
    /// whoever overrides it says everything that decides the answer, or marks it in the same way. It
    /// must not contain anything that is computed from data.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use queryables::machine::{Coins, Description, Fault, Mechanism, Released};
    /// struct Constant(u8);
    ///
    /// impl Mechanism<()> for Constant {
    ///     type Machine = Released<u8>;
    ///
    ///     fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
    ///         Ok(Released(self.0))
    ///     }
    ///
    ///     fn describe(&self) -> Description {
    ///         Description::of::<Self>().with("value", self.0)
    ///     }
    /// }
    ///
    /// assert_eq!(Constant(3).describe().to_string(), "Constant(value = 3)");
    /// ```
    fn describe(&self) -> Description {
        Description::of::<Self>().incomplete()
    }
}

impl<D: ?Sized, M: Mechanism<D> + ?Sized> Mechanism<D> for &M {
    type Machine = M::Machine;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        (**self).start(data, coins)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        (**self).check(data)
    }

    fn describe(&self) -> Description {
        (**self).describe()
    }
}

/// The machine of a non-interactive mechanism: it holds the answer.
///
/// Where a theorem holds for non-interactive mechanisms only, the bound is `Machine = Released<A>`.
/// As a machine it gives the same answer to every query.
///
/// The answer must be a plain value. Do not put anything here that can be queried, such as a
/// handle: the mechanism would then be interactive, and theorems for non-interactive mechanisms do
/// not hold for it.
///
/// Example: [`Mechanism`](crate::machine::Mechanism).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Released<A>(pub A);

impl<A: Clone> Machine for Released<A> {
    type Query = ();
    type Answer = A;

    fn step(&mut self, (): (), _coins: &mut Coins<'_>) -> Result<A, Fault> {
        Ok(self.0.clone())
    }
}

mod sealed {
    pub trait Sealed {}
    impl<A> Sealed for super::Released<A> {}
}

/// The machine of a mechanism that answers once. Only [`Released`] implements it; as a bound it
/// gives a helpful compiler message for other machines.
///
/// Sealed, because theorems about non-interactive mechanisms depend on it. [`Released`] is the
/// example.
///
/// Example: [`Addressed`](crate::compose::Addressed).
#[diagnostic::on_unimplemented(
    message = "use `launch` instead: the machine of this mechanism, `{Self}`, can be asked \
               several times",
    label = "answers more than once",
    note = "only a mechanism that answers once, whose machine is `Released<A>`, can be released"
)]
pub trait Answered: sealed::Sealed {
    /// What the answer is.
    type Value;

    /// The answer.
    fn into_value(self) -> Self::Value;
}

impl<A> Answered for Released<A> {
    type Value = A;

    fn into_value(self) -> A {
        self.0
    }
}

/// A dataset with public facts, such as its domain, its schema or a time horizon.
///
/// Every holder of a handle can read the facts, and a mechanism can check them before anything is
/// charged ([`Mechanism::check`](Mechanism::check)). Do not compute them from the data,
/// unless the result is public too.
///
/// ```
/// use queryables::machine::PublicMetadata;
///
/// /// Visits on the days from 0 to the horizon.
/// struct Visits {
///     horizon: u32,
///     days: Vec<u32>,
/// }
///
/// impl PublicMetadata for Visits {
///     type Metadata = u32;
///
///     fn metadata(&self) -> &u32 {
///         &self.horizon
///     }
/// }
/// ```
pub trait PublicMetadata {
    /// What is public.
    type Metadata: ?Sized;

    /// Reads it.
    fn metadata(&self) -> &Self::Metadata;

    /// Whether the engine that holds the data answers now. It is asked before a launch is charged, and
    /// must not depend on the data. By default the data is at hand.
    fn is_reachable(&self) -> bool {
        true
    }
}

/// A view of a dataset through which only the public facts can be read.
///
/// Example: [`Mechanism`](crate::machine::Mechanism).
pub struct Public<'a, D: ?Sized>(&'a D);

impl<'a, D: ?Sized> Public<'a, D> {
    pub(crate) fn of(data: &'a D) -> Self {
        Self(data)
    }

    /// The same for a part of the data.
    pub(crate) fn part<E: ?Sized>(self, part: impl FnOnce(&'a D) -> &'a E) -> Public<'a, E> {
        Public(part(self.0))
    }
}

impl<'a, D: PublicMetadata + ?Sized> Public<'a, D> {
    /// The facts.
    #[must_use]
    pub fn metadata(&self) -> &'a D::Metadata {
        self.0.metadata()
    }

    /// [`PublicMetadata::is_reachable`].
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.0.is_reachable()
    }
}

// Nothing of the contents.
crate::debug_fields!([D: ?Sized] Public<'_, D>, "Public");

impl<D: ?Sized> Clone for Public<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: ?Sized> Copy for Public<'_, D> {}

/// The mechanism does not fit the public facts of the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the mechanism does not fit the dataset: {0}")]
pub struct DomainMismatch(pub &'static str);

impl DomainMismatch {
    /// A reason that is put together when the program runs: at most 240 bytes, made from what is public
    /// and never from data. The first 1024 different texts are kept for as long as the program runs.
    ///
    /// ```
    /// use queryables::machine::DomainMismatch;
    ///
    /// let column = "salary";
    /// let mismatch = DomainMismatch::because(format_args!("there is no column {column:?}"));
    /// assert_eq!(mismatch, DomainMismatch("there is no column \"salary\""));
    /// ```
    #[must_use]
    pub fn because(words: impl std::fmt::Display) -> Self {
        Self(super::words::kept(words))
    }
}

/// Where something that was asked does not fit, the machine stays as it was.
impl From<DomainMismatch> for Fault {
    fn from(DomainMismatch(why): DomainMismatch) -> Self {
        Self::InvalidQuery(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Silent<T>(T);
    struct Named;

    impl<T> Mechanism<()> for Silent<T> {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            Ok(Released(()))
        }
    }

    impl Mechanism<()> for Named {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            Ok(Released(()))
        }

        fn describe(&self) -> Description {
            Description::new("another name").with("size", 3)
        }
    }

    #[test]
    fn by_default_a_mechanism_is_called_as_its_type() {
        assert_eq!(Silent(vec![1]).describe().to_string(), "Silent");
    }

    #[test]
    fn a_reference_says_what_the_mechanism_says() {
        fn described(mechanism: impl Mechanism<()>) -> String {
            mechanism.describe().to_string()
        }
        assert_eq!(described(Named), "another name(size = 3)");
        assert_eq!(described(&Named), "another name(size = 3)");
        let unsized_too: &dyn Mechanism<(), Machine = Released<()>> = &Named;
        assert_eq!(described(unsized_too), "another name(size = 3)");
    }
}
