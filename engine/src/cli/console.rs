//! Where lines for a person go: stderr, around a progress bar if there is one, with secrets masked and control characters visible.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::ProgressBar;

use super::events::Event;
use crate::error::Error;
use crate::perf::now_micros;
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
    tells_events: AtomicBool,
}

impl Console {
    pub(super) fn new(quiet: bool) -> Console {
        Console {
            shared: Arc::new(Shared {
                quiet,
                secrets: Mutex::default(),
                bar: Mutex::default(),
                no_bar: AtomicBool::new(false),
                tells_events: AtomicBool::new(false),
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
                let message = format!("{}{}", speaker(record.target()), record.args());
                console.line(&format!("{} {level}: {message}", now()));
                if record.level() <= log::Level::Warn {
                    console.tell(&Event::Warning { micros: now_micros(), message: &message });
                }
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
        let exit_code = error.exit_code();
        let tell = |message: &str| {
            self.line(&format!("error: {message}"));
            self.tell(&Event::Error { micros: now_micros(), message, exit_code });
        };
        match error {
            Error::Refused(problems) => problems.iter().for_each(|problem| tell(&problem.message)),
            other => tell(&other.to_string()),
        }
        exit_code
    }

    /// Prints what is odd, though not wrong, unless asked to be quiet.
    pub(super) fn warning(&self, text: &str) {
        self.note(&format!("warning: {text}"));
        self.tell(&Event::Warning { micros: now_micros(), message: text });
    }

    /// Prints a warning even if asked to be quiet: something is lost beside what the jobs move, or others may see what they should not.
    pub(super) fn alert(&self, text: &str) {
        self.line(&format!("warning: {text}"));
        self.tell(&Event::Warning { micros: now_micros(), message: text });
    }

    /// Prints that nothing moves, unless asked to be quiet.
    pub(super) fn stall(&self, text: &str) {
        self.note(text);
        self.tell(&Event::Stall { micros: now_micros(), message: text });
    }

    /// From here on a line of JSON on stdout tells of each thing that happens.
    pub(super) fn tell_events(&self) {
        self.shared.tells_events.store(true, Ordering::Relaxed);
    }

    pub(super) fn tells_events(&self) -> bool {
        self.shared.tells_events.load(Ordering::Relaxed)
    }

    /// Tells whoever wants to know of things that happen.
    ///
    /// # Errors
    /// If it cannot be printed.
    pub(super) fn event(&self, event: &Event<'_>) -> std::io::Result<()> {
        if !self.tells_events() {
            return Ok(());
        }
        let mut tree = serde_json::to_value(event)?;
        self.mask_tree(&mut tree);
        self.verbatim(&format!("{tree}\n"))
    }

    /// The same where nothing is lost if it cannot be printed: it is on stderr as well, or will be told again.
    pub(super) fn tell(&self, event: &Event<'_>) {
        let _ = self.event(event);
    }

    /// Prints what a person may want to know, unless asked to be quiet.
    pub(super) fn note(&self, text: &str) {
        if !self.shared.quiet {
            self.line(text);
        }
    }

    /// Prints what a person cannot know otherwise, even if asked to be quiet.
    pub(super) fn essential(&self, text: &str) {
        self.line(text);
    }

    /// Prints what a command was asked for: to stdout.
    pub(super) fn result(&self, text: &str) -> std::io::Result<()> {
        self.verbatim(&self.mask(text))
    }

    /// The same for text whose secrets have been masked already.
    pub(super) fn verbatim(&self, text: &str) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        match out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()) {
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
        let text = self.presentable(text);
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

    /// The text as it may be shown on a terminal, whoever wrote it.
    pub(super) fn presentable(&self, text: &str) -> String {
        visible(&self.mask(text)).into_owned()
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

/// The text with characters that would do something to the terminal written as JSON writes them: inside a string of JSON they mean
/// the same.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_terminal) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match acts_on_terminal(letter) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// Control characters, and those that turn the direction of what follows.
fn acts_on_terminal(letter: char) -> bool {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && !matches!(letter, '\n' | '\t'))
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

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_acts_on_the_terminal_is_made_visible() {
        assert_eq!(visible("a\u{1b}[2J\r\0\u{7f}\u{9b}1m\u{202e}"), "a\\u001b[2J\\u000d\\u0000\\u007f\\u009b1m\\u202e");
        let plain = "日本 ő \t \n \\ “x” 👍";
        assert_eq!(visible(plain), plain);
    }

    #[test]
    fn json_stays_json_of_the_same_meaning() {
        let value = serde_json::json!({ "a\u{9b}": "b\u{7f}\u{1b}\u{202e}\r\n\t" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = visible(&text);
        assert_ne!(shown, text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
