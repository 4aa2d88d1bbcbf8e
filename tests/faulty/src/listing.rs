//! A part of the reader's splits, listed by itself.

use transship_plugin_api::{HostRef, Listing, Result, Split, SplitRequest};

use crate::reader::Config;

/// As many splits as the reader would have without listings, behind those of the listings before it.
pub(crate) struct FaultyListing {
    config: Config,
    host: HostRef,
    number: u64,
    /// How many splits it has told of.
    told: u64,
}

impl FaultyListing {
    pub(crate) fn new(config: Config, host: HostRef, number: u64) -> FaultyListing {
        FaultyListing { config, host, number, told: 0 }
    }

    fn step(&self, call: &str) -> Result<()> {
        self.config.journal.note(format!("reader {call} {}", self.number));
        self.config.faults.at_record(call, self.host.as_ref(), self.told, Some(self.number))
    }
}

impl Listing for FaultyListing {
    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        self.step("list")?;
        let until_fault = self.config.faults.records_until("list", self.told, Some(self.number));
        let some = until_fault.min(u64::from(request.max)).min(self.config.splits - self.told);
        let first = self.number * self.config.splits + self.told;
        self.told += some;
        Ok((first..first + some).map(|number| self.config.split(number)).collect())
    }
}

impl Drop for FaultyListing {
    fn drop(&mut self) {
        let _ = self.step("list_release");
    }
}
