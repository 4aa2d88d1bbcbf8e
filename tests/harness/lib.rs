//! The program from outside: it is built once, run in a scratch folder, and judged by what it prints, how it ends and what it
//! leaves behind. Not here: anything that is linked with the engine or a plugin.

pub mod command;
pub mod faulty;
pub mod golden;
pub mod http;
pub mod job;
pub mod middle;
pub mod plugins;
pub mod program;
pub mod records;
pub mod scratch;
pub mod servers;
pub mod wait;

pub use command::{Finished, Running, Signal, Transship};
pub use faulty::{faulty, faulty_reader, faulty_transformer, faulty_writer};
pub use job::{Job, plugin};
pub use scratch::Scratch;
pub use serde_json::{Value, json};
pub use servers::{Database, System};
pub use wait::until;
