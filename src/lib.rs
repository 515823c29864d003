//! queryables
pub mod account;
pub mod machine;
pub mod noise;
pub mod privacy;
