//! One attempt at writing a file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::{Batch, Error, HostRef, Origin, Report, Result, WriterTask};

use super::Written;
use crate::config::{Format, Header, WriterConfig};
use crate::encoding::Encoding;
use crate::format::{Buffer, DressedRows, LARGE, Rows};
use crate::output::Output;
use crate::render::render;

/// So much is collected before it goes to the file. It stays in the second cache.
const ENOUGH: usize = LARGE;

pub(crate) struct FileWriterTask {
    config: Arc<WriterConfig>,
    names: Written,
    schema: SchemaRef,
    host: HostRef,
    rows: Rows,
    out: Buffer,
    /// The same in the encoding of the file, where that is not UTF-8.
    encoded: Vec<u8>,
    output: Option<Output>,
    written: u64,
}

impl FileWriterTask {
    pub(crate) fn new(config: Arc<WriterConfig>, names: Written, schema: SchemaRef, host: HostRef) -> FileWriterTask {
        let columns: Vec<String> = match &config.header {
            Header::Given(names) if names.len() == schema.fields().len() => names.clone(),
            _ => schema.fields().iter().map(|field| field.name().clone()).collect(),
        };
        let rows = Rows::new(&config.format, &columns);
        FileWriterTask {
            config,
            names,
            schema,
            host,
            rows,
            out: Buffer::default(),
            encoded: Vec::new(),
            output: None,
            written: 0,
        }
    }

    fn write_header(&mut self) -> Result<()> {
        let names = match &self.config.header {
            Header::None => return Ok(()),
            Header::Given(names) => names.clone(),
            Header::Names => self.schema.fields().iter().map(|field| field.name().clone()).collect(),
        };
        self.rows.write_header(&names, &mut self.out)?;
        self.encode_all()
    }

    /// Appends a part of what was written to what is encoded.
    fn encode(&mut self, part: Range<usize>) -> Result<(), char> {
        let before = self.encoded.len();
        // What rows are made of is text, so this copies nothing.
        let text = String::from_utf8_lossy(&self.out.bytes()[part]);
        let encoded = self.config.encoding.encode(&text, &mut self.encoded);
        if encoded.is_err() {
            self.encoded.truncate(before);
        }
        encoded
    }

    /// Encodes all that was written, which is no row.
    fn encode_all(&mut self) -> Result<()> {
        if self.config.encoding == Encoding::Utf8 {
            return Ok(());
        }
        self.encode(0..self.out.len()).map_err(|character| {
            Error::config(format!(
                "the header contains {character:?}, which {} does not have",
                self.config.encoding.name()
            ))
        })?;
        self.out.truncate(0);
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        let Some(output) = &mut self.output else { return Err(Error::internal("a file task was not prepared")) };
        if self.config.encoding == Encoding::Utf8 {
            output.write(self.out.bytes())?;
            self.out.truncate(0);
        } else {
            output.write(&self.encoded)?;
            self.encoded.clear();
        }
        Ok(())
    }

    fn collected(&self) -> usize {
        self.out.len() + self.encoded.len()
    }

    fn write_rows(&mut self, records: &RecordBatch, origin: &Origin) -> Result<()> {
        let columns = records.schema_ref().fields().iter().zip(records.columns());
        let cells = columns.map(|(field, column)| render(field, column, &self.config.text));
        let cells = cells.collect::<Result<Vec<_>>>()?;
        let dressed = self.rows.dress(cells)?;
        let mut row = 0;
        for (unwritable, column, cause) in dressed.unwritable() {
            self.write_block(records, origin, &dressed, row..*unwritable)?;
            dirty_row(&*self.host, records, *unwritable, Some(origin.position(*unwritable)), Some(*column), cause)?;
            row = unwritable + 1;
        }
        self.write_block(records, origin, &dressed, row..records.num_rows())
    }

