//! What the engine offers a plugin while it works: a log, a place for dirty records, the question "shall I stop?".

use std::sync::Arc;
use std::time::SystemTime;

use crate::error::Result;

/// The engine, as a plugin sees it. Every job and every task gets a host of its own; it may be used from any thread.
pub trait Host: Send + Sync {
    /// Hands a log record to the engine. Plugins use the `log` crate's macros instead, which end up here.
    fn log(&self, level: log::Level, target: &str, message: &str);

    /// Reports a record that cannot be read, converted or stored. It is counted and kept, and the run goes on without it.
    ///
    /// # Errors
    /// `Cancelled` once the job's error limit is exceeded: return it as it is.
    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()>;

    /// Whether the engine wants this task to end. Ask it in every loop that can last.
    fn is_cancelled(&self) -> bool;

    /// Tells when a writer began its work on records of the batch that it was given last: `moments`, in microseconds since 1970 UTC,
    /// are those of the rows from `first_row` on, one after another. From them the engine knows how long each record waited, and how
    /// far the batch is. Who handles all records of a batch at once need not tell it. [`Begun`] collects them.
    fn started(&self, first_row: usize, moments: &[u64]) {
        let _ = (first_row, moments);
    }

    /// Tells what this thread is about to wait for: a statement, a request. It is shown to a person if that lasts, and in
    /// perf records; it counts until the next one. No secrets: the engine masks those that it knows from the job file alone.
    fn doing(&self, what: &str) {
        let _ = what;
    }
}

/// A shared [`Host`].
pub type HostRef = Arc<dyn Host>;

/// A record that could not be read, converted or stored, and why.
#[derive(Debug, Clone, Copy, Default)]
pub struct DirtyRecord<'a> {
    /// Its place in the source, in the split's position unit (a line number, a record number).
    pub position: Option<u64>,
    /// The name of the column at fault, where there is one.
    pub column: Option<&'a str>,
    /// The value at fault as text, where there is one.
    pub value: Option<&'a str>,
    /// What is wrong with it.
    pub cause: &'a str,
    /// The whole record: a JSON object of column name to value, or a JSON string with the raw text. It lets a person
    /// repair and replay it.
    pub record: Option<&'a str>,
    /// More about the place, as a JSON object: the byte offset in a file, a key.
    pub place: Option<&'a str>,
}

/// When the work on records of a batch began, until the engine is told. Tell it before every wait, so that it never knows less than
/// there is.
#[derive(Debug, Default)]
pub struct Begun {
    /// The row that the first moment belongs to.
    first: usize,
    moments: Vec<u64>,
}

impl Begun {
    /// The work on the next record begins now.
    pub fn now(&mut self) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.moments.push(since.as_micros() as u64);
    }

    /// Tells what is not told yet.
    pub fn tell(&mut self, host: &dyn Host) {
        if !self.moments.is_empty() {
            host.started(self.first, &self.moments);
            self.first += self.moments.len();
            self.moments.clear();
        }
    }
}
