//! Every test of the program from outside, in one program. A module for each thing that is promised; its first line says
//! what belongs there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod backpressure;
mod bad_input;
mod c_plugin;
mod cases;
mod checkpoints;
mod compatibility;
mod conformance;
mod dedup;
mod diagnosis;
mod dirty;
mod disk_full;
mod failure;
mod fidelity;
mod http;
mod installation;
mod job_files;
mod jobs;
mod listing;
mod lookup;
mod metrics;
mod mysql;
mod order;
mod outputs;
mod perf;
mod perf_text;
mod postgres;
mod processes;
mod progress;
mod relational;
mod replay;
mod report;
mod retry;
mod schema;
mod secrets;
mod sharing;
mod signals;
mod splits;
mod tidy;
mod tls;
mod transformers;
