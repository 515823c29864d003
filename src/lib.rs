//! queryables
pub mod account;
pub mod machine;
pub mod privacy;
