//! Why a run ended other than well, and which exit code that is. The plugin's own error is kept inside, with where it happened.

use std::fmt;

use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error as PluginError, Kind};

/// The result of everything in the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run ended other than well.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line or the job file is wrong: exit code 2.
    #[error("{0}")]
    Job(String),
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
            Error::Job(_) => 2,
            Error::Plugin(_) => 3,
            Error::DirtyLimit(_) => 6,
            Error::Signal(signal) => 128 + signal,
        }
    }
}

/// The name of a signal that ends a run.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        signal_hook::consts::SIGINT => "SIGINT",
        signal_hook::consts::SIGTERM => "SIGTERM",
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
