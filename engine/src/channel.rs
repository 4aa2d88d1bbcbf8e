//! The bounded channel between the reader thread and the writer thread of a task: one sender, one receiver, first in, first
//! out, limited in records and in bytes. Not here: cutting batches to fit, and recording how long anybody waited.
//!
//! - One mutex holds the whole state; the sender waits on one condition, the receiver on the other. Whoever changes what
//!   the other waits for wakes it, after unlocking, and only if it is known to wait. No wait has a time limit, so a lost
//!   wake-up would be a hang and not a delay: `channel/loom.rs` shows that there is none.
//! - The end is state, not an item. [`Sender::end`] lets the receiver drain what is queued. A sender that fails or vanishes,
//!   a receiver that is dropped, and [`Control::cancel`] end the channel at once: what is queued is dropped and everybody
//!   woken. Of several such ends the first counts. Cancelling counts also after `end`, until the receiver has been told.
//! - An item larger than the channel travels alone: it enters when the channel is empty and the receiver waits, and nothing enters
//!   beside it.
//!   An item without records, such as a mark, takes the place of one record, so that a flood of marks is bounded too.
//! - Several channels may share a [`Budget`] of bytes.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::sync::Arc;

mod budget;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
mod shared;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;

pub use budget::Budget;
use budget::Share;
use shared::Shared;

/// How much a channel holds at most; an item that is larger by itself travels alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// In records.
    pub records: NonZeroUsize,
    /// In bytes.
    pub bytes: NonZeroUsize,
}

/// How much room an item takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// How many records it has: none for a mark.
    pub records: usize,
    /// How many bytes it keeps in memory.
    pub bytes: usize,
}

/// The end that puts items in. Dropping it without [`end`](Sender::end) tells the receiver that the reader vanished.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// The end that takes items out. Dropping it before the end came sends the sender away.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

/// Watches a channel, and can end it, from any thread.
pub struct Control<T> {
    shared: Arc<Shared<T>>,
}

/// An item that was not accepted, returned to its owner.
#[derive(thiserror::Error)]
#[error("{refusal}")]
pub struct SendError<T> {
    /// The item.
    pub item: T,
    /// Why it was not accepted.
    pub refusal: Refusal,
}

/// Why a channel accepts nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The receiver was dropped before the end came.
    #[error("the writer takes no more records")]
    Gone,
    /// Somebody cancelled the channel.
    #[error("cancelled")]
    Cancelled,
}

/// Why nothing more will come although the end did not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecvError {
    /// The sender gave up, for this reason.
    #[error("{0}")]
    Failed(String),
    /// Somebody cancelled the channel.
    #[error("cancelled")]
    Cancelled,
}

/// How far a channel has come in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// More may come.
    Open,
    /// All was sent; the receiver has not been told yet.
    Ended,
    /// All was sent, and the receiver has taken all and been told so. The only good end.
    Finished,
    /// The sender gave up or vanished.
    Failed(String),
    /// Somebody cancelled it.
    Cancelled,
    /// The receiver was dropped before it was told of the end.
    Gone,
}

/// A channel of its own.
pub fn bounded<T>(capacity: Capacity) -> (Sender<T>, Receiver<T>) {
    open(capacity, None)
}

/// A channel that shares a budget of bytes with others.
pub fn bounded_within<T>(capacity: Capacity, budget: &std::sync::Arc<Budget>) -> (Sender<T>, Receiver<T>) {
    open(capacity, Some(Share::of(budget)))
}

fn open<T>(capacity: Capacity, share: Option<Share>) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared::new(capacity, share));
    (Sender { shared: shared.clone() }, Receiver { shared })
}

impl Capacity {
    /// Whether an item of this size fits in beside others.
    pub fn fits(self, size: Size) -> bool {
        size.records <= self.records.get() && size.bytes <= self.bytes.get()
    }
}

impl<T> Sender<T> {
    /// Puts an item in, once there is room, and tells how long that took to come.
    ///
    /// # Errors
    /// When nobody will take it. The item comes back, and so will every further one.
    pub fn send(&mut self, item: T, size: Size) -> Result<Duration, SendError<T>> {
        self.send_giving_way(item, size, || ())
    }

    /// The same for a sender who holds something that others wait for: `before_wait` gives it back, and runs before each
    /// wait and not otherwise. It must not touch this channel.
    ///
    /// # Errors
    /// As [`send`](Sender::send).
    pub fn send_giving_way(
        &mut self,
        item: T,
        size: Size,
        mut before_wait: impl FnMut(),
    ) -> Result<Duration, SendError<T>> {
        self.shared.send(item, size, &mut before_wait)
    }

    /// Says that all was sent. The receiver takes what is queued, then learns of the end.
    pub fn end(self) {
        self.shared.end();
    }

    /// Gives up: the receiver learns the reason at once, and what is queued is dropped.
    pub fn fail(self, reason: impl Into<String>) {
        self.shared.close(Stage::Failed(reason.into()));
    }

    /// How much the channel holds at most: cut to this, and nothing has to travel alone.
    pub fn capacity(&self) -> Capacity {
        self.shared.capacity
    }

    /// A handle for other threads.
    pub fn control(&self) -> Control<T> {
        Control { shared: self.shared.clone() }
    }
}

impl<T> Receiver<T> {
    /// Takes the next item, once there is one, and tells how long that took to come. `None` is the end, and is the answer to
    /// every further call.
    ///
    /// # Errors
    /// When the sender gave up or vanished, or somebody cancelled the channel.
    pub fn recv(&mut self) -> Result<(Option<T>, Duration), RecvError> {
        self.shared.recv()
    }

    /// Whether the next [`recv`](Receiver::recv) would wait: the moment for a writer to flush what it has.
    pub fn has_run_dry(&self) -> bool {
        let state = self.shared.lock();
        state.queue.is_empty() && state.stage == Stage::Open
    }

    /// A handle for other threads.
    pub fn control(&self) -> Control<T> {
        Control { shared: self.shared.clone() }
    }
}

impl<T> Control<T> {
    /// Ends the channel at once, unless it has come to an end before.
    pub fn cancel(&self) {
        self.shared.close(Stage::Cancelled);
    }

    /// How far the channel has come.
    pub fn stage(&self) -> Stage {
        self.shared.lock().stage.clone()
    }

    /// How much is queued now. An item without records counts as one.
    pub fn queued(&self) -> Size {
        self.shared.lock().held
    }

    /// How many senders wait and have not been woken: none or one.
    pub fn waiting_senders(&self) -> usize {
        usize::from(self.shared.lock().sender_waits.is_some())
    }

    /// How many receivers wait and have not been woken: none or one.
    pub fn waiting_receivers(&self) -> usize {
        usize::from(self.shared.lock().receiver_waits)
    }
}

impl<T> Clone for Control<T> {
    fn clone(&self) -> Control<T> {
        Control { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // Without effect after `end` or `fail`.
        self.shared.close(Stage::Failed("reader vanished".into()));
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // Without effect after the receiver was told of an end.
        self.shared.close(Stage::Gone);
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}
