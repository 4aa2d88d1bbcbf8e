//! Values as text: every digit of a number, the shortest text of a float, dates and times in ISO 8601.

use super::clock::{Clock, nanos, tick};
use super::float::{Float, push_without_exponent};
use super::json;
use super::value::{Cell, Value};
use crate::dates;
use crate::digits::{push_digits, push_signed};

/// Floats whose first digit stands further than this from the point have an exponent.
const PLAIN: std::ops::Range<f64> = 1e-5..1e17;

impl Value<'_> {
    /// Appends the value as text; nothing for NULL. Bytes are hexadecimal.
    pub fn write_text(&self, out: &mut String) {
        match *self {
            Value::Null => {}
            Value::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
            Value::Int(number) => push_signed(out, number, 1),
            Value::UInt(number) => push_digits(out, number, 1),
            Value::Float32(number) => push_float(out, number),
            Value::Float64(number) => push_float(out, number),
            Value::Decimal { value, scale } => push_decimal(out, value < 0, &Digits::of(value.unsigned_abs()), scale),
            Value::Decimal256 { value, scale } => {
                let text = value.to_string();
                let digits = text.trim_start_matches('-');
                push_decimal(out, digits.len() < text.len(), digits, scale);
            }
            Value::Text(text) => out.push_str(text),
            Value::Bytes(bytes) => push_hexadecimal(out, bytes),
            Value::Date(days) => dates::write_date(out, days as i64),
            Value::Time(micros) => dates::write_time(out, micros as i128 * 1_000),
            Value::Timestamp(micros) => dates::write_timestamp(out, micros as i128 * 1_000, false),
            Value::Instant(micros) => dates::write_timestamp(out, micros as i128 * 1_000, true),
            Value::Duration(micros) => dates::write_duration(out, micros as i128 * 1_000),
            Value::Interval { months, days, nanos } => dates::write_interval(out, months, days, nanos),
            Value::Other(cell) => push_cell(out, cell),
        }
    }
}

/// The digits of a number, without an allocation.
struct Digits {
    text: [u8; 39],
    start: usize,
}

impl Digits {
    fn of(number: u128) -> Digits {
        let mut digits = Digits { text: [b'0'; 39], start: 39 };
        let mut rest = number;
        while rest > u64::MAX as u128 {
            digits.push((rest % 10) as u8);
            rest /= 10;
        }
        // Division of 128 bits is slow, and most decimals fit into 64.
        let mut rest = rest as u64;
        loop {
            digits.push((rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                return digits;
            }
        }
    }

    fn push(&mut self, digit: u8) {
        self.start -= 1;
        self.text[self.start] = b'0' + digit;
    }
}

impl std::ops::Deref for Digits {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.text[self.start..]).unwrap_or_default()
    }
}

fn push_decimal(out: &mut String, negative: bool, digits: &str, scale: i8) {
    if negative {
        out.push('-');
    }
    let zeros = |out: &mut String, count: usize| out.extend(std::iter::repeat_n('0', count));
    if scale <= 0 {
        out.push_str(digits);
        if digits != "0" {
            zeros(out, scale.unsigned_abs() as usize);
        }
        return;
    }
    let behind = scale as usize;
    match digits.len().checked_sub(behind) {
        Some(before) if before > 0 => {
            out.push_str(&digits[..before]);
            out.push('.');
            out.push_str(&digits[before..]);
        }
        _ => {
            out.push_str("0.");
            zeros(out, behind - digits.len());
            out.push_str(digits);
        }
    }
}

/// Appends the shortest text that gives the same float again.
fn push_float(out: &mut String, float: impl Float) {
    let value: f64 = float.into();
    if value.is_nan() {
        out.push_str("NaN");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    } else if value == 0.0 || PLAIN.contains(&value.abs()) {
        push_without_exponent(out, float);
    } else {
        out.push_str(ryu::Buffer::new().format_finite(float));
    }
}

pub(super) fn push_hexadecimal(out: &mut String, bytes: &[u8]) {
    let digit = |number: u8| char::from(b"0123456789abcdef"[number as usize]);
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
}

fn push_cell(out: &mut String, Cell { array, row }: Cell<'_>) {
    match Clock::of(array.data_type()) {
        Some((clock, unit)) => {
            let nanos = nanos(tick(array, row), unit);
            match clock {
                Clock::Time => dates::write_time(out, nanos),
                Clock::Timestamp => dates::write_timestamp(out, nanos, false),
                Clock::Instant => dates::write_timestamp(out, nanos, true),
                Clock::Duration => dates::write_duration(out, nanos),
            }
        }
        None => out.push_str(&json::nested(array, row).to_string()),
    }
}
