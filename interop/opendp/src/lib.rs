//! OpenDP measurements under the compositors of [`queryables`](queryables_core), and those compositors inside OpenDP.
//!
//! ```text
//!   OpenDP measurement ──Measured──▶ release / start_local in a Filter or Odometer
//!   Filter ──make_interactive──▶ OpenDP measurement that emits the running filter
//!   Odometer ──make_odometer──▶ the same for an odometer, which is no measurement
//! ```
//!
//! OpenDP contributes its mechanisms and stability maps; this crate contributes its rules, exact
//! totals, refusals that cost nothing, and children that may be asked in any order.
//!
//! - The data comes with its OpenDP domain: a [`InDomain`]. What is launched must be on that domain.
//! - The neighbouring relation knows how far apart neighbours are in an OpenDP metric: [`Within`]
//!   for what is launched here, [`Reaches`] for what is launched there.
//! - The measures must correspond: [`Counterpart`], [`Embeddable`]. Where there is no counterpart,
//!   it does not compile.
//! - The result is a plain [`Value`], or an OpenDP queryable whose answers are plain values.
//!   Queryables of OpenDP's stay on their thread: they are launched with
//!   [`launch_local`](queryables_core::compose::RunningFilter::launch_local).
//!
//! # Setting up
//!
//! OpenDP's constructors are behind its feature `contrib`, and its secure randomness is one of its
//! default features (`use-openssl`). This crate asks for neither:
//!
//! ```toml
//! queryables = "0.1"
//! queryables-opendp = "0.1"
//! opendp = { version = "0.16", features = ["contrib"] }
//! ```
//!
//! # Example
//!
//! A count with OpenDP's noise, under a filter of this crate; then that filter at the end of an
//! OpenDP chain.
//!
//! ```
//! use opendp::domains::{AtomDomain, VectorDomain};
//! use opendp::measurements::make_laplace;
//! use opendp::measures::MaxDivergence;
//! use opendp::metrics::{AbsoluteDistance, InsertDeleteDistance, SymmetricDistance};
//! use opendp::transformations::{make_clamp, make_count, make_ordered_random};
//! use queryables_opendp::{Measured, InDomain, make_interactive};
//! use queryables_core::prelude::*;
//! use std::sync::Arc;
//!
//! // Whoever holds the data says which domain it is a member of.
//! let ages = VectorDomain::new(AtomDomain::<u32>::default());
//! let data = Arc::new(InDomain::new(ages.clone(), vec![17, 18, 43, 70])?);
//! let filter = start(&Filter::concurrent(PureDp, "1".parse()?), data)?;
//!
//! // The analyst builds a measurement on it; its privacy map says 1/2 for one row more or less.
//! let count = make_count(filter.metadata().clone(), SymmetricDistance)?;
//! let number = AtomDomain::<i64>::default();
//! let noise = make_laplace(number, AbsoluteDistance::default(), 2.0, None)?;
//! let count = Measured::<_, _, MaxDivergence, _>::new((count >> noise)?);
//! let about: i64 = filter.release(&count)?;
//! assert!((about - 4).abs() < 200);
//! assert_eq!(filter.remaining(), "0.5".parse()?);
//!
//! // The other way round. A filter may look at the order of rows, so they are shuffled first.
//! let clamped = VectorDomain::new(AtomDomain::new_closed((18, 65))?);
//! let filter = Filter::concurrent(PureDp, "1".parse()?);
//! let filter =
//!     make_interactive(clamped.clone(), InsertDeleteDistance, PureDp, AddRemove, filter)?;
//! let chain = (make_clamp(ages, SymmetricDistance, (18, 65))?
//!     >> make_ordered_random(clamped, SymmetricDistance)?)?;
//! let chain = (chain >> filter)?;
//! assert_eq!(chain.map(&1)?, 1.0);
//! let filter = chain.invoke(&vec![17, 18, 43, 70])?;
//! assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Numbers
//!
//! OpenDP states losses as floats, rounded up. A float stands for its exact binary value: what
//! OpenDP prints as 0.1 is 0.1000000000000000055…, and nine of them fit in a budget of 1. To avoid
//! this, choose scales whose losses are exact floats (1/8, for example), or leave a little room in
//! the budget.

mod error;
mod frame;
mod make;
mod measure;
mod measured;
mod member;
mod odometer;
mod probe;
mod relation;
mod value;

pub use make::{Embedded, make_interactive};
pub use measure::{Counterpart, Embeddable};
pub use measured::{Asked, Measured};
pub use member::{InDomain, NotInDomain};
pub use odometer::{EmbeddedOdometer, make_odometer};
pub use relation::{Reaches, Within};
pub use value::Value;
