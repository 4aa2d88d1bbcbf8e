//! One column under construction.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use transship_plugin_api::{Error, Result};

use super::Rules;
use crate::bytes::ByteForm;
use crate::copy::{SLACK, copy_short};
use crate::csv::{Field, Run};
use crate::types::{ColumnType, parse_boolean, parse_long};

/// A column, by how its values are kept until the batch is full.
pub(crate) enum Builder {
    Text(Texts),
    /// Numbers of 64 bits, dates among them, and booleans as 0 and 1.
    Numbers(Numbers),
    /// Bytes, as the texts that stand for them.
    Bytes(Texts, ByteForm),
    Constant(Constant),
}

impl Builder {
    pub(crate) fn new(kind: &ColumnType) -> Builder {
        match kind {
            ColumnType::Text | ColumnType::Double => Builder::Text(Texts::default()),
            ColumnType::Bytes(form) => Builder::Bytes(Texts::default(), *form),
            ColumnType::Long | ColumnType::Boolean | ColumnType::Date(_) => Builder::Numbers(Numbers::default()),
        }
    }

    /// How many bytes a value takes at most, besides its text.
    pub(crate) fn fixed_bytes(&self) -> usize {
        match self {
            Builder::Text(_) | Builder::Bytes(..) => size_of::<i32>() + 1,
            Builder::Numbers(_) => size_of::<i64>() + 1,
            Builder::Constant(constant) => constant.text.len() + size_of::<i64>() + 1,
        }
    }

    /// Takes the values of some records, `None` for NULL or for what turned out to be no value.
    pub(crate) fn convert(&mut self, values: impl Iterator<Item = Option<i64>>) {
        match self {
            Builder::Numbers(numbers) => numbers.converted.extend(values),
            Builder::Text(_) | Builder::Bytes(..) | Builder::Constant(_) => values.for_each(drop),
        }
    }

    /// Forgets the converted values of records that are left out.
    pub(crate) fn drop_converted(&mut self, stays: &[bool]) {
        if let Builder::Numbers(numbers) = self {
            let mut stays = stays.iter();
            numbers.converted.retain(|_| *stays.next().unwrap_or(&true));
        }
    }

    /// Appends this field of these records.
    pub(super) fn append(&mut self, run: &Run, text: &[u8], records: &[u32], index: usize, rules: &Rules) {
        match self {
            Builder::Text(texts) | Builder::Bytes(texts, _) => texts.append(run, text, records, index, rules),
            Builder::Numbers(numbers) => numbers.append_converted(),
            Builder::Constant(_) => {}
        }
    }

    /// The array of this many rows, and its size in bytes.
    pub(crate) fn finish(&mut self, rows: usize, data_type: &DataType) -> Result<(ArrayRef, usize)> {
        match self {
            Builder::Text(texts) => texts.finish(),
            Builder::Bytes(texts, form) => bytes_of(texts.finish()?.0.as_string(), *form),
            Builder::Numbers(numbers) => Ok(numbers.finish(data_type)),
            Builder::Constant(constant) => constant.repeat(rows, data_type),
        }
    }
}

/// Texts, one after another.
#[derive(Default)]
pub(crate) struct Texts {
    /// All of them in a row; it is longer than what is used, so that a text can be copied without counting its bytes.
    values: Vec<u8>,
    used: usize,
    offsets: Vec<i32>,
    nulls: Option<NullBufferBuilder>,
    /// What the batch before took.
    last_used: usize,
    last_rows: usize,
}

impl Texts {
    fn append(&mut self, run: &Run, text: &[u8], records: &[u32], index: usize, rules: &Rules) {
        if self.offsets.is_empty() {
            self.offsets.reserve(self.last_rows.max(records.len()) + 1);
            self.offsets.push(0);
            // A large record is rare: that the batch before had one does not mean that this one has.
            let expected = if self.last_used > LARGE { 0 } else { self.last_used + self.last_used / 16 };
            make_room(&mut self.values, 0, expected);
        }
        match &rules.null {
            None => self.append_all(run, records, index, |field| field.place(text, &run.side, rules.trim)),
            Some(_) => {
                let nulls = self.nulls.get_or_insert_with(|| NullBufferBuilder::new(records.len()));
                let mut nulls = std::mem::replace(nulls, NullBufferBuilder::new(0));
                self.append_all(run, records, index, |field| {
                    let (from, range) = field.place(text, &run.side, rules.trim);
                    let is_null = rules.is_null(field, &from[range.clone()]);
                    nulls.append(!is_null);
                    (from, if is_null { 0..0 } else { range })
                });
                self.nulls = Some(nulls);
            }
        }
    }

    /// Appends what `place` says of this field of each record.
    #[inline]
    fn append_all<'a>(
        &mut self,
        run: &Run,
        records: &[u32],
        index: usize,
        mut place: impl FnMut(Field) -> (&'a [u8], Range<usize>),
    ) {
        let values = &mut self.values;
        let mut used = self.used;
        self.offsets.extend(records.iter().map(|record| {
            let field = run.fields[run.records[*record as usize].first_field as usize + index];
            let (from, range) = place(field);
            let length = range.len();
            if used + length + SLACK > values.len() {
                make_room(values, used, length);
            }
            copy_short(from, range, values, used);
            used += length;
            used as i32
        }));
        self.used = used;
    }

