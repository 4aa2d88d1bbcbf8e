//! The key scheduler: entries of one key are worked on one after another, those of different keys by many lanes at once.
//!
//! Readers put entries in; an idle lane takes ready keys, the oldest first, and holds them until it has done with all it took. So a
//! key is never in two hands, and none of its entries overtakes another. No lane is idle while a key is ready.
//!
//! - The queue is bounded: who puts in waits until there is room. No wait has a time limit; `keys/loom.rs` shows that no wake-up is
//!   lost.
//! - A mark divides eras: no entry behind it is taken before all entries before it are done, and each lane has been told of it.
//! - The end is state: a lane learns of it once everything is done, by all lanes.
//!
//! Not here: what an entry is, and what a lane does with it (`lanes`).

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use transship_plugin_api::Mark;

use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};

mod identity;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
mod queue;
mod rows;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;

pub use identity::Hasher;
pub use queue::{Gauge, Hand, Queue, Taken, Want};
pub use rows::{KeyExtractor, KeyRows};

/// What an entry is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// The bytes of its values.
    Bytes(&'a [u8]),
    /// A number, and its bytes.
    Number(i128, &'a [u8]),
    /// All that have no value are one key.
    Null,
    /// It is ordered by nothing: no other entry has its key.
    Alone,
}

/// Which lane gets a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// Any that is idle.
    Free,
    /// That of the remainder by so many lanes. For comparison: one lane gets more to do than another.
    Modulo(NonZeroUsize),
    /// That of a hash, by so many lanes. For comparison.
    Hash(NonZeroUsize),
}

/// Nothing more is taken or given: somebody gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// What a lane has to do next.
pub enum Turn<T> {
    /// Work on these, then give them back.
    Work(Hand<T>),
    /// All lanes have done what came before this mark.
    Mark(Mark),
    /// All is done.
    End,
}

/// Puts entries of many readers in order for many lanes.
pub struct KeyScheduler<T> {
    state: Mutex<State<T>>,
    /// Readers wait here for room.
    room: Condvar,
    /// Lanes wait here for keys, a mark or the end.
    news: Condvar,
    /// Entries that may wait.
    capacity: usize,
    is_free: bool,
    hasher: Hasher,
}

struct State<T> {
    queue: Queue<T>,
    stage: Stage,
    /// Lanes that wait.
    idle: usize,
    /// Whether one of them was woken and has not come yet. It wakes the next one if there is something for that: so no more are woken
    /// than find something to do, and none has to wait for the others' sake.
    is_called: bool,
    /// Readers that wait for room.
    crowded: usize,
    /// The eras that are not done, the oldest first.
    eras: VecDeque<Era>,
    /// The number of the oldest.
    oldest_era: u32,
    /// For each lane, the marks that it has not been told of yet.
    news: Vec<VecDeque<Mark>>,
}

#[derive(Default)]
struct Era {
    /// Entries that are not done.
    left: usize,
    /// What ends it; `None`: more may come.
    mark: Option<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    Ended,
    Closed,
}

/// Entries that are put in under one lock: more would keep lanes waiting, and with less they would get very little at once.
const AT_ONCE: usize = 8192;

impl<T> KeyScheduler<T> {
    /// For so many lanes; so many entries may wait.
    pub fn new(lanes: NonZeroUsize, dispatch: Dispatch, capacity: NonZeroUsize) -> KeyScheduler<T> {
        let queue = Queue::new(dispatch);
        let hasher = queue.hasher().clone();
        let state = State {
            queue,
            stage: Stage::Open,
            idle: 0,
            is_called: false,
            crowded: 0,
            eras: VecDeque::from([Era::default()]),
            oldest_era: 0,
            news: (0..lanes.get()).map(|_| VecDeque::new()).collect(),
        };
        KeyScheduler {
            state: Mutex::new(state),
            room: Condvar::new(),
            news: Condvar::new(),
            capacity: capacity.get(),
            is_free: dispatch == Dispatch::Free,
            hasher,
        }
    }

