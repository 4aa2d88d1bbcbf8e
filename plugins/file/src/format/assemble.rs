//! Puts columns together to rows, a block of rows at a time: within a block each column is walked over in a straight line,
//! which memory is good at; going from row to row would touch all columns for each.

use std::ops::Range;

use super::{Buffer, Dressed};
use crate::copy::{SLACK, copy_exactly, copy_short};

/// What stands around the values of a row.
pub(super) struct Glue {
    pub(super) before: Vec<u8>,
    pub(super) between: Vec<u8>,
    pub(super) after: Vec<u8>,
}

/// Where the rows of a block are in the buffer. Its memory is used again and again.
#[derive(Default)]
pub(super) struct Assembly {
    /// Where each row ends.
    ends: Vec<usize>,
    /// Where the next piece of each row goes.
    cursors: Vec<usize>,
}

impl Assembly {
    /// Appends rows, none of which has a value that cannot be written: where each ends.
    pub(super) fn append(
        &mut self,
        columns: &[Dressed<'_>],
        rows: Range<usize>,
        glue: &Glue,
        out: &mut Buffer,
    ) -> &mut [usize] {
        self.measure(columns, rows.clone(), glue, out.len());
        let end = self.ends.last().copied().unwrap_or(out.len());
        let bytes = out.extend_to(end);
        self.write_everywhere(&glue.before, bytes);
        for (place, column) in columns.iter().enumerate() {
            self.write_column(column, rows.clone(), bytes);
            self.write_everywhere(if place + 1 < columns.len() { &glue.between } else { &glue.after }, bytes);
        }
        if columns.is_empty() {
            self.write_everywhere(&glue.after, bytes);
        }
        &mut self.ends
    }

    /// Finds out where each row begins and ends.
    fn measure(&mut self, columns: &[Dressed<'_>], rows: Range<usize>, glue: &Glue, start: usize) {
        let around = glue.before.len() + glue.between.len() * columns.len().saturating_sub(1) + glue.after.len();
        self.ends.clear();
        self.ends.resize(rows.len(), around);
        for column in columns {
            let offsets = &column.offsets[rows.start..=rows.end];
            for (length, bounds) in self.ends.iter_mut().zip(offsets.windows(2)) {
                *length += (bounds[1] - bounds[0]) as usize;
            }
        }
        self.cursors.clear();
        let mut at = start;
        for end in &mut self.ends {
            self.cursors.push(at);
            at += *end;
            *end = at;
        }
    }

    fn write_column(&mut self, column: &Dressed<'_>, rows: Range<usize>, into: &mut [u8]) {
        let offsets = &column.offsets[rows.start..=rows.end];
        let from = &column.bytes[..];
        for ((cursor, end), bounds) in self.cursors.iter_mut().zip(&self.ends).zip(offsets.windows(2)) {
            let (start, stop) = (bounds[0] as usize, bounds[1] as usize);
            // Too much may be copied as long as it stays within the row, whose later columns come later.
            if *cursor + SLACK <= *end {
                copy_short(from, start..stop, into, *cursor);
            } else {
                copy_exactly(&from[start..stop], &mut into[*cursor..]);
            }
            *cursor += stop - start;
        }
    }

    /// Writes the same text in every row.
    fn write_everywhere(&mut self, text: &[u8], into: &mut [u8]) {
        match text {
            [] => {}
            [byte] => {
                for cursor in &mut self.cursors {
                    into[*cursor] = *byte;
                    *cursor += 1;
                }
            }
            several => {
                for cursor in &mut self.cursors {
                    into[*cursor..*cursor + several.len()].copy_from_slice(several);
                    *cursor += several.len();
                }
            }
        }
    }
}
