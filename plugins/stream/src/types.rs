//! DataX's column types, what constants of them hold, and the Arrow types that stand for them.

use arrow_schema::{DataType, Field, TimeUnit};
use transship_plugin_api::fields::number_field;
use transship_plugin_api::{DatePattern, Encoding};

/// A column type, as a job file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    String,
    Long,
    Bool,
    Double,
    Date,
    Bytes,
}

/// The words for them; the last two are none of DataX's.
pub(crate) const TYPES: &[(&str, Type)] = &[
    ("STRING", Type::String),
    ("LONG", Type::Long),
    ("BOOL", Type::Bool),
    ("DOUBLE", Type::Double),
    ("DATE", Type::Date),
    ("BYTES", Type::Bytes),
    ("INT", Type::Long),
    ("BOOLEAN", Type::Bool),
];

/// A value that is the same in every record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Constant {
    Text(String),
    /// A number that a 64 bit integer or float doesn't hold as it is written.
    Number(String),
    Long(i64),
    Double(f64),
    Bool(bool),
    Date(i64),
    Instant(i64),
    Bytes(Vec<u8>),
}

impl Constant {
    /// Reads the text of a constant as DataX does.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(crate) fn parse(
        text: &str,
        r#type: Type,
        pattern: &DatePattern,
        encoding: Encoding,
    ) -> Result<Constant, String> {
        match r#type {
            Type::String => Ok(Constant::Text(text.into())),
            Type::Bytes => {
                let mut bytes = Vec::new();
                match encoding.encode(text, &mut bytes) {
                    Ok(()) => Ok(Constant::Bytes(bytes)),
                    Err(lacking) => Err(format!(
                        "has {lacking:?}, a character that {} lacks (common.column.encoding)",
                        encoding.name()
                    )),
                }
            }
            Type::Bool => Ok(Constant::Bool(text.eq_ignore_ascii_case("true"))),
            Type::Long => {
                let digits = whole_part(text).ok_or_else(|| format!("is \"{text}\", which is no number"))?;
                Ok(digits.parse().map_or(Constant::Number(digits), Constant::Long))
            }
            Type::Double if !is_number(text) => Err(format!("is \"{text}\", which is no number")),
            Type::Double => Ok(match text.parse::<f64>() {
                Ok(float) if prints_as(float, text) => Constant::Double(float),
                _ => Constant::Number(text.into()),
            }),
            Type::Date => match pattern.parse_micros(text) {
                Some(micros) if pattern.has_zone() => Ok(Constant::Instant(micros)),
                Some(micros) => Ok(Constant::Date(micros)),
                None => Err(format!("is \"{text}\", which is no date of the form \"{}\"", pattern.text())),
            },
        }
    }

    pub(crate) fn field(&self, name: &str) -> Field {
        match self {
            Constant::Text(_) => Field::new(name, DataType::Utf8, false),
            Constant::Number(_) => number_field(name).with_nullable(false),
            Constant::Long(_) => Field::new(name, DataType::Int64, false),
            Constant::Double(_) => Field::new(name, DataType::Float64, false),
            Constant::Bool(_) => Field::new(name, DataType::Boolean, false),
            Constant::Date(_) => Field::new(name, moment(false), false),
            Constant::Instant(_) => Field::new(name, moment(true), false),
            Constant::Bytes(_) => Field::new(name, DataType::Binary, false),
        }
    }
}

/// The type of a column of moments: instants, or dates and times without a zone.
pub(crate) fn moment(instants: bool) -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, instants.then(|| "UTC".into()))
}

/// Whether a float is written like this by everybody, so that it can travel as a float: not `3`, which DataX itself would
/// print as `3.0`, nor `1E3`, nor more digits than a float has.
fn prints_as(float: f64, text: &str) -> bool {
    const PLAIN: std::ops::Range<f64> = 1e-3..1e7;
    PLAIN.contains(&float.abs()) && text.contains('.') && float.to_string() == text
}

/// A number as it is written: sign, digits before and after the point, power of ten.
struct Written<'a> {
    negative: bool,
    before: &'a str,
    after: &'a str,
    exponent: i64,
}

impl<'a> Written<'a> {
    fn of(text: &'a str) -> Option<Written<'a>> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (number, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse().ok()?),
            None => (unsigned, 0),
        };
        let (before, after) = number.split_once('.').unwrap_or((number, ""));
        let digits =
            before.len() + after.len() > 0 && before.bytes().chain(after.bytes()).all(|byte| byte.is_ascii_digit());
        digits.then_some(Written { negative: text.starts_with('-'), before, after, exponent })
    }
}

/// Whether a text is a number: with or without sign, point and exponent, or one of the three that are none.
fn is_number(text: &str) -> bool {
    Written::of(text).is_some() || ["NaN", "Infinity", "-Infinity"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// What stands before the point once the exponent is carried out: `12` of `12.7`, `1000` of `1e3`.
fn whole_part(text: &str) -> Option<String> {
    const MOST_DIGITS: i64 = 1_000;
    let Written { negative, before, after, exponent } = Written::of(text)?;
    let length = (before.len() as i64).checked_add(exponent).filter(|length| *length <= MOST_DIGITS)?.max(0) as usize;
    let digits = before.chars().chain(after.chars()).chain(std::iter::repeat('0')).take(length).collect::<String>();
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    Some(if negative && digits != "0" { format!("-{digits}") } else { digits.into() })
}
