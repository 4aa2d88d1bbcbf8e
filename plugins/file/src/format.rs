//! Records as bytes: text, csv or SQL statements. Columns are dressed one by one (NULL, quotes, escapes), then put
//! together row by row, which needs no more looking at values.
//! Not here: values to text (`render`), files (`output`).

mod assemble;
mod buffer;
mod delimited;
mod sql;

use std::borrow::Cow;
use std::ops::Range;

use arrow_buffer::NullBuffer;
use transship_plugin_api::{Error, Result};

use self::assemble::{Assembly, Glue};
pub(crate) use self::buffer::Buffer;
use self::delimited::Dressing;
use self::sql::Commits;
use crate::config::Format;
use crate::render::Cells;

/// How many bytes are put together at a time, and how many rows at most: they stay in the nearest cache.
const BLOCK: usize = 32 << 10;
const LARGEST_BLOCK: usize = 512;
/// A value of so many bytes is not put together with others.
pub(crate) const LARGE: usize = 128 << 10;

/// Writes records in one of the formats.
pub(crate) struct Rows {
    kind: Kind,
    glue: Glue,
    assembly: Assembly,
    /// Rows written so far.
    rows: u64,
}

enum Kind {
    Delimited(Box<Dressing>),
    Sql(Commits),
}

/// Why a value cannot be written.
pub(crate) type Cause = Cow<'static, str>;

/// A column as it stands in the file: nothing in it needs attention any more.
pub(crate) struct Dressed<'a> {
    /// One more than there are rows.
    offsets: Cow<'a, [i32]>,
    bytes: Cow<'a, [u8]>,
    /// Rows whose value cannot be written, in order, and why.
    unwritable: Vec<(usize, Cause)>,
}

/// The columns of a batch as they stand in the file.
pub(crate) struct DressedRows<'a> {
    columns: Vec<Dressed<'a>>,
    /// How many rows make a block of a handy size.
    rows_per_block: usize,
    /// Rows that cannot be written, in order: the first column at fault, and why.
    unwritable: Vec<(usize, usize, Cause)>,
}

impl Dressed<'_> {
    /// The text of a row.
    fn text(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

impl DressedRows<'_> {
    /// Rows that cannot be written, in order: the first column at fault, and why.
    pub(crate) fn unwritable(&self) -> &[(usize, usize, Cause)] {
        &self.unwritable
    }

    /// Whether a row is so large that putting it together would only be a copy more.
    pub(crate) fn is_large(&self, row: usize) -> bool {
        // Where rows are of a handy size on the average, one that is not costs no more than a batch of them.
        self.rows_per_block == 1 && self.columns.iter().any(|column| column.text(row).len() >= LARGE)
    }
}

impl Rows {
    /// `names` are those of the columns.
    pub(crate) fn new(format: &Format, names: &[String]) -> Rows {
        let (kind, glue) = match format {
            Format::Delimited(format) => {
                let (between, after) = (format.delimiter.clone(), format.terminator.clone());
                (Kind::Delimited(Box::new(Dressing::new(format))), Glue { before: Vec::new(), between, after })
            }
            Format::Sql(format) => (Kind::Sql(Commits::new(format)), sql::glue(format, names)),
        };
        Rows { kind, glue, assembly: Assembly::default(), rows: 0 }
    }

