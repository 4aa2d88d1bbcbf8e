//! Values of the binary protocol, read from where the packet lies straight into the columns of a batch.

mod number;
mod time;

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Decimal128Builder, Decimal256Builder, DurationMicrosecondBuilder,
    FixedSizeBinaryBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, Field, TimeUnit};
use transship_plugin_api::dates::MICROS_PER_SECOND;
use transship_plugin_api::{Error, Result};

use crate::config::ZeroDate;
use crate::session::{Column, kind, take_text};

/// How a value is written in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A whole number of so many bytes.
    Signed(usize),
    Unsigned(usize),
    Float,
    Double,
    /// Parts of a date and time behind their number.
    Moment,
    Time,
    /// Bytes behind their number.
    Bytes,
    /// Bits behind the number of their bytes, the highest first.
    Bits,
}

impl Form {
    fn of(column: &Column) -> Form {
        let whole = if column.is_unsigned() { Form::Unsigned } else { Form::Signed };
        match column.kind {
            kind::TINY => whole(1),
            kind::SHORT => whole(2),
            kind::YEAR => Form::Unsigned(2),
            kind::INT24 | kind::LONG => whole(4),
            kind::LONGLONG => whole(8),
            kind::FLOAT => Form::Float,
            kind::DOUBLE => Form::Double,
            kind::DATE | kind::NEW_DATE | kind::DATETIME | kind::TIMESTAMP => Form::Moment,
            kind::TIME => Form::Time,
            kind::BIT => Form::Bits,
            _ => Form::Bytes,
        }
    }
}

/// What a value cannot become, and what it looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    pub(super) value: String,
    pub(super) cause: String,
}

/// A value that was looked at.
type Cell<T> = std::result::Result<Option<T>, Misfit>;

/// Collects the values of one column.
pub(super) struct Collector {
    form: Form,
    /// What is to be added to a time of the session to have UTC.
    to_utc_micros: i64,
    zero_date: ZeroDate,
    is_geometry: bool,
    values: Values,
}

enum Values {
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    UInt8(PrimitiveBuilder<UInt8Type>),
    UInt16(PrimitiveBuilder<UInt16Type>),
    UInt32(PrimitiveBuilder<UInt32Type>),
    UInt64(PrimitiveBuilder<UInt64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Decimal128(Decimal128Builder, u8, i8),
    Decimal256(Decimal256Builder, u8, i8),
    Boolean(BooleanBuilder),
    Date(PrimitiveBuilder<Date32Type>),
    Moment(PrimitiveBuilder<TimestampMicrosecondType>),
    Duration(DurationMicrosecondBuilder),
    Text(StringBuilder),
    Binary(BinaryBuilder),
    Uuid(FixedSizeBinaryBuilder),
}

impl Collector {
    /// For the values of a column as the server describes it now, in a field as it was announced.
    pub(super) fn new(
        column: &Column,
        field: &Field,
        capacity: usize,
        offset_seconds: i64,
        zero_date: ZeroDate,
    ) -> Result<Collector> {
        let form = Form::of(column);
        let values = Values::new(field.data_type(), capacity);
        let values = values.filter(|values| values.can_come_from(form)).ok_or_else(|| {
            let announced = field.data_type();
            Error::schema(format!(
                "column \"{}\" was announced as {announced}, but the server sends another type",
                column.name
            ))
        })?;
        let to_utc_micros = if column.kind == kind::TIMESTAMP { -offset_seconds * 1_000_000 } else { 0 };
        let is_geometry = column.kind == kind::GEOMETRY;
        Ok(Collector { form, to_utc_micros, zero_date, is_geometry, values })
    }

