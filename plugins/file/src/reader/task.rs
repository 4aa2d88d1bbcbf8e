//! One attempt at reading one split: its pieces one after another, in batches.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use transship_plugin_api::{Batch, Error, HostRef, Item, ReadOptions, ReaderTask, Result, Split};

use crate::columns::Columns;
use crate::compression::Compression;
use crate::config::ReaderConfig;
use crate::csv::{Advanced, LONGEST_RECORD, Problem, Records, TooLong};
use crate::dialect::Dialect;
use crate::dirt::{Broken, Dirt};
use crate::encoding::Encoding;
use crate::layout::Layout;
use crate::source::{Piece, Texts};

/// Columns of text have 32-bit offsets, so a batch may not be larger than this.
const LARGEST_BATCH: usize = 1 << 30;

pub(crate) struct FileTask {
    config: Arc<ReaderConfig>,
    layout: Arc<Layout>,
    /// What a person calls the split.
    label: String,
    pieces: Vec<Piece>,
    /// How many bytes they had together when they were found.
    size: Option<u64>,
    dialect: Dialect,
    batch_records: usize,
    batch_bytes: usize,
    longest: usize,
    host: HostRef,
    /// Where reading is, or is to begin.
    at: Place,
    texts: Option<Texts>,
    open: Option<Open>,
    /// What read the last text, for the next one: most of a small file's time would go into its memory.
    spare: Option<Records>,
    columns: Columns,
    /// How many bytes the rows of the batch have at most.
    bytes: usize,
    /// How many empty lines were passed over.
    empty_lines: u64,
    /// How many bytes of the current piece were read for the texts in it that have ended.
    ended: u64,
}

/// The text that is being read.
struct Open {
    records: Records,
    dirt: Dirt,
    /// The records of the current run that are not in a batch yet.
    rows: Range<usize>,
    skip_header: bool,
}

/// A place between two records of a split: the position of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// Which of the split's pieces, and which of the texts in it.
    piece: usize,
    text: usize,
    /// Where in the text, and where in the file.
    at: u64,
    byte: u64,
    /// The number of the line there, and of the lines in the texts before.
    line: u64,
    lines_before: u64,
    /// How many bytes the pieces before have.
    #[serde(default)]
    bytes_before: u64,
}

impl FileTask {
    pub(crate) fn new(
        config: Arc<ReaderConfig>,
        layout: Arc<Layout>,
        (split, pieces): (&Split, Vec<Piece>),
        options: &ReadOptions,
        host: HostRef,
    ) -> Result<FileTask> {
        let at = match &options.position {
            Some(position) => serde_json::from_value(position.clone())
                .map_err(|error| Error::internal(format!("a position that no file reader wrote: {error}")))?,
            None => Place::default(),
        };
        let longest = options.max_record_bytes.min(LONGEST_RECORD);
        Ok(FileTask {
            columns: Columns::new(layout.clone(), &config, longest),
            dialect: Dialect { skip_empty: layout.skip_empty, ..config.dialect.clone() },
            config,
            layout,
            label: split.label.clone(),
            pieces,
            size: split.bytes.filter(|size| *size > 0),
            batch_records: options.batch_records.max(1),
            batch_bytes: options.batch_bytes.clamp(1, LARGEST_BATCH),
            longest,
            host,
            at,
            texts: None,
            open: None,
            spare: None,
            bytes: 0,
            empty_lines: 0,
            ended: 0,
        })
    }
}

impl ReaderTask for FileTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        self.open_next_text()?;
        Ok(self.layout.schema.clone())
    }

    fn next(&mut self, _timeout: Duration) -> Result<Item> {
        loop {
            if self.host.is_cancelled() {
                return Err(Error::cancelled());
            }
            let is_full = self.take_rows()?;
            if is_full {
                return self.finish_batch();
            }
            if !self.next_run()? && !self.open_next_text()? {
                if self.columns.rows() > 0 {
                    return self.finish_batch();
                }
                self.tell_empty_lines();
                return Ok(Item::End);
            }
        }
    }
}

