//! Fills Arrow columns from records as they were cut. Records that cannot be read go to the engine as dirty, and the
//! others stay in their order.
//! Not here: cutting (`csv`), reading files batch by batch (`reader`).

mod build;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use transship_plugin_api::{Batch, Origin, Result};

use self::build::{Builder, Constant};
use crate::config::{From, NullText, ReaderConfig};
use crate::csv::{Field, Problem, Records, Run};
use crate::dirt::{Broken, Dirt};
use crate::encoding::Encoding;
use crate::layout::Layout;
use crate::types::{Cause, ColumnType, is_number, parse_boolean, parse_long};

/// The columns of the batch that is being filled.
pub(crate) struct Columns {
    layout: Arc<Layout>,
    rules: Rules,
    builders: Vec<Builder>,
    rows: usize,
    lines: Lines,
    /// The bytes of a record besides those of its text, and how often its text may be copied.
    fixed_bytes: usize,
    copies: usize,
    longest: usize,
    encoding: Encoding,
    /// Kept between calls for their memory.
    kept: Vec<u32>,
    bad: Vec<Bad>,
}

/// How fields are read, whatever their column.
struct Rules {
    trim: bool,
    null: Option<NullText>,
}

/// A record that cannot be read: its place in the run, the column at fault (of the layout) and why.
struct Bad {
    record: u32,
    column: Option<usize>,
    field: Option<usize>,
    cause: Cause,
}

impl Columns {
    pub(crate) fn new(layout: Arc<Layout>, config: &ReaderConfig, longest: usize) -> Columns {
        let builders = layout.columns.iter().map(|column| match &column.from {
            From::Field(_) => Builder::new(&column.kind),
            From::Constant(value) => Builder::Constant(Constant::new(&column.kind, value.as_deref())),
        });
        let builders: Vec<Builder> = builders.collect();
        Columns {
            fixed_bytes: builders.iter().map(Builder::fixed_bytes).sum(),
            copies: layout.most_uses_of_a_field(),
            builders,
            rules: Rules { trim: config.dialect.trim, null: config.null.clone() },
            rows: 0,
            lines: Lines::default(),
            longest,
            encoding: config.encoding,
            kept: Vec::new(),
            bad: Vec::new(),
            layout,
        }
    }

    /// How many rows there are so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many bytes a record of this many bytes of text takes at most.
    pub(crate) fn most_bytes(&self, text: usize) -> usize {
        text * self.copies + self.fixed_bytes
    }

