//! The types that a column of JSON records can have, where in a record its values are, and how a JSON value becomes one of its
//! values. What is no value of the type is refused with a cause, never cut, rounded or made NULL.
//! Not here: values to JSON (`render`), finding the records in an answer (`records`).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value as Json;
use transship_plugin_api::dates::{parse_date, parse_date_by};
use transship_plugin_api::fields::{JSON, number_field};
use transship_plugin_api::row::{RowBuilder, Value};
use transship_plugin_api::{DatePattern, Result};

/// The type of a column, by the names that text files have, and three more.
#[derive(Debug, Clone)]
pub(crate) enum ColumnType {
    /// `string`: texts; numbers and booleans as they are written, lists and objects as JSON.
    Text,
    /// `double` or `number`: numbers of any size, whose text is kept.
    Number,
    /// `long`: whole numbers of 64 bits.
    Long,
    /// `boolean`
    Boolean,
    /// `date`: a date with or without a time; with a format that has a zone, an instant.
    Date(Option<DatePattern>),
    /// `instant`: a date and time with its zone, `2020-01-02T03:04:05.678+02:00`.
    Instant,
    /// `json`: whatever it is, as JSON.
    Json,
    /// `bytes`: bytes in base 64.
    Bytes,
}

/// The words for types in a job file.
pub(crate) const TYPE_NAMES: &[&str] =
    &["string", "long", "double", "number", "boolean", "date", "instant", "json", "bytes"];

impl ColumnType {
    /// The type of this name, in any case; a format is for dates.
    pub(crate) fn from_name(name: &str, format: Option<DatePattern>) -> Option<ColumnType> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "string" => ColumnType::Text,
            "double" | "number" => ColumnType::Number,
            "long" => ColumnType::Long,
            "boolean" => ColumnType::Boolean,
            "date" => ColumnType::Date(format),
            "instant" => ColumnType::Instant,
            "json" => ColumnType::Json,
            "bytes" => ColumnType::Bytes,
            _ => return None,
        })
    }

    fn field(&self, name: &str) -> Field {
        let field = |data_type| Field::new(name, data_type, true);
        match self {
            ColumnType::Text => field(DataType::Utf8),
            ColumnType::Number => number_field(name),
            ColumnType::Long => field(DataType::Int64),
            ColumnType::Boolean => field(DataType::Boolean),
            ColumnType::Date(Some(format)) if format.has_zone() => field(instant()),
            ColumnType::Date(_) => field(DataType::Timestamp(TimeUnit::Microsecond, None)),
            ColumnType::Instant => field(instant()),
            ColumnType::Json => {
                field(DataType::Utf8).with_metadata(HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_string(), JSON.into())]))
            }
            ColumnType::Bytes => field(DataType::Binary),
        }
    }
}

fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// A column of the records.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) from: From,
    pub(crate) kind: ColumnType,
}

/// Where the values of a column come from.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// A JSON pointer into the record.
    Pointer(String),
    /// The same value in every record.
    Constant(Json),
}

/// The schema of these columns. Any value may be missing.
pub(crate) fn schema(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|column| column.kind.field(&column.name)).collect::<Vec<_>>()))
}

/// Why a value does not go into its column: continues the sentence "the value …".
pub(crate) struct Refusal {
    pub(crate) column: usize,
    pub(crate) value: Option<String>,
    pub(crate) cause: Cow<'static, str>,
}

/// Sets the columns of the row in the making to the values of a record. What the record lacks is NULL.
pub(crate) fn set_row(columns: &[Column], record: &Json, row: &mut RowBuilder) -> Result<(), Refusal> {
    for (index, column) in columns.iter().enumerate() {
        let value = match &column.from {
            From::Pointer(pointer) => record.pointer(pointer).unwrap_or(&Json::Null),
            From::Constant(value) => value,
        };
        let refused = |cause| Refusal { column: index, value: Some(text_of(value).into_owned()), cause };
        set(&column.kind, value, index, row).map_err(refused)?;
    }
    Ok(())
}

/// A JSON value as text: a text without its quotes, anything else as it is written.
pub(crate) fn text_of(value: &Json) -> Cow<'_, str> {
    match value {
        Json::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn set(kind: &ColumnType, value: &Json, index: usize, row: &mut RowBuilder) -> Result<(), Cow<'static, str>> {
    if value.is_null() {
        return put(row, index, Value::Null);
    }
    match (kind, value) {
        (ColumnType::Text, value) => put(row, index, Value::Text(&text_of(value))),
        (ColumnType::Json, value) => put(row, index, Value::Text(&value.to_string())),
        (ColumnType::Number, Json::Number(number)) => put(row, index, Value::Text(&number.to_string())),
        (ColumnType::Number, Json::String(text)) if is_number(text) => put(row, index, Value::Text(text)),
        (ColumnType::Number, _) => Err("is no number".into()),
        (ColumnType::Long, Json::Number(number)) => put(row, index, Value::Int(whole(&number.to_string())?)),
        (ColumnType::Long, Json::String(text)) => put(row, index, Value::Int(whole(text)?)),
        (ColumnType::Long, _) => Err("is no whole number".into()),
        (ColumnType::Boolean, Json::Bool(truth)) => put(row, index, Value::Bool(*truth)),
        (ColumnType::Boolean, Json::String(text)) if text.eq_ignore_ascii_case("true") => {
            put(row, index, Value::Bool(true))
        }
        (ColumnType::Boolean, Json::String(text)) if text.eq_ignore_ascii_case("false") => {
            put(row, index, Value::Bool(false))
        }
        (ColumnType::Boolean, _) => Err("is neither true nor false".into()),
        (ColumnType::Date(format), Json::String(text)) => {
            let (micros, is_instant) = match format {
                Some(format) => (parse_date_by(format, text.as_bytes())?, format.has_zone()),
                None => (parse_date(text.as_bytes()).map_err(|cause| instead(cause, text))?, false),
            };
            put(row, index, if is_instant { Value::Instant(micros) } else { Value::Timestamp(micros) })
        }
        (ColumnType::Date(_), _) => Err("is no date: dates are texts".into()),
        (ColumnType::Instant, Json::String(text)) => put(row, index, Value::Instant(parse_instant(text)?)),
        (ColumnType::Instant, _) => Err("is no date and time with a zone: these are texts".into()),
        (ColumnType::Bytes, Json::String(text)) => match BASE64_STANDARD.decode(text) {
            Ok(bytes) => put(row, index, Value::Bytes(&bytes)),
            Err(_) => Err("is not base 64".into()),
        },
        (ColumnType::Bytes, _) => Err("is not base 64, which is a text".into()),
    }
}

