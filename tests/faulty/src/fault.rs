//! What shall go wrong, and making it go wrong.

use std::fs::OpenOptions;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use transship_plugin_api::{Error, Host, Kind, Params, Result};

use crate::wait::{self, Bell};

/// The faults of one object, by the call that they befall.
#[derive(Debug, Clone)]
pub(crate) struct Faults {
    list: Vec<Fault>,
    /// Rung when the object is cancelled.
    pub(crate) bell: Bell,
}

#[derive(Debug, Clone)]
struct Fault {
    at: String,
    /// Only once this many records have passed.
    after: u64,
    /// Only in the tasks of the split with this number.
    split: Option<u64>,
    how: How,
    message: String,
    retryable: Option<bool>,
    /// Only so many times in all attempts and processes; counted in the file.
    times: Option<(u64, PathBuf)>,
    /// A file that is made just before, so that others know.
    marker: Option<PathBuf>,
}

#[derive(Debug, Clone)]
enum How {
    Error(Kind),
    Panic,
    Hang,
    HangUntilCancelled,
    HangUntilInterrupted,
    /// Sees that it is cancelled, makes the file `MARKER.cancelled`, and hangs on.
    HangAfterCancelled,
    WaitForFile(PathBuf),
    /// It takes so long, and is done well.
    Delay(Duration),
    GoOn,
    GoOnWhenCancelled,
}

impl Faults {
    pub(crate) fn read(params: &Params<'_>) -> Result<Faults> {
        let list = params.objects("fail")?.iter().map(Fault::read).collect::<Result<_>>()?;
        Ok(Faults { list, bell: Bell::default() })
    }

    /// The same faults for a new task: it is cancelled by itself.
    pub(crate) fn for_task(&self) -> Faults {
        Faults { list: self.list.clone(), bell: Bell::default() }
    }

    /// Goes wrong here if it shall.
    pub(crate) fn at(&self, call: &str, host: &dyn Host) -> Result<()> {
        self.at_record(call, host, 0, None)
    }

    /// Goes wrong here, after so many records of this split, if it shall.
    pub(crate) fn at_record(&self, call: &str, host: &dyn Host, passed: u64, split: Option<u64>) -> Result<()> {
        self.list
            .iter()
            .filter(|fault| fault.is_due(call, passed, split))
            .try_for_each(|fault| fault.happen(host, &self.bell))
    }

    /// How many more records may pass before the next fault of this call.
    pub(crate) fn records_until(&self, call: &str, passed: u64, split: Option<u64>) -> u64 {
        let ahead = self.list.iter().filter(|fault| fault.befalls(call, split) && fault.after > passed);
        ahead.map(|fault| fault.after - passed).min().unwrap_or(u64::MAX)
    }
}

impl Fault {
    fn read(params: &Params<'_>) -> Result<Fault> {
        let path = |key: &str| -> Result<Option<PathBuf>> { Ok(params.text(key)?.map(PathBuf::from)) };
        let how = match params.required_text("how")?.as_str() {
            "panic" => How::Panic,
            "hang" => How::Hang,
            "hang_until_cancelled" => How::HangUntilCancelled,
            "hang_until_interrupted" => How::HangUntilInterrupted,
            "hang_after_cancelled" => How::HangAfterCancelled,
            "wait_for_file" => How::WaitForFile(params.required_text("file")?.into()),
            "delay" => How::Delay(Duration::from_millis(params.whole("millis")?.unwrap_or(1))),
            "go_on" => How::GoOn,
            "go_on_when_cancelled" => How::GoOnWhenCancelled,
            other => How::Error(other.strip_prefix("error:").and_then(kind).ok_or_else(|| {
                params.error("how", format_args!("is \"{other}\", which is no way to fail (error:io, panic, hang, …)"))
            })?),
        };
        let times = match (params.whole("times")?, path("counter")?) {
            (Some(times), Some(counter)) => Some((times, counter)),
            (None, None) => None,
            _ => return Err(params.error("times", "and counter belong together")),
        };
        Ok(Fault {
            at: params.required_text("at")?,
            after: params.whole("after")?.unwrap_or(0),
            split: params.whole("split")?,
            how,
            message: params.text("message")?.unwrap_or_else(|| "as it was told to".into()),
            retryable: params.truth("retryable")?,
            times,
            marker: path("marker")?,
        })
    }

    fn befalls(&self, call: &str, split: Option<u64>) -> bool {
        self.at == call && self.split.is_none_or(|wanted| split == Some(wanted))
    }

    fn is_due(&self, call: &str, passed: u64, split: Option<u64>) -> bool {
        self.befalls(call, split)
            && passed >= self.after
            && self.times.as_ref().is_none_or(|(times, counter)| count(counter) <= *times)
    }

    fn happen(&self, host: &dyn Host, bell: &Bell) -> Result<()> {
        self.mark("");
        // What it is about to wait for, if it is about to wait.
        host.doing(&self.message);
        match &self.how {
            How::Error(kind) => {
                let error = Error::new(*kind, format!("{} failed: {}", self.at, self.message));
                return Err(match self.retryable {
                    Some(retryable) => error.retryable(retryable),
                    None => error,
                });
            }
            How::Panic => panic!("{} panicked: {}", self.at, self.message),
            How::Hang => wait::for_ever(),
            How::HangUntilCancelled => wait::until_cancelled(host),
            How::HangUntilInterrupted => bell.wait(),
            How::HangAfterCancelled => {
                wait::until_cancelled(host);
                self.mark(".cancelled");
                wait::for_ever();
            }
            How::WaitForFile(path) if wait::until_file(path, host) => return Ok(()),
            How::WaitForFile(_) => {}
            How::Delay(time) => {
                wait::for_so_long(*time);
                return Ok(());
            }
            How::GoOn => return Ok(()),
            How::GoOnWhenCancelled => {
                wait::until_cancelled(host);
                return Ok(());
            }
        }
        Err(Error::cancelled())
    }

    /// Makes the marker, if there is to be one, with this at the end of its name.
    fn mark(&self, ending: &str) {
        let Some(marker) = &self.marker else { return };
        let path = PathBuf::from(format!("{}{ending}", marker.display()));
        if let Err(error) = std::fs::write(&path, "") {
            log::error!("the marker {} cannot be made: {error}", path.display());
        }
    }
}

/// Counts one more in a file, and says the how-manieth it is. Each writer's position is its own: no two get the same number.
fn count(counter: &Path) -> u64 {
    let counted = OpenOptions::new().create(true).append(true).open(counter).and_then(|mut file| {
        file.write_all(b".")?;
        file.stream_position()
    });
    counted.unwrap_or_else(|error| {
        log::error!("the counter {} cannot be written: {error}", counter.display());
        u64::MAX
    })
}

fn kind(word: &str) -> Option<Kind> {
    (1..=8).map(Kind::from_code).find(|kind| kind.word() == word)
}
