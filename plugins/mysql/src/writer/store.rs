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
    /// Set when others held a lock for too long.
    pub(super) waited_too_long: &'a mut bool,
}

/// Statements of several rows are no longer than this, however much the server would take.
const USUAL_STATEMENT: usize = 8 << 20;
/// Fewer rows than twice as many are not worth a statement.
const FEWEST_ROWS: usize = 8;
/// What a statement has beside its rows and what its parts say.
const ROOM_FOR_WORDS: usize = 64;

/// Errors that in a file are warnings, and of which each leaves out a row: its key is there, no parent has it, a `CHECK` fails.
const LEFT_OUT: [u16; 4] = [code::DUPLICATE, code::NO_PARENT, code::CHECK_OF_MARIADB, code::CHECK_OF_MYSQL];
/// So many numbers of rows are asked for at once.
const ANSWERS: usize = 512;

/// A mark to which the transaction is taken back.
const SET_SAVEPOINT: &str = "SAVEPOINT transship";
const BACK_TO_SAVEPOINT: &str = "ROLLBACK TO SAVEPOINT transship";

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
        self.session.run_with_next(SET_SAVEPOINT);
        let done = match self.session.load(statement, lines.range(range.clone()))? {
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
        let is_left_out = |warning: &Refused| LEFT_OUT.contains(&warning.code);
        let others = done.affected + warnings.len() as u64;
        if are_all
            && warnings.iter().all(is_left_out)
            && others == count
            && let Some(rows) = self.rows_of_warnings(warnings.len())?
        {
            if is_certain(&rows, &warnings) {
                return Ok(Ok(self.left_out(&warnings, rows, range)));
            }
            self.take_back()?;
            return Ok(Err(Suspects::Rows(suspects(&rows, &warnings, range.len()))));
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
                    "as a statement the record has {first} bytes, and the server takes {most}: raise max_allowed_packet there, or \
                     let rows be loaded by file (local_infile)"
                );
                outcome.bad.push(BadRow { row: begin, column: None, cause });
            } else {
                self.insert_all(values, begin..end, &mut outcome)?;
            }
            begin = end;
        }
        Ok(outcome)
    }

    /// Stores the rows of one statement. Where the server refuses it and says of which row, those before that one go without it, it is
    /// tried alone, and what is behind it goes on in statements whose size follows how far apart bad rows are.
    fn insert_all(&mut self, values: &Rows, range: Range<usize>, outcome: &mut Outcome) -> Result<()> {
        let (mut begin, mut size) = (range.start, range.len());
        while begin < range.end {
            let piece = begin..range.end.min(begin.saturating_add(size));
            let refusal = match self.try_insert(values, piece.clone(), outcome) {
                Ok(()) => {
                    (begin, size) = (piece.end, size.saturating_mul(2));
                    continue;
                }
                Err(RowsError::All(error)) => return Err(error),
                Err(refusal) => refusal,
            };
            let suspect = match refusal {
                RowsError::Row(bad) if piece.len() == 1 => {
                    outcome.bad.push(bad);
                    begin = piece.end;
                    continue;
                }
                RowsError::Row(bad) => Some(bad.row),
                _ => self.row_of_refusal()?.map(|row| begin + row).filter(|row| piece.contains(row)),
            };
            match suspect {
                Some(row) => {
                    self.search(values, begin..row, outcome)?;
                    self.search(values, row..row + 1, outcome)?;
                    size = (row - begin).max(FEWEST_ROWS) * 2;
                    begin = row + 1;
                }
                None => {
                    let middle = begin + piece.len() / 2;
                    self.search(values, begin..middle, outcome)?;
                    self.search(values, middle..piece.end, outcome)?;
                    begin = piece.end;
                }
            }
        }
        Ok(())
    }

    /// Stores rows but for those that the server refuses, which are found by halves where it does not say which they are.
    fn search(&mut self, values: &Rows, range: Range<usize>, outcome: &mut Outcome) -> Result<()> {
        let bad = store(range, &mut |range| self.try_insert(values, range, outcome))?;
        outcome.bad.extend(bad);
        Ok(())
    }

    /// Stores all rows by one statement, or none of them.
    fn try_insert(&mut self, values: &Rows, range: Range<usize>, outcome: &mut Outcome) -> Result<(), RowsError> {
        let count = range.len() as u64;
        let Statement { head, tail, .. } = &self.plan.statement;
        let rows = values.range(range.clone());
        let words = format!("{head} VALUES ");
        match self.session.run_parts([words.as_bytes(), rows, tail.as_bytes()])? {
            Ok(Done { affected, .. }) if *self.mode == WriteMode::Ignore => {
                outcome.written += affected.min(count);
                outcome.duplicates += count.saturating_sub(affected);
                Ok(())
            }
            Ok(_) => {
                outcome.written += count;
                Ok(())
            }
            Err(refused) if refused.is_about_rows() => Err(self.blamed(&refused, range)),
            Err(refused) => Err(RowsError::All(self.failed(&refused))),
        }
    }

    /// The row, from 0, of which the server has refused a statement, if it tells.
    fn row_of_refusal(&mut self) -> Result<Option<usize>> {
        Ok(self.rows_of_warnings(1)?.and_then(|rows| rows.first().copied()))
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

    /// What became of rows, some of which the server has left out with a word, all others being stored.
    fn left_out(&self, warnings: &[Refused], rows: Vec<usize>, range: Range<usize>) -> Outcome {
        let mut outcome = Outcome { written: (range.len() - warnings.len()) as u64, ..Outcome::default() };
        for (Refused { code, cause }, row) in warnings.iter().zip(rows) {
            match *self.mode {
                WriteMode::Ignore if *code == code::DUPLICATE => outcome.duplicates += 1,
                _ => outcome.bad.push(BadRow {
                    row: range.start + row,
                    column: None,
                    cause: format!("{cause} ({code})"),
                }),
            }
        }
        outcome
    }

    /// The rows that so many warnings are about, from 0. `None` where the server does not tell: MariaDB does since 10.7. To ask is one
    /// way to the server for each, which is less than to search for it by writing all of them again.
    fn rows_of_warnings(&mut self, count: usize) -> Result<Option<Vec<usize>>> {
        // All before the first answer is fetched, which would be the end of the warnings.
        for number in 1..=count {
            let asked = format!("GET DIAGNOSTICS CONDITION {number} @transship_{number} = ROW_NUMBER");
            if self.session.run(&asked)?.is_err() {
                return Ok(None);
            }
        }
        let mut rows = Vec::with_capacity(count);
        for first in (1..=count).step_by(ANSWERS) {
            let numbers = first..=count.min(first + ANSWERS - 1);
            let variables: Vec<String> = numbers.map(|number| format!("@transship_{number}")).collect();
            let answer = self.session.ask("asking for rows", &format!("SELECT {}", variables.join(", ")))?;
            rows.extend(answer.into_iter().next().unwrap_or_default());
        }
        Ok(rows.into_iter().map(|cell| cell?.parse::<usize>().ok()?.checked_sub(1)).collect())
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
        self.session.execute("taking rows back", BACK_TO_SAVEPOINT).map(drop)
    }

    pub(super) fn failed(&mut self, refused: &Refused) -> Error {
        *self.waited_too_long = refused.code == code::LOCK_TIMEOUT;
        self.session.server.refused(format_args!("writing into {}", self.table), refused)
    }
}

