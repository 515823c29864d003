//! Inside other frameworks, and other frameworks inside.
//!
//! | module | framework | feature |
//! |---|---|---|
//! | `opendp` | [OpenDP](https://opendp.org) | `opendp` |

#[cfg(feature = "opendp")]
pub mod opendp;
