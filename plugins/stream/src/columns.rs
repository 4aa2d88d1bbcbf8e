//! Makes the values of columns, some thousand at a time, straight into Arrow's buffers.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use transship_plugin_api::Result;

use crate::config::{ColumnConfig, Source};
use crate::random::{Letters, Random};
use crate::types::{Constant, moment};

/// The values of one column of one split, from the first record to the last.
#[derive(Debug)]
pub(crate) enum Column {
    Constant { constant: Constant, made: ArrayRef },
    Sequence { next: i64, step: i64 },
    Long { random: Random, low: i64, choices: u64 },
    Double { random: Random, low: f64, width: f64 },
    Bool { random: Random, untrue: u64, choices: u64 },
    Date { random: Random, low: i64, choices: u64, instants: bool },
    Text(Texts),
    Bytes(Texts),
}

/// A split: which one, how many records each has, and the seed of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) number: u64,
    pub(crate) records: u64,
    pub(crate) seed: u64,
}

impl ColumnConfig {
    pub(crate) fn field(&self) -> Field {
        let field = |data_type| Field::new(&self.name, data_type, false);
        match &self.source {
            Source::Constant(constant) => constant.field(&self.name),
            Source::Sequence { .. } | Source::Long { .. } => field(DataType::Int64),
            Source::Double { .. } => field(DataType::Float64),
            Source::Bool { .. } => field(DataType::Boolean),
            Source::Date { instants, .. } => field(moment(*instants)),
            Source::Text { .. } => field(DataType::Utf8),
            Source::Bytes { .. } => field(DataType::Binary),
        }
    }

    /// How many bytes a value takes, on average and at most.
    pub(crate) fn value_bytes(&self) -> (usize, usize) {
        const OFFSET: usize = size_of::<i32>();
        match &self.source {
            Source::Constant(Constant::Text(text) | Constant::Number(text)) => {
                (text.len() + OFFSET, text.len() + OFFSET)
            }
            Source::Constant(Constant::Bytes(bytes)) => (bytes.len() + OFFSET, bytes.len() + OFFSET),
            Source::Text { shortest, longest } | Source::Bytes { shortest, longest } => {
                ((*shortest as usize + *longest as usize) / 2 + OFFSET, *longest as usize + OFFSET)
            }
            _ => (size_of::<i64>(), size_of::<i64>()),
        }
    }

    /// The column's values in a split.
    pub(crate) fn open(&self, index: usize, slice: Slice) -> Column {
        let random = Random::new(slice.seed, &[slice.number, index as u64]);
        let choices = |low: i64, high: i64| high.wrapping_sub(low) as u64 + 1;
        match &self.source {
            Source::Constant(constant) => Column::Constant { made: repeat(constant, 0), constant: constant.clone() },
            Source::Sequence { start, step } => {
                let before = slice.number.wrapping_mul(slice.records) as i64;
                Column::Sequence { next: start.wrapping_add(step.wrapping_mul(before)), step: *step }
            }
            Source::Long { low, high } => Column::Long { random, low: *low, choices: choices(*low, *high) },
            Source::Double { low, high } => Column::Double { random, low: *low, width: high - low },
            Source::Bool { untrue, choices } => Column::Bool { random, untrue: *untrue, choices: *choices },
            Source::Date { low, high, instants } => {
                Column::Date { random, low: *low, choices: choices(*low, *high), instants: *instants }
            }
            Source::Text { shortest, longest } => Column::Text(Texts::new(random, slice, index, *shortest, *longest)),
            Source::Bytes { shortest, longest } => Column::Bytes(Texts::new(random, slice, index, *shortest, *longest)),
        }
    }
}

