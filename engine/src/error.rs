//! Why a run ended other than well, and which exit code that is. The plugin's own error is kept inside, with where it happened.

use std::fmt;

use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error as PluginError, Kind};

/// The result of everything in the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run ended other than well.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is wrong, or a file that it names: exit code 2.
    #[error("{0}")]
    Job(String),
    /// A job file is refused: exit code 2, or 3 where nothing is wrong with it but that a plugin is missing.
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Problem>),
    /// A plugin is missing, ambiguous or incompatible: exit code 3.
    #[error("{0}")]
    Plugin(String),
    /// Something failed while the job ran: exit code 1.
    #[error("{0}")]
    Failed(#[from] Failure),
    /// More records were dirty than the job allows: exit code 6.
    #[error("{0}")]
    DirtyLimit(String),
    /// The process was asked to stop by this signal: exit code 128 and its number.
    #[error("stopped by {}", signal_name(*.0))]
    Signal(i32),
}

impl Error {
    /// The exit code of the process.
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Failed(_) => 1,
            Error::Refused(problems) if problems.iter().any(|problem| !problem.plugin_missing) => 2,
            Error::Refused(_) => 3,
            Error::Job(_) => 2,
            Error::Plugin(_) => 3,
            Error::DirtyLimit(_) => 6,
            Error::Signal(signal) => 128 + signal,
        }
    }
}

/// What was found in a job file: all of it, so that it can be put right in one go.
#[derive(Debug, Default)]
pub struct Findings {
    /// What it is refused for.
    pub problems: Vec<Problem>,
    /// What is odd, but no reason to refuse it.
    pub warnings: Vec<Warning>,
}

/// One reason to refuse a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the text of the file, in bytes: for the order in which they are told.
    pub at: usize,
    /// Where (file, line, column, JSON path), what is wrong, and what to try.
    pub message: String,
    /// Whether all that is wrong is a plugin that is missing or incompatible.
    pub plugin_missing: bool,
}

/// Something odd about a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// As for a [`Problem`].
    pub at: usize,
    /// Where, and what is odd.
    pub message: String,
}

impl Problem {
    /// Something wrong with the file itself.
    pub fn wrong((at, message): (usize, String)) -> Problem {
        Problem { at, message, plugin_missing: false }
    }

    /// A plugin that it names is missing or incompatible.
    pub fn missing((at, message): (usize, String)) -> Problem {
        Problem { at, message, plugin_missing: true }
    }
}

impl From<(usize, String)> for Warning {
    fn from((at, message): (usize, String)) -> Warning {
        Warning { at, message }
    }
}

impl Findings {
    /// In the order of the text, as a person goes through it, and each only once.
    pub fn sort(&mut self) {
        self.problems.sort_by_key(|problem| problem.at);
        self.problems.dedup();
        self.warnings.sort_by_key(|warning| warning.at);
        self.warnings.dedup();
    }
}

/// The name of a signal that ends a run.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        signal_hook::consts::SIGINT => "SIGINT",
        signal_hook::consts::SIGTERM => "SIGTERM",
        signal_hook::consts::SIGHUP => "SIGHUP",
        _ => "a signal",
    }
}

/// A failure with its place. It is a plain value, so that a report of a task in another process can carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Where it happened: the task, the split, the plugin and the call, from the outside in.
    pub place: Vec<String>,
    /// What kind of thing went wrong.
    pub kind: Kind,
    /// What is wrong and what to try.
    pub message: String,
    /// Whether the same call may succeed if it is made again.
    pub retryable: bool,
}

impl Failure {
    /// A failure of the engine's own.
    pub fn new(kind: Kind, message: impl Into<String>) -> Failure {
        Failure { place: Vec::new(), kind, message: message.into(), retryable: false }
    }

    /// What a plugin's call answered.
    pub fn of(error: &PluginError, place: impl Into<String>) -> Failure {
        Failure {
            place: vec![place.into()],
            kind: error.kind(),
            message: error.message().to_string(),
            retryable: error.is_retryable(),
        }
    }

    /// Puts a place around it.
    pub fn within(mut self, place: impl Into<String>) -> Failure {
        self.place.insert(0, place.into());
        self
    }

    /// Whether it is only the echo of another failure: work that was given up because the engine asked for it.
    pub fn is_echo(&self) -> bool {
        self.kind == Kind::Cancelled
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}
