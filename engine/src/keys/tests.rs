//! The queue against a naive model, the scenarios of the kata on a virtual clock, and the threads around it.

mod kata;
mod queue;
mod rows;
mod threads;
