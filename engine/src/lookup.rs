//! Asynchronous lookups: records wait in a bounded queue until what they were looked up for has come, and leave it in order, in any
//! order, or in order per key. Time-outs, retries, keys gathered into calls, a cache.
//!
//! All of it belongs to one thread, that of the task, and asks the clock only when it is told the time; what other threads have to say
//! arrives in an [`Inbox`]. So a late answer, a time-out and a retry can race for a record in the order of that inbox alone.
//!
//! | file | what it does |
//! | --- | --- |
//! | `stage` | entries from the moment they come to the moment they leave: calls, outcomes, attempts |
//! | `stage/sharing` | records that wait for the answer to another of their key |
//! | `outcome` | what goes in and what comes out |
//! | `queue` | the order in which entries may leave, and marks between them |
//! | `timers` | what is due when: time-outs, retries |
//! | `retry` | whether an outcome is tried again, and after how long |
//! | `inbox` | answers on their way from other threads |
//! | `cache` | rows that were found before |
//!
//! Not here: records, columns and plugins (`transform::lookup`).

use std::time::Duration;

mod cache;
mod inbox;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
mod outcome;
mod queue;
mod retry;
mod stage;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;
mod timers;

pub use cache::{Cache, Cached};
pub use inbox::{Closed, Inbox};
pub use outcome::{Call, CallId, Counters, Done, Outcome, Record, Rows};
pub use queue::{Item, Queue};
pub use retry::{Backoff, Retry, RetryOn};
pub use stage::Stage;

/// The order in which records leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That in which they came.
    Ordered,
    /// That in which their answers come. None passes a mark.
    Unordered,
    /// Those of one key in the order in which they came: of a key, one is looked up at a time.
    Key,
}

/// How lookups are made.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub order: Order,
    /// How many entries the queue holds: looked up, or done and not yet gone. With [`Order::Key`], how many are looked up at once.
    pub capacity: usize,
    /// How long all attempts at a record may take together, from its place in the queue on (with [`Order::Key`]: from its first call
    /// on); `None`: for ever.
    pub timeout: Option<Duration>,
    pub retry: Option<Retry>,
    /// How many keys go into a call at most.
    pub call_size: usize,
    /// How long a key waits for others before a call with less than `call_size` is made.
    pub linger: Duration,
}