    /// Puts so many entries in, in order, each as soon as there is room for it, and tells how long that took to come. `key` and `value`
    /// say what each is; `before_wait` runs before each wait, under the lock: who holds something that others wait for gives it back
    /// there.
    ///
    /// # Errors
    /// When somebody gave up.
    pub fn enter<'k>(
        &self,
        count: usize,
        key: impl Fn(usize) -> Key<'k>,
        value: impl Fn(usize) -> T,
        group: u32,
        now: impl Fn() -> Duration,
        before_wait: &mut dyn FnMut(),
    ) -> Result<Duration, Closed> {
        // Under the lock there is enough to do.
        let hashes: Vec<u64> = (0..count).map(|index| self.hasher.hash(key(index))).collect();
        let mut waited = Duration::ZERO;
        let mut next = 0;
        while next < count {
            let (mut state, time) = self.room_for(AT_ONCE.min(count - next), before_wait)?;
            waited += time;
            let room = self.capacity - state.queue.waiting();
            let now = now();
            let end = count.min(next + room.min(AT_ONCE));
            let era = state.current_era();
            for (index, hash) in (next..end).zip(&hashes[next..end]) {
                state.queue.enter_hashed(key(index), *hash, value(index), group, era, now);
            }
            let entered = end - next;
            if let Some(era) = state.eras.back_mut() {
                era.left += entered;
            }
            next = end;
            self.wake_for_news(state);
        }
        Ok(waited)
    }

    /// A mark behind all that was put in.
    pub fn mark(&self, mark: Mark) {
        let mut state = lock(&self.state);
        let is_of_its_kind = |other: &Mark| std::mem::discriminant(other) == std::mem::discriminant(&mark);
        match &mut state.eras.make_contiguous()[..] {
            // Nothing came since the last one: it stands for both, or a source of marks alone would need more and more memory.
            [.., Era { mark: Some(last), .. }, Era { left: 0, .. }] if is_of_its_kind(last) => *last = mark,
            [.., era] => {
                era.mark = Some(mark);
                state.eras.push_back(Era::default());
            }
            [] => {}
        }
        state.end_eras();
        drop(state);
        self.news.notify_all();
    }

    /// What the lane has to do next; it waits for that. `done`, if it has worked, is what it took before.
    ///
    /// # Errors
    /// When somebody gave up.
    pub fn next(
        &self,
        lane: usize,
        entries: usize,
        done: Option<Hand<T>>,
        now: impl Fn() -> Duration,
    ) -> Result<(Turn<T>, Duration), Closed> {
        let mut waiting = None;
        let mut state = lock(&self.state);
        if let Some(hand) = done {
            state.take_back(hand, now());
            // What all others wait for may have come by this: a mark, the end.
            if state.idle > 0 && (state.is_over() || !state.news[lane].is_empty()) {
                self.news.notify_all();
            }
        }
        loop {
            if state.stage == Stage::Closed {
                return Err(Closed);
            }
            if let Some(mark) = state.news[lane].pop_front() {
                self.wake_others(state, lane);
                return Ok((Turn::Mark(mark), elapsed(waiting)));
            }
            let (keys, era) = (state.queue.share(lane, state.news.len()), state.oldest_era);
            if let Some(hand) = state.queue.take(lane, Want { keys, entries }, era) {
                self.wake_others(state, lane);
                return Ok((Turn::Work(hand), elapsed(waiting)));
            }
            if state.is_over() {
                return Ok((Turn::End, elapsed(waiting)));
            }
            waiting.get_or_insert_with(Instant::now);
            state.idle += 1;
            state = wait(&self.news, state);
            state.idle -= 1;
            state.is_called = false;
        }
    }

    /// No more entries will come.
    pub fn end(&self) {
        let mut state = lock(&self.state);
        if state.stage == Stage::Open {
            state.stage = Stage::Ended;
        }
        drop(state);
        self.news.notify_all();
    }

    /// Gives up: everybody who waits, or comes, is told so.
    pub fn close(&self) {
        lock(&self.state).stage = Stage::Closed;
        self.news.notify_all();
        self.room.notify_all();
    }

    /// What waits.
    pub fn gauge(&self) -> Gauge {
        lock(&self.state).queue.gauge()
    }

    /// Waits until some of so many entries have room: not for the first free place, or each entry would wake its reader.
    fn room_for(
        &self,
        entries: usize,
        before_wait: &mut dyn FnMut(),
    ) -> Result<(MutexGuard<'_, State<T>>, Duration), Closed> {
        let some = entries.min(self.capacity.div_ceil(4));
        let mut waiting = None;
        let mut state = lock(&self.state);
        loop {
            if state.stage == Stage::Closed {
                return Err(Closed);
            }
            let room = self.capacity - state.queue.waiting();
            if room >= some || (waiting.is_none() && room > 0) {
                return Ok((state, elapsed(waiting)));
            }
            before_wait();
            waiting.get_or_insert_with(Instant::now);
            state.crowded += 1;
            state = wait(&self.room, state);
            state.crowded -= 1;
        }
    }

    /// Entries have come.
    fn wake_for_news(&self, mut state: MutexGuard<'_, State<T>>) {
        if self.is_free {
            let calls = state.calls_one();
            drop(state);
            if calls {
                self.news.notify_one();
            }
        } else if state.idle > 0 {
            // With lines of their own, the one that is woken might be another than the one that has work.
            drop(state);
            self.news.notify_all();
        }
    }

    /// A lane goes to its work: another one for the keys that it leaves, readers for the room that it makes.
    fn wake_others(&self, mut state: MutexGuard<'_, State<T>>, lane: usize) {
        let calls = self.is_free && state.queue.ready(lane) > 0 && state.calls_one();
        let is_crowded = state.crowded > 0 && state.queue.waiting() <= self.capacity - self.capacity.div_ceil(4);
        drop(state);
        if calls {
            self.news.notify_one();
        }
        if is_crowded {
            self.room.notify_all();
        }
    }
}

impl<T> State<T> {
    /// Whether an idle lane has to be woken now. If one is on its way already, it will see to the others.
    fn calls_one(&mut self) -> bool {
        self.idle > 0 && !std::mem::replace(&mut self.is_called, true)
    }

    fn current_era(&self) -> u32 {
        self.oldest_era + (self.eras.len() as u32 - 1)
    }

    fn take_back(&mut self, hand: Hand<T>, now: Duration) {
        // All of a hand came in one era.
        let (era, entries) = (hand.entries.first().map_or(0, |first| first.era), hand.entries.len());
        self.queue.give_back(hand, now);
        self.eras[(era - self.oldest_era) as usize].left -= entries;
        self.end_eras();
    }

    /// Ends the eras of which everything is done, and has each lane told of the marks behind them.
    fn end_eras(&mut self) {
        while let Some(Era { left: 0, mark: Some(mark) }) = self.eras.front() {
            for news in &mut self.news {
                news.push_back(*mark);
            }
            self.eras.pop_front();
            self.oldest_era += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.stage == Stage::Ended && self.queue.is_idle()
    }
}

fn elapsed(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| since.elapsed())
}
