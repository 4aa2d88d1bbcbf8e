//! The order in which entries may leave, and the marks between them. Pure.
//!
//! Every entry and every mark takes a place. In order, only the first can leave, once it is done. In any order, marks cut the queue
//! into segments: done entries of the first one leave, and the mark behind it when it is empty. So nothing passes a mark.

use std::collections::VecDeque;

/// Entries, known to others by an id, and marks.
pub struct Queue<T, M> {
    places: Places<T, M>,
    len: usize,
}

enum Places<T, M> {
    Line {
        slots: VecDeque<Slot<T, M>>,
        /// The number of the first slot.
        first: u64,
    },
    Segments {
        segments: VecDeque<Segment<T, M>>,
        /// The number of the first segment.
        first: u64,
    },
}

struct Slot<T, M> {
    item: Item<T, M>,
    done: bool,
}

struct Segment<T, M> {
    /// Entries that are not done.
    open: usize,
    /// Entries that are, in the order in which they became so.
    done: VecDeque<T>,
    /// What ends it; `None`: more may come.
    mark: Option<M>,
}

/// What leaves a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<T, M> {
    Entry(T),
    Mark(M),
}

impl<T: Copy, M> Queue<T, M> {
    /// Entries leave in the order in which they came.
    pub fn in_order() -> Queue<T, M> {
        Queue { places: Places::Line { slots: VecDeque::new(), first: 0 }, len: 0 }
    }

    /// Entries leave in the order in which they are done, none past a mark.
    pub fn in_any_order() -> Queue<T, M> {
        Queue { places: Places::Segments { segments: VecDeque::from([Segment::empty()]), first: 0 }, len: 0 }
    }

    /// How many entries and marks it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts an entry behind all others; its place is needed when it is done.
    pub fn put(&mut self, id: T) -> u64 {
        self.len += 1;
        match &mut self.places {
            Places::Line { slots, first } => {
                slots.push_back(Slot { item: Item::Entry(id), done: false });
                *first + slots.len() as u64 - 1
            }
            Places::Segments { segments, first } => {
                if let Some(last) = segments.back_mut() {
                    last.open += 1;
                }
                *first + segments.len() as u64 - 1
            }
        }
    }

    /// Puts a mark behind all entries.
    pub fn put_mark(&mut self, mark: M) {
        self.len += 1;
        match &mut self.places {
            Places::Line { slots, .. } => slots.push_back(Slot { item: Item::Mark(mark), done: true }),
            Places::Segments { segments, .. } => {
                if let Some(last) = segments.back_mut() {
                    last.mark = Some(mark);
                }
                segments.push_back(Segment::empty());
            }
        }
    }

    /// An entry is done, and may leave when its turn comes.
    pub fn done(&mut self, place: u64, id: T) {
        match &mut self.places {
            Places::Line { slots, first } => {
                if let Some(slot) = slots.get_mut((place - *first) as usize) {
                    slot.done = true;
                }
            }
            Places::Segments { segments, first } => {
                if let Some(segment) = segments.get_mut((place - *first) as usize) {
                    segment.open -= 1;
                    segment.done.push_back(id);
                }
            }
        }
    }

    /// What may leave next, and does.
    pub fn pop(&mut self) -> Option<Item<T, M>> {
        let item = match &mut self.places {
            Places::Line { slots, first } => {
                if !slots.front()?.done {
                    return None;
                }
                *first += 1;
                slots.pop_front()?.item
            }
            Places::Segments { segments, first } => {
                let segment = segments.front_mut()?;
                if let Some(id) = segment.done.pop_front() {
                    Item::Entry(id)
                } else if segment.open > 0 {
                    return None;
                } else {
                    let mark = segment.mark.take()?;
                    *first += 1;
                    segments.pop_front();
                    Item::Mark(mark)
                }
            }
        };
        self.len -= 1;
        Some(item)
    }
}

impl<T, M> Segment<T, M> {
    fn empty() -> Segment<T, M> {
        Segment { open: 0, done: VecDeque::new(), mark: None }
    }
}
