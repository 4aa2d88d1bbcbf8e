//! The epochs of an attempt. An epoch ends with a mark among the records; once the writer has made safe what came before it, that is
//! not read again, whatever becomes of the attempt.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use transship_plugin_api::Report;

use super::Counts;

/// What both sides of an attempt know of its epochs.
#[derive(Default)]
pub(super) struct Epochs(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of the last mark.
    last: u64,
    /// Marks on their way to the writer.
    under_way: VecDeque<Epoch>,
    safe: Option<Safe>,
    /// Whether the source was told of what is safe.
    is_acknowledged: bool,
}

struct Epoch {
    number: u64,
    /// Where the source can go on behind it, if it says so.
    position: Option<Value>,
    /// What was read up to it.
    counts: Counts,
    share: f64,
}

/// What is at the target for good.
#[derive(Debug, Clone)]
pub(super) struct Safe {
    /// Where the source can go on, if it says so.
    pub(super) position: Option<Value>,
    /// The records up to there.
    pub(super) counts: Counts,
    /// How much of the split that is, from 0 to 1.
    pub(super) share: f64,
}

impl Epochs {
    /// A mark is sent, behind which the source can go on here, with so much of the split read; gives its number.
    pub(super) fn end(&self, position: Option<Value>, counts: Counts, share: f64) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.under_way.push_back(Epoch { number, position, counts, share });
        number
    }

    /// The writer has made safe what came before a mark: so much in all its epochs so far, of which so many records were dirty.
    pub(super) fn make_safe(&self, number: u64, written: &Report, dirty: u64) {
        let mut state = self.state();
        while let Some(epoch) = state.under_way.pop_front() {
            if epoch.number == number {
                let mut counts = epoch.counts;
                counts.written = written.written;
                counts.written_bytes = written.bytes;
                counts.duplicates += written.duplicates;
                counts.dirty_at_writer = dirty;
                state.safe = Some(Safe { position: epoch.position, counts, share: epoch.share });
                state.is_acknowledged = false;
                return;
            }
        }
    }

    /// Nobody will make safe what came before a mark.
    pub(super) fn forget(&self, number: u64) {
        self.state().under_way.retain(|epoch| epoch.number > number);
    }

    /// A position that the source may be told is safe, once each.
    pub(super) fn to_acknowledge(&self) -> Option<Value> {
        let mut state = self.state();
        if std::mem::replace(&mut state.is_acknowledged, true) {
            return None;
        }
        state.safe.as_ref().and_then(|safe| safe.position.clone())
    }

    pub(super) fn into_safe(self) -> Option<Safe> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).safe
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
