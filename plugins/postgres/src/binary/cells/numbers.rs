//! Numbers into cells: exactly, or not at all.

use transship_plugin_api::row::Value;

use super::{Put, Refusal, misfit, put_fixed};
use crate::binary::numeric::{Decimal, put_i128, put_i256};
use crate::place::Target;

const NOT_WHOLE: &str = "it is no whole number";
const OUT_OF_RANGE: &str = "it is out of the range of the column's type";
const NO_NUMBER: &str = "the text is no number";
const INEXACT: &str = "a float of the column's type cannot keep all its digits";

/// Digits that each float type always keeps.
const FLOAT4_DIGITS: usize = 6;
const FLOAT8_DIGITS: usize = 15;

/// The whole number that a value is.
pub(super) fn whole(value: Value<'_>) -> Result<i128, Refusal> {
    match value {
        Value::Int(number) => Ok(number as i128),
        Value::UInt(number) => Ok(number as i128),
        Value::Bool(truth) => Ok(truth as i128),
        Value::Float32(float) => whole_float(float as f64),
        Value::Float64(float) => whole_float(float),
        Value::Decimal { value, scale } => match scale {
            0 => Ok(value),
            1.. => match 10i128.checked_pow(scale as u32) {
                Some(power) if value % power == 0 => Ok(value / power),
                _ if value == 0 => Ok(0),
                _ => Err(NOT_WHOLE.into()),
            },
            ..0 => {
                let power = 10i128.checked_pow(scale.unsigned_abs() as u32);
                power.and_then(|power| value.checked_mul(power)).ok_or(OUT_OF_RANGE.into())
            }
        },
        Value::Decimal256 { .. } => whole_text(&written(value)),
        Value::Text(text) => whole_text(text),
        other => Err(misfit(other)),
    }
}

fn whole_text(text: &str) -> Result<i128, Refusal> {
    // What most texts are, without an allocation.
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number as i128);
    }
    Decimal::parse(text).ok_or(NO_NUMBER)?.whole().ok_or(NOT_WHOLE.into())
}

fn whole_float(float: f64) -> Result<i128, Refusal> {
    // Beyond this no column of whole numbers reaches.
    const MOST: f64 = 1e20;
    if float.fract() == 0.0 && float.abs() < MOST { Ok(float as i128) } else { Err(NOT_WHOLE.into()) }
}

pub(super) fn put_whole(target: Target, number: i128, out: &mut Vec<u8>) -> Put {
    match target {
        Target::Int2 => put_fixed(out, i16::try_from(number).map_err(|_| OUT_OF_RANGE)?.to_be_bytes()),
        Target::Int4 => put_fixed(out, i32::try_from(number).map_err(|_| OUT_OF_RANGE)?.to_be_bytes()),
        Target::Oid => put_fixed(out, u32::try_from(number).map_err(|_| OUT_OF_RANGE)?.to_be_bytes()),
        _ => put_fixed(out, i64::try_from(number).map_err(|_| OUT_OF_RANGE)?.to_be_bytes()),
    }
}

/// `limit`: precision and scale of the column.
pub(super) fn put_numeric(limit: Option<(i32, i32)>, value: Value<'_>, out: &mut Vec<u8>, scratch: &mut String) -> Put {
    let (number, scale) = match value {
        Value::Int(number) => (number as i128, 0),
        Value::UInt(number) => (number as i128, 0),
        Value::Bool(truth) => (truth as i128, 0),
        Value::Decimal { value, scale } => (value, scale),
        Value::Text(text) => return put_decimal(limit, &Decimal::parse(text).ok_or(NO_NUMBER)?, out),
        Value::Decimal256 { value, scale } if limit.is_none() => {
            put_i256(out, *value, scale);
            return Ok(());
        }
        Value::Decimal256 { .. } | Value::Float32(_) | Value::Float64(_) => {
            scratch.clear();
            value.write_text(scratch);
            return put_decimal(limit, &Decimal::parse(scratch).ok_or(NO_NUMBER)?, out);
        }
        other => return Err(misfit(other)),
    };
    if let Some((precision, most)) = limit
        && !surely_fits(number, scale, precision, most)
    {
        let decimal = Decimal::Finite {
            negative: number < 0,
            digits: if number == 0 { Vec::new() } else { number.unsigned_abs().to_string().into_bytes() },
            scale: scale as i64,
        };
        return put_decimal(limit, &decimal, out);
    }
    put_i128(out, number, scale);
    Ok(())
}

