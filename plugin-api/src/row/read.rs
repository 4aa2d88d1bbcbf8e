//! Reading: a batch as rows of typed values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time64MicrosecondType, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, Float16Array, LargeBinaryArray,
    LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, NullBuffer, i256};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::clock::{Clock, exact_micros, tick};
use super::value::{Cell, Value};

/// The rows of a record batch. Columns are told apart by type once, when it is made; a value then costs some nanoseconds.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{Int64Array, RecordBatch, StringArray};
/// # use transship_plugin_api::row::{Rows, Value};
/// let ids = Arc::new(Int64Array::from(vec![1, 2])) as _;
/// let names = Arc::new(StringArray::from(vec![Some("ann"), None])) as _;
/// let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)])?;
/// for row in Rows::new(&batch).iter() {
///     match row.get(1) {
///         Value::Text(name) => assert_eq!(name, "ann"),
///         other => assert!(other.is_null()),
///     }
/// }
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
#[derive(Debug)]
pub struct Rows<'a> {
    columns: Vec<Column<'a>>,
    len: usize,
}

impl<'a> Rows<'a> {
    /// The rows of a batch.
    pub fn new(records: &'a RecordBatch) -> Rows<'a> {
        Rows { columns: records.columns().iter().map(|column| Column::new(column)).collect(), len: records.num_rows() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns, for work column by column.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// The value in a row and a column, both counted from 0.
    ///
    /// # Panics
    /// If there is no such row or column.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> Value<'a> {
        self.columns[column].get(row)
    }

    /// The rows one after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'a, '_>> {
        (0..self.len).map(|index| Row { rows: self, index })
    }
}

/// One row of [`Rows`].
#[derive(Debug, Clone, Copy)]
pub struct Row<'a, 'b> {
    rows: &'b Rows<'a>,
    index: usize,
}

impl<'a> Row<'a, '_> {
    /// Its place in the batch, counted from 0: what [`Batch::dirty`](crate::Batch::dirty) wants to know.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The value in a column, counted from 0.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn get(&self, column: usize) -> Value<'a> {
        self.rows.get(self.index, column)
    }

    /// Its values from the first column to the last.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'a>> {
        self.rows.columns.iter().map(|column| column.get(self.index))
    }
}

/// One column of [`Rows`].
#[derive(Debug)]
pub struct Column<'a> {
    nulls: Option<&'a NullBuffer>,
    cells: Cells<'a>,
}