    /// Writes rows that can be written, but for their encoding.
    fn write_block(
        &mut self,
        records: &RecordBatch,
        origin: &Origin,
        dressed: &DressedRows<'_>,
        rows: Range<usize>,
    ) -> Result<()> {
        let mut row = rows.start;
        while row < rows.end {
            if self.config.encoding == Encoding::Utf8 && dressed.is_large(row) {
                self.write_large(dressed, row)?;
                row += 1;
                continue;
            }
            let ends = self.rows.write(dressed, row..rows.end, &mut self.out);
            let count = ends.len();
            if self.config.encoding == Encoding::Utf8 {
                self.written += count as u64;
            } else {
                let ends = ends.to_vec();
                self.encode_rows(records, origin, row, &ends)?;
            }
            row += count;
            if self.collected() >= ENOUGH {
                if self.host.is_cancelled() {
                    return Err(Error::cancelled());
                }
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// Writes a row whose large values go to the file as they are.
    fn write_large(&mut self, dressed: &DressedRows<'_>, row: usize) -> Result<()> {
        if self.host.is_cancelled() {
            return Err(Error::cancelled());
        }
        let Some(output) = &mut self.output else { return Err(Error::internal("a file task was not prepared")) };
        let out = &mut self.out;
        self.rows.write_pieces(dressed, row, |piece| {
            if piece.len() < LARGE {
                out.append(piece);
                return Ok(());
            }
            output.write(out.bytes())?;
            out.truncate(0);
            output.write(piece)
        })?;
        self.written += 1;
        Ok(())
    }

    /// Brings rows into the encoding of the file, all but those with a character that it lacks.
    fn encode_rows(&mut self, records: &RecordBatch, origin: &Origin, first: usize, ends: &[usize]) -> Result<()> {
        let mut start = 0;
        for (row, end) in (first..).zip(ends) {
            match self.encode(start..*end) {
                Ok(()) => self.written += 1,
                Err(character) => {
                    let cause = format!("contains {character:?}, which {} does not have", self.config.encoding.name());
                    let column = self.column_with(character, records, row)?;
                    dirty_row(&*self.host, records, row, Some(origin.position(row)), column, &cause)?;
                }
            }
            start = *end;
        }
        self.out.truncate(0);
        Ok(())
    }

    /// The first column of this row whose text has a character.
    fn column_with(&self, character: char, records: &RecordBatch, row: usize) -> Result<Option<usize>> {
        for (place, column) in records.slice(row, 1).columns().iter().enumerate() {
            let cells = render(records.schema_ref().field(place), column, &self.config.text)?;
            if !cells.is_null(0) && String::from_utf8_lossy(cells.text(0)).contains(character) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
}

impl WriterTask for FileWriterTask {
    fn prepare(&mut self) -> Result<()> {
        if let (Format::Sql(_), Header::Given(names)) = (&self.config.format, &self.config.header)
            && names.len() != self.schema.fields().len()
        {
            let (names, columns) = (names.len(), self.schema.fields().len());
            return Err(Error::config(format!("parameter.header has {names} names, but there are {columns} columns")));
        }
        let path = self.config.directory.join(&self.names.unfinished);
        let mut output = Output::create(&path, self.config.compression)?;
        output.write(self.config.encoding.mark())?;
        self.output = Some(output);
        self.write_header()
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        let origin = std::mem::take(&mut batch.origin);
        let records = batch.into_records()?;
        self.write_rows(&records, &origin)
    }

    fn flush(&mut self) -> Result<()> {
        self.hand_over()?;
        match &mut self.output {
            Some(output) => output.flush(),
            None => Ok(()),
        }
    }

    fn commit(&mut self) -> Result<Report> {
        self.rows.write_end(&mut self.out);
        self.encode_all()?;
        self.hand_over()?;
        let Some(output) = &mut self.output else { return Err(Error::internal("a file task was not prepared")) };
        let bytes = output.finish()?;
        self.output = None;
        let detail = serde_json::to_value(&self.names).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Report { written: self.written, bytes, detail, ..Report::default() })
    }

    fn abort(&mut self) -> Result<()> {
        // Dropping an unfinished file removes it.
        self.output = None;
        super::remove(&self.config.directory.join(&self.names.unfinished)).map(|_| ())
    }
}
