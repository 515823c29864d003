//! A bar on the terminal for what takes seconds.

/// How far a pass is. Without a terminal it shows nothing.
pub(crate) struct Progress {
    #[cfg(feature = "progress")]
    bar: indicatif::ProgressBar,
}

#[cfg(feature = "progress")]
impl Progress {
    /// A pass over this many parts.
    pub(crate) fn over(parts: usize) -> Self {
        use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

        let bar = ProgressBar::with_draw_target(Some(parts as u64), ProgressDrawTarget::hidden());
        // Of the data it shows nothing but how much is left.
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent}%, {eta} left") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// One part is done.
    pub(crate) fn done(&self) {
        use indicatif::ProgressDrawTarget;
        use std::io::IsTerminal;

        let was_short = self.bar.elapsed().as_secs() < 1;
        self.bar.inc(1);
        if !was_short && self.bar.is_hidden() && std::io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

#[cfg(feature = "progress")]
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(not(feature = "progress"))]
impl Progress {
    pub(crate) fn over(_: usize) -> Self {
        Self {}
    }

    pub(crate) fn done(&self) {
        let Self {} = self;
    }
}
