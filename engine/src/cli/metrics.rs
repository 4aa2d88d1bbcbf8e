//! `transship run --metrics`: opens the door for a Prometheus server, and says where it is.

use super::console::Console;
use super::events::Event;
use super::monitor::Watched;
use crate::error::{Error, Result};
use crate::exposition::{Address, Door, Exposition};
use crate::perf::now_micros;

/// Where a Prometheus server may ask.
pub(super) struct Listening {
    door: Door,
    /// Any port was good enough: nobody knows which it is unless it is told.
    on_any_port: bool,
}

/// Listens at this address; nobody is answered yet.
pub(super) fn open(address: &Address) -> Result<Listening> {
    let door = Door::open(address).map_err(|error| {
        Error::Job(format!(
            "--metrics: cannot listen at {address}: {error}; try another port, or 0 for any that is free"
        ))
    })?;
    Ok(Listening { door, on_any_port: address.port == 0 })
}

/// Shows the jobs while something is done.
pub(super) fn serve<T>(
    listening: Option<Listening>,
    watched: &[Watched<'_>],
    console: &Console,
    work: impl FnOnce() -> T,
) -> T {
    let Some(listening) = listening else { return work() };
    listening.tell(console);
    let jobs = watched.iter().map(|job| (job.title, job.progress));
    let exposition = Exposition::new(jobs, Box::new(|text| console.mask(text)));
    listening.door.serve(&exposition, work)
}

impl Listening {
    /// Says where it is, and who else may come.
    fn tell(&self, console: &Console) {
        let url = self.door.url();
        if !self.door.is_for_this_machine() {
            console.alert(&format!(
                "--metrics: {url} is not for this machine alone: anybody who reaches it can read the names of jobs and transformers \
                 and how much they move"
            ));
        }
        let line = format!("metrics at {url}");
        if self.on_any_port {
            console.essential(&line)
        } else {
            console.note(&line)
        }
        console.tell(&Event::Metrics { micros: now_micros(), url: &url });
    }
}
