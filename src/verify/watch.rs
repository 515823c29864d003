//! Explorations on a thread of their own, under a time limit.

use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use super::VerifyError;
use super::meter::{Meter, Progress};
use super::share::stack_for;

/// How long an exploration has to notice that its time is over, before its thread is left behind.
const GRACE: Duration = Duration::from_secs(1);

/// How often it is looked whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// How often progress is reported.
const TICK: Duration = Duration::from_secs(1);

/// Runs code that recurses once for each round of a conversation of this depth.
///
/// An exploration looks at the time, and whether it was cancelled, whenever it runs a machine and
/// where it computes for long. Code that does not return cannot be interrupted in safe Rust: its
/// thread goes on, and this function returns.
pub(super) fn on_watch<T: Send + 'static>(
    depth: usize,
    meter: &Arc<Meter>,
    progress: Option<&dyn Fn(&Progress)>,
    code: impl FnOnce() -> Result<T, VerifyError> + Send + 'static,
) -> Result<T, VerifyError> {
    let (send, receive) = channel();
    let worker = Builder::new().stack_size(stack_for(depth));
    worker
        .spawn(move || {
            // The receiver is gone if it took too long.
            let _ = send.send(catch_unwind(AssertUnwindSafe(code)));
        })
        .map_err(|_| VerifyError::NoThread)?;
    let limit = meter.time();
    let mut reported = Duration::ZERO;
    loop {
        match receive.recv_timeout(LOOK) {
            Ok(Ok(done)) => return done,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => return Err(VerifyError::NoThread),
            Err(RecvTimeoutError::Timeout) => (),
        }
        if meter.is_cancelled() {
            return Err(VerifyError::Cancelled);
        }
        let now = meter.progress();
        if now.elapsed >= limit.saturating_add(GRACE) {
            // Machines are not run any more when the time is over: this one has run since then.
            return Err(match meter.is_running() {
                true => VerifyError::Stuck { limit },
                false => VerifyError::Time { limit },
            });
        }
        if let Some(report) = progress
            && now.elapsed >= reported.saturating_add(TICK)
        {
            reported = now.elapsed;
            report(&now);
        }
    }
}

/// Writes the progress on the terminal, in a line of its own; nothing if standard error is not a
/// terminal. For [`Verifier::progress`](super::Verifier::progress).
///
/// Example: [`Verifier`](crate::verify::Verifier).
pub fn to_terminal(progress: &Progress) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        write_line(&mut terminal, progress);
    }
}

/// A whole line: explorations on several threads, and what is printed after them, would otherwise
/// write over each other.
fn write_line(to: &mut impl Write, progress: &Progress) {
    // At once, so that nothing comes between. Whether it can be shown does not matter.
    let _ = to.write_all(format!("{progress}\n").as_bytes());
    let _ = to.flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Limits;

    #[test]
    fn only_a_machine_is_stuck() {
        let limit = Duration::ZERO;
        let meter = Arc::new(Meter::new(Limits::default().time(limit)));
        let (release, released) = channel();
        // The verifier itself computes until it is released.
        let found = on_watch(0, &meter, None, move || {
            released.recv().map_err(|_| VerifyError::Diverged)
        });
        assert_eq!(found, Err(VerifyError::Time { limit }));
        // Its thread is gone if it took too long.
        let _ = release.send(());
    }

    #[test]
    fn progress_is_written_in_lines() {
        let mut progress = Progress {
            elapsed: Duration::from_secs(9),
            runs: 1000,
            points: 10,
            memory: 2_000_000,
        };
        let mut written = Vec::new();
        write_line(&mut written, &progress);
        progress.runs = 7;
        write_line(&mut written, &progress);
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "verifying: 9 s, 1000 runs, 10 points, 2 MB\n\
             verifying: 9 s, 7 runs, 10 points, 2 MB\n"
        );
    }
}
