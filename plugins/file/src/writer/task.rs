//! One attempt at writing a file.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::{Batch, Error, HostRef, Origin, Report, Result, WriterTask};

use super::Written;
use crate::config::{Format, Header, WriterConfig};
use crate::encoding::Encoding;
use crate::format::{Buffer, Rows};
use crate::output::Output;
use crate::render::render;

/// So much is collected before it goes to the file. It stays in the second cache.
const ENOUGH: usize = 128 << 10;

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
        self.encode_from(0).map_err(|character| {
            Error::config(format!(
                "the header contains {character:?}, which {} does not have",
                self.config.encoding.name()
            ))
        })
    }

    /// Brings what was appended since `start` into the encoding of the file.
    fn encode_from(&mut self, start: usize) -> Result<(), char> {
        if self.config.encoding == Encoding::Utf8 {
            return Ok(());
        }
        let before = self.encoded.len();
        // What rows are made of is text, so this copies nothing.
        let text = String::from_utf8_lossy(&self.out.bytes()[start..]);
        let encoded = self.config.encoding.encode(&text, &mut self.encoded);
        drop(text);
        if encoded.is_err() {
            self.encoded.truncate(before);
        }
        self.out.truncate(start);
        encoded
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
        let cells =
            records.columns().iter().map(|column| render(column, &self.config.text)).collect::<Result<Vec<_>>>()?;
        let dressed = self.rows.dress(cells)?;
        let mut unwritable = dressed.unwritable().iter().peekable();
        for row in 0..records.num_rows() {
            if let Some((_, column, cause)) = unwritable.next_if(|(other, _, _)| *other == row) {
                dirty_row(&*self.host, records, row, Some(origin.position(row)), Some(*column), cause)?;
                continue;
            }
            let start = self.out.len();
            self.rows.write(&dressed, row, &mut self.out);
            match self.encode_from(start) {
                Ok(()) => self.written += 1,
                Err(character) => {
                    let cause = format!("contains {character:?}, which {} does not have", self.config.encoding.name());
                    let column = self.column_with(character, records, row)?;
                    dirty_row(&*self.host, records, row, Some(origin.position(row)), column, &cause)?;
                }
            }
            if self.collected() >= ENOUGH {
                if self.host.is_cancelled() {
                    return Err(Error::cancelled());
                }
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// The first column of this row whose text has a character.
    fn column_with(&self, character: char, records: &RecordBatch, row: usize) -> Result<Option<usize>> {
        for (place, column) in records.slice(row, 1).columns().iter().enumerate() {
            let cells = render(column, &self.config.text)?;
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
        let start = self.out.len();
        self.rows.write_end(&mut self.out);
        self.encode_from(start)
            .map_err(|character| Error::internal(format!("the end of a file contains {character:?}")))?;
        self.hand_over()?;
        let Some(output) = &mut self.output else { return Err(Error::internal("a file task was not prepared")) };
        let bytes = output.finish()?;
        self.output = None;
        let detail = serde_json::to_value(&self.names).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Report { written: self.written, bytes, detail })
    }

    fn abort(&mut self) -> Result<()> {
        // Dropping an unfinished file removes it.
        self.output = None;
        super::remove(&self.config.directory.join(&self.names.unfinished))
    }
}
