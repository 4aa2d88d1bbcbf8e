//! What is noted while a job file is read: everything that is wrong with it and everything that is odd, each with its place.

use transship_plugin_api::Result;

use super::source::Source;
use crate::error::{Findings, Problem};
use crate::json::Document;

/// Notes about the text of one job file.
pub(super) struct Notes<'a> {
    pub source: &'a Source,
    pub document: &'a Document,
    pub findings: &'a mut Findings,
}

impl Notes<'_> {
    /// The value, or `None` and a note that the job file is refused for it.
    pub(super) fn kept<T>(&mut self, result: Result<Option<T>>) -> Option<T> {
        result.unwrap_or_else(|error| {
            self.refuse(error.message());
            None
        })
    }

    /// Notes something wrong; `message` begins with its path.
    pub(super) fn refuse(&mut self, message: &str) {
        self.findings.problems.push(Problem::wrong(located(self.source, self.document, message)));
    }

    /// Notes something odd; `message` begins with its path.
    pub(super) fn warn(&mut self, message: &str) {
        self.findings.warnings.push(located(self.source, self.document, message).into());
    }

    /// Notes something odd about what a path leads to.
    pub(super) fn warn_at(&mut self, path: &str, message: &str) {
        self.findings.warnings.push(located_at(self.source, self.document, path, message).into());
    }
}

/// A message that begins with a JSON path, with file, line and column of what the path leads to in front; and where that is.
pub(super) fn located(source: &Source, document: &Document, message: &str) -> (usize, String) {
    located_at(source, document, message.split([' ', ':', ';']).next().unwrap_or_default(), message)
}

/// The same for a message that says somewhere else what it is about.
pub(super) fn located_at(source: &Source, document: &Document, path: &str, message: &str) -> (usize, String) {
    let at = document.place(path);
    (at, format!("{}: {message}", source.place(at)))
}
