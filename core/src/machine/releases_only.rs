//! A promise about released values.

/// A promise: the mechanism does nothing with a released value but say it.
///
/// It is about every value that [`Coins::release`](super::Coins::release) gives to code of this
/// mechanism, or of one inside it: what the machine says, now and later, when it got one value is
/// what it says when it got another, passed through a function that does not know the data.
///
/// | holds for a machine that | does not hold for one that |
/// |---|---|
/// | answers with released values, rounded, clamped or otherwise postprocessed, or with sums of them | compares a released value with something else that it computed from the data |
/// | releases the next value whatever the last one was | chooses by a released value what to compute next |
///
/// Only `verify` relies on it: a verifier that is told so (`Verifier::releases_only`) need not
/// follow noise to an end, which noise does not have. A broken promise makes it accept claims that
/// are false.
///
/// A compositor promises it if its children do, since its own code draws nothing. What is behind a
/// [`Middle`](crate::middle::Middle) does not: a middle may choose by an answer what to ask next.
///
/// ```
/// use std::sync::Arc;
/// use queryables::machine::{Coins, Fault, Law, Mechanism, Released, ReleasesOnly};
///
/// /// The number of rows, with noise.
/// struct Rows<L>(L);
///
/// impl<L: Law> Mechanism<Vec<u8>> for Rows<L> {
///     type Machine = Released<i128>;
///
///     fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
///         let noise = coins.noise(&self.0)?;
///         Ok(Released(coins.release(data.len() as i128, noise)))
///     }
/// }
///
/// impl<L> ReleasesOnly for Rows<L> {}
/// ```
#[diagnostic::on_unimplemented(
    message = "leave out `releases_only`: `{Self}` does not promise to do nothing with released \
               values but say them",
    label = "does not promise it",
    note = "is it your own mechanism, and does the promise hold? then \
            `impl ReleasesOnly for {Self} {{}}`"
)]
pub trait ReleasesOnly {}
