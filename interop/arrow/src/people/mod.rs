//! Passes over the rows that keep something for each person, in bounded memory.
//!
//! The people are divided into parts by a hash. A thread collects rows for each part, and adds some hundreds
//! of them at a time: then the part is in the cache of its core. All threads share the parts, so that nobody
//! is kept twice, and nothing is merged.

mod part;
mod share;
mod shared;
mod waiting;

pub(crate) use part::Part;

use hashbrown::DefaultHashBuilder;
use queryables::mechanisms::query::Unavailable;

use self::share::Share;
use self::shared::People;
use crate::evaluate::Batch;
use crate::person::{Group, Heap, Key, Store};
use crate::scan::Scan;

/// What is kept for each person, and what becomes of it.
pub(crate) trait Pass: Sync {
    type Key: Key + ?Sized;
    type Group: Group;
    /// What is kept for a person in a group.
    type Kept: Heap + Send;
    /// Where the rest of it is: one for each part of the people.
    type Store: Store;
    /// What a row adds to it.
    type Update: Heap + Send;
    /// What a thread uses again for each batch.
    type Scratch: Default + Send;
    /// What is made of people: one for each thread and pass.
    type Total: Send;

    /// Calls with each row that counts.
    fn read(
        &self,
        batch: &Batch<'_>,
        scratch: &mut Self::Scratch,
        row: impl FnMut(&Self::Key, Self::Group, Self::Update),
    ) -> Result<(), Unavailable>;

    /// What is kept for a person before the first row.
    fn start(&self, store: &mut Self::Store) -> Self::Kept;

    fn add(&self, store: &mut Self::Store, kept: &mut Self::Kept, update: Self::Update);

    /// The same, with what another store has of it.
    fn move_to(&self, store: &mut Self::Store, other: &Self::Store, kept: Self::Kept)
    -> Self::Kept;

    fn total(&self) -> Self::Total;

    /// Adds all entries of some people to a total.
    fn finish(&self, total: &mut Self::Total, part: Part<Self>);
}

/// Reads all rows, in as many passes as the memory needs. Each pass gives a total for each thread to
/// `collect`, before the next begins: there may be many passes, and a total may be large.
///
/// Where the people of a pass do not fit, half of them are dropped and left for a later pass: those with
/// another remainder of their hash. So everybody is met in one pass, with all rows.
pub(crate) fn by_person<P: Pass>(
    pass: &P,
    scan: &Scan<'_>,
    most_bytes: usize,
    mut collect: impl FnMut(P::Total),
) -> Result<(), Unavailable> {
    let hasher = DefaultHashBuilder::default();
    let mut open = vec![Share::ALL];
    while let Some(share) = open.pop() {
        let people = People::new(pass, &hasher, share, (most_bytes, scan.threads));
        let start = || (people.rows(), P::Scratch::default());
        let threads = scan.run(start, |(rows, scratch), batch| rows.read(batch, scratch))?;
        for (rows, _) in threads {
            rows.add_all();
        }
        open.extend(share.rest(people.share().modulus));
        people
            .finish(scan.threads)?
            .into_iter()
            .for_each(&mut collect);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
