//! Stores rows by `LOAD DATA` or by `INSERT`, and finds those that the server does not take as they are.
//!
//! `LOAD DATA LOCAL` refuses nothing: what does not fit it changes, with a warning. So a file with a warning is taken back, and
//! the rows at fault are written by `INSERT`, which in strict mode refuses them.

use std::collections::BTreeSet;
use std::ops::Range;

use transship_plugin_api::{Error, Result};
use transship_sql::write::{BadRow, RowsError, Statement, WriteMode, store};

use super::plan::Plan;
use super::rows::Rows;
use crate::session::{Done, Refused, Session, code};

/// What became of rows.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) written: u64,
    pub(super) duplicates: u64,
    pub(super) bad: Vec<BadRow>,
}

/// Rows that are to be stored, and how.
pub(super) struct Storing<'a> {
    pub(super) session: &'a mut Session,
    pub(super) plan: &'a Plan,
    pub(super) mode: &'a WriteMode,
    pub(super) table: &'a str,
    /// The longest statement that the server takes.
    pub(super) longest_statement: usize,
}

/// Statements of several rows are no longer than this, however much the server would take.
const USUAL_STATEMENT: usize = 8 << 20;
/// What a statement has beside its rows and what its parts say.
const ROOM_FOR_WORDS: usize = 64;

/// A mark to which the transaction is taken back.
const SAVEPOINT: &str = "transship";

impl Storing<'_> {
    /// Stores the lines of a file. `None`: some rows are not as they were sent, and all was taken back; with the numbers of
    /// the rows at fault, if the server told all of them.
    pub(super) fn load(
        &mut self,
        statement: &str,
        lines: &Rows,
        range: Range<usize>,
    ) -> Result<Result<Outcome, Suspects>> {
        let count = range.len() as u64;
        self.session.execute("setting a savepoint", &format!("SAVEPOINT {SAVEPOINT}"))?;
        let done = match self.session.load(statement, lines.range(range))? {
            Ok(done) => done,
            Err(refused) if refused.forbids_loading() => return Ok(Err(Suspects::NoFiles)),
            Err(refused) if refused.is_about_rows() => {
                self.take_back()?;
                return Ok(Err(Suspects::Unknown));
            }
            Err(refused) => return Err(self.failed(&refused)),
        };
        if done.warnings == 0 {
            return Ok(Ok(Outcome { written: count, ..Outcome::default() }));
        }
        let warnings = self.warnings()?;
        let are_all = warnings.len() == usize::from(done.warnings);
        if are_all && warnings.iter().all(|warning| warning.code == code::DUPLICATE) {
            // Rows whose keys are there already were left out, and nothing else happened.
            let left_out = warnings.len() as u64;
            return Ok(match self.mode {
                WriteMode::Ignore => {
                    Ok(Outcome { written: count - left_out.min(count), duplicates: left_out, bad: Vec::new() })
                }
                _ => Err(Suspects::LeftOut(warnings)),
            });
        }
        self.take_back()?;
        let rows: Option<BTreeSet<usize>> = warnings.iter().map(|warning| row_of(&warning.cause)).collect();
        match rows {
            Some(rows) if are_all => Ok(Err(Suspects::Rows(rows))),
            _ => Ok(Err(Suspects::Unknown)),
        }
    }

    /// Stores lists of values, but for those that the server refuses.
    pub(super) fn insert(&mut self, values: &Rows, range: Range<usize>) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let Statement { head, tail, .. } = &self.plan.statement;
        let room = self.longest_statement.saturating_sub(head.len() + tail.len() + ROOM_FOR_WORDS);
        let mut begin = range.start;
        while begin < range.end {
            let mut end = begin + 1;
            let first = values.range(begin..end).len();
            let mut bytes = first;
            while end < range.end {
                bytes += values.range(end..end + 1).len() + 1;
                if bytes > room.min(USUAL_STATEMENT) || self.plan.row_by_row {
                    break;
                }
                end += 1;
            }
            if first > room {
                let most = self.longest_statement;
                let cause = format!(
                    "as a statement the record has {first} bytes, and max_allowed_packet of the server is {most}"
                );
                outcome.bad.push(BadRow { row: begin, column: None, cause });
            } else {
                self.insert_all(values, begin..end, &mut outcome)?;
            }
            begin = end;
        }
        Ok(outcome)
    }

    fn insert_all(&mut self, values: &Rows, range: Range<usize>, outcome: &mut Outcome) -> Result<()> {
        let (mut written, mut duplicates) = (0, 0);
        let Statement { head, tail, .. } = &self.plan.statement;
        let head = format!("{head} VALUES ");
        let mut try_store = |range: Range<usize>| -> Result<(), RowsError> {
            let count = range.len() as u64;
            let rows = values.range(range.clone());
            match self.session.run_parts([head.as_bytes(), rows, tail.as_bytes()])? {
                Ok(Done { affected, .. }) if *self.mode == WriteMode::Ignore => {
                    written += affected.min(count);
                    duplicates += count.saturating_sub(affected);
                    Ok(())
                }
                Ok(_) => {
                    written += count;
                    Ok(())
                }
                Err(refused) if refused.is_about_rows() => Err(self.blamed(&refused, range)),
                Err(refused) => Err(RowsError::All(self.failed(&refused))),
            }
        };
        let bad = store(range, &mut try_store)?;
        outcome.bad.extend(bad);
        outcome.written += written;
        outcome.duplicates += duplicates;
        Ok(())
    }

    /// Whose fault it is, as far as the server's words say it.
    fn blamed(&self, refused: &Refused, range: Range<usize>) -> RowsError {
        let Refused { code, cause } = refused;
        let cause_with_code = format!("{cause} ({code})");
        let column = column_of(cause)
            .and_then(|name| self.plan.targets.iter().position(|target| target.name.eq_ignore_ascii_case(&name)));
        let row = match range.len() {
            1 => Some(range.start),
            _ => row_of(cause).map(|row| range.start + row).filter(|row| range.contains(row)),
        };
        match row {
            Some(row) => RowsError::Row(BadRow { row, column, cause: cause_with_code }),
            None => RowsError::Some(cause_with_code),
        }
    }

    fn warnings(&mut self) -> Result<Vec<Refused>> {
        let rows = self.session.ask("asking for warnings", "SHOW WARNINGS")?;
        let warnings = rows.into_iter().filter_map(|row| match <[Option<String>; 3]>::try_from(row) {
            Ok([_, Some(code), Some(cause)]) => Some(Refused { code: code.parse().unwrap_or(0), cause }),
            _ => None,
        });
        Ok(warnings.collect())
    }

    pub(super) fn take_back(&mut self) -> Result<()> {
        self.session.execute("taking rows back", &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}")).map(drop)
    }

    pub(super) fn failed(&self, refused: &Refused) -> Error {
        self.session.server.refused(format_args!("writing into {}", self.table), refused)
    }
}