    /// Takes the next value of a row out of a packet, and tells its size.
    #[inline]
    pub(super) fn take(&mut self, packet: &mut &[u8]) -> Result<std::result::Result<usize, Misfit>> {
        macro_rules! whole {
            ($builder:expr, $type:ty) => {{
                let number = match self.form {
                    Form::Unsigned(width) => {
                        number::unsigned(packet, width).map(|number| <$type>::try_from(number).ok())
                    }
                    Form::Signed(width) => number::signed(packet, width).map(|number| <$type>::try_from(number).ok()),
                    Form::Bits => take_text(packet)
                        .map(|bits| number::bits(bits).and_then(|number| <$type>::try_from(number).ok())),
                    _ => None,
                };
                match number.ok_or_else(malformed)? {
                    Some(number) => {
                        $builder.append_value(number);
                        Ok(size_of::<$type>())
                    }
                    None => Err(Misfit { value: String::new(), cause: "the number is out of range".into() }),
                }
            }};
        }
        let put: std::result::Result<usize, Misfit> = match &mut self.values {
            Values::Int8(values) => whole!(values, i8),
            Values::Int16(values) => whole!(values, i16),
            Values::Int32(values) => whole!(values, i32),
            Values::Int64(values) => whole!(values, i64),
            Values::UInt8(values) => whole!(values, u8),
            Values::UInt16(values) => whole!(values, u16),
            Values::UInt32(values) => whole!(values, u32),
            Values::UInt64(values) => whole!(values, u64),
            Values::Float32(values) => {
                values.append_value(f32::from_le_bytes(number::bytes(packet).ok_or_else(malformed)?));
                Ok(4)
            }
            Values::Float64(values) => {
                match self.form {
                    Form::Float => {
                        let single = f32::from_le_bytes(number::bytes(packet).ok_or_else(malformed)?);
                        values.append_value(f64::from(single));
                    }
                    _ => values.append_value(f64::from_le_bytes(number::bytes(packet).ok_or_else(malformed)?)),
                }
                Ok(8)
            }
            Values::Decimal128(values, digits, scale) => {
                let text = take_text(packet).ok_or_else(malformed)?;
                put(values, number::decimal128(text, *digits, *scale), 16)
            }
            Values::Decimal256(values, digits, scale) => {
                let text = take_text(packet).ok_or_else(malformed)?;
                match number::decimal256(text, *digits, *scale) {
                    Ok(value) => {
                        values.append_option(value);
                        Ok(32)
                    }
                    Err(misfit) => Err(misfit),
                }
            }
            Values::Boolean(values) => {
                let number = match self.form {
                    Form::Bits => take_text(packet).map(|bits| i64::from(bits.iter().any(|byte| *byte != 0))),
                    _ => number::signed(packet, 1),
                };
                match number.ok_or_else(malformed)? {
                    number @ 0..=1 => {
                        values.append_value(number == 1);
                        Ok(1)
                    }
                    number => Err(Misfit { value: number.to_string(), cause: "the number is not 0 or 1".into() }),
                }
            }
            Values::Date(values) => put(values, time::date(packet, self.zero_date)?, 4),
            Values::Moment(values) => {
                let moment = match self.form {
                    Form::Moment => time::moment(packet, self.zero_date, self.to_utc_micros)?,
                    Form::Signed(width) => {
                        let seconds = number::signed(packet, width).ok_or_else(malformed)?;
                        time::instant(seconds.checked_mul(MICROS_PER_SECOND), self.zero_date)
                    }
                    _ => time::instant(number::micros(take_text(packet).ok_or_else(malformed)?), self.zero_date),
                };
                put(values, moment, 8)
            }
            Values::Duration(values) => {
                values.append_value(time::duration(packet).ok_or_else(malformed)?);
                Ok(8)
            }
            Values::Text(values) => {
                let bytes = take_text(packet).ok_or_else(malformed)?;
                match std::str::from_utf8(bytes) {
                    Ok(text) => {
                        values.append_value(text);
                        Ok(text.len() + 4)
                    }
                    Err(_) => Err(Misfit {
                        value: String::from_utf8_lossy(bytes).into_owned(),
                        cause: "the text is not valid in its character set".into(),
                    }),
                }
            }
            Values::Binary(values) => {
                let bytes = take_text(packet).ok_or_else(malformed)?;
                match self.is_geometry {
                    true => values.append_value(crate::geometry::to_standard(bytes)),
                    false => values.append_value(bytes),
                }
                Ok(bytes.len() + 4)
            }
            Values::Uuid(values) => {
                let text = take_text(packet).ok_or_else(malformed)?;
                let parsed = uuid::Uuid::try_parse_ascii(text);
                match parsed.map(|uuid| values.append_value(uuid.as_bytes())) {
                    Ok(Ok(())) => Ok(16),
                    _ => {
                        Err(Misfit { value: String::from_utf8_lossy(text).into_owned(), cause: "it is no UUID".into() })
                    }
                }
            }
        };
        if put.is_err() {
            self.null();
        }
        Ok(put)
    }

    /// The next value is NULL.
    #[inline]
    pub(super) fn null(&mut self) {
        match &mut self.values {
            Values::Int8(values) => values.append_null(),
            Values::Int16(values) => values.append_null(),
            Values::Int32(values) => values.append_null(),
            Values::Int64(values) => values.append_null(),
            Values::UInt8(values) => values.append_null(),
            Values::UInt16(values) => values.append_null(),
            Values::UInt32(values) => values.append_null(),
            Values::UInt64(values) => values.append_null(),
            Values::Float32(values) => values.append_null(),
            Values::Float64(values) => values.append_null(),
            Values::Decimal128(values, ..) => values.append_null(),
            Values::Decimal256(values, ..) => values.append_null(),
            Values::Boolean(values) => values.append_null(),
            Values::Date(values) => values.append_null(),
            Values::Moment(values) => values.append_null(),
            Values::Duration(values) => values.append_null(),
            Values::Text(values) => values.append_null(),
            Values::Binary(values) => values.append_null(),
            Values::Uuid(values) => values.append_null(),
        }
    }

