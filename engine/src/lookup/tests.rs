//! What the parts of a lookup promise, each for itself. The scenarios of whole lookups are in `transform/lookup/tests`.

mod queue;
mod retry;
mod stage;
