//! What a plugin answers, checked and sorted by key; and the way on which it comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take_record_batch;
use transship_plugin_api::lookup::Call as PluginCall;
use transship_plugin_api::{Error, Found, Result};

use crate::lookup::{CallId, Inbox, Outcome, Rows};

/// An answer on its way from whatever thread it was given in.
pub(super) struct Letter {
    pub id: CallId,
    pub keys: usize,
    pub outcome: Result<Found>,
}

/// Where the answer to a call goes.
pub(super) struct Ticket {
    pub id: CallId,
    pub keys: usize,
    pub wanted: Arc<AtomicBool>,
    pub inbox: Arc<Inbox<Letter>>,
}

impl PluginCall for Ticket {
    fn answered(self: Box<Self>, outcome: Result<Found>) {
        let Ticket { id, keys, inbox, .. } = *self;
        inbox.put(Letter { id, keys, outcome });
    }

    fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }
}

/// An answer, by key.
pub(super) enum Sorted {
    /// The whole call failed.
    Failed(Arc<Error>),
    Rows {
        answer: Arc<RecordBatch>,
        /// Where the rows of each key begin, and where the last end.
        starts: Vec<u32>,
        failed: Vec<(u32, Arc<Error>)>,
    },
}

impl Sorted {
    /// Sorts an answer to a call of so many keys.
    ///
    /// # Errors
    /// When it breaks the contract: this is no failure of the lookup, but of its plugin.
    pub(super) fn new(outcome: Result<Found>, keys: usize, columns: &SchemaRef) -> Result<Sorted> {
        let Found { rows, key_of_row, mut failed } = match outcome {
            Ok(found) => found,
            Err(error) => return Ok(Sorted::Failed(Arc::new(error))),
        };
        check(&rows, &key_of_row, &failed, keys, columns)?;
        let (rows, key_of_row) =
            if key_of_row.is_sorted() { (rows, key_of_row) } else { in_order(&rows, &key_of_row)? };
        let mut starts = vec![0; keys + 1];
        for key in &key_of_row {
            starts[*key as usize + 1] += 1;
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        failed.sort_by_key(|(key, _)| *key);
        let failed = failed.into_iter().map(|(key, error)| (key, Arc::new(error))).collect();
        Ok(Sorted::Rows { answer: Arc::new(rows), starts, failed })
    }

    /// What it says of a key.
    pub(super) fn of(&self, key: usize) -> Outcome {
        match self {
            Sorted::Failed(error) => Outcome::Failed(error.clone()),
            Sorted::Rows { answer, starts, failed } => {
                if let Ok(place) = failed.binary_search_by_key(&(key as u32), |(key, _)| *key) {
                    return Outcome::Failed(failed[place].1.clone());
                }
                let (first, end) = (starts[key], starts[key + 1]);
                match end - first {
                    0 => Outcome::Missing,
                    count => Outcome::Found(Rows { answer: answer.clone(), first, count }),
                }
            }
        }
    }
}

fn check(
    rows: &RecordBatch,
    key_of_row: &[u32],
    failed: &[(u32, Error)],
    keys: usize,
    columns: &SchemaRef,
) -> Result<()> {
    let broken = |what: String| Err(Error::internal(format!("the lookup broke its contract: {what}")));
    if rows.num_rows() != key_of_row.len() {
        return broken(format!("it found {} rows, but told the keys of {}", rows.num_rows(), key_of_row.len()));
    }
    if let Some(key) = key_of_row.iter().chain(failed.iter().map(|(key, _)| key)).find(|key| **key as usize >= keys) {
        return broken(format!("it answered for key {key} of a call with {keys} keys"));
    }
    let found = rows.schema_ref();
    let same = Arc::ptr_eq(found, columns)
        || found.fields().len() == columns.fields().len()
            && found.fields().iter().zip(columns.fields()).all(|(left, right)| left.data_type() == right.data_type());
    if !same {
        return broken(format!("it found rows of {found:?}, where it had told {columns:?}"));
    }
    Ok(())
}

/// The rows by key; those of one key keep their order.
fn in_order(rows: &RecordBatch, key_of_row: &[u32]) -> Result<(RecordBatch, Vec<u32>)> {
    let mut order: Vec<u32> = (0..key_of_row.len() as u32).collect();
    order.sort_by_key(|row| key_of_row[*row as usize]);
    let keys = order.iter().map(|row| key_of_row[*row as usize]).collect();
    Ok((take_record_batch(rows, &UInt32Array::from(order))?, keys))
}
