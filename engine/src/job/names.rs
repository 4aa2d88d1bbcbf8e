//! What a job is called. Not here: what it does.

use transship_plugin_api::Run;

use super::Job;
use crate::perf::recording;

impl Job<'_> {
    /// The run that it will be.
    pub fn identity(&self) -> &Run {
        &self.line.run
    }

    /// Which entry of `job.content` it is, from 0.
    pub fn content(&self) -> usize {
        self.content
    }

    /// What a program calls it: the name of its file, and which entry it is: `orders[2]`.
    pub fn title(&self) -> String {
        match self.file.running().len() {
            0 | 1 => self.line.run.job.clone(),
            _ => format!("{}[{}]", self.line.run.job, self.content),
        }
    }

    /// The same for a person: `orders, entry 3 of 5`.
    pub fn name(&self) -> String {
        recording::title(&self.line.run.job, self.content, self.file.running().len())
    }
}
