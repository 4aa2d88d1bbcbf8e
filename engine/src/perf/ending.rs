//! How an entry of a job ended, in the words of the summary, of `transship perf` and of the page alike. Not here: why it failed.

use super::recording::EndLine;
use crate::figures::several;

/// Whether no record was clean: such a job is done, but nobody should take it for a success.
pub fn is_all_dirty(read: u64, dirty: u64) -> bool {
    read > 0 && read == dirty
}

/// What is said of a job that was done.
pub fn done(read: u64, dirty: u64) -> String {
    match dirty {
        0 => "done".into(),
        _ if is_all_dirty(read, dirty) => "done, but EVERY RECORD WAS DIRTY".into(),
        _ => format!("done, {} dirty", several(dirty as usize, "record", "records")),
    }
}

impl EndLine {
    /// How it ended, in words.
    pub fn words(&self) -> String {
        match self.result.as_str() {
            "done" => done(self.read, self.dirty),
            result => result.replace('_', " "),
        }
    }

    /// Whether it was done, and every record was dirty.
    pub fn is_all_dirty(&self) -> bool {
        self.result == "done" && is_all_dirty(self.read, self.dirty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_was_done_is_told_with_its_dirty_records() {
        let ended = [(0, 0), (5, 0), (5, 1), (5000, 4999), (5, 5)].map(|(read, dirty)| done(read, dirty));
        let words =
            ["done", "done", "done, 1 record dirty", "done, 4,999 records dirty", "done, but EVERY RECORD WAS DIRTY"];
        assert_eq!(ended, words);
    }
}
