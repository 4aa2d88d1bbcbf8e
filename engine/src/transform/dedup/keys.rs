//! The keys of the records of a batch: equal where the values are equal, however a column lays them out. Whole numbers are equal
//! whatever their width, decimals and numbers kept as text whatever zeros they are written with, UUIDs however they are spelt.

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use transship_plugin_api::fields::{is_number, is_uuid};
use transship_plugin_api::row::{Column, Value};
use transship_plugin_api::{Error, Result};
use uuid::Uuid;

use super::key::{INLINE, Key, KeyHasher, Kind, LONGEST};
use super::settings::{Malformed, Nulls, Settings};

/// The keys of a batch.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// One for each record.
    pub keys: Vec<Key>,
    /// The bytes of long ones, one behind the other.
    pub long: Vec<u8>,
    /// Row and column of values that are no UUIDs and make their record dirty, one for each such record.
    pub malformed: Vec<(usize, usize)>,
}

/// Reads keys from batches of one schema.
pub(super) struct KeyReader {
    columns: Vec<KeyColumn>,
    nulls: Nulls,
    malformed: Malformed,
    hasher: KeyHasher,
    /// Memory for a value that has to be rewritten, and for the values of several columns.
    scratch: Vec<u8>,
    several: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct KeyColumn {
    place: usize,
    uuids: bool,
    numbers: bool,
}

/// A value as a key sees it.
enum Part<'a> {
    Null,
    Malformed,
    Short(Kind, [u8; INLINE], usize),
    Bytes(Kind, &'a [u8]),
    /// Its bytes are in the scratch memory.
    Scratch(Kind),
}

impl KeyReader {
    /// # Errors
    /// Where a column is not there, or its values cannot be compared.
    pub(super) fn new(settings: &Settings, schema: &Schema, hasher: KeyHasher) -> Result<KeyReader> {
        let mut columns = Vec::new();
        for place in settings.key.find(schema)? {
            let field = schema.field(place);
            if !can_be_compared(field.data_type()) {
                let (name, kind) = (field.name(), field.data_type());
                return Err(Error::schema(format!(
                    "parameter.key: the values of column \"{name}\" cannot be compared, they are of the type {kind}"
                )));
            }
            let uuids = is_uuid(field) || settings.uuids && may_hold_uuids(field.data_type());
            columns.push(KeyColumn { place, uuids, numbers: is_number(field) });
        }
        if settings.uuids && !columns.iter().any(|column| column.uuids) {
            return Err(Error::schema(
                "parameter.type is \"uuid\", but no column of the key holds texts or bytes: remove it to compare values as they are",
            ));
        }
        let (nulls, malformed) = (settings.nulls, settings.malformed);
        Ok(KeyReader { columns, nulls, malformed, hasher, scratch: Vec::new(), several: Vec::new() })
    }

    /// Reads the keys of a batch, over those that were read before.
    ///
    /// # Errors
    /// When the batch lacks a column.
    pub(super) fn read(&mut self, records: &RecordBatch, keys: &mut Keys) -> Result<()> {
        keys.keys.clear();
        keys.long.clear();
        keys.malformed.clear();
        keys.keys.reserve(records.num_rows());
        let cells = self.columns.iter().map(|column| match records.columns().get(column.place) {
            Some(array) => Ok(Column::new(array.as_ref())),
            None => Err(Error::internal(format!("a batch without column {}", column.place))),
        });
        let cells: Vec<Column<'_>> = cells.collect::<Result<_>>()?;
        match &cells[..] {
            [cells] => self.read_one(self.columns[0], cells, records.num_rows(), keys),
            _ => self.read_several(&cells, records.num_rows(), keys),
        }
        Ok(())
    }

    fn read_one(&mut self, column: KeyColumn, cells: &Column<'_>, rows: usize, keys: &mut Keys) {
        for row in 0..rows {
            let key = match part(column, self.malformed, cells.get(row), &mut self.scratch) {
                Part::Null if self.nulls == Nulls::Distinct => Key::UNLIKE_ANY,
                Part::Null => Key::short(Kind::Null, [0; INLINE], 0, &self.hasher),
                Part::Malformed => {
                    keys.malformed.push((row, column.place));
                    Key::UNLIKE_ANY
                }
                Part::Short(kind, bytes, length) => Key::short(kind, bytes, length, &self.hasher),
                Part::Bytes(kind, bytes) => key(kind, bytes, &self.hasher, &mut keys.long),
                Part::Scratch(kind) => key(kind, &self.scratch, &self.hasher, &mut keys.long),
            };
            keys.keys.push(key);
        }
    }

