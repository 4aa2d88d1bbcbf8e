//! Cells in binary form as the server's own text for them.

use std::borrow::Cow;

use transship_plugin_api::dates::{civil_from_days, write_interval, write_time};
use transship_plugin_api::row::Value;

use crate::binary::cells::Refusal;
use crate::binary::numeric::Numeric;
use crate::binary::{EPOCH_DAYS, EPOCH_MICROS};
use crate::place::{Target, infinite, write_uuid};

const MICROS_PER_DAY: i64 = transship_plugin_api::dates::MICROS_PER_DAY;

/// The text of a cell that was made for a column of this kind.
pub(crate) fn cell(target: Target, cell: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    let mut text = String::new();
    match target {
        Target::Text { .. } | Target::Name | Target::Json | Target::Other => return Ok(Cow::Borrowed(cell)),
        Target::Jsonb => return Ok(Cow::Borrowed(cell.get(1..).unwrap_or_default())),
        Target::Bool => text.push(if cell == [1] { 't' } else { 'f' }),
        Target::Int2 => Value::Int(i16::from_be_bytes(fixed(cell)?) as i64).write_text(&mut text),
        Target::Int4 => Value::Int(i32::from_be_bytes(fixed(cell)?) as i64).write_text(&mut text),
        Target::Int8 => Value::Int(i64::from_be_bytes(fixed(cell)?)).write_text(&mut text),
        Target::Oid => Value::UInt(u32::from_be_bytes(fixed(cell)?) as u64).write_text(&mut text),
        Target::Float4 => Value::Float32(f32::from_be_bytes(fixed(cell)?)).write_text(&mut text),
        Target::Float8 => Value::Float64(f64::from_be_bytes(fixed(cell)?)).write_text(&mut text),
        Target::Numeric { .. } => {
            let mut bytes = Vec::new();
            Numeric::parse(cell).ok_or(MISSHAPEN)?.write(&mut bytes);
            return Ok(Cow::Owned(bytes));
        }
        Target::Bytes => {
            text.push_str("\\x");
            text.extend(cell.iter().map(|byte| format!("{byte:02x}")));
        }
        Target::Uuid => write_uuid(cell, &mut text),
        Target::Date => match i32::from_be_bytes(fixed(cell)?) {
            end @ (i32::MIN | i32::MAX) => text.push_str(infinite(end < 0)),
            days => {
                let before = write_day(days as i64 + EPOCH_DAYS as i64, &mut text);
                text.push_str(before);
            }
        },
        Target::Time { .. } => write_time(&mut text, i64::from_be_bytes(fixed(cell)?) as i128 * 1_000),
        Target::Timestamp { .. } | Target::Instant { .. } => match i64::from_be_bytes(fixed(cell)?) {
            end @ (i64::MIN | i64::MAX) => text.push_str(infinite(end < 0)),
            micros => {
                // Beyond 64 bits of microseconds since 1970 there are moments of the server that no record has.
                let micros = micros as i128 + EPOCH_MICROS as i128;
                let day = MICROS_PER_DAY as i128;
                let before = write_day(micros.div_euclid(day) as i64, &mut text);
                text.push(' ');
                write_time(&mut text, micros.rem_euclid(day) * 1_000);
                if matches!(target, Target::Instant { .. }) {
                    text.push_str("+00");
                }
                text.push_str(before);
            }
        },
        Target::Interval { .. } => {
            let number = u128::from_be_bytes(fixed(cell)?);
            let micros = (number >> 64) as i64;
            let (months, days) = (number as i32, (number >> 32) as i32);
            match micros.checked_mul(1_000) {
                Some(nanos) => write_interval(&mut text, months, days, nanos),
                None => text.push_str(&format!("{months} months {days} days {micros} microseconds")),
            }
        }
    }
    Ok(Cow::Owned(text.into_bytes()))
}

const MISSHAPEN: &str = "the value has been given an unknown form";

fn fixed<const SIZE: usize>(cell: &[u8]) -> Result<[u8; SIZE], Refusal> {
    cell.try_into().map_err(|_| MISSHAPEN.into())
}

/// Appends a day, and returns what has to stand at the end: years before the first are counted backwards, and there is no year 0.
fn write_day(days: i64, out: &mut String) -> &'static str {
    let (year, month, day) = civil_from_days(days);
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    out.push_str(&format!("{year:04}-{month:02}-{day:02}"));
    era
}
