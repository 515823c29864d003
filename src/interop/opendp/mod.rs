//! OpenDP inside this crate's compositors, and this crate's compositors inside OpenDP.
mod error;
mod frame;
mod make;
mod measure;
mod measured;
mod member;
mod number;
mod relation;
mod value;

pub use make::make_interactive;
pub use measure::{Counterpart, Embeddable};
pub use measured::{Asked, Measured};
pub use member::{Member, NotAMember};
pub use relation::{Reaches, Within};
pub use value::Value;
