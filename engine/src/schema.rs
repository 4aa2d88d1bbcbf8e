//! What job files may hold, by the tables in which plugins describe their parameters: the JSON Schema that editors complete and
//! check by, and the check of one `parameter` object. Pure: the plugins were asked already.
//! Not here: keys that nobody knows (`config`), and what only a plugin can tell of its values (its own `init`).

mod absent;
mod document;
mod forms;
mod takes;
mod tree;
mod violations;

#[cfg(test)]
mod tests;

use transship_plugin_api::plugin::Component;

pub use document::of_job_files;
pub use violations::{Violation, violations};

/// What a job file may name.
#[derive(Debug, Clone, Default)]
pub struct Components<'a> {
    pub readers: Vec<&'a Component>,
    pub writers: Vec<&'a Component>,
    pub transformers: Vec<&'a Component>,
}