/// Rows that a file could not store as they are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Suspects {
    /// These, counted from 0 in the range; all others are good.
    Rows(BTreeSet<usize>),
    Unknown,
    /// As many as there are words of the server, their keys being there already; all others are stored, and nothing was taken
    /// back.
    LeftOut(Vec<Refused>),
    /// The server takes no files.
    NoFiles,
}

/// The key's text and its name in words like `Duplicate entry '1-a' for key 'PRIMARY'`.
pub(super) fn duplicate_of(cause: &str) -> Option<(&str, &str)> {
    let (entry, name) = cause.strip_prefix("Duplicate entry '")?.rsplit_once("' for key '")?;
    let name = name.strip_suffix('\'')?;
    // MySQL 8 puts the table's name before it.
    Some((entry, name.rsplit('.').next().unwrap_or(name)))
}

/// The number of the row, from 0, in words like `… at row 3`.
fn row_of(cause: &str) -> Option<usize> {
    let (_, number) = cause.rsplit_once(" at row ")?;
    let digits = number.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    digits.parse::<usize>().ok()?.checked_sub(1)
}

/// The name of the column in words like ``… for column `d`.`t`.`c` at row 3``, `Column 'c' cannot be null`.
fn column_of(cause: &str) -> Option<String> {
    let at = cause.find("column ").or_else(|| cause.find("Column "))?;
    let words = &cause[at + "column ".len()..];
    let quote = words.chars().next().filter(|letter| matches!(letter, '`' | '\''))?;
    let end = words.find(" at row ").unwrap_or_else(|| {
        let behind = format!("{quote} ");
        words.find(&behind).map_or(words.len(), |at| at + 1)
    });
    let name = words[..end].trim_end_matches(quote);
    let begin = name.rfind(quote)? + quote.len_utf8();
    Some(name[begin..].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_words_tell_row_and_column() {
        let cause = "Incorrect integer value: 'x' for column `w`.`d`.`n` at row 2";
        assert_eq!((row_of(cause), column_of(cause).as_deref()), (Some(1), Some("n")));
        let cause = "Data too long for column 's' at row 1";
        assert_eq!((row_of(cause), column_of(cause).as_deref()), (Some(0), Some("s")));
        let cause = "Column 'n' cannot be null";
        assert_eq!((row_of(cause), column_of(cause).as_deref()), (None, Some("n")));
        let cause = "Duplicate entry '2' for key 'PRIMARY'";
        assert_eq!((row_of(cause), column_of(cause)), (None, None));
        assert_eq!(duplicate_of(cause), Some(("2", "PRIMARY")));
        assert_eq!(duplicate_of("Duplicate entry 'it's' for key 't.by_name'"), Some(("it's", "by_name")));
    }
}
