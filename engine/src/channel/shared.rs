//! What both ends of a channel share, and what each of them does to it under the one lock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::budget::{Answer, Granted, Share};
use super::{Capacity, RecvError, Refusal, SendError, Size, Stage};
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};

/// A channel: both ends and every [`Control`](super::Control) hold it.
pub(super) struct Shared<T> {
    pub(super) capacity: Capacity,
    state: Mutex<State<T>>,
    /// The sender waits here for room.
    room: Condvar,
    /// The receiver waits here for an item or the end.
    news: Condvar,
    share: Option<Share>,
}

pub(super) struct State<T> {
    pub(super) queue: VecDeque<(T, Size)>,
    /// The sum of the sizes in the queue, each as [`Size::charged`].
    pub(super) held: Size,
    pub(super) stage: Stage,
    /// Reset by whoever wakes the sender, so that nobody wakes it twice.
    pub(super) sender_waits: Option<Need>,
    /// Reset by whoever wakes the receiver.
    pub(super) receiver_waits: bool,
}

/// What a sender waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Need {
    /// Room in the channel for an item of this size.
    Room(Size),
    /// Bytes of the shared budget; the channel itself has room.
    Bytes,
}

impl<T> State<T> {
    /// An item larger than the channel goes to a receiver that waits for it: while that still works on the last one, two of them would
    /// be in memory beside the one at hand.
    fn has_room(&self, capacity: Capacity, size: Size) -> bool {
        match capacity.fits(size) {
            true => self.queue.is_empty() || self.held.checked_add(size).is_some_and(|sum| capacity.fits(sum)),
            false => self.queue.is_empty() && self.receiver_waits,
        }
    }

    fn push(&mut self, item: T, size: Size) {
        self.held = self.held.checked_add(size).expect("an item is pushed only where it has room");
        self.queue.push_back((item, size));
    }

    fn pop(&mut self) -> Option<(T, Size)> {
        let (item, size) = self.queue.pop_front()?;
        self.held.records -= size.records;
        self.held.bytes -= size.bytes;
        Some((item, size))
    }

    /// The need of the waiting sender, if what it waits for is there now. It counts as woken from here on.
    fn sender_to_wake(&mut self, capacity: Capacity) -> Option<Need> {
        let met = match self.sender_waits? {
            Need::Room(size) => self.has_room(capacity, size),
            Need::Bytes => self.queue.is_empty(),
        };
        if met { self.sender_waits.take() } else { None }
    }

    /// What holds whenever nobody has the lock.
    #[cfg(test)]
    fn check(&self, capacity: Capacity) {
        let records: usize = self.queue.iter().map(|(_, size)| size.records).sum();
        let bytes: usize = self.queue.iter().map(|(_, size)| size.bytes).sum();
        assert_eq!(self.held, Size { records, bytes }, "the sums are those of the queued items");
        assert!(capacity.fits(self.held) || self.queue.len() == 1, "only a single item may exceed the capacity");
        let may_hold = matches!(self.stage, Stage::Open | Stage::Ended);
        assert!(may_hold || self.queue.is_empty(), "after its end a channel holds nothing");
    }
}

