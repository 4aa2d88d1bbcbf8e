//! Where the reading side puts its parcels: into a channel to its own writer, or into the lanes that all readers feed.

use std::time::Duration;

use super::{Parcel, cancelled};
use crate::channel::{Capacity, Sender, Size};
use crate::error::Failure;
use crate::lanes::{Feeder, Refused};

/// Where parcels go.
pub(super) enum Outlet<'a> {
    Channel(Sender<Parcel>),
    Lanes {
        feeder: Feeder<'a>,
        /// What a batch may have at most.
        capacity: Capacity,
        /// Records that were put in.
        handed_on: u64,
    },
}

impl Outlet<'_> {
    /// What a batch may have at most.
    pub(super) fn capacity(&self) -> Capacity {
        match self {
            Outlet::Channel(sender) => sender.capacity(),
            Outlet::Lanes { capacity, .. } => *capacity,
        }
    }

    /// Puts a parcel in as soon as there is room; `before_wait` runs before each wait.
    ///
    /// # Errors
    /// When nobody will take it: whoever gave up has said why. Or when the lanes cannot do anything with it.
    pub(super) fn send(
        &mut self,
        parcel: Parcel,
        size: Size,
        mut before_wait: impl FnMut(),
    ) -> Result<Duration, Failure> {
        match self {
            Outlet::Channel(sender) => sender.send_giving_way(parcel, size, before_wait).map_err(|_| cancelled()),
            Outlet::Lanes { feeder, handed_on, .. } => match parcel {
                Parcel::Schema(schema) => match feeder.schema(&schema) {
                    Ok(()) => Ok(Duration::ZERO),
                    Err(error) => Err(Failure::of(&error, "the lanes of \"order\"")),
                },
                Parcel::Batch(batch) => match feeder.batch(batch, &mut before_wait) {
                    Ok(waited) => {
                        *handed_on += size.records as u64;
                        Ok(waited)
                    }
                    Err(Refused::Closed) => Err(cancelled()),
                    Err(Refused::Wrong(error)) => Err(Failure::of(&error, "the lanes of \"order\"")),
                },
                Parcel::Mark(mark) => {
                    feeder.mark(mark);
                    Ok(Duration::ZERO)
                }
                Parcel::Source(_) => Ok(Duration::ZERO),
            },
        }
    }

    /// All was sent.
    pub(super) fn end(self) -> u64 {
        match self {
            Outlet::Channel(sender) => {
                sender.end();
                0
            }
            Outlet::Lanes { handed_on, .. } => handed_on,
        }
    }

    /// Nothing more will come. Lanes learn of it with the job: one reader's failure is that of all.
    pub(super) fn fail(self, reason: String) -> u64 {
        match self {
            Outlet::Channel(sender) => {
                sender.fail(reason);
                0
            }
            Outlet::Lanes { handed_on, .. } => handed_on,
        }
    }
}
