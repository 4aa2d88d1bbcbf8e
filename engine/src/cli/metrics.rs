//! `transship run --metrics`: opens the door for a Prometheus server, and says where it is.

use super::console::Console;
use super::monitor::Watched;
use crate::error::{Error, Result};
use crate::exposition::{Address, Door, Exposition};

/// Listens at this address; nobody is answered yet.
pub(super) fn open(address: &Address) -> Result<Door> {
    Door::open(address).map_err(|error| {
        Error::Job(format!(
            "--metrics: cannot listen at {address}: {error}; try another port, or 0 for any that is free"
        ))
    })
}

/// Shows the jobs while something is done.
pub(super) fn serve<T>(door: Option<Door>, watched: &[Watched<'_>], console: &Console, work: impl FnOnce() -> T) -> T {
    let Some(door) = door else { return work() };
    if !door.is_for_this_machine() {
        console.warning(&format!(
            "--metrics: {} is not for this machine alone: anybody who reaches it can read the names of jobs and transformers and how \
             much they move",
            door.url()
        ));
    }
    console.note(&format!("metrics at {}", door.url()));
    let jobs = watched.iter().map(|job| (job.title, job.progress));
    let exposition = Exposition::new(jobs, Box::new(|text| console.mask(text)));
    door.serve(&exposition, work)
}