    /// Adds these records of the current run.
    pub(crate) fn append(&mut self, records: &Records, rows: Range<usize>, dirt: &Dirt) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let (run, text) = records.run();
        self.bad.clear();
        self.find_malformed(run, rows.clone());
        self.find_undecodable(run, text, rows.clone());
        self.keep_all_but_bad(rows);
        let found_before = self.bad.len();
        self.convert(run, text);
        if self.bad.len() > found_before {
            self.drop_unconvertible(found_before);
        }
        if !self.bad.is_empty() {
            self.report(records, dirt)?;
        }
        for (column, builder) in self.layout.columns.iter().zip(&mut self.builders) {
            if let From::Field(index) = column.from {
                builder.append(run, text, &self.kept, index, &self.rules);
            }
        }
        for record in &self.kept {
            self.lines.push(dirt.lines_before + records.line(*record as usize));
        }
        self.rows += self.kept.len();
        Ok(())
    }

    /// Finds the records whose structure is broken.
    fn find_malformed(&mut self, run: &Run, rows: Range<usize>) {
        let (exact, least) = (self.layout.exact_width, self.layout.least_width);
        for record in rows {
            let width = run.fields_of(record).len();
            let wrong_width = width < least || exact.is_some_and(|exact| width != exact);
            let about = &run.records[record];
            let too_long = (about.end - about.start) as usize > self.longest;
            if wrong_width || too_long || !run.problems.is_empty() {
                self.bad.extend(self.why_malformed(run, record, width, too_long));
            }
        }
    }

    fn why_malformed(&self, run: &Run, record: usize, width: usize, too_long: bool) -> Option<Bad> {
        let problem = run
            .problems
            .binary_search_by_key(&(record as u32), |(record, _)| *record)
            .ok()
            .map(|place| run.problems[place].1);
        let bad = |field: Option<usize>, cause: Cause| {
            let column =
                field.and_then(|field| self.layout.columns.iter().position(|column| column.from == From::Field(field)));
            Some(Bad { record: record as u32, column, field, cause })
        };
        match problem {
            Some(Problem::TextAfterQuote { field }) => {
                bad(Some(field as usize), "has text between its closing quote and the next delimiter".into())
            }
            Some(Problem::UnclosedQuote { field, .. }) => {
                bad(Some(field as usize), "has an opening quote that is never closed".into())
            }
            Some(Problem::BadEscape { field }) => {
                bad(Some(field as usize), "has a backslash escape that stands for no character".into())
            }
            Some(Problem::TooLong { field }) => bad(
                Some(field as usize),
                "has more than 100000 characters; set csvReaderConfig.safetySwitch to false if that is right".into(),
            ),
            None if too_long => bad(None, format!("is longer than {} bytes (maxRecordBytes)", self.longest).into()),
            None => match self.layout.exact_width {
                Some(exact) if width != exact => {
                    let cause = format!(
                        "has {} instead of {exact}, the number in {}; list the fields to read in \"column\" if records \
                         differ",
                        count(width, "field"),
                        self.layout.place_of_width
                    );
                    bad(None, cause.into())
                }
                None if width < self.layout.least_width => {
                    // The first column, in the order of the job file, that it has no field for.
                    let missing = self
                        .layout
                        .columns
                        .iter()
                        .position(|column| matches!(column.from, From::Field(index) if index >= width));
                    let cause = format!("has {}, but there is no field for this column", count(width, "field"));
                    Some(Bad { record: record as u32, column: missing, field: None, cause: cause.into() })
                }
                _ => None,
            },
        }
    }

    /// Finds the records that are no text in the encoding of the file.
    fn find_undecodable(&mut self, run: &Run, text: &[u8], rows: Range<usize>) {
        let all = &text[run.records[rows.start].start as usize..run.records[rows.end - 1].end as usize];
        if std::str::from_utf8(all).is_ok() {
            return;
        }
        for record in rows {
            let about = &run.records[record];
            let is_text = std::str::from_utf8(&text[about.start as usize..about.end as usize]).is_ok();
            if is_text || self.bad.iter().any(|bad| bad.record as usize == record) {
                continue;
            }
            let fields = run.fields_of(record);
            let field =
                fields.iter().position(|field| std::str::from_utf8(field.content(text, &run.side, false)).is_err());
            let column =
                field.and_then(|field| self.layout.columns.iter().position(|column| column.from == From::Field(field)));
            let cause =
                format!("has bytes that are not {}; say in \"encoding\" how the file is encoded", self.encoding.name());
            self.bad.push(Bad { record: record as u32, column, field, cause: cause.into() });
        }
        self.bad.sort_by_key(|bad| bad.record);
    }

    fn keep_all_but_bad(&mut self, rows: Range<usize>) {
        self.kept.clear();
        let mut bad = self.bad.iter().map(|bad| bad.record).peekable();
        for record in rows.start as u32..rows.end as u32 {
            if bad.next_if_eq(&record).is_none() {
                self.kept.push(record);
            }
        }
    }

    /// Converts the fields of typed columns, or checks those that stay text.
    fn convert(&mut self, run: &Run, text: &[u8]) {
        for (place, (column, builder)) in self.layout.columns.iter().zip(&mut self.builders).enumerate() {
            let From::Field(index) = column.from else { continue };
            let bad = &mut self.bad;
            let kept = &self.kept;
            let rules = &self.rules;
            let mut convert = |parse: &dyn Fn(&[u8]) -> Result<i64, Cause>| {
                builder.convert(kept.iter().map(|record| {
                    let field = run.fields[run.records[*record as usize].first_field as usize + index];
                    let content = field.content(text, &run.side, rules.trim);
                    if rules.is_null(field, content) {
                        return None;
                    }
                    parse(content)
                        .map_err(|cause| {
                            bad.push(Bad { record: *record, column: Some(place), field: Some(index), cause })
                        })
                        .ok()
                }));
            };
            match &column.kind {
                ColumnType::Text => {}
                ColumnType::Long => convert(&parse_long),
                ColumnType::Double => convert(&|text| is_number(text).map(|()| 0)),
                ColumnType::Boolean => convert(&|text| parse_boolean(text).map(i64::from)),
                ColumnType::Date(dates) => convert(&|text| dates.parse(text)),
                ColumnType::Bytes(form) => convert(&|text| form.parse(text, &mut Vec::new()).map(|()| 0)),
            }
        }
    }

    /// Leaves out the records that were found since, of which the first column at fault is told.
    fn drop_unconvertible(&mut self, found_before: usize) {
        self.bad[found_before..].sort_by_key(|bad| (bad.record, bad.column));
        let dropped: Vec<u32> = self.bad[found_before..].iter().map(|bad| bad.record).collect();
        let stays: Vec<bool> = self.kept.iter().map(|record| dropped.binary_search(record).is_err()).collect();
        let mut place = stays.iter();
        self.kept.retain(|_| *place.next().unwrap_or(&true));
        for builder in &mut self.builders {
            builder.drop_converted(&stays);
        }
        self.bad.sort_by_key(|bad| bad.record);
        self.bad.dedup_by_key(|bad| bad.record);
    }

    fn report(&self, records: &Records, dirt: &Dirt) -> Result<()> {
        let (run, text) = records.run();
        for bad in &self.bad {
            let record = bad.record as usize;
            let about = &run.records[record];
            let field = bad.field.and_then(|field| run.fields_of(record).get(field));
            let column = bad.column.map(|column| self.layout.schema.field(column).name().as_str());
            let unnamed = bad.field.filter(|_| bad.column.is_none()).map(|field| format!("field {field}"));
            let start = about.start as usize;
            let content = without_line_end(&text[start..about.end as usize]);
            let bytes = match std::str::from_utf8(content) {
                Ok(_) => None,
                Err(_) => records.bytes_in_file(start..start + content.len()),
            };
            dirt.report(&Broken {
                line: records.line(record),
                byte: records.place_in_file(start),
                column: column.or(unnamed.as_deref()),
                value: field.map(|field| field.content(text, &run.side, self.rules.trim)),
                cause: &bad.cause,
                record: content,
                bytes: bytes.as_deref(),
            })?;
        }
        Ok(())
    }

    /// Ends the batch and begins the next.
    pub(crate) fn finish(&mut self) -> Result<Batch> {
        let rows = std::mem::take(&mut self.rows);
        let mut bytes = 0;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.builders.len());
        for (builder, field) in self.builders.iter_mut().zip(self.layout.schema.fields()) {
            let (array, size) = builder.finish(rows, field.data_type())?;
            arrays.push(array);
            bytes += size;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let records = RecordBatch::try_new_with_options(self.layout.schema.clone(), arrays, &options)?;
        Ok(Batch::new(records, bytes, self.lines.take()))
    }
}

impl Rules {
    #[inline]
    fn is_null(&self, field: Field, content: &[u8]) -> bool {
        self.null
            .as_ref()
            .is_some_and(|null| null.text.as_bytes() == content && (null.when_quoted || !field.is_qualified()))
    }
}

fn without_line_end(record: &[u8]) -> &[u8] {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record)
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The lines that rows come from, which nearly always follow one another.
#[derive(Default)]
struct Lines {
    first: u64,
    count: u64,
    each: Option<Vec<u64>>,
}

impl Lines {
    #[inline]
    fn push(&mut self, line: u64) {
        if self.count == 0 {
            self.first = line;
        }
        match &mut self.each {
            Some(each) => each.push(line),
            None if line == self.first + self.count => {}
            None => self.each = Some((self.first..self.first + self.count).chain([line]).collect()),
        }
        self.count += 1;
    }

    fn take(&mut self) -> Origin {
        let lines = std::mem::take(self);
        Origin { first: lines.first, positions: lines.each.map(Into::into) }
    }
}
