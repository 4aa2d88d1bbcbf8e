//! The channels of the tasks that are open, as somebody sees them who wants to know how full they are.

use std::sync::{Mutex, MutexGuard, PoisonError};

use slab::Slab;

use super::Parcel;
use crate::channel::{Capacity, Control, Size};

/// The channels of a job.
#[derive(Default)]
pub struct Queues(Mutex<Slab<(Control<Parcel>, Capacity)>>);

/// A channel among them, until this is dropped.
pub(super) struct Queue<'a> {
    queues: &'a Queues,
    number: usize,
}

impl Queues {
    pub(super) fn add(&self, control: Control<Parcel>, capacity: Capacity) -> Queue<'_> {
        Queue { queues: self, number: self.lock().insert((control, capacity)) }
    }

    /// How full they are in the mean, in records or bytes, whichever is more: 0 is empty, 1 is full. `None`: there are none.
    pub fn fill(&self) -> Option<f64> {
        let all = self.lock();
        let fills = all.iter().map(|(_, (control, capacity))| {
            let queued = control.queued();
            let records = queued.records as f64 / capacity.records.get() as f64;
            records.max(queued.bytes as f64 / capacity.bytes.get() as f64)
        });
        (!all.is_empty()).then(|| fills.sum::<f64>() / all.len() as f64)
    }

    /// What is in all of them.
    pub fn queued(&self) -> Size {
        let all = self.lock();
        all.iter().map(|(_, (control, _))| control.queued()).fold(Size::default(), |sum, queued| Size {
            records: sum.records + queued.records,
            bytes: sum.bytes + queued.bytes,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Slab<(Control<Parcel>, Capacity)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        self.queues.lock().remove(self.number);
    }
}
