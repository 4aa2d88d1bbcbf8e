//! Records as bytes: text, csv or SQL statements. Columns are dressed one by one (NULL, quotes, escapes), then put together
//! row by row, which needs no more looking at values.
//! Not here: values to text (`render`), files (`output`).

mod buffer;
mod delimited;
mod sql;

use std::borrow::Cow;

use transship_plugin_api::{Error, Result};

pub(crate) use self::buffer::Buffer;
use self::delimited::Dressing;
use self::sql::Statement;
use crate::config::Format;
use crate::render::Cells;

/// Writes records in one of the formats.
pub(crate) struct Rows {
    kind: Kind,
    delimiter: Vec<u8>,
    /// Rows written so far.
    rows: u64,
}

enum Kind {
    Delimited(Box<Dressing>),
    Sql(Statement),
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
    /// Rows that cannot be written, in order: the first column at fault, and why.
    unwritable: Vec<(usize, usize, Cause)>,
}

impl DressedRows<'_> {
    /// Rows that cannot be written, in order: the first column at fault, and why.
    pub(crate) fn unwritable(&self) -> &[(usize, usize, Cause)] {
        &self.unwritable
    }
}

impl Rows {
    /// `names` are those of the columns.
    pub(crate) fn new(format: &Format, names: &[String]) -> Rows {
        match format {
            Format::Delimited(format) => Rows {
                kind: Kind::Delimited(Box::new(Dressing::new(format))),
                delimiter: format.delimiter.clone(),
                rows: 0,
            },
            Format::Sql(format) => {
                Rows { kind: Kind::Sql(Statement::new(format, names)), delimiter: b",".to_vec(), rows: 0 }
            }
        }
    }

    /// Dresses the columns of a batch.
    pub(crate) fn dress<'a>(&self, columns: Vec<Cells<'a>>) -> Result<DressedRows<'a>> {
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
        unwritable.sort_by_key(|(row, place, _)| (*row, *place));
        unwritable.dedup_by_key(|(row, _, _)| *row);
        Ok(DressedRows { columns, unwritable })
    }

    /// Appends a row.
    #[inline]
    pub(crate) fn write(&mut self, dressed: &DressedRows<'_>, row: usize, out: &mut Buffer) {
        if let Kind::Sql(statement) = &self.kind {
            out.append(&statement.before);
        }
        for (place, column) in dressed.columns.iter().enumerate() {
            if place > 0 {
                match self.delimiter[..] {
                    [byte] => out.push(byte),
                    _ => out.append(&self.delimiter),
                }
            }
            out.append_range(&column.bytes, column.offsets[row] as usize, column.offsets[row + 1] as usize);
        }
        self.rows += 1;
        match &self.kind {
            Kind::Delimited(dressing) => out.append(&dressing.format().terminator),
            Kind::Sql(statement) => {
                out.append(&statement.after);
                if self.rows.is_multiple_of(statement.commit_size) {
                    out.append(&statement.commit);
                }
            }
        }
    }

    /// Appends the first line of a file.
    pub(crate) fn write_header(&self, names: &[String], out: &mut Buffer) -> Result<()> {
        let Kind::Delimited(dressing) = &self.kind else { return Ok(()) };
        for (place, name) in names.iter().enumerate() {
            if place > 0 {
                out.append(&self.delimiter);
            }
            let written = dressing.write_name(name, place == 0, out);
            written.map_err(|cause| Error::config(format!("the header's \"{name}\" {cause}")))?;
        }
        out.append(&dressing.format().terminator);
        Ok(())
    }

    /// Appends the end of a file.
    pub(crate) fn write_end(&self, out: &mut Buffer) {
        if let Kind::Sql(statement) = &self.kind
            && !self.rows.is_multiple_of(statement.commit_size)
        {
            out.append(&statement.commit);
        }
    }
}