    /// The values so far, as this type.
    pub(super) fn finish(&mut self, data_type: &DataType) -> Result<ArrayRef> {
        Ok(match &mut self.values {
            Values::Int8(values) => Arc::new(values.finish()),
            Values::Int16(values) => Arc::new(values.finish()),
            Values::Int32(values) => Arc::new(values.finish()),
            Values::Int64(values) => Arc::new(values.finish()),
            Values::UInt8(values) => Arc::new(values.finish()),
            Values::UInt16(values) => Arc::new(values.finish()),
            Values::UInt32(values) => Arc::new(values.finish()),
            Values::UInt64(values) => Arc::new(values.finish()),
            Values::Float32(values) => Arc::new(values.finish()),
            Values::Float64(values) => Arc::new(values.finish()),
            Values::Decimal128(values, digits, scale) => {
                Arc::new(values.finish().with_precision_and_scale(*digits, *scale)?)
            }
            Values::Decimal256(values, digits, scale) => {
                Arc::new(values.finish().with_precision_and_scale(*digits, *scale)?)
            }
            Values::Boolean(values) => Arc::new(values.finish()),
            Values::Date(values) => Arc::new(values.finish()),
            Values::Moment(values) => match data_type {
                DataType::Timestamp(_, zone) => Arc::new(values.finish().with_timezone_opt(zone.clone())),
                _ => Arc::new(values.finish()),
            },
            Values::Duration(values) => Arc::new(values.finish()),
            Values::Text(values) => Arc::new(values.finish()),
            Values::Binary(values) => Arc::new(values.finish()),
            Values::Uuid(values) => Arc::new(values.finish()),
        })
    }
}

impl Values {
    fn new(data_type: &DataType, capacity: usize) -> Option<Values> {
        let bytes = capacity * 16;
        Some(match data_type {
            DataType::Int8 => Values::Int8(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int16 => Values::Int16(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int32 => Values::Int32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Int64 => Values::Int64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::UInt8 => Values::UInt8(PrimitiveBuilder::with_capacity(capacity)),
            DataType::UInt16 => Values::UInt16(PrimitiveBuilder::with_capacity(capacity)),
            DataType::UInt32 => Values::UInt32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::UInt64 => Values::UInt64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Float32 => Values::Float32(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Float64 => Values::Float64(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Decimal128(digits, scale) => {
                Values::Decimal128(Decimal128Builder::with_capacity(capacity), *digits, *scale)
            }
            DataType::Decimal256(digits, scale) => {
                Values::Decimal256(Decimal256Builder::with_capacity(capacity), *digits, *scale)
            }
            DataType::Boolean => Values::Boolean(BooleanBuilder::with_capacity(capacity)),
            DataType::Date32 => Values::Date(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Values::Moment(PrimitiveBuilder::with_capacity(capacity)),
            DataType::Duration(TimeUnit::Microsecond) => {
                Values::Duration(DurationMicrosecondBuilder::with_capacity(capacity))
            }
            DataType::Utf8 => Values::Text(StringBuilder::with_capacity(capacity, bytes)),
            DataType::Binary => Values::Binary(BinaryBuilder::with_capacity(capacity, bytes)),
            DataType::FixedSizeBinary(16) => Values::Uuid(FixedSizeBinaryBuilder::with_capacity(capacity, 16)),
            _ => return None,
        })
    }

    /// Whether values that the server writes like this belong here.
    fn can_come_from(&self, form: Form) -> bool {
        match self {
            Values::Int8(_) | Values::Int16(_) | Values::Int32(_) | Values::Int64(_) => {
                matches!(form, Form::Signed(_) | Form::Unsigned(_))
            }
            Values::UInt8(_) | Values::UInt16(_) | Values::UInt32(_) => {
                matches!(form, Form::Signed(_) | Form::Unsigned(_))
            }
            Values::UInt64(_) => matches!(form, Form::Signed(_) | Form::Unsigned(_) | Form::Bits),
            Values::Float32(_) => form == Form::Float,
            Values::Float64(_) => matches!(form, Form::Float | Form::Double),
            Values::Boolean(_) => matches!(form, Form::Bits | Form::Signed(1) | Form::Unsigned(1)),
            Values::Date(_) => form == Form::Moment,
            // An instant may be sent as a number of seconds.
            Values::Moment(_) => matches!(form, Form::Moment | Form::Signed(8) | Form::Bytes),
            Values::Duration(_) => form == Form::Time,
            Values::Decimal128(..) | Values::Decimal256(..) | Values::Text(_) | Values::Binary(_) | Values::Uuid(_) => {
                form == Form::Bytes
            }
        }
    }
}

#[inline]
fn put<T: ArrowPrimitiveType>(
    values: &mut PrimitiveBuilder<T>,
    cell: Cell<T::Native>,
    size: usize,
) -> std::result::Result<usize, Misfit> {
    cell.map(|value| {
        values.append_option(value);
        size
    })
}

fn malformed() -> Error {
    Error::internal("a value of the server cannot be read")
}

#[cfg(test)]
mod tests;
