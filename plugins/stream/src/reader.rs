//! `streamreader`: makes records of constants, sequences and random values.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::{
    Batch, CancelHandle, Error, HostRef, Item, Origin, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest,
};

use crate::columns::{Column, Slice};
use crate::config::{self, ReaderConfig, Source};
use crate::pace::Pace;
use crate::pause::Pause;
use crate::random::fresh_seed;

/// Makes a reader from its parameters.
pub(crate) fn new(parameter: &Value, _host: HostRef) -> Result<Box<dyn Reader>> {
    if let Some(replay) = config::replay(parameter)? {
        return crate::replay::new(&replay);
    }
    let config = ReaderConfig::parse(parameter)?;
    let schema = Arc::new(Schema::new(config.columns.iter().map(|column| column.field()).collect::<Vec<_>>()));
    let seed = config.seed.unwrap_or_else(fresh_seed);
    Ok(Box::new(StreamReader { config: Arc::new(config), schema, seed, splits: None }))
}

struct StreamReader {
    config: Arc<ReaderConfig>,
    schema: SchemaRef,
    seed: u64,
    /// The splits that were not asked for yet, once it is known how many there are.
    splits: Option<std::ops::Range<u64>>,
}

/// What a split says of itself. The seed is in it, so that every attempt in every process makes the same records.
#[derive(Debug, Serialize, Deserialize)]
struct Detail {
    slice: u64,
    records: u64,
    seed: u64,
}

impl Reader for StreamReader {
    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(Some(self.schema.clone()))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        if self.splits.is_none() {
            let count = request.channels.max(1) as u64;
            check_sequences(&self.config, count)?;
            self.splits = Some(0..count);
        }
        let detail = |slice| Detail { slice, records: self.config.records, seed: self.seed };
        let next = self.splits.iter_mut().flatten().take(request.max as usize).map(detail);
        next.map(|detail| self.config.split(detail)).collect()
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let detail: Detail = serde_json::from_value(split.detail.clone())
            .map_err(|error| Error::internal(format!("split \"{}\" is not of this reader: {error}", split.id)))?;
        Ok(Box::new(StreamReaderTask::new(&self.config, self.schema.clone(), detail, options, host)?))
    }
}

impl ReaderConfig {
    fn split(&self, detail: Detail) -> Result<Split> {
        let Detail { slice, records, .. } = detail;
        let label = format!("slice {slice}, {records} records");
        let detail = serde_json::to_value(detail).map_err(|error| Error::internal(error.to_string()))?;
        let mut split = Split::new(format!("slice-{slice}"), label, detail);
        split.records = Some(records);
        split.bytes = Some(records.saturating_mul(self.record_bytes().0 as u64));
        Ok(split)
    }

    /// How many bytes a record takes, on average and at most.
    fn record_bytes(&self) -> (usize, usize) {
        let sizes = self.columns.iter().map(|column| column.value_bytes());
        sizes.fold((0, 0), |(mean, most), (value_mean, value_most)| (mean + value_mean, most + value_most))
    }
}

/// Refuses sequences that run out of 64 bits before the last record of the last split.
fn check_sequences(config: &ReaderConfig, splits: u64) -> Result<()> {
    let last = splits as i128 * config.records as i128 - 1;
    for (index, column) in config.columns.iter().enumerate() {
        if let Source::Sequence { start, step } = column.source {
            let end = last.checked_mul(step as i128).and_then(|way| way.checked_add(start as i128));
            if end.is_none_or(|end| i64::try_from(end).is_err()) {
                let problem = format!(
                    "parameter.column[{index}].sequence leaves the range of 64 bit numbers before the last of {splits} x {} records",
                    config.records
                );
                return Err(Error::config(problem));
            }
        }
    }
    Ok(())
}

struct StreamReaderTask {
    schema: SchemaRef,
    columns: Vec<Column>,
    host: HostRef,
    pause: Pause,
    pace: Option<Pace>,
    /// When the first record was asked for.
    started: Option<Instant>,
    /// The record that this attempt began with, the next one, and the one after the last.
    first: u64,
    next: u64,
    end: u64,
    batch_records: usize,
}

impl StreamReaderTask {
    fn new(
        config: &ReaderConfig,
        schema: SchemaRef,
        detail: Detail,
        options: &ReadOptions,
        host: HostRef,
    ) -> Result<StreamReaderTask> {
        let first = match &options.position {
            None => 0,
            Some(position) => position.as_u64().filter(|first| *first <= detail.records).ok_or_else(|| {
                Error::internal(format!("{position} is no position in a slice of {} records", detail.records))
            })?,
        };
        let slice = Slice { number: detail.slice, records: detail.records, seed: detail.seed };
        let columns = config.columns.iter().enumerate().map(|(index, column)| column.open(index, slice)).collect();
        let (mean, most) = config.record_bytes();
        let batch_records = (options.batch_bytes / mean.max(1)).min(options.batch_records);
        Ok(StreamReaderTask {
            schema,
            columns,
            host,
            pause: Pause::default(),
            pace: config.rate.map(Pace::new),
            started: None,
            first,
            next: first,
            end: detail.records,
            // However the random lengths turn out, no column of a batch has more than Arrow's 2 GiB.
            batch_records: batch_records.min(i32::MAX as usize / most.max(1)).max(1),
        })
    }

    /// How many records may be sent now; waits for the first of them at most so long.
    fn due(&self, started: Instant, timeout: Duration) -> Result<u64> {
        let left = self.end - self.next;
        let Some(pace) = self.pace else { return Ok(left) };
        let until = started.elapsed().saturating_add(timeout);
        let sent = self.next - self.first;
        loop {
            let now = started.elapsed();
            let due = pace.due(now).saturating_sub(sent).min(left);
            let patience = until.saturating_sub(now);
            if due > 0 || patience.is_zero() {
                return Ok(due);
            }
            self.pause.wait(pace.due_after(sent).saturating_sub(now).min(patience), self.host.as_ref())?;
        }
    }

    fn batch(&mut self, rows: usize) -> Result<Batch> {
        let mut bytes = 0;
        let mut arrays = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let (array, size) = column.next(rows)?;
            arrays.push(array);
            bytes += size;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let records = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?;
        let mut batch = Batch::new(records, bytes, Origin::from(self.next));
        self.next += rows as u64;
        batch.position = Some(self.next.into());
        batch.read_share = Some(self.next as f64 / self.end as f64);
        Ok(batch)
    }
}

impl ReaderTask for StreamReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        for column in &mut self.columns {
            column.skip(self.first);
        }
        Ok(self.schema.clone())
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        if self.host.is_cancelled() {
            return Err(Error::cancelled());
        }
        if self.next == self.end {
            return Ok(Item::End);
        }
        let started = *self.started.get_or_insert_with(Instant::now);
        match self.due(started, timeout)? {
            0 => Ok(Item::Idle),
            due => self.batch(due.min(self.batch_records as u64) as usize).map(Item::Batch),
        }
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.pause.cancel_handle())
    }
}
