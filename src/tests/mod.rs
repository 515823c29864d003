//! What only the tests of the library need: oracles at high precision, laws by enumeration.

pub(crate) mod bracket;
pub(crate) mod enumerate;
pub(crate) mod exact;
#[allow(dead_code, reason = "the core uses more of it")]
pub(crate) mod oracle;