    fn read_several(&mut self, cells: &[Column<'_>], rows: usize, keys: &mut Keys) {
        for row in 0..rows {
            self.several.clear();
            let mut mark = None;
            for (column, cells) in self.columns.iter().zip(cells) {
                // Kind and length before the bytes: the values of one key must not pass for those of another.
                let part = part(*column, self.malformed, cells.get(row), &mut self.scratch);
                let (kind, bytes) = match &part {
                    Part::Null if self.nulls == Nulls::Distinct => {
                        mark = Some(Key::UNLIKE_ANY);
                        continue;
                    }
                    Part::Malformed => {
                        keys.malformed.push((row, column.place));
                        mark = Some(Key::UNLIKE_ANY);
                        break;
                    }
                    Part::Null => (Kind::Null, &[][..]),
                    Part::Short(kind, bytes, length) => (*kind, &bytes[..*length]),
                    Part::Bytes(kind, bytes) => (*kind, *bytes),
                    Part::Scratch(kind) => (*kind, &self.scratch[..]),
                };
                self.several.push(kind as u8);
                self.several.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                self.several.extend_from_slice(bytes);
            }
            let key = mark.unwrap_or_else(|| key(Kind::Several, &self.several, &self.hasher, &mut keys.long));
            keys.keys.push(key);
        }
    }
}

/// The key with these bytes; those of a long one are appended to `long`.
#[inline]
fn key(kind: Kind, bytes: &[u8], hasher: &KeyHasher, long: &mut Vec<u8>) -> Key {
    if bytes.len() <= INLINE {
        let mut head = [0; INLINE];
        head[..bytes.len()].copy_from_slice(bytes);
        return Key::short(kind, head, bytes.len(), hasher);
    }
    if bytes.len() > LONGEST {
        return Key::TOO_LONG;
    }
    let address = long.len() as u64;
    long.extend_from_slice(bytes);
    Key::long(kind, bytes, address, hasher)
}

#[inline]
fn part<'a>(column: KeyColumn, malformed: Malformed, value: Value<'a>, scratch: &mut Vec<u8>) -> Part<'a> {
    let uuid = |found: Option<[u8; 16]>, otherwise: Part<'a>| match found {
        Some(bytes) => Part::Short(Kind::Uuid, bytes, INLINE),
        None if malformed == Malformed::Dirty => Part::Malformed,
        None => otherwise,
    };
    match value {
        Value::Null => Part::Null,
        Value::Text(text) if column.uuids => {
            uuid(uuid_of_text(text.as_bytes()), Part::Bytes(Kind::Text, text.as_bytes()))
        }
        Value::Bytes(bytes) if column.uuids => uuid(uuid_of_bytes(bytes), Part::Bytes(Kind::Bytes, bytes)),
        Value::Text(text) if column.numbers && write_number(text, scratch) => Part::Scratch(Kind::Number),
        Value::Text(text) => Part::Bytes(Kind::Text, text.as_bytes()),
        Value::Bytes(bytes) => Part::Bytes(Kind::Bytes, bytes),
        Value::Int(number) => whole(number.into()),
        Value::UInt(number) => whole(number.into()),
        Value::Float32(number) => float(number.into()),
        Value::Float64(number) => float(number),
        Value::Decimal { value, scale } => decimal(value, scale.into(), scratch),
        Value::Decimal256 { value, scale } => match value.to_i128() {
            Some(value) => decimal(value, scale.into(), scratch),
            None => {
                let digits = value.to_string();
                let significant = digits.trim_end_matches('0');
                let scale = i64::from(scale) - (digits.len() - significant.len()) as i64;
                scratch.clear();
                scratch.extend_from_slice(significant.as_bytes());
                scratch.extend_from_slice(format!("e{}", -scale).as_bytes());
                Part::Scratch(Kind::Decimal)
            }
        },
        Value::Date(days) => tick(Kind::Date, days.into()),
        Value::Time(micros) => tick(Kind::Time, micros),
        Value::Timestamp(micros) => tick(Kind::Timestamp, micros),
        Value::Instant(micros) => tick(Kind::Instant, micros),
        Value::Duration(micros) => tick(Kind::Duration, micros),
        other => {
            let mut text = String::from_utf8(std::mem::take(scratch)).unwrap_or_default();
            text.clear();
            other.write_text(&mut text);
            *scratch = text.into_bytes();
            Part::Scratch(Kind::Other)
        }
    }
}

