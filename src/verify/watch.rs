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

/// How often progress is reported.
const TICK: Duration = Duration::from_secs(1);

/// Runs code that recurses once for each round of a conversation of this depth.
///
/// An exploration looks at the time whenever it runs a machine. Code that does not return cannot be
/// interrupted in safe Rust: its thread goes on, and this function returns.
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
    loop {
        let left = limit
            .saturating_add(GRACE)
            .saturating_sub(meter.progress().elapsed);
        match receive.recv_timeout(left.min(TICK)) {
            Ok(Ok(done)) => return done,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => return Err(VerifyError::NoThread),
            Err(RecvTimeoutError::Timeout) if left <= TICK => {
                return Err(VerifyError::Stuck { limit });
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(report) = progress {
                    report(&meter.progress());
                }
            }
        }
    }
}

/// Writes the progress on the terminal, over the line before; nothing if standard error is not a
/// terminal. For [`Verifier::progress`](super::Verifier::progress).
pub fn to_terminal(progress: &Progress) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // Whether it can be shown does not matter.
        let _ = write!(terminal, "\r{progress} ");
        let _ = terminal.flush();
    }
}