/// Whether it fits, if that is seen without counting digits.
fn surely_fits(number: i128, scale: i8, precision: i32, most: i32) -> bool {
    let digits = usize::try_from(precision - most + scale as i32).unwrap_or(0);
    scale as i32 <= most && 10u128.checked_pow(digits as u32).is_none_or(|power| number.unsigned_abs() < power)
}

fn put_decimal(limit: Option<(i32, i32)>, decimal: &Decimal, out: &mut Vec<u8>) -> Put {
    if let Some((precision, most)) = limit {
        decimal.fits(precision as i64, most as i64)?;
    }
    Ok(decimal.put(out)?)
}

pub(super) fn float8(value: Value<'_>, scratch: &mut String) -> Result<f64, Refusal> {
    match value {
        Value::Float64(float) => Ok(float),
        Value::Float32(float) => Ok(float as f64),
        Value::Bool(truth) => Ok(truth as u8 as f64),
        Value::Int(number) if number.unsigned_abs() <= 1 << 53 => Ok(number as f64),
        Value::Text(text) => {
            float_of(text, FLOAT8_DIGITS, |text| text.parse().ok(), |float, digits| format!("{float:.digits$e}"))
        }
        Value::Int(_) | Value::UInt(_) | Value::Decimal { .. } | Value::Decimal256 { .. } => {
            scratch.clear();
            value.write_text(scratch);
            float_of(scratch, FLOAT8_DIGITS, |text| text.parse().ok(), |float, digits| format!("{float:.digits$e}"))
        }
        other => Err(misfit(other)),
    }
}

pub(super) fn float4(value: Value<'_>, scratch: &mut String) -> Result<f32, Refusal> {
    match value {
        Value::Float32(float) => Ok(float),
        Value::Float64(float) if float.is_nan() || float.is_infinite() || (float as f32) as f64 == float => {
            Ok(float as f32)
        }
        Value::Bool(truth) => Ok(truth as u8 as f32),
        Value::Text(text) => {
            float_of(text, FLOAT4_DIGITS, |text| text.parse().ok(), |float, digits| format!("{float:.digits$e}"))
        }
        Value::Int(_) | Value::UInt(_) | Value::Float64(_) | Value::Decimal { .. } | Value::Decimal256 { .. } => {
            scratch.clear();
            value.write_text(scratch);
            float_of(scratch, FLOAT4_DIGITS, |text| text.parse().ok(), |float, digits| format!("{float:.digits$e}"))
        }
        other => Err(misfit(other)),
    }
}

/// The float that a text means. As many digits as the text has must be those of the float as well.
fn float_of<F: Copy + Into<f64>>(
    text: &str,
    sure: usize,
    parse: impl Fn(&str) -> Option<F>,
    write: impl Fn(F, usize) -> String,
) -> Result<F, Refusal> {
    let text = text.trim();
    let float = parse(text).ok_or(NO_NUMBER)?;
    let wide: f64 = float.into();
    if text.len() <= sure && wide.is_finite() && wide != 0.0 {
        return Ok(float);
    }
    let Decimal::Finite { digits, .. } = Decimal::parse(text).ok_or(NO_NUMBER)? else { return Ok(float) };
    if wide.is_infinite() || wide == 0.0 && !digits.is_empty() {
        return Err(OUT_OF_RANGE.into());
    }
    let count = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    if count <= sure {
        return Ok(float);
    }
    let written = write(float, count - 1);
    let same = written.bytes().filter(u8::is_ascii_digit).take(count).eq(digits[..count].iter().copied());
    if same { Ok(float) } else { Err(INEXACT.into()) }
}

fn written(value: Value<'_>) -> String {
    let mut text = String::new();
    value.write_text(&mut text);
    text
}