    /// Dresses the columns of a batch.
    pub(crate) fn dress<'a>(&self, columns: Vec<Cells<'a>>) -> Result<DressedRows<'a>> {
        let nulls = columns.first().and_then(|cells| cells.nulls.clone());
        let columns: Vec<Dressed<'a>> = columns
            .into_iter()
            .enumerate()
            .map(|(place, cells)| match &self.kind {
                Kind::Delimited(dressing) => dressing.dress(cells, place == 0),
                Kind::Sql(_) => sql::literals(&cells),
            })
            .collect();
        if columns.iter().any(|column| column.bytes.len() > i32::MAX as usize) {
            return Err(Error::unsupported(
                "the texts of a column of one batch are larger than 2 GiB; set a smaller byte capacity",
            ));
        }
        let mut unwritable: Vec<(usize, usize, Cause)> = Vec::new();
        for (place, column) in columns.iter().enumerate() {
            unwritable.extend(column.unwritable.iter().map(|(row, cause)| (*row, place, cause.clone())));
        }
        if let ([column], Kind::Delimited(_)) = (&columns[..], &self.kind) {
            unwritable.extend(empty_lines(column, nulls.as_ref()));
        }
        unwritable.sort_by_key(|(row, place, _)| (*row, *place));
        unwritable.dedup_by_key(|(row, _, _)| *row);
        let rows = columns.first().map_or(1, |column| column.offsets.len() - 1).max(1);
        let bytes: usize = columns.iter().map(|column| column.bytes.len() + rows).sum();
        let rows_per_block = (BLOCK * rows / bytes.max(1)).clamp(1, LARGEST_BLOCK);
        Ok(DressedRows { columns, rows_per_block, unwritable })
    }

    /// Hands out the pieces of a row, one behind another.
    pub(crate) fn write_pieces(
        &mut self,
        dressed: &DressedRows<'_>,
        row: usize,
        mut write: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        write(&self.glue.before)?;
        for (place, column) in dressed.columns.iter().enumerate() {
            write(column.text(row))?;
            write(if place + 1 < dressed.columns.len() { &self.glue.between } else { &self.glue.after })?;
        }
        self.rows += 1;
        match &self.kind {
            Kind::Sql(commits) if commits.is_due(self.rows) => write(&commits.statement),
            _ => Ok(()),
        }
    }

    /// Appends some of these rows, none of them unwritable: where each that was taken ends in `out`.
    pub(crate) fn write(&mut self, dressed: &DressedRows<'_>, rows: Range<usize>, out: &mut Buffer) -> &[usize] {
        let mut count = rows.len().min(dressed.rows_per_block);
        if let Kind::Sql(commits) = &self.kind {
            count = count.min(commits.rows_to_next(self.rows));
        }
        let ends = self.assembly.append(&dressed.columns, rows.start..rows.start + count, &self.glue, out);
        self.rows += count as u64;
        if let (Kind::Sql(commits), Some(last)) = (&self.kind, ends.last_mut())
            && commits.is_due(self.rows)
        {
            out.append(&commits.statement);
            *last = out.len();
        }
        ends
    }

    /// Appends the first line of a file.
    pub(crate) fn write_header(&self, names: &[String], out: &mut Buffer) -> Result<()> {
        let Kind::Delimited(dressing) = &self.kind else { return Ok(()) };
        let start = out.len();
        for (place, name) in names.iter().enumerate() {
            if place > 0 {
                out.append(&self.glue.between);
            }
            let written = dressing.write_name(name, place == 0, out);
            written.map_err(|cause| Error::config(format!("the header's \"{name}\" {cause}")))?;
        }
        if !names.is_empty() && out.len() == start {
            return Err(Error::config(
                "the header would be an empty line, which readers pass over; name the column, or use fileFormat csv",
            ));
        }
        out.append(&self.glue.after);
        Ok(())
    }

    /// Appends the end of a file.
    pub(crate) fn write_end(&self, out: &mut Buffer) {
        if let Kind::Sql(commits) = &self.kind
            && !commits.is_due(self.rows)
        {
            out.append(&commits.statement);
        }
    }
}

/// The rows of an only column whose line would be empty, and so no record to whoever reads it.
fn empty_lines<'a>(
    column: &'a Dressed<'_>,
    nulls: Option<&'a NullBuffer>,
) -> impl Iterator<Item = (usize, usize, Cause)> + 'a {
    let is_empty = |row: &usize| column.offsets[*row] == column.offsets[*row + 1];
    (0..column.offsets.len() - 1).filter(is_empty).map(move |row| {
        let cause = if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            "is NULL in the only column, and nullFormat is empty: the line would be empty, which readers pass over; \
             set another nullFormat"
        } else {
            "is an empty text in the only column: the line would be empty, which readers pass over; use fileFormat csv \
             with a textQualifier"
        };
        (row, 0, cause.into())
    })
}
