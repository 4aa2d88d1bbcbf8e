//! Values to text, a column at a time: whole numbers and decimals exactly, floats as DataX writes them, dates and times
//! with the parts of a second that they have.
//! Not here: what stands between the texts (`format`), text to values (`types`).

mod base64;
mod float;

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use transship_plugin_api::dates::{self, MICROS_PER_DAY};
use transship_plugin_api::row::{Cell, Column, Value};
use transship_plugin_api::{Error, Result};

use crate::config::TextRules;

/// A column as text: the texts of its rows one after another, and where each ends.
pub(crate) struct Cells<'a> {
    /// One more than there are rows.
    pub offsets: Cow<'a, [i32]>,
    pub bytes: Cow<'a, [u8]>,
    pub nulls: Option<NullBuffer>,
    /// Rows whose value has no text, in order, and why.
    pub unwritable: Vec<(usize, &'static str)>,
}

impl Cells<'_> {
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// All the texts.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        match (self.offsets.first(), self.offsets.last()) {
            (Some(first), Some(last)) => &self.bytes[*first as usize..*last as usize],
            _ => &[],
        }
    }

    /// The text of a row.
    #[inline]
    pub(crate) fn text(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

/// The texts of a column.
pub(crate) fn render<'a>(array: &'a dyn Array, rules: &TextRules) -> Result<Cells<'a>> {
    if let Some(texts) = array.as_any().downcast_ref::<StringArray>() {
        return Ok(Cells {
            offsets: Cow::Borrowed(texts.value_offsets()),
            bytes: Cow::Borrowed(texts.value_data()),
            nulls: texts.nulls().filter(|nulls| nulls.null_count() > 0).cloned(),
            unwritable: Vec::new(),
        });
    }
    let mut cells =
        Rendering { offsets: Vec::with_capacity(array.len() + 1), text: String::new(), unwritable: Vec::new() };
    cells.offsets.push(0);
    cells.all(array, rules)?;
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    Ok(Cells {
        offsets: Cow::Owned(cells.offsets),
        bytes: Cow::Owned(cells.text.into_bytes()),
        nulls,
        unwritable: cells.unwritable,
    })
}

/// Texts under construction.
struct Rendering {
    offsets: Vec<i32>,
    text: String,
    unwritable: Vec<(usize, &'static str)>,
}

impl Rendering {
    fn all(&mut self, array: &dyn Array, rules: &TextRules) -> Result<()> {
        let zone = match array.data_type() {
            DataType::Timestamp(_, Some(zone)) => Offset::of(zone),
            _ => Offset::UTC,
        };
        let column = Column::new(array);
        for row in 0..array.len() {
            self.one(column.get(row), row, rules, &zone);
            let end = i32::try_from(self.text.len()).map_err(|_| {
                Error::unsupported(
                    "the texts of a column of one batch are larger than 2 GiB; set a smaller byte capacity",
                )
            })?;
            self.offsets.push(end);
        }
        Ok(())
    }

    fn one(&mut self, value: Value<'_>, row: usize, rules: &TextRules, zone: &Offset) {
        match value {
            Value::Int(number) => self.text.push_str(itoa::Buffer::new().format(number)),
            Value::UInt(number) => self.text.push_str(itoa::Buffer::new().format(number)),
            Value::Float32(number) => float::write(number, f64::from(number), &mut self.text),
            Value::Float64(number) => float::write(number, number, &mut self.text),
            Value::Date(days) => match &rules.date {
                Some(pattern) => pattern.format_into(i64::from(days) * MICROS_PER_DAY, &mut self.text),
                None => dates::write_date(&mut self.text, i64::from(days)),
            },
            Value::Timestamp(micros) => self.timestamp(micros, rules),
            Value::Instant(micros) => match &rules.date {
                Some(pattern) if pattern.has_zone() => pattern.format_into(micros, &mut self.text),
                _ => {
                    self.timestamp(micros.saturating_add(zone.micros), rules);
                    if rules.date.is_none() {
                        self.text.push_str(&zone.text);
                    }
                }
            },
            Value::Bytes(bytes) if rules.base64 => base64::write(bytes, &mut self.text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => self.text.push_str(text),
                Err(_) => self.unwritable.push((row, "has bytes that are no text; set byteEncoding to base64")),
            },
            // A moment that is finer than a microsecond among them.
            Value::Other(cell) if matches!(cell.array.data_type(), DataType::Timestamp(TimeUnit::Nanosecond, _)) => {
                self.fine_timestamp(cell, rules);
            }
            other => other.write_text(&mut self.text),
        }
    }

    fn timestamp(&mut self, micros: i64, rules: &TextRules) {
        match &rules.date {
            Some(pattern) => pattern.format_into(micros, &mut self.text),
            None => {
                dates::write_date(&mut self.text, micros.div_euclid(MICROS_PER_DAY));
                self.text.push(' ');
                dates::write_time(&mut self.text, i128::from(micros.rem_euclid(MICROS_PER_DAY)) * 1_000);
            }
        }
    }

    /// A pattern cuts what is finer than a microsecond; without one everything is written.
    fn fine_timestamp(&mut self, cell: Cell<'_>, rules: &TextRules) {
        let nanos = cell.array.as_primitive::<TimestampNanosecondType>().value(cell.row);
        if rules.date.is_some() {
            return self.timestamp(nanos.div_euclid(1_000), rules);
        }
        let nanos = i128::from(nanos);
        let day = i128::from(MICROS_PER_DAY) * 1_000;
        dates::write_date(&mut self.text, nanos.div_euclid(day) as i64);
        self.text.push(' ');
        dates::write_time(&mut self.text, nanos.rem_euclid(day));
        if let DataType::Timestamp(_, Some(_)) = cell.array.data_type() {
            self.text.push_str(Offset::UTC_TEXT);
        }
    }
}

/// How far the clocks of a column are ahead of UTC.
struct Offset {
    micros: i64,
    text: Cow<'static, str>,
}

impl Offset {
    const UTC_TEXT: &'static str = "+00:00";
    const UTC: Offset = Offset { micros: 0, text: Cow::Borrowed(Offset::UTC_TEXT) };

    /// That of a zone written as `+08:00`; instants of zones with a name are written in UTC, which needs no table of
    /// zones.
    fn of(zone: &str) -> Offset {
        Offset::fixed(zone).unwrap_or(Offset::UTC)
    }

    fn fixed(zone: &str) -> Option<Offset> {
        let (sign, rest) = match zone.as_bytes().first()? {
            b'+' => (1, &zone[1..]),
            b'-' => (-1, &zone[1..]),
            _ => return None,
        };
        let (hours, minutes) = rest.split_once(':')?;
        let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
        Some(Offset { micros: sign * minutes * 60 * dates::MICROS_PER_SECOND, text: zone.to_owned().into() })
    }
}

#[cfg(test)]
mod tests;