/// The values of a column, told apart by how they are stored.
#[derive(Debug)]
enum Cells<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Float16(&'a Float16Array),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal32(&'a [i32], i8),
    Decimal64(&'a [i64], i8),
    Decimal128(&'a [i128], i8),
    Decimal256(&'a [i256], i8),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Bytes(&'a BinaryArray),
    LargeBytes(&'a LargeBinaryArray),
    BytesView(&'a BinaryViewArray),
    FixedBytes(&'a FixedSizeBinaryArray),
    Date32(&'a [i32]),
    /// Microseconds…
    Time(&'a [i64]),
    Timestamp(&'a [i64]),
    Instant(&'a [i64]),
    Duration(&'a [i64]),
    /// …and other units.
    Clock(Clock, TimeUnit, &'a dyn Array),
    YearMonth(&'a [i32]),
    DayTime(&'a [IntervalDayTime]),
    MonthDayNano(&'a [IntervalMonthDayNano]),
    /// The keys, and the values that they point to.
    Dictionary(Box<(Column<'a>, Column<'a>)>),
    Other(&'a dyn Array),
}

impl<'a> Column<'a> {
    /// Finds out how the values of an array are stored.
    pub fn new(array: &'a dyn Array) -> Column<'a> {
        let cells = match array.data_type() {
            DataType::Null => Cells::Null,
            DataType::Boolean => Cells::Bool(array.as_boolean()),
            DataType::Int8 => Cells::Int8(array.as_primitive::<Int8Type>().values()),
            DataType::Int16 => Cells::Int16(array.as_primitive::<Int16Type>().values()),
            DataType::Int32 => Cells::Int32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Cells::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::UInt8 => Cells::UInt8(array.as_primitive::<UInt8Type>().values()),
            DataType::UInt16 => Cells::UInt16(array.as_primitive::<UInt16Type>().values()),
            DataType::UInt32 => Cells::UInt32(array.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => Cells::UInt64(array.as_primitive::<UInt64Type>().values()),
            DataType::Float16 => Cells::Float16(array.as_primitive::<Float16Type>()),
            DataType::Float32 => Cells::Float32(array.as_primitive::<Float32Type>().values()),
            DataType::Float64 => Cells::Float64(array.as_primitive::<Float64Type>().values()),
            DataType::Decimal32(_, scale) => Cells::Decimal32(array.as_primitive::<Decimal32Type>().values(), *scale),
            DataType::Decimal64(_, scale) => Cells::Decimal64(array.as_primitive::<Decimal64Type>().values(), *scale),
            DataType::Decimal128(_, scale) => {
                Cells::Decimal128(array.as_primitive::<Decimal128Type>().values(), *scale)
            }
            DataType::Decimal256(_, scale) => {
                Cells::Decimal256(array.as_primitive::<Decimal256Type>().values(), *scale)
            }
            DataType::Utf8 => Cells::Text(array.as_string()),
            DataType::LargeUtf8 => Cells::LargeText(array.as_string()),
            DataType::Utf8View => Cells::TextView(array.as_string_view()),
            DataType::Binary => Cells::Bytes(array.as_binary()),
            DataType::LargeBinary => Cells::LargeBytes(array.as_binary()),
            DataType::BinaryView => Cells::BytesView(array.as_binary_view()),
            DataType::FixedSizeBinary(_) => Cells::FixedBytes(array.as_fixed_size_binary()),
            DataType::Date32 => Cells::Date32(array.as_primitive::<Date32Type>().values()),
            DataType::Time64(TimeUnit::Microsecond) => {
                Cells::Time(array.as_primitive::<Time64MicrosecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let values = array.as_primitive::<TimestampMicrosecondType>().values();
                if zone.is_some() { Cells::Instant(values) } else { Cells::Timestamp(values) }
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                Cells::Duration(array.as_primitive::<DurationMicrosecondType>().values())
            }
            DataType::Interval(IntervalUnit::YearMonth) => {
                Cells::YearMonth(array.as_primitive::<IntervalYearMonthType>().values())
            }
            DataType::Interval(IntervalUnit::DayTime) => {
                Cells::DayTime(array.as_primitive::<IntervalDayTimeType>().values())
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                Cells::MonthDayNano(array.as_primitive::<IntervalMonthDayNanoType>().values())
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                Cells::Dictionary(Box::new((Column::new(dictionary.keys()), Column::new(dictionary.values().as_ref()))))
            }
            other => match Clock::of(other) {
                Some((clock, unit)) => Cells::Clock(clock, unit, array),
                None => Cells::Other(array),
            },
        };
        Column { nulls: array.nulls().filter(|nulls| nulls.null_count() > 0), cells }
    }

    /// The value in a row, counted from 0.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> Value<'a> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return Value::Null;
        }
        match &self.cells {
            Cells::Null => Value::Null,
            Cells::Bool(array) => Value::Bool(array.value(row)),
            Cells::Int8(values) => Value::Int(values[row] as i64),
            Cells::Int16(values) => Value::Int(values[row] as i64),
            Cells::Int32(values) => Value::Int(values[row] as i64),
            Cells::Int64(values) => Value::Int(values[row]),
            Cells::UInt8(values) => Value::UInt(values[row] as u64),
            Cells::UInt16(values) => Value::UInt(values[row] as u64),
            Cells::UInt32(values) => Value::UInt(values[row] as u64),
            Cells::UInt64(values) => Value::UInt(values[row]),
            Cells::Float16(array) => Value::Float32(array.value(row).to_f32()),
            Cells::Float32(values) => Value::Float32(values[row]),
            Cells::Float64(values) => Value::Float64(values[row]),
            Cells::Decimal32(values, scale) => Value::Decimal { value: values[row] as i128, scale: *scale },
            Cells::Decimal64(values, scale) => Value::Decimal { value: values[row] as i128, scale: *scale },
            Cells::Decimal128(values, scale) => Value::Decimal { value: values[row], scale: *scale },
            Cells::Decimal256(values, scale) => Value::Decimal256 { value: &values[row], scale: *scale },
            Cells::Text(array) => Value::Text(array.value(row)),
            Cells::LargeText(array) => Value::Text(array.value(row)),
            Cells::TextView(array) => Value::Text(array.value(row)),
            Cells::Bytes(array) => Value::Bytes(array.value(row)),
            Cells::LargeBytes(array) => Value::Bytes(array.value(row)),
            Cells::BytesView(array) => Value::Bytes(array.value(row)),
            Cells::FixedBytes(array) => Value::Bytes(array.value(row)),
            Cells::Date32(values) => Value::Date(values[row]),
            Cells::Time(values) => Value::Time(values[row]),
            Cells::Timestamp(values) => Value::Timestamp(values[row]),
            Cells::Instant(values) => Value::Instant(values[row]),
            Cells::Duration(values) => Value::Duration(values[row]),
            _ => self.get_rare(row),
        }
    }

    /// The kinds of values that are converted or rare, kept out of the loop over the others.
    fn get_rare(&self, row: usize) -> Value<'a> {
        match &self.cells {
            Cells::Clock(clock, unit, array) => match exact_micros(tick(*array, row), *unit) {
                Some(micros) => clock.value(micros),
                None => Value::Other(Cell { array: *array, row }),
            },
            Cells::YearMonth(values) => Value::Interval { months: values[row], days: 0, nanos: 0 },
            Cells::DayTime(values) => {
                let IntervalDayTime { days, milliseconds } = values[row];
                Value::Interval { months: 0, days, nanos: milliseconds as i64 * 1_000_000 }
            }
            Cells::MonthDayNano(values) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = values[row];
                Value::Interval { months, days, nanos: nanoseconds }
            }
            Cells::Dictionary(dictionary) => match dictionary.0.get(row) {
                Value::Int(key) => dictionary.1.get(key as usize),
                Value::UInt(key) => dictionary.1.get(key as usize),
                _ => Value::Null,
            },
            Cells::Other(array) => Value::Other(Cell { array: *array, row }),
            _ => Value::Null,
        }
    }
}
