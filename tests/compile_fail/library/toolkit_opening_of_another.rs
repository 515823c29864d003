//! Whoever makes handles of machines of one's own is handed an opening of these, and of no other: a
//! child that was started with a caller's coins does not become a handle.
use std::sync::Arc;

use queryables_core::machine::StopToken;
use queryables_core::prelude::*;
use queryables_core::queryable::{Child, IntoHandle};
use queryables_core::toolkit::queryable::{Opening, Sealed};

struct Own(Child<Other>);

struct Other;

impl Machine for Other {
    type Query = ();
    type Answer = u8;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u8, Fault> {
        Ok(2)
    }
}

impl Sealed for Own {}

impl IntoHandle for Own {
    type Handle = Queryable<(), u8>;

    fn into_handle(opening: Opening<Self>) -> Result<Self::Handle, Fault> {
        Other::into_handle(opening)
    }
}

fn started<M: Mechanism<(), Machine = Other>>(mechanism: &M) -> Result<Opening<Other>, Fault> {
    Opening::start(mechanism, &Arc::new(()), StopToken::default())
}

fn main() {}

//~ E0308
//~ E0624
//~ Opening<Other>
//~ Opening<Own>
