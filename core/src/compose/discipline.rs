//! In which order children may be asked. It is a type, because different theorems hold for each
//! order.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
}

/// In which order the children of a compositor may be asked.
///
/// Example: [`Filter`](crate::compose::Filter).
pub trait Discipline: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// Whether a launch freezes the earlier children, including those that are still being started:
    /// code in the middle of one child must not go on after it has seen another.
    const FREEZES: bool;

    /// Whether children may answer more than once: whether it is [`Interactive`], for code that
    /// knows it only when it runs.
    const INTERACTIVE: bool;
}

/// A discipline under which children may answer more than once.
///
/// Example: [`Filter`](crate::compose::Filter).
#[diagnostic::on_unimplemented(
    message = "this compositor takes non-interactive mechanisms only",
    label = "interactive mechanisms cannot be launched here",
    note = "its theorem is about mechanisms that answer once: use `release`, or a compositor \
            built with `concurrent` or `sequential`"
)]
pub trait Interactive: Discipline {}

/// Children may be asked in any order, and new ones launched in between.
///
/// Example: [`Filter`](crate::compose::Filter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleaved;

/// A launch freezes the earlier children, and theirs.
///
/// Example: [`Filter`](crate::compose::Filter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sequential;

/// Children answer at their launch, and never again.
///
/// Example: [`Filter`](crate::compose::Filter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NonInteractive;

macro_rules! disciplines {
    ($($name:ident freezes $freezes:literal interactive $interactive:literal)*) => {$(
        impl sealed::Sealed for $name {}
        impl Discipline for $name {
            const FREEZES: bool = $freezes;
            const INTERACTIVE: bool = $interactive;
        }
    )*};
}

disciplines! {
    Interleaved freezes false interactive true
    Sequential freezes true interactive true
    NonInteractive freezes true interactive false
}

impl Interactive for Interleaved {}
impl Interactive for Sequential {}