impl<T> Shared<T> {
    pub(super) fn new(capacity: Capacity, share: Option<Share>) -> Shared<T> {
        let state = State {
            queue: VecDeque::new(),
            held: Size::default(),
            stage: Stage::Open,
            sender_waits: None,
            receiver_waits: false,
        };
        Shared { capacity, state: Mutex::new(state), room: Condvar::new(), news: Condvar::new(), share }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<T>> {
        let state = lock(&self.state);
        #[cfg(test)]
        state.check(self.capacity);
        state
    }

    /// Waits until an item of this size may enter. `before_wait` runs before each wait, under the lock.
    fn admit(
        &self,
        size: Size,
        before_wait: &mut dyn FnMut(),
    ) -> Result<(MutexGuard<'_, State<T>>, Duration), Refusal> {
        let mut waiting = None;
        let mut state = self.lock();
        loop {
            if let Some(refusal) = state.stage.refusal() {
                return Err(refusal);
            }
            if !state.has_room(self.capacity, size) {
                before_wait();
                waiting.get_or_insert_with(Instant::now);
                state.sender_waits = Some(Need::Room(size));
                state = wait(&self.room, state);
                state.sender_waits = None;
                continue;
            }
            let Some(share) = &self.share else { break };
            if state.queue.is_empty() {
                share.take_anyway(size.bytes);
                break;
            }
            if share.take_or_list(size.bytes) {
                break;
            }
            before_wait();
            waiting.get_or_insert_with(Instant::now);
            state.sender_waits = Some(Need::Bytes);
            drop(state);
            let answer = share.wait();
            state = self.lock();
            state.sender_waits = None;
            if answer == Answer::Granted {
                // The room that was there is still there: only this sender fills it.
                let Some(refusal) = state.stage.refusal() else { break };
                let granted = share.give_back(size.bytes);
                drop(state);
                granted.wake();
                return Err(refusal);
            }
        }
        Ok((state, elapsed(waiting)))
    }

    pub(super) fn send(&self, item: T, size: Size, before_wait: &mut dyn FnMut()) -> Result<Duration, SendError<T>> {
        let size = size.charged();
        let (mut state, waited) = match self.admit(size, before_wait) {
            Ok(admitted) => admitted,
            Err(refusal) => return Err(SendError { item, refusal }),
        };
        state.push(item, size);
        let wake = std::mem::take(&mut state.receiver_waits);
        drop(state);
        if wake {
            self.news.notify_one();
        }
        Ok(waited)
    }

    pub(super) fn recv(&self) -> Result<(Option<T>, Duration), RecvError> {
        let mut waiting = None;
        let mut state = self.lock();
        loop {
            if let Some((item, size)) = state.pop() {
                let granted = self.give_back(size.bytes);
                let need = state.sender_to_wake(self.capacity);
                drop(state);
                granted.wake();
                self.wake_sender(need);
                return Ok((Some(item), elapsed(waiting)));
            }
            match &state.stage {
                Stage::Open => {
                    waiting.get_or_insert_with(Instant::now);
                    state.receiver_waits = true;
                    let need = state.sender_to_wake(self.capacity);
                    self.wake_sender(need);
                    state = wait(&self.news, state);
                    state.receiver_waits = false;
                }
                Stage::Ended | Stage::Finished => {
                    state.stage = Stage::Finished;
                    return Ok((None, elapsed(waiting)));
                }
                Stage::Failed(reason) => return Err(RecvError::Failed(reason.clone())),
                Stage::Cancelled => return Err(RecvError::Cancelled),
                Stage::Gone => unreachable!("only dropping the receiver makes it gone"),
            }
        }
    }

    /// Lets the receiver drain what is queued and then learn of the end.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        if !state.stage.yields_to(&Stage::Ended) {
            return;
        }
        state.stage = Stage::Ended;
        let wake = std::mem::take(&mut state.receiver_waits);
        drop(state);
        if wake {
            self.news.notify_all();
        }
    }

    /// Ends the channel at once, unless it has come to an end before: drops what is queued and wakes everybody.
    pub(super) fn close(&self, stage: Stage) {
        let mut state = self.lock();
        if !state.stage.yields_to(&stage) {
            return;
        }
        state.stage = stage;
        let granted = self.give_back(std::mem::take(&mut state.held).bytes);
        let dropped = std::mem::take(&mut state.queue);
        let need = state.sender_waits.take();
        let wake_receiver = std::mem::take(&mut state.receiver_waits);
        drop(state);
        if wake_receiver {
            self.news.notify_all();
        }
        self.wake_sender(need);
        granted.wake();
        // Last and unlocked: an item may belong to a plugin, and freeing it runs the plugin's code.
        drop(dropped);
    }

    fn give_back(&self, bytes: usize) -> Granted {
        self.share.as_ref().map_or_else(Granted::default, |share| share.give_back(bytes))
    }

    fn wake_sender(&self, need: Option<Need>) {
        match (need, &self.share) {
            (Some(Need::Room(_)), _) => self.room.notify_one(),
            (Some(Need::Bytes), Some(share)) => share.look_again(),
            (Some(Need::Bytes), None) | (None, _) => {}
        }
    }
}

impl Stage {
    /// Whether the channel may pass from this stage to that one.
    fn yields_to(&self, next: &Stage) -> bool {
        match self {
            Stage::Open => true,
            Stage::Ended => matches!(next, Stage::Finished | Stage::Cancelled | Stage::Gone),
            Stage::Finished | Stage::Failed(_) | Stage::Cancelled | Stage::Gone => false,
        }
    }

    fn refusal(&self) -> Option<Refusal> {
        match self {
            Stage::Open => None,
            Stage::Gone => Some(Refusal::Gone),
            Stage::Cancelled => Some(Refusal::Cancelled),
            Stage::Ended | Stage::Finished | Stage::Failed(_) => unreachable!("ending consumes the sender"),
        }
    }
}

impl Size {
    /// What an item of this size counts against the capacity: at least one record.
    fn charged(self) -> Size {
        Size { records: self.records.max(1), bytes: self.bytes }
    }

    fn checked_add(self, other: Size) -> Option<Size> {
        Some(Size { records: self.records.checked_add(other.records)?, bytes: self.bytes.checked_add(other.bytes)? })
    }
}

/// How long a wait has taken. The clock is read only by those who wait.
fn elapsed(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| since.elapsed())
}