/// Whether rows are those that the server has left out, and not only near them. MariaDB does not count a row that fails a `CHECK`, so that
/// of those behind it too small a number is told.
fn is_certain(rows: &[usize], warnings: &[Refused]) -> bool {
    let (Some(last), distinct) = (warnings.len().checked_sub(1), rows.iter().collect::<BTreeSet<_>>()) else {
        return true;
    };
    distinct.len() == rows.len() && !warnings[..last].iter().any(is_of_check)
}

/// All rows, of so many, that may be meant, whether or not the server counts rows that fail a `CHECK`.
fn suspects(rows: &[usize], warnings: &[Refused], count: usize) -> BTreeSet<usize> {
    let mut uncounted = 0;
    let mut suspects = BTreeSet::new();
    for (row, warning) in rows.iter().zip(warnings) {
        suspects.extend([*row, row + uncounted].into_iter().filter(|row| *row < count));
        uncounted += usize::from(is_of_check(warning));
    }
    suspects
}

fn is_of_check(warning: &Refused) -> bool {
    matches!(warning.code, code::CHECK_OF_MARIADB | code::CHECK_OF_MYSQL)
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
    fn rows_behind_one_that_fails_a_check_are_told_too_low() {
        let warning = |code| Refused { code, cause: String::new() };
        let [check, duplicate] = [code::CHECK_OF_MARIADB, code::DUPLICATE];
        // What the server tells where rows 1, 2 and 8 fail it, counted from 0.
        let warnings = [check, check, check].map(warning);
        assert!(!is_certain(&[1, 1, 6], &warnings));
        assert_eq!(suspects(&[1, 1, 6], &warnings, 10), BTreeSet::from([1, 2, 6, 8]));
        // A server that counts them would tell these.
        assert_eq!(suspects(&[1, 2, 8], &warnings, 10), BTreeSet::from([1, 2, 3, 8]));
        assert!(is_certain(&[1, 8], &[duplicate, check].map(warning)));
        assert!(!is_certain(&[1, 8], &[check, duplicate].map(warning)));
        assert!(is_certain(&[7], &[check].map(warning)));
    }

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
