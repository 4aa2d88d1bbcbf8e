//! Whatever goes wrong in a plugin: the run ends soon, with the right exit code, says what happened and where, and leaves
//! nothing behind that its commit class does not allow.

mod calls;
mod contract;
mod hangs;
mod leftovers;
mod libraries;
mod sources;
mod targets;
