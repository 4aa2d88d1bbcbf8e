//! The transship engine: it reads a job file, loads the two plugins named in it, splits the work, and moves the records
//! through bounded channels. It names no system; plugins do.
//!
//! The modules are listed from the highest floor to the lowest, a group each; a module imports only from lower groups.

pub mod cli;

pub mod job;

pub mod schedule;

pub mod task;

pub mod lanes;

pub mod load;
pub mod plan;
pub mod schema;
pub mod transform;

pub mod host;

pub mod exposition;
pub mod report;

pub mod dirty;
pub mod perf;
pub mod progress;
pub mod targets;
pub mod throttle;

pub mod batch;
pub mod channel;
pub mod keys;
pub mod lookup;
pub mod openings;
pub mod slots;
pub mod splits;

pub mod calls;
pub mod concurrency;
pub mod config;
pub mod gate;
pub mod metrics;

pub mod cancel;
pub mod clock;
pub mod error;
pub mod figures;
pub mod intervals;
pub mod json;
pub mod latency;
pub mod secrets;
pub mod sync;