#[inline]
fn whole<'a>(number: i128) -> Part<'a> {
    Part::Short(Kind::Whole, number.to_le_bytes(), INLINE)
}

fn tick<'a>(kind: Kind, number: i64) -> Part<'a> {
    Part::Short(kind, i128::from(number).to_le_bytes(), 8)
}

/// There is one zero and one value that is no number.
fn float<'a>(number: f64) -> Part<'a> {
    let number = match number {
        _ if number.is_nan() => f64::NAN,
        0.0 => 0.0,
        other => other,
    };
    Part::Short(Kind::Float, u128::from(number.to_bits()).to_le_bytes(), 8)
}

/// Without the zeros at the end, whatever the scale.
fn decimal<'a>(mut value: i128, mut scale: i64, scratch: &mut Vec<u8>) -> Part<'a> {
    if value == 0 {
        scale = 0;
    }
    while value != 0 && value % 10 == 0 {
        value /= 10;
        scale -= 1;
    }
    scratch.clear();
    match i64::try_from(value) {
        Ok(value) => scratch.extend_from_slice(&value.to_le_bytes()),
        Err(_) => scratch.extend_from_slice(&value.to_le_bytes()),
    }
    // One byte is enough for the scale of a type, and for 38 zeros more.
    scratch.extend_from_slice(&(scale as i16).to_le_bytes());
    Part::Scratch(Kind::Decimal)
}

/// Writes a number that is kept as text the one way in which all spellings of it are written; answers no if it is none.
fn write_number(text: &str, out: &mut Vec<u8>) -> bool {
    let text = text.trim();
    let (negative, unsigned) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    out.clear();
    if unsigned.eq_ignore_ascii_case("nan") {
        out.extend_from_slice(b"nan");
        return true;
    }
    if negative {
        out.push(b'-');
    }
    if ["inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        out.extend_from_slice(b"inf");
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
        None => (unsigned, Some(0)),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Some(exponent) = exponent else { return false };
    let mut digits = before.bytes().chain(behind.bytes());
    if before.len() + behind.len() == 0 || !digits.all(|digit| digit.is_ascii_digit()) {
        return false;
    }
    let start = out.len();
    out.extend(before.bytes().chain(behind.bytes()).skip_while(|digit| *digit == b'0'));
    let significant = out.len() - out[start..].iter().rev().take_while(|digit| **digit == b'0').count();
    let zeros = out.len() - significant;
    out.truncate(significant);
    if out.len() == start {
        out.clear();
        out.push(b'0');
        return true;
    }
    let exponent = i128::from(exponent) - behind.len() as i128 + zeros as i128;
    out.extend_from_slice(format!("e{exponent}").as_bytes());
    true
}

/// With or without hyphens, in braces, as a URN, in any case; blanks around it are passed over.
#[inline]
fn uuid_of_text(text: &[u8]) -> Option<[u8; 16]> {
    let found = Uuid::try_parse_ascii(text).or_else(|_| Uuid::try_parse_ascii(text.trim_ascii()));
    found.ok().map(Uuid::into_bytes)
}

/// The sixteen bytes themselves, or a text of them.
fn uuid_of_bytes(bytes: &[u8]) -> Option<[u8; 16]> {
    bytes.try_into().ok().or_else(|| uuid_of_text(bytes))
}

fn may_hold_uuids(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => true,
        DataType::Dictionary(_, values) => may_hold_uuids(values),
        _ => false,
    }
}

/// Whether values of this type have a text that tells them apart.
fn can_be_compared(kind: &DataType) -> bool {
    match kind {
        DataType::Union(..) | DataType::RunEndEncoded(..) => false,
        DataType::Dictionary(_, values) => can_be_compared(values),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => can_be_compared(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| can_be_compared(field.data_type())),
        _ => true,
    }
}
