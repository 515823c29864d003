//! What a guarantee is made of: measures and their losses, neighbouring relations, facts and their
//! prices, conversions ([`queryables_core::privacy`]); and trade-off functions ([`fdp`]).

#[cfg(feature = "fdp")]
pub mod fdp;

#[doc(inline)]
pub use queryables_core::privacy::*;
pub(crate) use queryables_core::toolkit::privacy::*;

/// From one measure to another: [`queryables_core::privacy::convert`].
pub mod convert {
    #[doc(inline)]
    pub use queryables_core::privacy::convert::*;
    pub(crate) use queryables_core::toolkit::privacy::convert::*;
}
