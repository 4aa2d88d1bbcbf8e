//! One attempt at reading one split: rows are taken from the socket into columns as they come.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use transship_plugin_api::row::record_to_json;
use transship_plugin_api::{
    Batch, CancelHandle, DirtyRecord, Error, HostRef, Item, Origin, ReadOptions, ReaderTask, Result,
};

use super::cells::{Collector, Misfit};
use super::instants::Instants;
use crate::config::ZeroDate;
use crate::session::{Clock, Next, Server, Session, Stop};

/// What to read, and how.
pub(super) struct Reading {
    pub(super) server: Arc<Server>,
    pub(super) stop: Stop,
    pub(super) sql: String,
    pub(super) schema: SchemaRef,
    pub(super) clock: Clock,
    pub(super) instants: Instants,
    pub(super) zero_date: ZeroDate,
    pub(super) label: String,
    pub(super) options: ReadOptions,
    pub(super) host: HostRef,
}

pub(super) struct MySqlReaderTask {
    reading: Reading,
    running: Option<Running>,
}

/// A query whose rows are coming.
struct Running {
    session: Session,
    collectors: Vec<Collector>,
    /// Rows that are in the collectors.
    rows: usize,
    bytes: usize,
    /// Rows that were read before those.
    read: u64,
    bad: Vec<Bad>,
    is_over: bool,
}

/// A row that cannot be taken.
struct Bad {
    row: usize,
    column: Option<usize>,
    misfit: Misfit,
}

impl MySqlReaderTask {
    pub(super) fn new(reading: Reading) -> MySqlReaderTask {
        MySqlReaderTask { reading, running: None }
    }
}

impl ReaderTask for MySqlReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        let Reading { server, stop, sql, schema, clock, instants, zero_date, label, options, .. } = &self.reading;
        let mut session = super::open_session(server, stop)?;
        let offset = match instants {
            Instants::Fixed => clock.fix(&mut session)?,
            Instants::Shown | Instants::Counted => clock.offset_seconds,
        };
        let refused = |refused| server.refused(label, &refused);
        let prepared = session.prepare(sql)?.map_err(refused)?;
        let columns = session.start(&prepared)?.map_err(refused)?;
        if columns.len() != schema.fields().len() {
            let (now, then) = (columns.len(), schema.fields().len());
            return Err(Error::schema(format!("{label} has {now} columns now, and had {then} when the job began")));
        }
        let collectors = columns.iter().zip(schema.fields()).map(|(column, field)| {
            Collector::new(column, field, options.batch_records, offset, *zero_date)
                .map_err(|error| error.context(label))
        });
        let collectors = collectors.collect::<Result<_>>()?;
        let nothing = Vec::new();
        self.running = Some(Running { session, collectors, rows: 0, bytes: 0, read: 0, bad: nothing, is_over: false });
        Ok(schema.clone())
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        let reading = &self.reading;
        let running = self.running.as_mut().ok_or_else(|| Error::internal("next came before prepare"))?;
        while !running.is_over
            && running.rows < reading.options.batch_records
            && running.bytes < reading.options.batch_bytes
        {
            let next = running.session.next_row(timeout);
            match next.map_err(|error| reading.server.lost(format_args!("reading {}", reading.label), error))? {
                Next::Row(packet) => {
                    let bytes = take_row(packet, &mut running.collectors, running.rows, &mut running.bad)?;
                    if bytes > reading.options.max_record_bytes {
                        let cause = format!("the record has {bytes} bytes, more than maxRecordBytes allows");
                        let misfit = Misfit { value: String::new(), cause };
                        running.bad.push(Bad { row: running.rows, column: None, misfit });
                    }
                    running.rows += 1;
                    running.bytes += bytes;
                }
                Next::Nothing => return Ok(Item::Idle),
                Next::End => running.is_over = true,
                Next::Refused(refused) => return Err(reading.server.refused(&reading.label, &refused)),
            }
        }
        if running.rows == 0 {
            return Ok(Item::End);
        }
        // The batch may be waited for for long.
        running.session.give_back_room();
        running.finish(reading).map(Item::Batch)
    }

    fn post(&mut self) -> Result<()> {
        self.running = None;
        Ok(())
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.reading.stop.cancel_handle())
    }
}

impl Running {
    /// The rows so far, without those that are bad.
    fn finish(&mut self, reading: &Reading) -> Result<Batch> {
        let fields = reading.schema.fields();
        let columns =
            self.collectors.iter_mut().zip(fields).map(|(collector, field)| collector.finish(field.data_type()));
        let records = RecordBatch::try_new(reading.schema.clone(), columns.collect::<Result<_>>()?)?;
        let origin = Origin::from(self.read);
        let bytes = std::mem::take(&mut self.bytes);
        self.read += std::mem::take(&mut self.rows) as u64;
        let bad = std::mem::take(&mut self.bad);
        if bad.is_empty() {
            return Ok(Batch::new(records, bytes, origin));
        }
        let mut is_good = vec![true; records.num_rows()];
        for Bad { row, column, misfit } in bad {
            // A record is told once, for its first cell that is wrong.
            if !std::mem::replace(&mut is_good[row], false) {
                continue;
            }
            let mut record = record_to_json(&records, row);
            let name = column.map(|column| fields[column].name().as_str());
            if let (Some(name), Some(object)) = (name, record.as_object_mut()) {
                object.insert(name.into(), misfit.value.clone().into());
            }
            reading.host.dirty(&DirtyRecord {
                position: Some(origin.position(row)),
                column: name,
                value: column.map(|_| misfit.value.as_str()),
                cause: &misfit.cause,
                record: Some(&record.to_string()),
                place: None,
            })?;
        }
        let left = origin.take((0..is_good.len()).filter(|row| is_good[*row]));
        let records = filter_record_batch(&records, &BooleanArray::from(is_good))?;
        Ok(Batch::measured(records, left))
    }
}

/// Takes the values of one row, and tells their size.
fn take_row(packet: &[u8], collectors: &mut [Collector], row: usize, bad: &mut Vec<Bad>) -> Result<usize> {
    let malformed = || Error::internal("a row of the server cannot be read");
    let nulls = (collectors.len() + 7 + 2) / 8;
    let (nulls, mut values) = packet.get(1..).and_then(|rest| rest.split_at_checked(nulls)).ok_or_else(malformed)?;
    let mut bytes = 0;
    for (index, collector) in collectors.iter_mut().enumerate() {
        let bit = index + 2;
        if nulls[bit / 8] & 1 << (bit % 8) != 0 {
            collector.null();
            continue;
        }
        match collector.take(&mut values)? {
            Ok(size) => bytes += size,
            Err(misfit) => bad.push(Bad { row, column: Some(index), misfit }),
        }
    }
    Ok(bytes)
}
