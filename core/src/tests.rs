//! What only tests need, shared with the toolkit's: oracles at high precision, laws by enumeration.

#[allow(dead_code, reason = "the toolkit uses more of it")]
#[path = "../../src/tests/bracket.rs"]
pub(crate) mod bracket;
#[allow(dead_code, reason = "the toolkit uses more of it")]
#[path = "../../src/tests/enumerate.rs"]
pub(crate) mod enumerate;
#[path = "../../src/tests/oracle.rs"]
pub(crate) mod oracle;