impl FileTask {
    /// Moves records of the current run into the batch: whether it is full.
    fn take_rows(&mut self) -> Result<bool> {
        let Some(open) = &mut self.open else { return Ok(false) };
        let (run, _) = open.records.run();
        let mut rows = open.rows.start..open.rows.start;
        for record in &run.records[open.rows.clone()] {
            let bytes = self.columns.most_bytes((record.end - record.start) as usize);
            let taken = self.columns.rows() + rows.len();
            if taken == self.batch_records || (taken > 0 && self.bytes + bytes > self.batch_bytes) {
                break;
            }
            self.bytes += bytes;
            rows.end += 1;
        }
        open.rows.start = rows.end;
        self.columns.append(&open.records, rows, &open.dirt)?;
        if self.columns.rows() == 0 {
            // Everything was dirty.
            self.bytes = 0;
        }
        Ok(self.columns.rows() >= self.batch_records || (self.columns.rows() > 0 && !open.rows.is_empty()))
    }

    fn finish_batch(&mut self) -> Result<Item> {
        let mut batch: Batch = self.columns.finish()?;
        self.bytes = 0;
        let place = self.place();
        batch.read_share = self.size.map(|size| (self.bytes_up_to(&place) as f64 / size as f64).min(1.0));
        batch.position = Some(serde_json::to_value(place).map_err(|error| Error::internal(error.to_string()))?);
        Ok(Item::Batch(batch))
    }

    /// How many bytes of the split's files were read for what stands before this place.
    fn bytes_up_to(&self, place: &Place) -> u64 {
        let in_piece = self.open.as_ref().map_or(self.ended, |open| {
            open.records.used_for(place.byte).saturating_sub(self.pieces[place.piece].start)
        });
        place.bytes_before + in_piece
    }

    /// Says once how many lines were no records, so that nobody has to wonder where they are.
    fn tell_empty_lines(&mut self) {
        let lines = std::mem::take(&mut self.empty_lines);
        if lines > 0 {
            log::info!("{}: {lines} empty line(s) passed over (csvReaderConfig.skipEmptyRecords)", self.label);
        }
    }

    /// Where the record stands that comes next.
    fn place(&self) -> Place {
        match &self.open {
            Some(open) => {
                let (at, byte, line) = open.records.place(open.rows.start);
                Place { at, byte, line, ..self.at.clone() }
            }
            None => self.at.clone(),
        }
    }

    /// Goes on to the next records of the open text; `false` at its end.
    fn next_run(&mut self) -> Result<bool> {
        let Some(open) = &mut self.open else { return Ok(false) };
        let piece = &self.pieces[self.at.piece];
        loop {
            match open.records.advance().map_err(|error| piece.error(&error))? {
                Advanced::Run => {
                    let (run, _) = open.records.run();
                    open.rows = 0..run.records.len();
                    open.refuse_swallowed_lines()?;
                    if open.skip_header {
                        open.skip_header(&self.layout, self.config.dialect.skip_empty);
                    }
                    return Ok(true);
                }
                Advanced::TooLong(record) => {
                    open.skip_header = false;
                    open.report_too_long(&record, self.longest)?;
                }
                Advanced::Passing if self.host.is_cancelled() => return Err(Error::cancelled()),
                Advanced::Passing => {}
                Advanced::End => {
                    let (_, byte, line) = open.records.place(0);
                    let lines = line - 1;
                    self.empty_lines += open.records.empty_lines();
                    self.ended = open.records.used_for(byte).saturating_sub(piece.start);
                    self.at = Place {
                        piece: self.at.piece,
                        text: self.at.text + 1,
                        lines_before: self.at.lines_before + lines,
                        bytes_before: self.at.bytes_before,
                        ..Place::default()
                    };
                    self.spare = self.open.take().map(|open| open.records);
                    return Ok(false);
                }
            }
        }
    }

