//! Finds the rows of a batch that the target refuses, and stores all others, with few statements.

use std::ops::Range;

use transship_plugin_api::{Error, Result};

/// Why rows were not stored.
#[derive(Debug)]
pub enum RowsError {
    /// This row is bad, and the database said which: those before it are good, of those behind it nothing is known.
    Row(BadRow),
    /// One of the rows is bad at least, and nobody knows which.
    Some(String),
    /// It has nothing to do with single rows: the connection is lost, the table is gone.
    All(Error),
}

/// A row that the target refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Its number, counted as in the range that was to be stored.
    pub row: usize,
    /// The index of the column at fault, where it is known.
    pub column: Option<usize>,
    /// What the database says.
    pub cause: String,
}

impl From<Error> for RowsError {
    fn from(error: Error) -> RowsError {
        RowsError::All(error)
    }
}

/// Stores rows, and returns those that cannot be stored, in order. `try_store` stores all rows of a range or none of them (a
/// savepoint, a statement of its own). Rows are stored in order, so of two with one key the first is stored or the last one
/// stays, as if there had been no bad row.
///
/// One bad row in `n` costs at most `2 log2(n) + 1` further calls, or two if the database says which it is.
///
/// # Errors
/// The first [`RowsError::All`].
pub fn store(
    rows: Range<usize>,
    try_store: &mut dyn FnMut(Range<usize>) -> Result<(), RowsError>,
) -> Result<Vec<BadRow>> {
    let mut search = Search { try_store, bad: Vec::new() };
    search.store(rows)?;
    Ok(search.bad)
}

struct Search<'a> {
    try_store: &'a mut dyn FnMut(Range<usize>) -> Result<(), RowsError>,
    bad: Vec<BadRow>,
}

impl Search<'_> {
    /// Stores what can be stored of rows of which nothing is known.
    fn store(&mut self, rows: Range<usize>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        match (self.try_store)(rows.clone()) {
            Ok(()) => Ok(()),
            Err(RowsError::All(error)) => Err(error),
            Err(RowsError::Row(bad)) if rows.contains(&bad.row) => {
                self.store(rows.start..bad.row)?;
                let behind = bad.row + 1..rows.end;
                self.bad.push(bad);
                self.store(behind)
            }
            Err(RowsError::Row(BadRow { cause, .. }) | RowsError::Some(cause)) => self.store_halves(rows, cause),
        }
    }

    /// Stores what can be stored of rows of which one is bad at least.
    fn store_halves(&mut self, rows: Range<usize>, cause: String) -> Result<()> {
        if rows.len() == 1 {
            self.bad.push(BadRow { row: rows.start, column: None, cause });
            return Ok(());
        }
        let middle = rows.start + rows.len() / 2;
        let found = self.bad.len();
        self.store(rows.start..middle)?;
        let behind = middle..rows.end;
        // If the first half was good, the second is bad: it need not be tried as a whole, except to hear why.
        if self.bad.len() == found && behind.len() > 1 { self.store_halves(behind, cause) } else { self.store(behind) }
    }
}
