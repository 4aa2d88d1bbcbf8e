//! What can go wrong, as a value: a kind to match on, a message for people, and whether trying again can help.
//! Not here: how an error crosses the C boundary (`ffi`), nor where in a job it happened (the engine adds that).

use std::error::Error as StdError;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong. The numbers are the status codes of `transship.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(i32)]
pub enum Kind {
    /// A parameter is missing, misspelt or impossible. The person has to change the job file.
    Config = 1,
    /// The system could not be reached, or it refused the credentials.
    Connect = 2,
    /// Reading or writing failed: a file, a socket, a full disk.
    Io = 3,
    /// A table, column or type is not what was expected.
    Schema = 4,
    /// A value cannot be read, converted or stored.
    Data = 5,
    /// The plugin cannot do what was asked.
    Unsupported = 6,
    /// The work was given up because the engine asked for it.
    Cancelled = 7,
    /// A bug: a panic, a broken invariant, a violated contract.
    Internal = 8,
}

impl Kind {
    /// The kind with this status code; an unknown code is a violated contract, hence `Internal`.
    pub fn from_code(code: i32) -> Kind {
        match code {
            1 => Kind::Config,
            2 => Kind::Connect,
            3 => Kind::Io,
            4 => Kind::Schema,
            5 => Kind::Data,
            6 => Kind::Unsupported,
            7 => Kind::Cancelled,
            _ => Kind::Internal,
        }
    }

    /// The word for it in messages and reports.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Config => "config",
            Kind::Connect => "connect",
            Kind::Io => "io",
            Kind::Schema => "schema",
            Kind::Data => "data",
            Kind::Unsupported => "unsupported",
            Kind::Cancelled => "cancelled",
            Kind::Internal => "internal",
        }
    }
}

/// An error that a person can act on. The message says what is wrong, where, and what to try: lower case, no full stop,
/// with the offending value in it, never with a secret.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    retryable: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

macro_rules! constructors {
    ($($name:ident => $kind:ident),*) => {
        $(
            #[doc = concat!("An error of kind [`Kind::", stringify!($kind), "`].")]
            pub fn $name(message: impl Into<String>) -> Error {
                Error::new(Kind::$kind, message)
            }
        )*
    };
}

impl Error {
    /// An error of this kind. A connect error is retryable from the start, every other kind is not.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), retryable: kind == Kind::Connect, source: None }
    }

    constructors!(config => Config, connect => Connect, io => Io, schema => Schema, data => Data,
                  unsupported => Unsupported, internal => Internal);

    /// The answer of work that was given up because the engine asked for it.
    pub fn cancelled() -> Error {
        Error::new(Kind::Cancelled, "cancelled")
    }

    /// Says whether the same call may succeed if it is made again.
    pub fn retryable(mut self, retryable: bool) -> Error {
        self.retryable = retryable;
        self
    }

    /// Keeps the error that caused this one. Its text is not added to the message: say what matters in the message.
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.source = Some(source.into());
        self
    }

    /// Puts what was being done in front of the message: `doing: message`.
    pub fn context(mut self, doing: impl fmt::Display) -> Error {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What is wrong, where, and what to try.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the same call may succeed if it is made again.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<std::io::Error> for Error {
    /// The operating system's words. Say which file with [`Error::context`].
    fn from(error: std::io::Error) -> Error {
        Error::io(error.to_string()).with_source(error)
    }
}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Error {
        Error::internal(error.to_string()).with_source(error)
    }
}