fn put(row: &mut RowBuilder, index: usize, value: Value<'_>) -> Result<(), Cow<'static, str>> {
    row.set(index, value).map_err(|error| error.message().to_string().into())
}

/// A date that only lacks its zone has another type.
fn instead(cause: Cow<'static, str>, text: &str) -> Cow<'static, str> {
    match parse_instant(text) {
        Ok(_) => "has a time zone; give the column the type instant".into(),
        Err(_) => cause,
    }
}

/// Whether a text is a number as JSON writes one.
fn is_number(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text).is_ok() && !text.starts_with(|letter: char| letter.is_whitespace())
}

/// A whole number of 64 bits. `5.0` and `5e2` are whole, too.
fn whole(text: &str) -> Result<i64, Cow<'static, str>> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    const EXACT: f64 = (1u64 << 53) as f64;
    match text.parse::<f64>() {
        _ if !is_number(text) => Err("is no whole number".into()),
        Ok(number) if number.fract() == 0.0 && number.abs() <= EXACT => Ok(number as i64),
        Ok(number) if number.fract() != 0.0 => Err("is no whole number".into()),
        _ => Err("is a number beyond 64 bits; give the column the type number".into()),
    }
}

/// The moment that a date and time with its zone is, in microseconds since 1970 UTC.
fn parse_instant(text: &str) -> Result<i64, Cow<'static, str>> {
    let no_zone = || Cow::Borrowed("has no time zone, like Z or +02:00; give the column the type date if it has none");
    let (local, seconds) = match text.strip_suffix(['Z', 'z']) {
        Some(local) => (local, 0),
        None => {
            let at = text.rfind(['+', '-']).filter(|at| text[..*at].contains(':')).ok_or_else(no_zone)?;
            (&text[..at], offset_seconds(&text[at..]).ok_or_else(no_zone)?)
        }
    };
    let micros = parse_date(local.trim_end().as_bytes())?;
    micros.checked_sub(seconds * 1_000_000).ok_or_else(|| "is a moment too far from now to be kept".into())
}

/// `+02:00`, `-0530`, `+02`.
fn offset_seconds(text: &str) -> Option<i64> {
    let (sign, digits) = (if text.starts_with('-') { -1 } else { 1 }, text[1..].replace(':', ""));
    let is_plain = matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let part = |range: std::ops::Range<usize>| digits.get(range).map_or(Some(0), |text| text.parse::<i64>().ok());
    let (hours, minutes) = is_plain.then(|| Some((part(0..2)?, part(2..4)?))).flatten()?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// The columns that records have whose columns nobody has described: the keys of all of them, in the order in which they come. A
/// type is what all values of a key are; what is of several kinds is text, unless lists or objects are among them.
pub(crate) fn guess_columns<'a>(records: impl Iterator<Item = &'a Json>) -> Vec<Column> {
    let mut columns: Vec<(String, Option<ColumnType>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in records {
        for (key, value) in record.as_object().into_iter().flatten() {
            let place = *places.entry(key.clone()).or_insert_with(|| {
                columns.push((key.clone(), None));
                columns.len() - 1
            });
            let seen = match value {
                Json::Null => continue,
                Json::Bool(_) => ColumnType::Boolean,
                Json::Number(_) => ColumnType::Number,
                Json::String(_) => ColumnType::Text,
                Json::Array(_) | Json::Object(_) => ColumnType::Json,
            };
            let kind = &mut columns[place].1;
            *kind = Some(match kind.take() {
                None => seen,
                Some(known) => common(known, seen),
            });
        }
    }
    let column = |(name, kind): (String, Option<ColumnType>)| {
        let pointer = pointer_to(&name);
        Column { name, from: From::Pointer(pointer), kind: kind.unwrap_or(ColumnType::Text) }
    };
    columns.into_iter().map(column).collect()
}

/// What can hold the values of both.
fn common(one: ColumnType, other: ColumnType) -> ColumnType {
    match (one, other) {
        (ColumnType::Json, _) | (_, ColumnType::Json) => ColumnType::Json,
        (ColumnType::Boolean, ColumnType::Boolean) => ColumnType::Boolean,
        (ColumnType::Number, ColumnType::Number) => ColumnType::Number,
        _ => ColumnType::Text,
    }
}

/// The JSON pointer to a key of the record itself.
pub(crate) fn pointer_to(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}
