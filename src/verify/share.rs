//! Work for several threads.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use super::VerifyError;
use super::menu::Menu;
use super::solve::{PointOf, SHARED_ROUNDS, Solver};

impl<Q, A, N> Solver<'_, Q, A, N>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    /// Explores the first points of the conversation on several threads; what they find is
    /// remembered.
    pub(super) fn share(
        &self,
        points: &[PointOf<Q, A, N>],
        threads: usize,
    ) -> Result<(), VerifyError> {
        if threads < 2 {
            return Ok(());
        }
        let mut tasks = points.to_vec();
        for _ in 0..SHARED_ROUNDS {
            let mut longer = Vec::new();
            for point in tasks.iter().filter(|point| point.left > 1) {
                for offer in &self.offered(point)? {
                    longer.extend(self.ask(point, offer)?.0);
                }
            }
            if longer.is_empty() {
                break;
            }
            tasks = longer;
        }
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), VerifyError> {
            while let Some(point) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.best(point)?;
            }
            Ok(())
        };
        let stack = stack_for(tasks.iter().map(|point| point.left).max().unwrap_or(0));
        std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for _ in 0..threads {
                let builder = Builder::new().stack_size(stack);
                match builder.spawn_scoped(scope, work) {
                    Ok(worker) => workers.push(worker),
                    // The threads that did start do all the work.
                    Err(_) => break,
                }
            }
            let mut result = Ok(());
            for worker in workers {
                match worker.join() {
                    Ok(done) => result = result.and(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            result
        })
    }
}

/// The stack for this number of rounds. A round takes a few kilobytes without optimisation, and
/// unused stack costs nothing; the machines themselves run on the constant part.
pub(super) fn stack_for(depth: usize) -> usize {
    (4 << 20) + depth.saturating_mul(32 << 10)
}
