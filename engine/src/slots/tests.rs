//! Slots by scenarios: the arithmetic of levels, turns on a simulated machine, and threads.

mod levels;
mod machine;
mod threads;
mod turns;
