//! Work for several threads.

use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::VerifyError;
use super::menu::Menu;
use super::solve::{PointOf, SHARED_ROUNDS, Solver};

impl<Q, A, N> Solver<'_, '_, Q, A, N>
where
    Q: Clone + Send + Sync,
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
                for (number, query) in self.menu.queries(&point.menu).iter().enumerate() {
                    longer.extend(self.ask(point, number, query)?.0);
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
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
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