    /// Opens the next text; `false` if there is none.
    fn open_next_text(&mut self) -> Result<bool> {
        while self.open.is_none() {
            let Some(piece) = self.pieces.get(self.at.piece) else { return Ok(false) };
            let mut piece = piece.clone();
            // Where bytes are text, going on somewhere needs no reading up to there.
            let goes_on = self.at.at > 0;
            let jumps = goes_on
                && self.config.compression.of(&piece.path) == Compression::None
                && self.config.encoding == Encoding::Utf8;
            if jumps {
                piece.start = self.at.byte;
                piece.line = self.at.line;
            }
            let texts = match &mut self.texts {
                Some(texts) => texts,
                none => {
                    let texts = none.insert(Texts::open(&piece, self.config.compression, self.config.encoding)?);
                    for _ in 0..self.at.text {
                        texts.next()?;
                    }
                    texts
                }
            };
            let Some((entry, text)) = texts.next()? else {
                self.texts = None;
                self.at = Place {
                    piece: self.at.piece + 1,
                    lines_before: self.at.lines_before,
                    bytes_before: self.at.bytes_before + std::mem::take(&mut self.ended),
                    ..Place::default()
                };
                continue;
            };
            let mut records = match self.spare.take() {
                Some(mut records) => {
                    records.begin(text, piece.line);
                    records
                }
                None => Records::new(text, &self.dialect, piece.line, self.longest),
            };
            if goes_on && !jumps {
                let keep_going = || !self.host.is_cancelled();
                records.skip_to(self.at.at, self.at.line, keep_going).map_err(|error| piece.error(&error))?;
            }
            let skip_header = self.config.skip_header && piece.start == 0 && !goes_on;
            let dirt = Dirt::new(self.host.clone(), &piece.path, entry, self.at.lines_before);
            self.open = Some(Open { records, dirt, rows: 0..0, skip_header });
        }
        Ok(true)
    }
}

impl Open {
    /// A quote that is never closed makes one value of all lines behind it: that is no dirty record, but a file that
    /// could not be read.
    fn refuse_swallowed_lines(&self) -> Result<()> {
        let (run, text) = self.records.run();
        let Some((record, Problem::UnclosedQuote { line, .. })) = run.problems.last() else { return Ok(()) };
        let about = &run.records[*record as usize];
        let record_text = &text[about.start as usize..about.end as usize];
        let opening = self.records.line(*record as usize) + u64::from(*line);
        if self.records.lines_in(record_text) > *line {
            return Err(self.never_closed(opening, self.records.place_in_file(about.start as usize)));
        }
        Ok(())
    }

    fn never_closed(&self, line: u64, record: u64) -> Error {
        Error::data(format!(
            "{}: the quote that opens a field in line {line} (in the record at byte {record}) is never closed, so \
             everything behind it would be one value; if quotes are ordinary characters in this file, set \
             csvReaderConfig.useTextQualifier to false",
            self.dirt.name()
        ))
    }

    fn report_too_long(&self, record: &TooLong, longest: usize) -> Result<()> {
        if record.unclosed {
            return Err(self.never_closed(record.line, record.place));
        }
        self.dirt.report(&Broken {
            line: record.line,
            byte: record.place,
            column: None,
            value: None,
            cause: &format!(
                "has {} bytes, more than the {longest} that a record may have (maxRecordBytes)",
                record.bytes
            ),
            record: &record.shown,
            bytes: None,
        })
    }

    /// Leaves out the header, which is the record that told the columns. `never_empty`: that was no empty line, even
    /// where it turned out that empty lines are records.
    fn skip_header(&mut self, layout: &Layout, never_empty: bool) {
        let (run, _) = self.records.run();
        let records = run.records.len();
        let header = (0..records).find(|record| !never_empty || !run.is_empty_line(*record));
        self.rows.start = header.map_or(records, |header| header + 1);
        if let Some(header) = header {
            self.skip_header = false;
            self.compare_header(header, layout);
        }
    }

    /// Files with other headers than the first are read by position all the same, as DataX does; but it is worth a
    /// word.
    fn compare_header(&self, record: usize, layout: &Layout) {
        let header = self.records.texts(record);
        if let Some(first) = &layout.header
            && *first != header
        {
            log::warn!(
                "{}: its header ({}) is not that of the first file ({})",
                self.dirt.name(),
                header.join(", "),
                first.join(", ")
            );
        }
    }
}
