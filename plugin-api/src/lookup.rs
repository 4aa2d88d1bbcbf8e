//! What is asked for the rows of other systems: keys in, rows out, many questions open at once, answered from any thread.
//! Not here: order, time-outs, retries and caches. They are the engine's, the same for every lookup.

use std::fmt;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::error::{Error, Result};

/// A source of rows by key, opened for one job and shared by all its tasks. The engine calls `prepare` once, then `start` from
/// several threads at once. Dropping it frees what it holds; threads of its own are joined then.
///
/// Only cheap checks belong into the function that makes a lookup from its parameters: `transship check` calls it without a
/// network. Connecting belongs into `prepare`.
pub trait Lookup: Send + Sync {
    /// Connects and checks. `keys` are the columns of the keys, in the order in which the job names them and of the types that
    /// the records have; what comes back are the columns of the rows that will be found.
    fn prepare(&mut self, keys: SchemaRef) -> Result<SchemaRef>;

    /// Looks up some keys, a row each. It returns at once: the answer is given later, from whatever thread, or right here where
    /// it is known already. Everything that can fail is told through the answer.
    fn start(&self, keys: RecordBatch, answer: Answer);

    /// How many keys a call may have at most; the engine never sends more, and fewer where the job says so. It is asked after
    /// `prepare`.
    fn most_keys(&self) -> usize {
        usize::MAX
    }

    /// The job is given up: calls under way need no answer any more. One that waits for a server is interrupted. It may come at any
    /// time after `prepare` has returned, from any thread, beside a `start`, and more than once.
    fn cancel(&self) {}
}

/// The right to answer one call, once. An answer that is dropped is a failed one: nobody waits for a lookup that panicked or
/// forgot. It may be moved to any thread, and may come after the engine has given up the call: then it is thrown away.
pub struct Answer {
    /// `None` once it is given.
    call: Option<Box<dyn Call>>,
}

/// What an [`Answer`] goes to. The engine has one; in a test of a lookup, any closure is one.
pub trait Call: Send {
    /// Takes the answer.
    fn answered(self: Box<Self>, outcome: Result<Found>);

    /// Learns that nobody will give one.
    fn forgotten(self: Box<Self>) {
        let how = if std::thread::panicking() { "panicked" } else { "dropped its call" };
        self.answered(Err(Error::internal(format!("the lookup {how} and gave no answer"))));
    }

    /// Whether somebody still waits for it.
    fn is_wanted(&self) -> bool {
        true
    }
}

impl<F: FnOnce(Result<Found>) + Send> Call for F {
    fn answered(self: Box<Self>, outcome: Result<Found>) {
        self(outcome);
    }
}

impl Answer {
    /// The answer to a call.
    pub fn new(call: impl Call + 'static) -> Answer {
        Answer { call: Some(Box::new(call)) }
    }

    /// Gives what was found.
    pub fn complete(self, found: Found) {
        self.give(Ok(found));
    }

    /// Says that the call failed, for all its keys. An error that is [retryable](Error::retryable) may be tried again.
    pub fn fail(self, error: Error) {
        self.give(Err(error));
    }

    /// Either of the two.
    pub fn give(mut self, outcome: Result<Found>) {
        if let Some(call) = self.call.take() {
            call.answered(outcome);
        }
    }

    /// Whether somebody still waits for it: a call that is over time, or whose job has ended, need not be made any more. For
    /// lookups that keep calls in a queue of their own.
    pub fn is_wanted(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.is_wanted())
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.forgotten();
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("is_wanted", &self.is_wanted()).finish()
    }
}

/// The rows that were found for the keys of a call: none, one or several for each key.
#[derive(Debug)]
pub struct Found {
    /// The rows, with the columns that [`Lookup::prepare`] told.
    pub rows: RecordBatch,
    /// The key that each row was found for: its row in the batch of keys. Rows of one key keep their order.
    pub key_of_row: Vec<u32>,
    /// Keys that could not be looked up, and why; they have no rows. The others of the call are not concerned.
    pub failed: Vec<(u32, Error)>,
}

impl Found {
    /// Rows, and the key that each was found for. Keys of which there is no row were not found.
    pub fn new(rows: RecordBatch, key_of_row: Vec<u32>) -> Found {
        Found { rows, key_of_row, failed: Vec::new() }
    }

    /// One row for each key, in their order.
    pub fn one_each(rows: RecordBatch) -> Found {
        let key_of_row = (0..rows.num_rows() as u32).collect();
        Found::new(rows, key_of_row)
    }

    /// No row for any key; `columns` are those that [`Lookup::prepare`] told.
    pub fn nothing(columns: SchemaRef) -> Found {
        Found::new(RecordBatch::new_empty(columns), Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use arrow_schema::Schema;

    use super::*;

    #[test]
    fn an_answer_is_given_once_and_a_dropped_one_has_failed() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let answer = || {
            let told = told.clone();
            Answer::new(move |outcome: Result<Found>| {
                let text = outcome.map_or_else(|error| error.message().to_string(), |_| "found".into());
                told.lock().unwrap().push(text);
            })
        };
        answer().complete(Found::nothing(Arc::new(Schema::empty())));
        answer().fail(Error::io("refused"));
        drop(answer());
        let told = told.lock().unwrap();
        assert_eq!(*told, ["found", "refused", "the lookup dropped its call and gave no answer"]);
    }
}