impl Column {
    /// The next values, and their size in bytes.
    pub(crate) fn next(&mut self, rows: usize) -> Result<(ArrayRef, usize)> {
        let longs = |values: Vec<i64>| Arc::new(Int64Array::new(ScalarBuffer::from(values), None)) as ArrayRef;
        let wide = rows * size_of::<i64>();
        Ok(match self {
            Column::Constant { constant, made } => {
                if made.len() < rows {
                    *made = repeat(constant, rows);
                }
                (made.slice(0, rows), constant_bytes(constant, rows))
            }
            Column::Sequence { next, step } => {
                let values = (0..rows as i64).map(|row| next.wrapping_add(step.wrapping_mul(row))).collect();
                *next = next.wrapping_add(step.wrapping_mul(rows as i64));
                (longs(values), wide)
            }
            Column::Long { random, low, choices } => {
                (longs((0..rows).map(|_| low.wrapping_add(random.below(*choices) as i64)).collect()), wide)
            }
            Column::Double { random, low, width } => {
                let values: Vec<f64> = (0..rows).map(|_| *low + random.fraction() * *width).collect();
                (Arc::new(Float64Array::new(ScalarBuffer::from(values), None)), wide)
            }
            Column::Bool { random, untrue, choices } => {
                let bits = BooleanBuffer::collect_bool(rows, |_| random.below(*choices) >= *untrue);
                (Arc::new(BooleanArray::new(bits, None)), rows.div_ceil(8))
            }
            Column::Date { random, low, choices, instants } => {
                let micros = (0..rows).map(|_| low.wrapping_add(random.below(*choices) as i64).wrapping_mul(1_000));
                (moments(micros.collect(), *instants), wide)
            }
            Column::Text(texts) => {
                let (ends, letters) = texts.next(rows);
                let bytes = letters.len() + rows * size_of::<i32>();
                (Arc::new(StringArray::try_new(ends, letters, None)?), bytes)
            }
            Column::Bytes(texts) => {
                let (ends, letters) = texts.next(rows);
                let bytes = letters.len() + rows * size_of::<i32>();
                (Arc::new(BinaryArray::try_new(ends, letters, None)?), bytes)
            }
        })
    }

    /// Passes over the values of so many records.
    pub(crate) fn skip(&mut self, records: u64) {
        match self {
            Column::Constant { .. } => {}
            Column::Sequence { next, step } => *next = next.wrapping_add(step.wrapping_mul(records as i64)),
            Column::Long { random, .. }
            | Column::Double { random, .. }
            | Column::Bool { random, .. }
            | Column::Date { random, .. } => random.skip(records),
            Column::Text(texts) | Column::Bytes(texts) => texts.skip(records),
        }
    }
}

/// Texts of random length.
#[derive(Debug)]
pub(crate) struct Texts {
    lengths: Random,
    letters: Letters,
    shortest: u32,
    choices: u64,
}

impl Texts {
    fn new(lengths: Random, slice: Slice, index: usize, shortest: u32, longest: u32) -> Texts {
        const LETTERS: u64 = 1;
        let letters = Letters::new(Random::new(slice.seed, &[slice.number, index as u64, LETTERS]));
        Texts { lengths, letters, shortest, choices: (longest - shortest) as u64 + 1 }
    }

    /// The caller asks for so few that their letters are less than 2 GiB.
    fn next(&mut self, rows: usize) -> (OffsetBuffer<i32>, Buffer) {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        if self.choices == 1 {
            ends.extend((1..=rows).map(|row| row as i32 * self.shortest as i32));
        } else {
            let mut end = 0;
            ends.extend((0..rows).map(|_| {
                end += (self.shortest as u64 + self.lengths.below(self.choices)) as i32;
                end
            }));
        }
        let letters = self.letters.next(ends.last().map_or(0, |end| *end as usize));
        (OffsetBuffer::new(ScalarBuffer::from(ends)), Buffer::from_vec(letters))
    }

    fn skip(&mut self, records: u64) {
        if self.choices == 1 {
            self.letters.skip(records * self.shortest as u64);
        } else {
            for _ in 0..records {
                self.letters.skip(self.shortest as u64 + self.lengths.below(self.choices));
            }
        }
    }
}

fn repeat(constant: &Constant, rows: usize) -> ArrayRef {
    match constant {
        Constant::Text(text) | Constant::Number(text) => Arc::new(StringArray::new_repeated(text, rows)),
        Constant::Long(number) => Arc::new(Int64Array::from_value(*number, rows)),
        Constant::Double(number) => Arc::new(Float64Array::from_value(*number, rows)),
        Constant::Bool(truth) => {
            let bits = if *truth { BooleanBuffer::new_set(rows) } else { BooleanBuffer::new_unset(rows) };
            Arc::new(BooleanArray::new(bits, None))
        }
        Constant::Date(micros) => moments(vec![*micros; rows], false),
        Constant::Instant(micros) => moments(vec![*micros; rows], true),
        Constant::Bytes(bytes) => Arc::new(BinaryArray::new_repeated(bytes, rows)),
    }
}

fn constant_bytes(constant: &Constant, rows: usize) -> usize {
    match constant {
        Constant::Text(text) | Constant::Number(text) => rows * (text.len() + size_of::<i32>()),
        Constant::Bytes(bytes) => rows * (bytes.len() + size_of::<i32>()),
        Constant::Bool(_) => rows.div_ceil(8),
        _ => rows * size_of::<i64>(),
    }
}

fn moments(micros: Vec<i64>, instants: bool) -> ArrayRef {
    let array = TimestampMicrosecondArray::new(ScalarBuffer::from(micros), None);
    if instants { Arc::new(array.with_timezone("UTC")) } else { Arc::new(array) }
}
