//! Where lines for a person go: stderr, around a progress bar if there is one, with secrets masked.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::ProgressBar;

use crate::error::Error;
use crate::secrets::Secrets;

/// The one who prints. Clones print to the same place.
#[derive(Clone)]
pub(super) struct Console {
    shared: Arc<Shared>,
}

struct Shared {
    quiet: bool,
    secrets: Mutex<Secrets>,
    bar: Mutex<Option<ProgressBar>>,
    no_bar: AtomicBool,
}

impl Console {
    pub(super) fn new(quiet: bool) -> Console {
        Console {
            shared: Arc::new(Shared {
                quiet,
                secrets: Mutex::default(),
                bar: Mutex::default(),
                no_bar: AtomicBool::new(false),
            }),
        }
    }

    /// Sends log records to this console.
    pub(super) fn start_logging(&self) {
        let default = if self.shared.quiet { "error" } else { "warn" };
        let filter = std::env::var("TRANSSHIP_LOG").unwrap_or_else(|_| default.into());
        let console = self.clone();
        let started = env_logger::Builder::new()
            .parse_filters(&filter)
            .format(move |_, record| {
                let level = record.level().as_str().to_ascii_lowercase();
                console.line(&format!("{} {level}: {}{}", now(), speaker(record.target()), record.args()));
                Ok(())
            })
            .try_init();
        debug_assert!(started.is_ok(), "logging is started once");
    }

    /// Masks the secrets of a job file from here on.
    pub(super) fn learn_secrets(&self, tree: &serde_json::Value, others: &[String]) {
        let mut secrets = self.secrets();
        secrets.learn(tree);
        secrets.add_all(others);
    }

    /// Prints an error and gives its exit code.
    pub(super) fn error(&self, error: &Error) -> i32 {
        match error {
            Error::Refused(problems) => {
                for problem in problems {
                    self.line(&format!("error: {}", problem.message));
                }
            }
            other => self.line(&format!("error: {other}")),
        }
        error.exit_code()
    }

    /// Prints what is odd, though not wrong, unless asked to be quiet.
    pub(super) fn warning(&self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    /// Prints what a person may want to know, unless asked to be quiet.
    pub(super) fn note(&self, text: &str) {
        if !self.shared.quiet {
            self.line(text);
        }
    }

    /// Prints what a command was asked for: to stdout.
    pub(super) fn result(&self, text: &str) -> std::io::Result<()> {
        self.verbatim(&self.mask(text))
    }

    /// The same for text whose secrets have been masked already.
    pub(super) fn verbatim(&self, text: &str) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // A reader that has seen enough closes the pipe: nothing to complain about.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Shows a progress bar if stderr is a terminal, until `hide_bar`.
    pub(super) fn show_bar(&self, make: impl FnOnce() -> ProgressBar) -> Option<ProgressBar> {
        if self.shared.quiet || self.shared.no_bar.load(Ordering::Relaxed) || !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = make();
        *self.bar() = Some(bar.clone());
        Some(bar)
    }

    /// Shows no bar from here on if records are printed to the same terminal: each would tear it apart.
    pub(super) fn records_go_to_stdout(&self) {
        if std::io::stdout().is_terminal() {
            self.shared.no_bar.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn hide_bar(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        let text = self.mask(text);
        // Nobody can be told if stderr is gone.
        let print = || {
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        };
        let bar = self.bar().clone();
        match bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// The text with the secrets of every job file read so far masked.
    pub(super) fn mask(&self, text: &str) -> String {
        self.secrets().mask(text)
    }

    /// Masks them inside the strings of a JSON value.
    pub(super) fn mask_tree(&self, tree: &mut serde_json::Value) {
        self.secrets().mask_tree(tree);
    }

    fn secrets(&self) -> std::sync::MutexGuard<'_, Secrets> {
        self.shared.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
        self.shared.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who says something: a plugin by its name; the engine speaks without one.
fn speaker(target: &str) -> String {
    match target.split("::").next().map(|origin| origin.strip_prefix("transship_").unwrap_or(origin)) {
        Some("engine") | None => String::new(),
        Some(name) => format!("{name}: "),
    }
}

fn now() -> impl std::fmt::Display {
    chrono::Local::now().format("%Y-%m-%d %H:%M:%S")
}