    fn finish(&mut self) -> Result<(ArrayRef, usize)> {
        let mut values = std::mem::take(&mut self.values);
        values.truncate(self.used);
        let mut offsets = std::mem::take(&mut self.offsets);
        if offsets.is_empty() {
            offsets.push(0);
        }
        let rows = offsets.len() - 1;
        self.last_used = std::mem::take(&mut self.used);
        self.last_rows = rows;
        let nulls = self.nulls.take().and_then(|mut nulls| nulls.finish());
        let bytes = values.len() + rows * size_of::<i32>() + validity_bytes(nulls.as_ref());
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok((Arc::new(StringArray::try_new(offsets, Buffer::from_vec(values), nulls)?), bytes))
    }
}

/// More bytes than the batches of usual records have.
const LARGE: usize = 4 << 20;

/// Makes room for more bytes behind those that are used.
#[cold]
fn make_room(values: &mut Vec<u8>, used: usize, more: usize) {
    let wanted = used + more + SLACK;
    if used == 0 {
        // Memory that is new has zeros in it already.
        *values = vec![0; wanted];
        return;
    }
    let spare = values.len().min(LARGE) / 2;
    values.resize(wanted.max(values.len() + spare), 0);
}

/// Numbers of 64 bits.
#[derive(Default)]
pub(crate) struct Numbers {
    /// Those of the records that are being looked at.
    converted: Vec<Option<i64>>,
    values: Vec<i64>,
    nulls: Option<NullBufferBuilder>,
}

impl Numbers {
    fn append_converted(&mut self) {
        for value in self.converted.drain(..) {
            if value.is_none() || self.nulls.is_some() {
                let before = self.values.len();
                let nulls = self.nulls.get_or_insert_with(|| {
                    let mut nulls = NullBufferBuilder::new(before + 1);
                    nulls.append_n_non_nulls(before);
                    nulls
                });
                nulls.append(value.is_some());
            }
            self.values.push(value.unwrap_or_default());
        }
    }

    fn finish(&mut self, data_type: &DataType) -> (ArrayRef, usize) {
        let values = std::mem::take(&mut self.values);
        let nulls = self.nulls.take().and_then(|mut nulls| nulls.finish());
        array_of_numbers(values, nulls, data_type)
    }
}

/// An array of these numbers, and its size in bytes.
fn array_of_numbers(values: Vec<i64>, nulls: Option<NullBuffer>, data_type: &DataType) -> (ArrayRef, usize) {
    let rows = values.len();
    let validity = validity_bytes(nulls.as_ref());
    match data_type {
        DataType::Boolean => {
            let truths = BooleanBuffer::collect_bool(rows, |row| values[row] != 0);
            (Arc::new(BooleanArray::new(truths, nulls)), rows.div_ceil(8) + validity)
        }
        DataType::Timestamp(_, zone) => {
            let array =
                TimestampMicrosecondArray::new(ScalarBuffer::from(values), nulls).with_timezone_opt(zone.clone());
            (Arc::new(array), rows * size_of::<i64>() + validity)
        }
        _ => (Arc::new(Int64Array::new(ScalarBuffer::from(values), nulls)), rows * size_of::<i64>() + validity),
    }
}

/// The bytes that texts stand for, each of which has been looked at, and their size.
fn bytes_of(texts: &StringArray, form: ByteForm) -> Result<(ArrayRef, usize)> {
    let (mut values, mut offsets) = (Vec::new(), vec![0]);
    for text in texts {
        if let Some(text) = text {
            form.parse(text.as_bytes(), &mut values).map_err(|cause| Error::internal(format!("a value {cause}")))?;
        }
        offsets.push(values.len() as i32);
    }
    let bytes = values.len() + texts.len() * size_of::<i32>() + validity_bytes(texts.nulls());
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok((Arc::new(BinaryArray::try_new(offsets, Buffer::from_vec(values), texts.nulls().cloned())?), bytes))
}

fn validity_bytes(nulls: Option<&NullBuffer>) -> usize {
    nulls.map_or(0, |nulls| nulls.len().div_ceil(8))
}

/// The same value in every row; `None` is NULL.
pub(crate) struct Constant {
    text: String,
    is_null: bool,
    number: i64,
    /// Where it is bytes, how they are written.
    bytes: Option<ByteForm>,
}

impl Constant {
    /// A value that the type was found to have.
    pub(crate) fn new(kind: &ColumnType, value: Option<&str>) -> Constant {
        let text = value.unwrap_or_default().as_bytes();
        let number = match kind {
            ColumnType::Text | ColumnType::Double | ColumnType::Bytes(_) => Ok(0),
            ColumnType::Long => parse_long(text),
            ColumnType::Boolean => parse_boolean(text).map(i64::from),
            ColumnType::Date(dates) => dates.parse(text),
        };
        let bytes = match kind {
            ColumnType::Bytes(form) => Some(*form),
            _ => None,
        };
        Constant {
            bytes,
            text: value.unwrap_or_default().to_owned(),
            is_null: value.is_none(),
            number: number.unwrap_or_default(),
        }
    }

    fn repeat(&self, rows: usize, data_type: &DataType) -> Result<(ArrayRef, usize)> {
        let nulls = self.is_null.then(|| NullBuffer::new_null(rows));
        if !matches!(data_type, DataType::Utf8 | DataType::Binary) {
            return Ok(array_of_numbers(vec![self.number; rows], nulls, data_type));
        }
        let bytes = self.text.len() * rows + rows * size_of::<i32>() + validity_bytes(nulls.as_ref());
        let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(self.text.len(), rows));
        let texts = StringArray::try_new(offsets, Buffer::from_vec(self.text.repeat(rows).into_bytes()), nulls)?;
        match self.bytes {
            Some(form) => bytes_of(&texts, form),
            None => Ok((Arc::new(texts), bytes)),
        }
    }
}
